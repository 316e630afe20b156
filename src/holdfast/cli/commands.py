"""The commands of `holdfast`, one function each."""

from __future__ import annotations

import json
from contextvars import ContextVar
from typing import Annotated, Any

import typer

from holdfast.errors import InvalidArgument

__all__ = [
    "Json",
    "app",
    "plan",
    "read_bounds",
    "read_number",
    "sampling_of_text",
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


@app.command(
    epilog="Example: holdfast plan --rows 163673 --questions 500 --chart plan.png",
)
def plan(
    rows: Annotated[str | None, typer.Option(metavar="N", help="Rows in the data set.")] = None,
    questions: Annotated[
        str | None,
        typer.Option(metavar="N", help="Questions, each chosen after the earlier answers."),
    ] = None,
    tolerance: Annotated[
        str | None,
        typer.Option(metavar="X", help="Half-width wanted, as a part of the range: 0.025."),
    ] = None,
    surprises: Annotated[
        str | None,
        typer.Option(metavar="N", help="Guesses expected to be refuted (guess and check)."),
    ] = None,
    confidence_level: Annotated[
        str, typer.Option(metavar="X", help="Probability that all intervals are true together.")
    ] = "0.95",
    sampling: Annotated[
        str,
        typer.Option(
            metavar="HOW",
            help="How the rows came about: independent, clustered:LARGEST (rows of a unit, at "
            "most) or clustered:SIZE:fixed (unit sizes were decided), m-dependent:M, "
            "dependency-graph:DEGREE, markov-chain:CONTRACTION, or declared:SIGMA.",
        ),
    ] = "independent",
    described: Annotated[
        str | None,
        typer.Option(
            metavar="HOW",
            help="How described questions are answered: exact (default), rounded or off.",
        ),
    ] = None,
    described_share: Annotated[
        str | None,
        typer.Option(metavar="X", help="Their part of the failure probability (default 0.4)."),
    ] = None,
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
    schema: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="TOML file with what is declared of the table."),
    ] = None,
    gate: Annotated[
        bool, typer.Option("--gate", help="What gates of --candidates can show on --rows rows.")
    ] = False,
    candidates: Annotated[
        str | None, typer.Option(metavar="N", help="With --gate: candidates at most.")
    ] = None,
    disagreement: Annotated[
        str | None,
        typer.Option(metavar="X", help="With --gate: part of the rows in which one differs: 0.05."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Half-width, questions or rows needed, for every mechanism.

    Touches no data, costs nothing. Give two of --rows, --questions and --tolerance; it solves for
    the third. With --question it says what a text would get: its bits, half-width and cost. With
    --gate it says what can be shown of candidates, one after another.
    """
    from holdfast.planner.plan import plan as make_plan

    if gate != (candidates is not None or disagreement is not None):
        raise InvalidArgument("--gate goes with --candidates and --disagreement; give all three.")
    if every and chart is None:
        raise InvalidArgument("--every is about the picture; give --chart too.")
    given: dict[str, Any] = {
        "rows": read_number("rows", rows),
        "questions": read_number("questions", questions),
        "tolerance": read_number("tolerance", tolerance),
        "surprises": read_number("surprises", surprises),
        "confidence_level": read_number("confidence_level", confidence_level) or 0.0,
        "sampling": sampling_of_text(sampling),
        "described": described,
        "described_share": read_number("described_share", described_share),
        "question": question,
        "schema": schema,
        "candidates": read_number("candidates", candidates),
        "disagreement": read_number("disagreement", disagreement),
    }
    made: Any = make_plan(**given)
    if gate or question is not None:
        if chart is not None:
            raise InvalidArgument("--chart draws plans of questions and rows; leave it out here.")
        show_json(made.to_dict()) if as_json else typer.echo(str(made))
        return
    if chart is not None:
        made.chart(chart, every=every)
    if as_json:
        show_json(made.to_dict() | ({"chart": chart} if chart else {}))
        return
    typer.echo(str(made))
    if chart is not None:
        typer.echo(f"\nChart written to {chart}.")
    else:
        typer.echo(f"\nNext: the same as a picture: {_again(made, sampling)} --chart plan.png")


def _again(made: Any, sampling: str) -> str:
    """The command that gives the same plan."""
    words, given = ["holdfast plan"], made.request.to_dict()
    for name in ("rows", "questions", "tolerance", "surprises"):
        if given[name] is not None:
            words.append(f"--{name} {given[name]}")
    if given["confidence_level"] != 0.95:
        words.append(f"--confidence-level {given['confidence_level']}")
    if sampling != "independent":
        words.append(f"--sampling {sampling}")
    said = made.request.declared
    if said.described is not None:
        words.append(f"--described {said.described}")
    if said.described_share is not None:
        words.append(f"--described-share {said.described_share:g}")
    return " ".join(words)


def sampling_of_text(text: str) -> Any:
    """`independent`, `clustered:COLUMN:LARGEST`, `clustered:COLUMN:fixed`, `m-dependent:M`, ...

    To plan, a number stands for the column: `clustered:LARGEST`, `clustered:SIZE:fixed`.
    """
    from holdfast.data import sampling

    by_number = {
        "m-dependent": sampling.m_dependent,
        "dependency-graph": sampling.dependency_graph,
        "markov-chain": sampling.markov_chain,
    }
    kind, _, argument = text.partition(":")
    kind = kind.replace("_", "-")
    if kind == "independent" and not argument:
        return kind
    if kind == "clustered" and argument:
        return _clustered(argument)
    if kind == "declared" and argument:
        return _declared(argument)
    if kind in by_number and argument:
        return by_number[kind](read_number("sampling", argument))  # type: ignore[arg-type]
    raise InvalidArgument(
        f"sampling is {text!r}; it must be independent, clustered:COLUMN:LARGEST or "
        "clustered:COLUMN:fixed (to plan, clustered:LARGEST or clustered:SIZE:fixed), "
        "m-dependent:M, dependency-graph:DEGREE, markov-chain:CONTRACTION or declared:SIGMA (also "
        "a family, as a ledger writes it)."
    )


def _clustered(argument: str) -> Any:
    from holdfast.data.sampling import clustered

    if argument.isdigit():
        return clustered("unit", largest=int(argument))
    name, _, sizes = argument.rpartition(":")
    if name and sizes.isdigit():
        return clustered(name, largest=int(sizes))
    if name.replace(".", "").isdigit() and sizes == "fixed":
        return clustered("unit", sizes="fixed", size=float(name))
    if name and sizes == "fixed":
        return clustered(name, sizes="fixed")
    return clustered(argument)


def _declared(argument: str) -> Any:
    from holdfast.data.sampling import declared
    from holdfast.theory.base.gamma import gamma_from_text

    if argument.startswith("{"):
        return declared(gamma=gamma_from_text(argument))
    return declared(sigma=read_number("sampling", argument))
