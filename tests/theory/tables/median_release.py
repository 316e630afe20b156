"""Rows for `holdfast.theory.transfer.median_width`."""

from __future__ import annotations

import math
from operator import attrgetter

from hypothesis import strategies as st

from tests.theory.rows import Domain, Golden

_PARTS = attrgetter("M", "extra_half_width")

GOLDEN = [
    Golden(
        "median_noise_release",
        {"n": 1000, "B": 1024, "D": 0.0625},
        (64_000, 1 / 2_048_000),
        1e-13,
        "by hand: n B D is whole, so only 1/(2 n B) is added",
        _PARTS,
    ),
    Golden(
        "median_noise_release",
        {"n": 3, "B": 1, "D": 0.5},
        (2, 2 / 3 - 1 / 2 + 1 / 6),
        1e-13,
        "by hand: M = ceil(1.5), D grows to 2/3",
        _PARTS,
    ),
    Golden(
        "median_noise_log_charge",
        {"radius": 0.01, "n": 1000, "B": 1024, "D": 0.05, "a": 3},
        0.3629203543126445,
        1e-13,
        "mpmath: ln(1 + 2 (alpha + 1/(2nB)) (35/32)/D)",
    ),
    Golden(
        "median_noise_log_charge",
        {"radius": 0.5, "n": 1, "B": 1, "D": 15 / 16, "a": 2},
        math.log(3.0),
        1e-13,
        "by hand: 1 + 2 (1/2 + 1/2) (15/16)/(15/16)",
    ),
]

DOMAINS = {
    "median_noise_log_charge": Domain(
        {
            "radius": st.floats(0, 1),
            "n": st.integers(1, 10**9),
            "B": st.integers(1, 2**30),
            "D": st.floats(1e-6, 2),
            "a": st.integers(2, 7),
        }
    ),
}
