"""Levels that no plain simulation reaches: misses are drawn, and weighed."""

from __future__ import annotations

import pytest

from tests.theory.tiny_levels import CASES, miss_probability

QUICK = ("AUC", "contrast")
LONG = [pytest.param(name, marks=[] if name in QUICK else [pytest.mark.campaign]) for name in CASES]


@pytest.mark.statistical
@pytest.mark.parametrize("level", [1e-6, pytest.param(1e-12, marks=pytest.mark.campaign)])
@pytest.mark.parametrize("name", LONG)
def test_misses_are_as_rare_as_said(name: str, level: float) -> None:
    estimate = miss_probability(CASES[name], 600, level, 40, 31)
    assert estimate.missed  # samples that miss are seen
    assert not estimate.refutes


@pytest.mark.statistical
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[] if name == "AUC" else [pytest.mark.campaign]) for name in CASES],
)
def test_sabotage_intervals_of_half_the_width_miss_too_often(name: str) -> None:
    assert miss_probability(CASES[name], 600, 1e-9, 200, 32, factor=0.5).refutes
