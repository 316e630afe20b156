"""The app whose commands are `holdfast`, and how all of them read numbers and print JSON."""

from __future__ import annotations

import json
from contextvars import ContextVar
from typing import Annotated, Any

import typer

from holdfast.errors import InvalidArgument

__all__ = [
    "Json",
    "app",
    "read_bounds",
    "read_number",
    "secret_file",
    "show_json",
]

app = typer.Typer(
    name="holdfast",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Ask one data set question after question: every released interval stays true, all "
    "together.\n\nSee it: holdfast demo\n\nPlan: holdfast plan --rows 20000 --questions 500\n\n"
    "Protect a table: holdfast init hold.parquet --name flights --questions 500",
)

_SECRET: ContextVar[str | None] = ContextVar("secret", default=None)

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def _version(wanted: bool) -> None:
    if wanted:
        from holdfast import __version__

        typer.echo(f"holdfast {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    secret: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            envvar="HOLDFAST_SECRET",
            help="The ledger's secret, if it is not beside the ledger.",
        ),
    ] = None,
    version: Annotated[  # noqa: ARG001 - its callback prints it
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    _SECRET.set(secret)


def secret_file() -> str | None:
    """The file that `holdfast --secret FILE` names; None if the secret is beside the ledger."""
    return _SECRET.get()


def read_number(name: str, text: str | None) -> float | int | None:
    """A number as people write it: 163673, 163,673, 163_673 or 1.6e5."""
    if text is None:
        return None
    cleaned = text.replace(",", "").replace("_", "")
    try:
        return int(cleaned)
    except ValueError:
        pass
    try:
        return float(cleaned)
    except ValueError:
        raise InvalidArgument(f"{name} is {text!r}; it must be a number.") from None


def read_bounds(bounds: tuple[str, str] | None) -> tuple[float, float] | None:
    """Two numbers in order, as people write them."""
    from holdfast.question.declaring import bounds_pair

    if bounds is None:
        return None
    low, high = bounds_pair(tuple(read_number("bounds", end) for end in bounds))
    return low, high


def show_json(value: Any) -> None:
    """Print a value as JSON."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))
