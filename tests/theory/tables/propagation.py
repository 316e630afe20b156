"""Rows for `holdfast.theory.base.propagation`. Numbers are dyadic where exactness is the point."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import strategies as st

from tests.theory.rows import Domain, Golden

HAND = "by hand"
SQRT_EIGHTH = 0.35355339059327376220  # sqrt(1/8), mpmath
COV = {"var_x_low": 0.25, "var_x_high": 0.5, "var_y_low": 0.5, "var_y_high": 1.0}
MAYBE_CONSTANT = {"var_x_low": 0.0, "var_x_high": 0.25, "var_y_low": 0.25, "var_y_high": 0.25}
DECILES: dict[str, Any] = {
    "thresholds": (1.0, 2.0, 3.0, 4.0),
    "lows": (0.1, 0.3, 0.45, 0.7),
    "highs": (0.2, 0.4, 0.6, 0.8),
    "range_low": 0.0,
    "range_high": 9.0,
}


def _covariance(x: tuple[float, float], y: tuple[float, float]) -> dict[str, float]:
    return {"x_low": x[0], "x_high": x[1], "y_low": y[0], "y_high": y[1]}


def _correlation(low: float, high: float, variances: dict[str, float]) -> dict[str, float]:
    return {"cov_low": low, "cov_high": high, **variances}


def _ratio(pivot: float, r: tuple[float, float], d: tuple[float, float]) -> dict[str, float]:
    return {"pivot": pivot, "r_low": r[0], "r_high": r[1], "d_low": d[0], "d_high": d[1]}


def _variance(m: tuple[float, float], s: tuple[float, float]) -> dict[str, float]:
    return {"m_low": m[0], "m_high": m[1], "s_low": s[0], "s_high": s[1]}


GOLDEN = [
    # s - m^2: .5 - .25 and .75 - 0, then .75 - .0625, then nothing below 0.
    Golden("variance_interval", _variance((-0.5, 0.25), (0.5, 0.75)), (0.25, 0.75), 0, HAND),
    Golden("variance_interval", _variance((0.25, 0.5), (0.5, 0.75)), (0.25, 0.6875), 0, HAND),
    Golden("variance_interval", _variance((-0.5, -0.25), (0.5, 0.75)), (0.25, 0.6875), 0, HAND),
    Golden("variance_interval", _variance((0.5, 1.0), (0.5, 0.75)), (0.0, 0.5), 0, HAND),
    # Products of (-.5, .25) and (-1, .5): .5, -.25, -.25, .125.
    Golden(
        "covariance_interval",
        {**_covariance((-0.5, 0.25), (-1.0, 0.5)), "xy_low": 0.125, "xy_high": 0.25},
        (-0.375, 0.5),
        0,
        HAND,
    ),
    Golden(
        "covariance_interval",
        {**_covariance((0.5, 1.0), (-0.5, -0.25)), "xy_low": -1.0, "xy_high": 1.0},
        (-0.875, 1.5),
        0,
        HAND,
    ),
    Golden(
        "correlation_interval",
        _correlation(-0.1, 0.2, COV),
        (-0.1 / SQRT_EIGHTH, 0.2 / SQRT_EIGHTH),
        1e-15,
        "mpmath",
    ),
    # .1/sqrt(.5) below, .25/sqrt(.125) above.
    Golden(
        "correlation_interval",
        _correlation(0.1, 0.25, COV),
        (0.14142135623730950488, 0.70710678118654752440),
        1e-15,
        "mpmath",
    ),
    Golden("correlation_interval", _correlation(-0.5, 9.0, COV), (-1.0, 1.0), 0, HAND),
    # A variance may be 0: the sign of the covariance is what remains; .125/.25.
    Golden("correlation_interval", _correlation(0.125, 0.2, MAYBE_CONSTANT), (0.5, 1.0), 0, HAND),
    Golden("correlation_interval", _correlation(0.0, 0.2, MAYBE_CONSTANT), (0.0, 1.0), 0, HAND),
    Golden("correlation_interval", _correlation(-0.1, 0.1, MAYBE_CONSTANT), (-1.0, 1.0), 0, HAND),
    Golden(
        "correlation_interval",
        _correlation(0.0, 0.0, {**MAYBE_CONSTANT, "var_x_high": 0.0}),
        (-1.0, 1.0),
        0,
        "a constant column",
    ),
    Golden("std_interval", {"var_low": 0.25, "var_high": 2.25}, (0.5, 1.5), 0, HAND),
    Golden(
        "std_interval",
        {"var_low": 2.0, "var_high": 3.0},
        (1.4142135623730950488, 1.7320508075688772935),
        1e-15,
        "mpmath",
    ),
    Golden(
        "difference_interval",
        {"a_low": 0.5, "a_high": 0.75, "b_low": 0.25, "b_high": 1.0},
        (-0.5, 0.5),
        0,
        HAND,
    ),
    # F1 near .75: residual of 2 TP - .75 (predicted + labelled), denominator in [0, 2].
    Golden("ratio_interval", _ratio(0.75, (-0.125, 0.25), (1.0, 2.0)), (0.625, 1.0), 0, HAND),
    Golden("ratio_interval", _ratio(0.75, (0.125, 0.25), (1.0, 2.0)), (0.8125, 1.0), 0, HAND),
    Golden("ratio_interval", _ratio(0.75, (-0.5, -0.25), (1.0, 2.0)), (0.25, 0.625), 0, HAND),
    Golden("ratio_interval", _ratio(0.5, (0.0, 0.25), (0.0, 1.0)), (0.5, math.inf), 0, HAND),
    Golden("ratio_interval", _ratio(0.5, (-1.0, -0.25), (0.0, 1.0)), (-math.inf, 0.25), 0, HAND),
    Golden("quantile_interval", {"level": 0.5, **DECILES}, (2.0, 4.0), 0, HAND),
    # Not surely below: high = level is not < level; low = level is already >= level.
    Golden("quantile_interval", {"level": 0.4, **DECILES}, (1.0, 3.0), 0, HAND),
    Golden("quantile_interval", {"level": 0.45, **DECILES}, (2.0, 3.0), 0, HAND),
    Golden("quantile_interval", {"level": 0.1, **DECILES}, (0.0, 1.0), 0, HAND),
    Golden("quantile_interval", {"level": 0.9, **DECILES}, (4.0, 9.0), 0, HAND),
    Golden(
        "quantile_interval",
        {"level": 0.5, **DECILES, "range_low": 2.5, "range_high": 3.5},
        (2.5, 3.5),
        0,
        HAND,
    ),
    Golden(
        "total_interval", {"population": 1000, "low": -0.25, "high": 0.5}, (-250.0, 500.0), 0, HAND
    ),
]

lower, upper = st.floats(-2, 0), st.floats(0, 2)
anywhere = st.floats(-2, 2)


def _in_order(**ends: float) -> bool:
    """Every x_low is at most its x_high."""
    return all(
        value <= ends[name.removesuffix("low") + "high"]
        for name, value in ends.items()
        if name.endswith("low")
    )


def _box(names: str) -> dict[str, Any]:
    return {f"{name}_{end}": anywhere for name in names.split() for end in ("low", "high")}


_variances = {"var_x_low": st.floats(0, 1), "var_x_high": st.floats(1, 2)} | {
    "var_y_low": st.floats(0, 1),
    "var_y_high": st.floats(1, 2),
}

DOMAINS = {
    "variance_interval": Domain(_box("m s"), where=_in_order, rel=0),
    "covariance_interval": Domain(
        {"x_low": lower, "x_high": upper, "y_low": lower, "y_high": upper, **_box("xy")},
        where=_in_order,
        rel=0,
    ),
    "correlation_interval": Domain({**_box("cov"), **_variances}, where=_in_order, rel=0),
    "std_interval": Domain({"var_low": st.floats(0, 1), "var_high": st.floats(1, 9)}, rel=0),
    "difference_interval": Domain(_box("a b"), where=_in_order, rel=0),
    "ratio_interval": Domain(
        {"pivot": anywhere, **_box("r"), "d_low": st.floats(0.01, 1), "d_high": st.floats(1, 2)},
        where=_in_order,
        rel=0,
    ),
    "quantile_interval": Domain(
        {"level": st.floats(0.01, 0.99), **{key: st.just(value) for key, value in DECILES.items()}},
        rel=0,
    ),
    "total_interval": Domain(
        {"population": st.integers(1, 10**9), "low": anywhere, "high": anywhere},
        where=_in_order,
        rel=0,
    ),
}
