"""Concentrations as plain values, so that a ledger explains every radius by itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.errors import InvalidArgument
from holdfast.statistics.known import KnownVariance
from holdfast.theory.concentration import Bernstein, Concentration, SubExponential, SubGaussian

__all__ = ["profile_from_dict", "profile_of", "radius_of"]


def profile_of(profile: Concentration) -> dict[str, Any]:
    """The profile as plain values; every other one than the sub-exponential has a scale sigma."""
    if isinstance(profile, SubExponential):
        return {"sigma": profile.sigma, "b": profile.b}
    sigma = getattr(profile, "sigma", None)
    if sigma is None:
        raise InvalidArgument(
            "a log_tail function cannot be written in a ledger, which must explain every interval "
            "by itself; declare sigma=, or sigma= and b=, instead."
        )
    return {"sigma": sigma, "b": None}


def profile_from_dict(body: Mapping[str, Any]) -> Concentration:
    """The profile that `profile_of` wrote."""
    if body["b"] is None:
        return SubGaussian(body["sigma"])
    return SubExponential(body["sigma"], body["b"])


def radius_of(profile: Concentration, known: KnownVariance, rows: int, log_p: float) -> float:
    """The radius of a mean of independent rows whose variance is known to be small."""
    log_p = min(0.0, log_p)
    return min(profile.radius(log_p), Bernstein(rows, known.variance).radius(log_p))
