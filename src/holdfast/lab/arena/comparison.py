"""Comparisons: several holders against one attack on the same samples, as a frozen table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from hashlib import blake2b
from statistics import fmean
from typing import Any, Literal

from holdfast import require
from holdfast.lab.arena.trial import (
    Analyst,
    Result,
    Scenario,
    Trial,
    TrialsVerdict,
    processes,
    run_trials,
    verdict,
)
from holdfast.lab.world.holders import Holder
from holdfast.lab.world.populations import Population
from holdfast.mechanisms.terms import Terms

# What an experiment is about: the final score, the questions answered, or the trials broken.
Reported = Literal["shown", "answered", "broken"]


@dataclass(frozen=True, slots=True)
class Run:
    """How an experiment is run."""

    trials: int = 20
    seed: int = 2026
    n_jobs: int = 1
    progress: Callable[[int, int], None] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        require.positive_integer("trials", self.trials)
        require.integer_at_least("seed", self.seed, 0)
        processes(self.n_jobs)

    def seeded_for(self, name: str) -> Run:
        """The same with a seed that is this name's alone: evidence that no other one repeats."""
        digest = blake2b(f"{int(self.seed)} {name}".encode(), digest_size=8).digest()
        return replace(self, seed=int.from_bytes(digest, "big"))


@dataclass(frozen=True, slots=True)
class Compared:
    """One holder's row: averages over the trials of the attack's final question, and the verdict.

    `holds` is None where no interval was shown or the trials are too few to tell; `published` is
    what others report for the same sizes: of the final score shown, of the number of questions
    answered, or of the share of trials broken.
    """

    holder: str
    promises: bool
    shown: float | None
    truth: float | None
    low: float | None
    high: float | None
    holds: bool | None
    verdict: TrialsVerdict
    published: float | None
    reported: Reported
    note: str

    @property
    def answered(self) -> float:
        """Questions answered, in the middle trial."""
        return self.verdict.median_answers


@dataclass(frozen=True, slots=True)
class Experiment:
    """A table: what was done, and a row for each holder."""

    name: str
    description: str
    rows: tuple[Compared, ...]

    @property
    def about(self) -> Reported:
        """Column that its rows are to be compared by."""
        return next((row.reported for row in self.rows if row.reported != "shown"), "shown")

    @property
    def kept(self) -> bool:
        """Whether nobody who promises was broken."""
        return all(row.holds is not False for row in self.rows if row.promises)

    def to_dict(self) -> dict[str, Any]:
        rows = [{**asdict(row), "word": row.verdict.word} for row in self.rows]
        return {"name": self.name, "description": self.description, "rows": rows}

    def row(self, holder: str) -> Compared:
        """The row of the holder of this name."""
        return next(row for row in self.rows if row.holder == holder)


@dataclass(frozen=True, slots=True)
class Entrant:
    """One line to be: what is tried, and the `beta` that a promise is judged by."""

    name: str
    promises: bool
    trial: Trial
    beta: float
    published: float | None = None
    reported: Reported = "shown"
    note: str = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """One holder to compare, with what is published of it at these sizes, if anything.

    `misled`: the terms say what is not true of the population, so that no promise applies.
    """

    population: Population
    holder: Holder
    analyst: Analyst
    terms: Terms
    train_rows: int = 0
    published: float | None = None
    reported: Reported = "shown"
    note: str = ""
    label: str = ""
    misled: bool = False

    @property
    def entrant(self) -> Entrant:
        """The line that it becomes."""
        return Entrant(
            self.label or self.holder.name,
            self.holder.promises and not self.misled,
            Scenario(self.population, self.holder, self.analyst, self.terms, self.train_rows),
            1 - self.terms.confidence_level,
            self.published,
            self.reported,
            self.note,
        )


def run_cells(name: str, description: str, cells: Sequence[Cell], run: Run) -> Experiment:
    """The table: every cell has the trials of the same seeds, so holders meet the same samples."""
    return run_entrants(name, description, [cell.entrant for cell in cells], run)


def run_entrants(name: str, description: str, entrants: Sequence[Entrant], run: Run) -> Experiment:
    """The table of whatever can be tried, each in the trials of the same seeds."""
    rows = []
    for place, entrant in enumerate(entrants):
        results = run_trials(
            entrant.trial,
            run.trials,
            seed=run.seed,
            n_jobs=run.n_jobs,
            progress=_shifted(run.progress, place, len(entrants)),
        )
        rows.append(_compared(entrant, results))
    return Experiment(name, description, tuple(rows))


def _shifted(
    progress: Callable[[int, int], None] | None, place: int, cells: int
) -> Callable[[int, int], None] | None:
    if progress is None:
        return None
    return lambda finished, trials: progress(place * trials + finished, cells * trials)


def _compared(entrant: Entrant, results: Sequence[Result]) -> Compared:
    judged = verdict(results, entrant.beta)
    finals = [result.final for result in results if result.final is not None]
    lows = [final.low for final in finals if final.low is not None]
    highs = [final.high for final in finals if final.high is not None]
    return Compared(
        holder=entrant.name,
        promises=entrant.promises,
        shown=judged.shown,
        truth=judged.truth,
        low=fmean(lows) if lows else None,
        high=fmean(highs) if highs else None,
        holds=judged.holds if judged.telling else None,
        verdict=judged,
        published=entrant.published,
        reported=entrant.reported,
        note=entrant.note,
    )
