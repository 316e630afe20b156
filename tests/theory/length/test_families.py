"""Declared families: exact Kraft sums over every instance, and the same with a weight given twice.

A declaration is drawn; all of its instances are listed and read as parts of questions; the weights
of all parts, as they are charged, are added in exact arithmetic.
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

import pytest
from hypothesis import given, settings, strategies as st

from holdfast.errors import InvalidArgument
from holdfast.theory.length.families import (
    AverageInstance,
    Family,
    HalfLineInstance,
    Instance,
    PairInstance,
    Pattern,
    PlannedInstance,
    RestInstance,
    Segment,
    plan_millibits,
)
from tests.theory.tables.families import bits

LAWS = ("pattern_weight", "plan_millibits")

PATTERNS = st.lists(st.integers(1, 3), max_size=3).flatmap(
    lambda factors: st.builds(
        Pattern,
        st.just(tuple(factors)),
        st.integers(1, 2),
        st.none() | st.integers(0, len(factors)),
    )
)
SEGMENTS = st.lists(st.builds(Segment, st.integers(1, 4), st.booleans()), max_size=3)
WEIGHTS = st.none() | st.fractions(Fraction(1, 100), Fraction(99, 100), max_denominator=100)


@st.composite
def families(draw: st.DrawFn) -> Family:
    patterns = tuple(draw(st.lists(PATTERNS, max_size=3)))
    outcomes = draw(st.integers(0, 2))
    segments = tuple(draw(SEGMENTS)) if outcomes else ()
    return Family(patterns, outcomes, segments, draw(WEIGHTS))


@settings(max_examples=60)
@given(families())
def test_the_fractions_of_all_instances_sum_to_at_most_the_plans_weight(family: Family) -> None:
    instances = list(family.instances())
    assert len(set(instances)) == len(instances)
    total = sum(map(family.fraction, instances), start=Fraction(0))
    assert total <= family.plan_weight
    if len(family.segments) >= 2 and all(segment.values >= 2 for segment in family.segments):
        assert total == family.plan_weight  # nothing is lost
    if family.patterns and not family.outcomes:
        assert total == family.plan_weight


@settings(max_examples=40)
@given(families())
def test_no_part_is_charged_less_than_its_share_of_the_whole(family: Family) -> None:
    """Patterns by the same factors are the same question: their instances are one part."""
    parts: dict[object, set[Instance]] = defaultdict(set)
    for instance in family.instances():
        parts[part_of(family, instance)].add(instance)
    total = Fraction(0)
    for routes in parts.values():
        share = sum(map(family.fraction, routes), start=Fraction(0))
        price = family.millibits(routes)
        assert price is not None
        assert Fraction(1, 2**price) <= share**1000 < Fraction(1, 2 ** (price - 1))
        total += share
    grammar = Fraction(1, 2**family.unplanned_millibits)
    assert grammar <= (1 - family.plan_weight) ** 1000
    assert total <= family.plan_weight


def part_of(family: Family, instance: Instance) -> object:
    """What is asked, whichever instance it is."""
    if isinstance(instance, PlannedInstance):
        factors = family.patterns[instance.pattern].factors
        return "planned", factors, instance.conditions, instance.contrast
    return frozenset(family.routes(instance))


USERS = Family((Pattern((5, 3, 3)),))
EXPLORER = Family(outcomes=2, segments=tuple(Segment(many) for many in (16, 3, 12, 7, 31, 20, 5)))


def test_sabotage_an_instances_weight_given_to_several_parts() -> None:
    """An effect and its two means, an average and its cut: the weights sum to 2, or to 3/2."""
    whole = sum(map(USERS.fraction, USERS.instances()), start=Fraction(0))
    grammar = 1 - USERS.plan_weight
    assert grammar + whole == 1
    assert grammar + 3 * whole == 2
    assert grammar + 2 * whole == Fraction(3, 2)


def test_sabotage_the_sum_of_routes_given_to_each_of_them() -> None:
    """Two values: both rests and the pair are one contrast. As three parts they weigh too much."""
    family = Family(outcomes=1, segments=(Segment(2), Segment(2)))
    contrasts = [each for each in family.instances() if not isinstance(each, AverageInstance)]
    once = sum(map(family.fraction, contrasts), start=Fraction(0))
    thrice = sum(
        (family.fraction(route) for each in contrasts for route in family.routes(each)),
        start=Fraction(0),
    )
    averages = family.plan_weight * 2 / 5
    assert averages + once == family.plan_weight
    assert thrice == 3 * once
    assert 1 - family.plan_weight + averages + thrice > 1


def test_the_examples_of_the_theory() -> None:
    assert USERS.millibits([PlannedInstance(0)]) == 3000
    assert USERS.millibits([PlannedInstance(0, ((0, 1), (1, 2)))]) == 7286
    assert USERS.unplanned_millibits == 1000
    assert sum(1 for _ in USERS.instances()) == 51
    carrier = EXPLORER.fraction(RestInstance(0, 0, 3))
    assert carrier == Fraction(9, 8960)
    assert bits(carrier) == pytest.approx(9.96, abs=0.005)
    assert EXPLORER.unplanned_millibits == 2000


def test_both_halves_of_a_plan() -> None:
    both = Family((Pattern(()),), 1, (Segment(2), Segment(3)))
    assert both.fraction(PlannedInstance(0)) == Fraction(3, 8)
    assert both.fraction(AverageInstance(0)) == Fraction(3, 8) * Fraction(2, 5) / 4
    assert both.unplanned_millibits == 2000
    assert Family().unplanned_millibits == 0
    # The same average by both ways: one part, the sum of both.
    whole = Fraction(3, 8) + Fraction(3, 80)
    assert both.millibits([PlannedInstance(0), AverageInstance(0)]) == plan_millibits([whole])


def test_ordered_values_have_half_lines_in_half_of_the_rest() -> None:
    hours = Family(outcomes=1, segments=(Segment(24, ordered=True), Segment(7)))
    plain = Family(outcomes=1, segments=(Segment(24), Segment(7)))
    for where in (None, (1, 3)):
        rest = plain.fraction(RestInstance(0, 0, 5, where))
        assert hours.fraction(RestInstance(0, 0, 5, where)) == rest / 2
        assert hours.fraction(HalfLineInstance(0, 0, 18, where)) == rest * 24 / 46
    assert hours.fraction(PairInstance(0, 0, 1, 5)) == plain.fraction(PairInstance(0, 0, 1, 5))


def test_two_values_are_one_contrast() -> None:
    flags = Family(outcomes=1, segments=(Segment(2), Segment(3)))
    rest, pair = flags.fraction(RestInstance(0, 0, 0)), flags.fraction(PairInstance(0, 0, 0, 1))
    summed = plan_millibits([2 * rest + pair])
    for instance in (RestInstance(0, 0, 0), RestInstance(0, 0, 1), PairInstance(0, 0, 0, 1)):
        assert flags.millibits([instance]) == summed
    assert flags.millibits([RestInstance(0, 1, 0)]) == plan_millibits(
        [flags.fraction(RestInstance(0, 1, 0))]
    )


@pytest.mark.parametrize(
    ("instance", "text"),
    [
        (PlannedInstance(1), "not one of the 1 declared"),
        (PlannedInstance(0, ((1, 0), (0, 0))), "once, in the declared order"),
        (PlannedInstance(0, ((0, 0), (0, 1))), "once, in the declared order"),
        (PlannedInstance(0, ((0, 5),)), "value is 5"),
        (PlannedInstance(0, contrast=1), "contrast is 1"),
        (AverageInstance(0), "has no outcome"),
    ],
)
def test_what_is_no_instance_has_no_weight(instance: Instance, text: str) -> None:
    with pytest.raises(InvalidArgument, match=text):
        USERS.fraction(instance)


@pytest.mark.parametrize(
    "instance",
    [
        AverageInstance(2),
        AverageInstance(0, ((0, 0), (1, 0), (2, 0))),
        AverageInstance(0, ((0, 16),)),
        RestInstance(0, 0, 3, (0, 4)),
        RestInstance(0, 7, 0),
        HalfLineInstance(0, 0, 3),
        PairInstance(0, 0, 3, 3),
        PairInstance(0, 0, 4, 3),
    ],
)
def test_what_was_not_declared_has_no_weight(instance: Instance) -> None:
    with pytest.raises(InvalidArgument):
        EXPLORER.fraction(instance)


def test_declarations_that_weigh_too_much_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="1 of 2 patterns have a share"):
        Family((Pattern((2,), share=Fraction(1, 2)), Pattern((3,))))
    with pytest.raises(InvalidArgument, match="3/2 in all"):
        Family((Pattern((2,), share=Fraction(3, 4)), Pattern((3,), share=Fraction(3, 4))))
    with pytest.raises(InvalidArgument, match="keeps a part"):
        Family((Pattern((2,)),), weight=Fraction(1))
    with pytest.raises(InvalidArgument, match="no outcome"):
        Family(segments=(Segment(3),))
    with pytest.raises(InvalidArgument, match="sum to 0"):
        plan_millibits([])
