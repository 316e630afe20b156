"""Attached columns: values in whatever form they are brought, one for every key.

**Submitted** values were made without protected columns. Their identity is their content: `digest`
is the same for the same keys and values, whoever brings them, in whatever form, order or file, and
under whatever name.

Values **computed** from protected rows, and all that was made with protected labels, have the same
shape, and their digest is a statement about the sample that nobody has paid for: it is never shown,
and their identity is what was declared before data was touched (see `holdfast.data.attached`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from holdfast import require
from holdfast.data.keys import KEY_TYPES, KeyOrder, content_digest, named_keys
from holdfast.data.plain import column_type
from holdfast.data.polars import owned
from holdfast.data.sample import Sample, plain_frames, reading, values_of_batch
from holdfast.data.source import frame_of
from holdfast.errors import InvalidArgument
from holdfast.question.bounds import Range
from holdfast.question.columns import no_column
from holdfast.question.declaring import bounds_pair
from holdfast.question.expression import ColumnType, ValueKind
from holdfast.question.functions import RowFunction, row_function
from holdfast.wording import plural

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Values from outside as one of the four types that a column may arrive with.
#
# Boolean, 64-bit integer, double or text, as questions know them. None, NULL and NaN are one
# missing value; -0.0 is 0.0. Whole numbers and other numbers together are doubles, if no whole
# number loses a digit by that; nothing else is mixed.


VALUE_TYPES = (pl.Boolean, pl.Int64, pl.Float64, pl.String)

_NAMES: dict[type, str] = {bool: "boolean", int: "integer", float: "float", str: "text"}
_DTYPES = {
    frozenset({bool}): pl.Boolean(),
    frozenset({int}): pl.Int64(),
    frozenset({float}): pl.Float64(),
    frozenset({int, float}): pl.Float64(),
    frozenset({str}): pl.String(),
}
_EXACT = 2**53  # the whole numbers up to here are doubles
_WHAT_IS_READ = "give booleans, whole numbers, numbers or text, of one type"


def from_python(what: str, values: Sequence[object]) -> pl.Series:
    """Python's values, and numpy's single ones, as a column."""
    types = set(map(type, values))
    if any(issubclass(each, np.generic) for each in types):
        values = [value.item() if isinstance(value, np.generic) else value for value in values]
        types = set(map(type, values))
    types.discard(NoneType)
    if not types:
        raise InvalidArgument(f"{what} holds no value at all; {_WHAT_IS_READ}.")
    dtype = _DTYPES.get(frozenset(types))
    if dtype is None:
        kinds = " and ".join(sorted(_NAMES.get(each, each.__name__) for each in types))
        raise InvalidArgument(f"{what} holds {kinds} values; {_WHAT_IS_READ}.")
    if len(types) == 2 and any(isinstance(each, int) and abs(each) > _EXACT for each in values):
        raise InvalidArgument(
            f"{what} mixes numbers with whole numbers beyond 2^53, which would lose digits; make "
            "all of them whole, or all of them floats."
        )
    try:
        return typed(what, pl.Series(values, dtype=dtype, strict=len(types) == 1))
    except (OverflowError, TypeError, UnicodeEncodeError, pl.exceptions.PolarsError):
        raise _beyond(what, "whole numbers beyond 64 bits, or half characters") from None


def typed(what: str, series: pl.Series) -> pl.Series:
    """A Polars column as one of the four types."""
    match column_type(series.dtype):
        case ColumnType.BOOLEAN:
            return series
        case ColumnType.INTEGER:
            try:
                return series.cast(pl.Int64)
            except pl.exceptions.PolarsError:
                raise _beyond(what, "whole numbers beyond 64 bits") from None
        case ColumnType.FLOAT:
            return _one_zero(series.cast(pl.Float64).fill_nan(None))
        case ColumnType.TEXT:
            return series.cast(pl.String)
    if series.dtype == pl.Object:
        return from_python(what, series.to_list())
    if series.dtype == pl.Null:
        raise InvalidArgument(f"{what} holds no value at all; {_WHAT_IS_READ}.")
    raise InvalidArgument(f"{what} holds {series.dtype} values; {_WHAT_IS_READ}.")


def _one_zero(numbers: pl.Series) -> pl.Series:
    """0.0 in place of -0.0; Polars leaves an addition of 0 out."""
    chosen = pl.when(numbers == 0.0).then(0.0).otherwise(numbers)
    return pl.select(chosen.alias(numbers.name)).to_series()


def _beyond(what: str, value: str) -> InvalidArgument:
    return InvalidArgument(f"{what} holds {value}; {_WHAT_IS_READ}, that 64 bits can hold.")


# Values for the rows of a table, in whatever form somebody brings them.
#
# A mapping from keys to values, a table or a file with a column of keys and a column of values, a
# pandas Series with the keys as its index; or, without keys, a list, a numpy array or a Polars
# Series in the order of keys.


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
        other_columns = [each for each in names if each != key]
        if self.value is None and len(other_columns) == 1:
            return key, other_columns[0]
        value = self.value or self.name
        if value not in other_columns:
            raise InvalidArgument(
                f"values has no one column to take: {no_column(value, other_columns)} Name the one "
                "that is meant: value= (--value)."
            )
        return key, value


@dataclass(frozen=True, slots=True)
class ValueSeries:
    """Values of one type; without `keys` they are in the order of the table's keys."""

    keys: pl.Series | None
    values: pl.Series


def read_values(given: object, order: KeyOrder, fields: Fields) -> ValueSeries:
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
    if frame is None:
        return ValueSeries(None, _in_order(given))
    return _from_frame(frame, order, fields)


def _in_order(content: object) -> pl.Series:
    """Values without keys."""
    if isinstance(content, pl.Series):
        return _own(typed(_VALUES, content))
    if isinstance(content, list | tuple | range):
        return from_python(_VALUES, content)
    if hasattr(content, "__array__"):
        return _from_array(_as_array(content))
    raise InvalidArgument(
        f"values is a {type(content).__name__}; give a mapping from keys to values, a table with a "
        "column of keys, a list or array in the order of keys, or a CSV, Parquet or JSONL file."
    )


def _checked(keys: pl.Series, values: pl.Series, order: KeyOrder) -> ValueSeries:
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
    return ValueSeries(keys, values)


def _own(series: pl.Series) -> pl.Series:
    """The series in memory that whoever brought it cannot write to."""
    return owned(series.to_frame()).to_series()


def _as_array(content: object) -> NDArray[Any]:
    try:
        return np.asanyarray(content)
    except Exception:  # whatever the library of that array raises
        raise InvalidArgument(
            f"values is a {type(content).__name__} that cannot be read as an array; make it a "
            "numpy array, or a list."
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


def _from_frame(frame: pl.DataFrame, order: KeyOrder, fields: Fields) -> ValueSeries:
    key, value = fields.chosen(frame.columns, order)
    keys, values = typed(_KEYS, frame[key]), typed(_VALUES, frame[value])
    return _checked(_own(keys), _own(values), order)


def _from_pandas(given: Any, order: KeyOrder, fields: Fields) -> ValueSeries:
    from holdfast.data.source import from_pandas

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


def _from_file(path: Path, order: KeyOrder, fields: Fields) -> ValueSeries:
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise InvalidArgument(
            f"values is the file {str(path)!r}, which ends in {path.suffix or 'nothing'}; CSV "
            "(.csv), Parquet (.parquet) and JSON lines (.jsonl) are read."
        )
    try:
        return reader(path, order, fields)
    except (InvalidArgument, MemoryError):
        raise
    except (Exception, pl.exceptions.PanicException):  # whatever a broken file makes Polars raise
        raise InvalidArgument(
            f"values is the file {str(path)!r}, which cannot be read as what its name says; see "
            "that it exists and is whole."
        ) from None


def _from_parquet(path: Path, order: KeyOrder, fields: Fields) -> ValueSeries:
    key, value = fields.chosen(list(pl.read_parquet_schema(path)), order)
    return _from_frame(pl.read_parquet(path, columns=[key, value]), order, fields)


def _from_csv(path: Path, order: KeyOrder, fields: Fields) -> ValueSeries:
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


def _from_lines(path: Path, order: KeyOrder, fields: Fields) -> ValueSeries:
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


_READERS: dict[str, Callable[[Path, KeyOrder, Fields], ValueSeries]] = {
    ".csv": _from_csv,
    ".parquet": _from_parquet,
    ".pq": _from_parquet,
    ".jsonl": _from_lines,
    ".ndjson": _from_lines,
}


_MISSING = ("refuse", "null")


@dataclass(frozen=True, slots=True, eq=False)
class ColumnValues:
    """A boolean, a whole number, a finite double or text for each key, in their order; or NULL."""

    order: KeyOrder
    values: pl.Series

    def __post_init__(self) -> None:
        if self.values.dtype not in VALUE_TYPES or len(self.values) != len(self.order.keys):
            raise InvalidArgument(
                f"{plural(len(self.values), 'value')} of type {self.values.dtype} cannot be those "
                f"of {plural(len(self.order.keys), 'key')}; make them with column_values."
            )
        if self.values.dtype == pl.Float64 and not self.values.is_finite().all():
            infinite = self.order.keys.filter(~self.values.is_finite())
            raise InvalidArgument(
                f"{named_keys(infinite, 'has', 'have')} an infinite value; give finite numbers, or "
                "None where there is none."
            )

    @property
    def type(self) -> ColumnType:
        """Boolean, integer, float or text."""
        return column_type(self.values.dtype)

    def digest(self) -> str:
        """The digest of all pairs of key and value and of the values' type."""
        return content_digest(f"holdfast column/1 {self.order.digest}", self.values)

    def frame(self, name: str) -> pl.DataFrame:
        """The keys, and the values under a name: what `Sample.joined` takes."""
        return pl.DataFrame([self.order.keys.rename(self.order.name), self.values.rename(name)])


def column_values(
    given: object, order: KeyOrder, fields: Fields, *, missing: str = "refuse"
) -> ColumnValues:
    """What somebody brings, as a column of the table with these keys.

    Keys without a value, of which NULL and NaN are two forms, are refused unless `missing` is
    "null"; unknown and doubled keys always are.
    """
    if missing not in _MISSING:
        raise InvalidArgument(f"missing is {missing!r}; it must be 'refuse' or 'null'.")
    values = _aligned(read_values(given, order, fields), order)
    if values.null_count() == len(values):
        raise InvalidArgument(
            f"values has no value for any of {plural(len(values), 'key')}; give some, or attach "
            "nothing."
        )
    if values.dtype == pl.String:
        _require_kept(values, order)
    if missing == "refuse" and values.has_nulls():
        without = order.keys.filter(values.is_null())
        raise InvalidArgument(
            f"{named_keys(without, 'has', 'have')} no value (missing, null or NaN) among "
            f"{len(order.keys):,}; give one for every key, or say what is there: in a column "
            "NULL, missing='null' (--missing null), of scores wrong, missing='wrong' (--missing "
            "wrong)."
        )
    return ColumnValues(order, values)


def _require_kept(texts: pl.Series, order: KeyOrder) -> None:
    """Refuse text that not every engine can keep; questions cannot name it, either."""
    with_nul = texts.str.contains("\0", literal=True).fill_null(value=False)
    if with_nul.any():
        raise InvalidArgument(
            f"{named_keys(order.keys.filter(with_nul), 'has', 'have')} a NUL character (U+0000) in "
            "the text, which not every engine can keep; leave it out."
        )


def _aligned(content: ValueSeries, order: KeyOrder) -> pl.Series:
    """The values in the order of keys, NULL where there is none."""
    keys, values = content.keys, content.values
    if keys is None:
        if len(values) != len(order.keys):
            raise InvalidArgument(
                f"values holds {plural(len(values), 'value')}, and the table has "
                f"{plural(len(order.keys), 'key')}; give one for each, in the order of keys, or "
                "give them with their keys."
            )
        return values
    places = order.places.among(keys)
    if len(places) - places.null_count() < len(keys):
        unknown = keys.filter(~keys.is_in(order.keys.implode()))
        raise InvalidArgument(
            f"{named_keys(unknown, 'is', 'are')} not in column {order.name!r} of the table; leave "
            "out what is no row of it."
        )
    return values.gather(places)


def share_differing(first: ColumnValues, second: ColumnValues) -> float:
    """The share of rows in which two *submitted* columns differ; it needs no data, and is free.

    Two missing values are equal, whole numbers and doubles are compared as questions compare them.
    Never for values computed from protected rows: there it would be a free answer about the sample.
    """
    if first.order.digest != second.order.digest:
        raise InvalidArgument("the two columns have different keys; compare columns of one table.")
    if first.type.kind is not second.type.kind:
        raise InvalidArgument(
            f"one column is {first.type} and the other is {second.type}; compare columns of one "
            "type."
        )
    pair = [first.values, second.values]
    if first.type.kind is ValueKind.NUMBER:
        pair = [values.cast(pl.Float64) for values in pair]
    return int(pair[0].ne_missing(pair[1]).sum()) / len(first.values)


# Columns computed from protected rows, known by what was declared and never by their content.
#
# What such a column holds is protected, and so is whether two of them hold the same. Its identity
# is the declared digest (of a model, say), or the column's name where there is none: public before
# data is touched, whatever the values are. They are numbers in bounds, or conditions
# (`bounds=bool`), as was declared too, so that not even their type says anything of them.


# Numbers between two ends, or true and false: 1 and 0.
ScoreBounds = tuple[float, float] | type[bool]

_LONGEST_DIGEST = 200
_NUMBERS = (ValueKind.NUMBER, ValueKind.BOOLEAN)
_UNIT = Range(0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Computed:
    """A column to be computed from rows of the table; made by `computed`.

    Without `bounds` it is a condition.
    """

    function: Callable[[pl.DataFrame], object]
    columns: tuple[str, ...]
    bounds: Range | None
    digest: str | None = None

    @property
    def type(self) -> ColumnType:
        """What its values are."""
        return type_within(self.bounds)

    def named(self, name: str) -> RowFunction:
        """The function of the column with this name."""
        bounds = _UNIT if self.bounds is None else self.bounds
        return row_function(
            self.function, columns=self.columns, bounds=bounds, name=name, version="1"
        )


def computed(
    function: Callable[[pl.DataFrame], object],
    *,
    columns: Sequence[str],
    bounds: ScoreBounds,
    digest: str | None = None,
) -> Computed:
    """A column to attach: a Python function of a batch of protected rows, such as `model.predict`.

    It is given a Polars frame with these columns and returns one number for each row, from that row
    alone, as `row_function` says. It is run once. A row it fails on, NaN or an infinity is NULL in
    the column, a number outside `bounds` is the nearest bound. With `bounds=bool` it is a
    condition, true where the function says 1. `digest` names what it computes (the digest of a
    model's file); without it, the column's name does.
    """
    if digest is not None:
        declared_digest(digest)
    range_ = declared_bounds(bounds)
    within = _UNIT if range_ is None else range_
    checked = row_function(function, columns=columns, bounds=within, name="computed", version="1")
    return Computed(function, checked.columns, range_, digest)


def declared_digest(digest: str) -> str:
    """The text by which people know what computes a column."""
    require.text("digest", digest)
    if len(digest) > _LONGEST_DIGEST or not digest.isprintable():
        raise InvalidArgument(
            f"digest has {len(digest):,} characters; it must be printable text of at most "
            f"{_LONGEST_DIGEST}, such as 'sha256:...' of a model's file."
        )
    return digest


def declared_bounds(bounds: ScoreBounds, what: str = "bounds") -> Range | None:
    """The range of numbers; None for conditions."""
    return None if bounds is bool else bounds_pair(bounds, what)


def type_within(bounds: Range | None) -> ColumnType:
    """What values that were made with protected columns are, by their declared bounds."""
    return ColumnType.BOOLEAN if bounds is None else ColumnType.FLOAT


def computed_values(
    sample: Sample, order: KeyOrder, function: RowFunction, type_: ColumnType = ColumnType.FLOAT
) -> ColumnValues:
    """The function's values for all rows of the table. Only ever called behind the door."""
    low, high = function.bounds
    keys: list[pl.Series] = []
    columns: list[pl.Series] = []
    for frame in plain_frames(sample.frames(list(dict.fromkeys((order.name, *function.columns))))):
        values = values_of_batch(function, frame)
        numbers = np.where(np.isfinite(values), np.clip(values, low, high) + 0.0, np.nan)
        keys.append(frame[order.name])
        columns.append(pl.Series(numbers, nan_to_null=True))
    places = order.places.among(pl.concat(keys))
    in_order = pl.concat(columns).gather(places)
    return ColumnValues(order, in_order == 1.0 if type_ is ColumnType.BOOLEAN else in_order)


def scores_in(bounds: Range | None, brought: ColumnValues) -> ColumnValues:
    """Values that somebody brings and made with protected columns, as numbers in their bounds.

    Without bounds they are conditions.
    """
    if brought.type.kind not in _NUMBERS:
        raise InvalidArgument(
            f"values are {brought.type}; what was made with protected columns must be numbers, or "
            "booleans, which count as 0 and 1."
        )
    numbers = brought.values.cast(pl.Float64)
    if bounds is None:
        neither = brought.order.keys.filter(~numbers.is_in([0.0, 1.0]))
        if len(neither):
            raise InvalidArgument(
                f"{named_keys(neither, 'has', 'have')} a value that is neither 0 nor 1, right nor "
                "wrong; declare the range of graded ones: (0, 1) (--bounds 0 1)."
            )
        return ColumnValues(brought.order, numbers == 1.0)
    low, high = bounds
    outside = brought.order.keys.filter(~numbers.is_between(low, high))
    if len(outside):
        raise InvalidArgument(
            f"{named_keys(outside, 'has', 'have')} a value outside [{low:g}, {high:g}]; bring "
            "values in their bounds, or declare others: bounds= (--bounds)."
        )
    return ColumnValues(brought.order, numbers)
