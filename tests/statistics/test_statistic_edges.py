"""What statistics say at the edges of what is known: of parts, of shares, of claims, of scales."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from holdfast.errors import InvalidArgument, InvalidQuestion
from holdfast.question.declaring import Scale
from holdfast.statistics.averages import difference, mean
from holdfast.statistics.bind import bind, require_written
from holdfast.statistics.derived import Estimate, OpenDifference, is_derived
from holdfast.statistics.entry import Table
from holdfast.statistics.log_scale import (
    FARTHEST,
    from_log_scale,
    part_of_log_scale,
    sizes_from_log_scale,
)
from holdfast.statistics.mean import KnownVariance, known_variance
from holdfast.statistics.metrics import METRICS, cap_of_errors
from holdfast.statistics.player import is_whole
from holdfast.statistics.statistic import Statistic, is_single
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.propagation import group_variance, share_variance
from tests import seam
from tests.statistics.ruled import WHOLE

TABLE = Table(WHOLE)


@dataclass(frozen=True)
class Answer:
    interval: Interval
    look: int | None = 7


def single(text: Any) -> Statistic:
    found = bind(text, TABLE)
    assert is_single(found)
    return found


def known(text: Any, **answers: tuple[float, float]) -> KnownVariance | None:
    told = {f"avg({name})": Answer(Interval(*ends)) for name, ends in answers.items()}
    return known_variance(single(text), told)


def joined(text: str, *parts: tuple[float, float, float]) -> tuple[float | None, Interval]:
    """What follows from a low end, a value and a high end of each part."""
    question = bind(text, TABLE)
    assert is_derived(question)
    found = question.join([Estimate(value, Interval(low, high)) for low, value, high in parts])
    return found.value, found.interval


# Known variances ----------------------------------------------------------------------------------


def test_a_declared_variance_is_a_part_of_the_squared_range() -> None:
    assert known("avg(x, variance <= 90)") == KnownVariance(90 / 240**2, None)
    assert known("avg(x)") is None
    assert known("avg(x * 0)") is None


def test_the_share_of_a_part_bounds_the_variance_of_both() -> None:
    found = known("avg(new and old)", new=(0.01, 0.02), old=(0.4, 0.5))
    assert found == KnownVariance(share_variance(0.02), 7, 1.0)
    assert known("avg(new or old)", new=(0.01, 0.02)) is None
    beyond = known("avg(new and old)", new=(0.9, 1.5))
    assert beyond == KnownVariance(share_variance(1.0), 7, 1.0)
    below = known("avg(new and old)", new=(-0.5, -0.1))
    assert below == KnownVariance(share_variance(0.0), 7, 1.0)


@pytest.mark.parametrize(("many", "is_known"), [(2, True), (6, True), (7, False)])
def test_parts_of_many_conditions_are_not_looked_for(many: int, is_known: bool) -> None:
    text = " and ".join(["new", *(f"k > {place}" for place in range(1, many))])
    assert (known(f"avg({text})", new=(0.01, 0.02)) is not None) is is_known


@pytest.mark.parametrize(
    ("otherwise", "reach"), [("0", 1.0), ("0.25", 0.75), ("0.5", 0.5), ("0.75", 0.75), ("1", 1.0)]
)
def test_the_share_of_a_group_bounds_the_variance_of_what_is_constant_elsewhere(
    otherwise: str, reach: float
) -> None:
    """Inside, a value of [0, 1] is so far from the constant at most."""
    found = known(f"avg(case when new then p else {otherwise} end)", new=(0.01, 0.02))
    assert found is not None
    assert found.reach == pytest.approx(reach, rel=1e-12)
    least = share_variance(0.02) if found.reach == 1.0 else group_variance(0.02, found.reach or 1.0)
    assert found.variance == least
    assert known("avg(case when new then p else z end)", new=(0.01, 0.02)) is None


# What follows from parts --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("share", "least"),
    [
        ((0.0, 1.0), 0.5),  # nothing is known of it: for what is counted and priced
        ((0.0, 0.9), None),
        ((2.0**-20, 1.0), 9.536e-07),
        ((math.nextafter(2.0**-20, 0.0), 1.0), None),
        ((0.123456, 0.2), 0.1234),
        ((0.25, 0.3), 0.25),
        ((1.0, 1.0), 1.0),
        ((-0.1, 0.5), None),
    ],
)
def test_the_share_of_a_group_is_rounded_down_to_four_digits(
    share: tuple[float, float], least: float | None
) -> None:
    assert seam.real(seam.LEAST_SHARE)(Interval(*share)) == least


def test_no_error_is_explained_where_there_may_be_none() -> None:
    text = "r2(k, z, -3, 9, 8)"
    value, interval = joined(text, (10.0, 20.0, 40.0), (5.0, 10.0, 20.0))
    assert value == pytest.approx(0.5)
    assert tuple(interval) == pytest.approx((1 - 20.0 / 10.0, 1 - 5.0 / 40.0))
    low, high = bind(text, TABLE).low, bind(text, TABLE).high
    value, interval = joined(text, (0.0, 0.0, 4.0), (1.0, 2.0, 3.0))
    assert (value, interval.low) == (None, low)
    assert interval.high == pytest.approx(0.75)
    assert joined(text, (0.0, 0.5, 0.5), (0.0, 0.25, 3.0))[1] == Interval(low, high)
    assert joined(text, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)) == (None, Interval(low, high))


def test_of_an_end_of_a_grid_nothing_is_subtracted() -> None:
    text = "difference(avg(open) where arm = 'A', avg(open) where arm = 'B')"
    question = bind(text, TABLE)
    assert isinstance(question, OpenDifference)
    low, high = question.first.low, question.first.high
    inside = (1.0, 2.0, 3.0)
    for first, second, ends in (
        (inside, inside, (-2.0, 2.0)),
        ((low, 2.0, 3.0), inside, (-math.inf, 2.0)),
        ((1.0, 2.0, high), inside, (-2.0, math.inf)),
        (inside, (low, 2.0, 3.0), (-2.0, math.inf)),
        (inside, (1.0, 2.0, high), (-math.inf, 2.0)),
    ):
        _, interval = joined(text, first, second)  # of the means, as descriptions tell them
        least, most = question.low, question.high  # its own grid
        assert tuple(interval) == pytest.approx((max(least, ends[0]), min(most, ends[1])))


def test_the_range_of_what_never_changes_is_one_value() -> None:
    for text in ("variance(x * 0)", "covariance(x, p * 0)", "std(p * 0)"):
        found = bind(text, TABLE)
        assert (found.low, found.high) == (0.0, 0.0)


# Claims and intervals -----------------------------------------------------------------------------


def test_what_is_gated_is_surely_beyond_its_bound() -> None:
    statistic, beyond = single("avg(x)"), seam.real(seam.BEYOND_A_BOUND)  # from -60 to 180
    for bound in (0.0, 20.0, 33.3, -59.9, 179.9):
        place = (bound + 60.0) / 240.0
        above = beyond(place, bound, statistic, "at least")
        below = beyond(place, bound, statistic, "at most")
        assert below < above <= math.nextafter(place, 2.0) + 1e-15
        exact = np.longdouble(bound + 60.0) / 240
        assert below < exact < above
    assert beyond(0.5, 60.0, statistic, "at least") == math.nextafter(0.5, 1.0)
    assert beyond(0.5, 60.0, statistic, "at most") == math.nextafter(0.5, 0.0)


def test_a_claim_of_the_whole_range_says_nothing() -> None:
    claimed = seam.real(seam.ONE_SIDED)
    for bound, side in ((-60.0, "at least"), (180.0, "at most")):
        with pytest.raises(InvalidArgument, match="is never beyond it"):
            claimed(single("avg(x)"), bound, side)
    for bound, side in ((-59.0, "at least"), (179.0, "at most")):
        claimed(single("avg(x)"), bound, side)
    for side in ("at least", "at most"):  # where there is one value only, all is known
        claimed(single("avg(x * 0)"), 0.0, side)


def test_an_interval_that_says_nothing_is_the_range_but_for_roundings() -> None:
    statistic = single("avg(x)")
    assert is_whole(Interval(-60.0, 180.0), statistic)
    assert is_whole(Interval(-math.inf, math.inf), statistic)
    for ends in ((-59.0, 180.0), (-60.0, 179.0), (-59.999, 180.0), (-60.0, 179.999)):
        assert not is_whole(Interval(*ends), statistic)
    assert not is_whole(Interval(0.0, 0.0), single("avg(x * 0)"))


def test_a_scale_of_numbers_ends_at_the_farthest() -> None:
    assert part_of_log_scale(FARTHEST) == 1.0 == part_of_log_scale(2 * FARTHEST)
    assert part_of_log_scale(0.0) == 0.5 < part_of_log_scale(1e-9) < part_of_log_scale(FARTHEST / 2)
    assert from_log_scale(0.5) == 0.0
    assert from_log_scale(1.0) == FARTHEST == -from_log_scale(0.0)
    cut = (math.log1p(2.0**20 * FARTHEST) / 48.5 + 1.0) / 2.0  # what a row says that is farther
    low, high = sizes_from_log_scale(np.array([0.5, 0.75, cut]), 0.0)
    assert low[0] == 0.0 <= high[0] < 1e-12
    assert low[1] < from_log_scale(0.75) < high[1]
    assert low[2] < FARTHEST * (1 + 1e-9)
    assert high[2] == math.inf


# Questions ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("sigma", "is_bounded"), [(119.9, False), (120.0, True), (120.1, True)])
def test_a_scale_of_half_the_range_says_nothing(sigma: float, is_bounded: bool) -> None:
    """So far Hoeffding's radius is as narrow: from -60 to 180 it is 120."""
    found = single(mean("x", bounds=(-60, 180), sigma=sigma))
    assert found.text == ("avg(clip(x, -60, 180))" if is_bounded else found.text)
    assert (type(found).__name__ == "Mean") is is_bounded


def test_differences_are_of_two_values_or_of_two_means() -> None:
    for wrong in (
        difference(mean("x"), "p"),
        difference("p", mean("x")),
        difference(mean("x"), bindable("median(x)")),
    ):
        with pytest.raises(InvalidQuestion, match="difference"):
            bind(wrong, TABLE)
    apart = Table(replace(WHOLE, scales={"open": Scale(1.0), "heavy": Scale(2.0)}))
    assert "open - heavy" in bind(difference("open", "heavy"), apart).text


def bindable(text: str) -> Any:
    from holdfast.statistics.bind import read_question

    return read_question(text)


def test_a_question_that_can_be_read_again_is_written() -> None:
    for text in ("avg(x)", "avg(new)", "avg(case when new then p else 0 end)"):
        require_written(single(text), TABLE)


@pytest.mark.parametrize("thresholds", [(0, 0), (2, 1), (0, 1, 1)])
def test_thresholds_and_edges_rise(thresholds: tuple[int, ...]) -> None:
    listed = ", ".join(map(str, thresholds))
    for name in ("distribution", "histogram"):
        with pytest.raises(InvalidQuestion):
            bind(bindable(f"{name}(x, {listed})"), TABLE)


# Metrics ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("errors", "cap"),
    [
        ([0.1234], 0.124),
        ([-0.5, 0.125], 0.5),
        ([999.5], 1_000.0),
        ([1_000.0], 1_000.0),
        ([1_001.0], 1_010.0),
        ([0.000_999_1], 0.001),
        (list(range(101)), 99.0),
        ([*range(101), 200], 100.0),
    ],
)
def test_errors_are_capped_at_their_last_hundredth(errors: list[float], cap: float) -> None:
    """Rounded up to three digits."""
    assert cap_of_errors(errors) == cap


@pytest.mark.parametrize("errors", [[], [0.0], [math.inf], [math.nan]])
def test_errors_that_cap_nothing_are_refused(errors: list[float]) -> None:
    with pytest.raises(InvalidArgument, match="which caps nothing"):
        cap_of_errors(errors)


def test_metrics_are_averages_of_rows_or_are_not_and_have_a_direction() -> None:
    """Where less is better, scikit-learn's scoring is the negative."""
    of_rows = {name for name, each in METRICS.items() if each.of_rows}
    errors = {"mean_absolute_error", "mean_squared_error"}
    assert of_rows == {"accuracy", "brier", "log_loss", *errors}
    for each in METRICS.values():
        if each.scoring is not None:
            assert each.scoring.startswith("neg_") is not each.more_is_better
    powers = {name: (each.power, each.root) for name, each in METRICS.items() if each.power}
    assert powers == {
        "mean_absolute_error": (1, False),
        "mean_squared_error": (2, False),
        "root_mean_squared_error": (2, True),
        "r2": (2, False),
    }
