"""Units of random sizes: exact coverage where sizes go with values, and what the proof rests on."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from holdfast.errors import InvalidArgument
from holdfast.theory.base.dependence import ClusteredRows, PooledUnits
from holdfast.theory.base.intervals import Interval
from tests.theory.direct.worlds import World, miss

LAWS = ("PooledUnits",)

# What a unit can be: its sum and its size.
Kinds = list[tuple[int, int]]
WORLDS: dict[str, tuple[World, Kinds]] = {
    # Section 2: of 60 units 1/61 have 60 rows, all ill, and the others one row that is not.
    "the large ones are ill": (World(60, (Fraction(60, 61), Fraction(1, 61))), [(0, 1), (60, 60)]),
    "full, all rows of a unit equal": (World(300, (Fraction(1, 2),) * 2), [(0, 5), (5, 5)]),
    "some are smaller": (World(300, (Fraction(9, 10), Fraction(1, 10))), [(1, 1), (0, 3)]),
    "of three sizes": (
        World(60, (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))),
        [(1, 1), (0, 4), (2, 2)],
    ),
}


def truth_of(world: World, kinds: Kinds) -> Fraction:
    return world.mean([s for s, _ in kinds]) / world.mean([m for _, m in kinds])


def pooled(counts: tuple[int, ...], kinds: Kinds) -> tuple[int, int]:
    """The sum and the number of all rows."""
    pairs = list(zip(counts, kinds, strict=True))
    return sum(c * s for c, (s, _) in pairs), sum(c * m for c, (_, m) in pairs)


def missed(name: str, radius: Callable[[tuple[int, ...], int], float]) -> float:
    """The exact probability that the truth is further than a radius from the pooled mean."""
    world, kinds = WORLDS[name]

    def interval(counts: tuple[int, ...]) -> Interval:
        total, rows = pooled(counts, kinds)
        reach = radius(counts, rows)
        return Interval(total / rows - reach, total / rows + reach)

    return miss(world.samples(), interval, truth_of(world, kinds))


@pytest.mark.parametrize("p", [0.1, 1e-3, 1e-6])
@pytest.mark.parametrize("name", WORLDS)
def test_exact_coverage(name: str, p: float) -> None:
    world, kinds = WORLDS[name]
    largest = max(size for _, size in kinds)

    def radius(_counts: tuple[int, ...], rows: int) -> float:
        return PooledUnits(rows, world.n, largest).radius(math.log(p))

    assert missed(name, radius) <= p


def test_a_bound_given_the_sizes_is_false_where_they_go_with_the_values() -> None:
    """The twin: Hoeffding's bound with sum m_u and sum m_u^2, as if they had been decided."""
    name = "the large ones are ill"

    def given_sizes(counts: tuple[int, ...], _rows: int) -> float:
        _, kinds = WORLDS[name]
        sizes = [m for c, (_, m) in zip(counts, kinds, strict=True) for _ in range(c)]
        return ClusteredRows.of_sizes(sizes).radius(math.log(1e-3))

    # 157 of 400 were seen; no large unit at all has probability (60/61)^60 = 0.371.
    assert missed(name, given_sizes) == pytest.approx(0.39, abs=0.03)


def test_nothing_but_the_level_of_a_number_of_rows_is_given_away() -> None:
    """Full units whose rows are equal: at 0.75 of the radius the bound is false."""
    name, p = "full, all rows of a unit equal", 1e-3

    def shorter(_counts: tuple[int, ...], rows: int) -> float:
        return 0.75 * PooledUnits(rows, 300, 5).radius(math.log(p))

    assert missed(name, shorter) > p


def log_moment(kinds: list[tuple[float, float, int]], t: float, c: float) -> float:
    """ln E exp(t (S - theta m) - c m) of one unit, from (probability, sum, size) of its kinds."""
    theta = sum(w * s for w, s, _ in kinds) / sum(w * m for w, _, m in kinds)
    return math.log(sum(w * math.exp(t * (s - theta * m) - c * m) for w, s, m in kinds))


units = st.lists(
    st.tuples(st.floats(0.01, 1.0), st.floats(0.0, 1.0), st.integers(1, 9)), min_size=1, max_size=5
)


@given(kinds=units, t=st.floats(-3, 3))
def test_the_moment_that_the_proof_rests_on(
    kinds: list[tuple[float, float, int]], t: float
) -> None:
    """For values in [0, 1]: E exp(t D - t^2 M N/8) <= 1."""
    whole = sum(weight for weight, _, _ in kinds)
    made = [(weight / whole, share * size, size) for weight, share, size in kinds]
    largest = max(size for _, _, size in made)
    assert log_moment(made, t, t * t * largest / 8) <= 1e-12


def test_a_smaller_unit_than_the_largest_would_not_do() -> None:
    """The twin: with the mean size in place of M the moment is above 1."""
    made = [(0.98, 0.0, 1), (0.02, 9.0, 9)]
    mean = sum(w * m for w, _, m in made)
    assert log_moment(made, 0.5, 0.25 * mean / 8) > 0.01 > log_moment(made, 0.5, 0.25 * 9 / 8)


def test_questions_may_be_chosen_by_the_number_of_rows() -> None:
    """Whoever sees N asks about the kind of large unit that it tells to be missing.

    Of 40 units each is of one row, or of 7 or 8 rows that are all ill, each in its own way: N tells
    how many of each there are. What is asked is the share of the illness of which there are none.
    """
    shares = (Fraction(8, 10), Fraction(1, 10), Fraction(1, 10))
    world, sizes = World(40, shares), (1, 7, 8)
    rows = world.mean(sizes)
    p = 0.05
    by_rows: dict[int, list[Fraction]] = {}
    for counts, weight in world.samples():
        n = sum(c * m for c, m in zip(counts, sizes, strict=True))
        radius = PooledUnits(n, 40, 8).radius(math.log(p))
        bad = by_rows.setdefault(n, [Fraction(0), Fraction(0)])
        for kind in (1, 2):
            truth = shares[kind] * sizes[kind] / rows
            bad[kind - 1] += weight * (
                abs(Fraction(counts[kind] * sizes[kind], n) - truth) > radius
            )
    chosen = sum((max(bad) for bad in by_rows.values()), Fraction(0))
    assert chosen <= p


def test_full_units_are_as_wide_as_hoeffding_for_units_at_nine_tenths_of_the_level() -> None:
    for p, most in ((0.05, 1.02), (1e-3, 1.01), (1e-9, 1.005)):
        decided = ClusteredRows(3_000, 3_000 * 12).radius(math.log(p))
        found = PooledUnits(3_000, 250, 12).radius(math.log(p))
        assert decided < found < most * decided
        assert PooledUnits(3_000, 250, 12).radius(math.log(p)) == pytest.approx(
            ClusteredRows(3_000, 3_000 * 12).radius(math.log(0.9 * p)), rel=1e-12
        )
        one = PooledUnits(3_000, 3_000, 1).radius(math.log(p))
        assert one == pytest.approx(ClusteredRows(3_000, 3_000).radius(math.log(p)), rel=1e-12)


def test_all_weights_together_are_one() -> None:
    for units, largest in ((7, 3), (40, 1), (5, 9)):
        every = range(units, units * largest + 1)
        weights = [math.exp(PooledUnits(n, units, largest).log_weight) for n in every]
        assert math.fsum(weights) == pytest.approx(1.0)
        assert math.fsum(weights) <= 1.0


@pytest.mark.parametrize(("rows", "units", "largest"), [(10, 11, 3), (34, 11, 3), (5, 0, 3)])
def test_what_cannot_be_is_refused(rows: int, units: int, largest: int) -> None:
    with pytest.raises(InvalidArgument):
        PooledUnits(rows, units, largest)
