"""The commands that ask a holdout: ask, check, gate, and the last looks final and reveal."""

from __future__ import annotations

from shlex import quote
from textwrap import indent
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli.commands import Json, Verbose, Whole, app, read_number, show_json
from holdfast.cli.elsewhere import (
    accepted_cost,
    again,
    anywhere,
    require_at_the_rows,
    require_here,
    served,
    with_rows,
)
from holdfast.cli.ledgers import Data, Name, TableName, opened, resumed
from holdfast.cli.parameters import typer_option, with_options
from holdfast.errors import InvalidArgument
from holdfast.holdout.options import (
    AcceptOption,
    AskOptions,
    CheckOptions,
    CostOptions,
    GateOptions,
    GuessField,
    QuestionFields,
    fields_of,
)
from holdfast.statistics import call

if TYPE_CHECKING:
    from holdfast.holdout.answer import Answer
    from holdfast.holdout.groups import Distribution, Groups
    from holdfast.ledger.entries import Judgement

__all__ = [
    "NOT_SHOWN",
    "ask",
    "check",
    "final",
    "gate",
    "reveal",
]

NOT_SHOWN = 5  # the exit code
# What a difference was judged to be, as a script is told it.
_JUDGED: dict[Judgement, int] = {"better": 0, "cannot tell": NOT_SHOWN, "worse": 6}

_HERE = ("discover", "top", "differing", "skip_below", "asked_by")  # options that no service takes
_PRICED = {*fields_of(CostOptions), "guess", "discover"}
_QUESTION, _BY, _GUESS, _ACCEPT_COST = (
    option for _, option in fields_of(QuestionFields, GuessField, AcceptOption).values()
)
_QuestionText = Annotated[str, typer.Argument(metavar="QUESTION", help=_QUESTION.help)]
_By = Annotated[list[str] | None, typer_option("by", _BY)]
_AcceptCost = Annotated[str | None, typer_option("accept_cost", _ACCEPT_COST)]
_DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what it would cost; ask nothing.")]


@app.command(
    help="Ask a question without a guess.\n\n"
    f'Statistics: {", ".join(["avg", *call.__all__])}; add "where ..." for rows like these. With '
    "--better the exit code says what a difference is: 0 better, 6 worse, 5 cannot tell.",
    epilog="Example: holdfast ask flights \"avg(arr_delay > 15) where origin = 'JFK'\"",
)
@anywhere
@with_options(AskOptions)
def ask(
    name: Name,
    question: _QuestionText,
    by: _By = None,
    train: Annotated[
        str | None, typer.Option(metavar="FILE", help="Other rows, to guess from by itself.")
    ] = None,
    guesser: Annotated[
        str | None, typer.Option(metavar="NAME", help="Who guesses: a name of docs/guessers.md.")
    ] = None,
    accept_cost: _AcceptCost = None,
    dry_run: _DryRun = False,
    data: Data = None,
    table: TableName = None,
    verbose: Verbose = False,
    whole: Whole = False,
    as_json: Json = False,
    **options: Any,
) -> None:
    """Ask a question without a guess."""
    worded = _worded(question, by, options)
    _require_sent(options, {"--train": train, "--guesser": guesser})
    if dry_run:
        _show_cost(
            served(name) or resumed(name, train, guesser), worded, as_json, options, verbose=verbose
        )
        return
    holdout = with_rows(name, data, table, train, guesser)
    reply = holdout.ask(worded, **options, **accepted_cost(accept_cost))
    _show(name, reply, as_json, verbose, whole=whole)
    _end_as_judged(reply)


@app.command(
    epilog='Example: holdfast check flights "avg(arr_delay > 15)" --guess 0.237 --why "baseline"',
)
@anywhere
@with_options(CheckOptions)
def check(
    name: Name,
    question: _QuestionText,
    guess: Annotated[str | None, typer_option("guess", _GUESS)] = None,
    guess_from: Annotated[
        str | None, typer.Option(metavar="FILE", help="Other rows, to compute the guess from.")
    ] = None,
    by: _By = None,
    accept_cost: _AcceptCost = None,
    dry_run: _DryRun = False,
    data: Data = None,
    table: TableName = None,
    verbose: Verbose = False,
    whole: Whole = False,
    as_json: Json = False,
    **options: Any,
) -> None:
    """Check a guess: almost free when confirmed.

    A guess that is not confirmed is answered as an ask is. The same
    statistics as for ask.
    """
    worded = _worded(question, by, options)
    sides = [options.get("at_most"), options.get("at_least")]
    if [guess, guess_from, *sides].count(None) != 3:
        raise InvalidArgument(
            "check takes one of --guess, --guess-from, --at-most and --at-least, such as "
            "--guess 0.24."
        )
    options["guess"] = read_number("guess", guess) if guess_from is None else guess_from
    _require_sent(options, {"--guess-from": guess_from})
    if dry_run:
        _show_cost(served(name) or resumed(name), worded, as_json, options, verbose=verbose)
        return
    accepted = accepted_cost(accept_cost)
    reply = with_rows(name, data, table).check(worded, **options, **accepted)
    _show(name, reply, as_json, verbose, whole=whole)
    _end_as_judged(reply)


@app.command(
    epilog='Example: holdfast gate reviews "difference(v7 = label, v6 = label)" --at-least 0',
)
@anywhere
@with_options(GateOptions)
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
    errors: Annotated[
        str | None,
        typer.Option(
            metavar="LOSS",
            help="Of the first file: its scores are errors, predictions minus labels, by item; "
            "compare their mean square (mse) or size (mae), each capped as those of --dev FILE "
            "say.",
        ),
    ] = None,
    promote_if_shown: Annotated[
        bool,
        typer.Option(
            "--promote-if-shown", help="Of a file: if it is shown, it is the incumbent from now on."
        ),
    ] = False,
    json_file: Annotated[
        str | None, typer.Option(metavar="FILE", help="Of a file: write the verdict there as JSON.")
    ] = None,
    summary: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Of a file: add the verdict there as a Markdown table."),
    ] = None,
    dry_run: _DryRun = False,
    data: Data = None,
    table: TableName = None,
    verbose: Verbose = False,
    as_json: Json = False,
    **options: Any,
) -> None:
    """Is it better? A failed one costs almost nothing.

    Exit code 0 if it is shown, 5 if it is not, 3 if it is refused. A file of scores is submitted,
    and compared item by item with the incumbent or with another submission.
    """
    from holdfast.cli.scored import FileOfScores, gate_scores

    sides = [options.get("at_least"), options.get("at_most")]
    scores = FileOfScores(
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
        promote_if_shown=promote_if_shown,
        errors=errors,
    )
    if scores.is_file:
        if sides != [None, None]:
            raise InvalidArgument(
                "--at-least and --at-most are for questions; of a file of scores say --min-gain or "
                "--no-worse-than."
            )
        require_at_the_rows(
            "scores are made with the answers, which a service tells nobody: attach predictions, "
            "and gate difference(v7 = label, v6 = label)."
        )
        is_shown = gate_scores(
            name,
            opened(name, data, table),
            scores,
            options,
            dry_run=dry_run,
            verbose=verbose,
            as_json=as_json,
            json_file=json_file,
            summary=summary,
        )
        if not is_shown:
            raise typer.Exit(NOT_SHOWN)
        return
    scores.require_nothing(json_file, summary)
    scores.require_question()
    worded = _worded(question, None, options)
    if sides.count(None) != 1:
        raise InvalidArgument("gate takes one of --at-least and --at-most, such as --at-least 0.")
    _require_sent(options, {})
    if dry_run:
        there = served(name) or resumed(name)
        _show_cost(there, worded, as_json, options, verbose=verbose, gate=True)
        return
    answer = with_rows(name, data, table).gate(worded, **options)
    _show(name, answer, as_json, verbose)
    if answer.recorded.status != "shown":
        raise typer.Exit(NOT_SHOWN)


def _worded(question: str, by: list[str] | None, options: dict[str, Any]) -> Any:
    """The question with what the options say of it, which are taken out of them."""
    from holdfast.statistics.bind import question_of

    wording = {name: options.pop(name, None) for name in ("where", "bounds", "better")}
    return question_of(question, by=by or None, **wording)


def _require_sent(options: dict[str, Any], files: dict[str, object]) -> None:
    """Refuse what a service is never told: files, who asks, what is thought of the rows."""
    named = {f"--{each.replace('_', '-')}": options.get(each) for each in _HERE}
    require_here({**files, **named})


def _show_cost(
    holdout: Any,
    worded: Any,
    as_json: bool,
    options: dict[str, Any],
    *,
    verbose: bool,
    **claim: Any,
) -> None:
    priced = {name: value for name, value in options.items() if name in _PRICED}
    cost = holdout.cost(worded, **priced, **claim)
    if as_json:
        show_json(cost.to_dict())
        return
    details = f"\n  {cost.details}" if verbose else ""
    typer.echo(f"{cost}{details}\n  now {holdout.budget.remaining}")
    typer.echo("\nNext: the same without --dry-run, to ask it.")


def _show(
    name: str,
    reply: Answer | Groups | Distribution,
    as_json: bool,
    verbose: bool,
    *,
    whole: bool = False,
) -> None:
    from holdfast.holdout.answer import Answer

    if as_json:
        show_json(reply.to_dict() if isinstance(reply, Answer) else reply.to_dicts())
        return
    if isinstance(reply, Answer):
        typer.echo(f"{reply.name}\n  {reply}")
    else:
        typer.echo(reply.to_text(whole=whole))
    _show_details(reply, verbose)
    typer.echo(f"\nNext: holdfast budget {again(name)}")


def _show_details(reply: Answer | Groups | Distribution, verbose: bool) -> None:
    if verbose:
        typer.echo(indent(reply.details, "  "))


def _end_as_judged(reply: Answer | Groups | Distribution) -> None:
    """Exit with what `--better` made of a difference; any other answer is a success."""
    from holdfast.holdout.answer import Answer

    if isinstance(reply, Answer) and reply.verdict is not None:
        raise typer.Exit(_JUDGED[reply.verdict])


_ENDS = "a last look ends asks, checks and gates for everybody, so that no service takes it."


@app.command(epilog='Example: holdfast final reviews "avg(v7 = label)" "avg(v6 = label)" --dry-run')
@anywhere
def final(
    name: Name,
    questions: Annotated[
        list[str], typer.Argument(metavar="QUESTION...", help="Statistics, chosen together.")
    ],
    why: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Why you ask; kept in the ledger.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what it would show and end; ask nothing.")
    ] = False,
    data: Data = None,
    table: TableName = None,
    verbose: Verbose = False,
    as_json: Json = False,
) -> None:
    """Take a last look: exact values; then the ledger is closed.

    Asks, checks, gates and searches are ended by it, for good. Text questions stay.
    """
    require_at_the_rows(_ENDS)
    if dry_run:
        cost = resumed(name).end.final_cost(questions)
        if as_json:
            show_json(cost.to_dict())
            return
        typer.echo(f"{cost}\n\nNext: the same without --dry-run, to look.")
        return
    answers = opened(name, data, table).end.final(questions, why=why)
    if as_json:
        show_json([answer.to_dict() for answer in answers])
        return
    for answer in answers:
        typer.echo(f"{answer.name}\n  {answer}")
        _show_details(answer, verbose)
    typer.echo(f"\nNext: holdfast audit {quote(name)}")


@app.command(epilog='Example: holdfast reveal study "avg(arr_delay > 15)" --dry-run')
@anywhere
def reveal(
    name: Name,
    statistic: Annotated[
        str, typer.Argument(metavar="STATISTIC", help="One statistic, such as a mean.")
    ],
    why: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Why you ask; kept in the ledger.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what it would show and end; ask nothing.")
    ] = False,
    data: Data = None,
    table: TableName = None,
    verbose: Verbose = False,
    as_json: Json = False,
) -> None:
    """Reveal one exact value; then the ledger is closed.

    It may be chosen from all answers. Asks, checks, gates and searches are ended by it, for good.
    Text questions stay.
    """
    require_at_the_rows(_ENDS)
    if dry_run:
        cost = resumed(name).end.reveal_cost(statistic)
        if as_json:
            show_json(cost.to_dict())
            return
        typer.echo(f"{cost}\n\nNext: the same without --dry-run, to look.")
        return
    answer = opened(name, data, table).end.reveal(statistic, why=why)
    if as_json:
        show_json(answer.to_dict())
        return
    typer.echo(f"{answer.name}\n  {answer}")
    _show_details(answer, verbose)
    typer.echo(f"\nNext: holdfast audit {quote(name)}")
