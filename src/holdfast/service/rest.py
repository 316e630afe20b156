"""REST: what analysts and programs do with a data set, under /api/v1."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from holdfast.errors import HoldfastError
from holdfast.holdout.answer import Answer
from holdfast.holdout.holdout import Holdout
from holdfast.ledger.entries import Recorded
from holdfast.ledger.view import LedgerView
from holdfast.planner.plan import plan as make_plan
from holdfast.service.access import AsAnyone, Asker, CallKey, Dataset, Serving
from holdfast.service.carried import carried_recorded
from holdfast.service.problems import problem_of
from holdfast.service.replies import JsonReply, problems
from holdfast.service.tokens import Token
from holdfast.service.veil import veil_for
from holdfast.service.wire import (
    AskBody,
    BatchBody,
    CheckBody,
    CostBody,
    GateBody,
    csv_of,
    dataset_told,
    ledger_told,
    told,
)
from holdfast.statistics.asked import question_of

__all__ = ["rest"]

rest = APIRouter(prefix="/api/v1", responses=problems(400, 401, 403, 404, 422, 429, 503))
_ASKS = problems(409, 410, 413)
_Details = Annotated[
    bool, Query(description="With what a client needs to make the same Answer of it.")
]
_MOST_LINES = 1_000


@rest.get("/me", tags=["tokens"])
async def me(service: Serving, token: AsAnyone) -> Any:
    """Who the token says you are, and what is left of its cap."""
    spent = service.tokens.spent(token)
    left = None if token.questions is None else token.questions - spent
    return JsonReply({**token.to_dict(), "spent": spent, "left": left})


@rest.get("/datasets", tags=["data sets"])
async def datasets(service: Serving, token: AsAnyone) -> Any:
    """The data sets that the token is for."""
    found = []
    for name in service.names_for(token):
        try:  # one that is not in order hides no other
            budget = await service.served(name, token).read(lambda holdout: holdout.budget)
            found.append({"name": name, "rows": budget.terms.rows, "remaining": budget.remaining})
        except HoldfastError as error:
            found.append({"name": name, "rows": None, "remaining": problem_of(error).title})
    return JsonReply({"datasets": found})


@rest.get("/datasets/{dataset}", tags=["data sets"])
async def dataset(served: Dataset, token: AsAnyone, details: _Details = False) -> Any:
    """Columns, bounds, design, and what is promised. No row is ever shown."""
    return JsonReply(await served.read(partial(dataset_told, reader=token, details=details)))


@rest.post("/datasets/{dataset}/ask", tags=["asking"], responses=_ASKS)
async def ask(body: AskBody, caller: Asker, key: CallKey = None, details: _Details = False) -> Any:
    """What is it? Text over the table's columns is answered by its description."""
    found = await caller.answer(body.asking(caller.token.name, caller.own(key)))
    return JsonReply(told(found, details=details))


@rest.post("/datasets/{dataset}/check", tags=["asking"], responses=_ASKS)
async def check(
    body: CheckBody, caller: Asker, key: CallKey = None, details: _Details = False
) -> Any:
    """Is it about this? Almost free when confirmed."""
    found = await caller.answer(body.asking(caller.token.name, caller.own(key)))
    return JsonReply(told(found, details=details))


@rest.post("/datasets/{dataset}/gate", tags=["asking"], responses=_ASKS)
async def gate(
    body: GateBody, caller: Asker, key: CallKey = None, details: _Details = False
) -> Any:
    """Is it shown to be better? *Not shown* says nothing, and is nearly free."""
    found = await caller.answer(body.asking(caller.token.name, caller.own(key)))
    return JsonReply(told(found, details=details))


@rest.post("/datasets/{dataset}/batch", tags=["asking"], responses=_ASKS)
async def batch(
    body: BatchBody, caller: Asker, key: CallKey = None, details: _Details = False
) -> Any:
    """Questions, or checks of guesses, chosen together: one scan, one shared leakage."""
    said: dict[str, Any] = {
        "why": body.why,
        "by": caller.token.name,
        "key": caller.own(key),
        "tolerance": body.tolerance,
        "half_width": body.half_width,
    }

    questions: Any = [question_of(each, trusted=False) for each in body.questions]

    def put(holdout: Holdout) -> list[Answer]:
        if body.guesses is None:
            return holdout.ask_many(questions, **said)
        return holdout.check_many(questions, body.guesses, **said)

    found = await caller.answers(put, len(body.questions), said["key"], body)
    return JsonReply(told(found, details=details))


@rest.post("/datasets/{dataset}/cost", tags=["asking"], responses=problems(409, 410))
async def cost(body: CostBody, caller: Asker) -> Any:
    """What a question would cost now, and how wide its answer would be. Free; asks nothing."""
    asking = body.asking(None, None)

    def priced(holdout: Holdout) -> dict[str, Any]:
        found = asking.cost_of(holdout)
        return {**found.to_dict(), "text": str(found)}

    return JsonReply(await caller.served.read(priced))


@rest.get("/datasets/{dataset}/budget", tags=["data sets"])
async def budget(served: Dataset, details: _Details = False) -> Any:
    """What is left, after everything that anybody has asked, and what is promised."""
    found = await served.read(lambda holdout: holdout.budget)
    carried = {"details": {"account": found.account.to_dict()}} if details else {}
    return JsonReply({**found.to_dict(), "text": str(found), **carried})


@rest.get("/datasets/{dataset}/ledger", tags=["data sets"])
async def ledger(
    served: Dataset,
    token: AsAnyone,
    after: Annotated[int, Query(ge=0, le=10**12, description="Lines after this number.")] = 0,
    limit: Annotated[int, Query(ge=1, le=_MOST_LINES, description="Lines at most.")] = 100,
    details: _Details = False,
) -> Any:
    """What was asked and answered, line by line; `next` is the `after` of the next page."""

    def page(holdout: Holdout) -> dict[str, Any]:
        view = holdout.ledger
        lines = [line for line in view.to_dicts() if (line["number"] or 0) > after][: limit + 1]
        more = len(lines) > limit
        shown = ledger_told(lines[:limit], token, holdout)
        carried = _carried(view, shown, token) if details else {}
        return {
            "lines": shown,
            "next": shown[-1]["number"] if more else None,
            "together": view.together,
            **veil_for(token, holdout).over(carried),
        }

    return JsonReply(await served.read(page))


@rest.get("/datasets/{dataset}/ledger.csv", tags=["data sets"], response_class=Response)
async def ledger_csv(served: Dataset, token: AsAnyone) -> Any:
    """The whole ledger as CSV, parts under what they are parts of."""

    def lines(holdout: Holdout) -> list[dict[str, Any]]:
        return ledger_told(holdout.ledger.to_dicts(parts=True), token, holdout)

    return Response(csv_of(await served.read(lines)), media_type="text/csv; charset=utf-8")


@rest.get("/plan", tags=["planning"], responses=problems(409))
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
    made = await run_in_threadpool(
        make_plan,
        rows=rows,
        questions=questions,
        tolerance=tolerance,
        surprises=surprises,
        confidence_level=confidence_level,
    )
    return JsonReply({**made.to_dict(), "text": str(made)})


def _carried(view: LedgerView, shown: list[dict[str, Any]], token: Token) -> dict[str, Any]:
    """The lines of a page and their looks, whole; a viewer does not learn who asked."""
    numbers = {line["number"] for line in shown}
    lines = [line for line in view if line.number in numbers]
    mine = {look for line in lines for look in (line.look, *line.parts)}
    looks = [look for look in view.looks if look.look in mine]

    def carried(recorded: Recorded) -> dict[str, Any]:
        body = carried_recorded(recorded)
        if token.role == "viewer":
            body["request"]["by"] = None
        return body

    return {"details": {"lines": list(map(carried, lines)), "looks": list(map(carried, looks))}}
