"""Charts of what the laboratory found: score, interval and truth for each way to hold out data."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from holdfast.holdout.charts import drawing_library
from holdfast.lab.arena.campaign import Met, Spare
from holdfast.lab.arena.comparison import Compared, Experiment
from holdfast.lab.arena.trial import TrialsVerdict

if TYPE_CHECKING:
    import altair

_HOLDS, _BROKEN, _NEITHER = "#0b6e4f", "#c62828", "#7a7a7a"
_WORDS = ["holds", "BROKEN", "doubtful", "no interval", "too few trials"]
_COLOURS = [_HOLDS, _BROKEN, "#d9822b", _NEITHER, _NEITHER]
_WIDTH, _ROW = 460, 34


def svg(chart: Any) -> str:
    """The chart as SVG text, made without a network."""
    import vl_convert

    return str(vl_convert.vegalite_to_svg(chart.to_json()))


def experiment_chart(experiment: Experiment) -> altair.LayerChart:
    """A line for each holder, by what the experiment is about."""
    alt = drawing_library()
    match experiment.about:
        case "answered":
            chart = _bars(alt, experiment, "questions answered", "answered", ",.0f")
        case "broken":
            chart = _bars(alt, experiment, "share of trials with a false interval", "rate", ".0%")
        case _:
            chart = _intervals(alt, experiment)
    return chart.properties(  # type: ignore[no-any-return]
        width=_WIDTH,
        height=_ROW * len(experiment.rows),
        title=alt.Title(
            experiment.name[:1].upper() + experiment.name[1:],
            subtitle=textwrap.wrap(experiment.description, 92),
            anchor="start",
            frame="group",
        ),
    )


def _points(rows: Sequence[Compared]) -> list[dict[str, Any]]:
    return [
        {
            "holder": row.holder,
            "shown": row.shown,
            "truth": row.truth,
            "low": row.low,
            "high": row.high,
            "published": row.published,
            "verdict": "no interval" if row.shown is None else row.verdict.word,
            "answered": row.answered,
            "rate": row.verdict.failure_rate,
            "says": _says(row),
        }
        for row in rows
    ]


def _says(row: Compared) -> str:
    if row.shown is None:
        return f"stopped after {row.answered:,.0f} questions"
    if row.verdict.intervals == 0:
        return "shows no interval"
    failures, trials = row.verdict.failures, row.verdict.trials
    if failures:
        return f"a false interval in {failures} of {trials} trials"
    return f"all true in {trials} trials"


def _holder(alt: Any, experiment: Experiment) -> Any:
    order = [row.holder for row in experiment.rows]
    axis = alt.Y("holder:N", sort=None, title=None).axis(labelLimit=330, labelFontSize=12)
    return axis.scale(domain=order)


def _verdicts(alt: Any) -> Any:
    return alt.Color("verdict:N", title=None, legend=None).scale(domain=_WORDS, range=_COLOURS)


def _intervals(alt: Any, experiment: Experiment) -> Any:
    points = _points(experiment.rows)
    base = alt.Chart(alt.Data(values=points)).encode(y=_holder(alt, experiment))
    ends = [
        point[field]
        for point in points
        for field in ("low", "high", "shown", "truth", "published")
        if point[field] is not None
    ]
    room = 0.05 * (max(ends) - min(ends) or 1.0)
    published = any(point["published"] is not None for point in points)
    title = "score shown, with its interval; the black line is the truth"
    axis = alt.X("low:Q", title=title + ", a diamond what was published" * published)
    shared = axis.scale(domain=[min(ends) - room, max(ends) + room], nice=False, zero=False)
    truth = base.mark_tick(thickness=2.5, size=26, color="black").encode(x="truth:Q")
    labels = base.mark_text(align="left", fontSize=11).encode(
        x=alt.value(_WIDTH + 10), text="says:N", color=_verdicts(alt)
    )
    layers = [
        base.mark_rule(strokeWidth=5, opacity=0.45).encode(
            x=shared, x2="high:Q", color=_verdicts(alt)
        ),
        truth,
        base.mark_point(filled=True, size=90, opacity=1).encode(x="shown:Q", color=_verdicts(alt)),
        labels,
    ]
    if published:
        layers.append(
            base.transform_filter("datum.published != null")
            .mark_point(shape="diamond", size=130, color="black", strokeWidth=1.5, dy=0)
            .encode(x="published:Q")
        )
    return alt.layer(*layers)


def _bars(alt: Any, experiment: Experiment, title: str, field: str, digits: str) -> Any:
    points = _points(experiment.rows)
    base = alt.Chart(alt.Data(values=points)).encode(y=_holder(alt, experiment))
    most = max(max(point[field], point["published"] or 0) for point in points)
    bars = base.mark_bar(height=18, opacity=0.85).encode(
        x=alt.X(f"{field}:Q", title=f"{title}; a diamond is what was published").scale(
            domain=[0, 1.03 * (most or 1)], nice=False
        ),
        color=_verdicts(alt),
    )
    for point in points:
        published = point["published"]
        beside = "" if published is None else f"  (published {published:{digits}})"
        point["says"] = f"{point[field]:{digits}}{beside}"
    words = base.mark_text(align="left", fontSize=11).encode(
        x=alt.value(_WIDTH + 10), text="says:N", color=_verdicts(alt)
    )
    marks = (
        base.transform_filter("datum.published != null")
        .mark_point(shape="diamond", size=130, color="black", filled=True)
        .encode(x="published:Q")
    )
    return alt.layer(bars, words, marks)


def _short(judged: TrialsVerdict) -> str:
    if not judged.intervals:
        return judged.word
    return f"{judged.failures} false" if judged.failures else f"{judged.slack:.2f}"


def coverage_chart(met: Sequence[Met]) -> altair.LayerChart:
    """Mechanisms by attacks: whether the promise held, and the worst error in half-widths."""
    alt = drawing_library()
    points = [
        {
            "mechanism": each.mechanism,
            "attack": each.attack,
            "verdict": each.verdict.word,
            "slack": min(1.0, each.verdict.slack),
            "says": _short(each.verdict),
        }
        for each in met
        if each.verdict is not None
    ]
    # In the order of the table, whatever colour comes first.
    mechanisms = list(dict.fromkeys(point["mechanism"] for point in points))
    attacks = list(dict.fromkeys(point["attack"] for point in points))
    base = alt.Chart(alt.Data(values=points)).encode(
        x=alt.X("mechanism:N", title=None)
        .axis(labelAngle=-35, orient="top")
        .scale(domain=mechanisms),
        y=alt.Y("attack:N", title=None).scale(domain=attacks),
    )
    holding = base.transform_filter("datum.verdict == 'holds'").encode(
        color=alt.Color("slack:Q", legend=None).scale(domain=[0.2, 1], range=["#eef6f1", _HOLDS])
    )
    failing = [
        base.transform_filter(f"datum.verdict == '{word}'").mark_rect(stroke="white", color=colour)
        for word, colour in zip(_WORDS[1:], _COLOURS[1:], strict=True)
    ]
    words = base.mark_text(fontSize=11).encode(
        text="says:N",
        color=alt.condition("datum.slack > 0.7", alt.value("white"), alt.value("#222222")),
    )
    return (  # type: ignore[no-any-return]
        alt.layer(holding.mark_rect(stroke="white"), *failing, words).properties(
            width=64 * len(mechanisms),
            height=24 * len(attacks),
            title=alt.Title(
                "Green: the promise held (orange: doubtful, red: broken, grey: not told)",
                subtitle=[
                    "the worst error of any trial in half-widths, 1 being the end of the interval; "
                    "or how many trials were false,",
                    "as one in twenty may be at 95 %. An empty cell: they do not meet.",
                ],
                anchor="start",
            ),
        )
    )


def tightness_chart(spares: Sequence[Spare]) -> altair.LayerChart:
    """For each mechanism, the largest scale at which an attack breaks it."""
    alt = drawing_library()
    points = [
        {
            "mechanism": spare.mechanism,
            "scale": spare.broken_at or 0.0,
            "says": f"{spare.broken_at:.2f} by {spare.attack}" if spare.broken_at else "not broken",
        }
        for spare in spares
    ]
    base = alt.Chart(alt.Data(values=points)).encode(
        y=alt.Y("mechanism:N", sort=None, title=None),
        x=alt.X("scale:Q", title="noise and half-width, as a part of what is planned").scale(
            domain=[0, 1.02], nice=False
        ),
    )
    whole = alt.Chart(alt.Data(values=[{"scale": 1.0}])).mark_rule(strokeDash=[4, 3])
    return (  # type: ignore[no-any-return]
        alt.layer(
            base.mark_bar(height=16, color=_BROKEN, opacity=0.8),
            base.mark_text(align="left").encode(text="says:N", x=alt.value(_WIDTH + 10)),
            whole.encode(x="scale:Q"),
        ).properties(
            width=_WIDTH,
            height=26 * len(points),
            title=alt.Title(
                "How far each mechanism can be scaled down before an attack breaks it",
                subtitle="red: broken; between red and the dashed line: what is to spare, or what "
                "no attack here can use",
                anchor="start",
            ),
        )
    )
