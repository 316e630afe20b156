"""The opening of a ledger: what was declared, and what the table was.

Until something was asked it can be declared anew, by an entry that says all of it again: nothing of
the rows was seen meanwhile. Later, declarations are added (`ledger.dictionaries`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from holdfast.data.files import AS_USUAL, TableForm
from holdfast.data.split import RowSplit
from holdfast.errors import InvalidArgument
from holdfast.ledger.side_files import FORMAT
from holdfast.mechanisms.catalogue import kind_of
from holdfast.mechanisms.terms import Terms
from holdfast.question.columns import Schema
from holdfast.statistics.entry import Table
from holdfast.theory.base.random_sizes import PooledUnits

__all__ = ["REOPEN", "Opening"]

REOPEN = "reopen/1"


@dataclass(frozen=True, slots=True)
class Opening:
    """The first entry: everything that was declared, and what the table was.

    The `fingerprint` is keyed with the ledger's secret (`ledger.identity`); the `form` is how the
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
        """The entry that declares a ledger anew."""
        return {**self.body(), "kind": REOPEN}

    def of_the_rows_of(self, other: Opening) -> Opening:
        """What is declared here, of the rows of another opening."""
        facts: dict[str, Any] = {
            "name": other.name,
            "fingerprint": other.fingerprint,
            "task": other.task,
        }
        return replace(self, **facts, form=other.form, split=other.split)

    def may_become(self, other: Opening) -> bool:
        """Whether another opening is of the same rows, so that it may take the place of this one.

        Where the number of rows was drawn, too, it is known by now, and nothing can be declared
        without it.
        """
        drawn = isinstance(self.terms.concentration, PooledUnits)
        own, others = (
            (each.name, each.fingerprint, each.form, each.split, each.terms.rows, each.schema.types)
            for each in (self, other)
        )
        return not drawn and own == others
