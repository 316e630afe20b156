"""Views of the theorem registry: the theorems, and where the printed papers are wrong."""

from __future__ import annotations

from collections import defaultdict

from docs.writers.markdown import generated, page, table

from holdfast.theory.base.theorem import SOURCES, Erratum, registry

__all__ = ["errata_page", "theorem_page"]

_NOTE = generated("the theorem registry")


def theorem_page() -> str:
    """Every theorem, by the file it lives in."""
    by_module = defaultdict(list)
    for entry in registry().values():
        by_module[entry.module].append(entry)
    lines = [
        _NOTE,
        "# The theorems\n",
        f"{len(registry())} results, each a function of `holdfast.theory` with its source. "
        "`holdfast theorems NAME` shows one in full, with its domain, monotone directions and "
        "slack.\n",
        "Sources: " + "; ".join(f"**{key}** = {title}" for key, title in SOURCES.items()) + ".\n",
    ]
    for module, entries in sorted(by_module.items()):
        lines.append(f"## {module.replace('.', '/')}.py\n")
        lines += table(
            ("theorem", "source", "statement"),
            [
                (f"`{each.name}`", f"{each.source}: {each.place}", each.statement)
                for each in entries
            ],
        )
    return page(*lines)


def errata_page() -> str:
    """Where the printed papers are wrong or loose, by source."""
    slips: dict[str, list[tuple[Erratum, str, str | None]]] = defaultdict(list)
    for entry in registry().values():
        for slip in entry.errata:
            slips[slip.source].append((slip, entry.name, entry.printed))
    lines = [
        _NOTE,
        "# Where the printed papers are wrong\n",
        "Each slip with what is right, why, and the function that has it right. Printed forms that "
        "differ are kept under names ending in `_printed`, so that the difference can be seen.\n",
    ]
    for source in SOURCES:
        if not slips[source]:
            continue
        lines.append(f"## {source}: {SOURCES[source]}\n")
        for slip, name, printed in sorted(slips[source], key=lambda s: (s[0].place, s[1])):
            kept = f", printed form `{printed}`" if printed else ""
            lines += [
                f"**{slip.place}** (`{name}`{kept})\n",
                f"- printed: {slip.printed}",
                f"- right: {slip.right}",
                f"- why: {slip.why}\n",
            ]
    return page(*lines)
