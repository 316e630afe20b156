"""Statistics of the table as a whole: AUC, Kendall's tau, and functions with a declared tail."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, overload

from holdfast import require
from holdfast.data.sample import Sample, plain_frames, reading, silent
from holdfast.data.sampling import Clustered, Independent, Sampling, gamma_of
from holdfast.errors import InvalidArgument, InvalidQuestion
from holdfast.prior.grammar import Grammar
from holdfast.prior.literals import free_number_millibits
from holdfast.question import build
from holdfast.question.bounds import Range
from holdfast.question.declaring import Scale
from holdfast.question.expression import (
    Expression,
    column_names,
    identifier,
    numeral,
    string,
    text_of,
)
from holdfast.question.functions import row_function
from holdfast.question.row import RowValue, has_value
from holdfast.statistics.entry import (
    By,
    Call,
    Description,
    Entry,
    EventPrice,
    Part,
    Table,
    TableCall,
    Use,
    What,
    grouped,
    positive_label,
    require_all_rows,
)
from holdfast.statistics.grid_rules import (
    Gridded,
    auc_look,
    gridded_rule,
    kendall_look,
    ranked_score,
)
from holdfast.statistics.mean import rows_known
from holdfast.statistics.rule import Ground, Look, known_group
from holdfast.statistics.statistic import ROUNDINGS, Measured
from holdfast.theory.base.concentration import (
    BoundedDifferences,
    Concentration,
    SubExponential,
    SubGaussian,
    TwoSampleU,
)
from holdfast.theory.base.dependence import ClusteredDifferences
from holdfast.theory.base.gamma import gamma_text
from holdfast.theory.base.unbounded import InUnits
from holdfast.theory.length.levels import any_order_millibits

if TYPE_CHECKING:
    import polars as pl

_FAR = 2.0**28  # scales from 0, as far as a statistic without bounds is read
_LOG_USUAL = math.log(0.05)


@dataclass(frozen=True, slots=True)
class Auc:
    """P[score of a positive row > score of a negative one], ties counting a half.

    Which rows are positive is public by design. A missing score is on the wrong side of all others.
    """

    low: ClassVar[float] = 0.0
    high: ClassVar[float] = 1.0
    unbounded: ClassVar[bool] = False
    row: ClassVar[RowValue | None] = None

    score: Expression
    positive: Expression
    positives: int
    negatives: int

    @property
    def text(self) -> str:
        return f"auc({text_of(self.score)}, {text_of(self.positive)})"

    @property
    def error(self) -> float:
        return ROUNDINGS

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it reads."""
        return tuple(sorted({*column_names(self.score), *column_names(self.positive)}))

    def rows(self, n: int) -> int:
        return n

    def unit(self, n: int) -> float:  # noqa: ARG002 - all of the range
        return 1.0

    def concentration(self, n: int, sampling: Sampling) -> Concentration:  # noqa: ARG002
        if isinstance(sampling, Independent):
            return TwoSampleU(self.positives, self.negatives)
        raise InvalidQuestion(
            f"The interval of an AUC is proved for independent rows, and this ledger has "
            f"{sampling}; ask for the accuracy at a threshold instead."
        )

    def read(self, sample: Sample) -> Measured:
        from holdfast.data.ranking import ranked_pairs

        ranking = ranked_pairs(sample, ranked_score(self.score, self.positive), self.positive)
        # For the protected rows the public numbers; other rows, to guess from, have their own.
        pairs = ranking.positives * ranking.negatives
        return Measured(ranking.doubled, 2 * pairs, sample.n) if pairs else Measured(1, 2, sample.n)


@dataclass(frozen=True, slots=True)
class Kendall:
    """Kendall's tau of two numbers: how much likelier two rows agree in order than they disagree.

    Ties count 0 (tau-a). It needs no range, and is about the rows that have both numbers.
    """

    low: ClassVar[float] = -1.0
    high: ClassVar[float] = 1.0
    unbounded: ClassVar[bool] = False
    row: ClassVar[RowValue | None] = None

    values: tuple[Expression, Expression]
    condition: Expression | None

    @property
    def text(self) -> str:
        among = "" if self.condition is None else f" where {text_of(self.condition)}"
        return f"kendall({', '.join(map(text_of, self.values))}){among}"

    @property
    def error(self) -> float:
        return ROUNDINGS

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it reads."""
        trees = self.values if self.condition is None else (*self.values, self.condition)
        return tuple(sorted({name for tree in trees for name in column_names(tree)}))

    def rows(self, n: int) -> int:
        return n

    def unit(self, n: int) -> float:  # noqa: ARG002 - all of the range
        return 1.0

    def concentration(self, n: int, sampling: Sampling) -> Concentration:
        complete = rows_known(self.condition, *map(has_value, self.values)) is None
        if not isinstance(sampling, Independent) or not complete or n < _PAIR:
            raise InvalidQuestion(
                f"The interval of {self.text} is proved for independent rows, all of which have "
                "both numbers, or where its text describes it and rows are alike; ask it without "
                "tolerance=, or of coalesce(...)."
            )
        # An average over all pairs is one over all ways to halve the rows of averages over two
        # halves, and no wider.
        return TwoSampleU(n // 2, n - n // 2)

    def read(self, sample: Sample) -> Measured:
        from holdfast.data.ranking import paired_numbers
        from holdfast.theory.direct.correlation import sum_of_signs

        x, y = paired_numbers(sample, self.values, self.condition)
        pairs = x.size * (x.size - 1) // 2
        return Measured(pairs + sum_of_signs(x, y), 2 * pairs, sample.n) if pairs else _MIDDLE


_PAIR, _MIDDLE = 2, Measured(1, 2, 0)


@dataclass(frozen=True, slots=True)
class TableFunction:
    """A Python function of all rows with a declared concentration, and perhaps declared bounds.

    `change`: one row changes its value by at most this (McDiarmid). `gamma`: how it concentrates,
    whatever the rows are (typical stability's own case). Without `bounds` it is read as far as
    2^28 scales from 0, beyond which an interval has no end.
    """

    row: ClassVar[RowValue | None] = None

    function: Callable[[pl.DataFrame], float]
    columns: tuple[str, ...]
    bounds: Range | None
    name: str
    version: str
    change: float | None
    gamma: Concentration | None

    @property
    def text(self) -> str:
        columns = ", ".join(identifier(column) for column in self.columns)
        declared = _declared_text(self.change, self.gamma)
        limits = ""
        if self.bounds is not None:
            limits = f" in [{numeral(self.bounds.low)}, {numeral(self.bounds.high)}]"
        return (
            f"statistic {string(self.name)} version {string(self.version)} of ({columns})"
            f"{limits}, {declared}"
        )

    @property
    def low(self) -> float:
        return -self.high if self.bounds is None else self.bounds.low

    @property
    def high(self) -> float:
        return _FAR * self._scale if self.bounds is None else self.bounds.high

    @property
    def _scale(self) -> float:
        """The sigma of a sub-Gaussian statistic that is as wide at 95 %."""
        if self.gamma is None:
            raise TypeError(f"{self.name} has no bounds and no concentration")
        return self.gamma.radius(_LOG_USUAL) / SubGaussian(1.0).radius(_LOG_USUAL)

    @property
    def unbounded(self) -> bool:
        return self.bounds is None

    @property
    def error(self) -> float:
        return ROUNDINGS

    def rows(self, n: int) -> int:
        return n

    def unit(self, n: int) -> float:
        """Without bounds 2 sqrt(n) scales, as a part of the range: what a row's range would be."""
        return 1.0 if self.bounds is not None else math.sqrt(n) / _FAR

    def concentration(self, n: int, sampling: Sampling) -> Concentration:
        width = self.high - self.low
        match self.gamma:
            case SubGaussian(sigma) if self.bounds is not None:
                return SubGaussian(sigma / width)
            case SubExponential(sigma, b) if self.bounds is not None:
                return SubExponential(sigma / width, b / width)
            case None:
                return self._by_change(n, sampling, width)
        return InUnits(self.gamma, width)

    def _by_change(self, n: int, sampling: Sampling, width: float) -> Concentration:
        delta = (self.change or 0.0) / width
        match sampling:
            case Independent():
                return BoundedDifferences(n, delta)
            case Clustered(size=float(size)):
                return ClusteredDifferences(round(size * n), delta)
        raise InvalidQuestion(
            f"A statistic that changes by at most {numeral(self.change or 0.0)} with a row "
            f"concentrates for independent rows, or units of decided sizes, and this ledger has "
            f"{sampling}; declare its sigma= instead."
        )

    def read(self, sample: Sample) -> Measured:
        import polars as pl

        with reading():
            table = pl.concat(plain_frames(sample.frames(self.columns)))
            # Batches come as they come, and even a mean of doubles has another last bit then.
            table = table.sort(pl.all())
        try:
            with silent():
                value = float(self.function(table))
        except (Exception, GeneratorExit, SystemExit, pl.exceptions.PanicException):
            value = math.nan  # what it does with these rows may not be told
        low, high = self.low, self.high
        value = low if math.isnan(value) else min(high, max(low, value))
        part = (Fraction(value) - Fraction(low)) / (Fraction(high) - Fraction(low))
        return Measured(part.numerator, part.denominator, sample.n)


def _declared_text(change: float | None, gamma: Concentration | None) -> str:
    match gamma:
        case None:
            return f"change {numeral(change or 0.0)}"
        case SubGaussian(sigma):
            return f"sigma {numeral(sigma)}"
        case SubExponential(sigma, b):
            return f"sigma {numeral(sigma)}, b {numeral(b)}"
    return f"gamma {gamma_text(gamma)}"


def statistic(
    function: Callable[[pl.DataFrame], float],
    *,
    columns: Sequence[str],
    name: str,
    bounds: tuple[float, float] | None = None,
    version: str = "1",
    change: float | None = None,
    sigma: float | None = None,
    b: float | None = None,
    gamma: Any = None,
) -> TableFunction:
    """Any number computed from all rows together, whose concentration you declare.

    `function` gets a Polars frame of these columns, sorted by what the rows hold, wherever they
    stood, and returns a number; one outside `bounds` counts as the nearest bound, and NaN or a
    failure as the lower one.
    Declare either `change`, the most that one row can change the number (for independent rows or
    units; with bounds), or the scale `sigma` of its deviations (with `b`, sub-exponential ones), in
    its own unit, or `gamma`: any family, or a table of (radius, log tail). With a scale or a gamma
    it needs no bounds. The truth is its expectation over samples of this size. It is known by
    `name` and `version`: change the version whenever its meaning changes.
    """
    ways = [change is not None, sigma is not None, gamma is not None]
    if ways.count(True) != 1 or (b is not None and sigma is None):
        raise InvalidArgument("statistic() takes change=, or sigma=, or sigma= and b=, or gamma=.")
    if change is not None and bounds is None:
        raise InvalidArgument("a statistic with change= has bounds=; with sigma= it needs none.")
    moved = None if change is None else require.positive("change", change)
    tail = None if gamma is None else gamma_of(gamma)
    if sigma is not None:
        tail = gamma_of(Scale(sigma, b))
    limits = (-1.0, 1.0) if bounds is None else bounds
    named = row_function(function, columns=columns, bounds=limits, name=name, version=version)
    own = None if bounds is None else named.bounds
    table_function = TableFunction(function, named.columns, own, name, version, moved, tail)
    if own is None and not 0.0 < table_function.high < math.inf:
        raise InvalidArgument(
            "gamma says nothing at 95 %, or that nothing ever deviates, and there are no bounds; "
            "declare a tail that has a radius there, or bounds=."
        )
    return table_function


def auc(score: What, label: str) -> Call:
    """The area under the ROC curve of a score; the label must be a design column."""
    return Call("auc", (score, label))


@overload
def kendall(first: What, second: What, *, where: str | None = None) -> Call: ...
@overload
def kendall(first: What, second: What, *, where: str | None = None, by: By) -> TableCall: ...
def kendall(
    first: What, second: What, *, where: str | None = None, by: By | None = None
) -> Call | TableCall:
    """Kendall's tau of two numbers, which need no bounds."""
    return grouped(Call("kendall", (first, second), where), by)


def _bind_kendall(call: Call, table: Table) -> Kendall:
    numbers = (build.as_number(table.expression(each), "kendall") for each in call.arguments)
    first, second = sorted(numbers, key=text_of)
    where = table.where(call.where)
    return Kendall((first, second), None if where == build.TRUE else where)


def _bind_auc(call: Call, table: Table) -> Auc:
    require_all_rows(call)
    score, label = call.arguments
    positive = positive_label(label, table)
    if not column_names(positive):
        raise InvalidQuestion(
            f"By {text_of(positive)} all rows are of one class, whatever they hold; an AUC needs "
            "two, so write a label that uses a column."
        )
    if not table.design.covers(positive):
        raise InvalidQuestion(
            f"An AUC needs to know how many rows are positive, and {text_of(positive)} is not "
            "about design columns; declare its columns with design=[...] when the ledger is opened."
        )
    positives = table.design.group(positive).size
    negatives = sum(table.design.counts) - positives
    if not positives or not negatives:
        raise InvalidQuestion(
            f"All rows of the design are of one class by {text_of(positive)}; an AUC needs two."
        )
    ranked = build.as_number(table.expression(score), "an AUC")
    return Auc(ranked, positive, positives, negatives)


# As it is described.


def _auc_uses(area: Auc) -> list[Use]:
    return [Use(Part("auc", (area.score, area.positive)))]


def _auc_look(_question: Auc, part: Part, ground: Ground) -> Look | None:
    """By bets on blocks of both classes, each of alike rows."""
    score, positive = part.trees
    if not ground.alike_within(positive):
        return None
    rule = Gridded(
        "auc",
        ground.rows,
        ground.log_level(part),
        log_sizes=(ground.log_share(positive),),
        points=ground.points,
        rounded=ground.rounded,
    )
    return auc_look(score, positive, rule)


def _kendall_uses(tau: Kendall) -> list[Use]:
    return [Use(Part("kendall", tau.values, tau.condition))]


def _kendall_look(question: Kendall, part: Part, ground: Ground) -> Look | None:
    """By bets on blocks of alike rows."""
    if not ground.alike:
        return None
    group = known_group(part.where, ground, *map(has_value, question.values))
    return kendall_look(question.values, group, gridded_rule("kendall", part, group, ground))


def _kendall_price(words: Grammar, part: Part) -> int:
    """Every production of a part is in use: this one stands for a log loss whose probabilities
    are at least 0, which nobody can ask for, and what was priced before keeps its price."""
    numbers = sum(words.number(each, bounded=False) for each in part.trees)
    return numbers + any_order_millibits(len(set(part.trees))) + free_number_millibits(0.0)


def _auc_price(words: Grammar, part: Part) -> int:
    score, label = part.trees
    return words.number(score, bounded=False) + words.condition(label, "v")


WHOLE = (
    Entry(
        "auc",
        "auc(score, label)",
        "how often a positive row has the higher score, ties 1/2",
        (2, 2),
        _bind_auc,
        described=(Description(Auc, _auc_uses, _auc_look),),
        prices={"auc": EventPrice(_auc_price, None)},
    ),
    Entry(
        "kendall",
        "kendall(first, second)",
        "how much likelier two rows agree in order than they disagree (tau-a)",
        (2, 2),
        _bind_kendall,
        described=(Description(Kendall, _kendall_uses, _kendall_look),),
        prices={"kendall": EventPrice(_kendall_price, instead_of="log_loss")},
    ),
)
