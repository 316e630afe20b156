"""Concentrations as plain values, so that a ledger explains every radius by itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from holdfast.mechanisms.terms import Terms
from holdfast.question.row import GRID_ERROR
from holdfast.statistics.known import KnownVariance
from holdfast.statistics.statistic import Statistic
from holdfast.theory.base.concentration import (
    Bernstein,
    BinomialMean,
    Concentration,
    SubExponential,
    SubGaussian,
)
from holdfast.theory.base.recorded import gamma_from_text, gamma_text
from holdfast.theory.base.safeside import round_up
from holdfast.theory.base.unbounded import InUnits

__all__ = [
    "OnGrid",
    "profile_in_units",
    "profile_of",
    "profile_of_record",
    "profile_per_unit",
    "radius_of",
    "recorded_profile",
]


def profile_of(question: Statistic, terms: Terms, *, alike: bool) -> Concentration:
    """The concentration of a statistic; of a condition on rows that are alike, the binomial law."""
    row = question.row
    if row is not None and row.is_condition and alike:
        return BinomialMean(question.rows(terms.rows))
    return question.concentration(terms.rows, terms.sampling)


def recorded_profile(
    profile: Concentration, terms: Terms, question: Statistic
) -> dict[str, Any] | None:
    """The profile of a statistic as plain values; None where it is that of a mean of all rows.

    One that is no scale is written as `gamma`, with the `unit` that tolerances are a part of and
    the `error` of computing it.
    """
    if profile == terms.concentration:
        return None
    if isinstance(profile, BinomialMean):
        return {"binomial": profile.n}
    if isinstance(profile, SubExponential):
        return {"sigma": profile.sigma, "b": profile.b}
    sigma = getattr(profile, "sigma", None)
    if sigma is not None:
        return {"sigma": sigma, "b": None}
    unit = question.unit(terms.rows)
    return {"gamma": gamma_text(profile), "unit": unit, "error": question.error}


def profile_of_record(record: Mapping[str, Any] | None, terms: Terms) -> Concentration:
    """The profile that `recorded_profile` wrote."""
    if record is None:
        return terms.concentration
    if "binomial" in record:
        return BinomialMean(record["binomial"])
    if "gamma" in record:
        return OnGrid(gamma_from_text(record["gamma"]), record["error"])
    if record["b"] is None:
        return SubGaussian(record["sigma"])
    return SubExponential(record["sigma"], record["b"])


def profile_per_unit(question: Statistic, terms: Terms) -> Concentration:
    """The concentration of a statistic as a part of what tolerances are a part of."""
    profile = question.concentration(terms.rows, terms.sampling)
    if not question.unbounded:
        return profile
    return InUnits(OnGrid(profile, question.error), question.unit(terms.rows))


def profile_in_units(record: Mapping[str, Any], terms: Terms) -> Concentration:
    """The same, as a part of what tolerances are a part of."""
    profile = profile_of_record(record, terms)
    return InUnits(profile, record["unit"]) if "gamma" in record else profile


@dataclass(frozen=True, slots=True)
class OnGrid:
    """A concentration with the rounding of row values to the grid added, as offers add it."""

    profile: Concentration
    error: float = GRID_ERROR

    def log_tail(self, radius: float) -> float:
        return self.profile.log_tail(max(0.0, radius - self.error))

    def radius(self, log_p: float) -> float:
        return round_up(self.profile.radius(log_p) + self.error)


def radius_of(profile: Concentration, known: KnownVariance, rows: int, log_p: float) -> float:
    """The radius of a mean of independent rows whose variance is known to be small."""
    log_p = min(0.0, log_p)
    return min(profile.radius(log_p), Bernstein(rows, known.variance).radius(log_p))
