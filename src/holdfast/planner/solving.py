"""What is planned, each method's number, and which one is recommended."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, get_args

from holdfast.mechanisms.auto import CONTENDERS
from holdfast.mechanisms.catalogue import methods
from holdfast.planner.table import Option, PlanRequest, Solved
from holdfast.theory.base.intervals import clopper_pearson
from holdfast.theory.length.described import described_log_level
from holdfast.theory.planning import (
    Kind,
    Method,
    check_method,
    described_method,
    listed_method,
    rounds_method,
)

__all__ = ["best_of", "is_check", "option_of", "options_of", "planned_methods", "recommended_of"]

_LENGTHS = (15, 25, 35, 50)  # bits: a short question, usual ones, a long one
_LISTS = (1_000, 1_000_000)
_ROUNDS = (2, 3)
_AUTOMATIC = set(CONTENDERS)
_NOTES: dict[Kind, str] = {
    "described": "any number of them",
    "together": "chosen together: `search`, `final`",
    "not valid": "NOT valid when questions follow answers",
}


def options_of(given: PlanRequest) -> tuple[Option, ...]:
    """Every method's answer, kind by kind, each from best to worst."""
    planned = [*planned_methods(given), *map(check_method, _surprise_counts(given))]
    return tuple(_order(given, [option_of(given, method) for method in planned]))


def planned_methods(given: PlanRequest) -> list[Method]:
    """What is planned: questions by their length, and all others by every mechanism, unchecked."""
    describing, rounded = given.described != "off", given.described == "rounded"
    found = [*methods(describing=describing), *map(rounds_method, _ROUNDS)]
    if given.pots.described_share == 1.0:
        found = [method for method in found if method.kind not in ("promise", "together")]
    if describing:
        found += [described_method(bits, rounded=rounded) for bits in _LENGTHS]
        found += [listed_method(size, rounded=rounded) for size in _LISTS]
    return found


def recommended_of(given: PlanRequest, options: tuple[Option, ...]) -> Option | None:
    """What `auto` chooses, or the checks that were declared if they are better.

    Where those cannot, any promise that can; where none can, the longest description answered.
    """
    fitting = [
        option
        for option in options
        if option.possible
        and (given.solved_for != "half_width" or _reaches(option, given.declared.tolerance))
    ]
    promises = [o for o in fitting if o.kind == "promise"]
    if given.declared.surprises is None:
        promises = [o for o in promises if not is_check(o)]
    chosen = [o for o in promises if o.name in _AUTOMATIC or is_check(o)]
    if promises:
        return best_of(chosen or promises, given.solved_for)
    # The wider, the longer.
    return next((o for o in reversed(fitting) if o.kind == "described"), None)


def _surprise_counts(given: PlanRequest) -> list[int]:
    """For how many surprises guess-and-check is shown."""
    declared = given.declared
    if given.pots.described_share == 1.0:
        return []
    if declared.surprises is not None:
        return [declared.surprises]
    if declared.questions is None:
        return [0, 10, 100]
    return sorted({0, math.ceil(declared.questions / 100), math.ceil(declared.questions / 10)})


def option_of(given: PlanRequest, method: Method) -> Option:
    """The method's answer to this request."""
    rows, log_beta, n = given.known_rows, given.log_beta(method), given.rows
    k, t = given.declared.questions, given.declared.tolerance
    note, narrower = _NOTES.get(method.kind, ""), None
    if (why_not := given.why_not(method)) is not None:
        unknown: dict[str, Any] = {given.solved_for: None}
        return replace(
            Option(method.name, method.kind, method.theorem, t, k, n, why_not), **unknown
        )
    if n is None and k is not None and t is not None:
        n = method.rows(rows, k, t, log_beta)
    elif k is None and n is not None and t is not None:
        k = method.questions(rows, n, t, log_beta)
    elif n is not None and k is not None:
        width = method.half_width(rows, n, k, log_beta)
        if t is not None and width is not None and method.kind in ("promise", "described"):
            note = "fits" if width <= t else "too wide"
        if method.millibits is not None and rows.independent and given.described == "exact":
            narrower = _at_a_tenth(n, described_log_level(log_beta, method.millibits))
        return Option(method.name, method.kind, method.theorem, width, k, n, note, narrower)
    return Option(method.name, method.kind, method.theorem, t, k, n, note)


def _at_a_tenth(n: int, log_p: float) -> float:
    """The half-width of a condition that holds for a tenth of the rows."""
    low, high = clopper_pearson(n, round(n / 10), log_p)
    return (high - low) / 2


def is_check(option: Option) -> bool:
    return option.theorem == "claims_half_width"


def _reaches(option: Option, tolerance: float | None) -> bool:
    return tolerance is None or (option.half_width or math.inf) <= tolerance


def best_of(options: list[Option], solved: Solved) -> Option:
    """The narrowest, the most questions, or the fewest rows."""
    match solved:
        case "half_width":
            return min(options, key=lambda o: o.half_width or math.inf)
        case "questions":
            return max(options, key=lambda o: o.questions or 0)
        case "rows":
            return min(options, key=lambda o: o.rows or math.inf)


def _order(given: PlanRequest, options: list[Option]) -> list[Option]:
    """Kind by kind, each from best to worst; what is described, and shorter, comes first."""
    kinds = get_args(Kind)
    sign = -1 if given.solved_for == "questions" else 1

    def rank(option: Option) -> tuple[int, bool, float]:
        number = getattr(option, given.solved_for)
        bad = number is None or not option.possible
        return kinds.index(option.kind), bad, 0.0 if bad else sign * number

    return sorted(options, key=rank)
