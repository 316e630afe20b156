"""Composite answers: recorded lines computed from the answers to their parts.

All of it is a function of the transcript: the play of its question, sent the answers of its looks,
says its value and interval, and their charges and statuses its own. So it charges nothing, and an
audit comes to the same from the looks alone.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from holdfast.errors import Refused
from holdfast.ledger.entries import Recorded, Request
from holdfast.mechanisms.described import release_of
from holdfast.mechanisms.mechanism import (
    ROUNDED_ENDS,
    interval_told,
    lies_in,
    open_ended,
    value_told,
)
from holdfast.mechanisms.terms import Terms
from holdfast.statistics.derived import Difference, Estimate, Joined, Subquestion
from holdfast.statistics.description import DescribedQuestion, share_symbols
from holdfast.statistics.entry import Bound
from holdfast.statistics.player import Due, Verb, is_whole, play_of, played
from holdfast.statistics.statistic import Statistic, own_unit
from holdfast.theory.base.implied import verdict_implied
from holdfast.theory.base.intervals import Interval

_WORST_FIRST = ("answered", "confirmed")
_CLAIMED: Mapping[Verb, tuple[str, str]] = {
    "check": ("confirmed", "not confirmed"),
    "gate": ("shown", "not shown"),
}


@dataclass(frozen=True, slots=True)
class Followed:
    """A play that has ended: what it said, and its looks in order, each with the part it is of.

    What is `joined` is None where the play was not followed to its end. It was intersected with
    what the looks `known` before imply; or not, where these `contradict` it or each other.
    """

    joined: Joined | None
    looks: Sequence[Recorded]
    parts: Sequence[Subquestion]
    known: tuple[int, ...] = ()
    contradict: bool = False


def whole(
    request: Request,
    question: Bound,
    followed: Followed,
    earlier: Sequence[Recorded],
    terms: Terms,
) -> dict[str, Any]:
    """Composite line of a question; `earlier` is what was recorded of it before.

    Its charge is that of the looks that were asked for it, and not told under it before.
    """
    joined = followed.joined or Joined(None, Interval(question.low, question.high))
    paid = {look for line in earlier for look in line.parts}
    own = {
        each.look: each
        for each in followed.looks
        if each.part_of == question.text and each.look not in paid
    }
    # Where there is no range an end may be infinite: it is written as that of the grid.
    low, high = max(joined.interval.low, question.low), min(joined.interval.high, question.high)
    silent = is_whole(joined.interval, question) and (joined.value is None or terms.promises)
    middle = low + (high - low) / 2  # of an interval that says something
    status = _status(request, question, joined.interval, followed, own, terms, silent=silent)
    if status == "not shown" and not followed.looks:  # a gate that is excluded claims nothing
        silent, low, high = True, question.low, question.high
    refuted = sum(each.status == "not confirmed" for each in own.values())
    # A guess that its test did not confirm may still follow from the answer that was asked then.
    implied = {"implied": refuted} if status == "confirmed" and refuted else {}
    return {
        **implied,
        **(_description(question, followed.looks) if request.verb == "ask" else {}),
        **({"planned": True} if _are_planned(followed.looks) else {}),
        "status": status,
        "value": None if silent else middle if joined.value is None else joined.value,
        "interval": [low, high],
        "charge": sum((each.charge for each in own.values()), 0.0),
        "parts": [each.look for each in followed.looks],
        **({"known": list(followed.known)} if followed.known else {}),
        **({"contradict": True} if followed.contradict else {}),
    }


def _are_planned(looks: Sequence[Recorded]) -> bool:
    return bool(looks) and all(each.planned for each in looks)


def _description(question: Bound, looks: Sequence[Recorded]) -> dict[str, Any]:
    """The length of what only descriptions answer, and the rows that it is about: those of one
    look, or of questions that are named because they are about the same rows."""
    lengths = [each.bits for each in looks if each.bits is not None]
    if not 0 < len(lengths) == len(looks):
        return {}
    whole_question = getattr(question, "question", question)
    apart = isinstance(whole_question, Difference)
    are_same = hasattr(whole_question, "described_by") and not apart
    return {"bits": max(lengths), **rows_about(looks[:1] if are_same else looks)}


def rows_about(looks: Sequence[Recorded]) -> dict[str, Any]:
    """How many rows a line is about that follows from one look, and how many miss a value."""
    about = [
        {"rows": list(each.rows), "missing": list(each.missing)} for each in looks if each.rows
    ]
    return about[0] if len(about) == 1 else {}


def _status(
    request: Request,
    question: Bound,
    interval: Interval,
    followed: Followed,
    own: Collection[int | None],
    terms: Terms,
    *,
    silent: bool,
) -> str:
    """A claim is confirmed or shown, or not; else what became of the looks for it."""
    statuses = {each.status for each in followed.looks}
    if "no promise" in statuses:
        return "says nothing" if silent else "no promise"
    if request.verb != "ask":
        claimed, unclaimed = _CLAIMED[request.verb]
        if request.guess is not None and not silent:
            return (
                claimed if _is_implied(request, question, interval, followed, terms) else unclaimed
            )
        if unclaimed in statuses:
            return unclaimed
    if silent:
        return "says nothing"
    statuses_of_looks = {each.status for each in followed.looks if each.look in own} or statuses
    # Something may follow from looks of which none says anything by itself.
    return next((each for each in _WORST_FIRST if each in statuses_of_looks), "answered")


def _is_implied(
    request: Request, question: Bound, interval: Interval, followed: Followed, terms: Terms
) -> bool:
    """Whether what was claimed of a question, or of all its parts, follows from what was found."""
    if request.guess is None:
        return False
    if request.side is not None and all(part.guess is None for part in followed.parts):
        return _is_beyond(request, interval)
    t = terms.half_width if request.tolerance is None else request.tolerance
    about = _is_within(interval, _about(request, request.guess, question, terms), question)
    claims = [
        lies_in(
            look.part_of_range,
            part.claim or _around(part.guess, t, part.statistic, terms),
            look.range,
        )
        for part, look in zip(followed.parts, followed.looks, strict=False)
        if part.guess is not None
    ]
    return (about and request.side is None) or (bool(claims) and all(claims))


def _is_within(interval: Interval, claimed: Interval, question: Bound) -> bool:
    """Whether it is what was claimed, or a part of it, but for the rounding of its ends."""
    largest = max(abs(question.low), abs(question.high))
    rounded = ROUNDED_ENDS * (question.high - question.low) + 4 * math.ulp(largest)
    return claimed.low - rounded <= interval.low and interval.high <= claimed.high + rounded


def claim_verdict(
    request: Request, question: Bound, interval: Interval, terms: Terms
) -> bool | None:
    """Whether a claim holds wherever in an interval the truth is, or nowhere; None: who knows."""
    if request.guess is None:
        return None
    if request.side is None:
        return verdict_implied(interval, _about(request, request.guess, question, terms))
    if _is_beyond(request, interval):
        return True
    at_least, strict = request.side == "at least", request.verb == "gate"
    short = request.guess - interval.high if at_least else interval.low - request.guess
    return False if short > 0.0 or (strict and short >= 0.0) else None


def _about(request: Request, guess: float, question: Bound, terms: Terms) -> Interval:
    """What a guess claims: that the truth is within the half-width of it."""
    t = terms.half_width if request.tolerance is None else request.tolerance
    reach = t * _unit(question, terms) * (request.high - request.low)
    return Interval(guess - reach, guess + reach)


def _is_beyond(request: Request, interval: Interval) -> bool:
    """Whether an interval is on the side that was claimed; what is gated, strictly."""
    bound = request.guess or 0.0
    beyond = interval.low - bound if request.side == "at least" else bound - interval.high
    return beyond > 0.0 if request.verb == "gate" else beyond >= 0.0


def _unit(question: Bound, terms: Terms) -> float:
    """Unit of a tolerance, as a part of the range."""
    return own_unit(question, terms.rows)


def _around(guess: float, t: float, statistic: Statistic, terms: Terms) -> tuple[float, float]:
    reach = t * statistic.unit(terms.rows)
    return guess - reach, guess + reach


def rebuilt(
    request: Request,
    question: Bound,
    looks: Sequence[Recorded],
    terms: Terms,
    *,
    once: bool,
    described: Bound | None = None,
) -> Followed:
    """The play of a question, sent the answers of these looks, and refused what they leave out.

    What is `described` is the question with its rules, where its description answers it.
    """
    remaining, parts, answered = iter(looks), list[Subquestion](), list[Recorded]()

    def put(yielded: Due) -> list[Estimate]:
        batch = [part for _, part in yielded]
        own = [
            _as_asked(look, part.statistic)
            for look, part in zip(islice(remaining, len(yielded)), batch, strict=False)
        ]
        if [each.question for each in own] != [part.statistic.text for part in batch]:
            raise Refused("the looks of the ledger go no further")
        parts.extend(batch)
        answered.extend(own)
        return [each.estimate for each in own]

    t = terms.half_width if request.tolerance is None else request.tolerance
    play = play_of(
        question,
        request.guess,
        t,
        once=once,
        side=request.side,
        verb=request.verb,
        described=lambda: described,
    )
    try:
        (joined,) = played([play], put)
    except Refused:
        joined = None
    return Followed(joined, [*answered, *looks[len(answered) :]], parts)


def restated(look: Recorded, question: DescribedQuestion) -> Recorded | None:
    """What a look says of another question with its event: a function of the same symbols.

    None where it is at another event, or its symbols are those of another rule.
    """
    if look.event is None or look.event != question.event or look.symbols is None:
        return None
    if not share_symbols(look.rule, question.rule):
        return None
    release = release_of(question, look.look or 0, look.symbols)
    limits, rule = Interval(question.low, question.high), question.rule
    return replace(
        look,
        number=None,
        question=question.text,
        status=release.status,
        value=value_told(release.value, limits, rule),
        interval=interval_told(release.interval, limits, rule, unbounded=question.unbounded),
        range=limits,
        rule=rule,
    )


def _as_asked(look: Recorded, statistic: Statistic) -> Recorded:
    """What a look says of a part: its own answer, or that of another question with its event."""
    if look.question == statistic.text or not isinstance(statistic, DescribedQuestion):
        return look
    return restated(look, statistic) or look


def read_whole(body: dict[str, Any], at: str, receipt: str) -> Recorded:
    """A line that an entry tells, from its body."""
    request = Request.read(body["request"])
    inside, limits = Interval(*body["interval"]), Interval(request.low, request.high)
    return Recorded(
        number=body["line"],
        look=None,
        parts=tuple(body["parts"]),
        question=request.question,
        status=body["status"],
        value=body["value"],
        interval=open_ended(inside, *limits) if request.unbounded else inside,
        range=limits,
        guess=request.guess,
        claim=_claim(request),
        tolerance=request.tolerance,
        charge=body["charge"],
        leaked=0.0,
        at=at,
        request=request,
        mechanism=None,
        receipt=receipt,
        variance=None,
        revealed=Interval(0.0, 1.0),
        bits=body.get("bits"),
        planned=body.get("planned", False),
        rows=tuple(body["rows"]) if "rows" in body else None,
        missing=tuple(body.get("missing", (0, 0))),
        known=tuple(body.get("known", ())),
        contradict=body.get("contradict", False),
    )


def _claim(request: Request) -> tuple[float, float] | None:
    """Claim about one side, as parts of the range."""
    if request.side is None or request.guess is None:
        return None
    width = request.high - request.low
    bound = (request.guess - request.low) / width if width else 0.0
    return (0.0, bound) if request.side == "at most" else (bound, 1.0)
