"""The page of a leaderboard: its standings, and a form to submit a file."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Form, Request, UploadFile
from starlette.responses import HTMLResponse, Response

from holdfast.boards.leaderboard import Leaderboard
from holdfast.boards.standings import Standing
from holdfast.errors import HoldfastError, InvalidArgument
from holdfast.holdout.holdout import Holdout
from holdfast.service.access import Serving
from holdfast.service.boards import UploadedFile, standings_told
from holdfast.service.caller import Caller
from holdfast.service.dashboard import Signed, rendered
from holdfast.service.problems import Problem, Rejected, problem_of, rejection
from holdfast.service.service import Service
from holdfast.service.sessions import PageSession, require_own_form
from holdfast.service.shown import board_shown

__all__ = ["board_pages"]

board_pages = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)
_Text = Annotated[str, Form(max_length=1_000)]


@board_pages.get("/data/{dataset}/board")
async def show_standings(dataset: str, service: Serving, session: Signed) -> Response:
    return await _board(dataset, service, session)


@board_pages.post("/data/{dataset}/board")
async def submit_form(
    request: Request,
    dataset: str,
    service: Serving,
    session: Signed,
    file: UploadFile,
    name: _Text = "",
    claim: _Text = "",
    mark: _Text = "",
) -> Response:
    """Submit a file under the name of whoever is signed in."""
    require_own_form(request, session, mark)
    found: dict[str, Any] = {}
    try:
        served = service.served(dataset, session.token)
        if session.token.role == "viewer":
            raise rejection(403, "a viewer looks, and does not submit.")
        said = {"name": name.strip() or None, "claim": _number(claim)}
        sent = UploadedFile(file.filename or "", await file.read(), session.token.name, said)
        caller = Caller(service, session.token, served)
        found["told"] = await caller.submit(sent.submit_to, sent.digest(dataset))
    except (HoldfastError, Rejected) as error:
        found["problem"] = problem_of(error)
    return await _board(dataset, service, session, **found)


async def _board(
    dataset: str,
    service: Service,
    session: PageSession,
    told: Standing | None = None,
    problem: Problem | None = None,
) -> Response:
    def read(holdout: Holdout) -> dict[str, Any]:
        promise = Leaderboard.over(holdout).standings().promise
        return {"promise": promise, **board_shown(standings_told(holdout, session.token))}

    facts = await service.served(dataset, session.token).read(read)
    return rendered(
        "board.html",
        200 if problem is None else problem.status,
        session=session,
        dataset=dataset,
        kind="board",
        facts=facts,
        told=told,
        problem=problem,
    )


def _number(text: str) -> float | None:
    if not text.strip():
        return None
    try:
        return float(text)
    except ValueError:
        raise InvalidArgument(f"claim is {text[:20]!r}; it must be a number.") from None
