"""Behind the public face: every private name of the package that tests know is in this file.

Tests put other rows behind a holdout, read its ledger while it is open, or let something else
happen in the middle of a commit. They do it by the functions here, so that what is private can
change with one file of the tests; `test_house.py` keeps it so.
"""

from __future__ import annotations

import pkgutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from holdfast.data.sample import Sample
from holdfast.holdout.desk import Desk
from holdfast.holdout.holdout import Holdout
from holdfast.holdout.request import bound_to, knowing
from holdfast.ledger import subjects
from holdfast.ledger.backend import Keeper
from holdfast.ledger.entries import Recorded
from holdfast.ledger.sqlite import SqliteRecords
from holdfast.ledger.store import Store
from holdfast.ledger.transcript import Transcript
from holdfast.mechanisms import noise
from holdfast.prior import grammar
from holdfast.question.expression import Expression, Op
from holdfast.statistics.description import Prior
from holdfast.statistics.entry import Bound
from holdfast.statistics.labelled import Labelled
from holdfast.theory.base import bets
from holdfast.theory.transfer import likelihood_cover as shift_composition

if TYPE_CHECKING:
    from holdfast.data.sql.duckdb import DuckDBSample  # an engine: not where processes are forked
    from holdfast.service.tokens import TokenStore

# What `monkeypatch.setattr` replaces, and `real` looks up ----------------------------------------

CHART_COLOURS = "holdfast.holdout.charts.plans._COLOURS"
CHECKPOINT_EVERY = "holdfast.ledger.transcript._CHECKPOINT_EVERY"
COMPARE_DEFINITION = "holdfast.data.sql.postgres_watch.TableSession._require_definition"
DIVIDED = "holdfast.data.polars._divided"
HELD_VALUES = "holdfast.data.polars._HELD_VALUES"
COMPILED_FUNCTIONS = "holdfast.theory.base.special._compiled"
COUNTED_WITHOUT_VALUE = "holdfast.ledger.implied.counted_condition"
ROWS_OF_TYPES = "holdfast.data.csv._FIRST_ROWS"
EXHAUSTIVE_GROUPS = "holdfast.ledger.implied.is_everything"
BETS_LOOKED_AT = "holdfast.theory.base.bets._FAR"
SCORES_LOOKED_AT = "holdfast.theory.direct.paired._FAR"
SHARES_LOOKED_AT = "holdfast.theory.direct.difference._RARE"
GRID_OF_VALUES = "holdfast.theory.base.bets._GRID"
FOLD_ENTRY = "holdfast.ledger.transcript.Transcript._apply"
SQLITE_PATIENCE = "holdfast.ledger.sqlite._PATIENCE"
WRITE_ENTRIES = "holdfast.ledger.sqlite._write"
MOST_PLANNED_CELLS = "holdfast.lab.arena.rehearsal._MOST_CELLS"
PIPELINE_RESULTS = "psycopg.Pipeline._fetch_gen"  # of the driver
NOISE_BLOCKS = "holdfast.mechanisms.noise.Noise._blocks"
OPEN_QUESTIONS = "holdfast.lab.arena.rehearsal._OPEN_QUESTIONS"
PATIENCE_OF_PROGRESS = "holdfast.cli.commands._PATIENCE"
POLARS_SHAPE = "holdfast.question.polars_row._packed"
RELATED_LOOKS = "holdfast.ledger.transcript._RELATED"
SIDES_OF_DIFFERENCE = "holdfast.ledger.implied._sides"
SQL_DIALECT = "holdfast.question.safe_text._dialect"
QUICK_CELLS = "holdfast.lab.arena.rehearsal._QUICK"
STRETCHES_LEFT = "holdfast.mechanisms.leakage._STRETCHES"
SUMMING = "holdfast.data.sql.spark._summing"
SYNC_FOLDER = "holdfast.ledger.sqlite.sync_folder"
WRITE_SECRET = "holdfast.ledger.sqlite.write_new"
# And what is tested by itself.
BEYOND_A_BOUND = "holdfast.statistics.player._beyond"
ENDS_OF_BINS = "holdfast.data.histogram._ends_of"
FORECAST_ENTERED = "holdfast.mechanisms.forecast_claims.ForecastClaims._entered"
IMPLIED_APART = "holdfast.ledger.implied._apart"
IMPLIED_JOINED = "holdfast.ledger.implied._joined"
IMPLIED_LINEAR = "holdfast.ledger.implied._linear"
IMPLIED_MEET = "holdfast.ledger.implied._meet"
IS_ROW_NUMBER = "holdfast.data.fingerprint._is_row_number"
LEAST_SHARE = "holdfast.statistics.derived._least_share"
LEVEL_OF_QUANTILE = "holdfast.ledger.subjects._Level"
ONE_SIDED = "holdfast.statistics.player._one_sided"
STEPS_BETWEEN = "holdfast.data.fingerprint._steps"
TRAINED_GUESS = "holdfast.mechanisms.forecast_checks._trained"
WITHIN_A_CLAIM = "holdfast.papers.guess_and_check._is_inside"


SIDES_OF_A_CUT = cast("dict[Op, tuple[bool, bool]]", subjects._ABOVE)


def real(name: str) -> Any:
    """What has this name now."""
    return pkgutil.resolve_name(name)


@contextmanager
def token_writer(store: TokenStore) -> Iterator[None]:
    """Somebody is in the middle of writing to the file of tokens."""
    with store._guard:
        yield


def shown_in_notebooks(picture: Any) -> dict[str, str]:
    """What a chart gives a notebook to show, by the kind of its content."""
    return cast(dict[str, str], picture._repr_mimebundle_())


# A holdout and its rows --------------------------------------------------------------------------


def desk_of(holdout: Holdout) -> Desk:
    """Where its wishes become answers."""
    return holdout._desk


def store_of(holdout: Holdout) -> Store:
    """Its ledger file."""
    return desk_of(holdout).store


def transcript_of(holdout: Holdout) -> Transcript:
    """Its ledger, as far as it was read."""
    return desk_of(holdout).transcript


def timeout_of(holdout: Holdout) -> float:
    """How long it waits for others."""
    return desk_of(holdout)._timeout


def bound(holdout: Holdout, question: str) -> Bound | Labelled:
    """A question as the holdout reads it, against its columns."""
    desk = desk_of(holdout)
    return bound_to(desk, question, knowing(desk, None))


def write_entry(holdout: Holdout, body: dict[str, Any]) -> None:
    """An entry of its ledger, as if it had been asked."""
    with store_of(holdout).exclusive(1.0):
        desk_of(holdout)._write(body)


def sample_of(holdout: Holdout) -> Sample:
    """The protected rows."""
    found = desk_of(holdout).protected.sample
    assert found is not None
    return found


def put_sample(holdout: Holdout, sample: Any) -> Sample:
    """Other rows in place of the protected ones, which come back."""
    before = sample_of(holdout)
    desk_of(holdout).protected.put(cast(Sample, sample))
    return before


# A ledger file -----------------------------------------------------------------------------------


def connection_of(store: Store) -> sqlite3.Connection:
    """What it writes and reads by."""
    return _records(store).connection


@contextmanager
def connected_by(store: Store, connection: Any) -> Iterator[None]:
    """Another connection to write and read by, for a while."""
    records = _records(store)
    before, records.connection = records.connection, connection
    try:
        yield
    finally:
        records.connection = before


def backend_of(holdout: Holdout) -> int:
    """The server's process that a ledger in a database is written by."""
    from holdfast.ledger.postgres import PostgresKeeper

    return cast(PostgresKeeper, keeper_of(store_of(holdout))).session.backend


def keeper_of(store: Store) -> Keeper:
    """What it writes and reads by, whatever keeps its rows."""
    return store.keeper


def _records(store: Store) -> SqliteRecords:
    return cast(SqliteRecords, store.keeper.records)


def answers_in_memory(transcript: Transcript) -> list[Recorded]:
    """The answers that were folded one by one, not by a checkpoint."""
    return transcript._answers


# Parts of a computation --------------------------------------------------------------------------


# The steps of drawing a normal number, each with a law of its own.
NormalUniform = noise._Uniform
normal_below, normal_decays = noise._below, noise._decays
normal_half, normal_rate_of = noise._half, noise._rate_of


def database_of(sample: DuckDBSample) -> Any:
    """The connection that a DuckDB table is read by."""
    return cast(Any, sample._relation)._con


def bracket(*given: Any) -> tuple[float, float]:
    """The narrower bracket of where capital falls below a level."""
    return bets._bracket(*given)


def shift_plan(a: int, t: float, k: int, log_beta: float) -> Any:
    """In how many blocks shifts are composed, and on which cells."""
    return shift_composition._plan(a, t, k, log_beta)


def millibits(prior: Prior, context: str, weights: str, tree: Expression) -> int:
    """What the grammar charges a condition in a context."""
    rule = partial(prior.grammar._condition, context, weights)
    return grammar._total([(rule, tree)])


def polars_spelling() -> dict[Op, Any]:
    """How Polars spells each operation; what is not there it cannot compute."""
    from holdfast.data import polars as polars_code

    return polars_code._SPELLING


def settings_of_driver(session: Any) -> Any:
    """Settings of Spark's driver, which its session takes for constants."""
    return session.sparkContext._jsc.sc().conf()
