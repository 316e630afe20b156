"""What an answer reveals holds the sample's value, whatever the sample and the claim."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import given, strategies as st

from holdfast.mechanisms.bounded_noise import BOUNDED
from holdfast.mechanisms.claims import CHECKS
from holdfast.mechanisms.mechanism import Mechanism, Offer, Wish, revealed
from holdfast.mechanisms.median_noise import Median, TheoremM
from holdfast.mechanisms.noise import Grid, Noise
from holdfast.mechanisms.terms import Account
from holdfast.mechanisms.transfer import Transfer, scale_of
from holdfast.question.row import GRID
from tests.mechanisms.fake import (
    CONDITION,
    independent,
    noise_of,
    of_count,
    reach_of,
    settled,
)

N, T = 2_000, 0.15
bounds = st.integers(0, 40).map(lambda k: k / 40)
claims = st.one_of(
    bounds.map(lambda g: (g - T, g + T)),
    bounds.map(lambda g: (0.0, g)),
    bounds.map(lambda g: (g, 1.0)),
)


@given(
    count=st.integers(0, N),
    claim=st.none() | claims,
    secret=st.binary(min_size=32, max_size=32),
)
def test_the_samples_value_is_where_the_answer_says(
    count: int, claim: tuple[float, float] | None, secret: bytes
) -> None:
    mechanism: Mechanism = BOUNDED if claim is None else CHECKS
    terms = independent(N, tolerance=T)
    wish = Wish(CONDITION, T, claim, None if claim is None else 0.5)
    (offer,) = mechanism.offer(terms, Account(), [wish])
    sample = of_count(N, count)
    (symbol,) = mechanism.respond(terms, [offer], [CONDITION], sample, noise_of(secret))
    release = settled(mechanism, offer, symbol)
    low, high = revealed(offer, release)
    assert low - 1e-12 <= count / N <= high + 1e-12
    assert 0.0 <= low <= high <= 1.0
    match release.status:
        case "answered":
            assert high - low <= (2 * reach_of(offer) + 1) / offer.own_grid.last + 1e-12
        case "confirmed":
            assert claim is not None
            assert (low, high) == (max(0.0, claim[0]), min(1.0, claim[1]))
        case "not confirmed":
            assert (low, high) == (0.0, 1.0), "what is asked after it tells more"


@pytest.mark.parametrize("end", [min, max])
@pytest.mark.parametrize("units", [0, GRID // 2, GRID])
def test_median_noise_reveals_no_more_than_its_whole_reach(
    end: Callable[[list[int]], int], units: int
) -> None:
    """Its symbols are half units: the extreme draws, and half units counted as whole ones."""
    law, rows = Median(order=2), 100
    drawn = scale_of(0.05, rows)
    total, reach = rows * units, drawn / (rows * GRID)
    extreme = end([-drawn, drawn - 1])
    fixed = SimpleNamespace(uniforms=lambda *_: iter([extreme] * 5))
    offer = Offer(
        number=1,
        question="avg(x)",
        tolerance=0.2,
        grid=Grid(law.parts * rows * GRID, drawn, law.reach(drawn)),
        worst_charge=0.0,
        log_share=-3.0,
    )
    symbol = 2 * total + law.draw(cast(Noise, fixed), drawn)
    release = settled(Transfer("median noise/1", law, TheoremM(2), ()), offer, symbol)
    low, high = revealed(offer, release)
    place = units / GRID
    assert low <= place <= high, "and so is what the sum was rounded down from:"
    assert low <= min(1.0, place + 1 / (rows * GRID)) <= high + 1e-15
    assert high - low <= 2 * reach * (1 + 1e-6)
    narrow = replace(offer, grid=replace(offer.own_grid, reach=drawn))
    half = revealed(narrow, release)  # sabotage: half of it
    if 0 < units < GRID:
        assert not half.low <= place <= half.high


def test_what_has_no_sure_reach_reveals_nothing() -> None:
    terms = independent(N, tolerance=T)
    (offer,) = BOUNDED.offer(terms, Account(), [Wish(CONDITION, T)])
    release = settled(BOUNDED, offer, 3)
    assert revealed(replace(offer, grid=replace(offer.own_grid, reach=None)), release) == (0.0, 1.0)
    assert revealed(offer, replace(release, status="no promise")) == (0.0, 1.0)
    assert revealed(offer, release).high < 1.0


def test_half_a_cell_is_counted_as_the_sample_was_rounded_by_it() -> None:
    (offer,) = BOUNDED.offer(independent(N, tolerance=T), Account(), [Wish(CONDITION, T)])
    coarse = replace(offer, grid=Grid(10, 2, 2))
    # A sample just below 0.35 is in cell 3, and noise of -2 cells makes it 0.1.
    assert revealed(coarse, settled(BOUNDED, coarse, 1)) == pytest.approx((0.0, 0.35))


@pytest.mark.parametrize(("shift", "found_out"), [(-0.02, True), (0.0, False), (0.02, True)])
def test_a_claim_shifted_afterwards_is_found_out(shift: float, found_out: bool) -> None:
    """Sabotage: with another claim than the one that was checked, the sample is missed."""
    terms, missed = independent(N, tolerance=T), 0
    for count in range(0, N, 7):
        wish = Wish(CONDITION, T, (0.3 - T, 0.3 + T), 0.3)
        (offer,) = CHECKS.offer(terms, Account(), [wish])
        noise = noise_of(bytes(32))
        (symbol,) = CHECKS.respond(terms, [offer], [CONDITION], of_count(N, count), noise)
        moved = replace(offer, claim=(0.3 - T + shift, 0.3 + T + shift))
        low, high = revealed(moved, settled(CHECKS, offer, symbol))
        missed += not low <= count / N <= high
    assert (missed > 0) == found_out
