"""Typically stable answers: Laplace or Gaussian noise that follows the concentration (BF1, BF2).

The interval comes from the leakage theorem: with half of the question's failure probability for the
sample (radius alpha after what has leaked) and half for the tail of the noise. Without options the
noise of each question is what its half-width leaves; with eta= it is that of the papers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.mechanisms.kind import MechanismKind, Planned, chosen_options, short_half_width
from holdfast.mechanisms.laws.laplace import LAPLACE
from holdfast.mechanisms.laws.law import Law
from holdfast.mechanisms.laws.normal import NORMAL
from holdfast.mechanisms.leakage import Calibration, Leakage, half_width_on, tail_part
from holdfast.mechanisms.terms import WHOLE_RANGE, Terms
from holdfast.question.row import GRID_ERROR
from holdfast.theory.base.safeside import round_up
from holdfast.theory.leakage.equal_width import (
    gaussian_leakage_fits,
    gaussian_leakage_half_width,
    laplace_fits,
    laplace_half_width,
)
from holdfast.theory.planning import Method, on_account

__all__ = ["TYPICAL_GAUSSIAN", "TYPICAL_LAPLACE"]

_TOLERANCE = 0.05


def _calibration(parameters: Mapping[str, Any]) -> Calibration | None:
    if parameters["eta"] is None:
        return None
    return Calibration(
        parameters["version"], parameters["eta"], parameters.get("tau") or 0.0, parameters["nu"]
    )


def _parameters(law: Law, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options, checked and complete."""
    defaults: dict[str, Any] = {"version": None, "eta": None, "nu": None, "reveal": None}
    if law is NORMAL:
        defaults["tau"] = None
    chosen = chosen_options(f"typical {law.name}", options, defaults)
    if chosen["eta"] is None:
        extra = [name for name in chosen if chosen[name] is not None]
        if extra:
            raise InvalidArgument(
                f"{extra[0]}= goes with eta=, which was not given; give eta= too, or leave it "
                "out for the noise that the half-width leaves."
            )
        return chosen
    chosen["eta"] = require.between("eta", chosen["eta"], 1e-3, 100.0)
    chosen["version"] = require.integer_between("version", chosen["version"] or 2, 1, 2)
    probabilities = {"nu": 1e-6} if law is LAPLACE else {"nu": 1e-6, "tau": 1e-6}
    for name, default in probabilities.items():
        value = default if chosen[name] is None else chosen[name]
        chosen[name] = require.between(name, value, 1e-300, 1.0, open_high=True)
    if chosen["reveal"] is not None:
        ends = {"open_low": True, "open_high": True}
        chosen["reveal"] = require.between("reveal", chosen["reveal"], 0.0, 1.0, **ends)
    return chosen


def _plan(law: Law, wanted: Terms, options: Mapping[str, Any]) -> Planned:
    parameters = _parameters(law, options)
    share = parameters["reveal"] or 0.0
    if share and wanted.questions is None:
        raise InvalidArgument(
            f"reveal={share:g} is kept for a statistic chosen after all answers, of which there "
            "must be a greatest number: give questions=, or leave reveal out."
        )
    planned = replace(wanted, reveal_share=share)
    return Planned(_half_width(law, planned, parameters), parameters, reveal_share=share)


def _half_width(law: Law, wanted: Terms, parameters: Mapping[str, Any]) -> float:
    """The declared half-width, or the one that so many questions can have."""
    if wanted.tolerance is not None:
        return wanted.tolerance
    if wanted.questions is None:
        if parameters["eta"] is not None:
            raise InvalidArgument(
                f"with eta={parameters['eta']:g} the half-width depends on how many questions are "
                "asked: give questions=, or a tolerance= at which to stop."
            )
        return _TOLERANCE
    calibration = _calibration(parameters)
    width = _planned_width(law, calibration, wanted, wanted.questions)
    rounded = short_half_width(width) if width < WHOLE_RANGE else WHOLE_RANGE
    if rounded >= WHOLE_RANGE:
        raise InvalidArgument(
            f"{wanted.rows:,} rows cannot answer {wanted.questions:,} questions with any "
            f"half-width below 0.5 by typical {law.name} noise"
            + ("" if calibration is None else f" for eta={parameters['eta']:g}")
            + "; declare fewer questions, or use more rows."
        )
    return rounded


def _planned_width(
    law: Law, calibration: Calibration | None, wanted: Terms, questions: int
) -> float:
    """The half-width of all declared questions: of the last one, where the noise is declared."""
    profile = wanted.concentration
    if calibration is None:
        width = laplace_half_width if law is LAPLACE else gaussian_leakage_half_width
        # The grid costs less than this part of the half-width.
        return width(profile, questions, wanted.log_beta) * 1.00001 + 2**-29
    grid = calibration.grid(profile, GRID_ERROR)
    log_share = wanted.log_share(1)
    log_part = log_share + math.log(1 - tail_part(law))
    nats, radius = 0.0, math.inf
    for _ in range(questions):
        radius = round_up(profile.radius(min(0.0, log_part - nats)) + GRID_ERROR)
        if grid is None or radius >= WHOLE_RANGE:
            return math.inf
        nats += law.log_charge(radius, grid)
    return math.inf if grid is None else half_width_on(law, grid, radius, log_share) * 1.00001


def _kind(law: Law, title: str, method: Method, colour: str) -> MechanismKind:
    tau = {"tau": "the mass outside that ratio (default 1e-6)"} if law is NORMAL else {}
    return MechanismKind(
        name=method.name,
        summary=f"The sample's value plus {title} noise that follows its concentration: every "
        "answer is typically stable, on one leakage account with all checks.",
        needs="Nothing but a concentration: any rows, any statistic.",
        promises="Theorem L; the certificate of stability is holdout.stability()",
        theorem=method.theorem,
        method=method,
        colour=colour,
        plan=lambda wanted, options: _plan(law, wanted, options),
        build=lambda _terms, parameters: Leakage(f"{method.name}/1", law, _calibration(parameters)),
        options={
            "eta": "closeness of an answer on two typical samples (default: what the half-width "
            "leaves)",
            "nu": "the share of samples that are not typical (default 1e-6, with eta)",
            **tau,
            "version": "1 or 2, of the paper whose noise it is (default 2, with eta)",
            "reveal": "the part of the failure probability that is kept for one statistic shown "
            "exactly at the end, by near independence (default none; with eta and questions)",
        },
    )


TYPICAL_LAPLACE = _kind(
    LAPLACE,
    "Laplace",
    on_account("typical laplace", "laplace_half_width", laplace_half_width, laplace_fits),
    "#9467bd",
)
TYPICAL_GAUSSIAN = _kind(
    NORMAL,
    "Gaussian",
    on_account(
        "typical gaussian",
        "gaussian_leakage_half_width",
        gaussian_leakage_half_width,
        gaussian_leakage_fits,
    ),
    "#c5a5de",
)
