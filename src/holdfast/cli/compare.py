"""The command that compares two runs: compare."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast import require
from holdfast.cli.commands import Json, app, read_bounds, read_number, secret_file, show_json
from holdfast.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.evals.compare import RunScores
    from holdfast.evals.comparison import Comparison
    from holdfast.evals.gate import EvalGate
    from holdfast.evals.verdict import Verdict

_EXIT = {"better": 0, "cannot tell": 5, "worse": 6}
_NOT_SHOWN = 5
_ITEM = "item"


@app.command(epilog="Example: holdfast compare main.csv candidate.csv --by category")
def compare(
    a: Annotated[
        str, typer.Argument(metavar="A", help="A log or file of scores: what is there now.")
    ],
    b: Annotated[str, typer.Argument(metavar="B", help="Another one: is it better than A?")],
    score: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="The scorer or column, where there are several; given twice, that of A and of B.",
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="FIELD", help="Also for each category: a column, or a field of the metadata."
        ),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The column of items, if it is not called id or so."),
    ] = None,
    bounds: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="LOW HIGH", help="Scores are graded, and in this range: 0 10."),
    ] = None,
    confidence_level: Annotated[
        str, typer.Option(metavar="X", help="How sure the interval is.")
    ] = "0.95",
    filter: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The filter, prompt or perturbation, if several."),
    ] = None,
    format: Annotated[
        str | None, typer.Option(metavar="NAME", help="The format, if it is not to be found out.")
    ] = None,
    partial: Annotated[
        bool, typer.Option("--partial", help="Take what there is of an interrupted run.")
    ] = False,
    ledger: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Count this look in NAME.ledger, or in a branch, git:REMOTE/BRANCH, made if there "
            "is none: for who changes B and compares again.",
        ),
    ] = None,
    summary: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Append the result in Markdown, for a job's summary."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Is run B better than run A, item by item?

    An exact interval and p, for one look. Needs no ledger, secret or declaration. Logs of
    inspect_ai, lm-evaluation-harness, HELM, promptfoo and OpenAI evals; CSV, Parquet and JSON lines
    with a column of items and one of scores. Exit codes: 0 better, 5 cannot tell, 6 worse; with
    --ledger 0 shown, 5 not shown.
    """
    from holdfast.evals.compare import compare_runs, read_run, score_names

    names, range_ = score_names(score), read_bounds(bounds)
    level = require.confidence_level(read_number("confidence_level", confidence_level))
    if ledger is not None and by is not None:
        raise InvalidArgument(
            f"--by {by!r} is one look at every category, and --ledger {ledger!r} counts one at "
            "all items; leave one of them out."
        )
    _require_writable(summary)
    runs = [
        read_run(
            letter,
            file,
            score=name,
            key=key,
            by=by,
            bounds=range_,
            filter=filter,
            format=format,
            partial=partial,
        )
        for letter, file, name in zip("AB", (a, b), names, strict=True)
    ]
    comparison = compare_runs(
        *runs, by=by, bounds=range_, confidence_level=level, named_scores=names[0] != names[1]
    )
    if ledger is not None:
        verdict = _count(ledger, runs, comparison)
        _append(summary, verdict.to_markdown())
        _show_verdict(ledger, verdict, comparison, as_json)
        raise typer.Exit(0 if verdict.promote else _NOT_SHOWN)
    _append(summary, comparison.to_markdown())
    if as_json:
        show_json(comparison.to_dict())
    else:
        typer.echo(str(comparison))
    raise typer.Exit(_EXIT[comparison.verdict])


def _count(ledger: str, runs: Sequence[RunScores], comparison: Comparison) -> Verdict:
    """The same comparison as a look that a ledger counts, on all items of A.

    Both runs are submitted as they are, so that A is the same submission in every look; what B has
    beyond A's items is left out, and what it lacks counts as wrong.
    """
    first, second = _names([run.name for run in runs], [run.scores.run for run in runs])
    before, after = (run.scores for run in runs)
    earlier = set(before.items)
    common = [pair for pair in zip(after.items, after.scores, strict=True) if pair[0] in earlier]
    if not common:
        raise InvalidArgument(
            "the ids of items are numbers in one run and text in the other; write both in the same "
            "way to count the look."
        )
    items, scores = zip(*common, strict=True)
    gate = _gate(ledger, runs[0], comparison)
    with gate.holdout:
        gate.submit(first, before, missing="wrong")
        gate.submit(second, replace(after, items=items, scores=scores), missing="wrong")
        if gate.incumbent is None:
            gate.promote(first, why="the first")
        return gate.compare(second, first)


def _gate(ledger: str, run: RunScores, comparison: Comparison) -> EvalGate:
    """The gate of a ledger, which is made for the items of a run if there is none."""
    from holdfast.cli.ledgers import item_table, opened
    from holdfast.data.database import is_database_url
    from holdfast.evals.gate import EvalGate
    from holdfast.evals.item_scores import ItemList
    from holdfast.holdout.open import open as open_holdout
    from holdfast.ledger.store import home_of, is_git_address

    scale = comparison.bounds if comparison.graded else bool
    key = run.scores.key or _ITEM  # as files to be gated later call it, too
    items = ItemList(run.scores.items, key, run.scores.task)
    path: str | Path = ledger
    if not is_git_address(ledger):
        path = require.file("ledger", ledger if ledger.endswith(".ledger") else f"{ledger}.ledger")
    home = None if is_database_url(ledger) else home_of(path, secret_file())
    if home is not None and is_git_address(ledger) and home.is_there():
        frame = items.to_frame()  # a machine without a disk does not know where they are
        return EvalGate.over(open_holdout(frame, ledger=path, secret=secret_file()), scale)
    if home is None or home.is_there():
        return EvalGate.over(opened(ledger, None, None), scale)
    return EvalGate(
        item_table(path, items),
        key=key,
        score=scale,
        ledger=path,
        confidence_level=comparison.confidence_level,
        task=run.scores.task,
    )


def _names(files: Sequence[str], runs: Sequence[str | None]) -> list[str]:
    """What the submissions are called: their runs, or else their files, with folders if need be."""
    for candidate in (
        [run or Path(file).stem for file, run in zip(files, runs, strict=True)],
        [str(Path(file).with_suffix("")) for file in files],
        list(files),
    ):
        if candidate[0] != candidate[1]:
            return candidate
    raise InvalidArgument(f"A and B are both called {files[0]!r}; give two files.")


def _show_verdict(ledger: str, verdict: Verdict, comparison: Comparison, as_json: bool) -> None:
    """The verdict, and nothing of what the ledger did not release."""
    from holdfast.evals.comparison import item_list

    if as_json:
        show_json(verdict.to_dict())
        return
    typer.echo(str(verdict))
    if comparison.b.unpaired:
        typer.echo(f"In B only, and left out: {item_list(comparison.b.unpaired)}.")
    typer.echo(f"It is counted in {ledger}; looks before it was made are not.")
    promote = f"holdfast promote {quote(ledger)} {quote(verdict.candidate)}"
    typer.echo(f"\nNext: {promote if verdict.promote else f'holdfast ledger {quote(ledger)}'}")


def _append(file: str | None, text: str) -> None:
    if file is not None:
        with Path(file).open("a", encoding="utf-8") as page:
            page.write(text)


def _require_writable(file: str | None) -> None:
    """Refuse a file that cannot be written, before anything is compared."""
    if file is None:
        return
    try:
        require.file("summary", file).open("a", encoding="utf-8").close()
    except OSError as error:
        raise InvalidArgument(
            f"the file {file!r} cannot be written ({error.strerror}); name another one."
        ) from None
