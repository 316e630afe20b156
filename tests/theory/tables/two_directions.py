"""Rows for `holdfast.papers.theorems.two_directions`."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from tests.theory.rows import Domain, Golden

CURVE = tuple((x, math.log(nu)) for x, nu in ((0.5, 0.1), (1.0, 0.01), (2.0, 1e-5), (3.0, 1e-9)))
ORIGIN = "mpmath, 30 digits: moments by quadrature or listed, the mean of the top p mass by sorting"

GOLDEN = [
    Golden(
        "centre_log_delta",
        {
            "k": 10,
            "curve": CURVE,
            "eta_prime": eta_prime,
            "log_p": math.log(0.001),
            "order": order,
            "spread": spread,
            "pure": pure,
        },
        expected,
        1e-9,
        ORIGIN,
    )
    for eta_prime, order, spread, pure, expected in (
        (32.0, 1.0, 0.5, False, -5.738230349497452),
        (24.0, 2.0, 1.0, True, -6.8906906433999513),
    )
]

DOMAINS = {
    "centre_log_delta": Domain(
        {
            "k": st.integers(1, 1000),
            "curve": st.just(CURVE),
            "eta_prime": st.floats(0, 500),
            "log_p": st.floats(-50, -0.1),
            "order": st.floats(0.05, 20),
            "spread": st.floats(0.1, 1),
            "pure": st.booleans(),
        }
    )
}
