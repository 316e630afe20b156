"""`holdfast demo`: naive re-use overfits before your eyes, and Holdfast does not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli.commands import Json, app, show_json
from holdfast.cli.terminal import progress
from holdfast.errors import MissingExtra

if TYPE_CHECKING:
    from holdfast.lab.arena.comparison import Experiment

__all__ = ["demo"]

_STORY = """\
An analyst scores {features:,} features on one holdout of {rows:,} rows, turns each to its better
side and lets them vote. Every feature is a coin flip: the true score is 0.500, always.
"""


@app.command(epilog="Example: holdfast demo --chart demo.png")
def demo(
    chart: Annotated[
        str,
        typer.Option(
            metavar="FILE", help="Where the chart goes: PNG, SVG, PDF or HTML; '' for none."
        ),
    ] = "holdfast-demo.png",
    as_json: Json = False,
) -> None:
    """See plain re-use of a holdout fail, and Holdfast hold.

    Ten seconds, made-up rows; draws a chart.
    """
    from holdfast.holdout.charts import require_file
    from holdfast.lab.arena.comparison import Run
    from holdfast.lab.pages.report_tables import FEATURES, ROWS, experiment_sheet, showcase

    if chart:
        require_file(chart)  # before the trials, not after
    showcased = showcase(run=Run(trials=9, progress=progress("demo")))
    lacking = _draw(showcased, chart) if chart else None
    if as_json:
        drawn = {"chart": chart} if chart and lacking is None else {}
        show_json(showcased.to_dict() | drawn)
        return
    typer.echo(_STORY.format(features=FEATURES, rows=ROWS))
    typer.echo(experiment_sheet(showcased).text())
    typer.echo(
        "\nshown: the final score; interval: what is claimed for it; false: trials in which any "
        "interval missed.\nSample splitting gives every question rows of its own, and soon has "
        "none left."
    )
    if chart:
        typer.echo(f"Chart written to {chart}." if lacking is None else f"No chart: {lacking}")
    typer.echo(
        "\nNext: holdfast attack --help, or your own sizes: holdfast plan --rows 20000 "
        "--questions 500"
    )


def _draw(found: Experiment, path: str) -> MissingExtra | None:
    """Draw it; or say what is lacking, for the numbers say it all, too."""
    from holdfast.holdout.charts import save
    from holdfast.lab.pages.pictures import experiment_chart

    try:
        save(experiment_chart(found), path)
    except MissingExtra as error:
        return error
    return None
