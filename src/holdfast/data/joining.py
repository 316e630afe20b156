"""What may be put beside the rows of a table, by its key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

from holdfast.data.keys import require_unique
from holdfast.data.plain import column_type
from holdfast.data.sample import check_names
from holdfast.errors import InvalidArgument
from holdfast.question.columns import no_column
from holdfast.question.expression import ColumnType

if TYPE_CHECKING:
    import polars as pl

__all__ = ["needed", "require_joinable"]


class _Keyed(Protocol):
    """Columns that were put beside a table, by a key that it had then."""

    @property
    def key(self) -> str: ...
    @property
    def columns(self) -> frozenset[str]: ...


_Beside = TypeVar("_Beside", bound=_Keyed)


def needed(joined: Sequence[_Beside], columns: Iterable[str]) -> list[_Beside]:
    """What must be joined to have these columns, in its order: a key may have been joined too."""
    wanted, found = set(columns), []
    for beside in reversed(joined):
        if not beside.columns.isdisjoint(wanted):
            found.append(beside)
            wanted.add(beside.key)
    return found[::-1]


def require_joinable(types: Mapping[str, ColumnType], key: str, frame: pl.DataFrame) -> None:
    """Refuse a frame without the table's key, with a key twice, or with columns that are there."""
    for names in (types, frame.columns):
        if key not in names:
            raise InvalidArgument(f"key names {no_column(key, names)}")
    if column_type(frame.schema[key]) is not types[key]:
        raise InvalidArgument(
            f"the key {key!r} is {types[key]}, and {column_type(frame.schema[key])} in what is "
            "joined to the table; give the keys as the table has them."
        )
    present = {name.lower(): name for name in types}  # DuckDB knows no capital letters in names
    for name in frame.columns:
        if name != key and name.lower() in present:
            raise InvalidArgument(
                f"the table has a column {present[name.lower()]!r}; give the new column another "
                f"name than {name!r}."
            )
    check_names(frame.columns)
    require_unique(frame[key])
