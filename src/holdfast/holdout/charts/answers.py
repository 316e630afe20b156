"""Charts of answers: each line by its own name, a distribution's band, a fall of stability."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.errors import InvalidArgument, InvalidQuestion
from holdfast.holdout.charts import canvas
from holdfast.question.expression import ColumnType
from holdfast.question.parse import read_call
from holdfast.statistics.bind import short_name
from holdfast.wording import plural

if TYPE_CHECKING:
    import altair

    from holdfast.ledger.entries import Judgement, Recorded
    from holdfast.ledger.transcript import Transcript
    from holdfast.mechanisms.mechanism import Status
    from holdfast.mechanisms.terms import Terms
    from holdfast.papers.stability import Stability
    from holdfast.question.columns import Schema
    from holdfast.theory.base.intervals import Interval

_GOOD, _BAD, _OPEN = "#0b6e4f", "#d62728", "#808080"
_STATUS_COLOURS: dict[Status | Judgement, str] = {
    "answered": "#1f77b4",
    "better": _GOOD,
    "worse": _BAD,
    "cannot tell": "#b8860b",
    "confirmed": _GOOD,
    "not confirmed": _BAD,
    "shown": _GOOD,
    "not shown": _OPEN,
    "no promise": _OPEN,
    "says nothing": "#a9a9a9",
}
# Pixels: an axis that a phone has room for, a line of text, a bar, and room below it.
_WIDTH, _TEXT, _BAR, _ROOM_BELOW = 294, 13, 14, 12
_LETTERS = 56  # of a line of text
_ONE_PLACE = 1e-9  # of the range: what is shown to be above 0 begins a rounding above it
_ROOM = 0.08  # of what an axis shows, on both sides of it


def ledger_chart(transcript: Transcript, path: str | None) -> altair.VConcatChart:
    """Everything that a ledger has answered; saved if a path is given."""
    if path is not None:
        canvas.require_file(path)  # before it is drawn, not after
    schema = transcript.table.schema
    picture = answers_chart(transcript.opening.name, transcript.lines, transcript.terms, schema)
    if path is not None:
        canvas.save(picture, path)
    return picture


def answers_chart(
    name: str, lines: Sequence[Recorded], terms: Terms, schema: Schema
) -> altair.VConcatChart:
    """What was asked with its interval, line by line, and what is promised of them together.

    There is a panel for each unit, and what differs by its group alone stands together. Above each
    line is its question in full, with what it decides. What an interval leaves open is an arrow.
    """
    alt = canvas.drawing_library()
    if not lines:
        raise InvalidArgument("no question has been answered yet, so there is nothing to draw.")
    names = dict(zip(map(id, lines), _names(lines, schema), strict=True))
    panels: dict[str, dict[str, list[Recorded]]] = {}
    for line in lines:
        text = short_name(line.question, schema)
        panel = panels.setdefault(_unit(text, line.range, schema), {})
        panel.setdefault(text.partition(" where ")[0], []).append(line)
    outcomes = {_outcome(line) for line in lines}
    colours = {name: colour for name, colour in _STATUS_COLOURS.items() if name in outcomes}
    picture = alt.vconcat(
        *(
            _panel(
                alt, title, [(names[id(line)], line) for line in chain(*panel.values())], colours
            )
            for title, panel in panels.items()
        ),
        title=alt.Title(
            f"{name}: {plural(len(lines), 'answer')}",
            subtitle=terms.together
            if terms.simultaneous
            else "no promise: every interval is the whole range",
        ),
    )
    return canvas.shown_offline(picture)  # type: ignore[no-any-return]


_SHARES = {(0.0, 1.0): "share of rows", (-1.0, 1.0): "difference of shares"}
_IN_UNITS_OF_ROWS = ("avg", "mean", "median", "quantile", "std", "difference", "effect")


def _unit(name: str, limits: Interval, schema: Schema) -> str:
    """What an axis counts: shares of rows, a column in its own unit, or the statistic itself."""
    try:
        call = read_call(name)
    except InvalidQuestion:  # a function of Python, or a column of a search
        return name
    if call.name not in _IN_UNITS_OF_ROWS:
        return call.name
    measured, shares = call.arguments[0], _SHARES.get((limits.low, limits.high))
    if call.name in ("difference", "effect") and shares is None:
        return f"difference of {_unit(measured, limits, schema)}"
    if schema.types.get(measured, ColumnType.BOOLEAN) is not ColumnType.BOOLEAN:
        return measured
    return shares or f"a value between {limits.low:,g} and {limits.high:,g}"


def _names(lines: Sequence[Recorded], schema: Schema) -> list[str]:
    """What each is called: a candidate as its gate does, all else by its question.

    What was asked more than once has the number of its line beside it.
    """
    names = [
        line.why if line.is_gate and line.why else short_name(line.question, schema)
        for line in lines
    ]
    times = Counter(names)
    return [
        name if times[name] == 1 else f"{name} (line {line.number})"
        for name, line in zip(names, lines, strict=True)
    ]


def _outcome(line: Recorded) -> str:
    """The verdict of a difference, or what became of the question."""
    return line.status if line.value is None else line.verdict or line.status


class _Ends(NamedTuple):
    """Where an interval ends, on either side; None where it is left open."""

    low: float | None
    high: float | None


def _ends(line: Recorded) -> _Ends:
    if line.value is None:
        return _Ends(None, None)
    low, high = (end if math.isfinite(end) else None for end in line.interval)
    if line.side is None or line.guess is None:
        return _Ends(low, high)
    # Of a one-sided claim the other end is the range's, of which nothing was claimed.
    at_least = abs(line.interval.low - line.guess) <= abs(line.interval.high - line.guess)
    return _Ends(low, None) if at_least else _Ends(None, high)


def _panel(alt: Any, title: str, rows: list[tuple[str, Recorded]], colours: dict[Any, str]) -> Any:
    left, right = domain = _domain([line for _, line in rows])
    points, height = [], 0
    for name, line in rows:
        ends, written = _ends(line), textwrap.wrap(name, _LETTERS)
        top, height = height, height + (len(written) + 1) * _TEXT + _BAR
        points.append(
            {
                "name": name,
                "written": "\n".join(written),
                "top": top,
                "below": top + len(written) * _TEXT,
                "place": height - _BAR // 2,
                "question": line.question,
                "value": line.value,
                "low": left if ends.low is None else ends.low,
                "high": right if ends.high is None else ends.high,
                "open low": ends.low is None,
                "open high": ends.high is None,
                "claimed": _claimed_in_vain(line),
                "outcome": _outcome(line),
                "said": _figures(line),
            }
        )
        height += _ROOM_BELOW
    pixels = alt.Scale(domain=[0, height], range=[0, height], nice=False)
    y = {field: alt.Y(f"{field}:Q", axis=None, scale=pixels) for field in ("top", "below", "place")}
    x = alt.X("low:Q", title=title).axis(
        titleLimit=_WIDTH, tickCount=5, labelOverlap=True, gridOpacity=0.5
    )
    base = alt.Chart(alt.Data(values=points)).encode(
        y=y["place"],
        color=alt.Color("outcome:N", title=None)
        .scale(domain=list(colours), range=list(colours.values()))
        .legend(orient="top", symbolType="square", columns=4),
        tooltip=["question:N", "outcome:N", "said:N"],
    )
    text = {"align": "left", "baseline": "top"}
    layers = [
        base.mark_rule(strokeWidth=3).encode(
            x=x.scale(domain=domain, nice=False, zero=False), x2="high:Q"
        ),
        base.mark_point(filled=True, size=60, opacity=1).encode(x="value:Q"),
        base.mark_text(**text, fontSize=11, fontWeight="bold").encode(
            x=alt.value(0), y=y["below"], text="said:N"
        ),
        alt.Chart(alt.Data(values=points))
        .mark_text(**text, fontSize=11, lineBreak="\n", lineHeight=_TEXT)
        .encode(x=alt.value(0), y=y["top"], text="written:N"),
    ]
    for side, place, shape in (("low", left, "triangle-left"), ("high", right, "triangle-right")):
        if any(point[f"open {side}"] for point in points):
            arrows = base.transform_filter(f"datum['open {side}']")
            layers.append(
                arrows.mark_point(filled=True, size=90, opacity=1, shape=shape).encode(
                    x=alt.datum(place)
                )
            )
    if any(point["claimed"] is not None for point in points):
        layers.append(base.mark_tick(thickness=2, size=14).encode(x="claimed:Q"))
    if left < 0 < right:
        zero = alt.Chart(alt.Data(values=[{"value": 0}])).encode(x="value:Q")
        layers.insert(0, zero.mark_rule(strokeDash=[4, 3], color="#555555"))
    return alt.layer(*layers).properties(width=_WIDTH, height=height)


def _claimed_in_vain(line: Recorded) -> float | None:
    """The bound of a one-sided claim of which nothing is known."""
    return line.request.guess if line.value is None and line.request.side is not None else None


def _figures(line: Recorded) -> str:
    """What an answer says in figures, and what it decides."""
    if line.value is None:
        return f"{line.status}: {line.claimed}" if line.claimed else line.status
    if line.side is not None:
        return f"{line.status}: {line.shown}"
    decided = line.verdict or (line.status if line.status == "confirmed" else "")
    undecided = "cannot tell" if line.outlook and not decided else ""
    return " · ".join(filter(None, (f"{line.shown} {line.interval_text}", decided or undecided)))


def _domain(lines: list[Recorded]) -> list[float]:
    """What an axis shows: all ends that are known, with room, and 0 where it separates signs.

    What says nothing has none, so that it makes no axis too long to read the others.
    """
    ends = [end for line in lines for end in _ends(line) if end is not None]
    ends += [bound for line in lines if (bound := _claimed_in_vain(line)) is not None]
    least, most = min(line.range.low for line in lines), max(line.range.high for line in lines)
    if least < 0 < most:
        ends.append(0.0)
    if not ends or max(ends) - min(ends) <= _ONE_PLACE * (most - least):
        return [least, most]
    room = _ROOM * (max(ends) - min(ends))
    # What has no declared range may be beyond that of its grid.
    low = max(min(ends) - room, min(least, *ends))
    return [low, min(max(ends) + room, max(most, *ends))]


_BLUE = "#1f77b4"


def distribution_chart(
    value: str, points: list[dict[str, Any]], together: str
) -> altair.LayerChart:
    """The share of rows up to each threshold, with a band that holds between them too."""
    alt = canvas.drawing_library()
    x = alt.X("threshold:Q", title=value).scale(zero=False)
    y = alt.Y("low:Q", title="share of rows up to there").scale(domain=[0, 1]).axis(format="%")
    at_thresholds = alt.Chart(alt.Data(values=points)).encode(x=x)
    between = alt.Chart(alt.Data(values=list(_between(points)))).encode(x=x, x2="next:Q")
    picture = alt.layer(
        between.mark_rect(color=_BLUE, opacity=0.2).encode(y=y, y2="high:Q"),
        at_thresholds.mark_line(interpolate="step-after", color=_BLUE).encode(y="share:Q"),
        at_thresholds.mark_rule(color=_BLUE, strokeWidth=2).encode(y=y, y2="high:Q"),
        at_thresholds.mark_point(color=_BLUE, filled=True, size=30, opacity=1).encode(y="share:Q"),
    ).properties(
        width=560,
        height=320,
        title=alt.Title(
            f"Distribution of {value}",
            subtitle=[together, "shaded: where the share is, between thresholds too"],
        ),
    )
    return canvas.shown_offline(picture)  # type: ignore[no-any-return]


def _between(points: Iterable[dict[str, Any]]) -> Iterable[dict[str, Any]]:
    """What is known between neighbouring thresholds.

    A share grows with its threshold, so there it is at least what the one before it says, and at
    most what the one after it says: a band of each threshold's own interval would say too much.
    """
    for here, following in pairwise(points):
        yield {
            "threshold": here["threshold"],
            "next": following["threshold"],
            "low": here["low"],
            "high": following["high"],
        }


def stability_chart(stability: Stability) -> altair.Chart:
    """eta of all answers together against their number, a line for each account."""
    alt = canvas.drawing_library()
    points = [
        {"account": point.by, "questions": point.questions, "eta": point.eta}
        for point in stability.growing()
    ]
    if not points:
        raise InvalidArgument("no account has a finite eta here, so there is nothing to draw.")
    lines = alt.Chart(alt.Data(values=points)).mark_line(point=True, strokeWidth=2)
    picture = lines.encode(
        x=alt.X("questions:Q", title="questions").scale(type="log"),
        y=alt.Y("eta:Q", title="eta of all answers together").scale(type="log"),
        color=alt.Color("account:N", title=None).legend(labelLimit=320),
        tooltip=["account:N", "questions:Q", alt.Tooltip("eta:Q", format=".4g")],
    ).properties(
        width=560,
        height=360,
        title=alt.Title(
            f"Stability of answers by {stability.mechanism}",
            subtitle=f"tau = nu = {stability.level:g}; an account that has no finite eta there has "
            "no point",
        ),
    )
    return canvas.shown_offline(picture)  # type: ignore[no-any-return]
