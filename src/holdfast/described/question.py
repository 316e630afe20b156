"""A described question: its parts, their levels, its one rule, and its method in words.

Which rule is public: it depends on the question's words and on what was declared. Where no theorem
covers the way the rows came about there is none, and the question goes to the ledger.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from holdfast.data.sample import Sample
from holdfast.data.sampling import Clustered, Independent, MDependent, Sampling
from holdfast.described import means, shares
from holdfast.described.gridded import (
    Gridded,
    auc_look,
    group_look,
    m_dependent_look,
    profile_look,
    quantile_look,
    relation_look,
    spread_look,
    unit_mean,
    unlike_group_mean,
)
from holdfast.described.groups import GroupRows, group_of_rows
from holdfast.described.means import (
    ConcentratedRule,
    ContainedMean,
    Contrast,
    GroupMeanRule,
    MeanRule,
    PairedRule,
    ShareContrast,
    concentrated_look,
    contrast,
    of_groups,
    on_grid,
)
from holdfast.described.rounded import (
    RoundedContrast,
    RoundedGroupMean,
    RoundedMean,
    RoundedOverlap,
)
from holdfast.described.rule import Ground, Look, Rule, Told
from holdfast.described.shares import GroupShare, Overlap, Share
from holdfast.errors import InvalidQuestion, NotDescribed
from holdfast.prior.parts import Part, Use, has_own_events, parts_of
from holdfast.prior.undo import counted_value
from holdfast.question import build
from holdfast.question.expression import Expression, Op, ValueKind
from holdfast.question.missing import may_be_missing
from holdfast.question.row import RowValue, row_value
from holdfast.statistics.derived import (
    Conditional,
    Derived,
    Estimate,
    Joined,
    Stages,
    all_parts,
    as_counted,
    is_derived,
    is_single,
)
from holdfast.statistics.entry import Bound
from holdfast.statistics.mean import GroupMean, Mean, rows_with_value, within_group
from holdfast.statistics.moments import Variance
from holdfast.statistics.scores import or_wrong, other_class
from holdfast.statistics.statistic import ConcentratedMean, Measured, Statistic
from holdfast.statistics.whole import columns_of
from holdfast.theory.base.concentration import BoundedMean, Concentration
from holdfast.theory.direct.bounded_mean import outlier_floor_mass

__all__ = [
    "DescribedParts",
    "DescribedQuestion",
    "columns_read",
    "described",
    "described_again",
    "described_answer",
    "is_at_the_floor",
    "method_of",
    "reads_as_written",
    "share_symbols",
    "sure_half_width",
]


@dataclass(frozen=True, slots=True)
class DescribedQuestion:
    """A question with its rule; asked like any statistic, and answered exactly.

    `columns` are those that it is about, and `event` the text of the part that its rule is for:
    questions that share it share its symbols. One of a `dictionary` that was opened late names it,
    and the `member` of it that it is about.
    """

    question: Bound
    look: Look = field(compare=False)
    bits: float
    turned: bool
    columns: tuple[str, ...]
    event: str | None = None
    dictionary: str | None = None
    member: str | None = None

    @property
    def text(self) -> str:
        return self.question.text

    @property
    def low(self) -> float:
        return self.question.low

    @property
    def high(self) -> float:
        return self.question.high

    @property
    def unbounded(self) -> bool:
        return is_single(self.question) and self.question.unbounded

    @property
    def error(self) -> float:
        raise TypeError(f"{self.text} is answered by its rule")

    def unit(self, n: int) -> float:
        return self.question.unit(n) if is_single(self.question) else 1.0

    @property
    def rule(self) -> Rule:
        return self.look.rule

    @property
    def reach(self) -> float:
        """How far a mean may be from the truth at its level: as declared, or by Hoeffding."""
        known = self.rule.radius if isinstance(self.rule, ConcentratedRule) else None
        return known or min(1.0, BoundedMean(self.rule.rows).radius(self.rule.log_p))

    @property
    def row(self) -> RowValue | None:
        """It is measured by its rule, whatever it averages."""
        return None

    def rows(self, n: int) -> int:
        return n

    def concentration(self, n: int, sampling: Sampling) -> Concentration:  # noqa: ARG002
        raise TypeError(f"{self.text} is answered by its rule")

    def read(self, sample: Sample) -> Measured:  # noqa: ARG002
        raise TypeError(f"{self.text} is answered by its rule")


@dataclass(frozen=True, slots=True)
class DescribedParts:
    """A statistic without a rule of its own: described questions that it follows from.

    Each part has its own event at its own weight, and all events hold together. So the statistic's
    own theorem turns the parts' intervals into its interval, at no further cost.
    """

    question: Derived
    parts: tuple[DescribedQuestion, ...]

    @property
    def text(self) -> str:
        return self.question.text

    @property
    def low(self) -> float:
        return self.question.low

    @property
    def high(self) -> float:
        return self.question.high

    @property
    def bits(self) -> float:
        """The length of the longest part."""
        return max(part.bits for part in self.parts)

    @property
    def stages(self) -> Stages:
        return (self.parts,)

    def join(self, parts: Sequence[Estimate]) -> Joined:
        return self.question.join(parts)

    def favourable(self, known: Sequence[Estimate | None]) -> list[tuple[float, ...]]:
        return self.question.favourable(known)

    def last_guess(self, guess: float, others: Sequence[float]) -> float:
        return self.question.last_guess(guess, others)


def columns_read(question: Statistic) -> tuple[str, ...]:
    """The columns that a question is about, described or not."""
    return question.columns if isinstance(question, DescribedQuestion) else columns_of(question)


def described_answer(question: Bound, ground: Ground) -> DescribedQuestion | DescribedParts | None:
    """The question with its rule, or else with the rules of its parts; None if neither covers it.

    It was read by the prior of the ground: there every group is a part by itself.
    """
    return described(question, ground) or _described_parts(question, ground)


def _described_parts(question: Bound, ground: Ground) -> DescribedParts | None:
    if not is_derived(question):
        return None
    parts = []
    for statistic in all_parts(question):
        part = described(statistic, ground)
        if part is None or not reads_as_written(statistic.text, ground):
            return None
        parts.append(part)
    return DescribedParts(question, tuple(parts))


def reads_as_written(text: str, ground: Ground) -> bool:
    """Whether a text says all of a question: of a column attached later it has only the name."""
    try:
        return ground.prior.read(text).text == text
    except InvalidQuestion:
        return False


def described(question: Bound, ground: Ground) -> DescribedQuestion | None:
    """The question with a rule of its own; None if it has none, or is refused a description."""
    if not has_own_events(question):
        return None
    try:
        uses = parts_of(question)
        bits = ground.prior.of(question).best
    except NotDescribed:
        return None
    columns = sorted({column for use in uses for column in use.part.columns})
    look = _look(question, uses, ground.about(columns))
    if look is None:
        return None
    main = uses[0]
    return DescribedQuestion(question, look, bits, main.turned, tuple(columns), main.part.text)


def described_again(text: str, ground: Ground | None) -> DescribedQuestion:
    """The described question that a ledger knows by this text."""
    found = None
    if ground is not None:
        question = ground.prior.read(text)
        found = described(question, ground) if question.text == text else None
    if found is None:
        raise InvalidQuestion("The text in the ledger is not that of a described question.")
    return found


def _look(question: Bound, uses: Sequence[Use], ground: Ground) -> Look | None:
    """The rule of the part that answers the question, and what is read for it."""
    main, *others = uses
    free = tuple(ground.log_level(use.part) for use in others if use.role == "free")
    if any(use.role == "plain" for use in others):
        return None  # two means of different values: each has its own rule
    make = _LOOKS.get(main.part.kind)
    return None if make is None else make(question, main.part, free, ground)


_Maker = Callable[[Any, Part, tuple[float, ...], Ground], Look | None]


def _mean(question: Any, part: Part, free: tuple[float, ...], ground: Ground) -> Look | None:
    if isinstance(question, ConcentratedMean):
        return _declared(question, part, free, ground)
    value = counted_value(part.trees[0]) if part.kind == "mean" else _row_of(question)
    return _mean_of(value, part, free, ground)


def _declared(question: Any, part: Part, free: tuple[float, ...], ground: Ground) -> Look | None:  # noqa: ARG001
    """A mean of which a scale is declared; one with a declared variance goes to the ledger."""
    if not isinstance(question, ConcentratedMean):
        return None
    return concentrated_look(question, ground, ground.log_level(part))


def _row_of(question: Any) -> RowValue:
    """The value that a question averages: what its part says of it is another spelling."""
    match question:
        case Mean():
            return question.row
        case GroupMean() | Conditional():
            return question.value
    return _row_of(question.mean)


def _mean_of(value: RowValue, part: Part, free: tuple[float, ...], ground: Ground) -> Look | None:
    """The mean of a value, of all rows or of a group, by what is assumed of the rows."""
    where, n = rows_with_value(part.where, value), ground.rows
    known = part.where is None and where is not None
    gridded = partial(on_grid, part, ground, groups=0 if where is None else 1, known=known)
    match ground.sampling:
        case Independent():
            return _of_independent(value, part, free, ground)
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


def _of_independent(
    value: RowValue, part: Part, free: tuple[float, ...], ground: Ground
) -> Look | None:
    """The mean of independent rows: a group's size may be used where they are alike, or public."""
    where, n = rows_with_value(part.where, value), ground.rows
    if where is None:
        return _of_rows(value, None, n, part, free, ground)
    if ground.design.covers(where):
        size = ground.design.group(where).size
        return _of_rows(value, where, size, part, free, ground) if size else None
    if not ground.alike:
        rule = on_grid(part, ground, "unlike group", groups=1, known=part.where is None)
        return group_look(value, where, partial(unlike_group_mean, rows=n), rule)
    return _of_group(value, part, free, ground)


def _of_rows(
    value: RowValue,
    where: Expression | None,
    rows: int,
    part: Part,
    free: tuple[float, ...],
    ground: Ground,
) -> Look:
    """A mean of so many rows, whose number is public."""
    log_p = ground.log_level(part)
    summed = value if where is None else within_group(value, where)
    if ground.rounded:
        rounded = RoundedMean(rows, log_p)
        return Look(rounded, rounded.seen, (summed,))
    if value.is_condition:
        return shares.share_look(summed, shares.Share(rows, log_p, free, ground.alike))
    mean = means.ContainedMean if ground.contains_means else means.MeanRule
    return means.mean_look(value, where, mean(rows, log_p))


def _of_group(value: RowValue, part: Part, free: tuple[float, ...], ground: Ground) -> Look | None:
    """A mean inside a group of alike rows, whose size is told."""
    group = group_of_rows(part.where, ground, value)
    if group is None:
        return None
    n, log_p, sizes = ground.rows, ground.log_level(part), (group.log_sizes, group.known)
    if ground.rounded:
        rounded = RoundedGroupMean(n, log_p, *sizes)
        return Look(rounded, rounded.seen, (within_group(value, group.inside), *group.counted))
    if value.is_condition:
        return shares.group_share_look(value, group, shares.GroupShare(n, log_p, free, *sizes))
    return means.group_mean_look(value, group, means.GroupMeanRule(n, log_p, *sizes))


def _paired(question: Any, part: Part, free: tuple[float, ...], ground: Ground) -> Look | None:  # noqa: ARG001
    """Two conditions by the rows in which they differ; other values by the mean difference."""
    by_rows = isinstance(ground.sampling, Independent) and not ground.rounded
    if not by_rows or not _two_conditions(part):
        return _mean_of(_difference(*part.trees), part, free, ground)
    group = group_of_rows(None, ground, *map(row_value, part.trees))
    if group is not None and not ground.alike:
        return _mean_of(_difference(*part.trees), part, free, ground)
    inside = [] if group is None else [group.inside]
    first, second = (build.coalesce([tree, build.FALSE]) for tree in part.trees)
    first_alone, second_alone = (
        row_value(build.conjunction([*inside, one, build.negation(other)]))
        for one, other in ((first, second), (second, first))
    )
    log_size, known = (None, ()) if group is None else (group.log_sizes[0], group.counted)
    rule = means.PairedRule(ground.rows, ground.log_level(part), ground.alike, log_size)
    return means.paired_look(first_alone, second_alone, rule, known)


def _two_conditions(part: Part) -> bool:
    return part.where is None and all(tree.kind is ValueKind.BOOLEAN for tree in part.trees)


def _difference(first: Expression, second: Expression) -> RowValue:
    """The first value minus the second, in the rows that have both."""
    return row_value(
        build.arithmetic(Op.SUBTRACT, *(as_counted(row_value(each)) for each in (first, second)))
    )


def _quantile(question: Any, part: Part, free: tuple[float, ...], ground: Ground) -> Look | None:
    group = group_of_rows(part.where, ground, question.value)
    if not isinstance(ground.sampling, Independent) or (group and not ground.alike):
        return None
    (level,) = part.numbers
    rule = _gridded("quantile", part, group, ground, log_free=free[0] if free else None)
    return quantile_look(question.value, group, level, rule, alike=ground.alike)


def _gridded(by: str, part: Part, group: GroupRows | None, ground: Ground, **more: Any) -> Gridded:
    log_sizes, known = ((), False) if group is None else (group.log_sizes, group.known)
    return Gridded(
        by,
        ground.rows,
        ground.log_level(part),
        log_sizes=log_sizes,
        points=ground.points,
        rounded=ground.rounded,
        known=known,
        **more,
    )


def _spread(question: Variance, part: Part, free: tuple[float, ...], ground: Ground) -> Look | None:  # noqa: ARG001
    if not ground.alike:
        return None
    group = group_of_rows(part.where, ground, question.value)
    rule = _gridded("spread", part, group, ground, squared=not question.root)
    return spread_look(question.value, group, rule)


def _relation(question: Any, part: Part, free: tuple[float, ...], ground: Ground) -> Look | None:  # noqa: ARG001
    if not ground.alike:
        return None
    covariance = getattr(question, "covariance", question)
    values = (covariance.first, covariance.second)
    group = group_of_rows(part.where, ground, *values)
    rule = _gridded(part.form, part, group, ground)
    return relation_look(values, group, part.form, rule)


def _auc(question: Any, part: Part, free: tuple[float, ...], ground: Ground) -> Look | None:  # noqa: ARG001
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


def _ratio(question: Any, part: Part, free: tuple[float, ...], ground: Ground) -> Look | None:  # noqa: ARG001
    make = {"f1": _f1, "balanced_accuracy": _balanced}.get(part.form)
    return None if make is None or not ground.alike else make(part, ground)


def _balanced(part: Part, ground: Ground) -> Look:
    """Balanced accuracy, a part of [0, 1], is the difference of both rates as a part of [-1, 1].

    The size of one class follows from that of the other, and so does how far it may be off.
    """
    predicted, positive = part.trees
    sizes = (ground.log_share(positive),)
    rule = means.Contrast(ground.rows, ground.log_level(part), (sizes, sizes), disjoint=True)
    first, second = (
        GroupRows(each, (), sizes, known=False) for each in (positive, other_class(positive))
    )
    return of_groups(row_value(or_wrong(predicted, positive)), (first, second), rule, ground)


def _f1(part: Part, ground: Ground) -> Look:
    first, second = part.trees
    if may_be_missing(first):
        first = or_wrong(first, second)
    either = build.disjunction([first, second])
    within = either if part.where is None else build.conjunction([part.where, either])
    levels = ground.log_level(part), ground.log_share(within)
    sides = row_value(first), row_value(second)
    if ground.rounded:
        rounded = RoundedOverlap(ground.rows, *levels)
        return Look(rounded, rounded.seen, shares.overlap_counts(*sides, part.where))
    return shares.overlap_look(*sides, part.where, shares.Overlap(ground.rows, *levels))


_LOOKS: dict[str, _Maker] = {
    "mean": _mean,
    "declared": _declared,
    "brier": _mean,
    "log_loss": _mean,
    "contrast": contrast,
    "paired": _paired,
    "quantile": _quantile,
    "spread": _spread,
    "relation": _relation,
    "auc": _auc,
    "ratio": _ratio,
}


# What is said of a rule to people: its method, what is sure beforehand, and what would help.
#
# All of it is public: it follows from the rule, and for advice from the answer that was told.


_METHODS: Mapping[type[Rule], str] = {
    Share: "Clopper and Pearson's interval",
    GroupShare: "Clopper and Pearson's interval of the group's own rows",
    Overlap: "Clopper and Pearson's interval of the rows where either holds",
    MeanRule: "bets on the mean",
    ContainedMean: "bets on the mean and Hoeffding's interval",
    GroupMeanRule: "bets on the mean of the group's own rows",
    Contrast: "bets on both groups' means",
    ShareContrast: "the exact law of both groups' counts",
    PairedRule: "the rows in which the two conditions differ",
    ConcentratedRule: "the declared scale",
    RoundedMean: "Hoeffding's interval, rounded",
    RoundedGroupMean: "Hoeffding's interval of the group's rows, rounded",
    RoundedContrast: "Hoeffding's interval of both groups' rows, rounded",
    RoundedOverlap: "Hoeffding's interval of the rows where either holds, rounded",
}
_GRIDDED_METHODS = {
    "quantile": "order statistics",
    "spread": "bets on squared deviations",
    "covariance": "bets on products of deviations",
    "correlation": "bets on products of deviations",
    "auc": "bets on blocks of both classes",
    "units": "bets on sums of units, and Hoeffding's bound for units,",
    "units in a group": "bets on sums of units",
    "m-dependent rows": "bets on blocks of rows",
    "concentration": "the declared concentration",
    "unlike group": "bets on the group's rows, which need not be alike",
    "unlike groups": "bets on each group's rows, which need not be alike,",
    "units in both groups": "bets on sums of units, for each group,",
}
# Rows of a normal law have intervals of a correlation about as wide as this allows without a floor.
_NORMAL_CORRELATION = 2.0


def method_of(rule: Rule) -> str:
    """How it comes to its interval and at which level, in words."""
    method = _GRIDDED_METHODS[rule.by] if isinstance(rule, Gridded) else _METHODS[type(rule)]
    match rule:
        case GroupShare(log_sizes=(_,), known=True) | GroupMeanRule(log_sizes=(_,), known=True):
            method = method.replace("the group's own rows", "the rows that have a value")
    free = [f"the band of all thresholds at level {_level(each)}" for each in _free_levels(rule)]
    return " and ".join([f"{method} at level {_level(rule.log_p)}", *free])


def _free_levels(rule: Rule) -> Sequence[float]:
    """Those of the events that hold for every threshold at once."""
    match rule:
        case Share(log_free=levels) | GroupShare(log_free=levels):
            return levels
        case Gridded(log_free=float(level)):
            return (level,)
    return ()


def _level(log_p: float) -> str:
    return f"{math.exp(log_p):.2g}"


def share_symbols(rule: Rule | None, other: Rule) -> bool:
    """Whether the same symbols come of both: a spread is told as a deviation, or as its square."""
    if isinstance(rule, Gridded) and isinstance(other, Gridded):
        return replace(rule, squared=other.squared) == other
    return rule == other


def sure_half_width(rule: Rule) -> float | None:
    """The half-width that no answer exceeds, as a part of the range; None if that is not known."""
    match rule:
        case Share():
            return min(0.5, BoundedMean(rule.rows).radius(rule.log_p))
        case MeanRule() | ContainedMean() | PairedRule(log_size=None):
            return min(0.5, rule.window.alpha)
        case RoundedMean() | ConcentratedRule():
            return min(0.5, rule.half_width)
    return None


def is_at_the_floor(rule: Rule, told: Told) -> bool:
    """Whether rows at the end of the declared range, too few to be excluded, make half its width.

    The share of rows that no method can exclude is `outlier_floor_mass`. So with a tighter range
    the answer would be narrower; more rows help less.
    """
    rows, value = told.rows[0], told.value
    if value is None or rows == 0:
        return False
    share = outlier_floor_mass(rows, rule.log_p)
    low, high = told.interval
    match rule:
        case MeanRule() | ContainedMean() | GroupMeanRule():
            above, below = share * (1.0 - value), share * value
            return 2.0 * above > high - value or 2.0 * below > value - low
        case Gridded(by="spread", squared=squared):
            deviation, top = (math.sqrt(value), math.sqrt(high)) if squared else (value, high)
            # In halves of the range. The mean is not told: its far end is one to two halves away.
            moved = math.sqrt((1.0 - share) * (deviation**2 + 2.0 * share))
            return 2.0 * (moved - deviation) > top - deviation
        case Gridded(by="correlation"):
            # The floor needs the deviations, which are not told: compared with a normal law.
            normal = (1.0 - (2.0 * value - 1.0) ** 2) * math.sqrt(-2.0 * rule.log_p / rows)
            return high - low > _NORMAL_CORRELATION * normal
    return False
