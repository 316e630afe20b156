"""Columns that arrive later: one value for every key of a table.

**Submitted** values were made without protected columns. Their identity is their content: `digest`
is the same for the same keys and values, whoever brings them, in whatever form, order or file, and
under whatever name.

Values **computed** from protected rows, and all that was made with protected labels, have the same
shape, and their digest is a statement about the sample that nobody has paid for: it is never shown,
and their identity is what was declared before data was touched (see `holdfast.data.computed`).
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from holdfast.data.brought import Brought, Fields, brought
from holdfast.data.content import content_digest
from holdfast.data.keys import KeyOrder, named_keys
from holdfast.data.plain import column_type
from holdfast.data.typed import VALUE_TYPES
from holdfast.errors import InvalidArgument
from holdfast.question.expression import ColumnType, ValueKind
from holdfast.wording import plural

__all__ = ["ColumnValues", "column_values", "share_differing"]

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
    values = _aligned(brought(given, order, fields), order)
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
            f"{len(order.keys):,}; give one for every key, or take NULL there: missing='null' "
            "(--missing null)."
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


def _aligned(found: Brought, order: KeyOrder) -> pl.Series:
    """The values in the order of keys, NULL where there is none."""
    keys, values = found.keys, found.values
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


def share_differing(one: ColumnValues, other: ColumnValues) -> float:
    """The share of rows in which two *submitted* columns differ; it needs no data, and is free.

    Two missing values are equal, whole numbers and doubles are compared as questions compare them.
    Never for values computed from protected rows: there it would be a free answer about the sample.
    """
    if one.order.digest != other.order.digest:
        raise InvalidArgument("the two columns have different keys; compare columns of one table.")
    if one.type.kind is not other.type.kind:
        raise InvalidArgument(
            f"one column is {one.type} and the other is {other.type}; compare columns of one type."
        )
    pair = [one.values, other.values]
    if one.type.kind is ValueKind.NUMBER:
        pair = [values.cast(pl.Float64) for values in pair]
    return int(pair[0].ne_missing(pair[1]).sum()) / len(one.values)
