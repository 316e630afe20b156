"""The theorem registry as text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.cli.paragraphs import field
from holdfast.theory.theorem import SOURCES, Theorem
from holdfast.wording import plural

__all__ = ["listing", "page"]


def listing(entries: Sequence[Theorem]) -> str:
    """One line for each theorem, under the file it lives in."""
    lines = []
    module = ""
    for entry in sorted(entries, key=lambda e: (e.module, e.name)):
        if entry.module != module:
            module = entry.module
            lines.append(f"\n{module}")
        lines.append(f"  {entry.name}  [{entry.source}: {entry.place}]")
    lines.append(f"\n{plural(len(entries), 'theorem')}. Next: holdfast theorems {entries[0].name}")
    return "\n".join(lines).lstrip("\n")


def page(entry: Theorem) -> str:
    """One theorem in full."""
    directions = ", ".join(
        f"{'rises' if way == 'up' else 'falls'} with {argument}"
        for argument, way in entry.monotone.items()
    )
    parts = [
        f"{entry.name}  (holdfast.theory.{entry.module})",
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
    for slip in entry.errata:
        parts.append(
            field(
                "erratum",
                f"{slip.source}, {slip.place}. Printed: {slip.printed}. Right: {slip.right}. "
                f"{slip.why}",
            )
        )
    return "\n".join(parts)
