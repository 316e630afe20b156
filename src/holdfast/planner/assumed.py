"""The table that a text is about, where only some of it is declared, or nothing.

Bits depend on how many columns there are, and of which types. What nobody says is assumed, and
said: each column of the question has the first type with which it can be read, and the table has
twenty columns, the others numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from holdfast.data.design import ANY_GROUP
from holdfast.errors import InvalidQuestion, NotBounded
from holdfast.question.columns import Schema
from holdfast.question.declaring import declared_types
from holdfast.question.expression import ColumnType
from holdfast.statistics.bind import bind
from holdfast.statistics.table import Table

__all__ = ["Assumed", "schema_of"]

_COLUMNS = 20
_TYPES = (
    ColumnType.FLOAT,
    ColumnType.TEXT,
    ColumnType.BOOLEAN,
    ColumnType.DATE,
    ColumnType.DATETIME,
)
_MOST_UNDECLARED = 4


@dataclass(frozen=True, slots=True)
class Assumed:
    """How many columns the table was assumed to have, and of which types those of the question."""

    columns: int
    types: tuple[tuple[str, ColumnType], ...]

    def __str__(self) -> str:
        named = ", ".join(f"{name} ({kind})" for name, kind in self.types)
        return f"a table of {self.columns} columns" + (f", {named}" if named else "")


class _Used(dict[str, ColumnType]):
    """Every name is a column, and is remembered when it is asked for."""

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str)

    def __missing__(self, name: str) -> ColumnType:
        self[name] = _TYPES[0]
        return self[name]


def schema_of(text: str, schema: Any) -> tuple[Schema, Assumed | None]:
    """The schema of a question's table, and what was assumed of it.

    `schema` is a `Schema`, a mapping with the `types` of all columns, or what `open` takes: a
    mapping or a file with what is declared of some; or None.
    """
    if isinstance(schema, Schema):
        return schema, None
    if isinstance(schema, Mapping) and "types" in schema:
        return Schema.from_dict(schema), None
    declared = declared_types(schema)
    known = {name: kind for name, kind in declared.items() if kind is not None}
    used = _readable(text, schema, known)
    types = dict.fromkeys(declared, _TYPES[0]) | used
    assumed = tuple((name, kind) for name, kind in used.items() if name not in known)
    types |= {f"column {i + 1}": ColumnType.FLOAT for i in range(_COLUMNS - len(types))}
    return Schema(types).declare(schema), Assumed(len(types), assumed)


def _readable(text: str, schema: Any, known: Mapping[str, ColumnType]) -> dict[str, ColumnType]:
    """The question's columns, each with the first type with which all of it can be read."""
    tried: list[Mapping[str, ColumnType]] = [known]
    first: InvalidQuestion | None = None
    names: set[str] = set()
    while tried:
        types = _Used(tried.pop(0))
        try:
            bind(text, Table(Schema(types).declare(schema), ANY_GROUP))
        except NotBounded:
            raise
        except InvalidQuestion as error:
            first = first or error
            new = set(types) - set(known)
            if not new <= names and len(new) <= _MOST_UNDECLARED:
                names |= new
                tried = list(_typings(known, sorted(names)))
        else:
            return dict(types)
    raise first or InvalidQuestion(f"{text!r} cannot be read without the types of its columns.")


def _typings(
    known: Mapping[str, ColumnType], names: list[str]
) -> Iterator[Mapping[str, ColumnType]]:
    for kinds in product(_TYPES, repeat=len(names)):
        yield {**known, **dict(zip(names, kinds, strict=True))}
