"""What pages show of the ledger: numbers in the digits that answers have, and intervals as bars."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.holdout.answer import Answer
from holdfast.holdout.distribution import Distribution
from holdfast.holdout.groups import Groups
from holdfast.holdout.holdout import Holdout
from holdfast.ledger.limits import interval_between
from holdfast.theory.base.intervals import Interval
from holdfast.wording import percent, plural

__all__ = ["board_shown", "group_rows", "line_shown", "overview_shown"]

_WIDE = 120  # of a bar, in its own unit
_MARGIN = 0.1  # on both sides of what is known of anybody on a board


def overview_shown(holdout: Holdout) -> dict[str, Any]:
    """The first page: one sentence on the promise, and what is left."""
    budget, view = holdout.budget, holdout.ledger
    closed, terms = budget.account.closed, budget.terms
    many = plural(len(view), "interval")
    if terms.simultaneous:
        promise = (
            f"The promise is intact: with probability {percent(terms.confidence_level)} all "
            f"{many} given so far contain the truth, together."
        )
    else:
        promise = "Nothing is promised here: every interval is the whole range."
    return {
        "name": holdout.name,
        "rows": holdout.rows,
        "promise": promise,
        "remaining": budget.remaining,
        "left": budget.questions_left,
        "declared": terms.questions,
        "described": terms.describes,
        "answered": len(view),
        "surprises_left": budget.surprises_left,
        "checks": budget.checker is not None,
        "assumes": terms.assumption,
        "width": terms.width,
        "closed": closed,
        "board": holdout.boarding.record.terms is not None,
    }


def line_shown(line: Mapping[str, Any]) -> dict[str, Any]:
    """A line of the ledger with its interval as text and as a bar over its range."""
    interval, value = interval_between(line["low"], line["high"]), line["value"]
    return {
        **line,
        "shown": "" if value is None else interval.value_text(value),
        "interval": str(interval),
        "bar": _bar(interval, value),
    }


def group_rows(found: Answer | Groups | Distribution) -> list[dict[str, Any]]:
    """The rows of a table of answers; none for a single one."""
    if isinstance(found, Answer):
        return []
    return [
        {
            "label": ", ".join(map(str, label)) if isinstance(label, tuple) else str(label),
            "shown": answer.recorded.shown,
            "interval": str(answer.interval),
            "status": answer.status,
            "bar": _bar(answer.interval, answer.value),
        }
        for label, answer in found
    ]


def _bar(interval: Interval, value: float | None) -> dict[str, float] | None:
    """Where a bar begins, how long it is and where the value is: of shares, over 0 to 1."""
    low, high = interval
    if low < 0 or high > 1:
        return None
    place = (low + high) / 2 if value is None else value
    return {
        "x": round(_WIDE * low, 1),
        "width": round(max(2.0, _WIDE * (high - low)), 1),
        "at": round(_WIDE * min(1.0, max(0.0, place)), 1),
    }


def board_shown(told: Mapping[str, Any]) -> dict[str, Any]:
    """Standings with their intervals as bars over all that is known of anybody."""
    rows = told["standings"]
    ends = [end for row in rows for end in (row["low"], row["high"]) if end is not None]
    low, high = (min(ends), max(ends)) if len(set(ends)) > 1 else (0.0, 1.0)
    margin = _MARGIN * (high - low)
    low, high = low - margin, high + margin

    def share(end: float) -> float:
        return (end - low) / (high - low)

    def bar(row: Mapping[str, Any]) -> dict[str, float | None] | None:
        if row["low"] is None and row["high"] is None:
            return None
        first = 0.0 if row["low"] is None else share(row["low"])
        last = 1.0 if row["high"] is None else share(row["high"])  # an open end reaches the edge
        value = row["value"]
        return {
            "x": round(_WIDE * first, 1),
            "width": round(_WIDE * (last - first), 1),
            "at": None if value is None else round(_WIDE * share(value), 1),
        }

    return {
        "rows": [{**row, "bar": bar(row)} for row in rows],
        "invalid": told["invalid"],
        "final": told["final"],
        "ends": (low, high),
    }
