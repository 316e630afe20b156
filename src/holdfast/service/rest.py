"""REST: what analysts, programs and custodians do with a data set, under /api/v1."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, File, Form, Path as PathField, Query, UploadFile
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from holdfast.boards.leaderboard import Leaderboard
from holdfast.boards.standings import Standing
from holdfast.errors import HoldfastError, InvalidArgument
from holdfast.holdout.answer import Answer
from holdfast.holdout.budget import Budget
from holdfast.holdout.holdout import Holdout
from holdfast.ledger.attachments import AttachedColumn
from holdfast.ledger.audit import audit as run_audit
from holdfast.ledger.entries import Recorded
from holdfast.ledger.opening import protected_rows
from holdfast.ledger.view import LedgerView
from holdfast.planner.plan import plan as make_plan
from holdfast.service.access import (
    AsAnyone,
    AsCustodian,
    Asker,
    Caller,
    CallKey,
    Dataset,
    Serving,
    veil_for,
)
from holdfast.service.client import carried_budget, carried_recorded
from holdfast.service.data_set import (
    BODIES,
    REPORTS,
    Asking,
    AskingVerb,
    Reply,
    Served,
    Service,
    run_in,
)
from holdfast.service.pacing import OnTheStep
from holdfast.service.problems import JsonReply, problem_of, problems
from holdfast.service.replies import (
    AnswerReply,
    AnyReply,
    AuditReply,
    BatchReply,
    BoardReply,
    BudgetReply,
    ColumnReply,
    ColumnsReply,
    CostReply,
    DatasetReply,
    DatasetsReply,
    GrantedReply,
    KeyReply,
    LedgerReply,
    MeReply,
    PlanReply,
    StandingReply,
    TokenReply,
    TokensReply,
    file_reply,
)
from holdfast.service.routes import PlainRoute
from holdfast.service.tokens import Token, expiry_of, said_digest
from holdfast.service.uploads import Upload
from holdfast.service.wire import (
    AskBody,
    BatchBody,
    BatchQuestions,
    CheckBody,
    ColumnBody,
    CostBody,
    GateBody,
    TokenBody,
    VerbBody,
    certificate_file,
    column_told,
    csv_of,
    dataset_told,
    described_body,
    keyed_values,
    ledger_told,
    long_body,
    told,
)
from holdfast.statistics.bind import question_of

_PROBLEMS = problems(400, 401, 403, 404, 422, 429, 503)
rest = APIRouter(prefix="/api/v1", responses=_PROBLEMS, route_class=PlainRoute)
_ASKS = problems(409, 410, 413)
_Details = Annotated[
    bool, Query(description="With what a client needs to make the same Answer of it.")
]
_MOST_LINES = 1_000


@rest.get("/me", tags=["tokens"], response_model=MeReply)
async def me(service: Serving, token: AsAnyone) -> Any:
    """Who the token says you are, and what is left of its cap."""
    spent = service.tokens.spent(token)
    remaining = None if token.questions is None else token.questions - spent
    return JsonReply({**token.to_dict(), "spent": spent, "left": remaining})


@rest.get("/datasets", tags=["data sets"], response_model=DatasetsReply)
async def datasets(service: Serving, token: AsAnyone) -> Any:
    """The data sets that the token is for."""
    listed = []
    for name in service.names_for(token):
        try:  # one that is not in order hides no other
            budget = await service.served(name, token).read(lambda holdout: holdout.budget)
            listed.append({"name": name, "rows": budget.terms.rows, "remaining": budget.remaining})
        except HoldfastError as error:
            listed.append({"name": name, "rows": None, "remaining": problem_of(error).title})
    return JsonReply({"datasets": listed})


@rest.get("/datasets/{dataset}", tags=["data sets"], response_model=DatasetReply)
async def dataset(served: Dataset, token: AsAnyone, details: _Details = False) -> Any:
    """Columns, bounds, design, and what is promised. No row is ever shown."""
    return JsonReply(await served.read(partial(dataset_told, reader=token, details=details)))


def _route(path: str, handler: Callable[..., Any], body: type[BaseModel], **words: Any) -> None:
    """Add the route of a verb, whose body is derived from the options of the verb."""
    handler.__annotations__["body"] = body
    rest.post(f"/datasets/{{dataset}}/{path}", tags=["asking"], **words)(handler)


def _route_verb(
    verb: AskingVerb, body_type: type[VerbBody], meaning: str, reply: Any = AnyReply
) -> None:
    async def put(
        body: VerbBody, caller: Asker, key: CallKey = None, details: _Details = False
    ) -> Any:
        asking = body.asking(verb, caller.token.name, caller.own(key))
        return await _replied(await caller.answer(asking, body.accepted_cost), details)

    put.__name__, put.__doc__ = verb, meaning
    _route(verb, put, body_type, response_model=reply, responses=_ASKS)


async def _replied(reply: Reply, details: bool) -> JsonReply:
    """A reply; a table is long, and is written beside the event loop."""
    if isinstance(reply, Answer):
        return JsonReply(told(reply, details=details))
    return await run_in(BODIES, lambda: JsonReply(told(reply, details=details)))


_route_verb(
    "ask", AskBody, "What is it? Text over the table's columns is answered by its description."
)
_route_verb("check", CheckBody, "Is it about this? Almost free when confirmed.")
_route_verb(
    "gate",
    GateBody,
    "Is it shown? *Not shown* leaves it open, and costs almost nothing.",
    AnswerReply,
)


async def batch(
    body: BatchQuestions, caller: Asker, key: CallKey = None, details: _Details = False
) -> Any:
    """Questions, or checks of guesses, chosen together: one scan, one shared leakage."""
    options = body.options("questions", "guesses")
    own = caller.own(key)
    signed = {**options, "asked_by": caller.token.name, "request_key": own}

    def read() -> list[Any]:
        return [question_of(each, trusted=False) for each in body.questions]

    questions: Any = await run_in(BODIES, read)

    def put(holdout: Holdout) -> list[Answer]:
        if body.guesses is None:
            return holdout.ask_many(questions, **signed)
        return holdout.check_many(questions, body.guesses, **signed)

    askings = [
        Asking.of("ask", {**options, "question": text, "guess": guess})
        for text, guess in zip_longest(body.questions, (body.guesses or ())[: len(questions)])
    ]
    answers = await caller.answers(askings, put, own, body, body.accepted_cost)
    return await run_in(BODIES, lambda: JsonReply(told(answers, details=details)))


_route("batch", batch, BatchBody, response_model=BatchReply, responses=_ASKS)


async def cost(body: VerbBody, caller: Asker) -> Any:
    """What a question would cost now, and how wide its answer would be. Free; asks nothing."""
    asking = body.asking("gate" if body.options().get("gate") else "ask", None, None)

    def priced(holdout: Holdout) -> dict[str, Any]:
        price = asking.cost_of(holdout)
        return {**price.to_dict(), "text": str(price)}

    return JsonReply(await caller.served.read(priced))


_route("cost", cost, CostBody, response_model=CostReply, responses=problems(409, 410))


@rest.get("/datasets/{dataset}/budget", tags=["data sets"], response_model=BudgetReply)
async def budget(served: Dataset, details: _Details = False) -> Any:
    """What is left, after everything that anybody has asked, and what is promised."""

    def told(_: Holdout, remaining: Budget) -> dict[str, Any]:
        more = {"details": carried_budget(remaining)} if details else {}
        return {**remaining.to_dict(), "text": str(remaining), **more}

    text = await served.written(("budget", details), lambda holdout: holdout.budget, told)
    return Response(text, media_type=JsonReply.media_type)


@rest.get("/datasets/{dataset}/ledger", tags=["data sets"], response_model=LedgerReply)
async def ledger(
    served: Dataset,
    token: AsAnyone,
    after: Annotated[int, Query(ge=0, le=10**12, description="Lines after this number.")] = 0,
    limit: Annotated[int, Query(ge=1, le=_MOST_LINES, description="Lines at most.")] = 100,
    details: _Details = False,
) -> Any:
    """What was asked and answered, line by line; `next` is the `after` of the next page."""

    def page(holdout: Holdout, view: LedgerView) -> dict[str, Any]:
        lines = view.page(after, limit + 1)  # one more, if there is one
        shown, more = lines.page(after, limit), len(lines) > limit
        visible = ledger_told(shown.to_dicts(), token, holdout)
        extra = _page_details(shown, token) if details else {}
        return {
            "lines": visible,
            "next": visible[-1]["number"] if more else None,
            "together": view.together,
            **veil_for(token, holdout).over(extra),
        }

    key = ("ledger", after, limit, details, token.role == "viewer")
    text = await served.written(key, lambda holdout: holdout.ledger, page)
    return Response(text, media_type=JsonReply.media_type)


@rest.get(
    "/datasets/{dataset}/ledger.csv",
    tags=["data sets"],
    response_class=Response,
    responses=file_reply("text/csv"),
)
async def ledger_csv(served: Dataset, token: AsAnyone) -> Any:
    """The whole ledger as CSV, parts under what they are parts of."""

    def lines(holdout: Holdout) -> list[dict[str, Any]]:
        return ledger_told(holdout.ledger.to_dicts(parts=True), token, holdout)

    return Response(csv_of(await served.read(lines)), media_type="text/csv; charset=utf-8")


@rest.get("/plan", tags=["planning"], response_model=PlanReply, responses=problems(409))
async def plan(
    token: AsAnyone,
    rows: Annotated[int | None, Query(ge=2, le=10**12, description="Rows of the table.")] = None,
    questions: Annotated[
        int | None, Query(ge=1, le=10**9, description="Each chosen after earlier answers.")
    ] = None,
    tolerance: Annotated[
        float | None, Query(gt=0, lt=0.5, description="A half-width, as a part of the range.")
    ] = None,
    surprises: Annotated[
        int | None, Query(ge=0, le=10**9, description="Guesses expected to be refuted.")
    ] = None,
    confidence_level: Annotated[
        float, Query(ge=0.5, lt=1, description="That all intervals are true together.")
    ] = 0.95,
) -> Any:
    """Half-width, questions or rows needed, for every mechanism: give two of the three."""
    del token  # anyone may plan
    planned = partial(
        make_plan,
        rows=rows,
        questions=questions,
        tolerance=tolerance,
        surprises=surprises,
        confidence_level=confidence_level,
    )
    plan_made = await run_in(REPORTS, planned)
    return JsonReply({**plan_made.to_dict(), "text": str(plan_made)})


def _page_details(page: LedgerView, token: Token) -> dict[str, Any]:
    """The lines of a page and their looks, whole; a viewer does not learn who asked."""
    mine = {look for line in page for look in (line.look, *line.parts)}
    looks = [look for look in page.looks if look.look in mine]

    def carried(recorded: Recorded) -> dict[str, Any]:
        body = carried_recorded(recorded)
        if token.role == "viewer":
            body["request"]["by"] = None
        return body

    return {"details": {"lines": list(map(carried, page)), "looks": list(map(carried, looks))}}


# REST: what custodians do, and the columns that analysts bring, under /api/v1.


custody = APIRouter(prefix="/api/v1", responses=_PROBLEMS, route_class=PlainRoute)
_ColumnBody = Annotated[ColumnBody, Depends(long_body(ColumnBody))]
# What an audit finds wrong with the data may name the files it is in.
_OTHER_DATA = (
    "the table is not the protected one, or cannot be read; `holdfast audit` says which, where the "
    "data is."
)
_Which = Annotated[str, PathField(description="The ID of a token, or its name.")]


@custody.get("/datasets/{dataset}/columns", tags=["columns"], response_model=ColumnsReply)
async def columns(served: Dataset, token: AsAnyone) -> Any:
    """The columns that were attached."""

    def told(holdout: Holdout) -> Any:
        bodies = [column_told(each, token) for each in holdout.columns]
        return veil_for(token, holdout).over({"columns": bodies})

    return JsonReply(await served.read(told))


@custody.post(
    "/datasets/{dataset}/columns",
    tags=["columns"],
    response_model=ColumnReply,
    responses=problems(410, 413),
    openapi_extra=described_body(ColumnBody),
)
async def attach(caller: Asker, body: _ColumnBody, key: CallKey = None) -> Any:
    """Attach values that were made without protected columns; the same again is the same."""
    bounds = None if body.bounds is None else (body.bounds[0], body.bounds[1])

    def put(holdout: Holdout) -> AttachedColumn:
        return holdout.attach(
            body.name, body.brought, bounds=bounds, missing=body.missing, asked_by=caller.token.name
        )

    return await _attached(caller, put, body, key)


@custody.post(
    "/datasets/{dataset}/columns/file",
    tags=["columns"],
    response_model=ColumnReply,
    responses=problems(410, 413),
)
async def attach_file(
    caller: Asker,
    name: Annotated[
        str, Form(min_length=1, max_length=200, description="What questions call the column.")
    ],
    file: Annotated[UploadFile, File(description="A value for every key.")],
    key: Annotated[str | None, Form(description="The file's column of keys.")] = None,
    value: Annotated[str | None, Form(description="The file's column of values.")] = None,
    low: Annotated[
        float | None, Form(allow_inf_nan=False, description="The lower bound of the values.")
    ] = None,
    high: Annotated[
        float | None, Form(allow_inf_nan=False, description="The upper bound of the values.")
    ] = None,
    missing: Annotated[
        Literal["refuse", "null"], Form(description="What to do about keys without a value.")
    ] = "refuse",
    call: CallKey = None,
) -> Any:
    """The same from a CSV, Parquet or JSON-lines file."""
    if (low is None) != (high is None):
        raise InvalidArgument("bounds have a low and a high end; give both, or none.")
    bounds = None if low is None or high is None else (low, high)
    options: dict[str, Any] = {"key": key, "value": value, "bounds": bounds, "missing": missing}
    largest = caller.service.settings.largest_column
    sent = Upload(file.filename or "", await file.read(), largest)

    def put(holdout: Holdout) -> AttachedColumn:
        def attach(path: Path) -> AttachedColumn:
            return holdout.attach(name, path, asked_by=caller.token.name, **options)

        sent.judge(holdout.rows)
        return sent.read_by(attach)

    digest = await run_in(BODIES, lambda: sent.digest)
    return await _attached(caller, put, (name, sent.kind, options, digest), call)


async def _attached(
    caller: Caller, put: Callable[[Holdout], AttachedColumn], sent: object, key: str | None
) -> JsonReply:
    """A column that was brought, told on the step as answers are: it waits for their turn."""
    await _require_columns(caller.served)
    await caller.require_something_left()

    async def work() -> dict[str, Any]:
        async with OnTheStep(caller.service.settings.release_step):
            return column_told(await caller.served.ask(put), caller.token)

    return JsonReply(await caller.once(key, (caller.served.name, sent), work))


async def _require_columns(served: Served) -> None:
    """Refuse columns of a leaderboard: what is attached to it was looked at as a submission."""
    if await served.is_board():
        raise InvalidArgument("this is a leaderboard; submit predictions to it: POST .../board.")


@custody.get("/datasets/{dataset}/audit", tags=["custody"], response_model=AuditReply)
async def audit(dataset: str, service: Serving, served: Dataset, token: AsCustodian) -> Any:
    """The chain, every interval derived again from the ledger alone, and the data."""
    del token
    source, opening = await served.read(lambda holdout: (holdout.source, holdout.opening))
    home = service.folder.home(dataset)
    rows = None if source is None else lambda: protected_rows(opening, source)
    audited = await run_in(REPORTS, lambda: run_audit(home, rows))
    findings = [
        {**each.to_dict(), "detail": each.detail.replace(str(home), dataset)}
        | ({"detail": _OTHER_DATA} if each.what == "data" and not each.fine else {})
        for each in audited
    ]
    return JsonReply(
        {
            "fine": all(each.fine for each in audited),
            "data_compared": source is not None,
            "findings": findings,
        }
    )


@custody.get(
    "/datasets/{dataset}/certificate",
    tags=["custody"],
    response_class=Response,
    responses=file_reply("text/html", "application/json"),
)
async def certificate(
    service: Serving,
    served: Dataset,
    token: AsCustodian,
    form: Annotated[
        Literal["html", "json"], Query(description="For people, or for programs.")
    ] = "html",
) -> Any:
    """What was promised, and every answer: one file that is read, and audited, anywhere."""
    del token
    return await certificate_file(served, service.key, form)


@custody.get("/key", tags=["custody"], response_model=KeyReply)
async def public_key(service: Serving) -> Any:
    """The public key with which certificates of this service are signed; for everybody."""
    key = service.key
    return JsonReply({"key": key.public, "person": key.person, "organisation": key.organisation})


@custody.get("/tokens", tags=["tokens"], response_model=TokensReply)
async def tokens(service: Serving, token: AsCustodian) -> Any:
    """Every token that was made: who, what for, and how much is spent."""
    visible = [each for each in service.tokens.all() if token.dataset in (None, each.dataset)]
    spent = [service.tokens.spent(each) for each in visible]
    listed = zip(visible, spent, strict=True)
    facts = [{**each.to_dict(), "spent": used} for each, used in listed]
    return JsonReply({"tokens": facts})


@custody.post(
    "/tokens",
    tags=["tokens"],
    status_code=201,
    response_model=GrantedReply,
    responses=problems(413),
)
async def create_token(
    body: TokenBody, service: Serving, token: AsCustodian, key: CallKey = None
) -> Any:
    """Make a token; it is shown in this reply, and never again."""
    service.require_scope(token, body.dataset)
    granted = service.tokens.create(
        body.name,
        body.role,
        dataset=body.dataset,
        questions=body.questions,
        share=body.share,
        expires=expiry_of(body.expires),
        key=None if key is None else f"{token.id} {key}",
    )
    return JsonReply(granted.to_dict(), 201)


@custody.delete("/tokens/{which}", tags=["tokens"], response_model=TokenReply)
async def revoke_token(which: _Which, service: Serving, token: AsCustodian) -> Any:
    """Revoke a token by its ID or name, on every worker, from the next request on."""
    _require_own(which, service, token)
    return JsonReply(service.tokens.revoke(which).to_dict())


@custody.post("/tokens/{which}/rotate", tags=["tokens"], response_model=GrantedReply)
async def rotate_token(
    which: _Which,
    service: Serving,
    token: AsCustodian,
    overlap: Annotated[
        str | None,
        Query(max_length=10, description="How long the old secret is taken, too: 12h or 45m."),
    ] = None,
) -> Any:
    """Give a token another secret, which is shown in this reply; caps and spending stay."""
    _require_own(which, service, token)
    return JsonReply(service.tokens.rotate(which, expiry_of(overlap)).to_dict())


def _require_own(which: str, service: Service, token: Token) -> None:
    """Refuse tokens that are not a custodian's to change."""
    for each in service.tokens.all():
        if which in (each.id, each.name):
            service.require_scope(token, each.dataset)


# REST: the leaderboard of a data set that is one, under /api/v1; and what pages show of it.
#
# Who submits is who the token says. A submission is known by its content: whoever sends it again
# is told where it stands now, or with the key of a call where it stood then; what was looked at
# is not looked at again, and does not count again.


board_rest = APIRouter(prefix="/api/v1", responses=_PROBLEMS, route_class=PlainRoute)
_LOOKS = problems(409, 410, 413)
_Number = Annotated[float | None, Field(allow_inf_nan=False)]


class SubmissionBody(BaseModel):
    """A prediction for every item, by its key or in the order of keys; and what it may score."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: Annotated[
        str | None, Field(min_length=1, max_length=100, description="What the team calls it.")
    ] = None
    keys: Annotated[
        Annotated[list[str | int], Field(fail_fast=True)] | None,
        Field(description="The keys of the values; without, they are in the order of keys."),
    ] = None
    values: Annotated[
        list[bool | int | float | str | None],
        Field(fail_fast=True, description="A prediction for every item."),
    ]
    claim: Annotated[_Number, Field(description="Your own estimate of the score; checked.")] = None


_SubmissionBody = Annotated[SubmissionBody, Depends(long_body(SubmissionBody))]


@board_rest.get("/datasets/{dataset}/board", tags=["board"], response_model=BoardReply)
async def standings(served: Dataset, token: AsAnyone) -> Any:
    """The standings: ranks as far as they were shown, with intervals that are true together."""
    return JsonReply(await served.read(lambda holdout: standings_told(holdout, token)))


@board_rest.post(
    "/datasets/{dataset}/board",
    tags=["board"],
    response_model=StandingReply,
    responses=_LOOKS,
    openapi_extra=described_body(SubmissionBody),
)
async def submit_values(caller: Asker, body: _SubmissionBody, key: CallKey = None) -> Any:
    """Submit predictions under the name of the token: are they shown to be better?"""
    values = keyed_values(body.keys, body.values)

    def put(holdout: Holdout) -> Standing:
        mine = Leaderboard.over(holdout)
        return mine.submit(values, team=caller.token.name, name=body.name, claim=body.claim)

    digest = await run_in(BODIES, lambda: said_digest((caller.served.name, body)))
    return await _submitted(caller, put, digest, key)


@board_rest.post(
    "/datasets/{dataset}/board/file",
    tags=["board"],
    response_model=StandingReply,
    responses=_LOOKS,
)
async def submit_a_file(
    caller: Asker,
    file: Annotated[UploadFile, File(description="A prediction for every item.")],
    name: Annotated[
        str | None, Form(min_length=1, max_length=100, description="What the team calls it.")
    ] = None,
    key: Annotated[str | None, Form(description="The file's column of keys.")] = None,
    value: Annotated[str | None, Form(description="The file's column of predictions.")] = None,
    claim: Annotated[
        float | None,
        Form(allow_inf_nan=False, description="Your own estimate of the score; checked."),
    ] = None,
    call: CallKey = None,
) -> Any:
    """The same from a CSV, Parquet or JSON-lines file."""
    options = {"name": name, "key": key, "value": value, "claim": claim}
    largest = caller.service.settings.largest_column
    upload = Upload(file.filename or "", await file.read(), largest)
    sent = UploadedFile(upload, caller.token.name, options)
    digest = await run_in(BODIES, lambda: sent.digest(caller.served.name))
    return await _submitted(caller, sent.submit_to, digest, call)


async def _submitted(
    caller: Caller, put: Callable[[Holdout], Standing], sent: str, key: str | None
) -> JsonReply:
    """Where a submission stands; with a key, where it stood when that was told."""

    async def work() -> dict[str, Any]:
        return (await caller.submit(put, sent)).to_dict()

    return JsonReply(await caller.once(key, sent, work))


@board_rest.post(
    "/datasets/{dataset}/board/final",
    tags=["board"],
    response_model=BoardReply,
    responses=_LOOKS,
)
async def end_board(
    service: Serving, served: Dataset, token: AsCustodian, key: CallKey = None
) -> Any:
    """The last look: exact scores of all submissions. Nothing is submitted after it."""
    del key  # taken again it shows the same

    def ended(holdout: Holdout) -> dict[str, Any]:
        Leaderboard.over(holdout).final()
        return standings_told(holdout, token)

    async with OnTheStep(service.settings.release_step):
        return JsonReply(await served.ask(ended))


@dataclass(frozen=True, slots=True)
class UploadedFile:
    """A file of predictions that somebody sent."""

    file: Upload
    team: str
    said: Mapping[str, Any]

    def digest(self, board: str) -> str:
        """What it is known by on a board."""
        return said_digest((board, self.file.kind, self.file.digest, self.team, self.said))

    def submit_to(self, holdout: Holdout) -> Standing:
        """Submit it to the board of a holdout."""

        def submit(path: Path) -> Standing:
            return Leaderboard.over(holdout).submit(path, team=self.team, **self.said)

        try:
            self.file.judge(holdout.rows)
        except InvalidArgument as error:
            holdout.boarding.turn_away(self.team, self.said["name"], str(error))
            raise
        return self.file.read_by(submit)


def standings_told(holdout: Holdout, reader: Token) -> dict[str, Any]:
    """The standings as plain values; a viewer does not learn who submitted, nor what failed."""
    facts = Leaderboard.over(holdout).standings().to_dict()
    if reader.role != "viewer":
        return facts
    rows = veil_for(reader, holdout).over(facts["standings"])
    return {**facts, "standings": [row | {"team": "", "also": []} for row in rows], "invalid": []}
