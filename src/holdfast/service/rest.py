"""REST: what analysts and programs do with a data set, under /api/v1."""

from __future__ import annotations

import csv
import io
import secrets
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Query
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from holdfast.errors import BudgetExhausted, Shortfall
from holdfast.holdout.answer import Answer
from holdfast.holdout.holdout import Holdout
from holdfast.planner.plan import plan as make_plan
from holdfast.service.access import AsAnalyst, AsAnyone, CallKey, Dataset, Serving
from holdfast.service.pacing import OnTheStep
from holdfast.service.replies import JsonReply, problems
from holdfast.service.served import Asking, Reply, Served
from holdfast.service.service import Service
from holdfast.service.tokens import Token
from holdfast.service.wire import (
    AskBody,
    BatchBody,
    CheckBody,
    CostBody,
    dataset_told,
    ledger_told,
    told,
)
from holdfast.wording import plural

__all__ = ["rest"]

rest = APIRouter(prefix="/api/v1", responses=problems(400, 401, 403, 404, 422, 429, 503))
_ASKS = problems(409, 410, 413)
_T = TypeVar("_T")
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
        budget = await service.served(name, token).read(lambda holdout: holdout.budget)
        found.append({"name": name, "rows": budget.terms.rows, "remaining": budget.remaining})
    return JsonReply({"datasets": found})


@rest.get("/datasets/{dataset}", tags=["data sets"])
async def dataset(served: Dataset) -> Any:
    """Columns, bounds, design, and what is promised. No row is ever shown."""
    return JsonReply(await served.read(dataset_told))


@rest.post("/datasets/{dataset}/ask", tags=["asking"], responses=_ASKS)
async def ask(
    body: AskBody, service: Serving, token: AsAnalyst, served: Dataset, key: CallKey = None
) -> Any:
    """What is it? Text over the table's columns is answered by its description."""
    return await _answered(service, token, served, body.asking(token.name, _own(token, key)))


@rest.post("/datasets/{dataset}/check", tags=["asking"], responses=_ASKS)
async def check(
    body: CheckBody, service: Serving, token: AsAnalyst, served: Dataset, key: CallKey = None
) -> Any:
    """Is it about this? Almost free when confirmed."""
    return await _answered(service, token, served, body.asking(token.name, _own(token, key)))


@rest.post("/datasets/{dataset}/batch", tags=["asking"], responses=_ASKS)
async def batch(
    body: BatchBody, service: Serving, token: AsAnalyst, served: Dataset, key: CallKey = None
) -> Any:
    """Questions, or checks of guesses, chosen together: one scan, one shared leakage."""
    own = _own(token, key)

    def put(holdout: Holdout) -> list[Answer]:
        said: dict[str, Any] = {
            "why": body.why,
            "by": token.name,
            "key": own,
            "tolerance": body.tolerance,
            "half_width": body.half_width,
        }
        if body.guesses is None:
            return holdout.ask_many(body.questions, **said)
        return holdout.check_many(body.questions, body.guesses, **said)

    async def work() -> list[Answer]:
        return await served.ask(put)

    async def known() -> list[Answer] | None:
        return await served.known(put)

    many = len(body.questions)
    return JsonReply(told(await _capped(service, token, own, many, work, known)))


@rest.post("/datasets/{dataset}/cost", tags=["asking"], responses=problems(409, 410))
async def cost(body: CostBody, token: AsAnalyst, served: Dataset) -> Any:
    """What a question would cost now, and how wide its answer would be. Free; asks nothing."""
    asking = body.asking(token.name, None)

    def priced(holdout: Holdout) -> dict[str, Any]:
        found = holdout.cost(asking.read, **asking.claim, **asking.width)  # type: ignore[arg-type]
        return {**found.to_dict(), "text": str(found)}

    return JsonReply(await served.read(priced))


@rest.get("/datasets/{dataset}/budget", tags=["data sets"])
async def budget(served: Dataset) -> Any:
    """What is left, after everything that anybody has asked, and what is promised."""
    return JsonReply(await served.read(lambda holdout: holdout.budget.to_dict()))


@rest.get("/datasets/{dataset}/ledger", tags=["data sets"])
async def ledger(
    served: Dataset,
    token: AsAnyone,
    after: Annotated[int, Query(ge=0, le=10**12, description="Lines after this number.")] = 0,
    limit: Annotated[int, Query(ge=1, le=_MOST_LINES)] = 100,
) -> Any:
    """What was asked and answered, line by line; `next` is the `after` of the next page."""

    def page(holdout: Holdout) -> dict[str, Any]:
        view = holdout.ledger
        lines = [line for line in view.to_dicts() if (line["number"] or 0) > after][: limit + 1]
        more = len(lines) > limit
        shown = ledger_told(lines[:limit], token)
        return {
            "lines": shown,
            "next": shown[-1]["number"] if more else None,
            "together": view.together,
        }

    return JsonReply(await served.read(page))


@rest.get("/datasets/{dataset}/ledger.csv", tags=["data sets"], response_class=Response)
async def ledger_csv(served: Dataset, token: AsAnyone) -> Any:
    """The whole ledger as CSV, parts under what they are parts of."""

    def written(holdout: Holdout) -> str:
        lines = ledger_told(holdout.ledger.to_dicts(parts=True), token)
        text = io.StringIO()
        if lines:
            rows = csv.DictWriter(text, list(lines[0]), lineterminator="\n")
            rows.writeheader()
            rows.writerows({name: _cell(line[name]) for name in line} for line in lines)
        return text.getvalue()

    return Response(await served.read(written), media_type="text/csv; charset=utf-8")


@rest.get("/plan", tags=["planning"], responses=problems(409))
async def plan(
    token: AsAnyone,
    rows: Annotated[int | None, Query(ge=2, le=10**12)] = None,
    questions: Annotated[int | None, Query(ge=1, le=10**9)] = None,
    tolerance: Annotated[float | None, Query(gt=0, lt=0.5)] = None,
    surprises: Annotated[int | None, Query(ge=0, le=10**9)] = None,
    confidence_level: Annotated[float, Query(ge=0.5, lt=1)] = 0.95,
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


def _own(token: Token, key: str | None) -> str | None:
    """A key is its owner's: nobody is told an answer by the key of another."""
    return None if key is None else f"{token.id} {key}"


def _cell(value: Any) -> Any:
    """A text that a spreadsheet would run as a formula is quoted."""
    return f"'{value}" if isinstance(value, str) and value[:1] in "=+-@\t\r" else value


async def _answered(service: Service, token: Token, served: Served, asking: Asking) -> JsonReply:
    async def work() -> Reply:
        return await served.answer(asking)

    async def known() -> Reply | None:
        return await served.known(asking.put_to)

    return JsonReply(told(await _capped(service, token, asking.key, 1, work, known)))


async def _capped(
    service: Service,
    token: Token,
    key: str | None,
    questions: int,
    work: Callable[[], Awaitable[_T]],
    known: Callable[[], Awaitable[_T | None]],
) -> _T:
    """Do the work if the token's cap covers it, else only what is known; released on the step."""
    tokens, call = service.tokens, key or secrets.token_hex(16)
    async with OnTheStep(service.settings.release_step):
        if not await run_in_threadpool(tokens.charge, token, call, questions):
            found = await known()
            if found is None:
                raise _over_the_cap(token, tokens.spent(token), questions)
            return found
        try:
            found = await work()
        except Exception:
            await run_in_threadpool(tokens.settle, token, call, 0)
            raise
        await run_in_threadpool(tokens.settle, token, call, _new(found))
        return found


def _new(found: object) -> int:
    """How many questions were answered anew; a table of groups is one."""
    match found:
        case Answer():
            return 0 if found.repeated else 1
        case list():
            return sum(map(_new, found))
        case _:
            return 1


def _over_the_cap(token: Token, spent: int, questions: int) -> BudgetExhausted:
    left = (token.questions or 0) - spent
    return BudgetExhausted(
        f"requested {plural(questions, 'question')}; remaining {left:,} of the {token.questions:,} "
        f"of this token; missing {questions - left:,}. Repeating an earlier question is free; ask "
        "the custodian for more.",
        Shortfall("questions", questions, left),
    )
