"""Pages for people: the same numbers as REST, rendered here; they need no scripts."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Mapping
from fractions import Fraction
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Form, Request, UploadFile
from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response

from holdfast.boards.leaderboard import Leaderboard
from holdfast.boards.standings import Standing
from holdfast.errors import HoldfastError, InvalidArgument
from holdfast.holdout.answer import Answer
from holdfast.holdout.charts import answers_chart, plan_chart, svg_of
from holdfast.holdout.holdout import Holdout
from holdfast.ledger.audit import audit as run_audit
from holdfast.ledger.entries import Recorded
from holdfast.ledger.identity import protected_rows
from holdfast.mechanisms.terms import Terms
from holdfast.planner.plan import plan as make_plan
from holdfast.planner.table import Plan
from holdfast.question.columns import Schema
from holdfast.service.access import Caller, Serving, client_of, service_of, veil_for
from holdfast.service.data_set import BODIES, PICTURES, REPORTS, Asking, Reply, Service, run_in
from holdfast.service.edge import CONTENT_POLICY
from holdfast.service.prices import CostNotAccepted, price_of
from holdfast.service.problems import Problem, Rejected, problem_of, rejection
from holdfast.service.rest import UploadedFile, standings_told
from holdfast.service.sessions import (
    PageSession,
    end_session,
    require_own_form,
    session_of,
    start_session,
)
from holdfast.service.shown import board_shown, gate_shown, group_rows, lines_shown, overview_shown
from holdfast.service.tokens import ROLES, TokenRole, expiry_of
from holdfast.service.uploads import Upload
from holdfast.service.wire import certificate_file, csv_of, dataset_told, ledger_told

__all__ = [
    "Signed",
    "board_pages",
    "can_draw",
    "dashboard",
    "gate_pages",
    "planning",
    "problem_page",
    "rendered",
    "svg_reply",
    "typed_count",
    "typed_number",
    "typed_role",
    "typed_share",
]


# Pictures on the pages: drawn here as SVG, so that they need neither scripts nor other sites.
#
# They need the extra `charts`; where it is missing, the pages say the same in their tables.


def can_draw() -> bool:
    """Whether what draws is installed."""
    return find_spec("altair") is not None and find_spec("vl_convert") is not None


def svg_reply(chart: Callable[[], Any]) -> Awaitable[Response]:
    """The picture of a chart, made beside the event loop."""
    return run_in(PICTURES, lambda: Response(svg_of(chart()), media_type="image/svg+xml"))


# What people type into the fields of forms.


def typed_number(name: str, text: str) -> float | int:
    """A number as people type it into a field."""
    cleaned = text.strip().replace(",", "").replace("_", "")
    for kind in (int, float):
        try:
            return kind(cleaned)
        except ValueError:
            continue
    raise InvalidArgument(f"{name} is {text[:20]!r}; it must be a number.")


def typed_count(name: str, text: str) -> int | None:
    """A whole number; None where nothing is typed."""
    count = typed_number(name, text) if text.strip() else None
    if count is not None and not isinstance(count, int):
        raise InvalidArgument(f"{name} is {text[:20]!r}; it must be a whole number.")
    return count


def typed_share(text: str) -> float | None:
    """A part of a whole, as 0.25 or 1/4; None where nothing is typed."""
    if not text.strip():
        return None
    try:
        return float(Fraction(text.strip()))
    except (ValueError, ZeroDivisionError):
        raise InvalidArgument(f"share is {text[:20]!r}; it must be as 0.25 or 1/4.") from None


def typed_role(text: str) -> TokenRole:
    """A role of a token."""
    for role in ROLES:
        if role == text:
            return role
    raise InvalidArgument(f"role is {text[:20]!r}; it must be one of {', '.join(ROLES)}.")


dashboard = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)
_HERE = Path(__file__).parent
_LINES, _DRAWN = 50, 30
_BLANK: dict[str, Any] = {"session": None, "dataset": None, "kind": "table"}
_Text = Annotated[str, Form(max_length=10_000)]


async def _session(request: Request) -> PageSession:
    return session_of(request, service_of(request))


Signed = Annotated[PageSession, Depends(_session)]


@cache
def _templates() -> Environment:
    return Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=select_autoescape(default=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def rendered(template: str, status: int = 200, **facts: Any) -> HTMLResponse:
    """A page; whatever it is told is escaped."""
    page = _templates().get_template(template).render({**_BLANK, **facts})
    return HTMLResponse(page, status)


def problem_page(problem: Problem, session: PageSession | None) -> HTMLResponse:
    """What went wrong, and what to do next."""
    return rendered("problem.html", problem.status, problem=problem, session=session)


@dashboard.get("/static/holdfast.css")
async def style() -> Response:
    return FileResponse(_HERE / "static" / "holdfast.css", media_type="text/css")


@dashboard.get("/login")
async def login() -> Response:
    return rendered("login.html", problem=None)


@dashboard.post("/login")
async def sign_in(request: Request, service: Serving, token: _Text = "") -> Response:
    require_own_form(request, None, "")
    try:
        verified = service.verified(token.strip(), client_of(request, service))
    except Rejected as rejected:
        problem = rejected.problem
        return rendered("login.html", problem.status, problem=problem)
    reply = RedirectResponse("/", 303)
    start_session(reply, request, service, verified)
    return reply


@dashboard.post("/logout")
async def sign_out(
    request: Request, service: Serving, session: Signed, mark: _Text = ""
) -> Response:
    require_own_form(request, session, mark)
    reply = RedirectResponse("/login", 303)
    end_session(reply, request, service)
    return reply


@dashboard.get("/")
async def home(service: Serving, session: Signed) -> Response:
    names = service.names_for(session.token)
    if len(names) == 1:
        return RedirectResponse(f"/data/{names[0]}", 303)
    datasets: list[dict[str, Any]] = []
    for name in names:  # one that is not in order hides no other
        try:
            datasets.append(await service.served(name, session.token).read(overview_shown))
        except HoldfastError as error:
            datasets.append({"name": name, "problem": problem_of(error)})
    return rendered("datasets.html", session=session, found=datasets)


@dashboard.get("/data/{dataset}")
async def overview(dataset: str, service: Serving, session: Signed) -> Response:
    served = service.served(dataset, session.token)
    facts = await served.read(overview_shown)
    lines = await served.read(lambda holdout: lines_shown(holdout, session.token, 5))
    spent = service.tokens.spent(session.token)
    return rendered(
        "overview.html",
        session=session,
        dataset=dataset,
        facts=facts,
        lines=lines,
        kind=facts["kind"],
        spent=spent,
        drawn=can_draw() and not (facts["kind"] == "board" and session.token.role == "viewer"),
    )


@dashboard.get("/data/{dataset}/ask")
async def workbench(
    dataset: str, service: Serving, session: Signed, question: str = ""
) -> Response:
    return await _workbench(dataset, service, session, {"question": question[:10_000]})


@dashboard.post("/data/{dataset}/ask")
async def put(
    request: Request,
    dataset: str,
    service: Serving,
    session: Signed,
    question: _Text = "",
    verb: _Text = "ask",
    number: _Text = "",
    by: _Text = "",
    half_width: _Text = "",
    why: _Text = "",
    key: _Text = "",
    do: _Text = "preview",
    accept_cost: _Text = "",
    mark: _Text = "",
) -> Response:
    """Preview what a question costs, or ask it; a form that is sent again is told the same."""
    require_own_form(request, session, mark)
    form = {"question": question, "verb": verb, "number": number, "by": by, "why": why}
    form |= {"half_width": half_width, "key": key}
    facts: dict[str, Any] = {}
    try:
        served = service.served(dataset, session.token)
        if session.token.role == "viewer":
            raise rejection(403, "a viewer looks, and does not ask.")
        caller = Caller(service, session.token, served)
        asking = _asking(form, session, caller.own(key or None))
        if do == "ask":
            accepted = typed_count("accept_cost", accept_cost)
            facts["reply"] = _shown(await caller.answer(asking, accepted))
            form["key"] = ""
        else:
            facts["cost"] = await served.read(asking.cost_of)
            facts["price"] = (await served.read(partial(price_of, [asking]))).questions
    except (HoldfastError, Rejected) as error:
        facts["problem"] = problem_of(error)
        if isinstance(error, CostNotAccepted):
            facts["price"] = error.questions
    return await _workbench(dataset, service, session, form, **facts)


@dashboard.get("/data/{dataset}/ledger")
async def ledger_page(dataset: str, service: Serving, session: Signed, page: int = 1) -> Response:
    served = service.served(dataset, session.token)

    def read(holdout: Holdout) -> tuple[list[dict[str, Any]], int]:
        first = _LINES * (max(1, min(page, 10**6)) - 1)
        return lines_shown(holdout, session.token, _LINES, first=first), len(holdout.ledger)

    lines, count = await served.read(read)
    return rendered(
        "ledger.html",
        session=session,
        dataset=dataset,
        kind=await served.kind(),
        lines=lines,
        count=count,
        page=page,
        pages=max(1, -(-count // _LINES)),
    )


@dashboard.get("/data/{dataset}/ledger.csv")
async def ledger_file(dataset: str, service: Serving, session: Signed) -> Response:
    served = service.served(dataset, session.token)

    def lines(holdout: Holdout) -> list[dict[str, Any]]:
        return ledger_told(holdout.ledger.to_dicts(parts=True), session.token, holdout)

    return Response(csv_of(await served.read(lines)), media_type="text/csv; charset=utf-8")


@dashboard.get("/data/{dataset}/answers.svg")
async def answers_picture(dataset: str, service: Serving, session: Signed) -> Response:
    """The newest answers with their intervals."""

    def read(holdout: Holdout) -> tuple[list[Recorded], Terms, Schema]:
        if veil_for(session.token, holdout).hides:
            raise rejection(403, "the picture names those who submitted; the standings do not.")
        return list(holdout.ledger), holdout.opening.terms, holdout.schema

    lines, *declared = await service.served(dataset, session.token).read(read)
    return await svg_reply(lambda: answers_chart(dataset, lines[-_DRAWN:], *declared))


@dashboard.get("/data/{dataset}/promise")
async def promise(dataset: str, service: Serving, session: Signed) -> Response:
    served = service.served(dataset, session.token)
    facts = await served.read(partial(dataset_told, reader=session.token))
    kind = await served.kind()
    return rendered("promise.html", session=session, dataset=dataset, kind=kind, facts=facts)


@dashboard.get("/data/{dataset}/audit")
async def audit_page(
    dataset: str, service: Serving, session: Signed, run: bool = False
) -> Response:
    _require_custodian(session)
    served = service.served(dataset, session.token)
    findings = None
    if run:
        home = service.folder.home(dataset)
        source, opening = await served.read(lambda holdout: (holdout.source, holdout.opening))
        sample = None if source is None else lambda: protected_rows(opening, source)
        findings = await run_in(REPORTS, lambda: run_audit(home, sample))
    kind = await served.kind()
    return rendered("audit.html", session=session, dataset=dataset, kind=kind, findings=findings)


@dashboard.get("/data/{dataset}/certificate.{form}")
async def certificate_page(
    dataset: str, form: Literal["html", "json"], service: Serving, session: Signed
) -> Response:
    _require_custodian(session)
    served = service.served(dataset, session.token)
    return await certificate_file(served, service.key, form)


@dashboard.get("/tokens")
async def tokens_page(service: Serving, session: Signed) -> Response:
    return _tokens(service, session)


@dashboard.post("/tokens")
async def make_token(
    request: Request,
    service: Serving,
    session: Signed,
    name: _Text = "",
    role: _Text = "analyst",
    dataset: _Text = "",
    questions: _Text = "",
    share: _Text = "",
    expires: _Text = "",
    mark: _Text = "",
) -> Response:
    require_own_form(request, session, mark)
    _require_custodian(session)
    try:
        wanted = dataset or session.token.dataset
        service.require_scope(session.token, wanted)
        granted = service.tokens.create(
            name,
            typed_role(role),
            dataset=wanted,
            questions=typed_count("questions", questions),
            share=typed_share(share),
            expires=expiry_of(expires or None),
        )
    except (HoldfastError, Rejected) as error:
        return _tokens(service, session, problem=problem_of(error))
    return _tokens(service, session, made=granted)


@dashboard.post("/tokens/{which}/revoke")
async def revoke(
    request: Request, which: str, service: Serving, session: Signed, mark: _Text = ""
) -> Response:
    require_own_form(request, session, mark)
    _require_custodian(session)
    for each in service.tokens.all():
        if which == each.id:
            service.require_scope(session.token, each.dataset)
            service.tokens.revoke(which)
    return RedirectResponse("/tokens", 303)


async def _workbench(
    dataset: str, service: Service, session: PageSession, form: dict[str, str], **outcome: Any
) -> Response:
    served = service.served(dataset, session.token)
    facts = await served.read(partial(dataset_told, reader=session.token))
    blank = dict.fromkeys(("question", "verb", "number", "by", "half_width", "why", "key"), "")
    fields = {**blank, **form, "key": form.get("key") or secrets.token_hex(16)}
    problem: Problem | None = outcome.get("problem")
    return rendered(
        "workbench.html",
        200 if problem is None else problem.status,
        session=session,
        dataset=dataset,
        kind=await served.kind(),
        facts=facts,
        form=fields,
        **{"reply": None, "cost": None, "price": 1, "problem": None, **outcome},
    )


def _tokens(service: Service, session: PageSession, **facts: Any) -> Response:
    _require_custodian(session)
    scope = session.token.dataset
    tokens = [each for each in service.tokens.all() if scope in (None, each.dataset)]
    listed = [(each, service.tokens.spent(each)) for each in tokens]
    names = service.names_for(session.token)
    problem: Problem | None = facts.get("problem")
    return rendered(
        "tokens.html",
        200 if problem is None else problem.status,
        session=session,
        tokens=listed,
        names=names,
        **{"made": None, "problem": None, **facts},
    )


def _asking(form: Mapping[str, str], session: PageSession, key: str | None) -> Asking:
    """What a form asks; empty fields say nothing."""
    verb = form["verb"].removeprefix("gate ")
    claim = {"check": "guess", "at most": "at_most", "at least": "at_least"}.get(verb)
    if claim is not None and not form["number"].strip():
        raise InvalidArgument("a claim needs a number: what you think it is.")
    number = typed_number("number", form["number"]) if claim is not None else None
    width = form["half_width"].strip()
    return Asking(
        question=form["question"],
        by=tuple(each.strip() for each in form["by"].split(",") if each.strip()),
        half_width=typed_number("half_width", width) if width else None,
        why=form["why"].strip()[:1_000] or None,
        asked_by=session.token.name,
        request_key=key,
        verb="ask" if claim is None else "gate" if form["verb"].startswith("gate ") else "check",
        **({} if claim is None else {claim: number}),  # type: ignore[arg-type]
    )


def _require_custodian(session: PageSession) -> None:
    if session.token.role != "custodian":
        raise rejection(403, "this page is for custodians.")


def _shown(reply: Reply) -> dict[str, Any]:
    """A reply as a page shows it: one answer in words, or a table of them."""
    question = reply.name if isinstance(reply, Answer) else reply.question
    return {"text": str(reply), "question": question, "rows": group_rows(reply)}


# The page of a leaderboard: its standings, and a form to submit a file.


board_pages = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)
_FormText = Annotated[str, Form(max_length=1_000)]


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
    name: _FormText = "",
    claim: _FormText = "",
    mark: _FormText = "",
) -> Response:
    """Submit a file under the name of whoever is signed in."""
    require_own_form(request, session, mark)
    facts: dict[str, Any] = {}
    try:
        served = service.served(dataset, session.token)
        if session.token.role == "viewer":
            raise rejection(403, "a viewer looks, and does not submit.")
        options = {"name": name.strip() or None, "claim": _number(claim)}
        largest = service.settings.largest_column
        upload = Upload(file.filename or "", await file.read(), largest)
        sent = UploadedFile(upload, session.token.name, options)
        caller = Caller(service, session.token, served)
        digest = await run_in(BODIES, lambda: sent.digest(dataset))
        facts["standing"] = await caller.submit(sent.submit_to, digest)
    except (HoldfastError, Rejected) as error:
        facts["problem"] = problem_of(error)
    return await _board(dataset, service, session, **facts)


async def _board(
    dataset: str,
    service: Service,
    session: PageSession,
    standing: Standing | None = None,
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
        told=standing,
        problem=problem,
    )


def _number(text: str) -> float | None:
    if not text.strip():
        return None
    try:
        return float(text)
    except ValueError:
        raise InvalidArgument(f"claim is {text[:20]!r}; it must be a number.") from None


# The page of a gate: who is the one to beat, what was compared, and a form to compare.


gate_pages = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


@gate_pages.get("/data/{dataset}/gate")
async def show_gate(dataset: str, service: Serving, session: Signed) -> Response:
    served = service.served(dataset, session.token)

    def read(holdout: Holdout) -> dict[str, Any]:
        return gate_shown(holdout, session.token)

    return rendered(
        "gate.html",
        session=session,
        dataset=dataset,
        kind=await served.kind(),
        facts=await served.read(read),
    )


# The page of the planner: two numbers of three, by fields or sliders, as a table and a picture.


planning = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)
_SLIDERS = Path(__file__).parent / "static" / "planner.js"


@planning.get("/plan")
async def planner(
    session: Signed, rows: str = "20000", questions: str = "500", tolerance: str = ""
) -> Response:
    form = {"rows": rows[:20], "questions": questions[:20], "tolerance": tolerance[:20]}
    made, problem = None, None
    try:
        made = await run_in(REPORTS, partial(_plan, **form))
    except HoldfastError as error:
        problem = problem_of(error)
    picture = urlencode(form) if made is not None and can_draw() else None
    page = rendered(
        "planner.html", session=session, form=form, plan=made, problem=problem, picture=picture
    )
    page.headers["Content-Security-Policy"] = f"{CONTENT_POLICY}; script-src 'self'"  # this alone
    return page


@planning.get("/plan.svg")
async def picture(
    session: Signed, rows: str = "", questions: str = "", tolerance: str = ""
) -> Response:
    del session  # anyone who is signed in may plan
    return await svg_reply(lambda: plan_chart(_plan(rows, questions, tolerance)))


@planning.get("/static/planner.js")
async def sliders() -> Response:
    return FileResponse(_SLIDERS, media_type="text/javascript")


def _plan(rows: str, questions: str, tolerance: str) -> Plan:
    typed = {"rows": rows, "questions": questions, "tolerance": tolerance}
    declared: dict[str, Any] = {
        name: typed_number(name, text[:20]) for name, text in typed.items() if text.strip()
    }
    plan: Plan = make_plan(**declared)
    return plan
