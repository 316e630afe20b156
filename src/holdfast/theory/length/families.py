"""Section 13.4: families of questions that are declared at the opening, and the weight of each.

Theorem O wants weights of events that sum to at most 1, fixed independently of X. A plan takes a
public part `weight` of them, the grammar the rest: whatever was not declared costs
-log2(1 - weight) bits more (one at 1/2, two at 3/4), and a question that both describe costs the
cheaper of both.

*Patterns* ("avg(y) by site", "effect(y, arm) by country, device"): a pattern has factors with
declared values, and tiers 0..t; tier j holds every choice of j different factors with one value
each. *Outcomes and segments*: averages, a group against the rest, and pairs of groups, of each
outcome by each segment. Every choice is divided equally among what there is; what has no instance
is lost.

An instance is one event: its weight is given to one part of a question, and to no other (not to an
effect and its two means, nor to an average and its cut). A part that several instances describe
has the sum of their weights. So the weights of all parts sum to at most `weight`, in exact
fractions, and to at most 1 with the grammar's.

Symbols: r factors or segments with V_i declared values each, t the depth of a pattern, a outcomes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from math import comb, prod
from typing import TypeAlias

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.theory.base.theorem import theorem
from holdfast.theory.length.levels import option_millibits

_PATTERN_DEPTH = 2  # factors at once, where nobody says how many
_PLANNED_WEIGHT = Fraction(1, 2)  # of the prior, where patterns alone are declared
_SEGMENTS_WEIGHT = Fraction(3, 4)  # where outcomes are
_AVERAGES, _RESTS, _PAIRS = Fraction(2, 5), Fraction(2, 5), Fraction(1, 5)
_BY_CONDITIONS = (Fraction(1, 4), Fraction(1, 2), Fraction(1, 4))  # of averages: none, one, two
_UNCONDITIONED = Fraction(3, 4)  # of rests and pairs; the others have one `where` besides


@theorem(
    source="Holdfast",
    place="Section 13.4, tiers of a pattern",
    statement="Tiers 0..t have the shares 1/2, 1/4, ... from the deepest, the last two equal: they "
    "sum to 1.",
    domain="0 <= tier <= depth",
    monotone={"tier": "up"},
    slack="none",
)
def tier_share(depth: int, tier: int) -> Fraction:
    """The share of the choices of `tier` factors in a pattern of this depth."""
    depth = require.integer_at_least("depth", depth, 0)
    tier = require.integer_between("tier", tier, 0, depth)
    return Fraction(1, 2 ** min(depth, depth - tier + 1))


@theorem(
    source="Holdfast",
    place="Section 13.4, planned patterns",
    statement="Inside a pattern, each choice of `tier` different factors with one declared value "
    "each, and of one of its contrasts, has the tier's share over the number of such choices: the "
    "weights of all sum to 1.",
    domain="factors: the numbers of declared values, each >= 1; 0 <= tier <= depth <= their "
    "number; contrasts >= 1 (an effect of v arms has v - 1)",
    slack="none: Kraft sum exactly 1",
)
def pattern_weight(factors: Sequence[int], tier: int, depth: int, contrasts: int = 1) -> Fraction:
    """The weight of one instance within its pattern."""
    values = [require.positive_integer("values", each) for each in factors]
    depth = require.integer_between("depth", depth, 0, len(values))
    contrasts = require.positive_integer("contrasts", contrasts)
    return tier_share(depth, tier) / (_count_choices(values, tier) * contrasts)


@theorem(
    source="Holdfast",
    place="Section 13.4, averages of an outcome",
    statement="Of the averages of outcomes by segments, the overall ones have 1/4, those in a "
    "segment's value 1/2, those in two different segments' values 1/4; outcomes, segments, pairs "
    "of segments and values are equal among themselves.",
    domain="outcomes >= 1; conditions: the numbers of values of the 0, 1 or 2 segments chosen, "
    "out of `segments`",
    monotone={"outcomes": "down", "segments": "down"},
    slack="what has no instance is lost: 1/4 with one segment, 3/4 with none",
)
def average_weight(outcomes: int, segments: int, conditions: Sequence[int] = ()) -> Fraction:
    """The weight of one average within the family: 2/5 of it in all."""
    outcomes = require.positive_integer("outcomes", outcomes)
    values = [require.positive_integer("values", each) for each in conditions]
    segments = require.integer_at_least("segments", segments, len(values))
    chosen = require.integer_between("conditions", len(values), 0, len(_BY_CONDITIONS) - 1)
    choices = comb(segments, chosen) * prod(values)
    return _AVERAGES * _BY_CONDITIONS[chosen] / (outcomes * choices)


@theorem(
    source="Holdfast",
    place="Section 13.4, contrasts of a segment",
    statement="Contrasts of a segment's groups, without a further condition 3/4 and with one other "
    "segment's value 1/4, outcomes, segments and values equal: of groups against the rest 2/5 "
    "(single values and half-lines half each where the values are ordered), of pairs of values "
    "1/5.",
    domain="outcomes >= 1, segments >= 1, groups >= 1: what the segment has of this kind; where: "
    "the number of values of the further condition's segment, 0 if there is none",
    monotone={"outcomes": "down", "segments": "down", "groups": "down"},
    slack="what has no instance is lost: 1/4 with one segment",
)
def group_weight(
    outcomes: int, segments: int, groups: int, *, pairs: bool = False, where: int = 0
) -> Fraction:
    """The weight of one contrast within the family, before single values and half-lines part."""
    outcomes = require.positive_integer("outcomes", outcomes)
    segments = require.positive_integer("segments", segments)
    groups = require.positive_integer("groups", groups)
    where = require.integer_at_least("where", where, 0)
    kind = (_PAIRS if pairs else _RESTS) / (outcomes * segments * groups)
    if not where:
        return kind * _UNCONDITIONED
    others = require.integer_at_least("segments", segments, 2) - 1
    return kind * (1 - _UNCONDITIONED) / (others * where)


@theorem(
    source="Holdfast",
    place="Section 13.4, the sum of routes",
    statement="A part that several instances describe has the sum of their exact fractions: it "
    "costs the least integer m with 2^(-m/1000) <= that sum.",
    domain="at least one fraction, each > 0, in all <= 1",
    slack="below a thousandth of a bit",
)
def plan_millibits(fractions: Iterable[Fraction]) -> int:
    """Thousandths of a bit, rounded up, of a part that has these fractions."""
    total = sum(fractions, start=Fraction(0))
    if not 0 < total <= 1:
        raise InvalidArgument(
            f"the fractions of a part sum to {total}; give at least one, and each instance once."
        )
    return option_millibits(total.numerator, total.denominator)


@theorem(
    source="Holdfast",
    place="Section 13.4, what was not planned",
    statement="Where a plan has the weight w of the prior, the grammar has 1 - w: a description by "
    "it costs -log2(1 - w) bits more, one at 1/2 and two at 3/4.",
    domain="0 <= plan_weight < 1",
    monotone={"plan_weight": "up"},
    slack="below a thousandth of a bit",
)
def unplanned_millibits(plan_weight: Fraction) -> int:
    """What the grammar's descriptions cost more, in thousandths of a bit, rounded up."""
    if not 0 <= plan_weight < 1:
        raise InvalidArgument(
            f"plan_weight is {plan_weight}; it must be at least 0 and below 1, so that the grammar "
            "keeps a part."
        )
    share = 1 - Fraction(plan_weight)
    return option_millibits(share.numerator, share.denominator)


# What is declared, and the instances of it. Columns, values and outcomes are numbers here: which
# expressions they stand for is known to whoever declares them.


Condition: TypeAlias = tuple[int, int]  # a segment or factor, and one of its values


@dataclass(frozen=True, slots=True)
class Segment:
    """What one cuts by: so many declared values; `ordered` ones have half-lines besides."""

    values: int
    ordered: bool = False

    def __post_init__(self) -> None:
        require.positive_integer("values", self.values)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A planned question by factors, of so many values each, at most `depth` of them at once.

    An effect of v arms has v - 1 contrasts for each choice of factors, anything else 1. `share` is
    its part of all patterns; without, they are equal.
    """

    factors: tuple[int, ...] = ()
    contrasts: int = 1
    depth: int | None = None
    share: Fraction | None = None

    def __post_init__(self) -> None:
        pattern_weight(self.factors, 0, self.tiers, self.contrasts)
        if self.share is not None and not 0 < self.share <= 1:
            raise InvalidArgument(
                f"the share of a pattern is {self.share}; give more than 0 and at most 1."
            )

    @property
    def tiers(self) -> int:
        """The deepest of its tiers."""
        return min(_PATTERN_DEPTH, len(self.factors)) if self.depth is None else self.depth


@dataclass(frozen=True, slots=True)
class PlannedInstance:
    """An instance of a pattern: one of its contrasts, in one value each of some factors."""

    pattern: int
    conditions: tuple[Condition, ...] = ()
    contrast: int = 0


@dataclass(frozen=True, slots=True)
class AverageInstance:
    """The average of an outcome, overall or where at most two segments have these values."""

    outcome: int
    conditions: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True)
class RestInstance:
    """An outcome where a segment has this value against where it has another."""

    outcome: int
    segment: int
    value: int
    where: Condition | None = None


@dataclass(frozen=True, slots=True)
class HalfLineInstance:
    """An outcome where an ordered segment is at this value or above it against where it is below.

    `value` is from 1 on: below the first there is nothing. Both directions are one contrast.
    """

    outcome: int
    segment: int
    value: int
    where: Condition | None = None


@dataclass(frozen=True, slots=True)
class PairInstance:
    """An outcome in one value of a segment against another, `first` < `second`."""

    outcome: int
    segment: int
    first: int
    second: int
    where: Condition | None = None


Instance: TypeAlias = (
    PlannedInstance | AverageInstance | RestInstance | HalfLineInstance | PairInstance
)


@dataclass(frozen=True, slots=True)
class Family:
    """What was declared at the opening: patterns, outcomes by segments, or both, half each.

    `weight` is their part of the prior: 1/2 for patterns alone and 3/4 with outcomes, where nobody
    says otherwise.
    """

    patterns: tuple[Pattern, ...] = ()
    outcomes: int = 0
    segments: tuple[Segment, ...] = ()
    weight: Fraction | None = None

    def __post_init__(self) -> None:
        require.integer_at_least("outcomes", self.outcomes, 0)
        parts = [pattern.share for pattern in self.patterns if pattern.share is not None]
        if parts and (len(parts) < len(self.patterns) or sum(parts) > 1):
            raise InvalidArgument(
                f"{len(parts)} of {len(self.patterns)} patterns have a share, {sum(parts)} in all; "
                "give each a share, at most 1 in all, or none."
            )
        if self.segments and not self.outcomes:
            raise InvalidArgument(
                f"{len(self.segments)} segments are declared and no outcome; "
                "declare what is measured too."
            )
        unplanned_millibits(self.plan_weight)

    @property
    def plan_weight(self) -> Fraction:
        """The plan's part of the prior."""
        if not self.patterns and not self.outcomes:
            return Fraction(0)
        if self.weight is not None:
            return self.weight
        return _SEGMENTS_WEIGHT if self.outcomes else _PLANNED_WEIGHT

    @property
    def unplanned_millibits(self) -> int:
        """What everything else costs more, in thousandths of a bit."""
        return unplanned_millibits(self.plan_weight)

    def millibits(self, instances: Iterable[Instance]) -> int | None:
        """The price of the part that these instances describe; None if there are none.

        Whatever else describes the part by reason of two values alone is counted with them.
        """
        routes = {route for instance in instances for route in self.routes(instance)}
        return plan_millibits(map(self.fraction, routes)) if routes else None

    def routes(self, instance: Instance) -> tuple[Instance, ...]:
        """The instances that are the same contrast: of two values both rests and the pair.

        They are one event, so they must be read as one part of a question.
        """
        if not isinstance(instance, RestInstance | HalfLineInstance | PairInstance):
            return (instance,)
        segment = self.segments[instance.segment]
        if segment.values != 2:
            return (instance,)
        place = (instance.outcome, instance.segment)
        same: list[Instance] = [RestInstance(*place, value, instance.where) for value in (0, 1)]
        same.append(PairInstance(*place, 0, 1, instance.where))
        if segment.ordered:
            same.append(HalfLineInstance(*place, 1, instance.where))
        return tuple(same)

    def fraction(self, instance: Instance) -> Fraction:
        """The exact weight of an instance in the prior, by itself."""
        match instance:
            case PlannedInstance():
                return self._part(planned=True) * self._in_patterns(instance)
            case _ if self.outcomes:
                return self._part(planned=False) * self._in_segments(instance)
        raise InvalidArgument(f"{instance} has no outcome; declare what is measured.")

    def _part(self, *, planned: bool) -> Fraction:
        both = bool(self.patterns and self.outcomes)
        declared = bool(self.patterns) if planned else bool(self.outcomes)
        return self.plan_weight * declared / (1 + both)

    def _in_patterns(self, instance: PlannedInstance) -> Fraction:
        if not 0 <= instance.pattern < len(self.patterns):
            raise InvalidArgument(
                f"pattern {instance.pattern} is not one of the {len(self.patterns)} declared; "
                "they are counted from 0."
            )
        pattern = self.patterns[instance.pattern]
        share = Fraction(1, len(self.patterns)) if pattern.share is None else pattern.share
        _check_conditions(instance.conditions, pattern.factors, pattern.tiers)
        require.integer_between("contrast", instance.contrast, 0, pattern.contrasts - 1)
        tier = len(instance.conditions)
        return share * pattern_weight(pattern.factors, tier, pattern.tiers, pattern.contrasts)

    def _in_segments(
        self, instance: AverageInstance | RestInstance | HalfLineInstance | PairInstance
    ) -> Fraction:
        require.integer_between("outcome", instance.outcome, 0, self.outcomes - 1)
        values = [segment.values for segment in self.segments]
        if isinstance(instance, AverageInstance):
            _check_conditions(instance.conditions, values, len(_BY_CONDITIONS) - 1)
            chosen = [values[segment] for segment, _ in instance.conditions]
            return average_weight(self.outcomes, len(values), chosen)
        require.integer_between("segment", instance.segment, 0, len(values) - 1)
        chosen_where = () if instance.where is None else (instance.where,)
        _check_conditions(((instance.segment, 0), *chosen_where), values, 2, in_order=False)
        where = 0 if instance.where is None else values[instance.where[0]]
        V = values[instance.segment]
        ordered = self.segments[instance.segment].ordered
        many = (self.outcomes, len(values))
        match instance:
            case RestInstance():
                require.integer_between("value", instance.value, 0, V - 1)
                return group_weight(*many, 2 * V if ordered else V, where=where)
            case HalfLineInstance():
                require.integer_between("value", instance.value, 1, V - 1 if ordered else 0)
                return group_weight(*many, 2 * (V - 1), where=where)
            case PairInstance():
                require.integer_between("second", instance.second, 1, V - 1)
                require.integer_between("first", instance.first, 0, instance.second - 1)
                return group_weight(*many, V * (V - 1) // 2, pairs=True, where=where)

    def instances(self) -> Iterator[Instance]:
        """Every instance, once. Their fractions sum to at most the plan's weight."""
        for number, pattern in enumerate(self.patterns):
            for tier in range(pattern.tiers + 1):
                for conditions in _choices(pattern.factors, tier):
                    for contrast in range(pattern.contrasts):
                        yield PlannedInstance(number, conditions, contrast)
        values = [segment.values for segment in self.segments]
        for outcome in range(self.outcomes):
            for chosen in range(len(_BY_CONDITIONS)):
                for conditions in _choices(values, chosen):
                    yield AverageInstance(outcome, conditions)
            for place, segment in enumerate(self.segments):
                further = [each for (each,) in _choices(values, 1) if each[0] != place]
                for where in (None, *further):
                    for value in range(segment.values):
                        yield RestInstance(outcome, place, value, where)
                    for value in range(1, segment.values if segment.ordered else 0):
                        yield HalfLineInstance(outcome, place, value, where)
                    for first, second in combinations(range(segment.values), 2):
                        yield PairInstance(outcome, place, first, second, where)


def _count_choices(values: Sequence[int], chosen: int) -> int:
    """How many choices there are of so many different factors with one value each."""
    counts = [1] + [0] * chosen
    for many in values:
        for size in range(chosen, 0, -1):
            counts[size] += many * counts[size - 1]
    return counts[chosen]


def _choices(values: Sequence[int], chosen: int) -> Iterator[tuple[Condition, ...]]:
    """Every choice of so many different factors with one value each."""
    for places in combinations(range(len(values)), chosen):
        for each in product(*(range(values[place]) for place in places)):
            yield tuple(zip(places, each, strict=True))


def _check_conditions(
    conditions: Sequence[Condition], values: Sequence[int], most: int, *, in_order: bool = True
) -> None:
    """One instance has one spelling: different factors, in the declared order."""
    require.integer_between("conditions", len(conditions), 0, most)
    places = [place for place, _ in conditions]
    if len(set(places)) < len(places) or (in_order and places != sorted(places)):
        raise InvalidArgument(
            f"the conditions are on factors {places}; give each factor once, in the declared order."
        )
    for place, value in conditions:
        require.integer_between("factor", place, 0, len(values) - 1)
        require.integer_between("value", value, 0, values[place] - 1)
