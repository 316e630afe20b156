"""The server: tools and resources for agents, over stdio or mounted in a service."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any, TypeAlias
from urllib.parse import quote

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import Field
from starlette.applications import Starlette

from holdfast import __version__
from holdfast.agents.tools import Agent, Callers, tools_for
from holdfast.errors import HoldfastError
from holdfast.holdout.holdout import Holdout
from holdfast.service.problems import problem_of

_Read: TypeAlias = Callable[[Holdout], str]
_INSTRUCTIONS = """\
You ask a protected table. You never see its rows: every answer is a value with an interval, and
all intervals ever given stay true together, although you choose each question after seeing
earlier answers.

1. `describe` first: columns, types, bounds, how questions are written. `budget`: what is left.
2. Predict first. Work the number out from training data or from what you know, then `check` it: a
   guess that is confirmed costs almost nothing.
3. `gate` asks whether something is shown to be beyond a bound, such as better than what there is:
   not shown leaves it open, and costs almost nothing.
4. `ask` where you have no guess. A question that is text over the table's own columns has
   no limit, and the shorter the text the narrower the interval.
5. `cost` and `plan` are free and touch no data; use them before you spend.
6. A repeated question is free and gives the same answer. Report the interval, not the value alone.
7. A refusal computed nothing and cost nothing. Never retry it unchanged: do one of its next steps.
8. At a service, what takes more than one question of what all share, such as a table, is refused
   with its price: send it again with `accept_cost` if it is worth that.
9. Whether described answers are exact or rounded to a public grid, `describe` and every answer say.
"""
_LOOP = """\
The goal: {goal}

Work in this loop with the tools of this server, and stop when the goal is reached or out of reach.

1. `describe` and `budget`, once. Note the columns, whether text is answered exact or rounded, and
   what is left.
2. Write down one claim that would bring you nearer to the goal, as a statistic over columns, and
   what you expect: a number from training rows or from what you know, or a side that matters
   for a decision. Look in `history` first: what is known is free.
3. Choose the verb. A number that you expect: `check` with `guess`. A side that decides: `check`
   with `at_least` or `at_most`; is something better than what there is: `gate`. No idea: `ask` a
   short question. `cost` says what it takes before you spend; say in `why` what it is for.
4. Read the interval, not the value. What an interval leaves open is open: do not ask it in
   other words until it comes out, and do not count groups in your head.
5. A refusal: do one of its `next_steps`, or leave it. Of a long table ask for the next rows
   with `after`.
6. Say what changed in what you believe, and go back to 2.

At the end report each finding as its question, its interval and its receipt, what you looked for
and did not find, and what the intervals rest on (`assumes`). All intervals of this ledger are true
together, with the confidence that every answer names.
"""


def server_of(callers: Callers, name: str | None = None) -> MCPServer:
    """The server for whoever `callers` says is calling; `name` of the holdout if it is but one."""
    title = "Holdfast" if name is None else f"Holdfast: {name}"
    server: MCPServer = MCPServer(
        "holdfast",
        title=title,
        instructions=_INSTRUCTIONS,
        version=__version__,
        tools=tools_for(callers),
        log_level="WARNING",
    )
    _add_resources(server, callers, name)
    server.prompt("explore", "Explore a protected table", _PROMPT_IS)(_explore)
    return server


_PROMPT_IS = "How to work towards a goal with a protected table: look, predict, check, report."


def _explore(
    goal: Annotated[str, Field(description="What you want to find out, or decide.")],
) -> str:
    return _LOOP.format(goal=goal)


def http_app(
    server: MCPServer,
    *,
    stream: bool = False,
    hosts: Sequence[str] | None = ("127.0.0.1:*", "localhost:*"),
    largest_request: int = 262_144,
) -> Starlette:
    """The server as an ASGI app at its root, to be mounted: every request stands for itself.

    So any worker may answer it. With `stream`, progress is sent as it comes. `hosts` are the values
    of the header Host that are served, None if it does not matter, since every request has a token;
    `largest_request` is in bytes. Who mounts it runs its lifespan, too:
    ``async with app.router.lifespan_context(app)``.
    """
    origins = [f"{scheme}://{host}" for host in hosts or () for scheme in ("http", "https")]
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=hosts is not None,
        allowed_hosts=list(hosts or ()),
        allowed_origins=origins,
    )
    return server.streamable_http_app(
        streamable_http_path="/",
        json_response=not stream,
        stateless_http=True,
        max_request_body_size=largest_request,
        transport_security=security,
    )


def _add_resources(server: MCPServer, callers: Callers, name: str | None) -> None:
    """The schema and the promise, under the holdout's name; of many holdouts, the caller's."""
    for kind, (description, reader) in _RESOURCES.items():
        if name is None:
            place, function = "{name}", _of_caller(callers, reader)
        else:
            place, function = quote(name, safe=""), _of_one(callers, reader)
        server.resource(
            f"holdfast://{place}/{kind}", name=kind, description=description, mime_type="text/plain"
        )(function)


def _of_one(callers: Callers, reader: _Read) -> Callable[[], Awaitable[str]]:
    async def of_one() -> str:
        return await _read(reader, callers(None))

    return of_one


def _of_caller(callers: Callers, reader: _Read) -> Callable[..., Awaitable[str]]:
    async def of_caller(context: Context[Any, Any], name: str) -> str:
        caller = callers(context.request_context.request)
        if await _read(lambda holdout: holdout.name, caller) != name:
            raise ResourceNotFoundError("there is no such holdout, or it is not yours to ask.")
        return await _read(reader, caller)

    return of_caller


async def _read(reader: _Read, caller: Agent) -> str:
    try:
        return await caller.askable.read(reader)
    except HoldfastError as error:
        raise ResourceError(str(problem_of(error))) from None


_RESOURCES: Mapping[str, tuple[str, _Read]] = {
    "schema": (
        "The columns, their types and what was declared of them.",
        lambda holdout: str(holdout.schema),
    ),
    "promise": (
        "What is promised of all intervals together, and what is assumed.",
        lambda holdout: holdout.budget.promise,
    ),
}
