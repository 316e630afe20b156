"""A rule: the row values it reads, and the function from data to released integers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

from holdfast import require
from holdfast.data.design import NO_DESIGN, Design
from holdfast.data.randomised import Randomised
from holdfast.data.sample import Sample
from holdfast.data.sampling import Clustered, Independent, Sampling
from holdfast.errors import NotDescribed
from holdfast.question.expression import Expression
from holdfast.question.row import GRID, RowValue, condition_row, may_be_missing, row_value
from holdfast.statistics.derived import counted_condition
from holdfast.statistics.entry import Part
from holdfast.statistics.mean import rows_known
from holdfast.statistics.spelling import part_condition
from holdfast.theory.base.concentration import BoundedMean
from holdfast.theory.base.intervals import Interval
from holdfast.theory.direct.symbols import POINTS
from holdfast.theory.length.levels import count_symbols, described_log_level

if TYPE_CHECKING:
    from holdfast.data.histogram import Histogram
    from holdfast.statistics.bind import Question
    from holdfast.statistics.description import Bits
    from holdfast.statistics.entry import Bound

# What crosses the door: whole numbers, how many of them is known by the rule.
Symbols = tuple[int, ...]
UNKNOWN = Interval(0.0, 1.0)


@lru_cache(maxsize=256)
def hoeffding_radius(rows: int, log_p: float) -> float:
    """Half-width of a mean of values in [0, 1]: for how long a text may be, and for symbols."""
    return BoundedMean(rows).radius(log_p)


@dataclass(frozen=True, slots=True)
class Told:
    """What symbols stand for, as fractions of the part's range.

    `value` is None where there was nothing to average. `rows` are the least and the greatest number
    of rows that it may be about, and `missing` those of the rows that were left out of them for
    want of a value.
    """

    value: float | None
    interval: Interval
    rows: tuple[int, int]
    missing: tuple[int, int] = (0, 0)

    def turned(self) -> Told:
        """1 minus a share; a difference with its sign changed."""
        low, high = self.interval
        value = None if self.value is None else 1.0 - self.value
        turned = Interval(_below(1.0 - high), _above(1.0 - low))
        return Told(value, turned, self.rows, self.missing)


def _below(number: float) -> float:
    return max(0.0, number - 2.0**-52)


def _above(number: float) -> float:
    return min(1.0, number + 2.0**-52)


def within(intervals: Sequence[Interval]) -> Interval:
    """What all of them hold: they are true together, and each holds the sample's value."""
    return Interval(max(each.low for each in intervals), min(each.high for each in intervals))


@dataclass(frozen=True, slots=True)
class GroupSizes:
    """The sizes of groups of `rows` rows that are told, each inside the one before it.

    `log_sizes` are the levels of their shares; the last group is the one that is averaged. If it is
    `known`, it has the rows of the one before, or of all, that have a value.
    """

    rows: int
    log_sizes: tuple[float, ...]
    known: bool

    @property
    def symbols(self) -> int:
        """How many the described events leave."""
        return math.prod(
            count_symbols(self.rows, hoeffding_radius(self.rows, level)) for level in self.log_sizes
        )

    def read(self, symbols: Symbols) -> tuple[int, tuple[int, int], Symbols]:
        """The size of the last group, how many are missing from it, and the other symbols."""
        told = symbols[: len(self.log_sizes)]
        sizes = [self.rows]
        for size in told:
            sizes.append(require.integer_between("size", size, 0, sizes[-1]))
        missing = sizes[-2] - sizes[-1] if self.known else 0
        return sizes[-1], (missing, missing), symbols[len(told) :]


def own_rows(log_sizes: tuple[float, ...], *, known: bool) -> str:
    """Which rows a mean is of whose number is told, in words."""
    missing_only = known and len(log_sizes) == 1
    return "the rows that have a value" if missing_only else "the group's own rows"


class Rule(Protocol):
    """A frozen value of plain public numbers: one event of Theorem O.

    Its name is what ledgers call it, whose meaning never changes.
    """

    name: ClassVar[str]

    @property
    def method(self) -> str:
        """How it comes to its interval, in words."""
        ...

    @property
    def theorems(self) -> tuple[str, ...]:
        """The theorems that its interval rests on, by their names in the registry."""
        ...

    @property
    def rows(self) -> int:
        """How many rows there are."""
        ...

    @property
    def log_p(self) -> float:
        """ln of the probability with which it may fail."""
        ...

    @property
    def symbols(self) -> int:
        """How many symbols the described events leave: what an answer costs later asks."""
        ...

    def decode(self, symbols: Symbols) -> Told:
        """What the symbols stand for; refused where they are not of the alphabet."""
        ...

    def __hash__(self) -> int: ...


_RuleClass = TypeVar("_RuleClass", bound=type[Any])
RECORDED_RULES: dict[str, type[Any]] = {}  # by the names that ledgers call them


def register_rule(rule: _RuleClass) -> _RuleClass:
    """Registration of a rule's class: a ledger that names it is read again by it."""
    if rule.name in RECORDED_RULES:
        raise ValueError(f"There is a rule {rule.name!r} already: a new meaning needs a new name.")
    RECORDED_RULES[rule.name] = rule
    return rule


@dataclass(frozen=True, slots=True)
class Evidence:
    """What was read of the rows: exact sums in grid units, histograms, and whatever else."""

    sums: Sequence[int]
    histograms: Sequence[Histogram]
    sample: Sample
    key: bytes  # of partitions: the same for all questions of a ledger, and not of its rows


def counts(evidence: Evidence) -> list[int]:
    """How many rows each of the conditions holds for that were summed: each is 2^30 units."""
    return [total // GRID for total in evidence.sums]


@dataclass(frozen=True, slots=True)
class Look:
    """A rule, what it needs of the rows, and how symbols come of that, inside the door."""

    rule: Rule
    symbols_of: Callable[[Evidence], Symbols]
    sums: tuple[RowValue, ...] = ()
    histograms: tuple[tuple[RowValue, Expression | None], ...] = ()
    others: tuple[RowValue, ...] = ()  # that it reads by itself

    @property
    def rows(self) -> tuple[RowValue, ...]:
        """Everything that an engine has to compute."""
        groups = (row_value(where) for _, where in self.histograms if where is not None)
        return (*self.sums, *(value for value, _ in self.histograms), *groups, *self.others)


def evidence_of(looks: Sequence[Look], sample: Sample, key: bytes) -> list[Evidence]:
    """What looks need of the rows: one scan for all sums, and one for all histograms."""
    rows = [row for look in looks for row in look.sums]
    needed = [pair for look in looks for pair in look.histograms]
    sums = iter(sample.sums(rows) if rows else [])
    histograms = iter(sample.histograms(needed) if needed else [])
    return [
        Evidence(
            [next(sums) for _ in look.sums],
            [next(histograms) for _ in look.histograms],
            sample,
            key,
        )
        for look in looks
    ]


# What the rules of described questions rest on, and how long questions are.


_ROUNDED_POINTS = 64
_ANY_SIZE = -(2.0**60)  # so small a level excludes none


class Lengths(Protocol):
    """How long questions are: their weights, over all events, sum to at most 1."""

    def read(self, question: Question, text: str | None = None) -> Bound:
        """The statistic that a question means; `text` is what it was read from, if that says it."""
        ...

    def of(self, question: Bound) -> Bits:
        """The length of a question; refused if it has no description."""
        ...

    def millibits(self, part: Part) -> int:
        """The length of a part, in thousandths of a bit."""
        ...

    def plans(self, part: Part) -> bool:
        """Whether a part was declared beforehand: planned, or an outcome by its segments."""
        ...


@dataclass(frozen=True, slots=True)
class Ground:
    """What rules rest on: the rows, how they came about, and the level of all of them together.

    `made_for_keys` are the columns whose values were made for single keys: what is said of those is
    `for_these_items`, and so is everything where other columns are public. `contains_means` tells
    that means of numbers keep to a half-width that can be planned. `log_free` are the levels of the
    question's events that hold for all constants at once. `arms` are randomised ones: what rests on
    their drawing alone is true of these rows, and only for events that were weighed at opening.
    """

    rows: int
    sampling: Sampling
    prior: Lengths
    log_beta: float
    design: Design = NO_DESIGN
    rounded: bool = False
    for_these_items: bool = False
    made_for_keys: frozenset[str] = frozenset()
    contains_means: bool = False
    log_free: tuple[float, ...] = ()
    arms: Randomised | None = None
    generation: int = 5  # of rules: those that the ledger was opened with

    def about(self, columns: Iterable[str]) -> Ground:
        """What rules for a question about these columns rest on."""
        keyless = self.made_for_keys.isdisjoint(columns)
        return self if keyless else replace(self, for_these_items=True)

    @property
    def has_other_truths(self) -> bool:
        """Whether some answers are about something else than their questions say of all rows."""
        within = isinstance(self.sampling, Clustered) and self.sampling.differences is not None
        return within or self.arms is not None

    @property
    def alike(self) -> bool:
        """Whether the rows are draws from one population."""
        unlike = self.for_these_items or bool(self.design.columns)
        return isinstance(self.sampling, Independent) and not unlike

    def alike_within(self, condition: Expression) -> bool:
        """Whether the rows with it, and those without it, are draws from one population each.

        So they are where all rows are, and where that condition is all that the design tells.
        """
        design = self.design
        if self.alike or not design.covers(condition) or len(design.cells) != 2:
            return self.alike
        undesigned = replace(self, design=NO_DESIGN)
        return undesigned.alike and 0 < design.group(condition).size < self.rows

    @property
    def points(self) -> int:
        return _ROUNDED_POINTS if self.rounded else POINTS

    def log_level(self, part: Part) -> float:
        """ln of the probability with which the rule of a part may fail."""
        return described_log_level(self.log_beta, self.prior.millibits(part))

    def log_share(self, condition: Expression) -> float:
        """The level of a group's size: that of its share of all rows.

        A row of which the condition is unknown is not in the group, and is left out of the share of
        the condition itself. A group that no words describe is told by a number that may be any.
        """
        tree = condition
        if may_be_missing(condition):
            tree, _ = part_condition(counted_condition(condition))
        try:
            return self.log_level(Part("mean", (tree,)))
        except NotDescribed:
            return _ANY_SIZE


@dataclass(frozen=True, slots=True)
class GroupRows:
    """Rows that are told by their number; `log_sizes` and `known` are those of `GroupSizes`.

    `around` is the group with its missing rows, where it is told too.
    """

    inside: Expression
    around: tuple[RowValue, ...]
    log_sizes: tuple[float, ...]
    known: bool

    @property
    def conditions(self) -> tuple[RowValue, ...]:
        """The conditions whose rows are counted, in the order of their levels."""
        return (*self.around, condition_row(self.inside))


def group_of_rows(where: Expression | None, ground: Ground, *values: RowValue) -> GroupRows | None:
    """The rows in `where` that have all values; None if those are all rows."""
    return known_group(where, ground, *(value.known for value in values))


def known_group(
    where: Expression | None, ground: Ground, *conditions: Expression
) -> GroupRows | None:
    """The rows in `where` with these conditions, of which all is known; None if those are all."""
    inside = rows_known(where, *conditions)
    if inside is None:
        return None
    is_known = inside != where
    around = (where,) if where is not None and is_known else ()
    return GroupRows(
        inside,
        tuple(map(condition_row, around)),
        tuple(map(ground.log_share, (*around, inside))),
        is_known,
    )
