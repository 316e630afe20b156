"""The workbench: questions built by clicks or typed, priced meanwhile, and their answers drawn.

Every reply is a whole page, so that it works without scripts; with them, htmx puts the parts that
changed into the page that is open. What is shown while somebody types is public: no row is touched
before a question is asked.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Form, Query, Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from holdfast.errors import HoldfastError, InvalidArgument, InvalidQuestion
from holdfast.holdout.answer import Answer
from holdfast.holdout.charts import answers_chart
from holdfast.holdout.holdout import Holdout
from holdfast.ledger.entries import Recorded
from holdfast.question.parse import read_call
from holdfast.service.access import Caller, Serving, veil_for
from holdfast.service.builder import Builder, PublicColumn
from holdfast.service.dashboard import (
    Signed,
    can_draw,
    rendered,
    svg_reply,
    typed_count,
    typed_number,
)
from holdfast.service.data_set import Asking, Reply, Service
from holdfast.service.prices import CostNotAccepted, price_of
from holdfast.service.problems import Problem, Rejected, problem_of, rejection
from holdfast.service.sessions import PageSession, require_own_form
from holdfast.service.shown import (
    SHOWN,
    comparison_shown,
    decision_of,
    fold_tables,
    groups_drawn,
    line_of,
    lines_shown,
    picture_of,
    threshold_shown,
)
from holdfast.service.wire import csv_of, dataset_told
from holdfast.statistics.averages import MEANS
from holdfast.wording import status_text

bench_pages = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)
_Text = Annotated[str, Form(max_length=10_000)]
_FIELDS = ("question", "verb", "number", "half_width", "why", "key")
_NEWEST, _LISTED = 6, 200


@bench_pages.get("/data/{dataset}/ask")
async def workbench(
    dataset: str, service: Serving, session: Signed, question: str = ""
) -> Response:
    form = {"question": question[:10_000]}
    facts = await _priced(dataset, service, session, form) if question else {}
    return await _workbench(dataset, service, session, form, **facts)


@bench_pages.post("/data/{dataset}/ask")
async def put(
    request: Request,
    dataset: str,
    service: Serving,
    session: Signed,
    question: _Text = "",
    verb: _Text = "ask",
    number: _Text = "",
    half_width: _Text = "",
    why: _Text = "",
    key: _Text = "",
    do: _Text = "draft",
    pick: _Text = "",
    caret: _Text = "",
    built: _Text = "",
    accept_cost: _Text = "",
    mark: _Text = "",
) -> Response:
    """Change a question by a click, price it, or ask it; a form sent again is told the same.

    `built` is the text that the fields of the builder were made from: where somebody typed another
    one, these fields are not read.
    """
    require_own_form(request, session, mark)
    form = {"question": question, "verb": verb, "number": number, "why": why}
    form |= {"half_width": half_width, "key": key}
    facts: dict[str, Any] = {}
    try:
        served = service.served(dataset, session.token)
        if session.token.role == "viewer":
            raise rejection(403, "a viewer looks, and does not ask.")
        builder = await served.read(partial(_builder, session))
        if question == built:
            fields = {name: str(value) for name, value in (await request.form()).items()}
            form["question"] = builder.with_fields(question, fields)
        place = int(caret[:6]) if caret.isdecimal() else None
        form["question"] = builder.after_click(form["question"], pick, place)
        if pick or do != "ask":
            draft = do == "draft" or bool(pick)
            facts = await _priced(dataset, service, session, form, draft=draft)
            facts["completions"] = [] if pick else builder.completions(question, place)
        else:
            caller = Caller(service, session.token, served)
            asking = _asking(form, session, caller.own(key or None))
            reply = await caller.answer(asking, typed_count("accept_cost", accept_cost))
            facts["reply"] = _reply_facts(reply)
            form["key"] = ""
    except (HoldfastError, Rejected) as error:
        facts["problem"] = problem_of(error)
        if isinstance(error, CostNotAccepted):
            facts["price"] = error.questions
    return await _workbench(dataset, service, session, form, **facts)


async def _priced(
    dataset: str,
    service: Service,
    session: PageSession,
    form: Mapping[str, str],
    *,
    draft: bool = True,
) -> dict[str, Any]:
    """What a question costs; of a draft that cannot be asked yet, what is wrong with it."""
    served = service.served(dataset, session.token)
    if draft and not form["question"].strip():
        return {}
    try:
        asking = _asking(form, session, None)
        cost = await served.read(asking.cost_of)
        price = (await served.read(partial(price_of, [asking]))).questions
    except (HoldfastError, Rejected) as error:
        if not draft:
            raise
        return {"hint": problem_of(error)}
    return {"cost": cost, "price": price}


async def _workbench(
    dataset: str, service: Service, session: PageSession, form: dict[str, str], **outcome: Any
) -> Response:
    served = service.served(dataset, session.token)
    facts = await served.read(partial(dataset_told, reader=session.token))
    builder = Builder(PublicColumn.all_of(facts), facts["rows"])
    lines = await served.read(lambda holdout: lines_shown(holdout, session.token, 3 * _NEWEST))
    count = await served.read(lambda holdout: len(holdout.ledger))
    fields = {**dict.fromkeys(_FIELDS, ""), **form, "key": form.get("key") or secrets.token_hex(16)}
    problem, reply = outcome.get("problem"), outcome.get("reply")
    own = set() if reply is None else reply["numbers"]  # they are shown above the others
    lines = [line for line in lines if line["number"] not in own]
    blank = {"reply": None, "cost": None, "hint": None, "price": 1, "problem": None}
    return rendered(
        "workbench.html",
        problem.status if isinstance(problem, Problem) else 200,
        session=session,
        dataset=dataset,
        kind=await served.kind(),
        facts=facts,
        form=fields,
        builder=builder.controls(fields["question"]),
        examples=builder.examples,
        lines=list(fold_tables(lines))[:_NEWEST],
        count=count,
        **{**blank, "completions": [], **outcome},
    )


def _builder(session: PageSession, holdout: Holdout) -> Builder:
    facts = dataset_told(holdout, session.token)
    return Builder(PublicColumn.all_of(facts), facts["rows"])


def _asking(form: Mapping[str, str], session: PageSession, key: str | None) -> Asking:
    """What a form asks; empty fields say nothing."""
    chosen = form.get("verb", "")
    verb, number = chosen.removeprefix("gate "), form.get("number", "")
    claim = {"check": "guess", "at most": "at_most", "at least": "at_least"}.get(verb)
    if claim is not None and not number.strip():
        raise InvalidArgument("a claim needs a number: what you think it is.")
    width = form.get("half_width", "").strip()
    return Asking(
        question=form["question"],
        half_width=typed_number("half_width", width) if width else None,
        why=form.get("why", "").strip()[:1_000] or None,
        asked_by=session.token.name,
        request_key=key,
        verb="ask" if claim is None else "gate" if chosen.startswith("gate ") else "check",
        **({} if claim is None else {claim: typed_number("number", number)}),  # type: ignore[arg-type]
    )


def _reply_facts(reply: Reply) -> dict[str, Any]:
    """A reply as a page shows it: one answer, or a table of them over one axis."""
    if not isinstance(reply, Answer):
        together = reply.answers[0][1].left.together
        return {
            "text": str(reply),
            "question": reply.question,
            "groups": groups_drawn(reply),
            "together": together,
            "details": reply.details,
            "numbers": {answer.recorded.number for _, answer in reply},
        }
    line = reply.recorded
    return {
        "text": str(reply),
        "question": reply.name,
        "groups": None,
        "number": line.number,
        "numbers": {line.number},
        "shown": line.shown if line.value is not None else status_text(reply.status),
        "interval": line.interval_text if line.value is not None and line.side is None else "",
        "decides": decision_of(line),
        "picture": picture_of(line),
        "details": reply.details,
    }


# An answer by itself: its address is what is sent to others.


@bench_pages.get("/data/{dataset}/answers/{number}.{form}")
async def answer_file(
    dataset: str,
    number: int,
    form: Literal["csv", "json", "svg"],
    service: Serving,
    session: Signed,
) -> Response:
    """An answer as a file to keep."""
    served = service.served(dataset, session.token)
    line, facts = await served.read(partial(_line_of_number, session, number))
    named = {"Content-Disposition": f'attachment; filename="{dataset}-{number}.{form}"'}
    plain = {name: value for name, value in facts.items() if name not in SHOWN}
    if form == "json":
        return JSONResponse(plain, headers=named)
    if form == "csv":
        return Response(csv_of([plain]), media_type="text/csv; charset=utf-8", headers=named)
    if await _is_veiled(dataset, service, session):
        raise rejection(403, "the picture names those who submitted; the standings do not.")
    declared = await served.read(lambda holdout: (holdout.opening.terms, holdout.schema))
    picture = await svg_reply(lambda: answers_chart(dataset, [line], *declared))
    picture.headers.update(named)
    return picture


@bench_pages.get("/data/{dataset}/answers/{number}")
async def answer_page(
    dataset: str, number: int, service: Serving, session: Signed, than: str = ""
) -> Response:
    """An answer, drawn; with `than`, which side of a number it is on."""
    served = service.served(dataset, session.token)
    line, facts = await served.read(partial(_line_of_number, session, number))
    threshold, decision = None, None
    if than.strip():
        threshold = float(typed_number("than", than))
        decision = threshold_shown(line, threshold)
    picture = picture_of(line) if threshold is None else picture_of(line, threshold)
    others = await served.read(lambda holdout: lines_shown(holdout, session.token, _LISTED))
    return rendered(
        "answer.html",
        session=session,
        dataset=dataset,
        kind=await served.kind(),
        line={**facts, "picture": picture},
        than=than,
        decision=decision,
        others=[each for each in others if each["number"] not in (None, number)],
        drawn=can_draw() and not await _is_veiled(dataset, service, session),
    )


@bench_pages.get("/data/{dataset}/compare")
async def compare_page(
    dataset: str,
    service: Serving,
    session: Signed,
    line: Annotated[list[int], Query(default_factory=list)],
) -> Response:
    """Two answers over one axis, and what both say of their difference."""
    served = service.served(dataset, session.token)
    lines = await served.read(lambda holdout: lines_shown(holdout, session.token, _LISTED))
    numbers = (*line[:2], None, None)
    pair = [await served.read(partial(_line_of_number, session, number)) for number in line[:2]]
    both = [facts for _, facts in pair]
    comparison = comparison_shown(pair[0][0], pair[1][0]) if len(pair) == 2 else None
    return rendered(
        "compare.html",
        session=session,
        dataset=dataset,
        kind=await served.kind(),
        numbers=numbers,
        lines=[each for each in lines if each["number"] is not None],
        pair=both,
        comparison=comparison,
        difference=_difference_of(both) if comparison and comparison["between"] else None,
    )


def _difference_of(pair: list[dict[str, Any]]) -> str | None:
    """The question that asks for the difference of two means itself."""
    try:
        calls = [read_call(each["name"]) for each in pair]
    except InvalidQuestion:
        return None
    if any(call.name not in MEANS or call.by for call in calls):
        return None
    return f"difference({pair[0]['name']}, {pair[1]['name']})"


def _line_of_number(
    session: PageSession, number: int, holdout: Holdout
) -> tuple[Recorded, dict[str, Any]]:
    """A line of the ledger; refused where there is none of this number."""
    line = line_of(holdout, session.token, number)
    if line is None:
        raise rejection(404, f"there is no answer {number:,} in this ledger.")
    return line


async def _is_veiled(dataset: str, service: Service, session: PageSession) -> bool:
    """Whether names are hidden from whoever is signed in."""
    served = service.served(dataset, session.token)
    return await served.read(lambda holdout: veil_for(session.token, holdout).hides)


# News: pages ask now and then whether there is any, and fetch their parts again if so.


@bench_pages.get("/data/{dataset}/news")
async def news(dataset: str, service: Serving, session: Signed, seen: int = 0) -> Response:
    """Whether more was answered than somebody has seen."""
    served = service.served(dataset, session.token)
    count = await served.read(lambda holdout: len(holdout.ledger))
    if count == seen:
        return Response(status_code=204)
    page = rendered("news_part.html", dataset=dataset, count=count)
    page.headers["HX-Trigger"] = "news"
    return page
