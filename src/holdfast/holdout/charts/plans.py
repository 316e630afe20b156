"""A plan as a picture: what four ways to ask reach, or every one, against the questions."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import cycle
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.holdout.charts import canvas
from holdfast.mechanisms.catalogue import CATALOGUE
from holdfast.theory.planning import Kind, Method, check_method
from holdfast.wording import percent, plural

if TYPE_CHECKING:
    import altair

    from holdfast.planner.table import Option, Plan

_WIDTH, _HEIGHT, _LINE_OF_TEXT = 560, 380, 15  # pixels
_POINTS_PER_DECADE = 3
_LEAST_SHOWN = 10
_TOO_WIDE, _WHOLE = 0.1, 0.5  # half-widths: beyond the first hardly anything is decided
_FEW = 0.01  # of the guesses: the surprises of somebody who knows the data
_SHARES = (0.0, _FEW, 0.1)
_COLOURS = {kind.name: kind.colour for kind in CATALOGUE.values()}
_UNDRAWN = {name for name, colour in _COLOURS.items() if colour is None}
_DASHES: dict[Kind, list[int]] = {
    "described": [1, 0],
    "promise": [1, 0],
    "together": [8, 3],
    "reference": [5, 3],
    "domain": [5, 3],
    "not valid": [2, 2],
}
_LENGTH_COLOURS = ("#08306b", "#2171b5", "#6baed6", "#9ecae1", "#c6dbef")
_ROUND_COLOURS = ("#54278f", "#9e9ac8")
_GUESS_COLOURS = ("#7fc97f", "#a6d854", "#cddc39")
_PUBLISHED_COLOURS = ("#555555", "#808080", "#a0a0a0", "#c0c0c0")


class _Line(NamedTuple):
    """A way to ask, by the name that it has in the picture; with its method for so many."""

    name: str
    kind: Kind
    at_counts: list[Method]
    colour: str | None = None  # None: as the others of its kind have it


def plan_chart(plan: Plan, *, every: bool = False) -> altair.LayerChart:
    """Half-width against number of questions, for the plan's rows.

    Four lines with their names at their ends: described, checked, asked, and the best published; or
    a line for every mechanism with a legend.
    """
    alt = canvas.drawing_library()
    best = plan.recommended
    counts = _question_counts(10 * (best.questions or 1))
    lines = list(_every_line(plan, counts) if every else _four_lines(plan, counts))
    points = _points(plan, counts, lines)
    narrowest = min((point["half-width"] for point in points), default=_TOO_WIDE)
    domain = [0.8 * min(narrowest, _TOO_WIDE), _WHOLE]
    x = alt.X("questions:Q", title="adaptive questions").scale(
        type="log", domain=[1, counts[-1]], nice=False
    )
    y = alt.Y("half-width:Q", title="half-width of every interval, as a part of the range").scale(
        type="log", domain=domain, nice=False
    )
    reached = {point["mechanism"] for point in points}
    colours = _colours([line for line in lines if line.name in reached])
    legend = alt.Legend(labelLimit=320, symbolStrokeWidth=3) if every else None
    chart = alt.Chart(alt.Data(values=points)).encode(
        x=x.axis(values=[10**power for power in range(13)], format=",d"),
        y=y.axis(values=_ticks(domain[0]), format="~g"),
        color=alt.Color("mechanism:N", title=None, legend=legend).scale(
            domain=list(colours), range=list(colours.values())
        ),
        strokeDash=alt.StrokeDash("kind:N", legend=None).scale(
            domain=list(_DASHES), range=list(_DASHES.values())
        ),
        tooltip=["mechanism:N", "questions:Q", alt.Tooltip("half-width:Q", format=".4f"), "kind:N"],
    )
    layers = [
        chart.mark_line(point=alt.OverlayMarkDef(size=18), strokeWidth=2),
        *_band(alt),
        *([] if every else [_names_at_ends(alt, points, domain)]),
        *_recommendation(alt, best),
    ]
    others = "; long dashes: chosen together; dotted: not valid when questions follow answers"
    picture = alt.layer(*layers).properties(
        width=_WIDTH,
        height=_HEIGHT,
        title=alt.Title(
            f"What {best.rows or 0:,} rows can answer",
            subtitle=[
                f"all intervals together at {percent(plan.request.declared.level)}; "
                f"{plan.request.sampling}",
                f"shaded: a half-width above {_TOO_WIDE:g} of the range, too wide to decide",
                f"dashed: published methods{others if every else ', for comparison'}",
            ],
        ),
    )
    return canvas.shown_offline(picture)  # type: ignore[no-any-return]


def _band(alt: Any) -> Iterator[Any]:
    """Half-widths that hardly decide anything."""
    band = alt.Chart(alt.Data(values=[{"low": _TOO_WIDE, "high": _WHOLE}]))
    yield band.mark_rect(color="#d62728", opacity=0.08).encode(y="low:Q", y2="high:Q")
    yield band.mark_text(
        text="too wide to decide", align="left", baseline="top", color="#a02020", fontStyle="italic"
    ).encode(x=alt.value(8), y=alt.value(8))


def _recommendation(alt: Any, best: Option) -> Iterator[Any]:
    """Where the plan is, on the line that it recommends."""
    from holdfast.planner.table import show

    width = best.half_width or _WHOLE
    sentence = f"\N{PLUS-MINUS SIGN}{show(width)} for {plural(best.questions or 0, 'question')}"
    mark = {"questions": best.questions, "half-width": width, "name": best.name, "said": sentence}
    here = alt.Chart(alt.Data(values=[mark])).encode(
        x="questions:Q", y="half-width:Q", tooltip=["name:N", "said:N"]
    )
    yield here.mark_point(size=160, shape="diamond", filled=True, color="black", opacity=1)
    yield here.mark_text(align="left", dx=12, dy=14, fontWeight="bold").encode(text="said:N")


def _names_at_ends(alt: Any, points: list[dict[str, Any]], domain: list[float]) -> Any:
    """The name of each line where it ends, moved apart where two would be over each other."""
    ends = {point["mechanism"]: point for point in points}.values()
    least, most = map(math.log, domain)
    pixels = _HEIGHT / (most - least)
    above = -math.inf
    placed = []
    for end in sorted(ends, key=lambda end: -float(end["half-width"])):
        wanted = (most - math.log(end["half-width"])) * pixels
        above = max(wanted, above + _LINE_OF_TEXT)
        placed.append(end | {"half-width": math.exp(most - above / pixels)})
    text = alt.Chart(alt.Data(values=placed)).mark_text(align="left", dx=9, fontWeight="bold")
    return text.encode(
        x="questions:Q", y="half-width:Q", text="mechanism:N", color=alt.Color("mechanism:N")
    )


def _four_lines(plan: Plan, counts: list[int]) -> Iterator[_Line]:
    """What is described at a middle length, checked, asked, and the best of what is published."""
    from holdfast.planner.plan import planned_methods

    request = plan.request
    methods = {each.name: each for each in planned_methods(request)}  # all but checks
    options = [plan.recommended, *plan.options]  # of each kind the best comes first
    named = [methods[option.name] for option in options if option.name in methods]
    by_kind: dict[Kind, list[Method]] = defaultdict(list)
    for method in dict.fromkeys(named):
        if request.why_not(method) is None:
            by_kind[method.kind].append(method)
    lengths = by_kind["described"]  # from short to long, but for one that is recommended
    if plan.recommended.kind != "described":
        lengths = lengths[len(lengths) // 2 :]
    for method in lengths[:1]:
        yield _Line(method.name, "described", [method] * len(counts), "#2171b5")
    for line in _checks(plan, counts, (_FEW,)):
        yield line._replace(colour="#2ca25f")
    for method in by_kind["promise"][:1]:
        yield _Line(f"ask, {method.name}", "promise", [method] * len(counts), "#b35806")
    for method in by_kind["reference"][:1]:
        name = f"best published, {method.name.removesuffix(' (published)')}"
        yield _Line(name, "reference", [method] * len(counts), "#555555")


def _every_line(plan: Plan, counts: list[int]) -> list[_Line]:
    from holdfast.planner.plan import planned_methods

    request = plan.request
    lines = [
        _Line(method.name, method.kind, [method] * len(counts))
        for method in planned_methods(request)
        if request.why_not(method) is None and method.name not in _UNDRAWN
    ]
    return [*lines, *_checks(plan, counts, _SHARES)]


def _checks(plan: Plan, counts: list[int], shares: Iterable[float]) -> list[_Line]:
    """Guesses that are checked: with the surprises declared, or such shares of them."""
    surprises = plan.request.declared.surprises
    if plan.request.pots.described_share == 1.0:
        return []  # nothing is checked
    if surprises is not None:
        methods = [check_method(min(surprises, k)) for k in counts]
        return [
            _Line(
                f"guess and check, {plural(surprises, 'wrong guess', 'wrong guesses')}",
                "promise",
                methods,
            )
        ]
    return [
        _Line(
            f"guess and check, {percent(share)} wrong guesses",
            "promise",
            [check_method(math.ceil(share * k)) for k in counts],
        )
        for share in shares
    ]


def _points(plan: Plan, counts: list[int], lines: list[_Line]) -> list[dict[str, Any]]:
    """The half-widths of each line, as far as it has any."""
    return [
        {"mechanism": line.name, "questions": k, "half-width": width, "kind": line.kind}
        for line in lines
        for k, method in zip(counts, line.at_counts, strict=True)
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


def _ticks(least: float) -> list[float]:
    """1, 2 and 5 of each power of ten."""
    powers = range(math.floor(math.log10(least)), 0)
    marks = [float(f"{digit}e{power}") for power in powers for digit in (1, 2, 5)]
    return [mark for mark in marks if least <= mark <= _WHOLE]


def _colours(lines: list[_Line]) -> dict[str, str]:
    """Each mechanism's own; in turn for guesses and lengths, and for whatever has none."""
    turns = {
        "guess": cycle(_GUESS_COLOURS),
        "described": cycle(_LENGTH_COLOURS),
        "declared": cycle(_LENGTH_COLOURS),
        "rounds": cycle(_ROUND_COLOURS),
    }
    spare = cycle(_PUBLISHED_COLOURS)
    return {
        name: colour
        or _COLOURS.get(name)
        or next(next((turn for word, turn in turns.items() if word in name), spare))
        for name, _, _, colour in lines
    }
