"""`holdfast theorems`: the theorem registry as text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from holdfast.cli.commands import Json, app, show_json
from holdfast.cli.terminal import field
from holdfast.errors import InvalidArgument
from holdfast.theory.base.theorem import NOTE_KINDS, SOURCES, Theorem
from holdfast.wording import plural

__all__ = ["page", "theorems"]


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

    known = registry()
    if arguments:
        if name is None or name not in known:
            raise InvalidArgument(_no_theorem(name or "", list(known)))
        _evaluate(known[name], arguments, as_json)
        return
    if name is not None and name in known:
        entry = known[name]
        if as_json:
            show_json(entry.to_dict())
        else:
            typer.echo(page(entry))
        return
    entries = list(known.values()) if name is None else find_theorems(name)
    if not entries:
        raise InvalidArgument(_no_theorem(name or "", list(known)))
    if as_json:
        show_json([entry.to_dict() for entry in entries])
    else:
        typer.echo(_listing(entries))


def _evaluate(entry: Theorem, arguments: Sequence[str], as_json: bool) -> None:
    from holdfast.theory.evaluating import evaluated

    found = evaluated(entry, arguments)
    if as_json:
        show_json(found.to_dict())
        return
    typer.echo("\n".join(found.lines()))
    typer.echo(f"\n{entry.statement}\nNext: holdfast theorems {entry.name}")


def _no_theorem(word: str, names: list[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(word, names, n=3, cutoff=0.5)
    hint = f"near matches: {', '.join(near)}" if near else "try: holdfast theorems"
    return f"no theorem contains {word!r}; {hint}."


def _listing(entries: Sequence[Theorem]) -> str:
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
