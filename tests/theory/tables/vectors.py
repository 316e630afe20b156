"""Rows for `holdfast.theory.leakage.release`."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from tests.theory.rows import Domain, Golden

INTEGRAL = "mpmath, 30 digits: the integral of the largest density, in polar coordinates"
SOLID = "a square and a cube of edge 12 with everything at most 3 away: edges, faces, rounded ends"

GOLDEN = [
    Golden(
        "vector_gaussian_log_charge", {"d": 2, "radius": 1.0}, 1.0128053269211632, 1e-9, INTEGRAL
    ),
    Golden(
        "vector_gaussian_log_charge", {"d": 5, "radius": 0.3}, 0.6151103660573144, 1e-9, INTEGRAL
    ),
    Golden(
        "vector_gaussian_log_charge", {"d": 40, "radius": 2.0}, 11.616881320673542, 1e-9, INTEGRAL
    ),
    Golden(
        "vector_gaussian_log_charge",
        {"d": 1, "radius": 0.5},
        math.log(1 + 1 / math.sqrt(2 * math.pi)),
        1e-9,
        "theory.md section 3: Gaussian(s)",
    ),
    Golden(
        "vector_laplace_log_charge",
        {"d": 1, "radius": 0.5},
        math.log(1.5),
        1e-9,
        "theory.md section 3: Laplace(b)",
    ),
    Golden(
        "vector_laplace_log_charge",
        {"d": 3, "radius": 2.0},
        math.log(1 + 2 + 2 + 4 / 3),
        1e-9,
        "by hand: 1 + r + r^2/2 + r^3/6",
    ),
    Golden(
        "vector_uniform_log_charge",
        {"d": 2, "radius": 3.0, "m": 5},
        0.9608194365672652,
        1e-9,
        SOLID,
    ),
    Golden(
        "vector_uniform_log_charge", {"d": 3, "radius": 3.0, "m": 5}, 1.409863650616923, 1e-9, SOLID
    ),
    Golden(
        "vector_mean_radius",
        {"n": 100, "diameter": 2.0, "spread": 1.0, "log_p": math.log(0.05)},
        0.34477468306808165,
        1e-12,
        "1/sqrt(100) + 2 sqrt(ln 20/200)",
    ),
    Golden(
        "sub_gaussian_vector_radius",
        {"n": 100, "d": 4, "sigma": 2.0, "log_p": -9.0},
        0.2 * math.sqrt(34),
        1e-12,
        "by hand: 4 + 2 sqrt(36) + 18 = 34",
    ),
    Golden(
        "sub_gaussian_vector_l1_radius",
        {"n": 50, "d": 3, "sigma": 1.0, "log_p": math.log(0.125)},
        math.sqrt(math.log(64) / 25),
        1e-12,
        "by hand: 3 ln 2 + ln 8 = ln 64",
    ),
]
_SCALED = {
    "n": st.integers(1, 10**6),
    "d": st.integers(1, 256),
    "sigma": st.floats(1e-6, 1e6),
    "log_p": st.floats(-500, 0),
}

DOMAINS = {
    "sub_gaussian_vector_radius": Domain(_SCALED),
    "sub_gaussian_vector_l1_radius": Domain(_SCALED),
    "vector_gaussian_log_charge": Domain({"d": st.integers(1, 200), "radius": st.floats(1e-6, 99)}),
    "vector_laplace_log_charge": Domain({"d": st.integers(1, 200), "radius": st.floats(1e-6, 99)}),
    "vector_uniform_log_charge": Domain(
        {"d": st.integers(1, 200), "radius": st.floats(1e-3, 1e7), "m": st.integers(0, 2**21)}
    ),
    "vector_mean_radius": Domain(
        {
            "n": st.integers(1, 10**6),
            "diameter": st.floats(1e-6, 10),
            "spread": st.floats(0, 10),
            "log_p": st.floats(-500, 0),
        }
    ),
}
