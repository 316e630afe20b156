"""Rows for `holdfast.papers.theorems.interaction`."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from tests.theory.rows import Domain, Golden

GOLDEN = [
    Golden(
        "gaussian_composition",
        {
            "k": k,
            "mu": mu,
            "log_nu": math.log(nu),
            "eta_prime": eta_prime,
            "log_tau_out": math.log(tau_out),
        },
        expected,
        1e-9,
        "mpmath: ln((sum_j<k Phi(Phi^-1(nu) + mu sqrt j) + k nu + 2 delta)/tau_out)",
        measure=lambda found: found.log_nu,
    )
    for k, mu, nu, eta_prime, tau_out, expected in (
        (10, 0.1, 1e-9, 1.5, 0.01, -10.357028984505813),
        (100, 0.05, 1e-8, 3.0, 0.001, -4.748413407712168),
    )
]

DOMAINS = {
    "gaussian_composition": Domain(
        {
            "k": st.integers(1, 10**4),
            "mu": st.floats(0, 5),
            "log_nu": st.one_of(st.just(-math.inf), st.floats(-1000, 0)),
            "eta_prime": st.floats(0, 20),
            "log_tau_out": st.floats(-50, 0),
        },
        measure=lambda found: found.log_nu,
    )
}
