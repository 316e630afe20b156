"""Planner: how accurate, how many questions, or how many rows, for every mechanism.

`plan(rows=20_000, questions=1_000)` solves for the half-width, `plan(rows=..., tolerance=...)` for
the questions, `plan(questions=..., tolerance=...)` for the rows; with all three it says what fits.
It touches no data and costs nothing.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args, overload

from holdfast import require
from holdfast.data.design import NO_DESIGN
from holdfast.data.sampling import Declared, Independent, Sampling, sampling_of
from holdfast.did_you_mean import checks_arguments
from holdfast.errors import InvalidArgument, ToleranceTooTight
from holdfast.mechanisms.catalogue import CONTENDERS, methods
from holdfast.mechanisms.median_noise import MEDIAN_NOISE
from holdfast.mechanisms.terms import Declarations, Describing, Pots
from holdfast.planner.table import Option, Plan, PlanRequest, Solved, show
from holdfast.theory.base.intervals import clopper_pearson
from holdfast.theory.length.levels import described_log_level
from holdfast.theory.planning import (
    MOST_QUESTIONS,
    MOST_ROWS,
    Kind,
    Method,
    check_method,
    described_method,
    listed_method,
    rounds_method,
)
from holdfast.wording import percent, plural

if TYPE_CHECKING:
    from holdfast.planner.gate_power import GatePlan
    from holdfast.planner.question_plan import QuestionPlan

# What is planned, each method's number, and which one is recommended.


_LENGTHS = (15, 25, 35, 50)  # bits: a short question, usual ones, a long one
_LISTS = (1_000, 1_000_000)
_ROUNDS = (2, 3)
_AUTOMATIC = set(CONTENDERS)
_NOTES: dict[Kind, str] = {
    "described": "no limit on conditions",
    "together": "chosen together: `search`, `final`",
    "domain": "questions over so few values alone",
    "not valid": "NOT valid when questions follow answers",
}


def options_of(request: PlanRequest) -> tuple[Option, ...]:
    """Every method's answer, kind by kind, each from best to worst."""
    planned = [*planned_methods(request), *map(check_method, _surprise_counts(request))]
    return sorted_options(request, [option_of(request, method) for method in planned])


def planned_methods(request: PlanRequest) -> list[Method]:
    """Methods to plan: questions by their length, and all others by every mechanism, unchecked."""
    describing, rounded = request.described != "off", request.described == "rounded"
    candidates = [*methods(describing=describing), *map(rounds_method, _ROUNDS)]
    if request.pots.described_share == 1.0:
        candidates = [method for method in candidates if method.kind not in ("promise", "together")]
    if describing:
        candidates += [described_method(bits, rounded=rounded) for bits in _LENGTHS]
    if describing and request.pots.described_share < 1.0:
        candidates += [listed_method(size, rounded=rounded) for size in _LISTS]
    return candidates


def recommended_of(request: PlanRequest, options: tuple[Option, ...]) -> Option | None:
    """Recommended option: what `auto` chooses, or the declared checks if they are better.

    Where those cannot, any promise that can; where none can, the longest description answered.
    """
    fitting = [
        option
        for option in options
        if option.possible
        and (request.solved_for != "half_width" or _reaches(option, request.declared.tolerance))
    ]
    promises = [o for o in fitting if o.kind == "promise"]
    if request.declared.surprises is None:
        promises = [o for o in promises if not is_check(o)]
    chosen = [o for o in promises if o.name in _AUTOMATIC or is_check(o)]
    if promises:
        return best_of(chosen or promises, request.solved_for)
    # The wider, the longer.
    return next((o for o in reversed(fitting) if o.kind == "described"), None)


def _surprise_counts(request: PlanRequest) -> list[int]:
    """For how many surprises guess-and-check is shown."""
    declared = request.declared
    if request.pots.described_share == 1.0:
        return []
    if declared.surprises is not None:
        return [declared.surprises]
    if declared.questions is None:
        return [0, 10, 100]
    return sorted({0, math.ceil(declared.questions / 100), math.ceil(declared.questions / 10)})


def option_of(request: PlanRequest, method: Method) -> Option:
    """The method's answer to this request."""
    rows, log_beta, n = request.known_rows, request.log_beta(method), request.rows
    k, t = request.declared.questions, request.declared.tolerance
    note, narrower = _NOTES.get(method.kind, ""), None
    if (why_not := request.why_not(method)) is not None:
        unknown: dict[str, Any] = {request.solved_for: None}
        return replace(
            Option(method.name, method.kind, method.theorem, t, k, n, why_not), **unknown
        )
    if n is None and k is not None and t is not None:
        n = method.rows(rows, k, t, log_beta)
        note = note if n else f"more than 10^{round(math.log10(MOST_ROWS))}"
    elif k is None and n is not None and t is not None:
        k = method.questions(rows, n, t, log_beta)
        note = note if k else f"not one: +-{show(method.width(rows, n, 1, log_beta))}"
    elif n is not None and k is not None:
        width, beyond = method.half_width(rows, n, k, log_beta), None
        if width is None:
            beyond = method.width(rows, n, k, log_beta)
            note = "; ".join(part for part in (note, "wider than the range") if part)
        if t is not None and width is not None and method.kind in ("promise", "described"):
            note = "fits" if width <= t else "too wide"
        if method.millibits is not None and rows.independent and request.described == "exact":
            narrower = _at_a_tenth(n, described_log_level(log_beta, method.millibits))
        return Option(method.name, method.kind, method.theorem, width, k, n, note, narrower, beyond)
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


def sorted_options(request: PlanRequest, options: list[Option]) -> tuple[Option, ...]:
    """Kind by kind, each from best to worst; what is described, and shorter, comes first."""
    kinds = get_args(Kind)
    sign = -1 if request.solved_for == "questions" else 1

    def rank(option: Option) -> tuple[int, bool, float]:
        number = getattr(option, request.solved_for)
        bad = number is None or not option.possible
        size = option.beyond or math.inf if bad else sign * number
        return kinds.index(option.kind), bad, size

    return tuple(sorted(options, key=rank))


@overload
def plan(
    *,
    rows: int | None = None,
    questions: int | None = None,
    tolerance: float | None = None,
    surprises: int | None = None,
    confidence_level: float = 0.95,
    sampling: str | Sampling = "independent",
    described: Describing | None = None,
    described_share: float | None = None,
) -> Plan: ...
@overload
def plan(
    *,
    rows: int,
    question: str,
    schema: Any = None,
    confidence_level: float = 0.95,
    sampling: str | Sampling = "independent",
    described: Describing | None = None,
    described_share: float | None = None,
) -> QuestionPlan: ...
@overload
def plan(
    *,
    rows: int,
    candidates: int,
    disagreement: float,
    confidence_level: float = 0.95,
    described: Describing | None = None,
    described_share: float | None = None,
) -> GatePlan: ...
@checks_arguments("plan")
def plan(
    *,
    rows: int | None = None,
    questions: int | None = None,
    tolerance: float | None = None,
    surprises: int | None = None,
    confidence_level: float = 0.95,
    sampling: str | Sampling = "independent",
    described: Describing | None = None,
    described_share: float | None = None,
    question: str | None = None,
    schema: Any = None,
    candidates: int | None = None,
    disagreement: float | None = None,
) -> Plan | QuestionPlan | GatePlan:
    """Solve for whichever of `rows`, `questions` and `tolerance` is not given, for every mechanism.

    `tolerance` is the half-width as a fraction of the statistic's range. `surprises` is how many
    guesses you expect to be refuted; without it guess-and-check is shown for none, 1 % and 10 %.
    `described` and `described_share` are what a ledger is opened with (default: "exact" and 0.4);
    mechanisms that must know beforehand all that leaks are planned with "off" only.

    With `rows` and a `question` it says what that text would get, its table described by `schema`
    (see `bits`, or as in `open`; without one a table is assumed); with `rows`, `candidates` and
    their `disagreement` with the incumbent (a part of the rows), what gates can show.

    Raises `InvalidArgument` for a bad number and `ToleranceTooTight`, with what is possible, for a
    request that no mechanism meets.
    """
    n = None if rows is None else require.integer_between("rows", rows, 1, MOST_ROWS)
    if questions is not None:
        require.integer_between("questions", questions, 1, MOST_QUESTIONS)
    declared = Declarations(
        tolerance,
        questions,
        surprises,
        confidence_level,
        sampling_of(sampling),
        described=described,
        described_share=described_share,
    )
    _require_one_plan(
        {"questions": questions, "tolerance": tolerance, "surprises": surprises},
        {"question": question, "schema": schema},
        {"candidates": candidates, "disagreement": disagreement},
    )
    if question is not None or schema is not None:
        return _question_plan(n, question, schema, declared)
    if candidates is not None or disagreement is not None:
        return _gate_plan(n, candidates, disagreement, declared)
    request = PlanRequest(n, declared)
    options = options_of(request)
    recommended = recommended_of(request, options)
    if recommended is None:
        raise ToleranceTooTight(_what_is_possible(request))
    alone = _undescribed(request, recommended)
    if alone is not None and _is_beaten(recommended, options, request.solved_for):
        recommended = replace(
            alone,
            name=f"{alone.name}, nothing described",
            note=f"open it with mechanism={alone.name!r}",
        )
        options = sorted_options(request, [*options, recommended])
    return Plan(request, options, recommended, _reason(request, recommended, options))


def _require_one_plan(*groups: dict[str, Any]) -> None:
    """Numbers of one kind of plan are not given for another."""
    named = [[name for name, value in group.items() if value is not None] for group in groups]
    firsts = [names[0] for names in named if names]
    if len(firsts) > 1:
        raise InvalidArgument(
            f"{firsts[0]} and {firsts[1]} belong to different plans; plan one, then the other."
        )


def _question_plan(
    rows: int | None, question: str | None, schema: Any, declared: Declarations
) -> QuestionPlan:
    from holdfast.planner.question_plan import question_plan

    if rows is None or question is None:
        raise InvalidArgument("the plan of a question needs rows and question.")
    sampling = declared.sampling or Independent()
    terms = declared.terms(rows, sampling, NO_DESIGN)
    return question_plan(require.text("question", question), schema, terms)


def _gate_plan(
    rows: int | None, candidates: int | None, disagreement: float | None, declared: Declarations
) -> GatePlan:
    from holdfast.planner.gate_power import gate_plan

    if rows is None or candidates is None or disagreement is None:
        raise InvalidArgument("a plan of gates needs rows, candidates and disagreement.")
    if not isinstance(declared.sampling, Independent):
        raise InvalidArgument(f"gates are planned for independent rows, not {declared.sampling}.")
    _, share = declared.describing()
    if share == 1.0:
        raise InvalidArgument(
            "described_share is 1, which leaves gates nothing; give a smaller one."
        )
    return gate_plan(rows, candidates, disagreement, Pots(declared.level, share))


def _reason(request: PlanRequest, best: Option, options: tuple[Option, ...]) -> str:
    """One sentence: why this one, and what a guess would buy."""
    sentences = [f"{_praise(request, best)}{_beside(request, best, options)}."]
    checks = [o for o in options if is_check(o) and o.possible and o is not best]
    if checks and request.declared.surprises is None:
        few = best_of(checks, request.solved_for)
        sentences.append(f"If you can guess first, {few.name}: {_amount(request, few)}.")
    described = [o for o in options if o.kind == "described" and o.possible]
    if described and best.kind != "described":
        longest = described[-1].name
        if request.solved_for != "questions":
            longest += f": {_amount(request, described[-1])}"
        sentences.append(
            "Text over the table's own columns needs no mechanism: no limit on questions "
            f"({longest}); each that is asked before the others leaves them less."
        )
    if (alternative := _undescribed(request, best)) is not None:
        sentences.append(
            f"With described='off', {alternative.name}: {_amount(request, alternative)}."
        )
    return " ".join(sentences)


def _undescribed(request: PlanRequest, best: Option) -> Option | None:
    """Median noise with all of the failure probability, if it is better than the best."""
    if request.described == "off":
        return None
    alone = PlanRequest(
        request.rows, replace(request.declared, described="off", described_share=None)
    )
    median = next(method for method in methods() if method.name == MEDIAN_NOISE.name)
    option = option_of(alone, median)
    if best.kind != "promise" or not option.possible:
        return None
    return option if best_of([best, option], request.solved_for) is option else None


def _is_beaten(best: Option, options: tuple[Option, ...], solved: Solved) -> bool:
    """Whether something published, which is no mechanism here, would be better than the best."""
    published = [option for option in options if option.kind == "reference" and option.possible]
    return best_of([best, *published], solved) is not best


def _praise(request: PlanRequest, best: Option) -> str:
    if best.kind == "described":
        limit = "" if request.pots.described_share == 1.0 else "; no mechanism answers the others"
        return f"{best.name} is recommended: no limit on questions{limit}"
    needs = "with the guesses you expect" if is_check(best) else "without needing a guess"
    return f"{best.name} is recommended: {_amount(request, best)} {needs}"


def _beside(request: PlanRequest, best: Option, options: tuple[Option, ...]) -> str:
    """Sentence on sample splitting, beside the best."""
    splitting = next((o for o in options if o.name == "sample splitting" and o.possible), best)
    return "" if splitting is best else f"; {splitting.name}: {_amount(request, splitting)}"


def _amount(request: PlanRequest, option: Option) -> str:
    """The number solved for, with its unit."""
    number = show(getattr(option, request.solved_for))
    return f"+-{number}" if request.solved_for == "half_width" else f"{number} {request.solved_for}"


def _what_is_possible(request: PlanRequest) -> str:
    """Refusal in words: nothing fits, and the nearest requests that do."""
    rows, log_beta, declared = request.known_rows, request.pots.log_beta, request.declared
    usable = [
        method
        for method in planned_methods(request)
        if method.kind == "promise" and method.applies(rows)
    ]
    wanted = f"a half-width {f'of {declared.tolerance:g}' if declared.tolerance else 'below 0.5'}"
    if declared.questions is not None:
        wanted += f" for {plural(declared.questions, 'adaptive question')}"
    if request.rows is not None:
        wanted += f" on {request.rows:,} rows"
    if declared.surprises is None:
        wanted += " without guesses"
    text = f"No mechanism has {wanted} at {percent(declared.level)}."
    hints = []
    if request.rows is not None and declared.questions is not None:
        widths = [
            width
            for method in usable
            if (width := method.half_width(rows, request.rows, declared.questions, log_beta))
        ]
        if widths:
            hints.append(f"half-width {show(min(widths))} with these rows and questions")
    tolerance = declared.tolerance or 0.1
    if request.rows is not None:
        counts = [c for m in usable if (c := m.questions(rows, request.rows, tolerance, log_beta))]
        if counts:
            hints.append(f"{max(counts):,} questions at half-width {tolerance:g} with these rows")
    if not isinstance(request.sampling, Declared):
        k = declared.questions or 1
        needed = [n for m in usable if (n := m.rows(rows, k, tolerance, log_beta))]
        if needed:
            hints.append(
                f"{plural(k, 'question')} at half-width {tolerance:g} with {min(needed):,} rows"
            )
    if hints:
        text += f" Possible: {'; '.join(hints)}."
    return text
