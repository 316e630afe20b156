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
from holdfast.cli.scored import FileOfScores, gate_scores
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
    from collections.abc import Sequence

    from holdfast.holdout.answer import Answer
    from holdfast.holdout.ending import LastLookCost, RevealCost
    from holdfast.holdout.groups import Distribution, Groups
    from holdfast.ledger.entries import Judgement

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
@with_options(GateOptions, FileOfScores)
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
    sides = [options.get("at_least"), options.get("at_most")]
    scores = FileOfScores.of(question, options)
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
        )
        if not is_shown:
            raise typer.Exit(NOT_SHOWN)
        return
    scores.require_nothing()
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


_Why = Annotated[str | None, typer_option("why", fields_of(AskOptions)["why"][1])]
_DryLook = Annotated[
    bool, typer.Option("--dry-run", help="Say what it would show and end; ask nothing.")
]
_ENDS = "a last look ends asks, checks and gates for everybody, so that no service takes it."


@app.command(epilog='Example: holdfast final reviews "avg(v7 = label)" "avg(v6 = label)" --dry-run')
@anywhere
def final(
    name: Name,
    questions: Annotated[
        list[str], typer.Argument(metavar="QUESTION...", help="Statistics, chosen together.")
    ],
    why: _Why = None,
    dry_run: _DryLook = False,
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
        _show_cost_of_end(resumed(name).end.final_cost(questions), as_json)
        return
    answers = opened(name, data, table).end.final(questions, why=why)
    if as_json:
        show_json([answer.to_dict() for answer in answers])
    else:
        _show_last(name, answers, verbose)


@app.command(epilog='Example: holdfast reveal study "avg(arr_delay > 15)" --dry-run')
@anywhere
def reveal(
    name: Name,
    statistic: Annotated[
        str, typer.Argument(metavar="STATISTIC", help="One statistic, such as a mean.")
    ],
    why: _Why = None,
    dry_run: _DryLook = False,
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
        _show_cost_of_end(resumed(name).end.reveal_cost(statistic), as_json)
        return
    answer = opened(name, data, table).end.reveal(statistic, why=why)
    if as_json:
        show_json(answer.to_dict())
    else:
        _show_last(name, [answer], verbose)


def _show_cost_of_end(cost: LastLookCost | RevealCost, as_json: bool) -> None:
    if as_json:
        show_json(cost.to_dict())
    else:
        typer.echo(f"{cost}\n\nNext: the same without --dry-run, to look.")


def _show_last(name: str, answers: Sequence[Answer], verbose: bool) -> None:
    for answer in answers:
        typer.echo(f"{answer.name}\n  {answer}")
        _show_details(answer, verbose)
    typer.echo(f"\nNext: holdfast audit {quote(name)}")
