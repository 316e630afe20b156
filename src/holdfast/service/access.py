"""Access: who asks, what they may, which data set they mean, and what viewers do not learn."""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from ipaddress import ip_address, ip_network
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Header, Path, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from holdfast.boards.standings import Standing
from holdfast.errors import (
    BudgetExhausted,
    InvalidArgument,
    InvalidQuestion,
    LedgerBusy,
    Refused,
    Shortfall,
)
from holdfast.holdout.answer import Answer
from holdfast.holdout.holdout import Holdout
from holdfast.service.data_set import (
    FAULTS_OF_CALLS,
    TOKENS,
    Asking,
    Reply,
    Served,
    Service,
    Withdrawn,
    run_in,
)
from holdfast.service.pacing import OnTheStep
from holdfast.service.prices import Pool, price_of, require_accepted, settled_price
from holdfast.service.problems import rejection
from holdfast.service.tokens import FREE, CountedCall, Price, Token, TokenRole
from holdfast.statistics.bind import TABLES
from holdfast.wording import plural

# Somebody who asks a data set: under their own name and keys, inside the cap of their token.


_T = TypeVar("_T")
_TABLES = ("by", *TABLES)  # what a text has that may be answered for several groups
_SUBMISSION = Price(1, 0.0, 0)  # its looks are the board's own
_R = TypeVar("_R", Reply, list[Answer])


@dataclass(frozen=True, slots=True)
class Caller:
    """A token in force, and the data set that is asked."""

    service: Service
    token: Token
    served: Served

    def own(self, key: str | None) -> str | None:
        """A key is its owner's: nobody is told an answer by the key of another."""
        return None if key is None else f"{self.token.id} {key}"

    async def require_asking(self) -> None:
        """Refuse questions about a leaderboard, which are its own, but for a custodian's."""
        if self.token.role != "custodian" and await self.served.is_board():
            raise rejection(403, "this is a leaderboard, which takes submissions and no questions.")

    async def require_something_left(self) -> None:
        """Refuse to read what somebody brings who may ask nothing more about it."""
        token, tokens = self.token, self.service.tokens
        if token.questions is not None and tokens.spent(token) >= token.questions:
            raise _over_the_cap(token, Price(tokens.spent(token), 0.0, 0), _SUBMISSION, None)

    async def once(
        self, key: str | None, sent: object, work: Callable[[], Awaitable[dict[str, Any]]]
    ) -> dict[str, Any]:
        """What is told of something that was sent: with a key, what was told before."""
        if key is None:
            return await work()
        tokens, call = self.service.tokens, self._call(sent, self.own(key))
        stored = await run_in(TOKENS, lambda: tokens.stored_reply(call))
        if stored is None:
            text = json.dumps(await work())
            stored = await run_in(TOKENS, lambda: tokens.keep(call, text))
        reply: dict[str, Any] = json.loads(stored)
        return reply

    async def submit(self, put: Callable[[Holdout], Standing], digest: str) -> Standing:
        """Submit to a leaderboard; the same content counts as one question, however often sent."""
        if self.token.share is not None:
            raise rejection(403, "a board takes submissions; the token has a share of questions.")

        async def work(_: Price) -> Standing:
            return await self.served.ask(put)

        async def nothing() -> None:
            return None

        def settled(*_: object) -> Price:
            return _SUBMISSION

        call = CountedCall(self.served.name, digest, digest)
        async with self._on_the_step():
            return await self._capped(lambda: call, _SUBMISSION, work, nothing, settled)

    async def answer(self, asking: Asking, accept_cost: int | None = None) -> Reply:
        """Ask a question, with whatever else waits; `accept_cost` is the most that it may take."""

        async def together() -> Reply:
            return await self.served.answer(asking)

        return await self._answered(
            [asking], asking.put_to, together, asking.request_key, asking, accept_cost
        )

    async def answers(
        self,
        askings: Sequence[Asking],
        put: Callable[[Holdout], list[Answer]],
        key: str | None,
        body: object,
        accept_cost: int | None = None,
    ) -> list[Answer]:
        """Ask several questions that were chosen together; `body` is all that is said of them."""

        async def together() -> list[Answer]:
            return await self.served.ask(put)

        return await self._answered(askings, put, together, key, body, accept_cost)

    async def _answered(
        self,
        askings: Sequence[Asking],
        put: Callable[[Holdout], _R],
        together: Callable[[], Awaitable[_R]],
        key: str | None,
        body: object,
        accept_cost: int | None,
    ) -> _R:
        await self.require_asking()

        async def free_reply() -> _R | None:
            return await self.served.free_reply(put)

        def within(price: Price, holdout: Holdout) -> _R:
            """Ask, unless others have made it dearer since it was priced."""
            now = price_of(askings, holdout)
            if now.nats > price.nats or now.looks > price.looks:
                raise LedgerBusy("the price rose while others asked.")
            return put(holdout)

        async def work(price: Price) -> _R:
            if self.token.share is None:
                return await together()
            return await self.served.ask(partial(within, price))

        async with self._on_the_step():
            if not self.token.is_capped and all(_is_one(each) for each in askings):
                return await together()  # nothing is to be written down, or confirmed
            price, unpriced = FREE, None
            try:
                price = await self.served.read(partial(price_of, askings))
            except (InvalidArgument, InvalidQuestion, Refused) as error:
                unpriced = error  # it may have been told before, all the same
            if price == FREE:
                reply = await free_reply()
                if reply is not None:
                    return reply
                if unpriced is not None:
                    raise unpriced
            require_accepted(price, len(askings), accept_cost)
            return await self._capped(
                lambda: self._call(body, key),
                price,
                work,
                free_reply,
                lambda reply, reserved: settled_price(reply, key, reserved),
            )

    def _on_the_step(self) -> OnTheStep:
        """Release what is told on a step of time, and count it if it is a refusal."""
        return OnTheStep(self.service.settings.release_step, self._count)

    def _count(self, error: BaseException) -> None:
        if isinstance(error, Refused):
            self.service.metrics.refusal(self.served.name, error)

    def _call(self, body: object, key: str | None) -> CountedCall:
        return CountedCall.of(self.served.name, body, key)

    async def _capped(
        self,
        call_of: Callable[[], CountedCall],
        price: Price,
        work: Callable[[Price], Awaitable[_T]],
        stored_reply: Callable[[], Awaitable[_T | None]],
        settled: Callable[[_T, Price], Price],
    ) -> _T:
        """Do the work if the caps cover it, else only what is known."""
        tokens, token = self.service.tokens, self.token
        if not token.is_capped:  # nothing is to be written down
            return await work(price)
        call = call_of()
        pool = None
        if token.share is not None:
            budget = await self.served.read(lambda holdout: holdout.budget)
            pool = Pool(budget, token.share)
        charging = TOKENS.submit(
            tokens.charge, token, call, price, None if pool is None else pool.covers
        )

        def withdraw() -> None:
            if not charging.cancelled() and charging.result() == "now":
                tokens.settle(token, call, FREE)

        try:
            charged = await asyncio.wrap_future(charging)
        except asyncio.CancelledError:  # the charge may have been written, and nobody heard of it
            TOKENS.submit(withdraw)
            raise
        if charged == "over":
            reply = await stored_reply()
            if reply is None:
                spent = tokens.spent_on(token, call.dataset)
                if token.questions is not None:  # which counts all data sets
                    spent = spent._replace(questions=tokens.spent(token))
                raise _over_the_cap(token, spent, price, pool)
            return reply
        try:
            reply = await work(price)
        except FAULTS_OF_CALLS:  # after other trouble it may be reserved, and stays counted
            if charged == "now":  # what was counted before may have been answered before
                await run_in(TOKENS, lambda: tokens.settle(token, call, FREE))
            raise
        except Withdrawn:
            TOKENS.submit(withdraw)  # nobody waits here for that, either
            raise
        reserved = price if charged == "now" else tokens.counted_price(token, call)
        took = settled(reply, reserved)
        await run_in(TOKENS, lambda: tokens.settle(token, call, took))
        return reply


def _is_one(asking: Asking) -> bool:
    """Whether it surely takes one question: a claim that is no table, by its own text."""
    text = asking.question.lower()
    return bool(asking.claim) and not asking.by and not any(each in text for each in _TABLES)


def _over_the_cap(token: Token, spent: Price, price: Price, pool: Pool | None) -> BudgetExhausted:
    """What is lacking, of the cap that is over first."""
    if pool is None or (token.questions or math.inf) < spent.questions + price.questions:
        wanted, remaining = price.questions, (token.questions or 0) - spent.questions
        cap = f"the {token.questions or 0:,} of this token"
    else:
        used = pool.questions_taken(spent)
        wanted = pool.questions_taken(spent.with_(price)) - used
        remaining = max(0, pool.most_questions - used)
        cap = f"the {pool.most_questions:,} that are this token's share of {pool.questions:,}"
    return BudgetExhausted(
        f"requested {plural(wanted, 'question')}; remaining {remaining:,} of {cap}; missing "
        f"{wanted - remaining:,}. Repeating an earlier question is free; ask the custodian for "
        "more.",
        Shortfall("questions", wanted, remaining),
    )


_ASKING: tuple[TokenRole, ...] = ("analyst", "custodian")
_bearer = HTTPBearer(auto_error=False, description="A token: hf_ID_SECRET.")
_Shown = Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]
_Name = Annotated[str, Path(description="The name of a data set.")]


def service_of(request: Request) -> Service:
    """The service of the app that a request came to."""
    service: Service = request.app.state.service
    return service


def client_of(request: Request, service: Service) -> str:
    """Where a request comes from: of what trusted proxies say, the last that is none of them."""
    peer = request.client.host if request.client else ""
    if not _is_trusted(peer, service):
        return peer
    forwarded = request.headers.get("x-forwarded-for", "").split(",")
    proxies = (each.strip() for each in reversed(forwarded))
    return next((each for each in proxies if each and not _is_trusted(each, service)), peer)


def is_secure(request: Request, service: Service) -> bool:
    """Whether it came by TLS, to us or to a proxy that is trusted."""
    peer = request.client.host if request.client else ""
    protocol = request.headers.get("x-forwarded-proto", "").rpartition(",")[2].strip()
    return request.url.scheme == "https" or (protocol == "https" and _is_trusted(peer, service))


def _is_trusted(address: str, service: Service) -> bool:
    networks = service.settings.trusted_proxies
    if not networks:
        return False
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    return any(parsed in ip_network(each) for each in networks)


# Every dependency costs a request as much as looking up its token does, and one that is no
# coroutine a thread's turn, too: so each route has few, which call one another.


async def _serving(request: Request) -> Service:
    return service_of(request)


Serving = Annotated[Service, Depends(_serving)]


def _token_of(request: Request, credentials: HTTPAuthorizationCredentials | None) -> Token:
    """Whose token is shown, which is looked up once a request."""
    token: Token | None = getattr(request.state, "token", None)
    if token is None:
        if credentials is None:
            raise rejection(401, "the request has no token.")
        token = _verified(request, credentials.credentials)
        request.state.token = token
    return token


def _verified(request: Request, text: str) -> Token:
    service = service_of(request)
    return service.verified(text, client_of(request, service))


def _require_role(token: Token, *roles: TokenRole) -> None:
    if token.role not in roles:
        raise rejection(403, f"this is for {roles[0]}s, and the token's role is {token.role}.")


async def _anyone(request: Request, shown: _Shown) -> Token:
    return _token_of(request, shown)


async def _custodian(request: Request, shown: _Shown) -> Token:
    token = _token_of(request, shown)
    _require_role(token, "custodian")
    return token


async def _dataset(request: Request, dataset: _Name, shown: _Shown) -> Served:
    return service_of(request).served(dataset, _token_of(request, shown))


async def _caller(request: Request, dataset: _Name, shown: _Shown) -> Caller:
    service, token = service_of(request), _token_of(request, shown)
    _require_role(token, *_ASKING)
    return Caller(service, token, service.served(dataset, token))


def _token(request: Request) -> Token:
    """Whose token a request shows, without FastAPI."""
    scheme, _, text = request.headers.get("authorization", "").partition(" ")
    is_bearer = scheme.lower() == "bearer" and text
    credentials = (
        HTTPAuthorizationCredentials(scheme=scheme, credentials=text) if is_bearer else None
    )
    return _token_of(request, credentials)


def _plain_custodian(request: Request) -> Token:
    token = _token(request)
    _require_role(token, "custodian")
    return token


def _plain_dataset(request: Request) -> Served:
    return service_of(request).served(request.path_params["dataset"], _token(request))


def _plain_caller(request: Request) -> Caller:
    service, token = service_of(request), _token(request)
    _require_role(token, *_ASKING)
    return Caller(service, token, service.served(request.path_params["dataset"], token))


# The same dependencies, for routes that read their arguments by themselves.
PLAIN_DEPENDENCIES: Mapping[Any, Callable[[Request], Any]] = {
    _serving: service_of,
    _anyone: _token,
    _custodian: _plain_custodian,
    _dataset: _plain_dataset,
    _caller: _plain_caller,
}

AsAnyone = Annotated[Token, Depends(_anyone)]
# OpenAPI names the roles that an operation is for as scopes of its token.
AsCustodian = Annotated[Token, Security(_custodian, scopes=["custodian"])]
Dataset = Annotated[Served, Depends(_dataset)]
Asker = Annotated[Caller, Security(_caller, scopes=_ASKING)]
CallKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        max_length=200,
        pattern=r"^[\x21-\x7e]+$",
        description="The name of this call: made again with it, it is told the same, to the byte.",
    ),
]


# What viewers do not learn of a leaderboard: whose submissions are compared.
#
# A submission is named after its team, and its name is in questions, columns and reasons. For
# viewers it is *submission 3*, the third that came: the same one wherever it is named.


_SAID_BY_TEAMS = ("asked_by", "by", "team", "why")


class Veil:
    """Other names in place of some; with none to hide, everything is shown as it is."""

    def __init__(self, hidden: Mapping[str, str]) -> None:
        self._hidden = {**hidden, **{_quoted(name): alias for name, alias in hidden.items()}}
        longest_first = sorted(self._hidden, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest_first)))

    @property
    def hides(self) -> bool:
        """Whether there is anything to hide."""
        return bool(self._hidden)

    def over(self, told: Any) -> Any:
        """Plain values with the other names, and without what teams said."""
        if not self.hides:
            return told
        match told:
            case str():
                return self._pattern.sub(lambda match: self._hidden[match[0]], told)
            case list():
                return [self.over(each) for each in told]
            case dict():
                return {
                    name: None if name in _SAID_BY_TEAMS else self.over(value)
                    for name, value in told.items()
                }
        return told


def veil_for(reader: Token, holdout: Holdout) -> Veil:
    """What is hidden from a reader: from viewers the names of submissions."""
    if reader.role != "viewer" or holdout.boarding.record.terms is None:
        return Veil({})
    # What follows from a submission, such as its errors, is attached by nobody, under a name that
    # begins with the submission's.
    submitted = [each for each in holdout.columns if each.by is not None]
    numbers = {each: place for place, each in enumerate(dict.fromkeys(c.column for c in submitted))}
    return Veil({each.name: f"submission {numbers[each.column] + 1}" for each in submitted})


def _quoted(name: str) -> str:
    """A name as questions have it between double quotes."""
    return name.replace('"', '""')
