"""Means as they are described: the events of averages, totals, differences; the rules of shares."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, partial
from hashlib import shake_256
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from holdfast import require
from holdfast.data.sampling import Clustered, Independent, MDependent
from holdfast.errors import NotDescribed
from holdfast.prior.atoms import holes
from holdfast.prior.grammar import Grammar
from holdfast.prior.literals import free_number_millibits
from holdfast.question import build
from holdfast.question.expression import Expression, Op, Operation, ValueKind, text_of
from holdfast.question.row import GRID, RowValue, is_decided_by_values, row_value
from holdfast.statistics.concentrated_rules import concentrated_group_look, concentrated_look
from holdfast.statistics.derived import (
    Conditional,
    Difference,
    OpenConditional,
    Paired,
    Total,
    as_counted,
)
from holdfast.statistics.entry import (
    NO_TEXT,
    Description,
    EventPrice,
    Part,
    Use,
    sorted_trees,
    tree_of,
)
from holdfast.statistics.grid_rules import (
    group_look,
    m_dependent_look,
    profile_look,
    unit_mean,
    unlike_group_mean,
)
from holdfast.statistics.mean import GroupMean, Mean, expression_of, rows_with_value, within_group
from holdfast.statistics.mean_rules import (
    ContainedMean,
    GroupMeanRule,
    MeanRule,
    PairedRule,
    contrast,
    group_mean_look,
    mean_look,
    on_grid,
    paired_look,
)
from holdfast.statistics.rounded_rules import RoundedGroupMean, RoundedMean
from holdfast.statistics.rule import (
    UNKNOWN,
    Ground,
    GroupRows,
    GroupSizes,
    Look,
    Rule,
    Symbols,
    Told,
    counts,
    group_of_rows,
    hoeffding_radius,
    own_rows,
    register_rule,
    within,
)
from holdfast.statistics.spelling import (
    brier_of,
    closer_conditions,
    closer_of,
    counted_value,
    loss_of,
    paired_of,
    part_condition,
)
from holdfast.statistics.statistic import ConcentratedGroupMean, ConcentratedMean
from holdfast.theory.base.intervals import (
    Interval,
    clopper_pearson,
    independent_clopper_pearson,
    threshold_interval,
)
from holdfast.theory.direct.bounded_mean import half_each_interval
from holdfast.theory.direct.symbols import contained_levels
from holdfast.theory.direct.unit_sums import f1_interval
from holdfast.theory.length.levels import any_order_millibits, count_symbols, group_symbols

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from holdfast.data.histogram import Histogram

# Means of bounded values of alike rows: bets without an order of the rows, and in one.
#
# Of alike rows an order by the ledger's key is as good as any, so where rows are stored never
# enters.


# Rows that are bet on in order: fewer have no use for it, and of more it takes too long.
_RANK_BITS = 20
_FEWEST, _MOST = 1 << 7, 1 << _RANK_BITS
_BETS_IN_ORDER = ("bounded_mean_interval", "half_each_lower")


@register_rule
@dataclass(frozen=True, slots=True)
class AlikeMean(MeanRule):
    """The mean of a bounded value over `rows` alike rows: bets that know an order of the rows too.

    Each has half of the level. The order is drawn by the ledger's key.
    """

    name: ClassVar[str] = "mean/2"
    method: ClassVar[str] = "bets on the mean, without and in an order of the rows"
    theorems: ClassVar[tuple[str, ...]] = _BETS_IN_ORDER

    def encode_in_order(self, histogram: Histogram, key: bytes) -> Symbols:
        """The symbols of rows with this histogram, in the order of a key."""
        if not _FEWEST <= self.rows <= _MOST:
            return self.encode(histogram)
        log_p, _ = contained_levels(self.log_p)
        rows, twice = (histogram.low, histogram.high, histogram.counts), self.rows**2 * 2.0**-45
        encode = partial(self.window.encode, Fraction(histogram.total, self.rows * GRID))
        order = ranks_in_order(self.rows, key)
        return encode(half_each_interval(*rows, order, log_p - twice, encode))


@lru_cache(maxsize=1)  # every question about a table has the same
def ranks_in_order(rows: int, key: bytes) -> NDArray[np.int64]:
    """A permutation of ranks, drawn by a key: a ticket of 44 bits for each, which decides unless it
    is drawn twice.

    That makes no permutation likelier than e^{rows^2/2^45} times its share.
    """
    tickets = np.frombuffer(shake_256(b"order of ranks" + key).digest(8 * rows), dtype="<u8")
    ranks = np.arange(rows, dtype=np.uint64)
    ordered = np.sort(tickets >> _RANK_BITS << _RANK_BITS | ranks)
    order = (ordered & np.uint64(_MOST - 1)).astype(np.int64)
    order.flags.writeable = False
    return order


@register_rule
@dataclass(frozen=True, slots=True)
class AlikeGroupMean(GroupMeanRule):
    """The mean inside a group of alike rows as `AlikeMean` has it, and its size."""

    name: ClassVar[str] = "group mean/2"
    theorems: ClassVar[tuple[str, ...]] = _BETS_IN_ORDER

    @property
    def method(self) -> str:
        rows = own_rows(self.log_sizes, known=self.known)
        return f"bets on the mean of {rows}, without and in an order of them"

    def encode_in_order(self, histogram: Histogram, key: bytes, around: Symbols) -> Symbols:
        """The symbols of a group with this histogram, and of the group `around` it."""
        size = histogram.rows
        if size == 0:
            return self.encode(histogram, around)
        return (*around, size, *AlikeMean(size, self.log_p).encode_in_order(histogram, key))


def alike_look(value: RowValue, rule: AlikeMean) -> Look:
    """The mean of a value, of all rows."""
    return Look(
        rule,
        lambda evidence: rule.encode_in_order(evidence.histograms[0], evidence.key),
        histograms=((value, None),),
    )


def alike_group_look(value: RowValue, group: GroupRows, rule: AlikeGroupMean) -> Look:
    """The mean of a value among the rows of a group."""
    return Look(
        rule,
        lambda evidence: rule.encode_in_order(
            evidence.histograms[0], evidence.key, tuple(counts(evidence))
        ),
        group.around,
        ((value, group.inside),),
    )


_IN_ORDER = 3  # since these rules of a ledger


def _average(mean: Mean) -> Iterable[Use]:
    own: Part | None = getattr(mean.row.source, "part", None)  # a value that no expression spells
    if own is not None:
        return [Use(own)]
    tree = tree_of(mean.row)
    if mean.variance is None:
        return _uses(tree, None)
    return [Use(Part("declared", (tree,), numbers=(mean.variance,), form="variance"))]


def _concentrated(mean: ConcentratedMean) -> list[Use]:
    scale = mean.scale
    if mean.usual:  # no other event is about the plain mean of this column
        return [Use(Part("mean", (mean.expression,)))]
    form, numbers = (
        ("sigma", (scale.sigma,)) if scale.b is None else ("sigma and b", (scale.sigma, scale.b))
    )
    return [Use(Part("declared", (mean.expression,), numbers=numbers, form=form))]


def _concentrated_group(mean: ConcentratedGroupMean | OpenConditional) -> list[Use]:
    """That of a column, by the scale it was declared with at opening: nothing else is said."""
    is_known = isinstance(mean, ConcentratedGroupMean) and mean.share is not None
    if is_known or not mean.whole.usual:
        raise NotDescribed(
            f"{mean.text} says more of its rows than was declared when the ledger was opened, and "
            "a group of such rows has no length in bits."
        )
    return [Use(Part("mean", (mean.whole.expression,), mean.condition))]


def _in_group(mean: GroupMean | Conditional) -> Iterator[Use]:
    return _uses(tree_of(mean.value), mean.condition)


def _uses(tree: Expression, where: Expression | None) -> Iterator[Use]:
    """What a mean rests on, its event first; who wants that alone reads no further."""
    brier = brier_of(tree)
    if brier is not None:
        yield Use(Part("brier", brier, where))
        return
    loss = loss_of(tree)
    if loss is not None:
        yield Use(Part("ratio", loss.values, where, (loss.cap,), loss.form))
        return
    pair = paired_of(tree)
    if pair is not None:
        yield _pair(*pair, where)
        return
    tree, turned = part_condition(tree)
    yield Use(Part("mean", (tree,), where), turned=turned)
    # One band holds for all constants in the rows where the condition is known, if those are the
    # same rows for all of them.
    if tree.kind is ValueKind.BOOLEAN and is_decided_by_values(tree):
        for cut in holes(tree):
            yield Use(Part("cut", (cut,), where), "free", turned)


def _pair(first: RowValue, second: RowValue, where: Expression | None) -> Use:
    closer = closer_of(tree_of(first), tree_of(second))
    if closer is not None:
        one, other, label = closer
        swapped = text_of(one) > text_of(other)
        trees = (other, one, label) if swapped else closer
        return Use(Part("ratio", trees, where, form="closer"), turned=swapped)
    values = sorted_trees(first, second)
    return Use(Part("paired", values, where), turned=values[0] != tree_of(first))


def _apart(question: Difference) -> list[Use]:
    """A contrast of two groups, and both means; where the values differ, the means alone."""
    sides = (question.first, question.second)
    contrast = _contrast(*map(_value_and_rows, sides))
    means = [use for side in sides for use in _of_any(side) if use.role == "plain"]
    if contrast is None:
        return means
    return [contrast, *(replace(mean, role="besides") for mean in means)]


def _of_any(mean: object) -> Iterable[Use]:
    """What a mean of all rows or of a group rests on."""
    match mean:
        case Mean():
            return _average(mean)
        case GroupMean() | Conditional():
            return _in_group(mean)
    raise NotDescribed(NO_TEXT)


_Side = tuple[Expression, Expression | None]


def _contrast(first: _Side, second: _Side) -> Use | None:
    """One value in two groups; a NOT is taken back only where it stands on both sides."""
    (value, rows), (other_value, other_rows) = first, second
    if value != other_value or rows is None or other_rows is None or rows == other_rows:
        return None
    tree, negated = part_condition(value)
    one, other, shared = _groups(rows, other_rows)
    swapped = text_of(one) > text_of(other)
    groups = (other, one) if swapped else (one, other)
    turned = swapped != negated  # turned over twice is as it was
    return Use(Part("contrast", (tree, *groups), shared), turned=turned)


def _value_and_rows(side: object) -> _Side:
    match side:
        case GroupMean() | Conditional():
            return tree_of(side.value), side.condition
        case Mean(row):
            return tree_of(row), None
    raise NotDescribed(NO_TEXT)


def _groups(
    first: Expression, second: Expression
) -> tuple[Expression, Expression, Expression | None]:
    """Two different groups without the conditions they share, and those."""
    mine, others = _conjuncts(first), _conjuncts(second)
    shared = [each for each in mine if each in others]
    if not shared or len(shared) in (len(mine), len(others)):
        return first, second, None
    one, other = (
        build.conjunction([each for each in whole if each not in shared])
        for whole in (mine, others)
    )
    return one, other, build.conjunction(shared)


def _conjuncts(condition: Expression) -> tuple[Expression, ...]:
    if isinstance(condition, Operation) and condition.op is Op.AND:
        return condition.args
    return (condition,)


def rows_among(average: Mean | GroupMean | Conditional) -> Expression | None:
    """The condition of the group that a mean is of."""
    return None if isinstance(average, Mean) else average.condition


def _look(question: Any, part: Part, ground: Ground) -> Look | None:
    match question:
        case ConcentratedMean():
            return concentrated_look(question, ground, ground.log_level(part))
        case (
            ConcentratedGroupMean(whole, condition) | OpenConditional(whole=whole, inside=condition)
        ):
            return concentrated_group_look(whole, condition, ground, ground.log_level(part))
    if part.kind == "declared":
        return None  # a declared variance is for the ledger
    if part.kind == "paired":
        return _paired_look(part.trees, part, ground)
    if part.form == "closer":
        return _paired_look(closer_conditions(*part.trees), part, ground)
    value = counted_value(part.trees[0]) if part.kind == "mean" else _row_of(question)
    return _mean_of(value, part, ground)


def _row_of(question: Any) -> RowValue:
    """The value that a question averages: what its part says of it is another spelling."""
    match question:
        case Mean():
            return question.row
        case GroupMean() | Conditional():
            return question.value
    return _row_of(question.mean)


def _mean_of(value: RowValue, part: Part, ground: Ground) -> Look | None:
    """The mean of a value, of all rows or of a group, by what is assumed of the rows."""
    where, n = rows_with_value(part.where, value), ground.rows
    known = part.where is None and where is not None
    gridded = partial(on_grid, part, ground, groups=0 if where is None else 1, known=known)
    match ground.sampling:
        case Independent():
            return _of_independent(value, part, ground)
        case Clustered(column=column, largest=int(largest)):
            mean_of = partial(unit_mean, column=column, largest=largest)
            by = "units" if where is None else "units in a group"
            return group_look(value, where, mean_of, gridded(by))
        case MDependent(m):
            group = None if where is None else (within_group(value, where), row_value(where))
            return m_dependent_look(value, group, m, gridded("m-dependent rows"))
        case other if where is None:
            return profile_look(value, other.profile(n), gridded("concentration"))
    return None


def _of_independent(value: RowValue, part: Part, ground: Ground) -> Look | None:
    """The mean of independent rows: a group's size may be used where they are alike, or public."""
    where, n = rows_with_value(part.where, value), ground.rows
    if where is None:
        return _of_rows(value, None, n, part, ground)
    if ground.design.covers(where):
        size = ground.design.group(where).size
        return _of_rows(value, where, size, part, ground) if size else None
    if not ground.alike:
        rule = on_grid(part, ground, "unlike group", groups=1, known=part.where is None)
        return group_look(value, where, partial(unlike_group_mean, rows=n), rule)
    return _of_group(value, part, ground)


def _of_rows(
    value: RowValue,
    where: Expression | None,
    rows: int,
    part: Part,
    ground: Ground,
) -> Look:
    """A mean of so many rows, whose number is public."""
    log_p = ground.log_level(part)
    summed = value if where is None else within_group(value, where)
    if ground.rounded:
        rounded = RoundedMean(rows, log_p)
        return Look(rounded, rounded.encode, (summed,))
    if value.is_condition:
        return share_look(summed, Share(rows, log_p, ground.log_free, ground.alike))
    if where is None and _bets_in_order(ground):
        return alike_look(value, AlikeMean(rows, log_p))
    mean = ContainedMean if ground.contains_means else MeanRule
    return mean_look(value, where, mean(rows, log_p))


def _of_group(value: RowValue, part: Part, ground: Ground) -> Look | None:
    """A mean inside a group of alike rows, whose size is told."""
    group = group_of_rows(part.where, ground, value)
    if group is None:
        return None
    n, log_p, sizes = ground.rows, ground.log_level(part), (group.log_sizes, group.known)
    if ground.rounded:
        rounded = RoundedGroupMean(n, log_p, *sizes)
        return Look(rounded, rounded.encode, (within_group(value, group.inside), *group.conditions))
    if value.is_condition:
        return group_share_look(value, group, GroupShare(n, log_p, ground.log_free, *sizes))
    if _bets_in_order(ground):
        return alike_group_look(value, group, AlikeGroupMean(n, log_p, *sizes))
    return group_mean_look(value, group, GroupMeanRule(n, log_p, *sizes))


def _bets_in_order(ground: Ground) -> bool:
    return ground.alike and not ground.contains_means and ground.generation >= _IN_ORDER


def _paired_look(trees: tuple[Expression, ...], part: Part, ground: Ground) -> Look | None:
    """Two conditions by the rows in which they differ; other values by the mean difference."""
    by_rows = isinstance(ground.sampling, Independent) and not ground.rounded
    if not by_rows or not _two_conditions(trees, part.where):
        return _mean_of(_mean_difference(*trees), part, ground)
    group = group_of_rows(None, ground, *map(row_value, trees))
    if group is not None and not ground.alike:
        return _mean_of(_mean_difference(*trees), part, ground)
    inside = [] if group is None else [group.inside]
    first, second = (build.coalesce([tree, build.FALSE]) for tree in trees)
    first_alone, second_alone = (
        row_value(build.conjunction([*inside, one, build.negation(other)]))
        for one, other in ((first, second), (second, first))
    )
    log_size, known = (None, ()) if group is None else (group.log_sizes[0], group.conditions)
    rule = PairedRule(ground.rows, ground.log_level(part), ground.alike, log_size)
    return paired_look(first_alone, second_alone, rule, known)


def _two_conditions(trees: tuple[Expression, ...], where: Expression | None) -> bool:
    return where is None and all(tree.kind is ValueKind.BOOLEAN for tree in trees)


def _mean_difference(first: Expression, second: Expression) -> RowValue:
    """The first value minus the second, in the rows that have both."""
    return row_value(
        build.arithmetic(Op.SUBTRACT, *(as_counted(row_value(each)) for each in (first, second)))
    )


# What their events cost.


def values_price(words: Grammar, part: Part) -> int:
    """Values in any order."""
    return sum(map(words.value, part.trees)) + any_order_millibits(len(set(part.trees)))


def numbers_price(part: Part) -> int:
    """Numbers that nothing else says."""
    return sum(map(free_number_millibits, part.numbers))


def _contrast_price(words: Grammar, part: Part) -> int:
    tree, *groups = part.trees
    return words.value(tree) + words.groups(*groups)


PRICES_OF_MEANS = {
    "mean": EventPrice(lambda words, part: words.value(part.trees[0]), "where mean"),
    "cut": EventPrice(lambda words, part: words.cut(part.trees[0]), "where cut"),
    "declared": EventPrice(
        lambda words, part: words.value(part.trees[0]) + numbers_price(part), None
    ),
}
PRICES_OF_DIFFERENCES = {
    "contrast": EventPrice(_contrast_price, "where contrast"),
    "paired": EventPrice(values_price),
}
DESCRIBED_MEANS = (
    Description(Mean, _average, _look),
    Description(ConcentratedMean, _concentrated, _look),
    Description(GroupMean, _in_group, _look),
    Description(Conditional, _in_group, _look),
    Description(ConcentratedGroupMean, _concentrated_group, _look),
    Description(OpenConditional, _concentrated_group, _look),
)
DESCRIBED_TOTALS = (Description(Total, lambda total: _of_any(total.mean), _look),)
DESCRIBED_DIFFERENCES = (
    Description(Difference, _apart, contrast),
    Description(Paired, lambda pair: [_pair(pair.first, pair.second, None)], _look),
)


# Rules of shares of rows: of all of them, and inside a group whose size is a symbol too.
#
# Given which rows are in the group, its 0/1 values are those of alike rows, so that its own size
# may be used. Plain and free levels are events of their own, and their intervals are intersected;
# all of them are functions of the count.


@register_rule
@dataclass(frozen=True, slots=True)
class Share:
    """How many of `rows` rows: Clopper and Pearson, and for free thresholds DKW and the band."""

    name: ClassVar[str] = "share/1"
    method: ClassVar[str] = "Clopper and Pearson's interval"
    rows: int
    log_p: float
    log_free: tuple[float, ...]
    alike: bool

    @property
    def theorems(self) -> tuple[str, ...]:
        exact = "clopper_pearson" if self.alike else "independent_clopper_pearson_upper"
        return (exact, *(["cdf_band_lower"] if self.log_free else []))

    @property
    def symbols(self) -> int:
        return count_symbols(self.rows, hoeffding_radius(self.rows, self.log_p))

    def decode(self, symbols: Symbols) -> Told:
        (count,) = symbols
        count = require.integer_between("count", count, 0, self.rows)
        interval = _interval(self.rows, count, self.log_p, self.log_free, alike=self.alike)
        return Told(count / self.rows, interval, (self.rows, self.rows))


@register_rule
@dataclass(frozen=True, slots=True)
class GroupShare:
    """How many rows are in a group, and how many of those.

    `log_sizes` and `known` are those of `GroupSizes`.
    """

    name: ClassVar[str] = "group share/1"
    rows: int
    log_p: float
    log_free: tuple[float, ...]
    log_sizes: tuple[float, ...]
    known: bool = False

    @property
    def theorems(self) -> tuple[str, ...]:
        return ("clopper_pearson", *(["cdf_band_lower"] if self.log_free else []))

    @property
    def method(self) -> str:
        return f"Clopper and Pearson's interval of {own_rows(self.log_sizes, known=self.known)}"

    @property
    def symbols(self) -> int:
        return self._sizes.symbols * count_symbols(
            self.rows, hoeffding_radius(self.rows, self.log_p)
        )

    def decode(self, symbols: Symbols) -> Told:
        size, missing, (count,) = self._sizes.read(symbols)
        count = require.integer_between("count", count, 0, size)
        if size == 0:
            return Told(None, UNKNOWN, (0, 0), missing)
        interval = _interval(size, count, self.log_p, self.log_free, alike=True)
        return Told(count / size, interval, (size, size), missing)

    @property
    def _sizes(self) -> GroupSizes:
        return GroupSizes(self.rows, self.log_sizes, self.known)


@register_rule
@dataclass(frozen=True, slots=True)
class Overlap:
    """F1: rows where either condition holds, and rows where both do; a share in disguise."""

    name: ClassVar[str] = "overlap/1"
    method: ClassVar[str] = "Clopper and Pearson's interval of the rows where either holds"
    theorems: ClassVar[tuple[str, ...]] = ("f1_interval",)
    rows: int
    log_p: float
    log_share: float

    @property
    def symbols(self) -> int:
        return _inside_symbols(self.rows, self.log_share, self.log_p)

    def decode(self, symbols: Symbols) -> Told:
        either, both = _group_counts(symbols, self.rows)
        if either == 0:
            return Told(None, UNKNOWN, (0, 0))
        interval = f1_interval(both, either - both, 0, self.log_p)
        return Told(2 * both / (either + both), interval, (either, either))


def _group_counts(symbols: Symbols, rows: int) -> tuple[int, int]:
    """The size of a group and a count inside it, of so many rows."""
    size, count = symbols
    size = require.integer_between("size", size, 0, rows)
    return size, require.integer_between("count", count, 0, size)


def _inside_symbols(rows: int, log_share: float, log_p: float) -> int:
    size_alpha, alpha = (hoeffding_radius(rows, level) for level in (log_share, log_p))
    return group_symbols(rows, size_alpha, alpha)


def _interval(
    rows: int, count: int, log_p: float, log_free: Sequence[float], *, alike: bool
) -> Interval:
    exact = clopper_pearson if alike else independent_clopper_pearson
    free = (threshold_interval(rows, count, level, alike=alike) for level in log_free)
    return within([exact(rows, count, log_p), *free])


def share_look(condition: RowValue, rule: Rule) -> Look:
    """The share of rows where a condition holds."""
    return _counts((condition,), rule)


def group_share_look(condition: RowValue, group: GroupRows, rule: Rule) -> Look:
    """The share among the rows of a group."""
    both = row_value(build.conjunction([group.inside, expression_of(condition)]))
    return _counts((*group.conditions, both), rule)


def overlap_look(first: RowValue, second: RowValue, where: Expression | None, rule: Rule) -> Look:
    """How many rows have either of two conditions, and how many both."""
    return _counts(overlap_counts(first, second, where), rule)


def overlap_counts(
    first: RowValue, second: RowValue, where: Expression | None
) -> tuple[RowValue, RowValue]:
    """The rows where either of two conditions holds, and where both do."""
    sides = [expression_of(first), expression_of(second)]
    inside = [] if where is None else [where]
    return (
        row_value(build.conjunction([*inside, build.disjunction(sides)])),
        row_value(build.conjunction([*inside, *sides])),
    )


def _counts(conditions: tuple[RowValue, ...], rule: Rule) -> Look:
    return Look(rule, lambda evidence: tuple(counts(evidence)), conditions)
