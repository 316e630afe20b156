"""Holdouts that a service holds: what `--url` does to the commands that ask, look and attach."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from inspect import Parameter
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec

import typer

from holdfast.cli.commands import read_number
from holdfast.cli.ledgers import opened
from holdfast.cli.parameters import with_parameters
from holdfast.errors import InvalidArgument

if TYPE_CHECKING:
    from holdfast.service.client import ServedHoldout

_P = ParamSpec("_P")
_TOKEN = "HOLDFAST_TOKEN"  # not an option: everybody on the machine sees what is typed


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a command finds holdouts, and what is let go of at its end."""

    url: str | None
    ended: ExitStack


_AT: ContextVar[_Place | None] = ContextVar("at", default=None)
_Url = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        envvar="HOLDFAST_URL",
        help=f"Ask the service at this address; your token is in {_TOKEN}.",
    ),
]


def anywhere(command: Callable[_P, None]) -> Callable[_P, None]:
    """Give a command the option `--url`: it is for holdouts that are here, or at a service."""

    @wraps(command)
    def run(*words: _P.args, **options: _P.kwargs) -> None:
        url: Any = options.pop("url", None)
        with ExitStack() as ended:
            _AT.set(_Place(url, ended))
            command(*words, **options)

    option = Parameter("url", Parameter.KEYWORD_ONLY, default=None, annotation=_Url)
    return with_parameters(run, command, [option])


def served(name: str) -> ServedHoldout | None:
    """The holdout of a name at the service that `--url` names; None if it is one here."""
    at = _AT.get()
    if at is None or at.url is None:
        return None
    from holdfast.service.client import connect

    token = os.environ.get(_TOKEN)
    if not token:
        raise InvalidArgument(
            f"the service at {at.url} wants a token; put yours into the environment: "
            f"{_TOKEN}=hf_..."
        )
    return at.ended.enter_context(connect(at.url, token=token, name=name))


def with_rows(
    name: str,
    data: str | None,
    table: str | None,
    train: str | None = None,
    guesser: str | None = None,
) -> Any:
    """Whoever answers: a holdout with its rows here, or one that a service holds."""
    require_here({"--data": data, "--table": table, "--train": train, "--guesser": guesser})
    return served(name) or opened(name, data, table, train, guesser)


def require_here(options: dict[str, object]) -> None:
    """Refuse what a service is never told: rows, and whatever is read beside them."""
    named = [words for words, value in options.items() if value]
    if _url() is not None and named:
        raise InvalidArgument(
            f"{' and '.join(named)} cannot be sent to a service; leave it out, or leave out --url."
        )


def accepted_cost(text: str | None) -> dict[str, Any]:
    """The price that is accepted of a call to a service, where many share what it takes from."""
    if text is None:
        return {}
    if _url() is None:
        raise InvalidArgument("--accept-cost is for services, with --url; leave it out here.")
    return {"accept_cost": read_number("accept-cost", text)}


def require_at_the_rows(why: str) -> None:
    """Refuse what no service does for anybody, and say where it is done."""
    if _url() is not None:
        raise InvalidArgument(f"{why} Leave out --url, on the machine that has the ledger.")


def again(name: str) -> str:
    """How the next command names the same holdout."""
    url = _url()
    return quote(name) if url is None else f"{quote(name)} --url {quote(url)}"


def _url() -> str | None:
    at = _AT.get()
    return None if at is None else at.url
