"""Columns that were attached after the ledger was opened: what its entries say of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Literal

from holdfast.ledger.chain import canonical
from holdfast.question.bounds import Range
from holdfast.question.columns import Schema, bounds_pair
from holdfast.question.expression import ColumnType

__all__ = ["AttachedColumn", "Attachments"]

_KIND = "attach/1"


@dataclass(frozen=True, slots=True)
class AttachedColumn:
    """A name for values that arrived later; made once, it never means others.

    `column` is what the ledger's questions call it: the first name that the same values had here.
    `origin` says that they were brought, made without protected columns; their `digest`, of keys,
    values and type, is who they are.
    """

    name: str
    column: str
    origin: Literal["submitted"]
    digest: str
    type: ColumnType
    bounds: Range | None
    at: str
    by: str | None

    @property
    def is_alias(self) -> bool:
        """Whether the same values had another name before."""
        return self.name != self.column

    def is_same(self, other: AttachedColumn) -> bool:
        """Whether it is the same column, whoever attached it and under whatever name."""
        return (self.digest, self.type, self.bounds) == (other.digest, other.type, other.bounds)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        plain = {name: getattr(self, name) for name in self.__slots__}
        bounds = None if self.bounds is None else list(self.bounds)
        return {**plain, "type": str(self.type), "bounds": bounds}

    def body(self) -> dict[str, Any]:
        """The entry that attaches it."""
        return {"kind": _KIND, **self.to_dict()}

    @classmethod
    def read(cls, body: Mapping[str, Any]) -> AttachedColumn:
        plain = {name: body[name] for name in cls.__slots__}
        if plain["origin"] != "submitted":
            raise ValueError(f"columns that are {plain['origin']!r}")
        bounds = None if body["bounds"] is None else bounds_pair(body["bounds"])
        return cls(**{**plain, "type": ColumnType(body["type"]), "bounds": bounds})

    def __str__(self) -> str:
        same = f", the same as {self.column}" if self.is_alias else ""
        bounds = "" if self.bounds is None else f" in [{self.bounds.low:g}, {self.bounds.high:g}]"
        by = f" by {self.by}" if self.by else ""
        return (
            f"{self.name}: {self.origin}, {self.type}{bounds}{same}, digest {self.digest[:12]}, "
            f"attached {self.at}{by}"
        )


@dataclass(frozen=True, slots=True)
class Attachments:
    """All that were attached so far, by name and in order."""

    columns: Mapping[str, AttachedColumn] = field(default_factory=dict)

    def __iter__(self) -> Iterator[AttachedColumn]:
        return iter(self.columns.values())

    @classmethod
    def read(cls, bodies: Sequence[Mapping[str, Any]]) -> Attachments:
        """Those that `bodies` wrote."""
        found = [AttachedColumn.read(body) for body in bodies]
        return cls({column.name: column for column in found})

    def bodies(self) -> list[dict[str, Any]]:
        """Plain values, for a checkpoint."""
        return [column.to_dict() for column in self]

    def after(self, column: AttachedColumn) -> Attachments:
        """Those, and one more."""
        return Attachments({**self.columns, column.name: column})

    def taken(self, name: str, others: Iterable[str]) -> str | None:
        """The name, of these and `others`, that is the same but for capital letters."""
        known = {each.casefold(): each for each in (*others, *self.columns)}
        return known.get(name.casefold())

    def first_of(self, digest: str) -> AttachedColumn | None:
        """The first column of these values."""
        return next((each for each in self if each.digest == digest), None)

    def may_follow(self, column: AttachedColumn, others: Iterable[str]) -> bool:
        """Whether this can have been attached next, to a table with columns of `others` names."""
        first = self.first_of(column.digest)
        known = column.column == column.name if first is None else self._is_alias_of(column, first)
        return known and self.taken(column.name, others) is None

    def _is_alias_of(self, column: AttachedColumn, first: AttachedColumn) -> bool:
        return column.column == first.name and column.is_same(first)

    def beside(self, schema: Schema) -> Schema:
        """The schema of the table with these."""
        for each in self:
            if each.is_alias:
                schema = schema.with_alias(each.name, each.column)
            else:
                schema = schema.with_column(each.name, each.type, each.bounds)
        return schema

    def among(self, columns: Iterable[str]) -> list[AttachedColumn]:
        """Those of the columns that were attached."""
        return [self.columns[name] for name in sorted(set(columns)) if name in self.columns]

    def print_of(self, columns: Iterable[str]) -> str | None:
        """What tells the attached ones of these columns from all others; None if there are none.

        The name of a column says nothing of its values: in another copy of the ledger it may be
        that of others, and a question about them must not have the same noise.
        """
        found = {each.name: each.digest for each in self.among(columns)}
        return sha256(canonical(found).encode()).hexdigest() if found else None
