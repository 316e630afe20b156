"""`holdfast demo`: naive re-use overfits before your eyes, and Holdfast does not."""

from __future__ import annotations

from typing import Annotated

import typer

from holdfast.cli.app import Json, app, show_json
from holdfast.cli.progress import progress

__all__ = ["demo"]

_STORY = """\
An analyst scores {features:,} features on one holdout of {rows:,} rows, turns each to its better
side and lets them vote. Every feature is a coin flip: the true score is 0.500, always.
"""


@app.command(epilog="Example: holdfast demo --chart demo.png")
def demo(
    chart: Annotated[
        str, typer.Option(help="Where the chart goes: PNG, SVG, PDF or HTML; '' for none.")
    ] = "holdfast-demo.png",
    as_json: Json = False,
) -> None:
    """Naive re-use of a holdout overfits before your eyes, Holdfast does not; draws a chart."""
    from holdfast.lab.comparison import Run
    from holdfast.lab.showcase import FEATURES, ROWS, showcase
    from holdfast.lab.tables import experiment_grid

    found = showcase(run=Run(trials=9, progress=progress("demo")))
    if chart:
        from holdfast.charts import save
        from holdfast.lab.pictures import experiment_chart

        save(experiment_chart(found), chart)
    if as_json:
        show_json(found.to_dict() | ({"chart": chart} if chart else {}))
        return
    typer.echo(_STORY.format(features=FEATURES, rows=ROWS))
    typer.echo(experiment_grid(found).text())
    typer.echo(
        "\nshown: the final score; interval: what is claimed for it; false: trials in which any "
        "interval missed.\nSample splitting gives every question rows of its own, and soon has "
        "none left."
    )
    if chart:
        typer.echo(f"Chart written to {chart}.")
    typer.echo("\nNext: holdfast attack --help, or your own sizes: holdfast plan --rows 20000")
