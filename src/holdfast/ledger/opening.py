"""The opening of a ledger: what was declared, and what the table was.

Until something was asked it can be planned anew: how many questions, how wide, by which mechanism.
What is declared of columns is added (`ledger.dictionaries`).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from holdfast.data.database import DatabaseUrl, is_database_url
from holdfast.data.fingerprint import ColumnDigests, fingerprint
from holdfast.data.sample import Sample
from holdfast.data.source import (
    AS_USUAL,
    FileSample,
    FileStamp,
    KnownTable,
    TableForm,
    csv_paths,
    is_path,
    is_query,
    open_sample,
    require_form,
)
from holdfast.data.split import DividedTable, RowSplit, put_aside
from holdfast.data.values import columns_with_missing
from holdfast.errors import DataChanged, HoldfastError, InvalidArgument
from holdfast.ledger.index import Whereabouts, note, recall
from holdfast.ledger.secret import keyed_print
from holdfast.ledger.side_files import FORMAT
from holdfast.ledger.store import Store
from holdfast.mechanisms.catalogue import kind_of
from holdfast.mechanisms.terms import Terms
from holdfast.question.columns import Schema
from holdfast.statistics.entry import Table

REOPEN = "reopen/1"
# What the ledger's own questions are planned by.
_PLANNED = ("at", "tolerance", "questions", "surprises", "candidates", "reveal_share", "mechanism")


@dataclass(frozen=True, slots=True)
class Opening:
    """The first entry: everything that was declared, and what the table was.

    The `fingerprint` is keyed with the ledger's secret; the `form` is how the
    table's files are to be read. `task` is what its rows are called together, if somebody said so;
    `split` how they were chosen of a larger table, whose other rows were put aside.
    """

    at: str
    name: str
    terms: Terms
    schema: Schema
    mechanism: dict[str, Any]
    fingerprint: str
    form: TableForm = AS_USUAL
    task: str | None = None
    split: RowSplit | None = None

    def __post_init__(self) -> None:
        kind, tolerance = kind_of(self.mechanism["name"]), self.terms.tolerance
        if self.terms.promises is (kind.theorem is None):
            raise InvalidArgument(f"tolerance is {tolerance}, and {kind.name} has no such promise.")

    def body(self) -> dict[str, Any]:
        return {
            "kind": f"open/{FORMAT}",
            "at": self.at,
            "name": self.name,
            **self.terms.to_dict(),
            "schema": self.schema.to_dict(),
            "mechanism": self.mechanism,
            "fingerprint": self.fingerprint,
            **self.form.body(),
            **({} if self.task is None else {"task": self.task}),
            **({} if self.split is None else {"split": self.split.body()}),
        }

    @classmethod
    def read(cls, body: dict[str, Any]) -> Opening:
        declared = Terms.from_dict(body), Schema.from_dict(body["schema"]), body["mechanism"]
        form = TableForm.read(body)
        print_, split = body["fingerprint"], body.get("split")
        divided = None if split is None else RowSplit.read(split)
        return cls(body["at"], body["name"], *declared, print_, form, body.get("task"), divided)

    @property
    def table(self) -> Table:
        """Public facts of the table."""
        return Table(self.schema, self.terms.design)

    def reopening(self) -> dict[str, Any]:
        """The entry that plans a ledger anew."""
        return {**self.body(), "kind": REOPEN}

    def may_become(self, other: Opening) -> bool:
        """Whether another opening may take the place of this one, before anything is asked.

        Which columns miss values was looked up meanwhile, and is counted in what the ledger's own
        questions have left. So these may be planned anew; the dictionary of described ones, and all
        that their levels rest on, was there before the look, and stays.
        """
        own, others = (
            {name: value for name, value in each.body().items() if name not in _PLANNED}
            for each in (self, other)
        )
        return own == others


# Identity of the protected table: is what a ledger is opened with the table it protects?


@dataclass(frozen=True)
class Rows:
    """Opened table: where it was found, and what is known of its files from before.

    Of one that was `divided`, they are the rows that were not put aside.
    """

    sample: Sample
    source: str | None
    table: str | None
    known: Whereabouts | None = None
    digests: ColumnDigests | None = None
    divided: DividedTable | None = None
    whole: ColumnDigests | None = None  # of the table that was divided

    @classmethod
    def of_data(cls, data: Any, table: str | None, expected: KnownTable) -> Rows:
        """A table for a ledger that is not there yet; a query is asked twice.

        The types of CSV's columns that are `expected` are those of training rows.
        """
        from holdfast.data.csv import require_flags

        require_form(data, expected.form)
        sample = open_sample(data, table=table, known=expected)
        rows = cls(sample, _source(data), table, digests=ColumnDigests(sample.types))
        require_flags(rows.sample.types, expected.form.flags)
        if expected.types and rows._is_csv:
            rows._require_readable(csv_paths(data), expected)
        query = is_query(data, rows.sample)
        again = open_sample(data, table=table, known=expected) if query else None
        if again is not None and fingerprint(again) != rows.content:
            raise InvalidArgument(
                "the table differs from one reading to the next: it depends on random numbers, the "
                "clock, the order of sums, or something that is being written. Save it as a file "
                "or a table, and open that."
            )
        return rows

    @classmethod
    def of_part(cls, data: Any, known: KnownTable, part: float, by: str | None) -> Rows:
        """The rows of a table that are left when a part is put aside, for a new ledger."""
        from holdfast.data.csv import require_flags

        require_form(data, known.form)
        table = open_sample(data, known=known)
        require_flags(table.types, known.form.flags)
        divided = put_aside(table, part, by)
        digests, whole = ColumnDigests(divided.hold.types), ColumnDigests(table.types)
        fingerprint(table, whole.add)
        return cls(divided.hold, _source(data), None, None, digests, divided, whole)

    @classmethod
    def of_ledger(cls, store: Store, opening: Opening, data: Any, table: str | None) -> Rows:
        """A table for an existing ledger, which may know which one of a database it is."""
        whereabouts, source = recall(store.home, store.secret), _source(data)
        if table is None and whereabouts is not None and whereabouts.source == source:
            table = whereabouts.table
        sample, divided = _parts(opening, data, table)
        return cls(sample, source, table, whereabouts, divided=divided)

    @cached_property
    def content(self) -> str:
        """The fingerprint of the rows. It stays here: a ledger keeps it keyed."""
        if self.digests is None:
            return fingerprint(self.sample)
        return fingerprint(self.sample, self.digests.add)

    @property
    def aside(self) -> Sample | None:
        """The rows that were put aside; None where the table was not divided."""
        return None if self.divided is None else self.divided.train

    @property
    def split(self) -> RowSplit | None:
        """How the table was divided."""
        return None if self.divided is None else self.divided.how

    @property
    def part_name(self) -> str | None:
        """A name for the ledger, by the content of rows that were put aside."""
        return None if self.divided is None else self.divided.name

    @property
    def columns(self) -> frozenset[str]:
        """Digests of single columns, from the scan of the fingerprint, for a new ledger.

        Of a divided table those of all its rows are there, too: another part of it has these rows.
        """
        own = self.digests.found() if self.digests is not None and self.content else frozenset()
        return own if self.whole is None else own | self.whole.found()

    @property
    def contents(self) -> list[str]:
        """Digests of single rows, from the scan of the fingerprint, for a new ledger."""
        return self.digests.rows() if self.digests is not None and self.content else []

    @property
    def incomplete(self) -> list[str]:
        """Columns that hold NULL or NaN, from the scan of the fingerprint where it has batches."""
        known = self.digests.incomplete if self.digests is not None and self.content else None
        return columns_with_missing(self.sample, self.sample.types) if known is None else known

    @property
    def files(self) -> tuple[FileStamp, ...]:
        """The files that they are read from, as they are now; nothing, if they are in none."""
        return self.sample.stamps if isinstance(self.sample, FileSample) else ()

    def are(self, sample: Sample) -> bool:
        """Whether another table is this very one; reads it only if it could be."""
        mine = self.sample
        return (mine.n, mine.types) == (sample.n, sample.types) and fingerprint(
            sample
        ) == self.content

    def require_protected(self, store: Store, opening: Opening) -> None:
        """Refuse another table than the ledger's; remember where this one is."""
        if not self._is_of(opening, store.secret):
            raise DataChanged(
                f"the table is not the one of the ledger {str(store.home)!r} "
                f"({opening.terms.rows:,} rows, {len(opening.schema.types)} columns): a row, a "
                "cell, a column or a type differs. Open the original table, or a new ledger for "
                "this one."
            )
        whereabouts = self._whereabouts(opening.fingerprint)
        if whereabouts is not None and whereabouts != self.known:
            note(store.home, store.secret, whereabouts)

    def _require_readable(self, paths: Sequence[str], expected: KnownTable) -> None:
        """Refuse CSV files that cannot be read as training rows are, and name the column."""
        from holdfast.data.csv import misread

        try:
            _ = self.content
        except DataChanged:
            raise
        except HoldfastError:
            fault = misread(paths, expected.form, expected.types)
            if fault is None:
                raise
            name, kind = fault
            raise InvalidArgument(
                f"column {name!r} is {expected.types[name]} in the training rows, and cannot be "
                f"read as that in {paths[0]!r}, where it is {kind}; see what it holds, and whether "
                "something stands for missing values (null=, --null), or open it without training "
                "rows."
            ) from None

    def _is_of(self, opening: Opening, secret: bytes) -> bool:
        """Whether they are the rows of a ledger; of what cannot be read as those, it is said."""
        try:
            equal = has_shape(opening, self.sample)
            return equal and self._print(secret) == opening.fingerprint
        except DataChanged:
            raise
        except HoldfastError:
            if self._is_csv:
                return False  # it holds other things than the ledger's types say
            raise

    @property
    def _is_csv(self) -> bool:
        return isinstance(self.sample, FileSample) and bool(csv_paths(self.source))

    def _print(self, secret: bytes) -> str:
        """Keyed print of these rows; files not touched since are not read again."""
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
        return Whereabouts(self.source, self.table, self.sample.stamps, print_)


def _source(data: Any) -> str | None:
    """The path or glob, as it is from everywhere, or an address, of a database without password.

    None for data in memory.
    """
    if is_database_url(data):
        return str(DatabaseUrl.read("data", data))
    if is_path(data):
        return os.path.abspath(data)
    return data if isinstance(data, str) else None


def protected_rows(opening: Opening, data: Any, table: str | None = None) -> Sample:
    """A table, read as the ledger's was: CSV files by the types and the form that it keeps.

    Of the whole table, a part of which was put aside, the rest.
    """
    return _parts(opening, data, table)[0]


def _parts(opening: Opening, data: Any, table: str | None) -> tuple[Sample, DividedTable | None]:
    shape = KnownTable(opening.form, opening.schema.types, seen=True)
    sample, split = open_sample(data, table=table, known=shape), opening.split
    if split is None or sample.n != split.rows:
        return sample, None
    divided = put_aside(sample, split.part, split.by)
    return divided.hold, divided


def has_shape(opening: Opening, sample: Sample) -> bool:
    """Whether the sample has the rows, columns and types of the ledger's table."""
    return sample.n == opening.terms.rows and sample.types == opening.schema.types


def is_protected(opening: Opening, secret: bytes, sample: Sample) -> bool:
    """Whether the sample is the very table of the ledger; reads it only if it could be."""
    return (
        has_shape(opening, sample)
        and keyed_print(secret, fingerprint(sample)) == opening.fingerprint
    )
