"""The commands that ask a holdout: ask, check, gate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from holdfast.cli.commands import Json, app, read_bounds, read_number, show_json
from holdfast.cli.elsewhere import (
    AcceptCost,
    accepted_cost,
    again,
    anywhere,
    require_at_the_rows,
    require_here,
    served,
    with_rows,
)
from holdfast.cli.ledgers import Data, Name, TableName, opened, resumed
from holdfast.errors import InvalidArgument
from holdfast.statistics import call

if TYPE_CHECKING:
    from holdfast.holdout.answer import Answer
    from holdfast.holdout.groups import Distribution, Groups
    from holdfast.ledger.entries import Judgement

__all__ = ["NOT_SHOWN", "ask", "check", "gate"]

NOT_SHOWN = 5  # the exit code
# What a difference was judged to be, as a script is told it.
_JUDGED: dict[Judgement, int] = {"better": 0, "cannot tell": NOT_SHOWN, "worse": 6}

_QuestionText = Annotated[
    str,
    typer.Argument(
        metavar="QUESTION",
        help='A statistic, such as "avg(arr_delay > 15)", "median(distance)" or '
        '"auc(score, late)".',
    ),
]
_Where = Annotated[
    str | None,
    typer.Option(metavar="CONDITION", help="Only among rows like these: \"origin = 'JFK'\"."),
]
_By = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="For each value of a column that is declared, or known from other rows. Twice for two "
        'columns; "avg(x) by origin, month" says the same.',
    ),
]
_Bounds = Annotated[
    tuple[str, str] | None,
    typer.Option(metavar="LOW HIGH", help="The range of the value; it is cut to it."),
]
_Better = Annotated[
    Literal["higher", "lower"] | None,
    typer.Option(
        help="Of a difference: say whether the first is better (exit code 0), worse (6), or cannot "
        "tell (5)."
    ),
]
_DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what it would cost; ask nothing.")]
_Why = Annotated[str | None, typer.Option(metavar="TEXT", help="Why you ask; kept in the ledger.")]
_Tolerance = Annotated[
    str | None,
    typer.Option(metavar="X", help="Another half-width than the declared one (part of the range)."),
]
_HalfWidth = Annotated[
    str | None,
    typer.Option(metavar="X", help="The same in the unit of the answer: 6, of minutes."),
]


@app.command(
    help="Ask a question without a guess.\n\n"
    f'Statistics: {", ".join(["avg", *call.__all__])}; add "where ..." for rows like these.',
    epilog="Example: holdfast ask flights \"avg(arr_delay > 15) where origin = 'JFK'\"",
)
@anywhere
def ask(
    name: Name,
    question: _QuestionText,
    where: _Where = None,
    by: _By = None,
    bounds: _Bounds = None,
    better: _Better = None,
    train: Annotated[
        str | None, typer.Option(metavar="FILE", help="Other rows, to guess from by itself.")
    ] = None,
    guesser: Annotated[
        str | None, typer.Option(metavar="NAME", help="Who guesses: a name of docs/guessers.md.")
    ] = None,
    discover: Annotated[
        bool,
        typer.Option(
            "--discover",
            help="Find the groups in the protected rows. This ends asks and checks for good; "
            "described questions stay.",
        ),
    ] = False,
    top: Annotated[
        str | None, typer.Option(metavar="K", help="Of discovered groups, the K largest.")
    ] = None,
    why: _Why = None,
    tolerance: _Tolerance = None,
    half_width: _HalfWidth = None,
    accept_cost: AcceptCost = None,
    dry_run: _DryRun = False,
    data: Data = None,
    table: TableName = None,
    as_json: Json = False,
) -> None:
    """Ask a question without a guess."""
    from holdfast.statistics.bind import question_of

    asked = question_of(question, where=where, by=by, bounds=read_bounds(bounds), better=better)
    require_here({"--train": train, "--guesser": guesser, "--discover": discover, "--top": top})
    wanted = _wanted(tolerance, half_width) | ({"discover": True} if discover else {})
    if dry_run:
        _show_cost(served(name) or resumed(name, train, guesser), asked, as_json, **wanted)
        return
    if top is not None:
        wanted["top"] = read_number("top", top)
    found = with_rows(name, data, table, train, guesser).ask(
        asked, why=why, **wanted, **accepted_cost(accept_cost)
    )
    _show(name, found, as_json)
    _end_as_judged(found)


@app.command(
    epilog='Example: holdfast check flights "avg(arr_delay > 15)" --guess 0.237 --why "baseline"',
)
@anywhere
def check(
    name: Name,
    question: _QuestionText,
    guess: Annotated[
        str | None, typer.Option(metavar="X", help="What you think it is, in its own unit.")
    ] = None,
    guess_from: Annotated[
        str | None, typer.Option(metavar="FILE", help="Other rows, to compute the guess from.")
    ] = None,
    at_most: Annotated[
        str | None, typer.Option(metavar="X", help="Check one side: at most this.")
    ] = None,
    at_least: Annotated[
        str | None, typer.Option(metavar="X", help="Check one side: at least this.")
    ] = None,
    where: _Where = None,
    by: _By = None,
    bounds: _Bounds = None,
    better: _Better = None,
    why: _Why = None,
    tolerance: _Tolerance = None,
    half_width: _HalfWidth = None,
    accept_cost: AcceptCost = None,
    dry_run: _DryRun = False,
    data: Data = None,
    table: TableName = None,
    as_json: Json = False,
) -> None:
    """Check a guess: almost free when confirmed.

    A guess that is not confirmed is answered: by its description, or as an ask is. The same
    statistics as for ask.
    """
    from holdfast.statistics.bind import question_of

    asked = question_of(question, where=where, by=by, bounds=read_bounds(bounds), better=better)
    if [guess, guess_from, at_most, at_least].count(None) != 3:
        raise InvalidArgument("check takes one of --guess, --guess-from, --at-most and --at-least.")
    claim: dict[str, Any] = {
        "guess": read_number("guess", guess) if guess_from is None else guess_from,
        "at_most": read_number("at_most", at_most),
        "at_least": read_number("at_least", at_least),
    }
    require_here({"--guess-from": guess_from})
    wanted = _wanted(tolerance, half_width)
    if dry_run:
        _show_cost(served(name) or resumed(name), asked, as_json, **wanted, **claim)
        return
    accepted = accepted_cost(accept_cost)
    found = with_rows(name, data, table).check(asked, why=why, **wanted, **claim, **accepted)
    _show(name, found, as_json)
    _end_as_judged(found)


@app.command(
    epilog='Example: holdfast gate reviews "difference(v7 = label, v6 = label)" --at-least 0',
)
@anywhere
def gate(
    name: Name,
    question: Annotated[
        str,
        typer.Argument(
            metavar="QUESTION|FILE",
            help="A statistic, or a file with the scores of a candidate: a log of inspect_ai, "
            "lm-evaluation-harness, HELM, promptfoo, OpenAI evals or every_eval_ever, CSV, Parquet "
            "or JSONL.",
        ),
    ],
    at_least: Annotated[
        str | None, typer.Option(metavar="X", help="Show that it is more than this.")
    ] = None,
    at_most: Annotated[
        str | None, typer.Option(metavar="X", help="Show that it is less than this.")
    ] = None,
    differing: Annotated[
        str | None,
        typer.Option(metavar="X", help="The share of rows that you think differ; known if public."),
    ] = None,
    where: _Where = None,
    bounds: _Bounds = None,
    against: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Of a file: compare with this one, not the incumbent."),
    ] = None,
    min_gain: Annotated[
        str | None,
        typer.Option(metavar="X", help="Of a file: show that it is better by more than this."),
    ] = None,
    no_worse_than: Annotated[
        str | None,
        typer.Option(
            metavar="X",
            help="Of a file: show that it is not worse by this much. Ask for better first: once "
            "this is shown, better needs more (--dry-run says how much).",
        ),
    ] = None,
    called: Annotated[
        str | None,
        typer.Option("--as", metavar="NAME", help="Of a file: what to call it (default: its run)."),
    ] = None,
    digest: Annotated[
        str | None, typer.Option(metavar="D", help="Of a file: of what made the scores.")
    ] = None,
    score: Annotated[
        str | None, typer.Option(metavar="NAME", help="Of a file with several scorers: this one.")
    ] = None,
    filter: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Of a file with several filters or prompts: this one."),
    ] = None,
    format: Annotated[
        str | None, typer.Option(metavar="NAME", help="Of a file: its format, if it is not found.")
    ] = None,
    epochs: Annotated[
        str | None, typer.Option(metavar="N", help="Of a file: tries of each item, averaged.")
    ] = None,
    missing: Annotated[
        str,
        typer.Option(metavar="HOW", help="Of a file: items without a score: refuse, or wrong."),
    ] = "refuse",
    partial: Annotated[
        bool,
        typer.Option("--partial", help="Of a file: take what there is of a run that broke off."),
    ] = False,
    first: Annotated[
        bool, typer.Option("--first", help="Of a file: make it the incumbent; compare nothing.")
    ] = False,
    json_file: Annotated[
        str | None, typer.Option(metavar="FILE", help="Of a file: write the verdict there as JSON.")
    ] = None,
    summary: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Of a file: add the verdict there as a Markdown table."),
    ] = None,
    why: _Why = None,
    dry_run: _DryRun = False,
    data: Data = None,
    table: TableName = None,
    as_json: Json = False,
) -> None:
    """Show that something is better: a "no" is nearly free.

    Exit code 0 if it is shown, 5 if it is not, 3 if it is refused. A file of scores is submitted,
    and compared item by item with the incumbent or with another submission.
    """
    from holdfast.cli.scored import FileOfScores, gate_scores
    from holdfast.statistics.bind import question_of

    said = FileOfScores(
        question,
        called,
        digest,
        against,
        min_gain,
        no_worse_than,
        score,
        filter,
        format,
        epochs,
        missing,
        partial=partial,
        first=first,
    )
    if said.is_file:
        if not (at_least is at_most is None):
            raise InvalidArgument(
                "--at-least and --at-most are for questions; of a file of scores say --min-gain or "
                "--no-worse-than."
            )
        require_at_the_rows(
            "scores are made with the answers, which a service tells nobody: attach predictions, "
            "and gate difference(v7 = label, v6 = label)."
        )
        shown = gate_scores(
            opened(name, data, table),
            said,
            bounds,
            where,
            why,
            read_number("differing", differing),
            dry_run=dry_run,
            as_json=as_json,
            json_file=json_file,
            summary=summary,
        )
        if not shown:
            raise typer.Exit(NOT_SHOWN)
        return
    said.require_nothing(json_file, summary)
    asked: Any = question_of(question, where=where, bounds=read_bounds(bounds))
    if [at_least, at_most].count(None) != 1:
        raise InvalidArgument("gate takes one of --at-least and --at-most, such as --at-least 0.")
    claim: dict[str, Any] = {
        "at_most": read_number("at_most", at_most),
        "at_least": read_number("at_least", at_least),
    }
    require_here({"--differing": differing})
    if dry_run:
        _show_cost(served(name) or resumed(name), asked, as_json, gate=True, **claim)
        return
    if differing is not None:
        claim["differing"] = read_number("differing", differing)
    found = with_rows(name, data, table).gate(asked, why=why, **claim)
    _show(name, found, as_json)
    if found.recorded.status != "shown":
        raise typer.Exit(NOT_SHOWN)


def _wanted(tolerance: str | None, half_width: str | None) -> dict[str, Any]:
    """The half-width that is named, as the verbs take it."""
    return {
        "tolerance": read_number("tolerance", tolerance),
        "half_width": read_number("half_width", half_width),
    }


def _show_cost(holdout: Any, asked: Any, as_json: bool, **said: Any) -> None:
    cost = holdout.cost(asked, **said)
    if as_json:
        show_json(cost.to_dict())
        return
    typer.echo(f"{cost}\n  now {holdout.budget.remaining}")
    typer.echo("\nNext: the same without --dry-run, to ask it.")


def _show(name: str, found: Answer | Groups | Distribution, as_json: bool) -> None:
    from holdfast.holdout.answer import Answer

    one = isinstance(found, Answer)
    if as_json:
        show_json(found.to_dict() if isinstance(found, Answer) else found.to_dicts())
        return
    typer.echo(f"{found.question}\n  {found}" if one else str(found))
    typer.echo(f"\nNext: holdfast budget {again(name)}")


def _end_as_judged(found: Answer | Groups | Distribution) -> None:
    """Exit with what `--better` made of a difference; any other answer is a success."""
    from holdfast.holdout.answer import Answer

    if isinstance(found, Answer) and found.verdict is not None:
        raise typer.Exit(_JUDGED[found.verdict])
