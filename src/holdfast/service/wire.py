"""What crosses the wire: bodies that are read strictly, and replies of plain values.

A body is JSON with these fields and no others. A question is text; nothing that is sent is ever
run, opened or unpickled.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any, Literal, TypeAlias, TypedDict, TypeVar

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from starlette.requests import Request
from starlette.responses import Response

from holdfast.certificate.signing import SigningKey
from holdfast.errors import InvalidArgument
from holdfast.holdout.answer import Answer
from holdfast.holdout.groups import Groups
from holdfast.holdout.holdout import Holdout
from holdfast.holdout.options import (
    AskSent,
    BatchSent,
    CheckSent,
    CostSent,
    GateSent,
    GuessField,
    QuestionField,
    QuestionFields,
    VerbOption,
    fields_of,
)
from holdfast.ledger.attachments import AttachedColumn
from holdfast.mechanisms.catalogue import kind_of
from holdfast.service.access import veil_for
from holdfast.service.client import carried_answer
from holdfast.service.data_set import BODIES, REPORTS, Asking, AskingVerb, Reply, Served, run_in
from holdfast.service.tokens import Token
from holdfast.statistics.entry import Better, Bounds, By

_MOST_TOGETHER = 200
_LONGEST = 10_000
_Text: TypeAlias = Annotated[str, Field(max_length=_LONGEST)]
_Number: TypeAlias = Annotated[float, Field(allow_inf_nan=False)]
_Pair: TypeAlias = Annotated[list[_Number], Field(min_length=2, max_length=2)]
_Counts: TypeAlias = Annotated[
    list[Annotated[int, Field(ge=0, le=10**9)]], Field(min_length=3, max_length=3)
]


def wire_type(kind: Any, option: VerbOption, longest: int | None = None) -> Any:
    """How an option of a verb is read from JSON, with what it is for.

    A text that has no limit of its own may be as long as `longest`.
    """
    text = Annotated[str, Field(max_length=option.longest or longest)]
    types: dict[Any, Any] = {
        str: Annotated[text, Field(min_length=1, examples=["avg(arr_delay > 15)"])],
        str | None: text | None,
        float | None: _Number | None,
        int | None: Annotated[int, Field(ge=1, le=10**9)] | None,
        bool: bool,
        Bounds: _Pair | None,
        By | None: Annotated[list[text], Field(max_length=2)] | None,
        Better | None: Better | None,
        Sequence[int] | None: _Counts | None,
    }
    return Annotated[types[kind], Field(description=option.help)]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    def options(self, *left_out: str) -> dict[str, Any]:
        """What was sent, as the verbs take it."""
        return self.model_dump(exclude={"accept_cost", *left_out}, exclude_none=True)

    @property
    def accepted_cost(self) -> int | None:
        """The most questions that it may take."""
        return self.model_dump().get("accept_cost")


class VerbBody(_Body):
    """A question with the options of a verb."""

    def asking(self, verb: AskingVerb, asked_by: str | None, request_key: str | None) -> Asking:
        """What is asked, by whom, and under which key."""
        signed = {"asked_by": asked_by, "request_key": request_key}
        return Asking.of(verb, {**self.options("gate"), **signed})


class BatchQuestions(_Body):
    """Questions chosen together; with guesses, checks."""

    questions: Annotated[
        list[_Text], Field(min_length=1, max_length=_MOST_TOGETHER, description="Statistics.")
    ]
    guesses: Annotated[
        list[_Number] | None,
        Field(max_length=_MOST_TOGETHER, description="To be checked: a guess for each of them."),
    ] = None


_M = TypeVar("_M", bound=_Body)


def _derived(name: str, doc: str, base: type[_M], *records: type) -> type[_M]:
    """The body of a verb: the options of its records. The key of a call is a header."""
    fields: dict[str, Any] = {
        option: (
            wire_type(*kind, _LONGEST),
            ... if kind[0] is str else False if kind[0] is bool else None,
        )
        for option, kind in fields_of(*records).items()
        if option != "request_key"
    }
    return create_model(name, __doc__=doc, __base__=base, __module__=__name__, **fields)


class _Gated(TypedDict, total=False):
    gate: Annotated[bool, VerbOption("Whether it would be gated, not checked.")]


AskBody = _derived("AskBody", "A question without a guess.", VerbBody, QuestionFields, AskSent)
CheckBody = _derived(
    "CheckBody",
    "A claim: about `guess`, or on one side of a number.",
    VerbBody,
    QuestionFields,
    GuessField,
    CheckSent,
)
CostBody = _derived(
    "CostBody",
    "A question, or a claim, of which the cost is wanted; nothing is asked.",
    VerbBody,
    QuestionFields,
    GuessField,
    CostSent,
    _Gated,
)
GateBody = _derived(
    "GateBody",
    "What is to be shown: that it is more than `at_least`, or less than `at_most`.",
    VerbBody,
    QuestionField,
    GateSent,
)
BatchBody = _derived(
    "BatchBody",
    "Questions chosen together: one scan, one shared leakage; with guesses, checks.",
    BatchQuestions,
    BatchSent,
)


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
    bounds: Annotated[_Pair | None, Field(description="The range of the value: low and high.")] = (
        None
    )
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


def told(reply: Reply | list[Answer], *, details: bool = False) -> dict[str, Any]:
    """The reply to a call: an answer or a table of them; with `details`, what they are made of."""
    if isinstance(reply, Answer):
        more = {"details": carried_answer(reply)} if details else {}
        return {**reply.to_dict(), "text": str(reply), **more}
    if isinstance(reply, list):
        return {"answers": [told(each, details=details) for each in reply]}
    if isinstance(reply, Groups):
        body = {"question": reply.question, "by": list(reply.by), "groups": reply.to_dicts()}
    else:
        thresholds = {"value": reply.value, "thresholds": reply.to_dicts()}
        body = {"question": reply.question, **thresholds}
    details_by_label = [{"label": label, **carried_answer(answer)} for label, answer in reply]
    return {**body, "details": details_by_label} if details else body


def dataset_told(holdout: Holdout, reader: Token, *, details: bool = False) -> dict[str, Any]:
    """What is public of a data set: its columns, what was declared, and what is promised."""
    budget = holdout.budget  # which reads what others have attached since
    opening, schema = holdout.opening, holdout.schema
    kind = kind_of(opening.mechanism["name"])
    terms, closed = opening.terms, budget.account.closed
    details_told = {"terms": terms.to_dict(), "mechanism": opening.mechanism}
    facts: dict[str, Any] = {
        **({"details": details_told} if details else {}),
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
        "closed": None if closed is None else closed._asdict(),
    }
    return dict(veil_for(reader, holdout).over(facts))


def ledger_told(
    lines: list[dict[str, Any]], reader: Token, holdout: Holdout
) -> list[dict[str, Any]]:
    """Lines of the ledger without the keys of calls; a viewer does not learn who asked."""
    hidden = {"request_key", "asked_by"} if reader.role == "viewer" else {"request_key"}
    visible = [{name: line[name] for name in line if name not in hidden} for line in lines]
    return list(veil_for(reader, holdout).over(visible))


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


_Read = TypeVar("_Read", bound=BaseModel)


def long_body(model: type[_Read]) -> Callable[[Request], Awaitable[_Read]]:
    """A dependency that reads the body of a request as a model, by a thread for bodies."""

    async def read(request: Request) -> _Read:
        content = await request.body()
        try:
            return await run_in(BODIES, lambda: model.model_validate_json(content))
        except ValidationError as error:
            faults = error.errors(include_url=False, include_input=False, include_context=False)
            raise RequestValidationError(
                [{**each, "loc": ("body", *each["loc"])} for each in faults]
            ) from None

    return read


def described_body(model: type[BaseModel]) -> dict[str, Any]:
    """What OpenAPI says of an operation that takes such a body."""
    content = {"application/json": {"schema": model.model_json_schema()}}
    return {"requestBody": {"required": True, "content": content}}


# Replies and bodies that take long are made by threads of their own.


def certificate_file(
    served: Served, key: SigningKey, form: Literal["html", "json"]
) -> Awaitable[Response]:
    """A signed certificate as a file to keep: it says everything by itself, without a service."""
    kind = "text/html; charset=utf-8" if form == "html" else "application/json"
    named = {"Content-Disposition": f'attachment; filename="{served.name}-reuse.{form}"'}

    async def written() -> Response:
        certificate = await served.read(lambda holdout: holdout.certificate(sign_with=key))
        text = await run_in(REPORTS, certificate.to_html if form == "html" else certificate.to_json)
        return Response(text, media_type=kind, headers=named)

    return written()
