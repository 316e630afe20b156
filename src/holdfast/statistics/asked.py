"""A question as it is said outside Python: a text, and options that add to the text."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import replace

from holdfast.errors import InvalidArgument
from holdfast.statistics import call as statistics
from holdfast.statistics.bind import Question, read_question
from holdfast.statistics.named import Better, Bounds, Call, TableCall, grouped, pair_of

__all__ = ["bounded", "question_of"]


def question_of(
    text: str,
    *,
    where: str | None = None,
    by: Sequence[str] | None = None,
    bounds: Bounds = None,
    better: Better | None = None,
    trusted: bool = True,
) -> Call | TableCall:
    """The statistic that the text names, with what the options say of it.

    Whoever is not `trusted` assumes nothing of the rows: everybody's intervals would rest on it.
    """
    call = read_question(text)
    if not trusted and _assumes(call):
        raise InvalidArgument(
            "the question assumes something of the rows (sigma, b or a variance), and that is for "
            "the custodian to declare of a column; ask without it."
        )
    said = {"where": where, "by": by, "bounds": bounds, "better": better}
    for option, value in said.items():
        if value:
            _require_taken(call.name, option)
    if where is not None:
        if call.where is not None:
            raise InvalidArgument(
                "the question has a where of its own, and another one is given beside it; join "
                "them with `and` in one place."
            )
        call = replace(call, where=where)
    if bounds is not None:
        call = replace(call, bounds=pair_of(bounds))
    if isinstance(call, TableCall):
        if by:
            raise InvalidArgument("the question has its own groups, and by gives others.")
        return call
    if by:
        return grouped(call, by)
    return call if better is None else replace(call, better=better)


def bounded(question: Question | TableCall, bounds: Bounds) -> Question | TableCall:
    """The question with the range of its values; as it is, where none is given."""
    if bounds is None:
        return question
    call = read_question(question) if isinstance(question, str) else question
    if not isinstance(call, Call | TableCall):
        raise InvalidArgument(
            f"bounds is {bounds!r}, and the question is a {type(question).__name__}, which has its "
            "own; leave bounds out."
        )
    _require_taken(call.name, "bounds")
    return replace(call, bounds=pair_of(bounds))


def _assumes(call: Call | TableCall) -> bool:
    """Whether a question says more of the rows than is declared."""
    inner = any(isinstance(each, Call) and _assumes(each) for each in call.arguments)
    if isinstance(call, TableCall):
        return inner
    return inner or call.name == "catoni" or bool(call.variance or call.scale)


def _require_taken(name: str, option: str) -> None:
    """An option is for the statistics whose Python functions have it."""
    takers = [
        "avg" if each == "mean" else each
        for each in statistics.__all__
        if inspect.isfunction(function := getattr(statistics, each))
        and option in inspect.signature(function).parameters
    ]
    if name not in takers:
        raise InvalidArgument(f"{name} takes no {option}; it is for {', '.join(takers)}.")
