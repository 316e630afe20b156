"""Values for the rows of a table, in whatever form somebody brings them.

A mapping from keys to values, a table or a file with a column of keys and a column of values, a
pandas Series with the keys as its index; or, without keys, a list, a numpy array or a Polars Series
in the order of keys.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from holdfast import require
from holdfast.data.keys import KEY_TYPES, KeyOrder, named_keys
from holdfast.data.owned import owned
from holdfast.data.plain import column_type
from holdfast.data.sample import reading
from holdfast.data.source import frame_of
from holdfast.data.typed import from_python, typed
from holdfast.errors import InvalidArgument
from holdfast.question.columns import no_column
from holdfast.question.expression import ColumnType
from holdfast.wording import plural

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Brought", "Fields", "brought"]

_VALUES, _KEYS = "values", "the column of keys"
_BOOLEANS = {"true": True, "True": True, "TRUE": True}
_BOOLEANS |= {"false": False, "False": False, "FALSE": False}


@dataclass(frozen=True, slots=True)
class Fields:
    """Where a table or file that somebody brings has the keys and the values.

    Without `key` they are under the name of the table's key. Without `value` they are in the only
    other column, or under `name`, that of the column to be.
    """

    name: str
    key: str | None = None
    value: str | None = None

    def chosen(self, names: Sequence[str], order: KeyOrder) -> tuple[str, str]:
        """The names of both columns, of those there are."""
        key = self.key or order.name
        if key not in names:
            raise InvalidArgument(f"values has no keys: {no_column(key, names)}")
        others = [each for each in names if each != key]
        if self.value is None and len(others) == 1:
            return key, others[0]
        value = self.value or self.name
        if value not in others:
            raise InvalidArgument(
                f"values has no one column to take: {no_column(value, others)} Name the one that "
                "is meant: value= (--value)."
            )
        return key, value


@dataclass(frozen=True, slots=True)
class Brought:
    """Values of one type; without `keys` they are in the order of the table's keys."""

    keys: pl.Series | None
    values: pl.Series


def brought(given: object, order: KeyOrder, fields: Fields) -> Brought:
    """Read what somebody brings; whether the keys are the table's is not looked at."""
    match given:
        case str() | Path():
            return _from_file(require.file(_VALUES, given), order, fields)
        case Mapping():
            keys = from_python(_KEYS, list(given.keys()))
            return _checked(keys, from_python(_VALUES, list(given.values())), order)
        case pl.LazyFrame():
            with reading():
                return _from_frame(given.collect(), order, fields)
    if type(given).__module__.partition(".")[0] == "pandas" and hasattr(given, "index"):
        return _from_pandas(given, order, fields)
    frame = frame_of(given)
    return Brought(None, _in_order(given)) if frame is None else _from_frame(frame, order, fields)


def _in_order(given: object) -> pl.Series:
    """Values without keys."""
    if isinstance(given, pl.Series):
        return _own(typed(_VALUES, given))
    if isinstance(given, list | tuple | range):
        return from_python(_VALUES, given)
    if hasattr(given, "__array__"):
        return _from_array(_as_array(given))
    raise InvalidArgument(
        f"values is a {type(given).__name__}; give a mapping from keys to values, a table with a "
        "column of keys, a list or array in the order of keys, or a CSV, Parquet or JSONL file."
    )


def _checked(keys: pl.Series, values: pl.Series, order: KeyOrder) -> Brought:
    """Refuse keys that are missing or of another type than the table's."""
    if keys.dtype != KEY_TYPES[order.type]:
        raise InvalidArgument(
            f"the keys that come with values are {column_type(keys.dtype)}, and those of column "
            f"{order.name!r} are {order.type}; give the keys as the table has them."
        )
    if keys.has_nulls():
        raise InvalidArgument(
            f"{plural(keys.null_count(), 'value')} of {len(keys):,} came without a key; give "
            f"every value the {order.name} of its row."
        )
    return Brought(keys, values)


def _own(series: pl.Series) -> pl.Series:
    """The series in memory that whoever brought it cannot write to."""
    return owned(series.to_frame()).to_series()


def _as_array(given: object) -> NDArray[Any]:
    try:
        return np.asanyarray(given)
    except Exception:  # whatever the library of that array raises
        raise InvalidArgument(
            f"values is a {type(given).__name__} that cannot be read as an array; make it a numpy "
            "array, or a list."
        ) from None


def _from_array(array: NDArray[Any]) -> pl.Series:
    if array.ndim != 1:
        raise InvalidArgument(
            f"values is an array of shape {array.shape}; give one value for each key, in the order "
            "of keys."
        )
    plain = not isinstance(array, np.ma.MaskedArray) and array.dtype.itemsize <= 8
    if plain and array.dtype.kind in "biu":
        return typed(_VALUES, pl.Series(array.astype(array.dtype.newbyteorder("="))))
    if plain and array.dtype.kind == "f":
        return typed(_VALUES, pl.Series(array.astype(np.float64)))
    return from_python(_VALUES, array.tolist())


def _from_frame(frame: pl.DataFrame, order: KeyOrder, fields: Fields) -> Brought:
    key, value = fields.chosen(frame.columns, order)
    keys, values = typed(_KEYS, frame[key]), typed(_VALUES, frame[value])
    return _checked(_own(keys), _own(values), order)


def _from_pandas(given: Any, order: KeyOrder, fields: Fields) -> Brought:
    from holdfast.data.pandas import from_pandas

    index, key = given.index, fields.key or order.name
    by_index = index.nlevels == 1 and index.name == key
    if hasattr(given, "columns"):
        frame = given.reset_index() if by_index and key not in given.columns else given
        return _from_frame(from_pandas(frame), order, fields)
    # Whole numbers that nobody called keys may be the places of the rows in some other table.
    if not by_index and (index.nlevels > 1 or index.inferred_type != "string"):
        raise InvalidArgument(
            "values is a pandas Series, and nothing says that its index holds the keys; name the "
            f"index if it does: series.rename_axis({order.name!r})."
        )
    named = from_pandas(given.rename("value").rename_axis("key").reset_index())
    return _from_frame(named, order, Fields("value", "key"))


def _from_file(path: Path, order: KeyOrder, fields: Fields) -> Brought:
    read = _READERS.get(path.suffix.lower())
    if read is None:
        raise InvalidArgument(
            f"values is the file {str(path)!r}, which ends in {path.suffix or 'nothing'}; CSV "
            "(.csv), Parquet (.parquet) and JSON lines (.jsonl) are read."
        )
    try:
        return read(path, order, fields)
    except (InvalidArgument, MemoryError):
        raise
    except (Exception, pl.exceptions.PanicException):  # whatever a broken file makes Polars raise
        raise InvalidArgument(
            f"values is the file {str(path)!r}, which cannot be read as what its name says; see "
            "that it exists and is whole."
        ) from None


def _from_parquet(path: Path, order: KeyOrder, fields: Fields) -> Brought:
    key, value = fields.chosen(list(pl.read_parquet_schema(path)), order)
    return _from_frame(pl.read_parquet(path, columns=[key, value]), order, fields)


def _from_csv(path: Path, order: KeyOrder, fields: Fields) -> Brought:
    """Text is of the type that all of it can be; keys are read as the table has them."""
    names = pl.read_csv(path, n_rows=0).columns
    key, value = fields.chosen(names, order)
    frame = pl.read_csv(
        path, columns=[key, value], schema_overrides={key: pl.String()}, infer_schema_length=None
    )
    keys, values = frame[key], typed(_VALUES, frame[value])
    if values.dtype == pl.String and values.drop_nulls().is_in(_BOOLEANS.keys()).all():
        values = values.replace_strict(_BOOLEANS, return_dtype=pl.Boolean)
    if order.type is ColumnType.INTEGER:
        numbers = keys.cast(pl.Int64, strict=False)
        strange = keys.filter(numbers.is_null() & keys.is_not_null())
        if len(strange):
            raise InvalidArgument(
                f"{named_keys(strange, 'is', 'are')} not of whole numbers, as those of column "
                f"{order.name!r} are; give the keys as the table has them."
            )
        keys = numbers
    return _checked(keys, values, order)


def _from_lines(path: Path, order: KeyOrder, fields: Fields) -> Brought:
    """One JSON object a line."""
    rows: list[dict[str, object]] = []
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            row = json.loads(line)
            if not isinstance(row, dict):
                raise InvalidArgument(
                    f"line {number:,} of {str(path)!r} is no JSON object; write one on each line."
                )
            rows.append(row)
    names = list(dict.fromkeys(name for row in rows for name in row))
    key, value = fields.chosen(names, order)
    keys = from_python(_KEYS, [row.get(key) for row in rows])
    return _checked(keys, from_python(_VALUES, [row.get(value) for row in rows]), order)


_READERS: dict[str, Callable[[Path, KeyOrder, Fields], Brought]] = {
    ".csv": _from_csv,
    ".parquet": _from_parquet,
    ".pq": _from_parquet,
    ".jsonl": _from_lines,
    ".ndjson": _from_lines,
}
