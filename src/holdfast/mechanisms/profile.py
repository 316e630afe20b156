"""Concentrations as plain values, so that a ledger explains every radius by itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.errors import InvalidArgument
from holdfast.mechanisms.terms import Terms
from holdfast.statistics.known import KnownVariance
from holdfast.statistics.statistic import Statistic
from holdfast.theory.base.concentration import (
    Bernstein,
    BinomialMean,
    Concentration,
    SubExponential,
    SubGaussian,
)

__all__ = ["profile_of", "profile_of_record", "radius_of", "recorded_profile"]


def profile_of(question: Statistic, terms: Terms, *, alike: bool) -> Concentration:
    """The concentration of a statistic; of a condition on rows that are alike, the binomial law."""
    row = question.row
    if row is not None and row.is_condition and alike:
        return BinomialMean(question.rows(terms.rows))
    return question.concentration(terms.rows, terms.sampling)


def recorded_profile(profile: Concentration, terms: Terms) -> dict[str, Any] | None:
    """The profile of a statistic as plain values; None where it is that of a mean of all rows.

    Every other one than the binomial and the sub-exponential has a scale sigma.
    """
    if profile == terms.concentration:
        return None
    if isinstance(profile, BinomialMean):
        return {"binomial": profile.n}
    if isinstance(profile, SubExponential):
        return {"sigma": profile.sigma, "b": profile.b}
    sigma = getattr(profile, "sigma", None)
    if sigma is None:
        raise InvalidArgument(
            "a log_tail function cannot be written in a ledger, which must explain every interval "
            "by itself; declare sigma=, or sigma= and b=, instead."
        )
    return {"sigma": sigma, "b": None}


def profile_of_record(record: Mapping[str, Any] | None, terms: Terms) -> Concentration:
    """The profile that `recorded_profile` wrote."""
    if record is None:
        return terms.concentration
    if "binomial" in record:
        return BinomialMean(record["binomial"])
    if record["b"] is None:
        return SubGaussian(record["sigma"])
    return SubExponential(record["sigma"], record["b"])


def radius_of(profile: Concentration, known: KnownVariance, rows: int, log_p: float) -> float:
    """The radius of a mean of independent rows whose variance is known to be small."""
    log_p = min(0.0, log_p)
    return min(profile.radius(log_p), Bernstein(rows, known.variance).radius(log_p))
