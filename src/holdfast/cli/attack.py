"""The laboratory from the command line: demo, attack; probe, how stable a learner seems."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from holdfast.cli.commands import Json, app, progress, read_number, show_json
from holdfast.cli.init import read_table
from holdfast.cli.ledgers import resumed
from holdfast.cli.parameters import with_options
from holdfast.errors import InvalidArgument, MissingExtra
from holdfast.holdout.options import TableFormOptions

if TYPE_CHECKING:
    from holdfast.lab.arena.comparison import Experiment, Run
    from holdfast.lab.arena.experiments import Sizes

_STORY = """\
An analyst scores {features:,} features on one holdout of {rows:,} rows, turns each to its better
side and lets them vote. Every feature is a coin flip: the true score is 0.500, always.
"""


_FIRST_TOLD = ("plain holdout", "Holdfast: check guesses")


@app.command(epilog="Example: holdfast demo --chart demo.png")
def demo(
    chart: Annotated[
        str,
        typer.Option(
            metavar="FILE", help="Where the chart goes: PNG, SVG, PDF or HTML; '' for none."
        ),
    ] = "holdfast-demo.png",
    everything: Annotated[
        bool, typer.Option("--all", help="Every way to answer: rounded scores, splits, noise.")
    ] = False,
    as_json: Json = False,
) -> None:
    """See plain re-use of a holdout fail, and Holdfast hold.

    Ten seconds, made-up rows; draws a chart.
    """
    from holdfast.holdout.charts import require_file
    from holdfast.lab.arena.comparison import Run
    from holdfast.lab.pages.report import FEATURES, ROWS, experiment_sheet, showcase

    if chart:
        require_file(chart)  # before the trials, not after
    showcased = showcase(run=Run(trials=9, progress=progress("demo")))
    lacking = _draw(showcased, chart) if chart else None
    if as_json:
        chart_facts = {"chart": chart} if chart and lacking is None else {}
        show_json(showcased.to_dict() | chart_facts)
        return
    typer.echo(_STORY.format(features=FEATURES, rows=ROWS))
    first_rows = tuple(row for row in showcased.rows if everything or row.holder in _FIRST_TOLD)
    typer.echo(experiment_sheet(replace(showcased, rows=first_rows)).text())
    typer.echo(
        "\nshown: the final score; interval: what is claimed for it; false: trials in which any "
        "interval missed."
    )
    typer.echo(
        "Sample splitting gives every question rows of its own, and soon has none left."
        if everything
        else "Other ways to answer: holdfast demo --all"
    )
    if chart:
        typer.echo(f"Chart written to {chart}." if lacking is None else f"No chart: {lacking}")
    typer.echo(
        "\nNext: holdfast attack --help, or your own sizes: holdfast plan --rows 20000 "
        "--questions 500"
    )


def _draw(experiment: Experiment, path: str) -> MissingExtra | None:
    """Draw it; or say what is lacking, for the numbers say it all, too."""
    from holdfast.holdout.charts import save
    from holdfast.lab.pages.pictures import experiment_chart

    try:
        save(experiment_chart(experiment), path)
    except MissingExtra as error:
        return error
    return None


_BROKEN = 4
_INTERRUPTED = 130  # as shells say it


@app.command(epilog="Example: holdfast attack sign-attack --mechanism 'median noise' --trials 20")
def attack(
    name: Annotated[
        str | None, typer.Argument(help="An experiment or an attack; without one, a list of them.")
    ] = None,
    mechanism: Annotated[
        str, typer.Option(metavar="NAME", help="Who answers, by its name in: holdfast mechanisms.")
    ] = "bounded noise",
    rows: Annotated[str | None, typer.Option(metavar="N", help="Rows of the holdout.")] = None,
    questions: Annotated[
        str | None, typer.Option(metavar="N", help="Questions that are asked.")
    ] = None,
    tolerance: Annotated[
        str | None,
        typer.Option(metavar="X", help="Half-width; without it, the mechanism's own."),
    ] = None,
    trials: Annotated[str | None, typer.Option(metavar="N", help="Independent trials.")] = None,
    seed: Annotated[
        str, typer.Option(metavar="N", help="The same seed gives the same trials.")
    ] = "2026",
    jobs: Annotated[
        str, typer.Option(metavar="N", help="Processes; -1 for one on each core.")
    ] = "1",
    chart: Annotated[
        str | None, typer.Option(metavar="FILE", help="Also draw it: PNG, SVG, PDF, HTML.")
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="All experiments, all mechanisms, one report page.")
    ] = False,
    tightness: Annotated[
        bool, typer.Option("--tightness", help="How much each mechanism has to spare, as Markdown.")
    ] = False,
    like: Annotated[
        str | None,
        typer.Option(metavar="LEDGER", help="Rehearse your own holdout's terms on made-up rows."),
    ] = None,
    output: Annotated[
        str, typer.Option(metavar="DIR", help="Where --all writes report.html and report.md.")
    ] = "attack-report",
    as_json: Json = False,
) -> None:
    """Attack a holdout: do its intervals stay true? Needs no data."""
    chosen = [word for word in (name, everything, tightness, like) if word]
    if len(chosen) > 1:
        raise InvalidArgument("attack takes one of a NAME, --all, --tightness and --like.")
    wanted_run = _WantedRun(
        *(read_number(*each) for each in (("trials", trials), ("seed", seed), ("jobs", jobs)))
    )
    if everything:
        _report(Path(output), wanted_run, as_json)
    elif tightness:
        _tightness(wanted_run, as_json)
    elif like is not None:
        _rehearse(like, wanted_run, as_json)
    elif name is None:
        _list(as_json)
    else:
        from holdfast.lab.arena.experiments import Sizes

        sizes = Sizes(
            read_number("rows", rows),  # type: ignore[arg-type]
            read_number("questions", questions),  # type: ignore[arg-type]
            read_number("tolerance", tolerance),
            mechanism,
        )
        _one(name, sizes, wanted_run, chart, as_json)


class _WantedRun(NamedTuple):
    """How the trials are to be run, as the command line says it."""

    trials: Any
    seed: Any
    jobs: Any

    def run(self, usual: int, label: str, *, lines: bool = False) -> Run:
        from holdfast.lab.arena.comparison import Run

        trials = usual if self.trials is None else self.trials
        return Run(trials, self.seed, self.jobs, progress(label, lines=lines))


def _list(as_json: bool) -> None:
    from holdfast.lab.arena.experiments import EXPERIMENTS
    from holdfast.lab.attacks.roster import ATTACKS
    from holdfast.lab.pages.report import Sheet

    experiments = [(kind.name, kind.description) for kind in EXPERIMENTS.values()]
    attacks = [(kind.name, kind.description) for kind in ATTACKS.values()]
    if as_json:
        show_json({"experiments": dict(experiments), "attacks": dict(attacks)})
        return
    typer.echo(Sheet(("experiment", "what is run again"), tuple(experiments)).text())
    typer.echo()
    typer.echo(Sheet(("attack", "what the analyst tries"), tuple(attacks)).text())
    typer.echo("\nNext: holdfast attack sign-attack")


def _one(name: str, sizes: Sizes, wanted_run: _WantedRun, chart: str | None, as_json: bool) -> None:
    from holdfast.lab.arena.experiments import EXPERIMENTS, attacked, usual_trials
    from holdfast.lab.pages.report import experiment_sheet

    if chart is not None:
        from holdfast.holdout.charts import drawing_library, require_file

        drawing_library()  # before the trials, not after
        require_file(chart)
    attack = attacked(name, sizes, wanted_run.run(usual_trials(name), name))
    if chart is not None:
        from holdfast.holdout.charts import save
        from holdfast.lab.pages.pictures import experiment_chart

        save(experiment_chart(attack), chart)
    if as_json:
        show_json(attack.to_dict() | ({"chart": chart} if chart else {}))
    else:
        typer.echo(f"{attack.name}: {attack.description}\n")
        typer.echo(experiment_sheet(attack).text())
        typer.echo(f"\n{_verdict(attack)}")
        if chart is not None:
            typer.echo(f"Chart written to {chart}.")
        asks = name not in EXPERIMENTS or EXPERIMENTS[name].asks
        another = " --mechanism 'median noise'" * asks
        typer.echo(f"\nNext: holdfast attack {name}{another} --chart attack.png")
    if not attack.kept:
        sys.exit(_BROKEN)


def _verdict(experiment: Experiment) -> str:
    broken = [row.holder for row in experiment.rows if row.promises and row.holds is False]
    if broken:
        return f"A promise was BROKEN: {', '.join(broken)}."
    naive = [row.holder for row in experiment.rows if not row.promises and row.holds is False]
    of = {
        word: [row.holder for row in experiment.rows if row.promises and row.verdict.word == word]
        for word in ("holds", "doubtful")
    }
    words = []
    if of["doubtful"]:
        words.append(f"Doubtful: {', '.join(of['doubtful'])}; use more trials.")
    elif of["holds"]:
        words.append(f"Every promise held: {', '.join(of['holds'])}.")
    if naive:
        words.append(f"False intervals: {', '.join(naive)}.")
    return " ".join(words) or "These trials are too few to tell, or nothing showed an interval."


def _rehearse(like: str, wanted_run: _WantedRun, as_json: bool) -> None:
    from holdfast.lab.arena.rehearsal import rehearse

    with resumed(like) as holdout:
        opening = holdout.opening
    run = wanted_run.run(10, f"rehearsal of {opening.name}")
    rehearsal = rehearse(
        opening, trials=run.trials, seed=run.seed, n_jobs=run.n_jobs, progress=run.progress
    )
    if as_json:
        show_json(rehearsal.to_dict())
    else:
        typer.echo(str(rehearsal))
        typer.echo(f"\nNext: holdfast budget {quote(like)}")
    if rehearsal.broken:
        sys.exit(_BROKEN)


def _tightness(wanted_run: _WantedRun, as_json: bool) -> None:
    from dataclasses import asdict

    from holdfast.lab.arena.campaign import tightness as measured
    from holdfast.lab.pages.report import tightness_sheet

    spares = measured(run=wanted_run.run(12, "mechanisms and attacks"))
    if as_json:
        show_json([asdict(spare) for spare in spares])
    else:
        typer.echo(tightness_sheet(spares).markdown())


def _report(folder: Path, wanted_run: _WantedRun, as_json: bool) -> None:
    from holdfast.lab.pages.report import Report, reports

    report = Report()
    try:
        for report in reports(folder, partial(wanted_run.run, lines=True)):
            typer.echo(f"{report.kept}.", err=True)
    except KeyboardInterrupt:
        typer.echo(f"holdfast: interrupted; {report.kept}.", err=True)
        sys.exit(_INTERRUPTED)
    if as_json:
        show_json({"word": report.word, "files": [str(path) for path in report.files]})
    else:
        sentence = f"Of the promises, the worst verdict is: {report.word}."
        sentence = "Every promise held." if report.word == "holds" else sentence
        typer.echo(f"{sentence} Written: {', '.join(str(path) for path in report.files)}.")
        typer.echo(f"\nNext: open {report.files[0]}")
    if report.word == "BROKEN":
        sys.exit(_BROKEN)


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
