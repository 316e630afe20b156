"""`holdfast.open`: a new holdout, or an old one resumed from its ledger."""

from __future__ import annotations

import os.path
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from holdfast import require
from holdfast.data.clusters import effective_size
from holdfast.data.design import design_of
from holdfast.data.sample import Sample
from holdfast.data.sampling import Clustered, Sampling, sampling_of, sampling_to_dict
from holdfast.errors import InvalidArgument, SecondLedger
from holdfast.guessers.catalogue import guessers_of
from holdfast.guessers.guesser import Guesser
from holdfast.holdout.desk import Desk, now
from holdfast.holdout.guess import other_rows
from holdfast.holdout.holdout import TIMEOUT, Holdout
from holdfast.ledger.chain import canonical
from holdfast.ledger.entries import Opening
from holdfast.ledger.identity import keyed_print
from holdfast.ledger.naming import is_there
from holdfast.ledger.reach import note_ledger, others_over
from holdfast.ledger.rows import Rows
from holdfast.ledger.store import Store
from holdfast.ledger.transcript import Transcript
from holdfast.mechanisms.auto import AUTO, Choice, choose
from holdfast.mechanisms.catalogue import checking, kind_of
from holdfast.mechanisms.kind import Wanted
from holdfast.mechanisms.private import PRIVATE_GAUSSIAN, PRIVATE_LAPLACE
from holdfast.question.columns import Schema, declared_bounds
from holdfast.statistics.table import Table

__all__ = ["open", "opened_again"]

_CONFIDENCE_LEVEL = 0.95


def open(
    data: Any = None,
    *,
    name: str | None = None,
    ledger: str | Path | None = None,
    tolerance: float | None = None,
    questions: int | None = None,
    surprises: int | None = None,
    confidence_level: float | None = None,
    sampling: str | Sampling | None = None,
    schema: Any = None,
    design: Sequence[str] | None = None,
    mechanism: str | None = None,
    options: Mapping[str, Any] | None = None,
    private: bool = False,
    train: Any = None,
    guesser: str | Guesser | None = None,
    table: str | None = None,
    timeout: float = TIMEOUT,
) -> Holdout:
    """Protect a table: every interval given for it stays true, all together.

    `data` is a pandas, Polars or pyarrow table, a path or glob of CSV or Parquet files, or a DuckDB
    relation or file (with `table`). An existing `ledger` (default: NAME.ledger) is resumed, with
    the same data or, to look at it, with none. For a new one:

    * `tolerance`: the promised half-width as a fraction of each statistic's range (default: what
      the mechanism allows for so many `questions`, or 0.05);
    * `questions`: how many will be asked (default: open-ended);
    * `surprises`: how many of them, at most, you expect to be refuted guesses; it sets what checks
      cost, as `plan` says, and no promise rests on it (default: a prior that learns);
    * `confidence_level`: the probability that all intervals are true together (default 0.95);
    * `sampling`: how the rows came about (default: independent);
    * `schema`: the bounds of columns, {name: (low, high)} or a TOML file;
    * `design`: columns that somebody decided (arm, site, category, label): they become public, so
      that their groups have known sizes, and every promise is for the design as it is;
    * `mechanism`: how questions without a guess are answered, by its name in `holdfast mechanisms`
      (default: bounded noise), with its `options`; "auto" takes bounded or median noise, whichever
      the planner says is narrower, and says why;
    * `private`: everything released is differentially private (default mechanism then: private
      gaussian); checks are refused, and the budget shows the privacy spent.

    A `guesser` turns every `ask` into a check of its guess: a name such as "multiplicative
    weights" (see docs/guessers.md) or a value of `holdfast.guessers`. `train` attaches other rows;
    left to themselves ("training mean"), they guess. The ledger does not depend on either.
    """
    name = None if name is None else require.text("name", name)
    named = _ledger_path(data, name, ledger)
    there = is_there(named)
    path = Path(os.path.abspath(named))  # it stays there, wherever one works later
    timeout = require.between("timeout", timeout, 0.0, 1e6)
    declared = {
        "name": name,
        "tolerance": tolerance,
        "questions": questions,
        "surprises": surprises,
        "confidence_level": confidence_level,
        "sampling": None if sampling is None else sampling_of(sampling),
        "schema": schema,
        "design": None if design is None else require.texts("design", design),
        "mechanism": None if mechanism is None else require.text("mechanism", mechanism),
        "options": {} if options is None else require.mapping("options", options),
        "private": require.flag("private", private),
    }
    guessers = guessers_of(guesser, with_training=train is not None)
    rows = None if there else _made(path, declared, data, table, timeout)
    store = Store.open(path)
    try:
        transcript = Transcript.resumed(store)
        if rows is None and data is not None:
            rows = Rows.of_ledger(store, data, table)
        sample = None if rows is None else rows.sample
        _same_declarations(path, transcript.opening, declared, sample)
        if rows is not None:
            rows.require_protected(store, transcript.opening)
            note_ledger(path)
        training = None if train is None else other_rows(train, transcript.opening, store.secret)
        known = Table.declared(
            transcript.opening.columns, transcript.opening.bounds, transcript.opening.design
        )
        desk = Desk(store, transcript, known, sample, training, timeout, guessers)
        if guesser is not None and guessers:
            desk.require_checks()
    except BaseException:
        store.close()
        raise
    again = {"data": data, "ledger": path, "train": train, "guesser": guesser, "table": table}
    return Holdout(desk, type(data).__module__.partition(".")[0], _by_path(again, timeout))


def opened_again(how: dict[str, Any]) -> Holdout:
    """The holdout that was opened this way in another process."""
    return open(**how)


def _by_path(how: dict[str, Any], timeout: float) -> dict[str, Any] | None:
    """The same arguments wherever they are used: files by their whole paths; None for tables."""
    kept = {what: given for what, given in how.items() if given is not None}
    if not all(isinstance(given, str | Path) for given in kept.values()):
        return None
    files = {"data", "ledger", "train"} & kept.keys()
    whole = {what: os.path.abspath(kept[what]) for what in files}
    return {**kept, **whole, "timeout": timeout}


def _ledger_path(data: Any, name: str | None, ledger: str | Path | None) -> Path:
    if ledger is not None:
        return require.file("ledger", ledger)
    if name is None and isinstance(data, str | Path):
        name = Path(data).stem.strip("*") or None
    if name is None:
        raise InvalidArgument("open needs a name= or a ledger=: where its record is kept.")
    return require.file("name", f"{name}.ledger")


def _made(
    path: Path, declared: dict[str, Any], data: Any, table: str | None, timeout: float
) -> Rows:
    """Make the ledger of a table; the rows, with their fingerprint."""
    if data is None:
        raise InvalidArgument(
            f"there is no ledger {str(path)!r} yet, and open was given no data to make one for."
        )
    rows = Rows.of_data(data, table)
    opening = _opening(path, declared, rows.sample)
    for other in others_over(rows.content, path):
        warnings.warn(
            f"the ledger {str(other)!r} protects the same table: two ledgers have two budgets, and "
            "the promise of each holds only for what is asked of it alone. Use that one instead.",
            SecondLedger,
            stacklevel=3,
        )
    Store.create(path, lambda secret: _keyed(opening, secret, rows.content).body(), timeout)
    return rows


def _keyed(opening: Opening, secret: bytes, content: str) -> Opening:
    return replace(opening, fingerprint=keyed_print(secret, content))


def _opening(path: Path, declared: dict[str, Any], sample: Sample) -> Opening:
    """The first entry of a new ledger, but for the fingerprint, which needs the secret."""
    if sample.n < 2:
        raise InvalidArgument("the table has 1 row; a holdout needs at least 2.")
    bounds = Schema(sample.types).declare(declared["schema"]).bounds
    sampling = _measured(declared["sampling"] or sampling_of("independent"), sample)
    level = declared["confidence_level"]
    level = _CONFIDENCE_LEVEL if level is None else require.confidence_level(level)
    questions = declared["questions"]
    if questions is not None:
        questions = require.positive_integer("questions", questions)
    surprises = require.surprises(declared["surprises"], questions)
    wanted = declared["tolerance"]
    if wanted is not None:
        wanted = require.between("tolerance", wanted, 0.0, 0.5, open_low=True, open_high=True)
    design = _design(declared["design"], sample, sampling)
    wishes = Wanted(sample.n, wanted, level, questions, sampling, design is not None, surprises)
    kind, why = _choice(_mechanism_name(declared), wishes, declared["options"])
    planned = kind.plan(wishes, declared["options"])
    mechanism: dict[str, Any] = {"name": kind.name, "parameters": planned.parameters}
    if declared["options"]:
        mechanism["options"] = dict(declared["options"])
    if surprises is not None and checking(mechanism, wishes.terms(planned.tolerance)) is None:
        raise InvalidArgument(
            f"surprises is {surprises:,}, and {kind.name} checks no guesses: {kind.refuses_checks} "
            "Leave surprises out, or choose another mechanism."
        )
    opening = Opening(
        at=now(),
        name=declared["name"] or path.stem,
        rows=sample.n,
        tolerance=planned.tolerance,
        confidence_level=level,
        questions=questions,
        sampling=sampling_to_dict(sampling),
        fingerprint="",
        columns={column: str(kind) for column, kind in sample.types.items()},
        bounds={column: (pair.low, pair.high) for column, pair in bounds.items()},
        design=design,
        mechanism=mechanism if why is None else {**mechanism, "why": why},
        surprises=surprises,
    )
    # What cannot be read again must not be written.
    Transcript().apply([(1, canonical(opening.body()), "")])
    return opening


def _mechanism_name(declared: dict[str, Any]) -> str | None:
    """The mechanism that was named; a private holdout has a private one."""
    name: str | None = declared["mechanism"]
    if not declared["private"]:
        return name
    if name == AUTO or (name is not None and not kind_of(name).private):
        raise InvalidArgument(_not_private(name))
    return name or PRIVATE_GAUSSIAN.name


def _not_private(name: str) -> str:
    return (
        f"mechanism is {name!r}, whose answers depend on single rows more than private=True allows;"
        f" use {PRIVATE_LAPLACE.name!r} or {PRIVATE_GAUSSIAN.name!r}, or leave private out."
    )


def _choice(name: str | None, wanted: Wanted, options: Mapping[str, Any]) -> Choice:
    """The mechanism that was named, or the one that is chosen for what was declared."""
    if name == AUTO:
        return choose(wanted, options)
    return Choice(kind_of(name or "bounded noise"), None)


def _design(
    columns: Sequence[str] | None, sample: Sample, sampling: Sampling
) -> dict[str, Any] | None:
    if not columns:
        return None
    unit = sampling.column if isinstance(sampling, Clustered) else None
    return design_of(sample, columns, unit).to_dict()


def _measured(sampling: Sampling, sample: Sample) -> Sampling:
    """Clusters get their size from the table: how rows fall into units is public by declaration.

    A size that was declared to plan with is not believed: the promise rests on the true one.
    """
    if not isinstance(sampling, Clustered):
        return sampling
    return Clustered(sampling.column, effective_size(sample, sampling.column))


def _same_declarations(
    path: Path, opening: Opening, declared: dict[str, Any], sample: Sample | None
) -> None:
    plain = ("name", "tolerance", "questions", "surprises", "confidence_level")
    said = {what: declared[what] for what in plain}
    if declared["sampling"] is not None and sample is not None:
        said["sampling"] = sampling_to_dict(_measured(declared["sampling"], sample))
    if declared["schema"] is not None:
        bounds = declared_bounds(declared["schema"])
        said["bounds"] = {column: (pair.low, pair.high) for column, pair in bounds.items()}
    if declared["private"] and not kind_of(opening.mechanism["name"]).private:
        raise InvalidArgument(_not_private(opening.mechanism["name"]))
    named = {None, opening.mechanism["name"], AUTO if "why" in opening.mechanism else None}
    if declared["mechanism"] not in named:
        raise _otherwise(path, "mechanism", declared["mechanism"], opening.mechanism["name"])
    chosen = opening.mechanism.get("options", {})
    if declared["options"] and dict(declared["options"]) != chosen:
        raise _otherwise(path, "options", dict(declared["options"]), chosen)
    if declared["design"] is not None:
        public = [] if opening.design is None else opening.design["columns"]
        if sorted(set(declared["design"])) != public:
            raise _otherwise(path, "design", list(declared["design"]), public)
    for what, value in said.items():
        stored = getattr(opening, what)
        if value is not None and value != stored:
            raise _otherwise(path, what, value, stored)


def _otherwise(path: Path, what: str, value: object, stored: object) -> InvalidArgument:
    return InvalidArgument(
        f"{what} is {value!r}, and the ledger {str(path)!r} was opened with {stored!r}; leave it "
        "out, or use another ledger."
    )
