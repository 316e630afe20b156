"""Access: who asks, what they may, which data set they mean, and what viewers do not learn."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Header, Path, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from holdfast.boards.standings import Standing
from holdfast.errors import BudgetExhausted, Shortfall
from holdfast.holdout.answer import Answer
from holdfast.holdout.groups import Distribution, Groups
from holdfast.holdout.holdout import Holdout
from holdfast.service.data_set import FAULTS_OF_CALLS, Asking, Reply, Served, Service
from holdfast.service.pacing import OnTheStep
from holdfast.service.pools import TOKENS, run_in
from holdfast.service.problems import rejection
from holdfast.service.tokens import CountedCall, Token, TokenRole
from holdfast.wording import plural

__all__ = [
    "AsAnyone",
    "AsCustodian",
    "Asker",
    "CallKey",
    "Caller",
    "Dataset",
    "Serving",
    "Veil",
    "client_of",
    "service_of",
    "veil_for",
]


# Somebody who asks a data set: under their own name and keys, inside the cap of their token.


_T = TypeVar("_T")


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

    async def once(
        self, key: str | None, sent: object, work: Callable[[], Awaitable[dict[str, Any]]]
    ) -> dict[str, Any]:
        """What is told of something that was sent: with a key, what was told before."""
        if key is None:
            return await work()
        tokens, call = self.service.tokens, self._call(sent, self.own(key))
        kept = await run_in(TOKENS, lambda: tokens.kept(call))
        if kept is None:
            told = json.dumps(await work())
            kept = await run_in(TOKENS, lambda: tokens.keep(call, told))
        found: dict[str, Any] = json.loads(kept)
        return found

    async def submit(self, put: Callable[[Holdout], Standing], digest: str) -> Standing:
        """Submit to a leaderboard; the same content counts as one question, however often sent."""

        async def work() -> Standing:
            return await self.served.ask(put)

        async def nothing() -> None:
            return None

        return await self._capped(lambda: CountedCall(digest, digest), 1, work, nothing)

    async def answer(self, asking: Asking, accept_cost: int | None = None) -> Reply:
        """Ask a question, with whatever else waits."""
        del accept_cost
        await self.require_asking()

        async def work() -> Reply:
            return await self.served.answer(asking)

        async def known() -> Reply | None:
            return await self.served.known(asking.put_to)

        return await self._capped(
            lambda: self._call(asking, asking.key), 1, work, known, asking.key
        )

    async def answers(
        self,
        put: Callable[[Holdout], list[Answer]],
        questions: int,
        key: str | None,
        asked: object,
    ) -> list[Answer]:
        """Ask several questions that were chosen together; `asked` is all that is said of them."""
        await self.require_asking()

        async def work() -> list[Answer]:
            return await self.served.ask(put)

        async def known() -> list[Answer] | None:
            return await self.served.known(put)

        return await self._capped(lambda: self._call(asked, key), questions, work, known, key)

    def _call(self, asked: object, key: str | None) -> CountedCall:
        return CountedCall.of(self.served.name, asked, key)

    async def _capped(
        self,
        counted: Callable[[], CountedCall],
        questions: int,
        work: Callable[[], Awaitable[_T]],
        known: Callable[[], Awaitable[_T | None]],
        key: str | None = None,
    ) -> _T:
        """Do the work if the cap covers it, else only what is known; released on the step."""
        tokens, token = self.service.tokens, self.token
        async with OnTheStep(self.service.settings.release_step):
            if token.questions is None:  # nothing is to be written down
                return await work()
            call = counted()
            charged = await run_in(TOKENS, lambda: tokens.charge(token, call, questions))
            if charged == "over":
                found = await known()
                if found is None:
                    raise _over_the_cap(token, tokens.spent(token), questions)
                return found
            try:
                found = await work()
            except FAULTS_OF_CALLS:  # after other trouble it may be reserved, and stays counted
                if charged == "now":  # what was counted before may have been answered before
                    await run_in(TOKENS, lambda: tokens.settle(token, call, 0))
                raise
            new = _new(found, key)
            await run_in(TOKENS, lambda: tokens.settle(token, call, new))
            return found


def _new(found: object, key: str | None) -> int:
    """How many questions were answered anew; a table of groups is one.

    A call that died after it was reserved was finished by somebody else: whoever sends it again is
    told a stored answer, which is the call's own.
    """
    match found:
        case Answer():
            own = key is not None and found.recorded.request.key == key
            return 0 if found.repeated and not own else 1
        case list():
            return sum(_new(each, key) for each in found)
        case Groups() | Distribution():
            return max((_new(answer, key) for _, answer in found), default=0)
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


_ASKING: tuple[TokenRole, ...] = ("analyst", "custodian")
_bearer = HTTPBearer(auto_error=False, description="A token: hf_ID_SECRET.")
_Shown = Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]
_Name = Annotated[str, Path(description="The name of a data set.")]


def service_of(request: Request) -> Service:
    """The service of the app that a request came to."""
    found: Service = request.app.state.service
    return found


def client_of(request: Request) -> str:
    """Where a request comes from."""
    return request.client.host if request.client else ""


# Every dependency costs a request as much as looking up its token does, and one that is no
# coroutine a thread's turn, too: so each route has few, which call one another.


async def _serving(request: Request) -> Service:
    return service_of(request)


Serving = Annotated[Service, Depends(_serving)]


def _known(request: Request, shown: HTTPAuthorizationCredentials | None) -> Token:
    """Whose token is shown, which is looked up once a request."""
    known: Token | None = getattr(request.state, "token", None)
    if known is None:
        if shown is None:
            raise rejection(401, "the request has no token.")
        known = service_of(request).verified(shown.credentials, client_of(request))
        request.state.token = known
    return known


def _require_role(token: Token, *roles: TokenRole) -> None:
    if token.role not in roles:
        raise rejection(403, f"this is for {roles[0]}s, and the token's role is {token.role}.")


async def _anyone(request: Request, shown: _Shown) -> Token:
    return _known(request, shown)


async def _custodian(request: Request, shown: _Shown) -> Token:
    token = _known(request, shown)
    _require_role(token, "custodian")
    return token


async def _dataset(request: Request, dataset: _Name, shown: _Shown) -> Served:
    return service_of(request).served(dataset, _known(request, shown))


async def _caller(request: Request, dataset: _Name, shown: _Shown) -> Caller:
    service, token = service_of(request), _known(request, shown)
    _require_role(token, *_ASKING)
    return Caller(service, token, service.served(dataset, token))


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


_SAID_BY_TEAMS = ("by", "team", "why")


class Veil:
    """Other names in place of some; with none to hide, everything is shown as it is."""

    def __init__(self, hidden: Mapping[str, str]) -> None:
        self._hidden = {**hidden, **{_quoted(name): other for name, other in hidden.items()}}
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
                return self._pattern.sub(lambda found: self._hidden[found[0]], told)
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
