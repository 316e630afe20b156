"""The server: eight tools and two resources, over stdio or mounted in a service.

A tool runs in a thread of its own, and every call asks anew who calls. What goes wrong is a tool
error with the members of a problem (`service.problems`): of a refusal requested, remaining, missing
and what to do next. Of anything unforeseen nothing is told.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Annotated, Any, TypeAlias
from urllib.parse import quote

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from mcp.server.mcpserver.tools import Tool
from mcp.server.transport_security import TransportSecuritySettings
from mcp.types import CallToolResult, TextContent, ToolAnnotations
from pydantic import BaseModel, Field
from starlette.applications import Starlette

from holdfast import __version__
from holdfast.agents.calling import Caller, Callers
from holdfast.agents.results import (
    AnswersTold,
    BudgetTold,
    CostTold,
    DescriptionTold,
    HistoryTold,
    PlanTold,
    described_to,
    history_told,
    told,
)
from holdfast.errors import HoldfastError
from holdfast.planner.plan import plan as make_plan
from holdfast.service.problems import problem_of
from holdfast.statistics.asked import question_of

__all__ = ["http_app", "server_of"]

_LOG = logging.getLogger(__name__)
_INSTRUCTIONS = """\
You ask a protected table. You never see its rows: every answer is a value with an interval, and
all intervals ever given stay true together, although you choose each question after seeing
earlier answers.

1. `describe` first: columns, types, bounds, how questions are written. `budget`: what is left.
2. Predict first. Work the number out from training data or from what you know, then `check` it: a
   guess that is confirmed costs almost nothing.
3. `ask` where you have no guess. A question that is text over the table's own columns is
   described: any number of them is answered, and the shorter the text the narrower the interval.
4. `cost` and `plan` are free and touch no data; use them before you spend.
5. A repeated question is free and gives the same answer. Report the interval, not the value alone.
6. A refusal computed nothing and cost nothing. Never retry it unchanged: do one of its next steps.
"""

_Question = Annotated[
    str,
    Field(
        description="A statistic over columns: avg(arr_delay > 15), median(x), difference(a, b)."
    ),
]
_Where = Annotated[str | None, Field(description="Only among rows where this holds.")]
_By = Annotated[list[str] | None, Field(description="For each value of one or two columns.")]
_Bounds = Annotated[
    tuple[float, float] | None, Field(description="The range of the value, which is cut to it.")
]
_HalfWidth = Annotated[float | None, Field(description="A half-width, in the answer's own unit.")]
_Guess = Annotated[float | None, Field(description="What you think it is, in its own unit.")]
_AtLeast = Annotated[float | None, Field(description="The claim that it is at least this.")]
_AtMost = Annotated[float | None, Field(description="The claim that it is at most this.")]
_Why = Annotated[str | None, Field(description="Why you ask: kept in the ledger.")]
_Key = Annotated[
    str | None, Field(description="A name for this call: made again with it, it is told the same.")
]

_FREE = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
# Asking spends what all share; asked again it is free, and told the same.
_SPENDS = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
_Call: TypeAlias = Context[Any, Any]


def server_of(callers: Callers, name: str | None = None) -> MCPServer:
    """The server for whoever `callers` says is calling; `name` of the holdout if it is but one."""
    title = "Holdfast" if name is None else f"Holdfast: {name}"
    server: MCPServer = MCPServer(
        "holdfast",
        title=title,
        instructions=_INSTRUCTIONS,
        version=__version__,
        tools=_tools(callers),
        log_level="WARNING",
    )
    _add_resources(server, callers, name)
    return server


def http_app(
    server: MCPServer,
    *,
    hosts: Sequence[str] = ("127.0.0.1:*", "localhost:*"),
    largest_request: int = 262_144,
) -> Starlette:
    """The server as an ASGI app at its root, to be mounted: every request stands for itself.

    So any worker may answer it. `hosts` are the values of the header Host that are served, and
    `largest_request` is in bytes. Who mounts it runs its lifespan, too:
    ``async with app.router.lifespan_context(app)``.
    """
    origins = [f"{scheme}://{host}" for host in hosts for scheme in ("http", "https")]
    security = TransportSecuritySettings(allowed_hosts=list(hosts), allowed_origins=origins)
    return server.streamable_http_app(
        streamable_http_path="/",
        json_response=True,
        stateless_http=True,
        max_request_body_size=largest_request,
        transport_security=security,
    )


def _tools(callers: Callers) -> list[Tool]:
    """The tools, each a function of the call and of what the agent says."""

    def caller_of(context: _Call) -> Caller:
        return callers(context.request_context.request)

    @_problems_told
    def describe(context: _Call) -> Annotated[CallToolResult, DescriptionTold]:
        """The protected table: columns, types, bounds, how to write questions, what is promised."""
        return _result(described_to(caller_of(context)))

    @_problems_told
    def budget(context: _Call) -> Annotated[CallToolResult, BudgetTold]:
        """What is left to ask, after everything that anybody has asked. Free."""
        left = caller_of(context).holdout.budget
        return _result(_made(BudgetTold, left.to_dict(), str(left)))

    @_problems_told
    def plan(
        context: _Call,
        questions: Annotated[int | None, Field(description="How many, one after another.")] = None,
        tolerance: Annotated[
            float | None, Field(description="A half-width, as a part of the range: 0.025.")
        ] = None,
        surprises: Annotated[
            int | None, Field(description="How many guesses may be refuted.")
        ] = None,
        candidates: Annotated[int | None, Field(description="Of gates: candidates.")] = None,
        disagreement: Annotated[
            float | None, Field(description="Of gates: the part of rows in which one differs.")
        ] = None,
    ) -> Annotated[CallToolResult, PlanTold]:
        """What so many rows could give: half-widths for questions, or what gates can show. Free."""
        terms = caller_of(context).holdout.opening.terms
        gates = {"candidates": candidates, "disagreement": disagreement}
        said = {"questions": questions, "tolerance": tolerance, "surprises": surprises, **gates}
        given: dict[str, Any] = {name: value for name, value in said.items() if value is not None}
        if not gates.keys() & given.keys():
            given["sampling"] = terms.sampling
        shared = ("rows", "confidence_level", "described", "described_share")
        made: Any = make_plan(**{name: getattr(terms, name) for name in shared}, **given)
        return _result(PlanTold(plan=made.to_dict(), text=str(made)))

    @_problems_told
    def cost(
        context: _Call,
        question: _Question,
        guess: _Guess = None,
        at_least: _AtLeast = None,
        at_most: _AtMost = None,
        where: _Where = None,
        by: _By = None,
        bounds: _Bounds = None,
        half_width: _HalfWidth = None,
    ) -> Annotated[CallToolResult, CostTold]:
        """What a question, or a check of it, would cost now, at most. Free; touches no data."""
        holdout, asked = (
            caller_of(context).holdout,
            question_of(question, where=where, by=by, bounds=bounds),
        )
        found = holdout.cost(
            asked, guess, at_least=at_least, at_most=at_most, half_width=half_width
        )
        return _result(_made(CostTold, found.to_dict(), str(found)))

    @_problems_told
    def check(
        context: _Call,
        question: _Question,
        guess: _Guess = None,
        at_least: _AtLeast = None,
        at_most: _AtMost = None,
        where: _Where = None,
        by: _By = None,
        bounds: _Bounds = None,
        half_width: _HalfWidth = None,
        why: _Why = None,
        key: _Key = None,
    ) -> Annotated[CallToolResult, AnswersTold]:
        """Is it about `guess`, or on one side of a bound? Almost free when confirmed.

        Predict from training data first. A guess that is refuted costs as much as an ask, and more.
        """
        caller = caller_of(context)
        found = caller.holdout.check(
            question_of(question, where=where, by=by, bounds=bounds),
            guess,
            at_least=at_least,
            at_most=at_most,
            half_width=half_width,
            **_said(caller, why, key),
        )
        return _result(told(found))

    @_problems_told
    def ask(
        context: _Call,
        question: _Question,
        where: _Where = None,
        by: _By = None,
        bounds: _Bounds = None,
        half_width: _HalfWidth = None,
        why: _Why = None,
        key: _Key = None,
    ) -> Annotated[CallToolResult, AnswersTold]:
        """What is it? Text over the table's own columns is answered exactly, any number of times.

        Anything else, or with `half_width`, takes of what is left. Prefer `check` with a guess.
        """
        caller = caller_of(context)
        asked = question_of(question, where=where, by=by, bounds=bounds)
        found = caller.holdout.ask(asked, half_width=half_width, **_said(caller, why, key))
        return _result(told(found))

    @_problems_told
    def history(
        context: _Call,
        last: Annotated[int, Field(ge=1, le=1000, description="How many of the newest.")] = 50,
    ) -> Annotated[CallToolResult, HistoryTold]:
        """What was asked and answered so far, by everybody: known answers are free. Free."""
        return _result(history_told(caller_of(context), last))

    free: tuple[Callable[..., Any], ...] = (describe, budget, plan, cost, history)
    return [
        *(_strict(each, _FREE) for each in free),
        *(_strict(each, _SPENDS) for each in (check, ask)),
    ]


def _said(caller: Caller, why: str | None, key: str | None) -> dict[str, str | None]:
    return {"why": why, "by": caller.by, "key": key}


def _made(kind: type[BaseModel], facts: dict[str, Any], text: str) -> BaseModel:
    """A result of those facts that it has a place for."""
    return kind(**{name: facts[name] for name in kind.model_fields if name in facts}, text=text)


def _result(said: BaseModel) -> CallToolResult:
    """A result as structure, for people, and as the text of the structure for older clients."""
    structure = said.model_dump(mode="json")
    text = structure.pop("text")
    return CallToolResult(
        content=[_text(text), _text(json.dumps(structure, ensure_ascii=False))],
        structured_content={**structure, "text": text},
    )


def _text(text: str) -> TextContent:
    return TextContent(type="text", text=text)


def _problems_told(tool: Callable[..., CallToolResult]) -> Callable[..., CallToolResult]:
    """The tool, with whatever goes wrong as a tool error that says what to do next."""

    @wraps(tool)
    def careful(*words: Any, **said: Any) -> CallToolResult:
        try:
            return tool(*words, **said)
        except Exception as error:
            problem = problem_of(error)
            if not isinstance(error, HoldfastError):  # its text may hold anything
                _LOG.error("the tool %s failed: %s", tool.__name__, type(error).__name__)
            facts = problem.to_dict()
            return CallToolResult(
                content=[_text(str(problem)), _text(json.dumps(facts, ensure_ascii=False))],
                structured_content=facts,
                is_error=True,
            )

    return careful


def _strict(function: Callable[..., Any], annotations: ToolAnnotations) -> Tool:
    """A tool that refuses arguments it does not have: a misspelt one must not be passed over."""
    tool = Tool.from_function(function, annotations=annotations)
    arguments = tool.fn_metadata.arg_model
    arguments.model_config["extra"] = "forbid"
    arguments.model_rebuild(force=True)
    tool.parameters = arguments.model_json_schema(by_alias=True)
    return tool


def _add_resources(server: MCPServer, callers: Callers, name: str | None) -> None:
    """The schema and the promise, under the holdout's name; of many holdouts, the caller's."""
    for kind, (what, read) in _RESOURCES.items():
        if name is None:
            place, function = "{name}", _of_caller(callers, read)
        else:
            place, function = quote(name, safe=""), _of_one(callers, read)
        server.resource(
            f"holdfast://{place}/{kind}", name=kind, description=what, mime_type="text/plain"
        )(function)


def _of_one(callers: Callers, read: Callable[[Caller], str]) -> Callable[[], str]:
    return lambda: _read(read, callers(None))


def _of_caller(callers: Callers, read: Callable[[Caller], str]) -> Callable[..., str]:
    def of_caller(context: _Call, name: str) -> str:
        caller = callers(context.request_context.request)
        if caller.holdout.name != name:
            raise ResourceNotFoundError("there is no such holdout, or it is not yours to ask.")
        return _read(read, caller)

    return of_caller


def _read(read: Callable[[Caller], str], caller: Caller) -> str:
    try:
        return read(caller)
    except HoldfastError as error:
        raise ResourceError(str(problem_of(error))) from None


_RESOURCES: Mapping[str, tuple[str, Callable[[Caller], str]]] = {
    "schema": (
        "The columns, their types and what was declared of them.",
        lambda caller: str(caller.holdout.schema),
    ),
    "promise": (
        "What is promised of all intervals together, and what is assumed.",
        lambda caller: caller.holdout.budget.promise,
    ),
}
