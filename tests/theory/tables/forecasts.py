"""Rows for `holdfast.theory.leakage.forecasts`."""

from __future__ import annotations

from tests.theory.rows import Domain, Golden

_THREE = {
    "prior": (0.1, 0.5, 0.2, 0.2),
    "forecasts": (
        (0.0099, 0.6, 0.4, 0.2),
        (0.0099, 0.02, 0.01, 0.005),
        (0.0198, 0.9, 0.7, 0.5),
    ),
    "symbols": (True, False),
}
_ONE_SLEEPS = {
    "prior": (0.5, 0.5),
    "forecasts": ((0.25, None), (0.25, 0.75)),
    "symbols": (True, True),
}
_TABLE = "golden.json, section 13.1"

GOLDEN = [
    Golden(
        "forecast_weights",
        _THREE,
        (0.42099, 0.016650754174683483, 0.8211972668291799),
        1e-12,
        _TABLE,
    ),
    Golden("forecast_weights", _ONE_SLEEPS, (0.25, 0.5), 1e-14, "by hand: the weight stays"),
    Golden(
        "forecast_log_charge",
        {**_THREE, "forecasts": _THREE["forecasts"][:2]},
        0.8819371348030575,
        1e-12,
        _TABLE,
    ),
    Golden("forecast_log_charge", _ONE_SLEEPS, 2.0794415416798357, 1e-13, "by hand: ln 8"),
]

DOMAINS: dict[str, Domain] = {}
