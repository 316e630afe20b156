"""`holdfast mechanisms`: the catalogue as a table, and one mechanism in full."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli.commands import Json, app, show_json
from holdfast.cli.terminal import field, indented
from holdfast.errors import InvalidArgument

if TYPE_CHECKING:
    from holdfast.mechanisms.kind import MechanismKind

__all__ = ["mechanisms", "options_of_text"]

_AUTO = (
    "Takes bounded noise or median noise, whichever the planner says is narrower for what was "
    "declared, and says why."
)


@app.command(epilog="Example: holdfast mechanisms rounding")
def mechanisms(
    name: Annotated[
        str | None, typer.Argument(help="A mechanism's name, to show it in full.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Every way to answer, with what it needs and promises.

    Each name can be given to holdfast init --mechanism; "auto" chooses one and says why.
    """
    from holdfast.mechanisms.auto import AUTO
    from holdfast.mechanisms.catalogue import CATALOGUE, kind_of

    if name is None:
        kinds = list(CATALOGUE.values())
        show_json([_facts(kind) for kind in kinds]) if as_json else typer.echo(_listing(kinds))
        return
    if name == AUTO:
        show_json({"name": AUTO, "summary": _AUTO}) if as_json else typer.echo(_auto_page())
        return
    kind = kind_of(name)
    show_json(_facts(kind)) if as_json else typer.echo(_page(kind))


def options_of_text(texts: Sequence[str]) -> dict[str, Any]:
    """Options as they are written on the command line: KEY=VALUE, the value as JSON or as text."""
    options: dict[str, Any] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not key or not equals:
            raise InvalidArgument(f"option is {text!r}; write it as KEY=VALUE, such as step=0.01.")
        try:
            options[key] = json.loads(value)
        except ValueError:
            options[key] = value
    return options


def _facts(kind: MechanismKind) -> dict[str, Any]:
    return {
        "name": kind.name,
        "summary": kind.summary,
        "needs": kind.needs,
        "promises": _promise(kind),
        "theorem": kind.theorem,
        "checks": kind.refuses_checks is None,
        "options": dict(kind.options),
    }


def _promise(kind: MechanismKind) -> str:
    if kind.theorem is None:
        return f"no promise: {kind.promises}"
    return f"every interval true, all together, by {kind.promises}"


def _auto_page() -> str:
    opened = "\nNext: holdfast init DATA --questions 100 --mechanism auto"
    return "\n".join(["auto", "", indented(_AUTO), opened])


def _listing(kinds: Sequence[MechanismKind]) -> str:
    lines = []
    for kind in kinds:
        lines += [kind.name, indented(kind.summary)]
        lines += [field("needs", kind.needs), field("promises", _promise(kind)), ""]
    lines += ["auto", indented(_AUTO), ""]
    lines.append(f"{len(kinds)} mechanisms. Next: holdfast mechanisms '{kinds[0].name}'")
    return "\n".join(lines)


def _page(kind: MechanismKind) -> str:
    lines = [kind.name, "", indented(kind.summary), field("needs", kind.needs)]
    lines.append(field("promises", _promise(kind)))
    if kind.theorem is not None:
        lines.append(field("theorem", f"holdfast theorems {kind.theorem}"))
    refused = kind.refuses_checks and f"not checked: {kind.refuses_checks}"
    lines.append(field("guesses", refused or "checked beside it, by guess and check."))
    for option, what in kind.options.items():
        lines.append(field("option", f"--option {option}=...  {what}"))
    lines.append(f"\nNext: holdfast init DATA --questions 100 --mechanism '{kind.name}'")
    return "\n".join(lines)
