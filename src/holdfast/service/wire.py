"""What crosses the wire: bodies that are read strictly, and replies of plain values.

A body is JSON with these fields and no others. A question is text; nothing that is sent is ever
run, opened or unpickled.
"""

from __future__ import annotations

import csv
import io
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from holdfast.errors import InvalidArgument
from holdfast.holdout.answer import Answer
from holdfast.holdout.groups import Groups
from holdfast.holdout.holdout import Holdout
from holdfast.ledger.attachments import AttachedColumn
from holdfast.mechanisms.catalogue import kind_of
from holdfast.service.access import veil_for
from holdfast.service.client import carried_answer
from holdfast.service.data_set import Asking, Reply
from holdfast.service.tokens import Token

__all__ = [
    "AskBody",
    "BatchBody",
    "CheckBody",
    "ColumnBody",
    "CostBody",
    "GateBody",
    "TokenBody",
    "column_told",
    "csv_of",
    "dataset_told",
    "keyed_values",
    "ledger_told",
    "told",
]

_MOST_TOGETHER = 200
_Text: TypeAlias = Annotated[str, Field(max_length=10_000)]
_Reason: TypeAlias = Annotated[str, Field(max_length=1_000)]
_Number: TypeAlias = Annotated[float, Field(allow_inf_nan=False)]
_Pair: TypeAlias = Annotated[list[_Number], Field(min_length=2, max_length=2)]
_Where: TypeAlias = Annotated[_Text | None, Field(description="Only among rows like these.")]
_Bounds: TypeAlias = Annotated[
    _Pair | None, Field(description="The range of the value: low and high.")
]
_Tolerance: TypeAlias = Annotated[
    _Number | None, Field(description="A half-width, as a part of the range.")
]
_HalfWidth: TypeAlias = Annotated[
    _Number | None, Field(description="A half-width, in the unit of the answer.")
]
_AtLeast: TypeAlias = Annotated[
    _Number | None, Field(description="The claim that it is at least this.")
]
_AtMost: TypeAlias = Annotated[
    _Number | None, Field(description="The claim that it is at most this.")
]
_AcceptCost: TypeAlias = Annotated[
    Annotated[int, Field(ge=1, le=10**9)] | None,
    Field(description="The most questions it may take, where its price is more than one."),
]
_Why: TypeAlias = Annotated[_Reason | None, Field(description="Kept in the ledger.")]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Question(_Body):
    question: Annotated[
        _Text, Field(min_length=1, examples=["avg(arr_delay > 15)"], description="A statistic.")
    ]
    where: _Where = None
    by: Annotated[
        list[_Text] | None,
        Field(max_length=2, description="For each value of one or two columns."),
    ] = None
    bounds: _Bounds = None
    better: Annotated[
        Literal["higher", "lower"] | None, Field(description="Of a difference: which is better.")
    ] = None
    tolerance: _Tolerance = None
    half_width: _HalfWidth = None
    why: _Why = None

    def asking(self, by: str | None, key: str | None, **claim: Any) -> Asking:
        """What is asked, by whom, and under which key."""
        return Asking(
            question=self.question,
            where=self.where,
            groups=tuple(self.by or ()),
            bounds=None if self.bounds is None else (self.bounds[0], self.bounds[1]),
            better=self.better,
            tolerance=self.tolerance,
            half_width=self.half_width,
            why=self.why,
            by=by,
            key=key,
            **claim,
        )


class AskBody(_Question):
    """A question without a guess."""

    accept_cost: _AcceptCost = None


class _Claim(_Question):
    guess: Annotated[_Number | None, Field(description="What it is about, in its own unit.")] = None
    at_most: _AtMost = None
    at_least: _AtLeast = None

    def asking(self, by: str | None, key: str | None, **more: Any) -> Asking:
        claim = {"guess": self.guess, "at_most": self.at_most, "at_least": self.at_least}
        return super().asking(by, key, **claim, **more)


class CostBody(_Claim):
    """A question, or a claim, of which the cost is wanted; nothing is asked."""

    gate: Annotated[bool, Field(description="Whether it would be gated, not checked.")] = False

    def asking(self, by: str | None, key: str | None, **_: Any) -> Asking:
        return super().asking(by, key, verb="gate" if self.gate else "ask")


class CheckBody(_Claim):
    """A claim: about `guess`, or on one side of a number."""

    accept_cost: _AcceptCost = None

    def asking(self, by: str | None, key: str | None, **_: Any) -> Asking:
        found = super().asking(by, key, verb="check")
        if len(found.claim) != 1:
            raise InvalidArgument("a check takes one of guess, at_most and at_least.")
        return found


class GateBody(_Body):
    """What is to be shown: that it is more than `at_least`, or less than `at_most`."""

    question: Annotated[
        _Text,
        Field(
            min_length=1,
            examples=["difference(v7 = label, v6 = label)"],
            description="A statistic.",
        ),
    ]
    where: _Where = None
    bounds: _Bounds = None
    at_least: Annotated[_Number | None, Field(description="To be shown: more than this.")] = None
    at_most: Annotated[_Number | None, Field(description="To be shown: less than this.")] = None
    why: _Why = None

    def asking(self, by: str | None, key: str | None) -> Asking:
        """What is gated, by whom, and under which key."""
        return Asking(
            question=self.question,
            where=self.where,
            bounds=None if self.bounds is None else (self.bounds[0], self.bounds[1]),
            at_least=self.at_least,
            at_most=self.at_most,
            why=self.why,
            by=by,
            key=key,
            verb="gate",
        )


class BatchBody(_Body):
    """Questions chosen together: one scan, one shared leakage; with guesses, checks."""

    questions: Annotated[
        list[_Text], Field(min_length=1, max_length=_MOST_TOGETHER, description="Statistics.")
    ]
    guesses: Annotated[
        list[_Number] | None,
        Field(max_length=_MOST_TOGETHER, description="To be checked: a guess for each of them."),
    ] = None
    tolerance: _Tolerance = None
    half_width: _HalfWidth = None
    why: _Why = None
    accept_cost: _AcceptCost = None


class ColumnBody(_Body):
    """Values that were made without protected columns, for the rows of a data set, by its key."""

    name: Annotated[
        str, Field(min_length=1, max_length=200, description="What questions call the column.")
    ]
    keys: Annotated[
        Annotated[list[str | int], Field(fail_fast=True)] | None,
        Field(description="The keys of the values; without, they are in the order of keys."),
    ] = None
    values: Annotated[
        list[bool | int | float | str | None],
        Field(fail_fast=True, description="A value for every key."),
    ]
    bounds: _Bounds = None
    missing: Annotated[
        Literal["refuse", "null"], Field(description="What to do about keys without a value.")
    ] = "refuse"

    @property
    def brought(self) -> dict[str | int, Any] | list[Any]:
        """As `attach` takes them."""
        return keyed_values(self.keys, self.values)


class TokenBody(_Body):
    """A token to make; it is shown once."""

    name: Annotated[
        str, Field(min_length=1, max_length=100, description="Whom the ledger says that asked.")
    ]
    role: Annotated[Literal["custodian", "analyst", "viewer"], Field(description="What it allows.")]
    dataset: Annotated[str | None, Field(max_length=100, description="Left out: all.")] = None
    questions: Annotated[
        int | None, Field(ge=1, le=10**9, description="How many answers it may have anew.")
    ] = None
    share: Annotated[
        _Number | None, Field(gt=0, le=1, description="The part of each pool it may take.")
    ] = None
    expires: Annotated[
        str | None, Field(max_length=10, description="30d, 12h or 45m from now.")
    ] = None


def keyed_values(
    keys: list[str | int] | None, values: list[Any]
) -> dict[str | int, Any] | list[Any]:
    """Values by their keys, or in the order of keys, as a holdout takes them."""
    if keys is None:
        return values
    if len(keys) != len(values) or len(set(keys)) != len(keys):
        raise InvalidArgument(
            f"there are {len(keys):,} keys, {len(set(keys)):,} of them different, and "
            f"{len(values):,} values; give one value for every key."
        )
    return dict(zip(keys, values, strict=True))


def told(found: Reply | list[Answer], *, details: bool = False) -> dict[str, Any]:
    """The reply to a call: an answer or a table of them; with `details`, what they are made of."""
    if isinstance(found, Answer):
        more = {"details": carried_answer(found)} if details else {}
        return {**found.to_dict(), "text": str(found), **more}
    if isinstance(found, list):
        return {"answers": [told(each, details=details) for each in found]}
    if isinstance(found, Groups):
        body = {"question": found.question, "by": list(found.by), "groups": found.to_dicts()}
    else:
        thresholds = {"value": found.value, "thresholds": found.to_dicts()}
        body = {"question": found.question, **thresholds}
    carried = [{"label": label, **carried_answer(answer)} for label, answer in found]
    return {**body, "details": carried} if details else body


def dataset_told(holdout: Holdout, reader: Token, *, details: bool = False) -> dict[str, Any]:
    """What is public of a data set: its columns, what was declared, and what is promised."""
    budget = holdout.budget  # which reads what others have attached since
    opening, schema = holdout.opening, holdout.schema
    kind = kind_of(opening.mechanism["name"])
    terms = opening.terms
    carried = {"terms": terms.to_dict(), "mechanism": opening.mechanism}
    told: dict[str, Any] = {
        **({"details": carried} if details else {}),
        "name": opening.name,
        "rows": holdout.rows,
        "opened": opening.at,
        "columns": [
            {
                "name": name,
                "type": str(type_),
                "bounds": list(schema.bounds[name]) if name in schema.bounds else None,
                "values": list(schema.values[name]) if name in schema.values else None,
                "scale": schema.scales[name].to_dict() if name in schema.scales else None,
                "attached": name not in opening.schema.types,
                "design": name in terms.design.columns,
            }
            for name, type_ in schema.types.items()
        ],
        "aliases": dict(schema.aliases),
        "design": list(terms.design.columns),
        "key": terms.key,
        "public": list(terms.public),
        "described": terms.described,
        "described_share": terms.described_share,
        "tolerance": terms.tolerance,
        "mechanism": kind.name,
        "answered_by": kind.summary,
        "promise": budget.promise,
        "assumes": terms.assumption,
        "remaining": budget.remaining,
        "closed": budget.to_dict()["closed"],
    }
    return dict(veil_for(reader, holdout).over(told))


def ledger_told(
    lines: list[dict[str, Any]], reader: Token, holdout: Holdout
) -> list[dict[str, Any]]:
    """Lines of the ledger without the keys of calls; a viewer does not learn who asked."""
    hidden = {"key", "by"} if reader.role == "viewer" else {"key"}
    told = [{name: line[name] for name in line if name not in hidden} for line in lines]
    return list(veil_for(reader, holdout).over(told))


def csv_of(lines: list[dict[str, Any]]) -> str:
    """Lines of the ledger as CSV."""
    text = io.StringIO()
    if lines:
        rows = csv.DictWriter(text, list(lines[0]), lineterminator="\n")
        rows.writeheader()
        rows.writerows({name: _cell(line[name]) for name in line} for line in lines)
    return text.getvalue()


def _cell(value: Any) -> Any:
    """A text that a spreadsheet would run as a formula is quoted."""
    return f"'{value}" if isinstance(value, str) and value[:1] in "=+-@\t\r" else value


def column_told(column: AttachedColumn, reader: Token) -> dict[str, Any]:
    """An attached column; its digest is for whoever brought it, and for the custodian."""
    body = column.to_dict()
    if reader.role != "custodian" and column.by != reader.name:
        del body["digest"]
    if reader.role == "viewer":
        del body["by"]
    return body
