"""`holdfast probe`: how stable a learner of your own seems."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from holdfast.cli.commands import Json, app, read_number, show_json
from holdfast.cli.init import read_table
from holdfast.cli.parameters import with_options
from holdfast.errors import InvalidArgument
from holdfast.holdout.options import TableFormOptions

__all__ = ["probe"]


@app.command(epilog="Example: holdfast probe train.py:learner rows.csv --score train.py:accuracy")
@with_options(TableFormOptions)
def probe(
    learner: Annotated[
        str, typer.Argument(help="FILE.py:FUNCTION, called as function(sample, rng).")
    ],
    data: Annotated[
        str, typer.Argument(metavar="DATA", help="A CSV or Parquet file that no ledger protects.")
    ],
    score: Annotated[
        str | None,
        typer.Option(
            metavar="FILE.py:FUNCTION", help="How well an output does on rows, in [0, 1]."
        ),
    ] = None,
    view: Annotated[
        str | None,
        typer.Option(metavar="FILE.py:FUNCTION", help="Makes a number or a word of an output."),
    ] = None,
    pairs: Annotated[str, typer.Option(metavar="N", help="Pairs of samples.")] = "20",
    runs: Annotated[str, typer.Option(metavar="N", help="Runs on each sample.")] = "100",
    tau: Annotated[str, typer.Option(metavar="X", help="The mass outside the ratio.")] = "0.1",
    nu: Annotated[str, typer.Option(metavar="X", help="The share of pairs left out.")] = "0.2",
    outcomes: Annotated[
        str, typer.Option(metavar="N", help="Into how many outcomes numbers are put.")
    ] = "4",
    confidence_level: Annotated[str, typer.Option(metavar="X", help="Of the bounds.")] = "0.95",
    seed: Annotated[
        str, typer.Option(metavar="N", help="The same seed gives the same estimate.")
    ] = "2026",
    as_json: Json = False,
    **form: Any,
) -> None:
    """Estimate how stable a learner is, and how much it overfits.

    It is run on resampled rows. It is an estimate and no promise, and the rows must be ones that no
    ledger protects.
    """
    from holdfast.papers.probing import probe as probed

    numbers: dict[str, Any] = {
        name: read_number(name, text)
        for name, text in (
            ("pairs", pairs),
            ("runs", runs),
            ("tau", tau),
            ("nu", nu),
            ("outcomes", outcomes),
            ("confidence_level", confidence_level),
            ("seed", seed),
        )
    }
    estimate = probed(
        _function("learner", learner),
        read_table(data, form),
        score=None if score is None else _function("score", score),
        view=None if view is None else _function("view", view),
        **numbers,
    )
    if as_json:
        show_json(estimate.to_dict())
        return
    typer.echo(f"{estimate}\n\nNext: protect other rows and ask them: holdfast init --help")


def _function(name: str, text: str) -> Callable[..., Any]:
    """FILE.py:FUNCTION as it is in the file."""
    file, _, function = text.rpartition(":")
    path = Path(file)
    try:
        spec = importlib.util.spec_from_file_location(path.stem, path) if path.is_file() else None
    except (OSError, ValueError):
        spec = None
    if spec is None or spec.loader is None:
        raise InvalidArgument(
            f"{name} is {text!r}; write FILE.py:FUNCTION of a file that is there."
        )
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise InvalidArgument(
            f"{name} is {text!r}, and {file} cannot be run ({type(error).__name__}: {error})."
        ) from error
    loaded = getattr(module, function, None)
    if not callable(loaded):
        raise InvalidArgument(f"{name} is {text!r}, and {file} has no function {function!r}.")
    return loaded  # type: ignore[no-any-return]
