"""Pages for people: the same numbers as REST, rendered here; they work without scripts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from fractions import Fraction
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Form, Request, UploadFile
from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response

from holdfast import __version__
from holdfast.boards.leaderboard import Leaderboard
from holdfast.boards.standings import Standing
from holdfast.errors import HoldfastError, InvalidArgument
from holdfast.holdout.charts import answers_chart, plan_chart, svg_of
from holdfast.holdout.holdout import Holdout
from holdfast.ledger.audit import audit as run_audit
from holdfast.ledger.entries import Recorded
from holdfast.ledger.opening import protected_rows
from holdfast.mechanisms.terms import Terms
from holdfast.planner.plan import plan as make_plan
from holdfast.planner.table import Plan
from holdfast.question.columns import Schema
from holdfast.service.access import Caller, Serving, client_of, service_of, veil_for
from holdfast.service.data_set import BODIES, PICTURES, REPORTS, Service, run_in
from holdfast.service.edge import CONTENT_POLICY
from holdfast.service.problems import Problem, Rejected, problem_of, rejection
from holdfast.service.rest import UploadedFile, standings_told
from holdfast.service.sessions import (
    PageSession,
    end_session,
    require_own_form,
    session_of,
    start_session,
)
from holdfast.service.shown import (
    LedgerSearch,
    board_shown,
    fold_tables,
    gate_shown,
    lines_shown,
    overview_shown,
)
from holdfast.service.tokens import ROLES, TokenRole, expiry_of
from holdfast.service.uploads import Upload
from holdfast.service.wire import certificate_file, csv_of, dataset_told, ledger_told

# Pictures on the pages: drawn here as SVG, so that they need neither scripts nor other sites.
#
# They need the extra `charts`; where it is missing, the pages say the same in their tables.


def can_draw() -> bool:
    """Whether what draws is installed."""
    return find_spec("altair") is not None and find_spec("vl_convert") is not None


def svg_reply(chart: Callable[[], Any], *, dark: bool = False) -> Awaitable[Response]:
    """The picture of a chart for a light page or a dark one, made beside the event loop."""
    picture = partial(svg_of, dark=dark)
    return run_in(PICTURES, lambda: Response(picture(chart()), media_type="image/svg+xml"))


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
_STATIC = {
    "holdfast.css": "text/css",
    "htmx.min.js": "text/javascript",
    "planner.js": "text/javascript",
    "workbench.js": "text/javascript",
}
_KEEP = {"Cache-Control": "private, max-age=86400"}  # their addresses name the version
_BLANK: dict[str, Any] = {"session": None, "dataset": None, "kind": "table", "count": None}
# Pages of a data set have scripts of this site, and ask this site alone; all others have none.
SCRIPT_POLICY = f"{CONTENT_POLICY}; script-src 'self'; connect-src 'self'"
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
    variables = {**_BLANK, "version": __version__, **facts}
    page = HTMLResponse(_templates().get_template(template).render(variables), status)
    if variables["dataset"] is not None:
        page.headers["Content-Security-Policy"] = SCRIPT_POLICY
    return page


def problem_page(problem: Problem, session: PageSession | None) -> HTMLResponse:
    """What went wrong, and what to do next."""
    return rendered("problem.html", problem.status, problem=problem, session=session)


@dashboard.get("/static/{name}")
async def static_file(name: str) -> Response:
    if name not in _STATIC:
        raise rejection(404, "there is nothing at this address.")
    return FileResponse(_HERE / "static" / name, media_type=_STATIC[name], headers=_KEEP)


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
    lines = await served.read(lambda holdout: lines_shown(holdout, session.token, 20))
    spent = service.tokens.spent(session.token)
    return rendered(
        "overview.html",
        session=session,
        dataset=dataset,
        facts=facts,
        lines=list(fold_tables(lines)),
        count=facts["answered"],
        kind=facts["kind"],
        spent=spent,
        drawn=can_draw() and not (facts["kind"] == "board" and session.token.role == "viewer"),
    )


@dashboard.get("/data/{dataset}/ledger")
async def ledger_page(
    request: Request,
    dataset: str,
    service: Serving,
    session: Signed,
    page: int = 1,
    words: str = "",
    status: str = "",
    by: str = "",
) -> Response:
    """The ledger from the newest line on: all of it, or what somebody looks for."""
    served = service.served(dataset, session.token)
    search = LedgerSearch(words[:200], status[:40], by[:100])

    def read(holdout: Holdout) -> tuple[list[dict[str, Any]], int, list[str]]:
        first = _LINES * (max(1, min(page, 10**6)) - 1)
        lines = lines_shown(holdout, session.token, _LINES + 1, first=first, search=search)
        askers = {each.request.by for each in holdout.ledger if each.request.by}
        hidden = session.token.role == "viewer"
        return lines, len(holdout.ledger), [] if hidden else sorted(askers)

    lines, count, askers = await served.read(read)
    return rendered(
        "ledger.html",
        session=session,
        dataset=dataset,
        kind=await served.kind(),
        lines=list(fold_tables(lines[:_LINES])),
        count=count,
        page=page,
        older=len(lines) > _LINES,
        search=search,
        askers=askers,
        here_again=str(request.url.query),
    )


@dashboard.get("/data/{dataset}/ledger.csv")
async def ledger_file(
    dataset: str,
    service: Serving,
    session: Signed,
    words: str = "",
    status: str = "",
    by: str = "",
) -> Response:
    """The ledger with its parts, or those lines that somebody looks for."""
    served = service.served(dataset, session.token)
    search = LedgerSearch(words[:200], status[:40], by[:100])

    def lines(holdout: Holdout) -> list[dict[str, Any]]:
        every = ledger_told(holdout.ledger.to_dicts(parts=True), session.token, holdout)
        return [line for line in every if search.fits(line)]

    return Response(csv_of(await served.read(lines)), media_type="text/csv; charset=utf-8")


@dashboard.get("/data/{dataset}/answers.svg")
async def answers_picture(
    dataset: str, service: Serving, session: Signed, dark: bool = False
) -> Response:
    """The newest answers with their intervals."""

    def read(holdout: Holdout) -> tuple[list[Recorded], Terms, Schema]:
        if veil_for(session.token, holdout).hides:
            raise rejection(403, "the picture names those who submitted; the standings do not.")
        return list(holdout.ledger), holdout.opening.terms, holdout.schema

    lines, terms, schema = await service.served(dataset, session.token).read(read)
    return await svg_reply(
        lambda: answers_chart(dataset, lines[-_DRAWN:], terms, schema), dark=dark
    )


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


def _require_custodian(session: PageSession) -> None:
    if session.token.role != "custodian":
        raise rejection(403, "this page is for custodians.")


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

    served = service.served(dataset, session.token)
    facts = await served.read(read)
    return rendered(
        "board.html",
        200 if problem is None else problem.status,
        session=session,
        dataset=dataset,
        kind="board",
        count=await served.read(lambda holdout: len(holdout.ledger)),
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
        count=await served.read(lambda holdout: len(holdout.ledger)),
        facts=await served.read(read),
    )


# The page of the planner: two numbers of three, by fields or sliders, as a table and a picture.


planning = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


@planning.get("/plan")
async def planner(
    session: Signed, rows: str = "20000", questions: str = "500", tolerance: str = ""
) -> Response:
    form = {"rows": rows[:20], "questions": questions[:20], "tolerance": tolerance[:20]}
    plan, problem = None, None
    try:
        plan = await run_in(REPORTS, partial(_plan, **form))
    except HoldfastError as error:
        problem = problem_of(error)
    picture = urlencode(form) if plan is not None and can_draw() else None
    page = rendered(
        "planner.html", session=session, form=form, plan=plan, problem=problem, picture=picture
    )
    page.headers["Content-Security-Policy"] = f"{CONTENT_POLICY}; script-src 'self'"  # this alone
    return page


@planning.get("/plan.svg")
async def picture(
    session: Signed, rows: str = "", questions: str = "", tolerance: str = "", dark: bool = False
) -> Response:
    del session  # anyone who is signed in may plan
    return await svg_reply(lambda: plan_chart(_plan(rows, questions, tolerance)), dark=dark)


def _plan(rows: str, questions: str, tolerance: str) -> Plan:
    typed = {"rows": rows, "questions": questions, "tolerance": tolerance}
    declared: dict[str, Any] = {
        name: typed_number(name, text[:20]) for name, text in typed.items() if text.strip()
    }
    plan: Plan = make_plan(**declared)
    return plan
