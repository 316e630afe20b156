"""Two disjoint parts of one table: to explore, and to hold out.

`split` divides by the places of rows; `put_aside`, for a table that is opened again and again, by
their content, so that rows in another order, or in another file, are divided the same way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, TypeVar

from holdfast import require
from holdfast.data.fingerprint import cell_words, mixed, row_words
from holdfast.data.sample import Sample
from holdfast.did_you_mean import checks_arguments
from holdfast.errors import InvalidArgument
from holdfast.question.columns import no_column
from holdfast.question.expression import ColumnType

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

_Frame = TypeVar("_Frame")
_FEWEST = 50  # rows of either part: fewer say nothing
_RULE = "content/1"  # how rows are chosen; the name is kept in ledgers


@checks_arguments("split")
def split(
    data: _Frame, test_size: float = 0.5, random_state: int = 0, *, by: str | None = None
) -> tuple[_Frame, _Frame]:
    """(train, hold): a random part of the rows to explore, and the rest to hold out.

    `data` is a pandas, Polars or pyarrow table, and both parts are of the same kind, their rows in
    their old order. `test_size` is the part held out, of the rows or, with `by`, of the distinct
    values of that column: then rows with the same value stay together (a missing value is one more
    value). The same arguments give the same parts on every machine.
    """
    share = require.between("test_size", test_size, 0.0, 1.0, open_low=True, open_high=True)
    seed = require.integer_at_least("random_state", random_state, 0)
    units = _units(data, by)
    count = int(units.max(initial=-1)) + 1
    held_out = round(share * count)
    if not 0 < held_out < count:
        noun = "rows" if by is None else f"values of {by!r}"
        raise InvalidArgument(
            f"{count} {noun} cannot be divided with test_size {share:g}; both parts need one."
        )
    chosen = _random_order(count, seed) < held_out
    mask = chosen[units]
    return _filtered(data, ~mask), _filtered(data, mask)


def _random_order(count: int, seed: int) -> NDArray[np.int64]:
    """A permutation of 0, ..., count - 1 that depends on nothing but its arguments."""
    import numpy as np

    start = mixed(np.array([seed % 2**64, seed >> 64 & (2**64 - 1)], dtype=np.uint64)).sum()
    words = mixed(mixed(np.arange(count, dtype=np.uint64) + start) ^ start)
    order = np.argsort(words, kind="stable")
    ranks = np.empty(count, dtype=np.int64)
    ranks[order] = np.arange(count)
    return ranks


def _units(data: Any, by: str | None) -> NDArray[np.int64]:
    """The number of each row's unit: the row, or its value of `by` in order of appearance."""
    import numpy as np
    import polars as pl

    from holdfast.data.source import frame_of

    frame = frame_of(data)
    if frame is None:
        raise InvalidArgument(
            f"split takes a pandas, Polars or pyarrow table, not {type(data).__name__}."
        )
    if by is None:
        return np.arange(frame.height)
    if by not in frame.columns:
        raise InvalidArgument(f"by names {no_column(by, frame.columns)}")
    column = frame.select(pl.col(by).alias("value"))
    values = column.unique(maintain_order=True).with_row_index("unit")
    joined = column.join(values, on="value", how="left", nulls_equal=True, maintain_order="left")
    return joined["unit"].to_numpy().astype(np.int64)


def _filtered(data: Any, mask: NDArray[np.bool_]) -> Any:
    is_pandas = type(data).__module__.partition(".")[0] == "pandas"
    return data[mask] if is_pandas else data.filter(mask)


# Rows put aside by their content.
#
# Of equal rows the copies are numbered, and a row's key mixes its content with its number: a table
# is a bag of different keys, whatever their order, and those with the least keys are put aside. For
# a key function that is random, and chosen without the table, that is a part drawn at random.


@dataclass(frozen=True, slots=True)
class RowSplit:
    """Part of a table's rows that was put aside, and the column whose rows were kept together."""

    part: float
    rows: int
    by: str | None = None

    def body(self) -> dict[str, Any]:
        """Plain values, for the ledger."""
        return {"rule": _RULE, **asdict(self)}

    @classmethod
    def read(cls, body: Mapping[str, Any]) -> RowSplit:
        """What `body` wrote."""
        if body["rule"] != _RULE:
            raise InvalidArgument(f"rows were put aside by {body['rule']!r}, which is not known.")
        return cls(body["part"], body["rows"], body["by"])


@dataclass(frozen=True, slots=True)
class DividedTable:
    """Both parts of a table. `name` is the same for every part that may be put aside of it."""

    how: RowSplit
    train: Sample
    hold: Sample
    name: str


def put_aside(table: Sample, part: float, by: str | None = None) -> DividedTable:
    """A part of the rows to explore, and the rest to protect: the same in every process.

    Refused for a table in a database, and where either part would have too few rows.
    """
    import numpy as np
    import polars as pl

    from holdfast.data.polars import PolarsSample

    share = require.between("split", part, 0.0, 1.0, open_low=True, open_high=True)
    if by is not None and by not in table.types:
        raise InvalidArgument(f"sampling names {no_column(by, table.types)}")
    frame = _whole(table)
    rows = row_keys(frame, table.types)
    keys = rows if by is None else _unit_keys(frame[by], table.types[by])
    units, _ = np.unique(keys, return_counts=True)  # sorts; without counts it hashes, a hundredfold
    wanted = round(share * len(units))
    aside = keys < units[wanted] if wanted < len(units) else np.ones(len(keys), dtype=bool)
    train, hold = frame.filter(pl.Series(aside)), frame.filter(pl.Series(~aside))
    if min(train.height, hold.height) < _FEWEST:
        raise InvalidArgument(
            f"split is {share:g}, and of {frame.height:,} rows that puts {train.height:,} aside "
            f"and leaves {hold.height:,} to protect; both need at least {_FEWEST}. Bring more "
            "rows, or other ones as train=."
        )
    # Whatever part is put aside, these rows are in it: the name of a table tells of no others.
    first = rows[np.lexsort((rows, keys))[:_FEWEST]]
    name = f"table-{blake2b(first.tobytes(), digest_size=4).hexdigest()}"
    how = RowSplit(share, frame.height, by)
    return DividedTable(how, PolarsSample(train), PolarsSample(hold), name)


def _whole(table: Sample) -> pl.DataFrame:
    """All rows of a table in memory or in files."""
    import polars as pl

    from holdfast.data.polars import PolarsSample
    from holdfast.data.source import FileSample

    if not isinstance(table.sample if isinstance(table, FileSample) else table, PolarsSample):
        raise InvalidArgument(
            "split takes a table in memory, or CSV or Parquet files; of a database put rows aside "
            "by a query of your own, and give both parts: open(hold, train=train)."
        )
    return pl.concat(list(table.frames(list(table.types))))


def row_keys(frame: pl.DataFrame, types: Mapping[str, ColumnType]) -> NDArray[np.uint64]:
    """A key for each row, by its content and by how many rows like it there are."""
    import numpy as np

    first, second = row_words(frame, types)
    order = np.lexsort((second, first))
    starts = np.ones(len(order), dtype=bool)
    starts[1:] = (np.diff(first[order]) != 0) | (np.diff(second[order]) != 0)
    places = np.arange(len(order))
    copies = np.empty(len(order), dtype=np.uint64)
    copies[order] = places - np.maximum.accumulate(np.where(starts, places, 0))
    return mixed(mixed(first ^ mixed(copies + np.uint64(1))) + second)


def _unit_keys(column: pl.Series, type_: ColumnType) -> NDArray[np.uint64]:
    """A key for each row, by its value in a column."""
    import numpy as np

    keys = np.zeros(len(column), dtype=np.uint64)
    for words in cell_words(column, type_):
        keys = mixed(keys + words + np.uint64(0x9E3779B97F4A7C15))
    return keys
