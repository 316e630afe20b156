"""What released intervals imply: never false where they are true, in worlds that are listed.

A world is a few rows with their values; its truths are exact fractions. Intervals are drawn around
them, with any floats as ends, and everything that they imply must hold. Twins: what was never
released, complements where rows are missing, and chains of what is not transitive.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, strategies as st

from holdfast.errors import InvalidArgument
from holdfast.theory.base.implied import (
    ShownGates,
    ThresholdCut,
    conjunction_implied,
    cuts_implied,
    difference_implied,
    disjunction_implied,
    intersection_implied,
    linear_implied,
    open_sides,
    quantile_implied,
    root_implied,
    square_implied,
    threshold_implied,
    verdict_implied,
    whole_implied,
)
from holdfast.theory.base.intervals import Interval, clopper_pearson
from holdfast.theory.base.safeside import float_above, float_below

LAWS = (
    "conjunction_implied",
    "cuts_implied",
    "difference_implied",
    "disjunction_implied",
    "intersection_implied",
    "linear_implied",
    "quantile_implied",
    "root_implied",
    "square_implied",
    "threshold_implied",
    "whole_implied",
)

REACH = st.floats(0, 0.6)


def around(truth: Fraction, data: st.DataObject) -> Interval:
    """A released interval that is true, perhaps to the last digit."""
    low, high = data.draw(REACH), data.draw(REACH)
    return Interval(
        min(float_below(truth), float_below(truth) - low),
        max(float_above(truth), float_above(truth) + high),
    )


def holds(truth: Fraction, implied: Interval | None) -> bool:
    """A true world contradicts nothing."""
    return implied is not None and implied.low <= truth <= implied.high


ROWS = st.lists(st.tuples(st.integers(0, 6), st.booleans(), st.booleans()), min_size=1, max_size=7)


@given(ROWS, st.data())
def test_nothing_false_is_implied_by_what_is_true(
    rows: list[tuple[int, bool, bool]], data: st.DataObject
) -> None:
    n = len(rows)

    def share(condition: list[bool]) -> Fraction:
        return Fraction(sum(condition), n)

    a, b = [row[1] for row in rows], [row[2] for row in rows]
    first, second = around(share(a), data), around(share(b), data)
    both = share([x and y for x, y in zip(a, b, strict=True)])
    either = share([x or y for x, y in zip(a, b, strict=True)])
    assert holds(both, conjunction_implied(first, second))
    assert holds(either, disjunction_implied(first, second))
    assert holds(share(a) - share(b), difference_implied(first, second))
    assert holds(1 - share(a), linear_implied(first, -1, 1))
    assert holds(n * share(a), linear_implied(first, n))
    assert holds(share(a), intersection_implied([first, around(share(a), data)]))

    values = [row[0] for row in rows]
    mean = Fraction(sum(values), n)
    variance = Fraction(sum(value * value for value in values), n) - mean**2
    spread = root_implied(around(variance, data))
    assert spread is not None
    assert spread.low <= 0 or Fraction(spread.low) ** 2 <= variance
    assert Fraction(spread.high) ** 2 >= variance
    assert holds(variance, square_implied(spread))

    # One partition: rows where a holds, and the others.
    groups = []
    for value in (False, True):
        inside = [x for x, given in zip(values, a, strict=True) if given == value]
        of_group = Fraction(sum(inside), len(inside)) if inside else Fraction(0)
        groups.append((around(Fraction(len(inside), n), data), around(of_group, data)))
    assert holds(mean, whole_implied(groups))


@given(st.lists(st.integers(0, 6), min_size=1, max_size=7), st.data())
def test_thresholds_and_quantiles_of_one_value(values: list[int], data: st.DataObject) -> None:
    draw = data.draw
    n = len(values)

    def above(cut: ThresholdCut) -> Fraction:
        hit = [x > cut.constant or (x == cut.constant and not cut.strict) for x in values]
        return Fraction(sum(hit), n)

    def below(x: Fraction) -> Fraction:
        return Fraction(sum(value <= x for value in values), n)

    def quantile(q: Fraction) -> Fraction:
        return next(Fraction(x) for x in sorted(values) if below(Fraction(x)) >= q)

    constants = st.fractions(-1, 7, max_denominator=2)
    cuts = draw(st.lists(st.builds(ThresholdCut, constants, st.booleans()), max_size=4))
    released = {cut: around(above(cut), data) for cut in cuts}
    cut = draw(st.builds(ThresholdCut, constants, st.booleans()))
    assert holds(above(cut), threshold_implied(cut, released))

    levels = st.fractions(Fraction(1, 8), Fraction(7, 8), max_denominator=8)
    q = draw(levels)
    assert holds(quantile(q), quantile_implied(q, released))
    for each in draw(st.lists(levels, max_size=4)):
        shares = cuts_implied(each, around(quantile(each), data))
        assert all(holds(above(at), share) for at, share in shares.items())
        assert holds(above(cut), threshold_implied(cut, shares))
        assert holds(quantile(q), quantile_implied(q, shares))


@given(st.data())
def test_the_whole_is_as_narrow_as_its_parts_allow(data: st.DataObject) -> None:
    """The ends are reached: at a corner of the box, by trying every corner of the shares."""
    draw = data.draw
    eighths = st.integers(0, 8).map(lambda e: e / 8)
    means = [Interval(*sorted((draw(eighths), draw(eighths)))) for _ in range(2)]
    share = Interval(*sorted((draw(eighths), draw(eighths))))
    other = Interval(1 - share.high, 1 - share.low)
    found = whole_implied([(share, means[0]), (other, means[1])])
    tried = [
        Fraction(pi) * Fraction(x) + (1 - Fraction(pi)) * Fraction(y)
        for pi, x, y in product(share, means[0], means[1])
    ]
    assert found == (float(min(tried)), float(max(tried)))


def test_contradictions_imply_nothing() -> None:
    assert intersection_implied([Interval(0, 0.25), Interval(0.5, 1)]) is None
    assert (
        threshold_implied(
            ThresholdCut(Fraction(2)),
            {
                ThresholdCut(Fraction(1)): Interval(0.0, 0.25),
                ThresholdCut(Fraction(3)): Interval(0.5, 1.0),
            },
        )
        is None
    )
    low, high = Interval(0.0, 0.25), Interval(0.0, 0.5)
    assert whole_implied([(low, high), (high, high)]) is None  # no shares sum to 1
    assert root_implied(Interval(-2.0, -1.0)) is None
    assert conjunction_implied(Interval(0.75, 1.0), Interval(0.75, 0.25)) is None


def test_the_case_of_the_theory() -> None:
    """[.974, 1] was released: .99 -+ .05 is confirmed, and .9 -+ .05 refuted."""
    released = Interval(0.974, 1.0)
    assert verdict_implied(released, Interval(0.94, 1.04)) is True
    assert verdict_implied(released, Interval(0.85, 0.95)) is False
    assert verdict_implied(released, Interval(0.98, 1.0)) is None
    assert open_sides(released, Interval(0.98, 1.0)) == (0.98, math.inf)
    assert open_sides(released, Interval(0.9, 0.99)) == (-math.inf, 0.99)


def test_infinite_ends_stay() -> None:
    half = Interval(0.25, math.inf)
    assert linear_implied(half, -2.0) == (-math.inf, -0.5)
    assert difference_implied(half, Interval(0.0, 0.5)) == (-0.25, math.inf)
    assert root_implied(half) == (0.5, math.inf)
    with pytest.raises(InvalidArgument, match="the factor not 0"):
        linear_implied(half, 0.0)
    with pytest.raises(InvalidArgument, match="finite ends"):
        whole_implied([(Interval(1.0, 1.0), half)])


# --- Gates ---------------------------------------------------------------------------------------

MEANS = st.lists(st.integers(-8, 8), min_size=2, max_size=5)


@given(MEANS, st.data())
def test_chains_of_true_gates_are_true(means: list[int], data: st.DataObject) -> None:
    names = st.integers(0, len(means) - 1)
    shown = []
    for _ in range(data.draw(st.integers(1, 6))):
        better, worse = data.draw(names), data.draw(names)
        slack = data.draw(st.fractions(Fraction(1, 4), 3, max_denominator=4))
        shown.append((better, worse, means[better] - means[worse] - slack))
    gates = ShownGates.of(shown)
    assert not gates.contradict
    for better, worse in product(range(len(means)), repeat=2):
        margin = gates.margin(better, worse)
        assert margin is None or means[better] > means[worse] + margin


def test_of_two_gates_of_one_pair_the_larger_margin_counts() -> None:
    for margins in ((0.5, 0.125), (0.125, 0.5)):
        gates = ShownGates.of([("a", "b", margin) for margin in margins])
        assert gates.margin("a", "b") == Fraction(1, 2)
        assert gates.shows("a", "b", 0.5)


def test_a_chain_adds_its_margins() -> None:
    gates = ShownGates.of([("a", "b", 0.5), ("b", "c", -0.25), ("a", "c", 0.125), ("c", "d", 0)])
    assert gates.margin("a", "c") == Fraction(1, 4)
    assert gates.margin("a", "d") == Fraction(1, 4)
    assert gates.shows("a", "c", 0.25)
    assert not gates.shows("a", "c", 0.26)
    assert not gates.shows("c", "a", -10.0)


def test_gates_that_contradict_show_nothing() -> None:
    gates = ShownGates.of([("a", "b", 0.5), ("b", "a", -0.5), ("c", "d", 1.0)])
    assert gates.contradict
    assert not gates.shows("c", "d", 0.0)
    tolerant = ShownGates.of([("a", "b", -0.5), ("b", "a", -0.5)])
    assert not tolerant.contradict


# --- Twins ---------------------------------------------------------------------------------------


def false_with(n: int, theta: Fraction, log_p: float) -> Fraction:
    """P[the interval of a share at this level misses it], over every count."""
    missing = Fraction(0)
    for count in range(n + 1):
        if theta not in clopper_pearson(n, count, log_p):
            missing += math.comb(n, count) * theta**count * (1 - theta) ** (n - count)
    return missing


def test_sabotage_implying_from_intervals_that_were_not_released() -> None:
    """Each is a further event: of twenty at level 1/4 some fail nearly always."""
    worst = max(false_with(40, Fraction(each, 40), math.log(0.25)) for each in range(1, 40))
    assert worst <= Fraction(1, 4)
    assert 1 - (1 - worst) ** 20 > 0.95
    # From one that was released everything that follows fails with it: at most once in four.
    theta = Fraction(7, 40)
    missing = Fraction(0)
    for count in range(41):
        released = clopper_pearson(40, count, math.log(0.25))
        implied = [linear_implied(released, factor, 1 - factor) for factor in (-3, -1, 2, 5, 40)]
        truths = [factor * theta + 1 - factor for factor in (-3, -1, 2, 5, 40)]
        if any(truth not in each for truth, each in zip(truths, implied, strict=True)):
            missing += math.comb(40, count) * theta**count * (1 - theta) ** (40 - count)
    assert missing <= false_with(40, theta, math.log(0.25)) <= Fraction(1, 4)


def test_sabotage_complements_where_rows_are_missing() -> None:
    """Three rows of ten say yes, three say no, four nothing: the shares of all rows sum to .6."""
    yes, no = Fraction(3, 10), Fraction(3, 10)
    released = Interval(float_below(yes), float_above(yes))
    assert no not in linear_implied(released, -1, 1)
    of_known = Interval(0.5, 0.5)  # shares of the same known rows do sum to 1
    assert Fraction(3, 6) in linear_implied(of_known, -1, 1)


def test_sabotage_closer_on_more_rows_is_chained() -> None:
    """Three models, three rows: each is closer than the next on two of them, all in a circle."""
    losses = {"a": (1, 2, 3), "b": (2, 3, 1), "c": (3, 1, 2)}

    def closer(first: str, second: str) -> bool:
        pairs = zip(losses[first], losses[second], strict=True)
        return sum(x < y for x, y in pairs) >= 2

    assert closer("a", "b")
    assert closer("b", "c")
    assert not closer("a", "c")
    assert closer("c", "a")
    chained = ShownGates.of([("a", "b", 0.0), ("b", "c", 0.0)])
    assert chained.shows("a", "c")  # what means would have, and these rows do not


def test_cuts_are_ordered_by_their_constants_then_strictly() -> None:
    numbers = [Fraction(-1), Fraction(1, 3), Fraction(0.5), Fraction(1, 2) + Fraction(1, 10**30)]
    cuts = [(number, strict) for number in numbers for strict in (False, True)]
    for one in cuts:
        for other in cuts:
            first, second = ThresholdCut(*one), ThresholdCut(*other)
            found = (first < second, first <= second, first > second, first >= second)
            assert found == (one < other, one <= other, one > other, one >= other)
