"""`holdfast.open`: a new holdout, or an old one resumed from its ledger."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from holdfast import require
from holdfast.data.clusters import effective_size
from holdfast.data.design import design_of
from holdfast.data.files import FileSample
from holdfast.data.sample import Sample
from holdfast.data.sampling import Clustered, Sampling, sampling_of, sampling_to_dict
from holdfast.data.source import open_sample
from holdfast.errors import DataChanged, InvalidArgument, LedgerUnavailable
from holdfast.guessers.catalogue import guessers_of
from holdfast.guessers.guesser import Guesser
from holdfast.holdout.desk import Desk, now
from holdfast.holdout.guess import other_rows
from holdfast.holdout.holdout import TIMEOUT, Holdout
from holdfast.ledger.chain import canonical
from holdfast.ledger.entries import Opening
from holdfast.ledger.store import Store
from holdfast.ledger.transcript import Transcript
from holdfast.mechanisms.auto import AUTO, Choice, choose
from holdfast.mechanisms.catalogue import kind_of
from holdfast.mechanisms.kind import Wanted
from holdfast.mechanisms.private import PRIVATE_GAUSSIAN, PRIVATE_LAPLACE
from holdfast.question.columns import Schema, declared_bounds
from holdfast.statistics.table import Table

__all__ = ["open"]

_CONFIDENCE_LEVEL = 0.95


def open(
    data: Any = None,
    *,
    name: str | None = None,
    ledger: str | Path | None = None,
    tolerance: float | None = None,
    questions: int | None = None,
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
    path = _ledger_path(data, name, ledger)
    timeout = require.between("timeout", timeout, 0.0, 1e6)
    declared = {
        "name": name,
        "tolerance": tolerance,
        "questions": questions,
        "confidence_level": confidence_level,
        "sampling": None if sampling is None else sampling_of(sampling),
        "schema": schema,
        "design": design,
        "mechanism": mechanism,
        "options": options or {},
        "private": private,
    }
    guessers = guessers_of(guesser, with_training=train is not None)
    sample = None if data is None else open_sample(data, table=table)

    @cache
    def fingerprint() -> str:
        return "" if sample is None else _fingerprint(path, table, sample)

    if not _exists(path):
        opening = _opening(path, declared, data, sample, fingerprint)
        Store.create(path, opening.body(), timeout)
    store, transcript = _resumed(path, declared, sample, fingerprint)
    try:
        training = None if train is None else other_rows(train, transcript.opening)
        known = Table.declared(
            transcript.opening.columns, transcript.opening.bounds, transcript.opening.design
        )
        desk = Desk(store, transcript, known, sample, training, timeout, guessers)
        if guesser is not None and guessers:
            desk.require_checks()
    except BaseException:
        store.close()
        raise
    return Holdout(desk, type(data).__module__.partition(".")[0])


def _ledger_path(data: Any, name: str | None, ledger: str | Path | None) -> Path:
    if ledger is not None:
        return Path(ledger)
    if name is None and isinstance(data, str | Path):
        name = Path(data).stem.strip("*") or None
    if name is None:
        raise InvalidArgument("open needs a name= or a ledger=: where its record is kept.")
    return Path(f"{name}.ledger")


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError as error:
        raise LedgerUnavailable(
            f"the ledger {str(path)!r} cannot be looked at ({error}); check the permissions of its "
            "folder."
        ) from error


def _opening(
    path: Path,
    declared: dict[str, Any],
    data: Any,
    sample: Sample | None,
    fingerprint: Callable[[], str],
) -> Opening:
    """The first entry of a new ledger."""
    if sample is None:
        raise InvalidArgument(
            f"there is no ledger {str(path)!r} yet, and open was given no data to make one for."
        )
    if sample.n < 2:
        raise InvalidArgument("the table has 1 row; a holdout needs at least 2.")
    bounds = Schema(sample.types).declare(declared["schema"]).bounds
    sampling = _measured(declared["sampling"] or sampling_of("independent"), sample)
    level = declared["confidence_level"]
    level = _CONFIDENCE_LEVEL if level is None else require.probability("confidence_level", level)
    questions = declared["questions"]
    if questions is not None:
        questions = require.positive_integer("questions", questions)
    wanted = declared["tolerance"]
    if wanted is not None:
        wanted = require.between("tolerance", wanted, 0.0, 0.5, open_low=True, open_high=True)
    design = _design(declared["design"], sample, sampling)
    wishes = Wanted(sample.n, wanted, level, questions, sampling, design is not None)
    kind, why = _choice(_mechanism_name(declared), wishes, declared["options"])
    planned = kind.plan(wishes, declared["options"])
    mechanism: dict[str, Any] = {"name": kind.name, "parameters": planned.parameters}
    if declared["options"]:
        mechanism["options"] = dict(declared["options"])
    opening = Opening(
        at=now(),
        name=declared["name"] or path.stem,
        rows=sample.n,
        tolerance=planned.tolerance,
        confidence_level=level,
        questions=questions,
        sampling=sampling_to_dict(sampling),
        fingerprint=fingerprint(),
        columns={column: str(kind) for column, kind in sample.types.items()},
        bounds={column: (pair.low, pair.high) for column, pair in bounds.items()},
        design=design,
        mechanism=mechanism if why is None else {**mechanism, "why": why},
        source=str(data) if isinstance(data, str | Path) else None,
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


def _resumed(
    path: Path,
    declared: dict[str, Any],
    sample: Sample | None,
    fingerprint: Callable[[], str],
) -> tuple[Store, Transcript]:
    """The ledger as it stands; what is declared again must be what was declared at first."""
    store, transcript = Store.open(path), Transcript()
    try:
        transcript.apply(store.news())
        _same_declarations(path, transcript.opening, declared, sample)
        if sample is not None:
            _same_data(path, transcript.opening, sample, fingerprint)
    except BaseException:
        store.close()
        raise
    return store, transcript


def _same_declarations(
    path: Path, opening: Opening, declared: dict[str, Any], sample: Sample | None
) -> None:
    said = {what: declared[what] for what in ("name", "tolerance", "questions", "confidence_level")}
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


def _same_data(
    path: Path, opening: Opening, sample: Sample, fingerprint: Callable[[], str]
) -> None:
    columns = {column: str(kind) for column, kind in sample.types.items()}
    if (
        sample.n == opening.rows
        and columns == opening.columns
        and fingerprint() == opening.fingerprint
    ):
        return
    raise DataChanged(
        f"the table is not the one of the ledger {str(path)!r} ({opening.rows:,} rows, "
        f"{len(opening.columns)} columns, fingerprint {opening.fingerprint[:12]}...): a row, a "
        "cell, a column or a type differs. Open the original table, or a new ledger for this one."
    )


def _fingerprint(path: Path, table: str | None, sample: Sample) -> str:
    """The table's fingerprint; files that have not been touched since are not read again."""
    from holdfast.data.fingerprint import fingerprint

    if not isinstance(sample, FileSample):
        return fingerprint(sample)
    memory = path.with_name(f"{path.name}-files")
    seen = [asdict(stamp) for stamp in sample.stamps]
    known = _remembered(memory)
    if known is not None and (known.get("files"), known.get("table")) == (seen, table):
        return str(known["fingerprint"])
    found = fingerprint(sample)
    facts = json.dumps({"files": seen, "table": table, "fingerprint": found})
    try:
        memory.write_text(facts, encoding="utf-8")
    except OSError:
        return found  # only a memory: the next opening reads the files again
    return found


def _remembered(memory: Path) -> dict[str, Any] | None:
    try:
        known = json.loads(memory.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return known if isinstance(known, dict) and "fingerprint" in known else None
