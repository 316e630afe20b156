"""The commands of `holdfast`, one function each."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from holdfast.errors import InvalidArgument

app = typer.Typer(
    name="holdfast",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Ask one data set question after question: every released interval stays true, all "
    "together.\n\nStart with: holdfast plan --rows 20000 --questions 500",
)

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def _version(wanted: bool) -> None:
    if wanted:
        from holdfast import __version__

        typer.echo(f"holdfast {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def number(name: str, text: str | None) -> float | int | None:
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


def show_json(value: Any) -> None:
    """Print a value as JSON."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))


@app.command(
    epilog="Example: holdfast plan --rows 163673 --questions 500 --chart plan.png",
)
def plan(
    rows: Annotated[str | None, typer.Option(help="Rows in the data set.")] = None,
    questions: Annotated[str | None, typer.Option(help="Adaptive questions.")] = None,
    tolerance: Annotated[
        str | None, typer.Option(help="Half-width wanted, as a fraction of the range: 0.025.")
    ] = None,
    surprises: Annotated[
        str | None, typer.Option(help="Guesses expected to be refuted (guess and check).")
    ] = None,
    confidence_level: Annotated[
        str, typer.Option(help="Probability that all intervals are true together.")
    ] = "0.95",
    sampling: Annotated[
        str,
        typer.Option(
            help="How the rows came about: independent, clustered:SIZE (rows in a unit), "
            "m-dependent:M, or declared:SIGMA."
        ),
    ] = "independent",
    chart: Annotated[
        str | None, typer.Option(help="Also draw half-width against questions: PNG, SVG, HTML.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Half-width, questions or rows needed, for every mechanism. Touches no data, costs nothing.

    Give two of --rows, --questions and --tolerance; it solves for the third.
    """
    from holdfast.planner import plan as make_plan

    made = make_plan(
        rows=number("rows", rows),  # type: ignore[arg-type]
        questions=number("questions", questions),  # type: ignore[arg-type]
        tolerance=number("tolerance", tolerance),
        surprises=number("surprises", surprises),  # type: ignore[arg-type]
        confidence_level=number("confidence_level", confidence_level) or 0.0,
        sampling=sampling_of_text(sampling),
    )
    if chart is not None:
        made.chart(chart)
    if as_json:
        show_json(made.to_dict() | ({"chart": chart} if chart else {}))
        return
    typer.echo(str(made))
    if chart is not None:
        typer.echo(f"\nChart written to {chart}.")
    else:
        typer.echo(f"\nNext: the same as a picture: {_again(made)} --chart plan.png")


def _again(made: Any) -> str:
    words = ["holdfast plan"]
    for name in ("rows", "questions", "tolerance", "surprises"):
        value = getattr(made, name)
        if value is not None:
            words.append(f"--{name} {value}")
    return " ".join(words)


def sampling_of_text(text: str) -> Any:
    """`independent`, `clustered:SIZE` or `clustered:COLUMN`, `m-dependent:M`, `declared:SIGMA`."""
    from holdfast.sampling import clustered, declared, m_dependent

    kind, _, argument = text.partition(":")
    match kind.replace("_", "-"), argument:
        case "independent", "":
            return "independent"
        case "clustered", str(size) if size.replace(".", "").isdigit():
            return clustered("unit", size=float(size))
        case "clustered", str(column) if column:
            return clustered(column)
        case "m-dependent", str(m) if m:
            return m_dependent(number("sampling", m))  # type: ignore[arg-type]
        case "declared", str(sigma) if sigma:
            return declared(sigma=number("sampling", sigma))
    raise InvalidArgument(
        f"sampling is {text!r}; it must be independent, clustered:SIZE (rows in a unit) or "
        "clustered:COLUMN, m-dependent:M or declared:SIGMA."
    )


@app.command(epilog="Example: holdfast theorems leakage")
def theorems(
    name: Annotated[
        str | None, typer.Argument(help="A theorem's name, or a word to look for.")
    ] = None,
    as_json: Json = False,
) -> None:
    """The theorems behind every number: list them, look for a word, or show one in full."""
    from holdfast.cli.theorems import listing, page
    from holdfast.theory.theorem import find, registry

    known = registry()
    if name is not None and name in known:
        entry = known[name]
        if as_json:
            show_json(entry.to_dict())
        else:
            typer.echo(page(entry))
        return
    found = list(known.values()) if name is None else find(name)
    if not found:
        raise InvalidArgument(_no_theorem(name or "", list(known)))
    if as_json:
        show_json([entry.to_dict() for entry in found])
    else:
        typer.echo(listing(found))


def _no_theorem(word: str, names: list[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(word, names, n=3, cutoff=0.5)
    hint = f"near matches: {', '.join(near)}" if near else "try: holdfast theorems"
    return f"no theorem contains {word!r}; {hint}."
