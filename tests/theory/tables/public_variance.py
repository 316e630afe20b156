"""Rows for `holdfast.theory.base.propagation`."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.theory.rows import Domain, Golden

HAND = "by hand"
TINY = 1e-14

GOLDEN = [
    Golden("share_variance", {"high": 0.01}, 0.0099, TINY, HAND),
    Golden("share_variance", {"high": 0.75}, 0.25, 0, "1/4 from 1/2 on"),
    Golden("share_variance", {"high": 0.0}, 0.0, 0, "never: no variance"),
    Golden("condition_variance", {"low": 0.01, "high": 0.1}, 0.09, TINY, HAND),
    Golden("condition_variance", {"low": 0.4, "high": 0.6}, 0.25, 0, HAND),
    Golden("condition_variance", {"low": 0.8, "high": 0.9}, 0.16, TINY, HAND),
    Golden("condition_variance", {"low": 1.0, "high": 1.0}, 0.0, 0, "always: no variance"),
    Golden("group_variance", {"high": 0.02, "reach": 0.5}, 0.005, TINY, HAND),
    Golden("group_variance", {"high": 0.25, "reach": 3.0}, 2.25, TINY, HAND),
    Golden("group_variance", {"high": 0.3, "reach": 0.0}, 0.0, 0, "a constant everywhere"),
    Golden(
        "same_cost_tolerance",
        {"tolerance": 0.5, "radius": 0.25, "narrow_radius": 0.0625},
        0.125,
        0,
        HAND,
    ),
    Golden(
        "same_cost_tolerance",
        {"tolerance": 0.03, "radius": 0.02, "narrow_radius": 0.006},
        0.009,
        TINY,
        HAND,
    ),
]

share = st.floats(0, 1)
DOMAINS = {
    "share_variance": Domain({"high": share}),
    "condition_variance": Domain(
        {"low": share, "high": share}, where=lambda low, high: low <= high
    ),
    "group_variance": Domain({"high": share, "reach": st.floats(0, 100)}),
    "same_cost_tolerance": Domain(
        {
            "tolerance": st.floats(1e-6, 1),
            "radius": st.floats(1e-6, 1),
            "narrow_radius": st.floats(1e-6, 1),
        },
        where=lambda tolerance, radius, narrow_radius: narrow_radius <= radius < tolerance,
        rel=0,
    ),
}
