"""Rows for `theory.base.unbounded` and `theory.base.gamma`: a profile's number is its radius."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import strategies as st

from holdfast.theory.base.concentration import SubGaussian
from holdfast.theory.base.unbounded import UnboundedMean
from tests.theory.rows import Domain, Golden


def radius_at(log_p: float) -> Any:
    return lambda profile: profile.radius(log_p)


def _radius(theorem: str, inputs: dict[str, Any], p: float, expected: float) -> Golden:
    return Golden(theorem, inputs, expected, 1e-12, "mpmath", radius_at(math.log(p)))


# 1,000 rows of sigma 0.4: their squares have 2.11 sigma^2 and 16 sigma^2.
_SPREAD = {
    "squares": UnboundedMean(1000, 0.3376, 2.56),
    "mean": UnboundedMean(1000, 0.4),
}
GOLDEN = [
    _radius("UnboundedMean", {"n": 1000, "sigma": 0.4}, 0.05, 0.034357552667739005),
    _radius(
        "UnboundedMean",
        {"n": 100, "sigma": 1.0, "b": 2.0, "colours": 3},
        1e-6,
        1.1205194643114532,
    ),
    _radius(
        "UnboundedUnits",
        {"rows": 100, "sum_of_squares": 400.0, "largest": 8.0, "sigma": 1.5},
        0.05,
        0.8148609094443717,
    ),
    # Full units at 0.9 of the level; others at 0.1/(U (M - 1)) of it.
    _radius("PooledUnits", {"rows": 2148, "units": 537, "largest": 4}, 0.05, 0.0594374620077089283),
    _radius("PooledUnits", {"rows": 1500, "units": 537, "largest": 4}, 1e-6, 0.1796138569810070434),
    _radius(
        "PooledUnits",
        {"rows": 100, "units": 50, "largest": 3, "row_sigma": 1.0, "row_b": 0.5},
        1e-6,
        1.133571692064679863,
    ),
    _radius(
        "Windowed",
        {"profile": SubGaussian(1.0), "rows": 1000, "log_row": -10.0},
        0.05,
        3.4856364948567345,
    ),
    _radius("GroupOfRows", {"rows": 1000, "share": 0.3, "sigma": 0.4}, 0.05, 0.11477307843416350),
    _radius(
        "GroupOfRows",
        {"rows": 1000, "share": 0.05, "sigma": 1.0, "b": 2.0, "together": 3},
        1e-6,
        8.7395761590701010,
    ),
    _radius(
        "GroupOfRows",
        {"rows": 2148, "share": 0.25, "sigma": 1.0, "together": 4, "log_weight": math.log(0.9)},
        1e-6,
        0.95332788156370020,
    ),
    Golden(
        "scale_in_group",
        {"sigma": 1.5, "share": 0.2},
        3.3541019662496845,
        1e-15,
        "by hand",
    ),
    Golden(
        "difference_scale",
        {"sigma": 0.3, "other_sigma": 0.5, "b": 1.5, "other_b": 2.0},
        (0.8, 4.0),
        1e-15,
        "by hand",
    ),
    Golden("square_scale", {"sigma": 1.5}, (4.7475, 36.0), 1e-15, "by hand"),
    _radius("SpreadOfRows", _SPREAD, 0.05, 0.03157089037648293),
    _radius("SpreadOfRows", _SPREAD, 1e-6, 0.06541659266746328),
    Golden("mean_square_log_p", {"n": 100, "ratio": 1.5}, -4.72674459459178, 1e-12, "by hand"),
    Golden("mean_square_log_p", {"n": 2, "ratio": 10.0}, -6.697414907005954, 1e-12, "by hand"),
    _radius("SubWeibull", {"scale": 2.0, "shape": 0.5}, 0.01, 56.144333833329045),
    _radius("PolynomialTail", {"order": 4.0, "moment": 0.1}, 1e-4, 1.0),
    _radius("TailTable", {"points": ((0.1, -2.0), (0.3, -5.0))}, math.exp(-3), 0.3),
    Golden(
        "MedianOfMeans",
        {"rows": 1100, "blocks": 11, "variance": 4.0},
        0.44300108368318964,
        1e-7,
        "mpmath",
        radius_at(math.log(0.01)),
    ),
    _radius(
        "CatoniMean", {"rows": 1000, "variance": 4.0, "alpha": 0.05}, 0.01, 0.20703796530793194
    ),
]

_small = radius_at(math.log(1e-3))
_scale, _count = st.floats(1e-3, 1e3), st.integers(1, 10**9)
DOMAINS = {
    "mean_square_log_p": Domain({"n": st.integers(1, 10**9), "ratio": st.floats(0, 1e6)}),
    "UnboundedMean": Domain(
        {
            "n": _count,
            "sigma": _scale,
            "b": st.one_of(st.none(), _scale),
            "colours": st.integers(1, 1000),
        },
        measure=_small,
    ),
    "UnboundedUnits": Domain(
        {
            "rows": st.just(1000),
            "sum_of_squares": st.floats(1000, 1e6),
            "largest": st.floats(1, 1000),
            "sigma": _scale,
            "b": st.one_of(st.none(), _scale),
        },
        measure=_small,
    ),
    "PooledUnits": Domain(
        {
            "rows": st.just(600),
            "units": st.integers(1, 600),
            "largest": st.integers(1, 700),
            "row_sigma": _scale,
            "row_b": st.one_of(st.none(), _scale),
        },
        where=lambda rows, units, largest, **_: units <= rows <= units * largest,
        measure=_small,
    ),
    "GroupOfRows": Domain(
        {
            "rows": st.integers(1000, 10**9),
            "share": st.floats(0.05, 1.0),
            "sigma": _scale,
            "b": st.one_of(st.none(), _scale),
            "together": st.integers(1, 10),
            "log_weight": st.floats(-10, 0),
        },
        measure=_small,
    ),
    "SpreadOfRows": Domain(
        {
            "squares": st.builds(UnboundedMean, _count, _scale, _scale),
            "mean": st.builds(UnboundedMean, _count, _scale),
        },
        measure=_small,
    ),
    "square_scale": Domain({"sigma": _scale}, measure=lambda found: found[0]),
    "scale_in_group": Domain({"sigma": _scale, "share": st.floats(1e-6, 1.0)}),
    "difference_scale": Domain(
        {
            "sigma": _scale,
            "other_sigma": _scale,
            "b": st.just(None),
            "other_b": st.just(None),
        },
        measure=lambda found: found[0],
    ),
    "Windowed": Domain(
        {
            "profile": st.just(SubGaussian(1.0)),
            "rows": st.integers(1, 10**6),
            "log_row": st.floats(-3000, -25),
        },
        measure=_small,
    ),
    "SubWeibull": Domain({"scale": _scale, "shape": st.floats(0.1, 5)}, measure=_small),
    "PolynomialTail": Domain({"order": st.floats(1, 50), "moment": _scale}, measure=_small),
    "MedianOfMeans": Domain(
        {
            "rows": st.integers(100, 10**6),
            "blocks": st.integers(1, 20).map(lambda k: 2 * k + 1),
            "variance": _scale,
        },
        measure=_small,
    ),
    "CatoniMean": Domain(
        {"rows": st.integers(100, 10**6), "variance": _scale, "alpha": st.just(0.01)},
        where=lambda rows, variance, alpha: alpha**2 * variance + 16 / rows < 1,
        measure=_small,
    ),
}
