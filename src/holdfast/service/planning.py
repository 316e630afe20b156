"""The page of the planner: two numbers of three, by fields or sliders, as a table and a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.responses import FileResponse, HTMLResponse, Response

from holdfast.errors import HoldfastError
from holdfast.holdout.charts import plan_chart
from holdfast.planner.plan import plan as make_plan
from holdfast.planner.table import Plan
from holdfast.service.dashboard import Signed, rendered
from holdfast.service.edge import CONTENT_POLICY
from holdfast.service.pictures import can_draw, svg_reply
from holdfast.service.problems import problem_of
from holdfast.service.typed import typed_number

__all__ = ["planning"]

planning = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)
_SLIDERS = Path(__file__).parent / "static" / "planner.js"


@planning.get("/plan")
async def planner(
    session: Signed, rows: str = "20000", questions: str = "500", tolerance: str = ""
) -> Response:
    form = {"rows": rows[:20], "questions": questions[:20], "tolerance": tolerance[:20]}
    made, problem = None, None
    try:
        made = await run_in_threadpool(_plan, **form)
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
    given: dict[str, Any] = {
        name: typed_number(name, text[:20]) for name, text in typed.items() if text.strip()
    }
    made: Plan = make_plan(**given)
    return made
