"""Charts: one Altair specification for PNG, SVG, PDF, HTML and notebooks, all offline."""

from __future__ import annotations

import importlib
import math
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.mechanisms.catalogue import CATALOGUE
from holdfast.theory.base.intervals import Interval
from holdfast.theory.planning import Kind, Method, check_method
from holdfast.wording import percent, plural

if TYPE_CHECKING:
    import altair

    from holdfast.holdout.stability import Stability
    from holdfast.ledger.entries import Recorded
    from holdfast.ledger.transcript import Transcript
    from holdfast.mechanisms.mechanism import Status
    from holdfast.planner.table import Plan

__all__ = [
    "answers_chart",
    "distribution_chart",
    "drawing_library",
    "ledger_chart",
    "new_axes",
    "plan_chart",
    "require_file",
    "save",
    "stability_chart",
]

_FORMATS = (".html", ".json", ".pdf", ".png", ".svg")
_POINTS_PER_DECADE = 3
_LEAST_SHOWN = 10
_COLOURS = {kind.name: kind.colour for kind in CATALOGUE.values()}
_STATUS_COLOURS: dict[Status | Literal["says nothing"], str] = {
    "answered": "#1f77b4",
    "confirmed": "#0b6e4f",
    "not confirmed": "#d62728",
    "no promise": "#808080",
    "says nothing": "#c0c0c0",
}
_UNDRAWN = {name for name, colour in _COLOURS.items() if colour is None}
_DASHES: dict[Kind, list[int]] = {
    "described": [1, 0],
    "promise": [1, 0],
    "together": [8, 3],
    "reference": [5, 3],
    "not valid": [2, 2],
}
_LENGTH_COLOURS = ("#08306b", "#2171b5", "#6baed6", "#9ecae1", "#c6dbef")
_ROUND_COLOURS = ("#54278f", "#9e9ac8")
_GUESS_COLOURS = ("#7fc97f", "#a6d854", "#cddc39")
_PUBLISHED_COLOURS = ("#555555", "#808080", "#a0a0a0", "#c0c0c0")


def save(chart: Any, path: str | Path) -> Path:
    """Write a chart; the ending of the name says the format. No network is used."""
    target = require_file(path)
    options: dict[str, Any] = {}
    match target.suffix.lower():
        case ".html":
            options["inline"] = True
        case ".png":
            options["scale_factor"] = 2
    chart.save(str(target), **options)
    return target


def require_file(path: str | Path) -> Path:
    """Where a chart can be written: a folder that is there, a name that says the format."""
    target = require.file("the chart's file", path)
    if target.suffix.lower() not in _FORMATS:
        raise InvalidArgument(
            f"the chart's file is {str(path)!r}; its name must end in {', '.join(_FORMATS)}."
        )
    if not target.parent.is_dir():
        raise InvalidArgument(
            f"the chart's file is {str(path)!r}, and there is no folder {str(target.parent)!r}; "
            "create it first."
        )
    return target


def plan_chart(plan: Plan) -> altair.LayerChart:
    """Half-width against number of questions, a line for each mechanism, for the plan's rows."""
    alt = drawing_library()
    points = _plan_points(plan)
    names = list(dict.fromkeys(point["mechanism"] for point in points))
    base = alt.Chart(alt.Data(values=points))
    lines = base.mark_line(point=alt.OverlayMarkDef(size=18), strokeWidth=2).encode(
        x=alt.X("questions:Q", title="adaptive questions").scale(type="log"),
        y=alt.Y("half-width:Q", title="half-width of every interval").scale(type="log"),
        color=alt.Color("mechanism:N", title=None)
        .scale(domain=names, range=_colours(names))
        .legend(labelLimit=320, symbolStrokeWidth=3),
        strokeDash=alt.StrokeDash("kind:N", legend=None).scale(
            domain=list(_DASHES), range=list(_DASHES.values())
        ),
        tooltip=["mechanism:N", "questions:Q", alt.Tooltip("half-width:Q", format=".4f"), "kind:N"],
    )
    best = plan.recommended
    mark = {"questions": best.questions, "half-width": best.half_width, "name": best.name}
    here = alt.Chart(alt.Data(values=[mark])).encode(x="questions:Q", y="half-width:Q")
    rows = best.rows or 0
    return alt.layer(  # type: ignore[no-any-return]
        lines,
        here.mark_point(size=160, shape="diamond", filled=True, color="black"),
        here.mark_text(align="left", dx=10, dy=-10, fontWeight="bold").encode(text="name:N"),
    ).properties(
        width=620,
        height=400,
        title=alt.Title(
            f"What {rows:,} rows can answer",
            subtitle=[
                f"all intervals together at {percent(plan.request.declared.level)}; "
                f"{plan.request.sampling}",
                "dashed: published methods; long dashes: chosen together; "
                "dotted: not valid when questions follow answers",
            ],
        ),
    )


def stability_chart(stability: Stability) -> altair.Chart:
    """eta of all answers together against their number, a line for each account."""
    alt = drawing_library()
    points = [
        {"account": point.by, "questions": point.questions, "eta": point.eta}
        for point in stability.growing()
    ]
    if not points:
        raise InvalidArgument("no account has a finite eta here, so there is nothing to draw.")
    lines = alt.Chart(alt.Data(values=points)).mark_line(point=True, strokeWidth=2)
    return lines.encode(  # type: ignore[no-any-return]
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


def ledger_chart(transcript: Transcript, path: str | None) -> altair.VConcatChart:
    """Everything that a ledger has answered; saved if a path is given."""
    if path is not None:
        require_file(path)  # before it is drawn, not after
    terms = transcript.terms
    level = terms.confidence_level if terms.simultaneous else None
    picture = answers_chart(transcript.opening.name, transcript.lines, level)
    if path is not None:
        save(picture, path)
    return picture


def answers_chart(
    name: str, lines: Sequence[Recorded], confidence_level: float | None
) -> altair.VConcatChart:
    """What was asked with its interval, line by line; without a level nothing is promised.

    There is a panel for each range of values.
    """
    alt = drawing_library()
    if not lines:
        raise InvalidArgument("no question has been answered yet, so there is nothing to draw.")
    panels: dict[str, list[Recorded]] = {}
    for line in lines:
        limits = f"range {line.range.low:g} to {line.range.high:g}"
        title = f"value with its interval, {'no range' if line.request.unbounded else limits}"
        panels.setdefault(title, []).append(line)
    return alt.vconcat(  # type: ignore[no-any-return]
        *(_answers_panel(alt, title, shown) for title, shown in panels.items()),
        title=alt.Title(
            f"{name}: {len(lines):,} answers",
            subtitle="no promise: every interval is the whole range"
            if confidence_level is None
            else f"simultaneous {percent(confidence_level)}: all intervals together",
        ),
    )


def _answers_panel(alt: Any, title: str, shown: list[Recorded]) -> Any:
    points = [
        {
            "question": f"{recorded.number}. {recorded.question}",
            "value": recorded.value,
            **_drawn(recorded)._asdict(),
            "status": recorded.status,
        }
        for recorded in shown
    ]
    base = alt.Chart(alt.Data(values=points)).encode(
        y=alt.Y("question:N", sort=None, title=None).axis(labelLimit=420),
        color=alt.Color("status:N", title=None).scale(
            domain=list(_STATUS_COLOURS), range=list(_STATUS_COLOURS.values())
        ),
    )
    axis = alt.X("low:Q", title=title).axis(titleLimit=560)
    intervals = base.mark_rule(strokeWidth=3).encode(
        x=axis.scale(domain=_domain(shown), nice=False), x2="high:Q"
    )
    layers = [intervals, base.mark_point(filled=True, size=50, opacity=1).encode(x="value:Q")]
    if any(recorded.range.low < 0 < recorded.range.high for recorded in shown):
        zero = alt.Chart(alt.Data(values=[{"value": 0}])).encode(x="value:Q")
        layers.insert(0, zero.mark_rule(strokeDash=[4, 3], color="#555555"))
    return alt.layer(*layers).properties(width=560)


def _drawn(recorded: Recorded) -> Interval:
    """The interval as far as there is paper: one without an end goes to that of its grid."""
    (low, high), (least, most) = recorded.interval, recorded.range
    return Interval(max(low, least), min(high, most))


def _domain(shown: list[Recorded]) -> list[float]:
    """What an axis shows: the intervals with room around them, and 0 where it separates signs."""
    lows, highs = zip(*map(_drawn, shown), strict=True)
    room = max(high - low for low, high in zip(lows, highs, strict=True))
    least, most = (end([each.range[i] for each in shown]) for i, end in enumerate((min, max)))
    low, high = max(least, min(lows) - room), min(most, max(highs) + room)
    return [min(low, 0.0), max(high, 0.0)] if least < 0 < most else [low, high]


def distribution_chart(value: str, points: list[dict[str, Any]]) -> altair.LayerChart:
    """The share of rows up to each threshold, and the band that holds for all of them."""
    alt = drawing_library()
    base = alt.Chart(alt.Data(values=points)).encode(x=alt.X("threshold:Q", title=value))
    share = alt.Y("low:Q", title="share of rows up to there").scale(domain=[0, 1])
    return alt.layer(  # type: ignore[no-any-return]
        base.mark_errorbar(thickness=2).encode(y=share, y2="high:Q"),
        base.mark_point(filled=True, size=25).encode(y="share:Q"),
    ).properties(width=560, height=320, title=f"Distribution of {value}")


def new_axes(width: float, height: float) -> Any:
    """Axes of matplotlib on a figure of their own, so many inches wide and high."""
    with require.installed("displays", "plots"):
        pyplot = importlib.import_module("matplotlib.pyplot")
    _, axes = pyplot.subplots(figsize=(width, height))
    return axes


def drawing_library() -> Any:
    """Altair, with what it needs to write pictures; or which extra brings them."""
    with require.installed("charts", "charts"):
        import altair
        import vl_convert  # noqa: F401 - Altair needs it to write pictures
    return altair


def _plan_points(plan: Plan) -> list[dict[str, Any]]:
    """The half-widths of every mechanism that applies, over a range around the plan's questions."""
    from holdfast.planner.solving import planned_methods

    best, request, said = plan.recommended, plan.request, plan.request.declared
    counts = _question_counts(10 * (best.questions or 1))
    lines: list[tuple[str, list[Method]]] = [
        (method.name, [method] * len(counts))
        for method in planned_methods(request)
        if request.why_not(method) is None and method.name not in _UNDRAWN
    ]
    if request.pots.described_share == 1.0:
        pass  # nothing is checked
    elif said.surprises is not None:
        lines.append(
            (
                f"guess and check, {plural(said.surprises, 'surprise')}",
                [check_method(min(said.surprises, k)) for k in counts],
            )
        )
    else:
        for share in (0.0, 0.01, 0.1):
            lines.append(
                (
                    f"guess and check, {percent(share)} surprises",
                    [check_method(math.ceil(share * k)) for k in counts],
                )
            )
    return [
        {"mechanism": name, "questions": k, "half-width": width, "kind": method.kind}
        for name, at_counts in lines
        for k, method in zip(counts, at_counts, strict=True)
        if (width := _half_width(plan, method, k)) is not None
    ]


def _half_width(plan: Plan, method: Method, k: int) -> float | None:
    request = plan.request
    rows = plan.recommended.rows or 1
    return method.half_width(request.known_rows, rows, k, request.log_beta(method))


def _question_counts(most: int) -> list[int]:
    """Numbers of questions from 1 to `most` or a little more, evenly on a logarithmic scale."""
    steps = math.ceil(_POINTS_PER_DECADE * math.log10(max(most, _LEAST_SHOWN)) - 1e-9)
    return sorted({round(10 ** (step / _POINTS_PER_DECADE)) for step in range(steps + 1)})


def _colours(names: list[str]) -> list[str]:
    """Each mechanism's own; in turn for guesses and lengths, and for whatever has none."""
    turns = {
        "guess": cycle(_GUESS_COLOURS),
        "described": cycle(_LENGTH_COLOURS),
        "declared": cycle(_LENGTH_COLOURS),
        "rounds": cycle(_ROUND_COLOURS),
    }
    others = cycle(_PUBLISHED_COLOURS)
    return [
        _COLOURS.get(name)
        or next(next((turn for word, turn in turns.items() if word in name), others))
        for name in names
    ]
