"""How GuessAndCheck with declared mistakes is planned, and its entry of the catalogue."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.mechanisms.claims import CHECKS, Claims
from holdfast.mechanisms.counted import CountedAnswers, CountedChecks, CountedTree
from holdfast.mechanisms.kind import MechanismKind, Planned, chosen_options, short_half_width
from holdfast.mechanisms.room import declared_or_least
from holdfast.mechanisms.terms import WHOLE_RANGE, Terms
from holdfast.question.row import GRID_ERROR
from holdfast.theory.base.concentration import Concentration
from holdfast.theory.base.safeside import largest_integer, round_up, smallest_integer
from holdfast.theory.planning import MOST_QUESTIONS, MOST_ROWS, KnownRows, Method

__all__ = ["GUESS_AND_CHECK"]

_FINEST = 1e-6  # accuracy
_LOG_USUAL = math.log(0.3)  # a level at which Hoeffding's radius is two standard errors


def _plan(wanted: Terms, options: Mapping[str, Any]) -> Planned:
    chosen = chosen_options(
        "halting guess and check", options, {"mistakes": None, "accuracy": None}
    )
    k = wanted.questions
    if k is None:
        raise InvalidArgument(
            "halting guess and check counts every way that the answers can go, and needs to know "
            "how many questions there will be: give questions=."
        )
    given = wanted.surprises if chosen["mistakes"] is None else chosen["mistakes"]
    m = require.integer_between("mistakes", k if given is None else given, 0, k)
    tree = CountedTree(k, m, _cells(wanted.concentration, chosen["accuracy"]))
    least = _width(wanted.concentration, tree, wanted.log_beta)
    if wanted.tolerance is None and least < WHOLE_RANGE:
        least = short_half_width(least)
    parameters = {"questions": k, "mistakes": m, "cells": tree.cells}
    return Planned(declared_or_least(wanted, least), parameters)


def _cells(profile: Concentration, accuracy: float | None) -> int:
    """So many that rounding to them errs by the accuracy: two standard errors, if none is named."""
    if accuracy is None:
        accuracy = min(0.25, max(_FINEST, profile.radius(_LOG_USUAL)))
    eta = require.between("accuracy", accuracy, _FINEST, 0.5, open_high=True)
    return math.ceil(1 / (2 * eta)) + 1


def _width(profile: Concentration, tree: CountedTree, log_beta: float) -> float:
    """The half-width of a mean of all rows."""
    radius = profile.radius(min(0.0, tree.log_level(log_beta)))
    return tree.half_width(round_up(radius + GRID_ERROR))


def _planned_width(profile: Concentration, k: int, log_beta: float) -> float:
    """Of k questions that may all be mistakes."""
    return _width(profile, CountedTree(k, k, _cells(profile, None)), log_beta)


def _method() -> Method:
    """How it plans: for every profile, by search."""

    def half_width(rows: KnownRows, n: int, k: int, log_beta: float) -> float | None:
        found = _planned_width(rows.profile(n), k, log_beta)
        return found if found < WHOLE_RANGE else None

    def questions(rows: KnownRows, n: int, t: float, log_beta: float) -> int | None:
        profile = rows.profile(n)
        fits = partial(_fits, profile, log_beta, t)
        return largest_integer(fits, most=MOST_QUESTIONS) or None

    def rows_needed(rows: KnownRows, k: int, t: float, log_beta: float) -> int | None:
        return smallest_integer(lambda n: _fits(rows.profile(n), log_beta, t, k), most=MOST_ROWS)

    return Method(
        "halting guess and check",
        "promise",
        "guess_and_check_width",
        False,
        half_width,
        questions,
        rows_needed,
    )


def _fits(profile: Concentration, log_beta: float, t: float, k: int) -> bool:
    return _planned_width(profile, k, log_beta) <= t


def _tree(parameters: Mapping[str, Any]) -> CountedTree:
    return CountedTree(parameters["questions"], parameters["mistakes"], parameters["cells"])


def _claiming(_: Terms, parameters: Mapping[str, Any], claims: Claims) -> CountedChecks | None:
    return CountedChecks(_tree(parameters)) if claims is CHECKS else None


GUESS_AND_CHECK = MechanismKind(
    name="halting guess and check",
    summary="Guesses that are confirmed, and at most so many declared mistakes, answered by cells "
    "without noise; one more mistake halts it.",
    needs="Declared questions, and guesses: from you, from training rows or a guesser.",
    promises="Theorem K",
    theorem="guess_and_check_width",
    method=_method(),
    plan=_plan,
    build=lambda _terms, parameters: CountedAnswers(_tree(parameters)),
    claiming=_claiming,
    options={
        "mistakes": "m, how many guesses may be refuted, or missing (default: the declared "
        "surprises, or all questions)",
        "accuracy": "eta, how far from the sample's value a confirmed guess may be, and an answer "
        "to a mistake (default: two standard errors of the worst question)",
    },
)
