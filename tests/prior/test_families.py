"""Declared families: what is measured, by what it is cut and what was planned, as cheap parts."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

import pytest
from hypothesis import given, settings, strategies as st

from holdfast.errors import InvalidArgument, InvalidQuestion
from holdfast.question.columns import Schema
from holdfast.question.expression import ColumnType, identifier, text_of
from holdfast.statistics.bind import parts_of
from holdfast.statistics.description import Prior
from holdfast.statistics.entry import Part
from holdfast.statistics.families import DeclaredFamily
from holdfast.theory.length.families import (
    AverageInstance,
    HalfLineInstance,
    Instance,
    PairInstance,
    PlannedInstance,
    RestInstance,
)

TYPES = {
    "late": ColumnType.BOOLEAN,
    "delay": ColumnType.FLOAT,
    "origin": ColumnType.TEXT,
    "month": ColumnType.INTEGER,
    "paid": ColumnType.BOOLEAN,
    "arm": ColumnType.TEXT,
}
DECLARED = {
    "delay": (-60, 180),
    "month": (1, 4),
    "origin": {"values": ["EWR", "JFK", "LGA"]},
    "arm": {"values": ["control", "high", "low"]},
}
OUTCOMES = ["delay > 15", "delay"]
SEGMENTS = ["origin", "month", "paid"]
PLANNED = ["effect(late, arm) by origin, month", "median(delay) by paid", "avg(late)"]
PLAIN = Schema(TYPES).declare(DECLARED)


def prior(**lists: list[str]) -> Prior:
    return Prior(PLAIN.declare({**DECLARED, **lists}))


BOTH = prior(outcomes=OUTCOMES, segments=SEGMENTS, planned=PLANNED)


def family_of(of: Prior) -> DeclaredFamily:
    assert of.family is not None
    return of.family


def main_part(of: Prior, text: str) -> Part:
    return parts_of(of.read(text))[0].part


# --- Every instance as the question that it stands for ------------------------------------------


def _equal(segment: int, value: int) -> str:
    name = SEGMENTS[segment]
    if name == "paid":
        return "paid" if value else "not paid"
    if name == "month":
        return f"month = {value + 1}"
    return f"origin = '{DECLARED['origin']['values'][value]}'"  # type: ignore[index]


def _among(conditions: Iterable[str]) -> str:
    texts = list(conditions)
    return f" where {' and '.join(texts)}" if texts else ""


def text_of_instance(instance: Instance) -> str:
    match instance:
        case AverageInstance(outcome, conditions):
            return f"avg({OUTCOMES[outcome]})" + _among(_equal(*each) for each in conditions)
        case RestInstance(outcome, segment, value, where):
            group = _equal(segment, value)
        case HalfLineInstance(outcome, segment, value, where):
            group = f"{identifier(SEGMENTS[segment])} >= {value + 1}"
        case PairInstance(outcome, segment, first, second, where):
            sides = (
                f"avg({OUTCOMES[outcome]}) where {_equal(segment, v)}" for v in (first, second)
            )
            return f"difference({', '.join(sides)})" + _among(
                _equal(*each) for each in [where] if each
            )
        case PlannedInstance(pattern, conditions, contrast):
            factors = (("origin", "month"), ("paid",), ())[pattern]
            named = (_equal(SEGMENTS.index(factors[factor]), value) for factor, value in conditions)
            arms = "high", "low"
            sides = (f"avg(late) where arm = '{arm}'" for arm in (arms[contrast], "control"))
            base = f"difference({', '.join(sides)})", "median(delay)", "avg(late)"
            return base[pattern] + _among(named)
    further = [_equal(*where)] if where else []
    return f"difference(avg({OUTCOMES[outcome]}) where {group}, rest)" + _among(further)


def test_every_instance_is_the_part_of_its_question_and_weights_sum_to_the_plans() -> None:
    family = family_of(BOTH)
    fractions: dict[Part, Fraction] = {}
    for instance in family.family.instances():
        part = main_part(BOTH, text_of_instance(instance))
        assert instance in set(family.instances(part)), text_of_instance(instance)
        fractions[part] = fractions.get(part, Fraction(0)) + family.family.fraction(instance)
    assert sum(fractions.values()) <= family.family.plan_weight
    for part, fraction in fractions.items():
        own = {family.family.fraction(each): each for each in family.instances(part)}
        assert sum(map(family.family.fraction, set(family.instances(part)))) == fraction, own
        # As the price has it, in thousandths of a bit.
        assert 2.0 ** (-(family.millibits(part) or 0) / 1000) <= fraction


def test_cuts_of_numbers_and_conditions_are_segments() -> None:
    """Between cuts, from a cut on, and where a condition holds; each weight is that of one part."""
    of = prior(outcomes=["late"], segments=["delay at -5, 15, 60.5", "month > 2", "origin"])
    family, fractions = family_of(of), dict[Part, Fraction]()
    values = {place: text_of(condition) for condition, place in family.places.items()}
    half_lines = {place: text_of(condition) for condition, place in family.half_lines.items()}
    assert [values[0, value] for value in range(4)] == [
        "delay < -5",
        "delay < 15 and delay >= -5",
        "delay < 60.5 and delay >= 15",
        "delay >= 60.5",
    ]
    assert list(half_lines.values()) == ["delay >= -5", "delay >= 15", "delay >= 60.5"]
    assert [values[1, value] for value in range(2)] == ["month <= 2", "month > 2"]
    for instance in family.family.instances():
        match instance:
            case AverageInstance(_, conditions):
                text = "avg(late)" + _among(values[each] for each in conditions)
            case RestInstance(_, segment, value, where):
                text = f"difference(avg(late) where {values[segment, value]}, rest)"
            case HalfLineInstance(_, segment, value, where):
                text = f"difference(avg(late) where {half_lines[segment, value]}, rest)"
            case PairInstance(_, segment, first, second, where):
                sides = (f"avg(late) where {values[segment, each]}" for each in (first, second))
                text = f"difference({', '.join(sides)})"
        if not isinstance(instance, AverageInstance):
            text += _among([values[where]] if where else [])
        part = main_part(of, text)
        assert instance in set(family.instances(part)), text
        fractions[part] = fractions.get(part, Fraction(0)) + family.family.fraction(instance)
    assert sum(fractions.values()) <= family.family.plan_weight
    for part, fraction in fractions.items():
        assert sum(map(family.family.fraction, set(family.instances(part)))) == fraction


@pytest.mark.parametrize(
    ("text", "planned"),
    [
        ("avg(late) where month > 2", True),
        ("avg(late) where not (month > 2) and delay >= 60.5", True),
        ("avg(late) where delay >= -5 and delay < 15 and origin = 'JFK'", True),
        ("avg(late) where delay >= -5", False),  # a half-line, which is cut by in contrasts only
        ("avg(late) where delay >= -5 and delay < 60.5", False),
        ("avg(late) where delay >= -5 and month > 2", False),
        ("avg(late) where month > 3", False),
        ("difference(avg(late) where delay >= 15, rest)", True),
        ("difference(avg(late) where delay < 15, avg(late) where delay >= 15)", True),
        ("difference(avg(late) where delay > 15, rest)", False),
    ],
)
def test_what_is_between_declared_cuts_is_planned(text: str, planned: bool) -> None:
    of = prior(outcomes=["late"], segments=["delay at -5, 15, 60.5", "month > 2", "origin"])
    assert of.plans(main_part(of, text)) is planned
    assert (of.bits(text).plain < BOTH.bits(text).plain) is planned


@pytest.mark.parametrize(
    ("segment", "why"),
    [
        ("delay at 15, 5", "that ascend"),
        ("delay at 15, 15", "that ascend"),
        ("delay at 1, 1e999", "that ascend"),
        ("3 at 2", "uses no column"),
        ("origin at 3", "needs a number"),
        ("dely > 3", "did you mean 'delay'"),
        ("delay + 1", "A condition is needed"),
        ("delay at", "no number with cuts"),
        ("delay", "values are not declared"),
        ("monht", "did you mean 'month'"),
        ("3 > 2", "uses no column"),
    ],
)
def test_segments_that_cut_nothing_are_refused(segment: str, why: str) -> None:
    with pytest.raises(InvalidArgument, match=why):
        prior(outcomes=["late"], segments=[segment]).require_family()


def test_an_outcome_is_not_cut_by_what_it_measures() -> None:
    of = prior(outcomes=["delay > 15", "late"], segments=["delay at 0, 60", "origin"])
    assert of.plans(main_part(of, "avg(late) where delay < 0"))
    assert not of.plans(main_part(of, "avg(delay > 15) where delay < 0"))
    assert not of.plans(main_part(of, "difference(avg(delay > 15) where delay < 0, rest)"))


def test_sabotage_an_instance_that_is_several_parts_exceeds_the_plan() -> None:
    """Were the weight of a contrast given to both its means as well, the sum would be too large."""
    family = family_of(prior(outcomes=OUTCOMES, segments=SEGMENTS))
    weights: dict[Part, Fraction] = {}
    for instance in family.family.instances():
        uses = parts_of(BOTH.read(text_of_instance(instance)))
        for part in {use.part for use in uses if use.role != "free"}:
            weights[part] = weights.get(part, Fraction(0)) + family.family.fraction(instance)
    assert sum(weights.values()) > 1


@pytest.mark.parametrize(
    ("text", "bits"),
    [
        # 3/8 x 2/5 x 1/2 outcome x 1/4 overall
        ("avg(delay > 15)", 5.737),
        # 3/8 x 2/5 x 1/2 x 1/2 x 1/3 segment x 1/3 value
        ("avg(delay > 15) where origin = 'JFK'", 7.907),
        # 3/8 x 2/5 x 1/2 x 3/4 x 1/3 x 1/3
        ("difference(avg(delay) where origin = 'JFK', rest)", 7.322),
        # 3/8 x 1/3 patterns x 1/4 tier x 1/2 contrasts
        ("difference(avg(late) where arm = 'low', avg(late) where arm = 'control')", 6.0),
        # 3/8 x 1/3 x 1/2 tier of two x 1/(3 x 4) x 1/2
        (
            "difference(avg(late) where arm = 'high', avg(late) where arm = 'control') where "
            "origin = 'JFK' and month = 2",
            8.585,
        ),
    ],
)
def test_prices_by_hand(text: str, bits: float) -> None:
    assert BOTH.bits(text).best == pytest.approx(bits, abs=1.5e-3)


def test_one_of_sixteen_carriers_against_the_rest() -> None:
    """The example of section 13.4: 2 outcomes, 7 segments, 9.96 bits."""
    types = {f"s{place}": ColumnType.TEXT for place in range(7)} | {"x": ColumnType.FLOAT}
    values = {f"s{place}": {"values": [f"v{v}" for v in range(16)]} for place in range(7)}
    schema = Schema(types).declare(
        {**values, "x": (0, 9), "outcomes": ["x > 3", "x"], "segments": list(values)}
    )
    assert Prior(schema).bits("difference(avg(x > 3) where s2 = 'v5', rest)").best == 9.96


def test_what_was_not_declared_costs_as_many_bits_more_as_the_plan_took() -> None:
    for lists, more in (
        ({"planned": ["avg(late)"]}, 1.0),
        ({"outcomes": ["late"], "segments": ["origin"]}, 2.0),
    ):
        before, after = Prior(PLAIN).bits("std(delay)"), prior(**lists).bits("std(delay)")
        assert after.best == pytest.approx(before.best + more, abs=1e-9)


def test_a_question_costs_the_same_however_it_is_written() -> None:
    texts = [
        "difference(avg(delay) where origin = 'JFK', rest)",
        "difference(avg(delay) where origin <> 'JFK', avg(delay) where origin = 'JFK')",
        "effect(delay, origin = 'JFK')",
    ]
    assert len({BOTH.bits(text).best for text in texts}) == 1
    shared = [
        "difference(avg(delay) where origin = 'JFK', rest) where month = 3",
        "difference(avg(delay) where month = 3 and origin = 'JFK', "
        "avg(delay) where origin <> 'JFK' and month = 3)",
    ]
    assert len({BOTH.bits(text).best for text in shared}) == 1


def test_a_flag_against_its_opposite_has_the_weight_of_both_rests_and_of_the_pair() -> None:
    family = family_of(prior(outcomes=["delay"], segments=["paid"]))
    part = main_part(BOTH, "difference(avg(delay) where paid, avg(delay) where not paid)")
    assert len(set(family.instances(part))) == 3


def test_a_segment_is_not_cut_by_itself() -> None:
    """What is measured is no segment of its own: such a question has the grammar's price."""
    of = prior(outcomes=["origin = 'JFK'"], segments=["origin", "month"])
    family = family_of(of)
    part = main_part(of, "avg(origin = 'JFK') where origin = 'JFK'")
    assert list(family.instances(part)) == []


@settings(max_examples=20)
@given(
    outcomes=st.lists(st.sampled_from(["late", "delay", "delay > 15"]), min_size=1, unique=True),
    segments=st.lists(st.sampled_from(SEGMENTS), unique=True),
)
def test_weights_of_all_parts_sum_to_the_plan_at_most(
    outcomes: list[str], segments: list[str]
) -> None:
    family = family_of(prior(outcomes=outcomes, segments=segments)).family
    assert sum(map(family.fraction, family.instances())) <= family.plan_weight


@pytest.mark.parametrize(
    ("lists", "words"),
    [
        ({"segments": ["origin"]}, "no outcome is declared"),
        ({"outcomes": ["late"], "segments": ["delay"]}, "its values are not declared"),
        ({"outcomes": ["late"], "segments": ["orgin"]}, "did you mean 'origin'"),
        ({"outcomes": ["avg(late)"]}, "The outcome 'avg\\(late\\)'"),
        ({"planned": ["avg(late) by arm, delay"]}, "its values are not declared"),
        ({"planned": ["avg(late) by origin, origin"]}, "twice"),
        ({"planned": ["effect(late, arm) by arm"]}, "which it is about"),
    ],
)
def test_what_cannot_be_recognised_gets_one_sentence(
    lists: dict[str, list[str]], words: str
) -> None:
    with pytest.raises((InvalidArgument, InvalidQuestion), match=words):
        _ = prior(**lists).family


def test_a_family_is_part_of_the_schema_that_a_ledger_keeps() -> None:
    again = Prior.from_dict(BOTH.to_dict())
    assert again.schema.outcomes == tuple(OUTCOMES)
    assert again.bits("avg(delay)").best == BOTH.bits("avg(delay)").best
    assert "outcome: delay > 15" in str(BOTH.schema)
    assert "outcomes" not in Prior(PLAIN).to_dict()
