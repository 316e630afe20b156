"""The command that plans: plan."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from holdfast.cli.commands import Json, app, read_number, show_json
from holdfast.cli.parameters import sampling_of_text, typer_option, with_options
from holdfast.errors import InvalidArgument
from holdfast.holdout.options import DeclareOptions, PromiseOptions, fields_of

_PLANNED = (
    "questions",
    "tolerance",
    "surprises",
    "confidence_level",
    "described",
    "described_share",
    "schema",
    "candidates",
)
_, _SAMPLING = fields_of(PromiseOptions)["sampling"]


@app.command(
    epilog="Example: holdfast plan --rows 163673 --questions 500 --chart plan.png",
)
@with_options(PromiseOptions, DeclareOptions, only=_PLANNED)
def plan(
    rows: Annotated[str | None, typer.Option(metavar="N", help="Rows in the data set.")] = None,
    sampling: Annotated[str, typer_option("sampling", _SAMPLING)] = "independent",
    chart: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Also draw half-width against questions: PNG, SVG, PDF, HTML."
        ),
    ] = None,
    every: Annotated[
        bool,
        typer.Option("--every", help="With --chart: a line for every mechanism, not for four."),
    ] = False,
    question: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="What this question would get on --rows rows."),
    ] = None,
    gate: Annotated[
        bool, typer.Option("--gate", help="What gates of --candidates can show on --rows rows.")
    ] = False,
    disagreement: Annotated[
        str | None,
        typer.Option(metavar="X", help="With --gate: part of the rows in which one differs: 0.05."),
    ] = None,
    as_json: Json = False,
    **declared: Any,
) -> None:
    """Half-width, questions or rows needed, for every mechanism.

    Touches no data, costs nothing. Give two of --rows, --questions and --tolerance; it solves for
    the third. With --question it says what a text would get: its bits, half-width and cost. With
    --gate it says what can be shown of candidates, one after another.
    """
    from holdfast.planner.plan import plan as make_plan

    if gate != ("candidates" in declared or disagreement is not None):
        raise InvalidArgument("--gate goes with --candidates and --disagreement; give all three.")
    if every and chart is None:
        raise InvalidArgument("--every is about the picture; give --chart too.")
    declared |= {
        "rows": read_number("rows", rows),
        "question": question,
        "disagreement": read_number("disagreement", disagreement),
        "sampling": sampling_of_text(sampling),
    }
    plan_made: Any = make_plan(**declared)
    if gate or question is not None:
        if chart is not None:
            raise InvalidArgument("--chart draws plans of questions and rows; leave it out here.")
        show_json(plan_made.to_dict()) if as_json else typer.echo(str(plan_made))
        return
    if chart is not None:
        plan_made.chart(chart, every=every)
    if as_json:
        show_json(plan_made.to_dict() | ({"chart": chart} if chart else {}))
        return
    typer.echo(str(plan_made))
    if chart is not None:
        typer.echo(f"\nChart written to {chart}.")
    else:
        typer.echo(f"\nNext: the same as a picture: {_again(plan_made, sampling)} --chart plan.png")


def _again(plan_made: Any, sampling: str) -> str:
    """The command that gives the same plan."""
    words, request = ["holdfast plan"], plan_made.request.to_dict()
    for name in ("rows", "questions", "tolerance", "surprises"):
        if request[name] is not None:
            words.append(f"--{name} {request[name]}")
    if request["confidence_level"] != 0.95:
        words.append(f"--confidence-level {request['confidence_level']}")
    if sampling != "independent":
        words.append(f"--sampling {sampling}")
    declared = plan_made.request.declared
    if declared.described is not None:
        words.append(f"--described {declared.described}")
    if declared.described_share is not None:
        words.append(f"--described-share {declared.described_share:g}")
    return " ".join(words)
