"""The tree of errors: when each is raised, and what it becomes at the shell and over the wire."""

from __future__ import annotations

from collections.abc import Iterator
from http import HTTPStatus

from docs.writers.markdown import cell, generated, page, table

from holdfast import errors
from holdfast.cli import exit_code
from holdfast.errors import HoldfastError, Shortfall
from holdfast.service.problems import known_problems, problem_of

__all__ = ["errors_page"]


def errors_page() -> str:
    """Every error with its exit code and its HTTP status, then what a refusal says in numbers."""
    return page(
        generated("holdfast.errors"),
        "# Errors\n",
        "Everything that Holdfast raises on purpose is a `HoldfastError`. Its text says what is "
        "the matter, with the numbers, and what to do next, and never has a value that was "
        "computed from protected data. All of them are names of `holdfast`.\n",
        *table(
            ("error", "is a", "when", "exit code", "HTTP"),
            map(_row, _tree(HoldfastError)),
        ),
        "At the shell, 0 is for what went well and 5 for what was not shown; see "
        "[The command line](../cli.md). Over the wire an error is a problem (RFC 9457) whose "
        "`error` is the class that a local holdout raises, and `holdfast.connect` raises it again; "
        "see [HTTP](http.md#problems).\n",
        "## `Shortfall`\n",
        f"{cell(Shortfall.__doc__ or '')} It is the `shortfall` of a `Refused`, or None.\n",
        *table(
            ("field", "meaning"),
            [
                ("`of`", "what is counted: questions, half-width or nats"),
                ("`requested`", "what was asked for"),
                ("`remaining`", "what is left"),
                ("`missing`", "how far apart they are"),
            ],
        ),
        "## `NothingLeft`\n",
        f"A warning, and no failure. {cell(errors.NothingLeft.__doc__ or '')} It says which "
        "half-widths are possible; see [The planner](../planner.md).\n",
        "## `SecondLedger`\n",
        f"A warning, and no failure. {cell(errors.SecondLedger.__doc__ or '')} See "
        "[the ledger](../holdout.md#the-ledger).\n",
        "## `ImplausibleScale`\n",
        f"A warning, and no failure. {cell(errors.ImplausibleScale.__doc__ or '')} See "
        "[questions without a range](../unbounded.md).\n",
    )


def _tree(error: type[HoldfastError]) -> Iterator[type[HoldfastError]]:
    """An error and those that are of its kind, in the order of the module."""
    yield error
    for each in error.__subclasses__():
        if each.__module__ == errors.__name__:
            yield from _tree(each)


def _row(error: type[HoldfastError]) -> tuple[str, ...]:
    return (
        f"`{error.__name__}`",
        ", ".join(f"`{base.__name__}`" for base in error.__bases__),
        error.__doc__ or "",
        str(exit_code(error(""))),
        ", ".join(map(str, sorted(_statuses(error)))),
    )


def _statuses(error: type[HoldfastError]) -> set[int]:
    """With what a service tells it; nothing of what only a process of one's own can raise."""
    named = {each.status for each in known_problems() if each.error == error.__name__}
    own = problem_of(error("")).status
    return named if own == HTTPStatus.INTERNAL_SERVER_ERROR else named | {own}
