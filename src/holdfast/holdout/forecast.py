"""Forecasts of claims: what is given for a gate, gates that are not tried, the width of a check.

Everything here is public: counts on other rows, and what somebody expects. A bad forecast costs
power and no truth, as long as none of it was computed from protected rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any

from holdfast import require
from holdfast.data.sample import Sample
from holdfast.errors import InvalidArgument
from holdfast.holdout.answer import Answer
from holdfast.holdout.batch import width_begun
from holdfast.holdout.desk import Desk
from holdfast.holdout.guess import averages, require_columns, trained_mean, training_variance
from holdfast.holdout.plays import implied_claim, wish_of
from holdfast.holdout.request import (
    ClaimGrounds,
    Guess,
    NamedWidth,
    gate_wish,
    known_moment,
    ruled,
)
from holdfast.ledger.chain import now
from holdfast.ledger.claimed import claimed_as_whole
from holdfast.ledger.entries import Recorded, Request
from holdfast.mechanisms.claims import CHECKS
from holdfast.mechanisms.forecast_gates import FORECAST_GATES, Untried
from holdfast.mechanisms.mechanism import ForecastGrounds, LikelyWidth
from holdfast.mechanisms.terms import WHOLE_RANGE
from holdfast.statistics.claimed import ClaimedQuestion
from holdfast.statistics.derived import Paired, Subquestion
from holdfast.statistics.entry import Bound
from holdfast.statistics.labelled import Labelled
from holdfast.statistics.mean import GroupMean, Mean
from holdfast.statistics.player import Verb, one_sided_statistic
from holdfast.statistics.quantile import Quantile
from holdfast.statistics.statistic import Statistic, is_single
from holdfast.theory.base.intervals import Interval
from holdfast.theory.leakage.forecasts import DevResult
from holdfast.wording import plural

_TRAINING = "training"  # rows, that forecast a check
_COUNTS = 3
_LISTED = 3


def forecast_grounds(options: Mapping[str, Any], verb: Verb) -> ForecastGrounds | None:
    """What the options of a verb say for a forecast; None where they say nothing."""
    dev, expect = options.get("dev"), options.get("expect")
    if dev is None and expect is None:
        return None
    if verb == "ask":
        raise InvalidArgument(
            "dev= and expect= forecast whether a claim is made good, and this is none; leave them "
            "out, give a guess, or say gate=True."
        )
    if verb == "check" and dev is not None:
        raise InvalidArgument(
            "dev= forecasts whether a gate is shown, and this is a check; say expect=, or gate it."
        )
    if isinstance(expect, str) and expect == _TRAINING:
        if verb == "check":
            return ForecastGrounds()  # of this question, once it has met its table
        raise InvalidArgument(
            f"expect={_TRAINING!r} forecasts a check; say dev=, how a difference came out on other "
            "rows, or a number."
        )
    stated = None if expect is None else require.between("expect", expect, 0.0, 1.0)
    return ForecastGrounds(None if dev is None else dev_result(dev), stated)


def dev_result(dev: Any) -> DevResult:
    """Counts of a difference on other rows: given, or of two runs, in order or by item."""
    values = list(dev) if isinstance(dev, Sequence) and not isinstance(dev, str | bytes) else []
    if len(values) == _COUNTS and all(isinstance(each, Integral) for each in values):
        better, worse, rows = map(int, values)
        return DevResult(better, worse, rows)
    by_item = [isinstance(each, Mapping) for each in values]
    if len(values) != 2 or len(set(by_item)) > 1 or not all(map(_is_several, values)):
        raise InvalidArgument(
            f"dev is {dev!r:.100}; give (better, worse, rows), such as (40, 10, 1000), or the "
            "scores of both on the same other rows, in order or by item."
        )
    first, second = values
    if all(by_item):
        shared = [item for item in first if item in second]
        first, second = ([run[item] for item in shared] for run in (first, second))
    first, second = list(first), list(second)
    if len(first) != len(second) or not first:
        raise InvalidArgument(
            f"dev has {len(first):,} and {len(second):,} scores of the same rows; give as many of "
            "both, in the same order or by item."
        )
    gains = [
        require.finite("dev", one) - require.finite("dev", other)
        for one, other in zip(first, second, strict=True)
    ]
    return DevResult(sum(gain > 0 for gain in gains), sum(gain < 0 for gain in gains), len(gains))


def by_training_rows(desk: Desk, question: Bound, guess: Guess) -> Guess:
    """The guess with what training rows say of its mean, where these are to forecast its check.

    They are the rows that it is made from, or those of the ledger. Neither may be protected ones:
    whoever gives such rows is refused where they come in (`holdfast.holdout.guess`).
    """
    if guess.forecast != ForecastGrounds():
        return guess
    rows = desk.train if guess.rows is None else guess.rows
    if rows is None:
        raise InvalidArgument(
            f"expect={_TRAINING!r} needs training rows; guess from a table, open with split= or "
            "train=, or say how likely you think it is: expect=0.9."
        )
    statistic = _claimed_mean(desk, question)
    if not isinstance(statistic, Mean | GroupMean) or guess.side is not None:
        raise InvalidArgument(
            f"expect={_TRAINING!r} forecasts a guess of a mean of bounded values of independent "
            f"rows, and {question.text} is none here; say how likely you think it is: expect=0.9."
        )
    trained = trained_mean(rows, statistic, desk.transcript.terms.rows, desk.table)
    return replace(guess, forecast=ForecastGrounds(trained=trained))


def require_one_forecast(guess: Guess, question: Bound | Labelled) -> None:
    """Refuse a forecast of several claims: it is of one check."""
    if guess.forecast is None or guess.gated:
        return
    one_claim = is_single(question) or guess.side is not None
    if not one_claim and guess.rows is None:
        one_claim = not isinstance(question, Labelled | Quantile)  # of its last part
    if not one_claim:
        raise InvalidArgument(
            "expect= forecasts one check, and this question is checked by several; leave it out, "
            "or check them one by one."
        )


def require_unprotected(desk: Desk, dev: Any) -> None:
    """Refuse scores by item of which some are protected; counts say nothing of that."""
    if desk.opening.terms.key is None or not isinstance(dev, Sequence) or isinstance(dev, str):
        return
    files = DevFiles(desk)
    for run in dev:
        if isinstance(run, Mapping):
            files.require_other_items(run)


def _is_several(values: object) -> bool:
    return isinstance(values, Iterable) and not isinstance(values, str | bytes)


def on_side_of_claim(guess: Guess, question: Bound) -> Guess:
    """The guess with its development counts on the side that is claimed, beyond the bound."""
    grounds, bound = guess.forecast, guess.of(0)
    if grounds is None or grounds.dev is None or bound is None:
        return guess
    if question.low != -question.high:
        raise InvalidArgument(
            f"dev has counts of better and worse rows, and {question.text} is no difference; gate "
            "one, such as difference(new, old), or say expect=."
        )
    margin = bound / question.high if question.high > 0.0 else 0.0
    dev = grounds.dev
    if guess.side == "at most":
        dev, margin = DevResult(dev.worse, dev.better, dev.rows), -margin
    return replace(guess, forecast=replace(grounds, dev=_beyond(dev, margin)))


def _beyond(dev: DevResult, margin: float) -> DevResult:
    """The counts of a gain that is smaller by a margin, as nearly as counts have it."""
    moved = round(min(1.0, max(-1.0, margin)) * dev.rows / 2)
    better, worse = max(0, dev.better - moved), max(0, dev.worse + moved)
    if moved > 0:
        worse = min(worse, dev.rows - better)
    else:
        better = min(better, dev.rows - worse)
    return DevResult(better, worse, dev.rows)


def not_tried(
    desk: Desk, question: Bound, guess: Guess, request: Request, skip_below: float | None
) -> Answer | None:
    """The answer of a gate whose forecast is below `skip_below`; None if it is to be tried."""
    if skip_below is None:
        return None
    least = require.between("skip_below", skip_below, 0.0, 1.0)
    if guess.forecast is None:
        raise InvalidArgument(
            f"skip_below is {least:g}, and there is nothing to forecast by; give dev= or expect=."
        )
    wish = gate_wish(desk, question, guess)
    if wish is None:
        return None
    _, (offer,) = desk.offers([wish], desk.transcript.committed)
    if offer.prior is None or offer.prior >= least:
        return None
    untried = Untried(
        now(),
        offer.question,
        guess.forecast.dev,
        offer.prior,
        request.why,
        request.by,
    )
    desk.tell(lambda: [untried.body()])
    return Answer(_untried_line(desk, question, untried, request, offer.forecast), desk.budget())


def _untried_line(
    desk: Desk,
    question: Bound,
    untried: Untried,
    request: Request,
    forecast: tuple[float, float] | None,
) -> Recorded:
    range_ = Interval(question.low, question.high)
    return Recorded(
        number=None,
        look=None,
        parts=(),
        question=question.text,
        status="not tried",
        value=None,
        interval=range_,
        range=range_,
        guess=request.guess,
        claim=None,
        tolerance=None,
        charge=0.0,
        leaked=desk.transcript.account.nats,
        at=untried.at,
        request=request,
        mechanism=None,
        receipt=desk.transcript.head,
        variance=None,
        revealed=Interval(0.0, 1.0),
        forecast=forecast,
    )


# What is claimed as a whole, by the rule that answers it, instead of part by part.


def claimed_as_wholes(
    desk: Desk, questions: Sequence[Bound], guess: Guess, width: NamedWidth
) -> tuple[list[Bound], Guess]:
    """The questions as they are claimed, and what is guessed of them; as they are where asked.

    A table that somebody guesses from says a number for each, where each is claimed as a whole, and
    how near to it the rows are likely to come. One side is claimed where no description settles it.
    """
    by_design = guess.rows is not None and desk.table.design.columns
    if guess.verb == "ask" or by_design or all(map(_is_mean, questions)):
        return list(questions), guess
    wholes = [_as_whole(desk, each, guess) for each in questions]
    others = guess.rows
    if others is None or None in wholes:
        together = zip(wholes, questions, strict=True)
        return [whole if others is None and whole else each for whole, each in together], guess
    results = [_guessed_by(desk, each, others) for each in wholes if each is not None]
    if any(value is None for value, _ in results):
        return list(questions), guess
    numbers = tuple(value for value, _ in results if value is not None)
    likely = () if width.is_named else tuple(each for _, each in results)
    claimed = [each for each in wholes if each is not None]
    as_told = replace(guess, numbers=numbers, rows=None, likely=likely)
    return list(claimed), as_begun(desk, claimed, as_told)


def _is_mean(question: Bound) -> bool:
    return getattr(question, "row", None) is not None  # which has a test of its own


def _as_whole(desk: Desk, question: Bound, guess: Guess) -> ClaimedQuestion | None:
    one_sided = guess.side is not None and one_sided_statistic(question) is None
    if one_sided and ruled(desk, question) is not None:
        return None
    return claimed_as_whole(desk.transcript, question, gated=guess.gated)


def _guessed_by(
    desk: Desk, question: ClaimedQuestion, others: Sample
) -> tuple[float | None, LikelyWidth | None]:
    """What other rows say of a question, in its own unit, and how near to it it is likely to be."""
    require_columns(others, question.columns, desk.table)
    level, _ = CHECKS.levels(desk.transcript.terms, desk.transcript.committed)
    log_p = math.log(level) if level > 0.0 else _NO_LEVEL
    told = question.told_by(others, log_p)
    if told.value is None:
        return None, None
    number = question.low + told.value * (question.high - question.low)
    reach = max(told.interval.high - told.value, told.value - told.interval.low)
    n = desk.transcript.terms.rows
    likely = LikelyWidth.by_reach(n, others.n, reach, log_p)
    told_little = level <= 0.0 or likely.tolerance >= WHOLE_RANGE
    return min(question.high, max(question.low, number)), None if told_little else likely


_NO_LEVEL = -700.0


# The half-width of a check for which none is named: the narrowest that is likely to be confirmed.
#
# It is made of public numbers, the guess, the sizes and the transcript, and recorded with the
# request before rows are touched. A claim made again is the same claim, whatever was spent since.


def guess_of_likely_width(
    desk: Desk, questions: Sequence[Bound], guess: Guess, named: NamedWidth
) -> Guess:
    """What is guessed, with the half-width of each question; as it is where one is named.

    What has no single mean of independent rows to be claimed of keeps the half-width of the ledger,
    and so does what earlier answers settle at it.
    """
    if named.is_named or guess.side is not None:
        return guess
    transcript = desk.transcript
    if transcript.checker is not CHECKS or not transcript.terms.promises:
        return guess
    if guess.likely or (guess.rows is not None and len(questions) > 1):
        return guess
    level, _ = CHECKS.levels(transcript.terms, transcript.committed)
    likely = [_likely(desk, each, guess, place, level) for place, each in enumerate(questions)]
    return replace(guess, likely=tuple(likely))


def _is_settled(
    desk: Desk, question: Bound, statistic: Statistic, guess: Guess, place: int
) -> bool:
    """Whether earlier answers settle a guess at the half-width of the ledger, for nothing."""
    if guess.rows is not None:
        return desk.stored(wish_of(desk, statistic, guess, None)) is not None
    t, number = desk.half_width(None, statistic), guess.of(place) or 0.0
    share = (number - statistic.low) / ((statistic.high - statistic.low) or 1.0)
    if desk.stored(ClaimGrounds().claim(Subquestion(statistic, guess=share), t, None)) is not None:
        return True
    return implied_claim(desk, question, guess, place, None) is not None


def _claimed_mean(desk: Desk, question: Bound) -> Statistic | None:
    """The mean of bounded independent rows that a guess of a question is about, if there is one."""
    if isinstance(question, Paired):
        ((_,), (statistic,)) = question.stages
    elif is_single(question):
        statistic = question
    else:
        return None
    terms = desk.transcript.terms
    bounded = statistic.row is not None and not statistic.unbounded
    return statistic if bounded and terms.independent and statistic.unit(terms.rows) == 1 else None


def as_begun(desk: Desk, questions: Sequence[Bound], guess: Guess) -> Guess:
    """The guess with the half-widths of the same checks that others began since it was read."""
    likely = list(guess.likely)
    for place, chosen in enumerate(likely):
        question = questions[place]
        whole = question if isinstance(question, ClaimedQuestion) else None
        statistic = None if chosen is None else whole or _claimed_mean(desk, question)
        if statistic is not None:
            looks = desk.transcript.looks_at(statistic.text)
            likely[place] = width_begun(looks, guess.of(place)) or chosen
    return replace(guess, likely=tuple(likely))


def _likely(
    desk: Desk, question: Bound, guess: Guess, place: int, level: float
) -> LikelyWidth | None:
    statistic, number = _claimed_mean(desk, question), guess.of(place)
    if isinstance(question, ClaimedQuestion):
        return _likely_by_training(desk, question, number)
    if statistic is None:
        return None
    before = width_begun(desk.transcript.looks_at(statistic.text), number)
    if before is not None or level <= 0.0:
        return before
    if _is_settled(desk, question, statistic, guess, place):
        return None
    terms, row = desk.transcript.terms, statistic.row
    rows = n = statistic.rows(terms.rows)
    known = known_moment(desk, question, guess)
    if guess.rows is not None:
        rows = max(1, round(guess.rows.n * n / terms.rows))
        (share,) = averages(guess.rows, [statistic], desk.table)
    else:
        share = ((number or 0.0) - statistic.low) / ((statistic.high - statistic.low) or 1.0)
    smoothed = (min(1.0, max(0.0, share)) * rows + 1.0) / (rows + 2.0)  # 0 has a spread, too
    spread = smoothed * (1.0 - smoothed)
    if known is not None:  # of differences, whose range is [-1, 1]
        spread = min(spread, max(known, 1.0 / n) / 4.0)
    elif guess.rows is not None and row is not None and not row.is_condition:
        spread = min(spread, training_variance(guess.rows, row) + 1.0 / n**2)
    by_bets = row is None or not row.is_condition
    most, log_p = desk.half_width(None, statistic), math.log(min(1.0, level))
    return LikelyWidth.chosen(most, n, rows, spread, log_p, by_bets)


def _likely_by_training(
    desk: Desk, question: ClaimedQuestion, number: float | None
) -> LikelyWidth | None:
    """The half-width by what training rows say of a question that is claimed as a whole."""
    before = width_begun(desk.transcript.looks_at(question.text), number)
    train = desk.train
    if before is not None or train is None or desk.table.design.columns:
        return before
    if not set(question.columns) <= train.types.keys():
        return None
    return _guessed_by(desk, question, train)[1]


# Scores on development items, beside the ledger: for whoever may open the columns attached to it.


class DevFiles:
    """Files of development scores, and the ids of protected items, which they must not share."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def keep(self, name: str, content: bytes) -> None:
        """Keep it beside the ledger, durably when this returns."""
        self._desk.store.keep_file(name, content)

    def content(self, name: str) -> bytes | None:
        """What is kept under a name; None if there is nothing."""
        return self._desk.store.file(name)

    def require_other_items(self, items: Iterable[object]) -> None:
        """Refuse items with the key of a protected row, whether it is a number or text."""
        protected = frozenset(map(str, self._desk.protected.order.keys.to_list()))
        shared = [item for item in items if str(item) in protected]
        if shared:
            some = ", ".join(f"{item!r:.40}" for item in shared[:_LISTED])
            more = ", ..." if len(shared) > _LISTED else ""
            raise InvalidArgument(
                f"dev has scores of {plural(len(shared), 'item')} ({some}{more}) with the id of a "
                "protected one; a forecast from protected items would make false verdicts likely. "
                "Give scores of other items, by ids of their own. Nothing was submitted or spent."
            )

    def stop(self, question: str, dev: DevResult, asked_by: str | None = None) -> None:
        """List a candidate that was stopped on development rows, once."""

        def entry() -> list[dict[str, Any]]:
            if FORECAST_GATES.result_of(self._desk.transcript.account, question) == dev:
                return []
            why = "stopped on development rows"
            return [Untried(now(), question, dev, None, why, asked_by).body()]

        self._desk.tell(entry)
