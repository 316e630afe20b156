"""How a table is written in its files, where these do not say it themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from holdfast import require
from holdfast.errors import InvalidArgument

__all__ = ["AS_USUAL", "TableForm", "table_form"]

_NO_SEPARATOR = frozenset('"\r\n')


@dataclass(frozen=True, slots=True)
class TableForm:
    """What separates the cells of CSV files, and which texts stand for a missing one.

    `flags` are columns of 0 and 1, of any file, that are conditions: they are read as false and
    true. All this is declared, and kept in the ledger: it says what a table means.
    """

    separator: str = ","
    null: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        found = self.separator
        if len(found) != 1 or not found.isascii() or found in _NO_SEPARATOR:
            raise InvalidArgument(
                f"separator is {found!r}; it must be one character that stands between cells, "
                "such as ';' or a tab, and neither a quote nor the end of a line."
            )

    @property
    def is_of_csv(self) -> bool:
        """Whether it says something that only CSV files have."""
        return bool(self.null) or self.separator != AS_USUAL.separator

    def body(self) -> dict[str, Any]:
        """The part of a ledger's first entry; nothing where nothing was declared."""
        return {} if self == AS_USUAL else {"form": asdict(self)}

    @classmethod
    def read(cls, body: Mapping[str, Any]) -> TableForm:
        """What `body` wrote."""
        found = body.get("form")
        if found is None:
            return AS_USUAL
        return cls(found["separator"], tuple(found["null"]), tuple(found["flags"]))


AS_USUAL = TableForm()


def table_form(
    separator: str | None = None,
    null: str | Sequence[str] | None = None,
    flags: Sequence[str] | None = None,
) -> TableForm:
    """The form that arguments say; what they leave out is as usual."""
    texts = [null] if isinstance(null, str) else null
    return TableForm(
        AS_USUAL.separator if separator is None else require.text("separator", separator),
        () if texts is None else tuple(sorted(set(require.texts("null", texts)))),
        () if flags is None else tuple(sorted(set(require.texts("flags", flags)))),
    )
