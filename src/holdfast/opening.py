"""`holdfast.open`: a new holdout, or an old one resumed from its ledger."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from holdfast import require
from holdfast.data.clusters import cluster_sizes
from holdfast.data.design import NO_DESIGN, Design, design_of
from holdfast.data.sample import Sample
from holdfast.data.source import files_of, open_sample, stamps
from holdfast.desk import Desk, now
from holdfast.errors import DataChanged, InvalidArgument, LedgerUnavailable
from holdfast.guesses import other_rows
from holdfast.holdout import TIMEOUT, Holdout
from holdfast.ledger.chain import canonical
from holdfast.ledger.entries import Opening
from holdfast.ledger.store import Store
from holdfast.ledger.transcript import Transcript
from holdfast.mechanisms.catalogue import kind_of
from holdfast.mechanisms.kind import Wanted
from holdfast.question.columns import Schema, declared_bounds
from holdfast.question.expression import ColumnType
from holdfast.sampling import Clustered, Sampling, sampling_of, sampling_to_dict
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
    train: Any = None,
    table: str | None = None,
    timeout: float = TIMEOUT,
) -> Holdout:
    """Protect a table: every interval given for it stays true, all together.

    `data` is a pandas, Polars or pyarrow table, a path or glob of CSV or Parquet files, or a DuckDB
    relation or file (with `table`). An existing `ledger` (default: NAME.ledger) is resumed, with
    the same data or, to look at it, with none. For a new one:

    * `tolerance`: the promised half-width as a fraction of each statistic's range (default: what
      `questions` answers with bounded noise allow, or 0.05);
    * `questions`: how many will be asked (default: open-ended);
    * `confidence_level`: the probability that all intervals are true together (default 0.95);
    * `sampling`: how the rows came about (default: independent);
    * `schema`: the bounds of columns, {name: (low, high)} or a TOML file;
    * `design`: columns that somebody decided (arm, site, category, label): they become public, so
      that their groups have known sizes, and every promise is for the design as it is;
    * `mechanism`: how questions without a guess are answered, by its name in `holdfast mechanisms`
      (default: bounded noise), with its `options`.

    `train` attaches other rows, from which `ask` then guesses by itself.
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
    }
    sample = None if data is None else open_sample(data, table=table)

    @cache
    def fingerprint() -> str:
        return "" if sample is None else _fingerprint(path, data, sample)

    if not _exists(path):
        opening = _opening(path, declared, data, sample, fingerprint)
        Store.create(path, opening.body(), timeout)
    store, transcript = _resumed(path, declared, sample, fingerprint)
    opening = transcript.opening
    try:
        training = None if train is None else other_rows(train, opening)
    except BaseException:
        store.close()
        raise
    known = Schema({column: ColumnType(kind) for column, kind in opening.columns.items()}).declare(
        opening.bounds
    )
    public = NO_DESIGN if opening.design is None else Design.from_dict(opening.design)
    desk = Desk(store, transcript, Table(known, public), sample, training, timeout)
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
    kind = kind_of(declared["mechanism"] or "bounded noise")
    planned = kind.plan(
        Wanted(sample.n, wanted, level, questions, sampling, design is not None),
        declared["options"],
    )
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
        mechanism={"name": kind.name, "parameters": planned.parameters},
        source=str(data) if isinstance(data, str | Path) else None,
    )
    # What cannot be read again must not be written.
    Transcript().apply([(1, canonical(opening.body()), "")])
    return opening


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
    sizes = cluster_sizes(sample, sampling.column)
    return Clustered(sampling.column, sum(size * size for size in sizes) / sum(sizes))


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
    if declared["mechanism"] not in (None, opening.mechanism["name"]):
        raise InvalidArgument(
            f"mechanism is {declared['mechanism']!r}, and the ledger {str(path)!r} was opened with "
            f"{opening.mechanism['name']!r}; leave it out, or use another ledger."
        )
    if declared["design"] is not None:
        named = [] if opening.design is None else opening.design["columns"]
        if sorted(set(declared["design"])) != named:
            raise InvalidArgument(
                f"design is {list(declared['design'])!r}, and the ledger {str(path)!r} was opened "
                f"with {named!r}; leave it out, or use another ledger."
            )
    for what, value in said.items():
        stored = getattr(opening, what)
        if value is not None and value != stored:
            raise InvalidArgument(
                f"{what} is {value!r}, and the ledger {str(path)!r} was opened with {stored!r}; "
                "leave it out, or use another ledger."
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


def _fingerprint(path: Path, data: Any, sample: Sample) -> str:
    """The table's fingerprint; files that have not been touched since are not read again."""
    from holdfast.data.fingerprint import fingerprint

    if not files_of(data):
        return fingerprint(sample)
    memory = path.with_name(f"{path.name}-files")
    seen = [asdict(stamp) for stamp in stamps(data)]
    known = _remembered(memory)
    if known is not None and known.get("files") == seen:
        return str(known["fingerprint"])
    found = fingerprint(sample)
    facts = json.dumps({"files": seen, "fingerprint": found})
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
