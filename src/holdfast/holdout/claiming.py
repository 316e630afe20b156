"""What is claimed of questions: on which public grounds, and how they are played."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from holdfast.described.question import DescribedQuestion
from holdfast.errors import ToleranceTooTight
from holdfast.holdout.attach import differing
from holdfast.holdout.describing import ruled
from holdfast.holdout.desk import Desk
from holdfast.holdout.guess import Guess
from holdfast.mechanisms.mechanism import Wish, about
from holdfast.statistics.derived import Paired, is_single
from holdfast.statistics.entry import Bound
from holdfast.statistics.play import Play, Subquestion
from holdfast.statistics.playing import play_of
from holdfast.theory.leakage.gates import gate_shows

__all__ = ["ClaimGrounds", "claim_grounds", "claimed", "plays_of", "require_enough_differing"]


@dataclass(frozen=True, slots=True)
class ClaimGrounds:
    """What is public about claims of a question: how it is answered instead, and its spread.

    `described` finds the question by its description, once it is needed; `moment` is a guess of
    the second moment.
    """

    gated: bool = False
    described: Callable[[], DescribedQuestion | None] = lambda: None
    moment: float | None = None

    def of(self, wish: Wish) -> Wish:
        """A claim of a part, on these grounds."""
        return replace(wish, gated=self.gated, moment=self.moment)


def claim_grounds(desk: Desk, question: Bound, guess: Guess) -> ClaimGrounds:
    """The grounds of what is claimed of a question; none where it is asked."""
    if guess.verb == "ask":
        return ClaimGrounds()
    moment = _moment(desk, question, guess)
    if guess.gated:
        return ClaimGrounds(True, moment=moment)
    return ClaimGrounds(False, partial(ruled, desk, question), moment)


def _moment(desk: Desk, question: Bound, guess: Guess) -> float | None:
    """The share of rows that differ, where it is public: declared, or of two submitted columns."""
    if not isinstance(question, Paired):
        return None
    if guess.differing is not None:
        return guess.differing
    (statistic,) = question.stages[-1]
    attached = desk.attached_of([statistic])
    columns = sorted({column.column for column in attached})
    public = all(column.origin == "submitted" for column in attached)
    if len(columns) != 2 or not public or not desk.transcript.terms.independent:
        return None
    return max(differing(desk, *columns), 1 / desk.transcript.terms.rows)


def plays_of(
    desk: Desk,
    questions: Sequence[Bound],
    guess: Guess,
    tolerance: float | None,
    claims: Sequence[ClaimGrounds],
) -> list[Play]:
    """The plays of questions that are put together."""
    return [
        play_of(
            question,
            guess.of(place),
            desk.half_width(tolerance, question if is_single(question) else None),
            once=desk.once,
            side=guess.side,
            verb=guess.verb,
            described=claims[place].described,
        )
        for place, question in enumerate(questions)
    ]


def claimed(part: Subquestion, t: float, tolerance: float | None) -> Wish:
    """What the analyst claims of a part: that it is about a guess, or on one side of it."""
    wish = about(part.statistic, t, part.guess or 0.0)
    claim = wish.claim if part.claim is None else part.claim
    return replace(wish, claim=claim, narrow=tolerance is None, stated=True)


def require_enough_differing(desk: Desk, question: Bound, guess: Guess) -> None:
    """Refuse a gate that so few differing rows, a public number, cannot show whatever they say."""
    bound, share = guess.of(0), _moment(desk, question, guess)
    if share is None or bound is None or guess.side is None:
        return
    (part,) = next(play_of(question, bound, 0.5, once=desk.once, side=guess.side, verb="gate"))
    wish = replace(claimed(part, 0.5, None), gated=True, moment=share)
    if desk.stored(wish) is not None:
        return
    _, (offer,) = desk.offers([wish], desk.transcript.committed)
    terms, margin = desk.transcript.terms, bound if guess.side == "at least" else -bound
    differ = min(terms.rows, math.ceil(share * terms.rows))
    if not abs(margin) < 1.0 or gate_shows(
        terms.rows,
        differ,
        0,
        offer.log_p or 0.0,
        margin=margin,
        alike=(offer.extra or {})["alike"],
        second_moment=share,
    ):
        return
    raise ToleranceTooTight(
        f"requested to show a difference beyond {bound:g} of {terms.rows:,} rows, of which "
        f"{differ:,} differ; even if all of those were on one side it could not be shown now. "
        "Nothing was spent. Gate a candidate that differs more, or use more rows."
    )
