"""What pages show of the ledger: numbers in the digits that answers have, and intervals as bars."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.data.sampling import GIVEN_SIZES
from holdfast.holdout.answer import Answer
from holdfast.holdout.groups import Distribution, Groups
from holdfast.holdout.holdout import Holdout
from holdfast.ledger.entries import Recorded
from holdfast.question.text import identifier
from holdfast.service.data_set import dataset_kind
from holdfast.service.tokens import Token
from holdfast.service.wire import ledger_told
from holdfast.statistics.names import short_name
from holdfast.theory.base.intervals import Interval
from holdfast.wording import percent, plural

__all__ = ["board_shown", "gate_shown", "group_rows", "lines_shown", "overview_shown"]

_WIDE = 120  # of a bar, in its own unit
_COMPARED = 50  # of the newest comparisons
_MARGIN = 0.1  # on both sides of what is known of anybody on a board


def overview_shown(holdout: Holdout) -> dict[str, Any]:
    """The first page: one sentence on the promise, and what is left."""
    budget, view = holdout.budget, holdout.ledger
    closed, terms = budget.account.closed, budget.terms
    many = plural(len(view), "interval")
    if terms.simultaneous and not view:
        promise = "The promise is intact: no interval has been given yet."
    elif terms.simultaneous:
        condition = f", {GIVEN_SIZES}" if terms.given_sizes else ""
        promise = (
            f"The promise is intact: with probability {percent(terms.confidence_level)} all "
            f"{many} given so far contain the truth, together{condition}."
        )
    else:
        promise = "Nothing is promised here: every interval is the whole range."
    kind, remaining = dataset_kind(holdout), budget.remaining
    if closed is None and kind != "table":
        remaining = budget.more_candidates
        remaining = remaining.replace("candidate", "submission") if kind == "board" else remaining
    return {
        "name": holdout.name,
        "rows": holdout.rows,
        "promise": promise,
        "remaining": remaining,
        "left": budget.questions_left,
        "declared": terms.questions,
        "described": terms.describes,
        "answered": len(view),
        "surprises_left": budget.surprises_left,
        "checks": budget.checker is not None,
        "assumes": terms.assumption,
        "width": terms.width,
        "closed": closed,
        "kind": kind,
    }


def lines_shown(
    holdout: Holdout, reader: Token, many: int, *, first: int = 0, gates: bool = False
) -> list[dict[str, Any]]:
    """Lines of the ledger from the newest on, or of its gates alone, as a page shows them."""
    view = holdout.ledger
    pairs = zip(view, view.to_dicts(), strict=True)
    newest = [pair for pair in pairs if pair[0].is_gate or not gates][::-1][first : first + many]
    lines = ledger_told([facts for _, facts in newest], reader, holdout)
    return [
        _line(line, {**facts, "question": short_name(facts["question"], view.schema)})
        for (line, _), facts in zip(newest, lines, strict=True)
    ]


def _line(line: Recorded, facts: Mapping[str, Any]) -> dict[str, Any]:
    """A line with what it says in words, and its interval as text and as a bar over its range.

    A one-sided claim is told as it was made, and of what says nothing there is no interval.
    """
    says, sided = line.value is not None, line.side is not None
    return {
        **facts,
        "claimed": line.claimed,
        "shown": line.shown if says else "",
        "interval": line.interval_text if says and not sided else "",
        "bar": _bar(line.interval, line.value) if says else None,
    }


def gate_shown(holdout: Holdout, reader: Token) -> dict[str, Any]:
    """A gate: whom candidates are compared with, who they are, and what was shown."""
    incumbent = holdout.incumbent
    rivals = [each.name for each in holdout.columns if each.name == each.column != incumbent]
    against = [] if incumbent is None else rivals
    return {
        "incumbent": incumbent,
        "left": holdout.budget.more_candidates,
        "candidates": [
            {"name": name, "question": f"difference({identifier(name)}, {identifier(incumbent)})"}
            for name in reversed(against)
            if incumbent is not None
        ],
        "lines": lines_shown(holdout, reader, _COMPARED, gates=True),
        "promise": overview_shown(holdout)["promise"],
    }


def group_rows(reply: Answer | Groups | Distribution) -> list[dict[str, Any]]:
    """The rows of a table of answers; none for a single one."""
    if isinstance(reply, Answer):
        return []
    return [
        {
            "label": ", ".join(map(str, label)) if isinstance(label, tuple) else str(label),
            "shown": answer.recorded.shown,
            "interval": answer.recorded.interval_text,
            "status": answer.status,
            "bar": _bar(answer.interval, answer.value),
        }
        for label, answer in reply
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


def board_shown(standings: Mapping[str, Any]) -> dict[str, Any]:
    """Standings with their intervals as bars over all that is known of anybody."""
    rows = standings["standings"]
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
        "invalid": standings["invalid"],
        "final": standings["final"],
        "ends": (low, high),
    }
