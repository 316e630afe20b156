"""Typically stable answers: Laplace or Gaussian noise that follows the concentration (BF1, BF2).

The interval comes from the leakage theorem: with half of the question's failure probability for the
sample (radius alpha after what has leaked) and half for the tail of the noise. Without options the
noise of each question is what its half-width leaves; with eta= it is that of the papers. With
theorem= Theorem 6.1 chooses eta, nu, tau and the part of the noise's tail, for the concentration
and the number of questions that were declared: what it promises is told beside what the account
keeps, which is never wider than the half-width of the ledger.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.mechanisms.catalogue import MechanismKind, Planned, chosen_options, short_half_width
from holdfast.mechanisms.leakage import Calibration, Leakage, half_width_on
from holdfast.mechanisms.noise import LAPLACE, NORMAL, Law
from holdfast.mechanisms.terms import WHOLE_RANGE, Terms
from holdfast.papers.theorems.accuracy import (
    ACCURACY_CHAINS,
    NOISES,
    Accuracy,
    AccuracyNoise,
    accuracy_log_failure,
)
from holdfast.papers.theorems.other_accounts import (
    gaussian_leakage_fits,
    gaussian_leakage_half_width,
    laplace_fits,
    laplace_half_width,
)
from holdfast.question.row import GRID_ERROR
from holdfast.theory.base.safeside import round_up
from holdfast.theory.notions.composing import GDP
from holdfast.theory.planning import Method, on_account
from holdfast.theory.transfer.differential_privacy import gdp_at_delta
from holdfast.wording import plural, upwards

_TOLERANCE = 0.05
_LOG_TAU = math.log(1e-6)  # at which the distance of Gaussian answers is told as (eta, tau)
_THEOREM = "6.1"
# What theorem= may be: the narrowest form has the theorem's name alone.
_FORMS = {f"{_THEOREM}{'' if form == 'leakage' else f' {form}'}": form for form in ACCURACY_CHAINS}


def _calibration(parameters: Mapping[str, Any]) -> Calibration | None:
    if parameters.get("theorem") is not None:
        return _calibration_of(_accuracy(parameters), parameters)
    if parameters["eta"] is None:
        return None
    return Calibration.of(
        parameters["version"], parameters["eta"], parameters.get("tau") or 0.0, parameters["nu"]
    )


def _parameters(law: Law, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options, checked and complete."""
    defaults: dict[str, Any] = {"version": None, "eta": None, "nu": None, "reveal": None}
    if law is NORMAL:
        defaults["tau"] = None
    chosen = chosen_options(f"typical {law.name}", options, {**defaults, "theorem": None})
    theorem = chosen.pop("theorem")
    if theorem is not None:
        return _theorem_parameters(str(theorem), chosen)
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


def _theorem_parameters(theorem: str, others: Mapping[str, Any]) -> dict[str, Any]:
    extra = [name for name, value in others.items() if value is not None]
    if extra:
        raise InvalidArgument(
            f"theorem={theorem!r} chooses {extra[0]} itself; leave {extra[0]} out, or theorem."
        )
    return {"theorem": require.one_of("theorem", tuple(_FORMS), theorem)}


def _plan(law: Law, wanted: Terms, options: Mapping[str, Any]) -> Planned:
    parameters = _parameters(law, options)
    if "theorem" in parameters:
        return _planned_by_theorem(law, wanted, parameters["theorem"])
    share = parameters["reveal"] or 0.0
    if share and wanted.questions is None:
        raise InvalidArgument(
            f"reveal={share:g} is kept for a statistic chosen after all answers, of which there "
            "must be a greatest number: give questions=, or leave reveal out."
        )
    planned = replace(wanted, reveal_share=share)
    width = _half_width(law, planned, parameters)
    return Planned(width, {**parameters, "jointly": True}, reveal_share=share)


def _build(law: Law, name: str, parameters: Mapping[str, Any]) -> Leakage:
    """Vectors of Laplace answers were charged coordinate by coordinate in older ledgers."""
    jointly = parameters.get("jointly", law is NORMAL)
    return Leakage(f"{name}/1", law, _calibration(parameters), jointly)


# Theorem 6.1: eta, nu, tau and the noise of k questions of one concentration, at beta.


def _planned_by_theorem(law: Law, wanted: Terms, theorem: str) -> Planned:
    k, form = wanted.questions, _FORMS[theorem]
    if k is None:
        raise InvalidArgument(
            f"Theorem {_THEOREM} is about a number of questions that is known: give questions=."
        )
    name: AccuracyNoise = "laplace" if law is LAPLACE else "gaussian"
    profile = wanted.concentration
    accuracy = ACCURACY_CHAINS[form](k, wanted.log_beta, profile, name)
    if accuracy.half_width == math.inf:
        raise InvalidArgument(
            f"Theorem {_THEOREM} ({form} form) needs a tail at ln nu = {accuracy.log_nu:.4g}, and "
            "the declared concentration ends before; declare more of it, or fewer questions."
        )
    numbers = {each: None if x == -math.inf else x for each, x in asdict(accuracy).items()}
    parameters = {"theorem": theorem, "noise": name, "k": k, "log_beta": wanted.log_beta}
    parameters["accuracy"] = numbers
    calibration = _calibration_of(accuracy, parameters)
    planned, promised = _planned_width(law, calibration, wanted, k), accuracy.half_width
    grid = calibration.grid(profile, GRID_ERROR)
    if grid is not None:  # with the grid's rounding
        alpha = round_up(profile.radius(accuracy.log_nu) + GRID_ERROR)
        log_each = accuracy.log_beta2 - math.log(k)
        promised = max(promised, half_width_on(law, grid, alpha, log_each))
    if form == "leakage":  # which is the account's own theorem, at equal parts of the level
        promised = max(promised, planned)
    text = (
        f"Theorem {_THEOREM} ({form} form) promises +-{upwards(promised)} of the unit for "
        f"{plural(k, 'question')}, and the account keeps +-{upwards(planned)} to the last of them "
        f"(eta {calibration.eta:.3g}, ln nu {calibration.log_nu:.4g}"
        + (f", ln tau {calibration.log_tau:.4g})" if law is NORMAL else ")")
    )
    if wanted.tolerance is not None:
        return Planned(wanted.tolerance, parameters, told=text)
    width = max(promised, planned)
    if width >= WHOLE_RANGE:
        raise InvalidArgument(
            f"{text}; the range is +-{WHOLE_RANGE:g}, so that nothing would be said. Declare fewer "
            f"questions, use more rows, or another form of the theorem: {', '.join(_FORMS)}."
        )
    return Planned(short_half_width(width), parameters, told=text)


def _accuracy(parameters: Mapping[str, Any]) -> Accuracy:
    """Parameters of the theorem, as they were recorded: null for the logarithm of 0."""
    numbers = parameters["accuracy"]
    return Accuracy(**{name: -math.inf if x is None else x for name, x in numbers.items()})


def _calibration_of(accuracy: Accuracy, parameters: Mapping[str, Any]) -> Calibration:
    """The noise of the parameters, in the terms of the papers; nothing of the level is wasted.

    The leakage chain of Gaussian noise has a distance, which is told as (eta, tau) at one tau.
    """
    eta, log_tau = accuracy.eta, accuracy.log_tau
    if _FORMS[parameters["theorem"]] == "leakage" and parameters["noise"] == "gaussian":
        eta, log_tau = gdp_at_delta(GDP(eta), _LOG_TAU).epsilon, _LOG_TAU
    tail = math.exp(accuracy.log_beta2 - parameters["log_beta"])
    return Calibration(2, eta, log_tau, accuracy.log_nu, tail)


def _fault(terms: Terms, parameters: Mapping[str, Any]) -> str | None:
    """Whether the opening's parameters keep to Theorem 6.1, whatever they were chosen for."""
    if parameters.get("theorem") is None:
        return None
    if (parameters["k"], parameters["log_beta"]) != (terms.questions, terms.log_beta):
        return f"the opening's Theorem {_THEOREM} is not about its questions and its level"
    accuracy, form = _accuracy(parameters), _FORMS[parameters["theorem"]]
    noise = NOISES[parameters["noise"]]
    if accuracy_log_failure(noise, form, parameters["k"], accuracy) > parameters["log_beta"]:
        return f"the opening's parameters are not those of Theorem {_THEOREM}"
    return None


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
    log_share, tail = wanted.log_share(1), calibration.tail
    log_part = log_share + math.log1p(-tail)
    nats, radius = 0.0, math.inf
    for _ in range(questions):
        if grid is None:
            return math.inf
        radius = round_up(profile.radius(min(0.0, log_part - nats)) + GRID_ERROR)
        nats += law.log_charge(radius, grid)
    if grid is None:
        return math.inf
    return half_width_on(law, grid, radius, log_share + math.log(tail)) * 1.00001


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
        build=lambda _terms, parameters: _build(law, method.name, parameters),
        fault=lambda terms, parameters, _questions: _fault(terms, parameters),
        options={
            "eta": "closeness of an answer on two typical samples (default: what the half-width "
            "leaves)",
            "nu": "the share of samples that are not typical (default 1e-6, with eta)",
            **tau,
            "version": "1 or 2, of the paper whose noise it is (default 2, with eta)",
            "theorem": "6.1, 6.1 direct or 6.1 literal: eta, nu, tau and the noise by Theorem 6.1, "
            "for the declared concentration and questions",
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
