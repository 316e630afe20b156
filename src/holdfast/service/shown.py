"""What pages show of the ledger: numbers in the digits that answers have, and intervals drawn."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from holdfast.boards.standings import Standing
from holdfast.data.sampling import GIVEN_SIZES
from holdfast.holdout.groups import Distribution, Groups
from holdfast.holdout.holdout import Holdout
from holdfast.ledger.entries import Recorded
from holdfast.ledger.view import LedgerView
from holdfast.question.expression import identifier
from holdfast.service.data_set import dataset_kind
from holdfast.service.tokens import Token
from holdfast.service.wire import ledger_told
from holdfast.statistics.bind import short_name
from holdfast.theory.base.intervals import Interval
from holdfast.wording import among_rows, percent, plural, status_text

_WIDE = 120  # of a bar, in its own unit
_DRAWN = 320  # the width of a picture, in its own unit
_EDGE = 14  # on both sides of a picture, for the texts of its first and last tick
_COMPARED = 50  # of the newest comparisons
_NAMED = 5  # of the groups that another one is more than
_STEPS = 24  # of the newest gates, in their picture
_MARGIN = 0.1  # on both sides of what is known of anybody on a board
_ROOM = 0.6  # on both sides of one interval, as a part of it


# An axis that shows what is known, and where on it something is.


@dataclass(frozen=True, slots=True)
class _Axis:
    """What a picture shows, from `low` to `high`, over so many units."""

    low: float
    high: float
    wide: int = _DRAWN
    edge: int = _EDGE

    @classmethod
    def over(cls, ends: Iterable[float], room: float, limits: Interval | None = None) -> _Axis:
        """An axis over all ends, with room on both sides; not beyond the limits of the values."""
        finite = [end for end in ends if math.isfinite(end)] or [0.0, 1.0]
        low, high = min(finite), max(finite)
        margin = room * (high - low) or 0.05 * abs(high) or 1.0
        first, last = low - margin, high + margin
        if limits is not None:
            first, last = max(first, min(limits.low, low)), min(last, max(limits.high, high))
        return cls(first, last if last > first else first + 1.0)

    def at(self, value: float) -> float:
        """Where a value is; beyond the ends, at the end."""
        part = min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))
        return round(self.edge + (self.wide - 2 * self.edge) * part, 1)

    @property
    def ticks(self) -> list[dict[str, Any]]:
        """Three to six round numbers, and where they are."""
        rough = (self.high - self.low) / 4
        power = 10.0 ** math.floor(math.log10(rough))
        step = power * next(each for each in (1, 2, 5, 10) if each * power >= rough)
        first, last = math.ceil(self.low / step), math.floor(self.high / step)
        return [
            {"at": self.at(place * step), "text": f"{place * step:.10g}"}
            for place in range(first, last + 1)
        ]

    def bar(self, interval: Interval, value: float | None) -> dict[str, float | None]:
        """Where a bar begins, how long it is, and where the value is."""
        low, high = (self.at(end) for end in interval)
        return {
            "x": low,
            "width": round(max(2.0, high - low), 1),
            "at": None if value is None else self.at(value),
        }


def picture_of(line: Recorded, *marks: float) -> dict[str, Any] | None:
    """An answer over an axis: its interval, its value, and numbers that it is compared with."""
    if line.value is None:
        return None
    sign = [0.0] if line.range.low < 0 < line.range.high else []
    claims = [] if line.request.guess is None else [line.request.guess]
    near = [*marks, *claims]
    axis = _Axis.over((*line.interval, *near), _ROOM, line.range)
    shown = [*near, *(each for each in sign if axis.low <= each <= axis.high)]
    return {
        **axis.bar(line.interval, line.value),
        "ticks": axis.ticks,
        "marks": [axis.at(each) for each in dict.fromkeys(shown)],
        "text": f"{line.shown} {line.interval_text}",
    }


def decision_of(line: Recorded) -> str:
    """What an answer decides, in one sentence."""
    if line.status == "no promise":
        return "Nothing is promised of this answer."
    if line.value is None:
        claimed = f" whether it is {line.claimed}" if line.claimed else ": it may be anything"
        return f"Decides nothing{claimed}."
    if line.side is not None:
        return f"Decided: it is {line.shown}."
    if line.request.verb == "check":
        return f"Your guess {line.request.guess:.10g} is {line.status}: {_between(line)}."
    return _against_mark(line)


def _between(line: Recorded) -> str:
    return f"it is between {' and '.join(line.interval.ends(line.range))}"


def _against_mark(line: Recorded) -> str:
    """Which side of 0, or of one half, an answer is on; else between what it is."""
    ranges = tuple(line.range)
    if line.question.startswith("difference("):
        mark, above, below = 0.0, "the first is larger", "the second is larger"
        untold = line.outlook or "cannot tell yet which is larger"
    elif line.range.low < 0 < line.range.high:
        mark, above, below = 0.0, "it is above 0", "it is below 0"
        untold = "cannot tell yet whether it is above or below 0"
    elif ranges == (0.0, 1.0):
        mark, above, below = 0.5, "it is more than one half", "it is less than one half"
        untold = "cannot tell yet whether it is more or less than one half"
    else:
        return f"Decided: {_between(line)}."
    if mark in line.interval:
        return f"{untold[0].upper()}{untold[1:]}."
    return f"Decided: {above if line.interval.low > mark else below}."


def threshold_shown(line: Recorded, number: float) -> str:
    """Which side of a number an answer is on; the interval is public, so this is free."""
    if line.value is None or number in line.interval:
        return f"Cannot tell: {number:.10g} is inside the interval."
    is_above = line.interval.low > number
    side = "above" if is_above else "below"
    return f"{'Yes' if is_above else 'No'}: all of the interval is {side} {number:.10g}."


def comparison_shown(first: Recorded, second: Recorded) -> dict[str, Any]:
    """Two answers on one axis, and what their intervals say of the difference.

    Both intervals are true together, so what follows from them is true with them, and is free.
    """
    pair = (first, second)
    if any(line.value is None for line in pair):
        return {"bars": [], "sentence": "One of them says nothing.", "between": ""}
    least = math.nextafter(first.interval.low - second.interval.high, -math.inf)
    most = math.nextafter(first.interval.high - second.interval.low, math.inf)
    limits = Interval(min(each.range.low for each in pair), max(each.range.high for each in pair))
    axis = _Axis.over((*first.interval, *second.interval), _MARGIN, limits)
    sentence = "Cannot tell which is larger: the intervals overlap."
    if least > 0 or most < 0:
        sentence = f"The {'first' if least > 0 else 'second'} is larger."
    return {
        "bars": [axis.bar(line.interval, line.value) for line in pair],
        "ticks": axis.ticks,
        "sentence": sentence,
        "between": Interval(least, most).text(),
        "alike": first.range == second.range,
    }


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


@dataclass(frozen=True, slots=True)
class LedgerSearch:
    """Which lines of a ledger somebody looks for: words in them, a status, who asked."""

    words: str = ""
    status: str = ""
    by: str = ""

    def __bool__(self) -> bool:
        return bool(self.words or self.status or self.by)

    def fits(self, facts: Mapping[str, Any]) -> bool:
        """Whether a line is looked for; `facts` are what the reader may know of it."""
        fields = ("question", "table", "why", "asked_by")
        text = " ".join(facts.get(name) or "" for name in fields).lower()
        return (
            all(word in text for word in self.words.lower().split())
            and self.status in ("", facts["status"])
            and self.by in ("", facts.get("asked_by") or "")
        )


def lines_shown(
    holdout: Holdout,
    reader: Token,
    many: int,
    *,
    first: int = 0,
    gates: bool = False,
    search: LedgerSearch | None = None,
) -> list[dict[str, Any]]:
    """Lines of the ledger from the newest on, or of its gates alone, as a page shows them."""
    view = holdout.ledger
    newest = [line for line in view if line.is_gate or not gates][::-1]
    if not search:  # facts are made of what is shown alone
        newest = newest[first : first + many]
    lines = list(zip(newest, _visible(view, newest, reader, holdout), strict=True))
    if search:
        lines = [pair for pair in lines if search.fits(pair[1])][first : first + many]
    return [_line(line, facts, holdout) for line, facts in lines]


def line_of(holdout: Holdout, reader: Token, number: int) -> tuple[Recorded, dict[str, Any]] | None:
    """A line by its number, as it is recorded and as a page shows it; None where there is none."""
    view = holdout.ledger
    line = next((each for each in view if each.number == number), None)
    if line is None:
        return None
    (facts,) = _visible(view, [line], reader, holdout)
    return line, _line(line, facts, holdout)


def _visible(
    view: LedgerView, lines: Sequence[Recorded], reader: Token, holdout: Holdout
) -> list[dict[str, Any]]:
    """Facts of some lines, as far as a reader may know them."""
    return ledger_told(replace(view, lines=tuple(lines)).to_dicts(), reader, holdout)


# What a page shows of a line beside its facts.
SHOWN = (
    "bar", "claimed", "copy", "decides", "interval", "name", "picture", "rows", "shown",
    "status_text",
)  # fmt: skip


def _line(line: Recorded, facts: Mapping[str, Any], holdout: Holdout) -> dict[str, Any]:
    """A line with what it says in words, and its interval as text and as a bar over its range.

    A one-sided claim is told as it was made, and of what says nothing there is no interval.
    """
    says, sided = line.value is not None, line.side is not None
    interval = line.interval_text if says and not sided else ""
    rows, name = holdout.rows, short_name(facts["question"], holdout.schema)
    return {
        **facts,
        "name": name,
        "status_text": status_text(line.status),
        "claimed": line.claimed,
        "shown": line.shown if says else "",
        "interval": interval,
        "bar": _bar(line) if says else None,
        "decides": decision_of(line),
        "picture": picture_of(line),
        "rows": among_rows(line.rows or (rows, rows), rows, line.missing),
        "copy": f"{name}: {line.shown if says else status_text(line.status)} {interval}".strip(),
    }


def fold_tables(lines: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Lines in their order, those of one table under its name and over one axis."""
    for (table, at), group in groupby(lines, key=lambda line: (line["table"], line["at"])):
        members = list(group)
        if table is None or len(members) == 1:
            yield from ({"table": None, "lines": [line]} for line in members)
        else:
            text = "\n".join(line["copy"] for line in members)
            drawn = {"groups": _table_drawn(members), "copy": text}
            yield {"table": table, "at": at, "lines": members, **drawn}


def _table_drawn(lines: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Lines of one table over one axis, each by what its question has for itself."""
    labels = _differing([line["name"] for line in lines])
    ends = [line[end] for line in lines for end in ("low", "high") if line[end] is not None]
    axis = _Axis.over(ends, _MARGIN)
    return _drawn_together(
        axis,
        (
            (label, line["number"], line["shown"], line["interval"], _ends(line), line["value"])
            for label, line in zip(labels, lines, strict=True)
        ),
    )


def _ends(line: Mapping[str, Any]) -> Interval:
    low = -math.inf if line["low"] is None else line["low"]
    return Interval(low, math.inf if line["high"] is None else line["high"])


def _differing(texts: Sequence[str]) -> list[str]:
    """What texts have beside what all of them begin and end with; whole words of it."""
    first, last = _beginning(texts), _beginning([text[::-1] for text in texts])
    return [text[len(first) : len(text) - len(last)] or text for text in texts]


def _beginning(texts: Sequence[str]) -> str:
    """What all texts begin with, up to the end of a word."""
    least, most = min(texts), max(texts)  # what these have in common, all have
    pairs = enumerate(zip(least, most, strict=False))
    common = next((place for place, (a, b) in pairs if a != b), len(least))
    return re.sub(r"[\w.-]*$", "", least[:common])


def _drawn_together(axis: _Axis, rows: Iterable[tuple[Any, ...]]) -> dict[str, Any]:
    drawn_rows = [
        {
            "label": label,
            "number": number,
            "shown": text,
            "interval": interval,
            "bar": None if value is None else axis.bar(ends, value),
        }
        for label, number, text, interval, ends, value in rows
    ]
    return {"ticks": axis.ticks, "rows": drawn_rows}


def gate_shown(holdout: Holdout, reader: Token) -> dict[str, Any]:
    """A gate: whom candidates are compared with, who they are, and what was shown."""
    incumbent, budget = holdout.incumbent, holdout.budget
    gate = budget.next_gate()
    rivals = [each.name for each in holdout.columns if each.name == each.column != incumbent]
    against = [] if incumbent is None else rivals
    return {
        "incumbent": incumbent,
        "left": budget.more_candidates + ("" if gate is None else f"; {gate}"),
        "candidates": [
            {"name": name, "question": f"difference({identifier(name)}, {identifier(incumbent)})"}
            for name in reversed(against)
            if incumbent is not None
        ],
        "lines": (lines := lines_shown(holdout, reader, _COMPARED, gates=True)),
        "folds": list(fold_tables(lines)),
        "steps": _steps(lines[:_STEPS][::-1]),
        "promise": overview_shown(holdout)["promise"],
    }


def _steps(lines: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Gates in their order: one step up for each that was shown."""
    steps: list[dict[str, Any]] = []
    for line in lines:
        shown = line["status"] == "shown"
        height = (steps[-1]["height"] if steps else 0) + shown
        name = (line["why"] or line["name"]).partition(" against ")[0]
        steps.append({"shown": shown, "height": height, "name": name, "at": line["at"][:16]})
    return steps


def groups_drawn(reply: Groups | Distribution) -> dict[str, Any]:
    """A table of answers, each over the same axis, and which of them are shown to differ."""
    members = [
        (", ".join(map(str, label)) if isinstance(label, tuple) else str(label), answer.recorded)
        for label, answer in reply
    ]
    ends = [end for _, line in members if line.value is not None for end in line.interval]
    axis = _Axis.over(ends, _MARGIN, members[0][1].range)
    rows = (
        (label, line.number, line.shown, line.interval_text, line.interval, line.value)
        for label, line in members
    )
    return {**_drawn_together(axis, rows), "decides": _most_of(members)}


def _most_of(members: Sequence[tuple[str, Recorded]]) -> str:
    """Which of several answers is shown to be more than which others."""
    top, most = max(members, key=lambda member: member[1].interval.low)
    below = [label for label, line in members if line.interval.high < most.interval.low]
    if not below:
        return "No two of them are shown to differ."
    some = ", ".join(below[:_NAMED])
    more = f" and {len(below) - _NAMED} more" if len(below) > _NAMED else ""
    return f"Decided: {top} is more than {some}{more}."


def _bar(line: Recorded) -> dict[str, float | None] | None:
    """The interval over the range of its values; none where that is a grid's."""
    low, high = line.range
    if line.request.unbounded or low == high:
        return None
    return _Axis(low, high, _WIDE, 0).bar(line.interval, line.value)


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

    drawn_rows = [{**row, "bar": bar(row), **_score(row)} for row in rows]
    return {
        "leader": next((row for row in drawn_rows if row["rank"] == 1), None),
        "rows": drawn_rows,
        "invalid": standings["invalid"],
        "final": standings["final"],
        "ends": (low, high),
    }


def _score(row: Mapping[str, Any]) -> dict[str, str]:
    """The score of a submission in words, and its interval: an open end is that of the metric."""
    standing = Standing.from_dict(row)
    low, high = standing.bounds
    first = low if standing.low is None else standing.low
    last = high if standing.high is None else standing.high
    score = "" if standing.value is None else standing.score
    return {"score": score, "scored": Interval(first, last).text(standing.bounds)}
