"""Rows for `holdfast.theory.length.families`."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from tests.theory.rows import Domain, Golden

_HAND = "by hand"


def bits(fraction: Fraction) -> float:
    return math.log2(fraction.denominator) - math.log2(fraction.numerator)


def planned_bits(fraction: Fraction) -> float:
    """With half of the prior on the plan, and one pattern."""
    return bits(fraction / 2)


def segment_bits(fraction: Fraction) -> float:
    """With three quarters of the prior on outcomes and segments."""
    return bits(fraction * 3 / 4)


def _row(name: str, inputs: dict[str, Any], expected: float, origin: str, measure: Any) -> Golden:
    return Golden(name, inputs, expected, 1e-12, origin, measure)


_ARMS = "golden.json, section 13.4"
_USERS = {"factors": (5, 3, 3), "depth": 2}  # 1 + 11 + 39 effects
_SEVEN = {"outcomes": 2, "segments": 7}

GOLDEN = [
    *(
        _row("tier_share", {"depth": depth, "tier": tier}, share, "section 13.4", float)
        for depth, shares in {0: [1.0], 1: [0.5, 0.5], 2: [0.25, 0.25, 0.5]}.items()
        for tier, share in enumerate(shares)
    ),
    _row("tier_share", {"depth": 4, "tier": 1}, 1 / 16, _HAND, float),
    _row("pattern_weight", {**_USERS, "tier": 0}, 3.0, "section 13.4, overall", planned_bits),
    _row("pattern_weight", {**_USERS, "tier": 2}, 7.285402218862249, _ARMS, planned_bits),
    _row(
        "pattern_weight",
        {"factors": (5,), "tier": 0, "depth": 1, "contrasts": 2},
        3.0,
        _ARMS,
        planned_bits,
    ),
    _row("pattern_weight", {**_USERS, "tier": 1}, 1 / 44, _HAND, float),
    _row(
        "group_weight",
        {**_SEVEN, "groups": 16},
        9.959,
        "section 13.4: 9.96 bits; log2(8960/9) by hand",
        lambda fraction: round(segment_bits(fraction), 3),
    ),
    _row(
        "group_weight",
        {**_SEVEN, "groups": 16, "where": 12},
        1 / 161_280,
        "by hand: 2/5 1/2 1/7 1/16 1/4 1/6 1/12",
        float,
    ),
    _row(
        "group_weight",
        {**_SEVEN, "groups": 120, "pairs": True},
        1 / 11_200,
        "by hand: 1/5 1/2 1/7 1/120 3/4",
        float,
    ),
    _row("average_weight", _SEVEN, 1 / 20, "by hand: 2/5 1/2 1/4", float),
    _row(
        "average_weight",
        {**_SEVEN, "conditions": (16,)},
        1 / 1120,
        "by hand: 2/5 1/2 1/2 1/7 1/16",
        float,
    ),
    _row(
        "average_weight",
        {**_SEVEN, "conditions": (16, 12)},
        1 / 80_640,
        "by hand: 2/5 1/2 1/4 1/21 1/192",
        float,
    ),
    Golden("plan_millibits", {"fractions": [Fraction(1, 4)]}, 2000, 0, _HAND),
    Golden("plan_millibits", {"fractions": [Fraction(1, 4), Fraction(1, 12)]}, 1585, 0, "log2 3"),
    Golden("plan_millibits", {"fractions": [Fraction(1, 156)]}, 7286, 0, "7.28540 bits, up"),
    Golden("unplanned_millibits", {"plan_weight": Fraction(0)}, 0, 0, _HAND),
    Golden("unplanned_millibits", {"plan_weight": Fraction(1, 2)}, 1000, 0, "section 13.4"),
    Golden("unplanned_millibits", {"plan_weight": Fraction(3, 4)}, 2000, 0, "section 13.4"),
    Golden("unplanned_millibits", {"plan_weight": Fraction(2, 3)}, 1585, 0, "log2 3"),
]

_many = st.integers(1, 40)

DOMAINS = {
    "tier_share": Domain({"depth": st.just(6), "tier": st.integers(0, 6)}, measure=float, rel=0),
    "average_weight": Domain(
        {
            "outcomes": _many,
            "segments": st.integers(2, 30),
            "conditions": st.lists(_many, max_size=2),
        },
        measure=float,
        rel=0,
    ),
    "group_weight": Domain(
        {
            "outcomes": _many,
            "segments": st.integers(2, 30),
            "groups": _many,
            "pairs": st.booleans(),
            "where": st.integers(0, 20),
        },
        measure=float,
        rel=0,
    ),
    "unplanned_millibits": Domain(
        {"plan_weight": st.fractions(0, Fraction(99, 100), max_denominator=1000)}, rel=0
    ),
}
