"""Rehearsal: the attacks on synthetic rows, with the terms of a holdout of yours.

Nothing of the holdout is touched but what it declared. The synthetic rows are +-1 features that
know nothing of their label, as dependent on each other as the declared sampling allows; so every
true score is known, and an interval that misses it is seen to miss it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from holdfast.data.sampling import Clustered, Declared, DependencyGraph, MDependent, Sampling
from holdfast.errors import InvalidArgument
from holdfast.lab.arena.comparison import Cell, Experiment, Run, run_cells
from holdfast.lab.arena.trial import WORDS, Analyst, Word
from holdfast.lab.attacks.analysts import AfterExactAnswers, WorstParity
from holdfast.lab.attacks.roster import ATTACKS, AttackKind, SignsOf
from holdfast.lab.pages.report import Sheet
from holdfast.lab.world.holders import Plain, as_if_independent
from holdfast.lab.world.populations import Blocks, Population, Signs
from holdfast.lab.world.session import BY_BOUNDED_NOISE, Protected
from holdfast.lab.world.text_questions import ByDescription
from holdfast.ledger.opening import Opening
from holdfast.mechanisms.catalogue import kind_of
from holdfast.mechanisms.terms import Terms
from holdfast.theory.base.concentration import SubExponential, SubGaussian

_ATTACKS = (
    "sign-attack",
    "log-odds",
    "guess-bisection",
    "honest-explorer",
    "greedy-search",
    "hill-climber",
    "alternate-accounts",
    "width-reading",
)
# With more cells (rows times questions) than this, only the attacks that matter most are run ...
_QUICK = 10**7
_FEW = 3
# ... and with more than this, fewer rows stand for all of them, at the same number of standard
# errors: every half-width grows by the square root of the ratio.
_MOST_CELLS = 10**8
_MOST_QUESTIONS = 2_000
_OPEN_QUESTIONS = 300
_WIDEST = 0.45
_PARITIES, _EXACT_FEATURES = 14, 60
_UNPROMISED = 0.25  # the half-width that analysts go by where none is promised


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """Results of the attacks under a holdout's terms; `str` is the verdict for a person."""

    name: str
    terms: str
    notes: tuple[str, ...]
    promises: bool
    attacks: tuple[Experiment, ...]

    @property
    def kept(self) -> bool:
        """Whether there is a promise and it held against every attack, beyond doubt."""
        return self.promises and not any(map(self._of, WORDS[1:]))

    @property
    def broken(self) -> tuple[str, ...]:
        """The attacks that broke the promise."""
        return self._of("BROKEN") if self.promises else ()

    def sheet(self) -> Sheet:
        """A row for each attack: what was shown, and whether the intervals were true."""
        return Sheet(
            ("attack", "answered", "shown", "truth", "false", "worst", "a plain holdout shows"),
            tuple(_row(attack) for attack in self.attacks),
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "terms": self.terms,
            "notes": list(self.notes),
            "promises": self.promises,
            "kept": self.kept,
            "attacks": [attack.to_dict() for attack in self.attacks],
        }

    def __str__(self) -> str:
        return "\n".join(
            [
                f"Rehearsal of {self.name}: {self.terms}",
                "Synthetic rows only: yours were not touched, and nothing was spent.",
                *self.notes,
                "",
                self.sheet().text(),
                "",
                self._judged(),
                self._verdict(),
            ]
        )

    def _of(self, word: Word) -> tuple[str, ...]:
        return tuple(each.name for each in self.attacks if each.rows[1].verdict.word == word)

    def _judged(self) -> str:
        judged = self.attacks[0].rows[1].verdict
        return (
            "`worst` is the largest error in half-widths: an interval is true up to 1. More than "
            f"{judged.allowed} false of {judged.trials} could not be chance."
        )

    def _verdict(self) -> str:
        plain = [attack.rows[0].verdict for attack in self.attacks]
        false, trials = sum(each.failures for each in plain), sum(each.trials for each in plain)
        many = len(self.attacks)
        beside = f"A plain holdout of the same rows was false in {false} of {trials} trials."
        if not self.promises:
            return f"Verdict: there is no promise to keep. {beside}"
        if self.broken:
            return (
                f"Verdict: the promise was BROKEN by {', '.join(self.broken)}. Do not rely on this "
                "holdout; please report it."
            )
        if doubtful := self._of("doubtful"):
            return (
                f"Verdict: doubtful against {', '.join(doubtful)}: so many false trials are chance "
                f"in one case of a hundred; use more trials. {beside}"
            )
        if self._of("too few trials"):
            return f"Verdict: these trials are too few to tell; use more of them. {beside}"
        if silent := self._of("no interval"):
            return f"Verdict: nothing was shown to {', '.join(silent)}. {beside}"
        return f"Verdict: the promise held against all {many} attacks. {beside}"


def _row(attack: Experiment) -> tuple[str, ...]:
    plain, own = attack.rows
    judged = own.verdict
    return (
        attack.name,
        f"{own.answered:,.0f}",
        "" if own.shown is None else f"{own.shown:.3f}",
        "" if own.truth is None else f"{own.truth:.3f}",
        f"{judged.failures} of {judged.trials}" if judged.intervals else "no interval",
        f"{judged.slack:.2f}" if judged.intervals else "",
        f"{plain.shown or 0.0:.3f}, false in {plain.verdict.failures} of {plain.verdict.trials}",
    )


@dataclass(frozen=True, slots=True)
class _Stage:
    """Stage of a rehearsal: the terms, who is attacked, and where rows come from."""

    terms: Terms
    asked: int
    signs: SignsOf
    holder: Protected
    notes: tuple[str, ...]


def rehearse(
    opening: Opening,
    *,
    trials: int = 10,
    seed: int = 2026,
    n_jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Rehearsal:
    """Run the attacks on synthetic rows with the terms that a ledger was opened with."""
    kind = kind_of(opening.mechanism["name"])
    stage = _stage(opening)
    cells, checks = stage.terms.rows * stage.asked, stage.holder.checks(stage.terms)
    asks = opening.terms.described_share < 1.0
    chosen = [ATTACKS[name] for name in _ATTACKS[: _FEW if cells > _QUICK else None] if asks]
    chosen = [
        each for each in chosen if stage.asked >= each.fewest and (checks or not each.guesses)
    ]
    insiders = _insiders(opening, stage)
    if not chosen and not insiders:
        raise InvalidArgument(
            f"the ledger allows {stage.asked} questions, too few to attack; every attack here "
            f"needs at least {min(each.fewest for each in ATTACKS.values())}."
        )
    attacks, many = [], len(chosen) + len(insiders)
    runs = (Run(trials, seed, n_jobs, _shifted(progress, place, many)) for place in range(many))
    for each, run in zip(chosen, runs, strict=False):
        attacks.append(_attacked(each, stage, run.seeded_for(each.name)))
    for analyst, run in zip(insiders, runs, strict=True):
        attacks.append(_told_exactly(analyst, stage, run.seeded_for(analyst.name)))
    promises = kind.theorem is not None or opening.terms.describes
    return Rehearsal(opening.name, _words(opening), stage.notes, promises, tuple(attacks))


def _insiders(opening: Opening, stage: _Stage) -> list[Analyst]:
    """Insiders who attack described answers, where rows are alike as the made-up ones are."""
    terms = opening.terms
    if not terms.describes or not terms.independent or terms.design.columns:
        return []
    features = min(_EXACT_FEATURES, stage.asked)
    asks = opening.mechanism["name"] == BY_BOUNDED_NOISE
    return [WorstParity(_PARITIES), *([AfterExactAnswers(features)] if asks else [])]


def _told_exactly(analyst: Analyst, stage: _Stage, run: Run) -> Experiment:
    """Described questions, and what is asked beside them, beside a plain holdout."""
    features = analyst.features if isinstance(analyst, AfterExactAnswers) else _PARITIES
    naive = replace(stage.terms, questions=features, described="off", described_share=0.0)
    cells = [
        Cell(Signs(features), holder, analyst, terms)
        for holder, terms in ((Plain(), naive), (ByDescription(), stage.terms))
    ]
    return run_cells(analyst.name.replace(" ", "-"), analyst.description, cells, run)


def _shifted(
    progress: Callable[[int, int], None] | None, place: int, many: int
) -> Callable[[int, int], None] | None:
    if progress is None:
        return None
    return lambda finished, all_: progress(place * all_ + finished, many * all_)


def _attacked(kind: AttackKind, stage: _Stage, run: Run) -> Experiment:
    staged, terms = kind.staged(stage.terms.rows, stage.asked, stage.signs), stage.terms
    holder = replace(stage.holder, guesses="analyst" if kind.guesses else "nobody")
    train = terms.rows if holder.needs_training else 0
    # Without a declared number of questions a plain interval is taken for those that are asked.
    naive = replace(terms, questions=terms.questions or stage.asked)
    return run_cells(
        kind.name,
        kind.description,
        [
            Cell(staged.population, Plain(), staged.analyst, as_if_independent(naive)),
            Cell(staged.population, holder, staged.analyst, terms, train),
        ],
        run,
    )


def _stage(opening: Opening) -> _Stage:
    terms, notes = opening.terms, []
    declared = terms.questions or _OPEN_QUESTIONS
    count = min(declared, _MOST_QUESTIONS)
    if terms.questions is None:
        notes.append(f"The number of questions is open; the analysts ask up to {count:,}.")
    elif count < declared:
        notes.append(f"The analysts ask {count:,} of the {declared:,} questions.")
    name, parameters = opening.mechanism["name"], opening.mechanism["parameters"]
    rows, tolerance = terms.rows, terms.tolerance or _UNPROMISED
    recorded: str | None = json.dumps(parameters)
    fewest = math.ceil(rows * (tolerance / _WIDEST) ** 2)
    if rows * count > _MOST_CELLS and fewest < rows:
        rows = max(_MOST_CELLS // count, fewest)
        tolerance *= math.sqrt(terms.rows / rows)
        recorded = None
        notes.append(
            f"{rows:,} rows stand for yours, with half-width {tolerance:.4f}: as many standard "
            "errors."
        )
    size = _block(terms.sampling, rows)
    rows -= rows % size
    rehearsed = replace(
        terms, rows=rows, tolerance=tolerance, sampling=_of_full_units(terms.sampling, rows)
    )
    if terms.design.columns:
        notes.append("Intervals are made as for rows that a design makes unlike each other.")
    if size > 1:
        notes.append(f"Every synthetic row comes {size:,} times: what the sampling allows.")
    holder = Protected(mechanism=name, parameters=recorded)
    return _Stage(rehearsed, count, lambda features: _rows(features, size), holder, tuple(notes))


def _rows(features: int, size: int) -> Population:
    return Signs(features) if size == 1 else Blocks(Signs(features), size)


def _block(sampling: Sampling, rows: int) -> int:
    """How often a row may be repeated so that the declared sampling is still true."""
    match sampling:
        case Clustered():
            return max(1, math.floor(sampling.rows_in_a_unit))
        case MDependent(m) | DependencyGraph(m):
            return int(m) + 1
        case Declared(SubGaussian(sigma) | SubExponential(sigma)):
            # n different rows have scale 1/(2 sqrt n), which must not exceed what was declared.
            size = math.floor(rows / math.ceil(1 / (4 * sigma * sigma)))
            if size < 1:
                raise InvalidArgument(
                    f"sigma={sigma:g} was declared, and {rows:,} independent +-1 values have "
                    f"{0.5 / math.sqrt(rows):.4g}: no rows of this kind can rehearse it."
                )
            return size
    return 1


def _of_full_units(sampling: Sampling, rows: int) -> Sampling:
    """The sampling of rows that all come as often as a unit has rows."""
    match sampling:
        case Clustered(largest=int(largest)):
            return replace(sampling, units=rows // largest)
    return sampling


def _words(opening: Opening) -> str:
    terms = opening.terms
    questions = "open-ended" if terms.questions is None else f"{terms.questions:,} questions"
    width = "no promise" if terms.tolerance is None else f"half-width {terms.tolerance:g}"
    return (
        f"{terms.rows:,} rows, {questions}, {width}, {100 * terms.confidence_level:g} % all "
        f"together, {opening.mechanism['name']}, {terms.sampling}."
    )
