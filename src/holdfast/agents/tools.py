"""The tools, each a verb of the holdout that the caller may ask; and who calls them.

What goes wrong is a tool error with the members of a problem (`service.problems`): of a refusal
requested, remaining, missing and what to do next. Of anything unforeseen nothing is told.
"""

from __future__ import annotations

import asyncio
import inspect
import itertools
import json
import logging
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import wraps
from http import HTTPStatus
from typing import Annotated, Any, Protocol, TypeAlias, TypeVar

import anyio
import anyio.to_thread
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.types import CallToolResult, TextContent, ToolAnnotations
from pydantic import BaseModel, Field, ValidationError

from holdfast.agents.results import (
    AnswersTold,
    BudgetTold,
    DescriptionTold,
    HistoryTold,
    PlanTold,
    answers_result,
    described_to_agents,
    history_result,
)
from holdfast.did_you_mean import near_names
from holdfast.holdout.holdout import Holdout
from holdfast.holdout.options import (
    AskSent,
    CheckSent,
    CostSent,
    GateSent,
    GuessField,
    QuestionField,
    QuestionFields,
    fields_of,
)
from holdfast.planner.plan import plan as make_plan
from holdfast.service.data_set import Asking, AskingVerb, Reply
from holdfast.service.logs import log_failure
from holdfast.service.problems import Problem, problem_of, rejection
from holdfast.service.replies import CostReply
from holdfast.service.wire import wire_type

_T = TypeVar("_T")


class Askable(Protocol):
    """What tools ask. Nothing here holds a thread while it waits for another one."""

    async def read(self, use: Callable[[Holdout], _T]) -> _T:
        """What is free to know."""

    async def answer(self, asking: Asking, accept_cost: int | None) -> Reply:
        """The answer to a question; one dearer than `accept_cost` questions is not asked."""


@dataclass(frozen=True, slots=True)
class _Local:
    """A holdout of this process, which is asked in a thread: whoever calls is its owner."""

    holdout: Holdout

    async def read(self, use: Callable[[Holdout], _T]) -> _T:
        return await anyio.to_thread.run_sync(use, self.holdout)

    async def answer(self, asking: Asking, accept_cost: int | None) -> Reply:
        del accept_cost  # nobody else shares what it spends
        # Whoever cancels waits no longer: what was begun is finished, and is in the ledger.
        return await anyio.to_thread.run_sync(asking.put_to, self.holdout, abandon_on_cancel=True)


@dataclass(frozen=True, slots=True)
class Agent:
    """Who calls a tool: the holdout that may be asked, and the name that its ledger writes down."""

    holdout: Holdout | Askable
    asked_by: str | None = None

    @property
    def askable(self) -> Askable:
        """What is asked, whose answers are awaited."""
        return _Local(self.holdout) if isinstance(self.holdout, Holdout) else self.holdout


# Called for every request, with the HTTP request (Starlette's), or None where there is none. It may
# refuse with an error of `holdfast.errors`, and the agent is told as it is told of any other.
Callers = Callable[[Any], Agent]


_LOG = logging.getLogger(__name__)

_FREE = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
# Asking spends what all share; asked again it is free, and told the same.
_SPENDS = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
_Call: TypeAlias = Context[Any, Any]
_Tool: TypeAlias = Callable[..., Awaitable[CallToolResult]]
_After: TypeAlias = Annotated[
    int, Field(ge=0, description="Of a table: its rows after so many, as `next` says.")
]


def tools_for(callers: Callers) -> list[Tool]:
    """All tools, for whoever `callers` says is calling."""
    verbs = _Verbs(callers)
    free: tuple[_Tool, ...] = (
        verbs.describe,
        verbs.budget,
        verbs.plan,
        verbs.cost,
        verbs.history,
    )
    spending: tuple[_Tool, ...] = (verbs.check, verbs.ask, verbs.gate)
    return [
        *(_strict(each, _FREE) for each in free),
        *(_strict(each, _SPENDS) for each in spending),
    ]


def _with_problems(tool: _Tool) -> _Tool:
    """The tool, with whatever goes wrong as a tool error that says what to do next."""

    @wraps(tool)
    async def careful(*words: Any, **options: Any) -> CallToolResult:
        try:
            return await tool(*words, **options)
        except Exception as error:
            problem = problem_of(error)
            if problem.status == HTTPStatus.INTERNAL_SERVER_ERROR:  # its text may hold anything
                log_failure(_LOG, f"the tool {tool.__name__} failed", error)
            return _problem_result(problem)

    return careful


def _problem_result(problem: Problem) -> CallToolResult:
    """A problem with what an agent can do next, and beside it what only others can."""
    own, others = _steps_of(problem)
    facts = {**problem.to_dict(), "next_steps": own}
    if others:
        facts["for_the_custodian"] = others
    text = " ".join([problem.detail, *own, *(f"For the custodian: {step}" for step in others)])
    return CallToolResult(
        content=[_text(text), _text(json.dumps(facts, ensure_ascii=False))],
        structured_content=facts,
        is_error=True,
    )


# What no tool does: it takes other rows, another ledger, a declaration, a command or a header.
_FOR_OTHERS = re.compile(
    r"(?i)\b(fresh rows|more rows|other rows|new ledger|a ledger|ledger is opened|declare|holdfast "
    r"|custodian|schema|idempotency-key|authorization|/docs|GET |POST |eta|set more aside|open\()"
)
_ALTERNATIVES = re.compile(
    r", or |; (?!nothing was spent)"
    r"|, (?=(?:ask|check|claim|declare|gate|open|repeat|set|use|write)\b)"
)
# An option of a tool as Python has it, without a value.
_OPTIONS = "|".join(fields_of(QuestionFields, GuessField, AskSent, CheckSent, GateSent))
_OPTION = re.compile(rf"\b({_OPTIONS})=(?![\w'\"(])")
_OTHERWISE = {
    409: "Never send it again unchanged: repeat what is known for free (`history`), ask a question "
    "that is text over columns, check a guess, or report that it cannot be answered.",
    503: "Wait and send the same call again, and say so if it goes on.",
}
_DO_WITHOUT = "Correct it or do without it; nothing was spent."


def _steps_of(problem: Problem) -> tuple[list[str], list[str]]:
    """The next steps that a tool can take, and those that are for others."""
    own: list[str] = []
    others: list[str] = []
    for step in problem.next_steps:
        ways = _ALTERNATIVES.split(step.rstrip("."))
        possible = [way for way in ways if not _FOR_OTHERS.search(way)]
        if possible:
            own.append(_sentence(possible))
        if len(possible) < len(ways):
            others.append(_sentence([way for way in ways if way not in possible]))
    return own or [_OTHERWISE.get(problem.status, _DO_WITHOUT)], others


def _sentence(ways: list[str]) -> str:
    text = _OPTION.sub(r"`\1`", ", or ".join(ways))
    return f"{text[:1].upper()}{text[1:]}."


def _with_options(*records: type) -> Callable[[_Tool], _Tool]:
    """Give a tool the options of a verb, as one record has them for every surface."""

    def derived(tool: _Tool) -> _Tool:
        own = inspect.signature(tool, eval_str=True)
        positional = [each for each in own.parameters.values() if each.kind is not each.VAR_KEYWORD]
        options = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=inspect.Parameter.empty if kind[0] is str else None,
                annotation=wire_type(*kind),
            )
            for name, kind in fields_of(*records).items()
        ]
        tool.__signature__ = own.replace(parameters=[*positional, *options])  # type: ignore[attr-defined]
        return tool

    return derived


@dataclass(frozen=True, slots=True)
class _Verbs:
    """What an agent may do; every call asks anew who calls.

    No tool holds a thread: they all wait on the event loop, however many agents call.
    """

    callers: Callers

    def _caller(self, context: _Call) -> Agent:
        return self.callers(context.request_context.request)

    async def _read(self, context: _Call, use: Callable[[Holdout], BaseModel]) -> CallToolResult:
        return await self._caller(context).askable.read(lambda holdout: _result(use(holdout)))

    async def _answer(
        self, verb: AskingVerb, context: _Call, options: dict[str, Any], after: int = 0
    ) -> CallToolResult:
        caller, accept_cost = self._caller(context), options.pop("accept_cost", None)
        asking = Asking.of(verb, {**options, "asked_by": caller.asked_by})
        reporting = asyncio.ensure_future(_report(context))
        try:
            reply = await caller.askable.answer(asking, accept_cost)
        finally:
            reporting.cancel()
        # A table is long, and to write it down would keep everybody else waiting.
        return await anyio.to_thread.run_sync(lambda: _result(answers_result(reply, after)))

    @_with_problems
    async def describe(self, context: _Call) -> Annotated[CallToolResult, DescriptionTold]:
        """The protected table: columns, types, bounds, how to write questions, what is promised."""
        return await self._read(context, described_to_agents)

    @_with_problems
    async def budget(self, context: _Call) -> Annotated[CallToolResult, BudgetTold]:
        """What is left to ask, after everything that anybody has asked. Free."""

        def result_of(holdout: Holdout) -> BaseModel:
            budget = holdout.budget
            return _result_of(BudgetTold, budget.to_dict(), str(budget))

        return await self._read(context, result_of)

    @_with_problems
    async def plan(
        self,
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
        gates = {"candidates": candidates, "disagreement": disagreement}
        options = {"questions": questions, "tolerance": tolerance, "surprises": surprises, **gates}
        declared: dict[str, Any] = {
            name: value for name, value in options.items() if value is not None
        }

        def result_of(holdout: Holdout) -> BaseModel:
            terms = holdout.opening.terms
            shared = ["rows", "confidence_level", "described", "described_share"]
            shared += [] if gates.keys() & declared.keys() else ["sampling"]
            plan_made: Any = make_plan(
                **{name: getattr(terms, name) for name in shared}, **declared
            )
            return PlanTold(plan=plan_made.to_dict(), text=str(plan_made))

        return await self._read(context, result_of)

    @_with_problems
    @_with_options(QuestionFields, GuessField, CostSent)
    async def cost(self, context: _Call, **options: Any) -> Annotated[CallToolResult, CostReply]:
        """What a question, or a check of it, would cost now, at most. Free; touches no data."""
        asking = Asking.of("ask", options)

        def result_of(holdout: Holdout) -> BaseModel:
            price = asking.cost_of(holdout)
            return _result_of(CostReply, price.to_dict(), str(price))

        return await self._read(context, result_of)

    @_with_problems
    @_with_options(QuestionFields, GuessField, CheckSent)
    async def check(
        self, context: _Call, after: _After = 0, **options: Any
    ) -> Annotated[CallToolResult, AnswersTold]:
        """Is it about `guess`, or on one side of a bound? Almost free when confirmed.

        Predict from training data first. A guess that is refuted costs as much as an ask, and more.
        """
        return await self._answer("check", context, options, after)

    @_with_problems
    @_with_options(QuestionFields, AskSent)
    async def ask(
        self, context: _Call, after: _After = 0, **options: Any
    ) -> Annotated[CallToolResult, AnswersTold]:
        """What is it? Text over the table's own columns is answered exactly; no limit.

        Whether that is exact or rounded, `describe` says, and every answer. Anything else, or with
        `half_width`, takes of what is left. Prefer `check` with a guess.
        """
        return await self._answer("ask", context, options, after)

    @_with_problems
    @_with_options(QuestionField, GateSent)
    async def gate(self, context: _Call, **options: Any) -> Annotated[CallToolResult, AnswersTold]:
        """Is it shown to be more than `at_least`, or less than `at_most`?

        *Shown* claims that side. *Not shown* leaves it open, and costs almost nothing.
        """
        return await self._answer("gate", context, options)

    @_with_problems
    async def history(
        self,
        context: _Call,
        last: Annotated[int, Field(ge=1, le=200, description="How many, of the newest.")] = 50,
        before: Annotated[
            int | None, Field(ge=1, description="Only lines before this number.")
        ] = None,
    ) -> Annotated[CallToolResult, HistoryTold]:
        """What was asked and answered so far, by everybody: known answers are free. Free."""
        asked_by = self._caller(context).asked_by
        return await self._read(
            context, lambda holdout: history_result(holdout, asked_by, last, before)
        )


def _result_of(kind: type[BaseModel], facts: dict[str, Any], text: str) -> BaseModel:
    """A result of those facts that it has a place for."""
    return kind(**{name: facts[name] for name in kind.model_fields if name in facts}, text=text)


def _result(reply: BaseModel) -> CallToolResult:
    """A result as structure, for people, and as the text of the structure for older clients."""
    structure = reply.model_dump(mode="json")
    text = structure.pop("text")
    return CallToolResult(
        content=[_text(text), _text(json.dumps(structure, ensure_ascii=False))],
        structured_content={**structure, "text": text},
    )


def _text(text: str) -> TextContent:
    return TextContent(type="text", text=text)


async def _report(context: _Call) -> None:
    """Report progress every second: that it is not over yet, which whoever waits knows anyway."""
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):  # nobody listens
        for seconds in itertools.count():
            await context.report_progress(seconds, message=f"asked; waiting for {seconds} s")
            await anyio.sleep(1)


class _StrictTool(Tool):
    """A tool whose arguments are read strictly; what is wrong with them is a problem."""

    async def run(
        self, arguments: dict[str, Any], context: _Call, convert_result: bool = False
    ) -> Any:
        """Run the tool, unless its arguments cannot be read."""
        try:
            return await super().run(arguments, context, convert_result)
        except ToolError as error:
            if not isinstance(error.__cause__, ValidationError):
                raise
            return _problem_result(self._unread(error.__cause__))

    def _unread(self, error: ValidationError) -> Problem:
        """Which arguments are wrong and why; what was sent is not sent back."""
        names = list(self.parameters["properties"])
        faults = [_fault(fault, names) for fault in error.errors(include_url=False)]
        sentence = "; ".join(dict.fromkeys(faults[:_MOST_FAULTS]))
        step = f"Call `{self.name}` with its own arguments: {', '.join(names)}."
        return replace(rejection(422, f"{sentence}.").problem, next_steps=(step,))


_MOST_FAULTS = 5


def _fault(fault: Any, names: list[str]) -> str:
    place = ".".join(str(part)[:50] for part in fault["loc"])
    if fault["type"] == "extra_forbidden":
        near = "".join(f"; `{name}` is the nearest" for name in near_names(place, names))
        return f"there is no argument `{place}`{near}"
    return f"`{place}`: {fault['msg'][:1].lower()}{fault['msg'][1:]}"


def _strict(function: Callable[..., Any], annotations: ToolAnnotations) -> Tool:
    """A tool that refuses arguments it does not have: a misspelt one must not be passed over."""
    tool = _StrictTool.from_function(
        function, description=inspect.getdoc(function), annotations=annotations
    )
    arguments = tool.fn_metadata.arg_model
    arguments.model_config["extra"] = "forbid"
    arguments.model_rebuild(force=True)
    tool.parameters = arguments.model_json_schema(by_alias=True)
    return tool
