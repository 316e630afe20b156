"""Which table a ledger protects: the print of its rows, keyed with the ledger's secret.

The fingerprint of a table of few distinct rows tells the table to whoever tries them all; keyed, it
tells nothing without the secret, and one table has another print in every ledger. It never leaves
the process in any other form.
"""

from __future__ import annotations

from typing import Any

from holdfast.data.fingerprint import fingerprint
from holdfast.data.sample import Sample
from holdfast.data.source import KnownTable, open_sample
from holdfast.ledger.chain import keyed
from holdfast.ledger.entries import Opening

__all__ = ["has_shape", "is_protected", "keyed_print", "protected_rows"]

_PURPOSE = "holdfast print/1"


def keyed_print(secret: bytes, content: str) -> str:
    """What a ledger with this secret writes for a table's fingerprint."""
    return keyed(secret, _PURPOSE, content)


def protected_rows(opening: Opening, data: Any, table: str | None = None) -> Sample:
    """A table, read as the ledger's was: CSV files by the types and the form that it keeps."""
    shape = KnownTable(opening.form, opening.schema.types, seen=True)
    return open_sample(data, table=table, known=shape)


def has_shape(opening: Opening, sample: Sample) -> bool:
    """Whether the sample has the rows, columns and types of the ledger's table."""
    return sample.n == opening.terms.rows and sample.types == opening.schema.types


def is_protected(opening: Opening, secret: bytes, sample: Sample) -> bool:
    """Whether the sample is the very table of the ledger; reads it only if it could be."""
    return (
        has_shape(opening, sample)
        and keyed_print(secret, fingerprint(sample)) == opening.fingerprint
    )
