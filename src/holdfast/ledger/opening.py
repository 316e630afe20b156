"""The opening of a ledger: what was declared, and what the table was.

Until something was asked it can be planned anew: how many questions, how wide, by which mechanism.
What is declared of columns is added (`ledger.dictionaries`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from holdfast.data.files import AS_USUAL, TableForm
from holdfast.data.split import RowSplit
from holdfast.errors import InvalidArgument
from holdfast.ledger.side_files import FORMAT
from holdfast.mechanisms.catalogue import kind_of
from holdfast.mechanisms.terms import Terms
from holdfast.question.columns import Schema
from holdfast.statistics.entry import Table

__all__ = ["REOPEN", "Opening"]

REOPEN = "reopen/1"
# What the ledger's own questions are planned by.
_PLANNED = ("at", "tolerance", "questions", "surprises", "candidates", "reveal_share", "mechanism")


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
