"""The commands that list what there is: mechanisms, theorems."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli.commands import Json, app, field, indented, show_json
from holdfast.errors import InvalidArgument
from holdfast.theory.base.theorem import NOTE_KINDS, SOURCES, Theorem
from holdfast.wording import plural

if TYPE_CHECKING:
    from holdfast.mechanisms.catalogue import MechanismKind

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
    from holdfast.mechanisms.catalogue import AUTO, CATALOGUE, kind_of

    if name is None:
        kinds = list(CATALOGUE.values())
        show_json([_facts(kind) for kind in kinds]) if as_json else typer.echo(
            _mechanism_list(kinds)
        )
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


def _mechanism_list(kinds: Sequence[MechanismKind]) -> str:
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
    for option, meaning in kind.options.items():
        lines.append(field("option", f"--option {option}=...  {meaning}"))
    lines.append(f"\nNext: holdfast init DATA --questions 100 --mechanism '{kind.name}'")
    return "\n".join(lines)


@app.command(epilog="Example: holdfast theorems gaussian_tv n=1000 k=100 s=0.05")
def theorems(
    name: Annotated[
        str | None, typer.Argument(help="A theorem's name, or a word to look for.")
    ] = None,
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME=VALUE]...",
            help="Evaluate it there; nu=1e-6 may stand for log_nu, step=PureDP(0.1) for a value.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """The theorems behind every number.

    Without a name it lists them all, with a word those that contain it, with a name one in full;
    with a name and arguments it is evaluated.
    """
    from holdfast.theory.base.theorem import find_theorems, registry

    by_name = registry()
    if arguments:
        if name is None or name not in by_name:
            raise InvalidArgument(_no_theorem(name or "", list(by_name)))
        _evaluate(by_name[name], arguments, as_json)
        return
    if name is not None and name in by_name:
        entry = by_name[name]
        if as_json:
            show_json(entry.to_dict())
        else:
            typer.echo(page(entry))
        return
    entries = list(by_name.values()) if name is None else find_theorems(name)
    if not entries:
        raise InvalidArgument(_no_theorem(name or "", list(by_name)))
    if as_json:
        show_json([entry.to_dict() for entry in entries])
    else:
        typer.echo(_theorem_list(entries))


def _evaluate(entry: Theorem, arguments: Sequence[str], as_json: bool) -> None:
    from holdfast.theory.evaluating import evaluated

    evaluation = evaluated(entry, arguments)
    if as_json:
        show_json(evaluation.to_dict())
        return
    typer.echo("\n".join(evaluation.lines()))
    typer.echo(f"\n{entry.statement}\nNext: holdfast theorems {entry.name}")


def _no_theorem(word: str, names: list[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(word, names, n=3, cutoff=0.5)
    hint = f"near matches: {', '.join(near)}" if near else "try: holdfast theorems"
    return f"no theorem contains {word!r}; {hint}."


def _theorem_list(entries: Sequence[Theorem]) -> str:
    """One line for each theorem, under the file it lives in."""
    lines = []
    module = ""
    ordered = sorted(entries, key=lambda e: (e.module, e.name))
    for entry in ordered:
        if entry.module != module:
            module = entry.module
            lines.append(f"\n{module}")
        lines.append(f"  {entry.name}  [{entry.source}: {entry.place}]")
    lines.append(f"\n{plural(len(entries), 'theorem')}. Next: holdfast theorems {ordered[0].name}")
    return "\n".join(lines).lstrip("\n")


def page(entry: Theorem) -> str:
    """One theorem in full."""
    directions = ", ".join(
        f"{'rises' if way == 'up' else 'falls'} with {argument}"
        for argument, way in entry.monotone.items()
    )
    parts = [
        f"{entry.name}  ({entry.function.__module__})",
        "",
        field("call", entry.signature),
        field("statement", entry.statement),
        field("source", f"{SOURCES[entry.source]}; {entry.place}"),
        field("domain", entry.domain),
        field("monotone", directions or "no direction declared"),
        field("slack", entry.slack),
    ]
    if entry.printed:
        parts.append(field("printed form", f"differs: holdfast theorems {entry.printed}"))
    for note in entry.notes:
        parts.append(
            field(
                "note",
                f"{note.source}, {note.place} ({NOTE_KINDS[note.kind]}). Printed: {note.printed}. "
                f"Used: {note.right}. {note.why}",
            )
        )
    return "\n".join(parts)
