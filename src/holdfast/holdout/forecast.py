"""Forecasts of claims: what is given for a gate or a check, and gates that are not tried.

Everything here is public: counts on other rows, and what somebody expects. A bad forecast costs
power and no truth, as long as none of it was computed from protected rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.holdout.answer import Answer
from holdfast.holdout.desk import Desk
from holdfast.holdout.guess import trained_mean
from holdfast.holdout.request import (
    Guess,
    claimed_mean,
    gate_wish,
)
from holdfast.ledger.chain import now
from holdfast.ledger.entries import Recorded, Request
from holdfast.mechanisms.forecast_gates import FORECAST_GATES, Untried
from holdfast.mechanisms.mechanism import ForecastGrounds
from holdfast.statistics.entry import Bound
from holdfast.statistics.labelled import Labelled
from holdfast.statistics.mean import GroupMean, Mean
from holdfast.statistics.player import Verb
from holdfast.statistics.quantile import Quantile
from holdfast.statistics.statistic import is_single
from holdfast.theory.base.intervals import Interval
from holdfast.theory.leakage.forecasts import DevResult
from holdfast.wording import plural

FORECASTING = ("dev", "expect")  # options of verbs
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
    statistic = claimed_mean(desk, question)
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
