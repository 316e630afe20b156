"""Rows for `holdfast.theory.notions.arrows`."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from holdfast.theory.notions.composing import GDP, ZCDP, ApproxDP, PureDP
from tests.theory.rows import Domain, Golden

_CURVE = "mpmath, 60 digits: Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu)"


def _curve(mu: float, epsilon: float, log_delta: float, rel: float = 1e-11) -> Golden:
    inputs = {"step": GDP(mu), "epsilon": epsilon}
    return Golden("gdp_to_approx_dp", inputs, log_delta, rel, _CURVE, lambda dp: dp.log_delta)


GOLDEN = [
    Golden(
        "pure_dp_to_approx_dp",
        {"step": PureDP(0.7)},
        (0.7, 0.0),
        0.0,
        "definition",
        lambda dp: (dp.epsilon, dp.delta),
    ),
    Golden("pure_dp_to_zcdp", {"step": PureDP(0.5)}, 0.125, 1e-14, "by hand: 1/8"),
    Golden(
        "zcdp_to_approx_dp",
        {"step": ZCDP(0.1), "log_delta": -10.0},
        (2.1, -10.0),
        1e-14,
        "by hand: .1 + 2 sqrt(.1 * 10)",
    ),
    Golden(
        "zcdp_to_approx_dp_sharp",
        {"step": ZCDP(0.01), "log_delta": -10.0},
        (0.58514449836299936228, -10.0),
        1e-14,
        "mpmath: .01 + 2 sqrt(.01 (10 + ln(.01 pi)/2))",
    ),
    Golden(
        "zcdp_to_approx_dp_sharp",
        {"step": ZCDP(1.0), "log_delta": -10.0},
        (7.324555320336758664, -10.0),
        1e-14,
        "by hand: 1 + 2 sqrt(10), as sqrt(pi) > 1",
    ),
    _curve(1.0, 0.0, -0.95991633369562231933),
    _curve(1.0, 1.0, -2.0640664465003905345),
    _curve(0.5, 0.1, -1.8372140060848780838),
    _curve(0.1, 0.5, -18.798056703623704557),
    _curve(3.0, 2.0, -0.37706109998274322638),
    _curve(0.1, 4.5, -1021.087576304585995),
    _curve(1e-6, 0.0, -14.734449091168988513),
    Golden("gdp_to_zcdp", {"step": GDP(3.0)}, 4.5, 1e-14, "by hand: 9/2"),
    Golden("zcdp_of_gaussians_to_gdp", {"step": ZCDP(4.5)}, 3.0, 1e-14, "by hand: sqrt 9"),
    Golden(
        "pure_dp_to_tv",
        {"step": PureDP(1.0)},
        0.46211715726000974,
        1e-9,
        "golden.json, TV of an (eps, delta) pair with delta = 0",
    ),
    Golden(
        "pure_dp_to_tv_printed",
        {"step": PureDP(math.log(3))},
        1.0,
        1e-14,
        "by hand: (3 - 1)/2, where the printed bound becomes vacuous",
    ),
    Golden(
        "approx_dp_to_tv",
        {"step": ApproxDP(1.0, -math.inf)},
        0.46211715726000974,
        1e-9,
        "golden.json, TV of an (eps, delta) pair",
    ),
    Golden(
        "approx_dp_to_tv",
        {"step": ApproxDP(0.5, math.log(0.001))},
        0.24567374374130543,
        1e-9,
        "golden.json, TV of an (eps, delta) pair",
    ),
    Golden(
        "approx_dp_to_tv_printed",
        {"step": ApproxDP(0.5, math.log(0.001))},
        0.32536063535006407342,
        1e-14,
        "mpmath: (e^.5 - 1)/2 + .001",
    ),
    Golden("gdp_to_tv", {"step": GDP(1.0)}, 0.38292492254802620728, 1e-14, "2 Phi(1/2) - 1"),
]

_PURE = st.builds(PureDP, st.floats(0, 800))
_ZCDP = st.builds(ZCDP, st.floats(0, 20))
_GDP = st.builds(GDP, st.floats(0, 20))
_LOG_DELTA = st.floats(-1000, 0)

DOMAINS = {
    "pure_dp_to_approx_dp": Domain({"step": _PURE}, measure=lambda dp: dp.epsilon),
    "pure_dp_to_zcdp": Domain({"step": _PURE}),
    "zcdp_to_approx_dp": Domain(
        {"step": _ZCDP, "log_delta": _LOG_DELTA}, measure=lambda dp: dp.epsilon
    ),
    "zcdp_to_approx_dp_sharp": Domain(
        {"step": _ZCDP, "log_delta": _LOG_DELTA}, measure=lambda dp: dp.epsilon
    ),
    "gdp_to_approx_dp": Domain(
        {"step": _GDP, "epsilon": st.floats(0, 50)}, measure=lambda dp: dp.delta
    ),
    "gdp_to_zcdp": Domain({"step": _GDP}),
    "zcdp_of_gaussians_to_gdp": Domain({"step": _ZCDP}),
    "pure_dp_to_tv": Domain({"step": _PURE}),
    "pure_dp_to_tv_printed": Domain({"step": _PURE}),
    "gdp_to_tv": Domain({"step": _GDP}),
}
