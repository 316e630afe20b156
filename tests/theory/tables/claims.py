"""Rows for `holdfast.theory.leakage.claim_levels`, `confirmation`, `gates` and `rounds`."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from holdfast.theory.base.concentration import BoundedMean
from tests.theory.rows import Domain, Golden

LOG_03 = math.log(0.03)
LOG_05 = math.log(0.05)

GOLDEN = [
    Golden(
        "log_left",
        {"log_beta": LOG_03, "log_spent": math.log(0.004)},
        -3.649658740960655,
        1e-14,
        "mpmath: ln .026",
    ),
    Golden("log_left", {"log_beta": LOG_03, "log_spent": -math.inf}, LOG_03, 0, "by hand"),
    Golden(
        "claim_log_level",
        {"log_left": math.log(0.026), "weight": 0.975, "nats": 3.0},
        -6.6749765489449449,
        1e-14,
        "mpmath",
    ),
    Golden(
        "surprise_log_level",
        {"log_share": math.log(0.001), "eps": 0.025, "nats": 2.0},
        -12.596634733096073,
        1e-14,
        "mpmath",
    ),
    Golden("confirmations_log_charge", {"c": 0}, 0.0, 0, "by hand"),
    Golden("confirmations_log_charge", {"c": 1}, 0.025317807984289875, 1e-12, "-ln(39/40)"),
    Golden("confirmations_log_charge", {"c": 100}, 0.4377063222593455, 1e-11, "mpmath"),
    Golden(
        "ordered_log_levels",
        {"log_left": LOG_03, "nats": 0.0, "weights": (0.75, 0.75, 0.25), "claimed": (True, True)},
        (-3.7942399697717626, -4.0819220422235435, -5.4682164033434342),
        1e-14,
        "mpmath",
    ),
    Golden(
        "parallel_log_levels",
        {"log_left": LOG_03, "nats": 0.0, "weights": (0.75, 0.5)},
        (-3.7942399697717626, -5.5859994389998176),
        1e-14,
        "mpmath",
    ),
    Golden("two_sided_log_level", {"log_p": math.log(0.01)}, math.log(0.02), 1e-14, "by hand"),
    Golden("two_sided_log_level", {"log_p": math.log(0.7)}, 0.0, 0, "by hand"),
    Golden(
        "confirmed_share_half_width",
        {"n": 1000, "k": 100, "rate": 0.1, "log_left": LOG_03},
        0.03090664476141952,
        1e-8,
        "mpmath: the binomial tail summed",
    ),
    Golden(
        "confirmed_paired_half_width",
        {"n": 1000, "k": 100, "differing": 0.05, "log_left": LOG_03},
        0.02953885365240706,
        1e-8,
        "mpmath: the capital's root",
    ),
    Golden("declared_gate_prior", {"shown": 3, "k": 99}, 0.04, 1e-15, "by hand"),
    Golden("open_gate_prior", {"shown": 2, "c": 40}, 0.05, 1e-15, "by hand"),
    Golden(
        "gates_log_charge",
        {"k": 9, "symbols": (True, False, True)},
        4.1351665567423558,
        1e-14,
        "mpmath: -ln(1/10 8/10 2/10)",
    ),
    Golden(
        "gate_power",
        {"n": 200, "differing": 0.2, "gain": 0.1, "log_p": -4.0},
        0.84809474045758288,
        1e-9,
        "mpmath: every number of differing rows, every b",
    ),
    Golden(
        "gate_power",
        {"n": 1000, "differing": 0.05, "gain": 0.03, "log_p": math.log(0.03 / 101)},
        0.8009284354136861,
        1e-9,
        "mpmath: every number of differing rows, every b",
    ),
    Golden(
        "rounds_half_width",
        {"profile": BoundedMean(1000), "k": 2, "rounds": 2, "log_beta": LOG_05},
        0.05573753420361477,
        1e-5,
        "mpmath",
    ),
]

_log = st.floats(-50, 0)
_nats = st.floats(0, 200)
_weight = st.floats(1e-6, 0.999)

DOMAINS = {
    "log_left": Domain({"log_beta": _log, "log_spent": _log}),
    "claim_log_level": Domain({"log_left": _log, "weight": _weight, "nats": _nats}),
    "surprise_log_level": Domain({"log_share": _log, "eps": _weight, "nats": _nats}),
    "confirmations_log_charge": Domain({"c": st.integers(0, 10**5)}),
    "two_sided_log_level": Domain({"log_p": _log}),
    "confirmed_share_half_width": Domain(
        {
            "n": st.integers(1, 3000),
            "k": st.integers(1, 10**4),
            "rate": st.floats(0, 1),
            "log_left": _log,
        }
    ),
    "confirmed_paired_half_width": Domain(
        {
            "n": st.integers(100, 3000),
            "k": st.integers(1, 10**4),
            "differing": st.floats(0.01, 1),
            "log_left": st.floats(-20, -2),
        },
        rel=0.01,  # the stakes are those of the level
    ),
    "declared_gate_prior": Domain(
        {"shown": st.integers(0, 300), "k": st.integers(1, 300)}, where=lambda shown, k: shown < k
    ),
    "open_gate_prior": Domain({"shown": st.integers(0, 300), "c": st.just(300)}),
    "gate_power": Domain(
        {
            "n": st.integers(1, 2000),
            "differing": st.floats(0.05, 1),
            "gain": st.floats(-0.05, 0.05),
            "log_p": st.floats(-30, -0.1),
        }
    ),
    "rounds_half_width": Domain(
        {
            "profile": st.builds(BoundedMean, st.integers(100, 10**5)),
            "k": st.integers(5, 300),
            "rounds": st.integers(1, 5),
            "log_beta": st.floats(-20, -1),
        },
        rel=1e-6,
    ),
}
