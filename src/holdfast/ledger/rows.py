"""The rows that a ledger is opened with: are they the ones it protects?"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from holdfast.data.database import DatabaseUrl, is_database_url
from holdfast.data.files import FileSample, FileStamp, is_path
from holdfast.data.fingerprint import fingerprint
from holdfast.data.sample import Sample
from holdfast.data.source import is_query, open_sample
from holdfast.errors import DataChanged, InvalidArgument
from holdfast.ledger.entries import Opening
from holdfast.ledger.identity import has_shape, keyed_print
from holdfast.ledger.store import Store
from holdfast.ledger.whereabouts import Whereabouts, note, recall

__all__ = ["Rows"]


@dataclass(frozen=True)
class Rows:
    """A table that was opened, where it was found, and what is known of its files from before."""

    sample: Sample
    source: str | None
    table: str | None
    known: Whereabouts | None = None

    @classmethod
    def of_data(cls, data: Any, table: str | None) -> Rows:
        """A table for a ledger that is not there yet; a query is asked twice."""
        rows = cls(open_sample(data, table=table), _source(data), table)
        again = open_sample(data, table=table) if is_query(data, rows.sample) else None
        if again is not None and fingerprint(again) != rows.content:
            raise InvalidArgument(
                "the table differs from one reading to the next: it depends on random numbers, the "
                "clock, the order of sums, or something that is being written. Save it as a file "
                "or a table, and open that."
            )
        return rows

    @classmethod
    def of_ledger(cls, store: Store, data: Any, table: str | None) -> Rows:
        """A table for an existing ledger: it may know which one of a database, and CSV's types."""
        known, source = recall(store.home, store.secret), _source(data)
        if table is None and known is not None and known.source == source:
            table = known.table

        def csv_types(stamps: tuple[FileStamp, ...]) -> dict[str, str]:
            return dict(known.csv_types) if known is not None and known.stamps == stamps else {}

        return cls(open_sample(data, table=table, recall=csv_types), source, table, known)

    @cached_property
    def content(self) -> str:
        """The fingerprint of the rows. It stays here: a ledger keeps it keyed."""
        return fingerprint(self.sample)

    def are(self, other: Sample) -> bool:
        """Whether another table is this very one; reads it only if it could be."""
        mine = self.sample
        return (mine.n, mine.types) == (other.n, other.types) and fingerprint(other) == self.content

    def require_protected(self, store: Store, opening: Opening) -> None:
        """Refuse another table than the ledger's; remember where this one is."""
        same = has_shape(opening, self.sample)
        if not same or self._print(store.secret) != opening.fingerprint:
            raise DataChanged(
                f"the table is not the one of the ledger {str(store.home)!r} "
                f"({opening.terms.rows:,} rows, {len(opening.schema.types)} columns): a row, a "
                "cell, a column or a type differs. Open the original table, or a new ledger for "
                "this one."
            )
        found = self._whereabouts(opening.fingerprint)
        if found is not None and found != self.known:
            note(store.home, store.secret, found)

    def _print(self, secret: bytes) -> str:
        """What the ledger writes for these rows; files not touched since are not read again."""
        if self.known is not None and isinstance(self.sample, FileSample):
            before = (self.known.stamps, self.known.table)
            if before == (self.sample.stamps, self.table):
                return self.known.print_
        return keyed_print(secret, self.content)

    def _whereabouts(self, print_: str) -> Whereabouts | None:
        if self.source is None:
            return None
        if not isinstance(self.sample, FileSample):
            return Whereabouts(self.source, self.table)
        files = self.sample
        return Whereabouts(self.source, self.table, files.stamps, files.csv_types, print_)


def _source(data: Any) -> str | None:
    """The path or glob, as it is from everywhere, or an address, of a database without password.

    None for data in memory.
    """
    if is_database_url(data):
        return str(DatabaseUrl.read("data", data))
    if is_path(data):
        return os.path.abspath(data)
    return data if isinstance(data, str) else None
