"""The theorem registry as text for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from holdfast.theory.theorem import SOURCES, Theorem

__all__ = ["listing", "page"]

_WIDTH = 96


def listing(entries: Sequence[Theorem]) -> str:
    """One line for each theorem, under the file it lives in."""
    lines = []
    module = ""
    for entry in sorted(entries, key=lambda e: (e.module, e.name)):
        if entry.module != module:
            module = entry.module
            lines.append(f"\n{module}")
        lines.append(f"  {entry.name}  [{entry.source}: {entry.place}]")
    count = f"{len(entries)} theorem{'' if len(entries) == 1 else 's'}"
    lines.append(f"\n{count}. Next: holdfast theorems {entries[0].name}")
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
        _field("call", entry.signature),
        _field("statement", entry.statement),
        _field("source", f"{SOURCES[entry.source]}; {entry.place}"),
        _field("domain", entry.domain),
        _field("monotone", directions or "no direction declared"),
        _field("slack", entry.slack),
    ]
    if entry.printed:
        parts.append(_field("printed form", f"differs: holdfast theorems {entry.printed}"))
    for slip in entry.errata:
        parts.append(
            _field(
                "erratum",
                f"{slip.source}, {slip.place}. Printed: {slip.printed}. Right: {slip.right}. "
                f"{slip.why}",
            )
        )
    return "\n".join(parts)


def _field(name: str, text: str) -> str:
    return textwrap.fill(
        text or "-",
        width=_WIDTH,
        initial_indent=f"{name:>12}  ",
        subsequent_indent=" " * 14,
        break_long_words=False,
        break_on_hyphens=False,
    )
