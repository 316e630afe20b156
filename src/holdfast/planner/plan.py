"""The planner: how accurate, how many questions, or how many rows, for every mechanism.

`plan(rows=20_000, questions=1_000)` solves for the half-width, `plan(rows=..., tolerance=...)` for
the questions, `plan(questions=..., tolerance=...)` for the rows; with all three it says what fits.
It touches no data and costs nothing.
"""

from __future__ import annotations

import math

from holdfast import require
from holdfast.data.sampling import Declared, Sampling, sampling_of
from holdfast.errors import ToleranceTooTight
from holdfast.mechanisms.catalogue import methods
from holdfast.mechanisms.terms import Declarations
from holdfast.planner.table import Option, Plan, PlanRequest, Solved, show
from holdfast.theory.planning import (
    MOST_QUESTIONS,
    MOST_ROWS,
    Kind,
    Method,
    check_method,
)
from holdfast.wording import percent, plural

__all__ = ["plan"]


def plan(
    *,
    rows: int | None = None,
    questions: int | None = None,
    tolerance: float | None = None,
    surprises: int | None = None,
    confidence_level: float = 0.95,
    sampling: str | Sampling = "independent",
) -> Plan:
    """Solve for whichever of `rows`, `questions` and `tolerance` is not given, for every mechanism.

    `tolerance` is the half-width as a fraction of the statistic's range. `surprises` is how many
    guesses you expect to be refuted; without it guess-and-check is shown for none, 1 % and 10 %.
    Raises `InvalidArgument` for a bad number and `ToleranceTooTight`, with what is possible, for a
    request that no mechanism meets.
    """
    n = None if rows is None else require.integer_between("rows", rows, 1, MOST_ROWS)
    if questions is not None:
        require.integer_between("questions", questions, 1, MOST_QUESTIONS)
    declared = Declarations(
        tolerance, questions, surprises, confidence_level, sampling_of(sampling)
    )
    given = PlanRequest(n, declared)
    solved = given.solved_for
    candidates = [*methods(), *(check_method(f) for f in _surprise_counts(declared))]
    options = tuple(_order(given, [_option(given, method) for method in candidates]))
    contenders = [o for o in options if o.kind == "promise" and o.possible]
    if declared.surprises is None:
        contenders = [o for o in contenders if not _is_check(o)]
    if declared.tolerance is not None and solved == "half_width":
        contenders = [o for o in contenders if _reaches(o, declared.tolerance)]
    if not contenders:
        raise ToleranceTooTight(_what_is_possible(given))
    recommended = _best(contenders, solved)
    return Plan(given, options, recommended, _reason(given, recommended, options))


def _surprise_counts(declared: Declarations) -> list[int]:
    """For how many surprises guess-and-check is shown."""
    if declared.surprises is not None:
        return [declared.surprises]
    if declared.questions is None:
        return [0, 10, 100]
    return sorted({0, math.ceil(declared.questions / 100), math.ceil(declared.questions / 10)})


def _option(given: PlanRequest, method: Method) -> Option:
    """The method's answer to this request."""
    rows, log_beta, n = given.known_rows, given.log_beta, given.rows
    k, t = given.declared.questions, given.declared.tolerance
    note = "NOT valid when questions follow answers" if method.kind == "not valid" else ""
    if not method.applies(rows):
        note = "needs independent rows"
    elif n is None and k is not None and t is not None:
        n = method.rows(rows, k, t, log_beta)
    elif k is None and n is not None and t is not None:
        k = method.questions(rows, n, t, log_beta)
    elif n is not None and k is not None:
        width = method.half_width(rows, n, k, log_beta)
        if t is not None and width is not None and method.kind == "promise":
            note = "fits" if width <= t else "too wide"
        return Option(method.name, method.kind, method.theorem, width, k, n, note)
    return Option(method.name, method.kind, method.theorem, t, k, n, note)


def _is_check(option: Option) -> bool:
    return option.theorem == "check_half_width"


def _reaches(option: Option, tolerance: float) -> bool:
    return option.half_width is not None and option.half_width <= tolerance


def _best(options: list[Option], solved: Solved) -> Option:
    """The narrowest, the most questions, or the fewest rows."""
    match solved:
        case "half_width":
            return min(options, key=lambda o: o.half_width or math.inf)
        case "questions":
            return max(options, key=lambda o: o.questions or 0)
        case "rows":
            return min(options, key=lambda o: o.rows or math.inf)


def _order(given: PlanRequest, options: list[Option]) -> list[Option]:
    """Promises from best to worst, then published methods likewise, then what is not valid."""
    kinds: list[Kind] = ["promise", "reference", "not valid"]
    sign = -1 if given.solved_for == "questions" else 1

    def rank(option: Option) -> tuple[int, bool, float]:
        number = getattr(option, given.solved_for)
        bad = number is None or not option.possible
        return kinds.index(option.kind), bad, 0.0 if bad else sign * number

    return sorted(options, key=rank)


def _reason(given: PlanRequest, best: Option, options: tuple[Option, ...]) -> str:
    """One sentence: why this one, and what a guess would buy."""
    number = getattr(best, given.solved_for)
    what = {
        "half_width": f"the narrowest intervals (+-{show(number)})",
        "questions": f"the most questions ({show(number)})",
        "rows": f"the fewest rows ({show(number)})",
    }[given.solved_for]
    needs = "with the guesses you expect" if _is_check(best) else "without needing a guess"
    sentence = f"{best.name} is recommended: {what} {needs}"
    splitting = next((o for o in options if o.name == "sample splitting" and o.possible), None)
    if splitting is not None and splitting is not best:
        sentence += f"; sample splitting: {_amount(given, splitting)}"
    sentence += "."
    checks = [o for o in options if _is_check(o) and o.possible and o is not best]
    if checks and given.declared.surprises is None:
        few = _best(checks, given.solved_for)
        sentence += f" If you can guess first, {few.name}: {_amount(given, few)}."
    return sentence


def _amount(given: PlanRequest, option: Option) -> str:
    """The number solved for, with its unit."""
    number = show(getattr(option, given.solved_for))
    return f"+-{number}" if given.solved_for == "half_width" else f"{number} {given.solved_for}"


def _what_is_possible(given: PlanRequest) -> str:
    """Why nothing fits, and the nearest requests that do."""
    rows, log_beta, said = given.known_rows, given.log_beta, given.declared
    usable = [m for m in methods() if m.kind == "promise" and m.applies(rows)]
    asked = f"a half-width {f'of {said.tolerance:g}' if said.tolerance else 'below 0.5'}"
    if said.questions is not None:
        asked += f" for {plural(said.questions, 'adaptive question')}"
    if given.rows is not None:
        asked += f" on {given.rows:,} rows"
    if said.surprises is None:
        asked += " without guesses"
    text = f"No mechanism has {asked} at {percent(said.level)}."
    hints = []
    if given.rows is not None and said.questions is not None:
        widths = [
            width
            for method in usable
            if (width := method.half_width(rows, given.rows, said.questions, log_beta))
        ]
        if widths:
            hints.append(f"half-width {show(min(widths))} with these rows and questions")
    tolerance = said.tolerance or 0.1
    if given.rows is not None:
        counts = [c for m in usable if (c := m.questions(rows, given.rows, tolerance, log_beta))]
        if counts:
            hints.append(f"{max(counts):,} questions at half-width {tolerance:g} with these rows")
    if not isinstance(given.sampling, Declared):
        k = said.questions or 1
        needed = [n for m in usable if (n := m.rows(rows, k, tolerance, log_beta))]
        if needed:
            hints.append(
                f"{plural(k, 'question')} at half-width {tolerance:g} with {min(needed):,} rows"
            )
    if hints:
        text += f" Possible: {'; '.join(hints)}."
    return text
