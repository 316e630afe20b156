"""Views of the theorem registry: the theorems, and the notes on the source documents."""

from __future__ import annotations

from collections import Counter, defaultdict

from docs.writers.markdown import generated, page, table

from holdfast.theory.base.theorem import NOTE_KINDS, SOURCES, SourceNote, registry

__all__ = ["source_notes_page", "theorem_page"]

_NOTE = generated("the theorem registry")


def theorem_page() -> str:
    """Every theorem, by the file it lives in."""
    by_module = defaultdict(list)
    for entry in registry().values():
        by_module[entry.module].append(entry)
    lines = [
        _NOTE,
        "# The theorems\n",
        f"{len(registry())} results, each a function of `holdfast.theory` with its source (of "
        "`holdfast.papers.theorems` where no promise rests on it). "
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


def source_notes_page() -> str:
    """Where our copies of the source documents read otherwise than the functions, by source."""
    users: dict[SourceNote, list[str]] = defaultdict(list)
    for entry in registry().values():
        for note in entry.notes:
            kept = f" (printed form `{entry.printed}`)" if entry.printed else ""
            users[note].append(f"`{entry.name}`{kept}")
    kinds = Counter(note.kind for note in users)
    lines = [
        _NOTE,
        "# Notes on the source documents\n",
        "Where our copies of the five documents read otherwise than what the functions compute, "
        "with the reason. The copies are transcriptions, and the originals were not compared: a "
        "root sign or a subscript may have moved on the way. So every note has a class:\n",
        f"- **{NOTE_KINDS['slip']}** ({kinds['slip']}): wrong, or a condition or a factor is "
        "missing, and no moved sign would explain it. Each has a derivation or a counterexample "
        "that `tests/theory/test_source_notes.py` runs.",
        f"- **{NOTE_KINDS['copy']}** ({kinds['copy']}): the document's own later lines use the "
        "right form.",
        f"- **{NOTE_KINDS['loose']}** ({kinds['loose']}): nothing is wrong; a better or a plainer "
        "form is used here.\n",
        "Forms that differ are kept as they read, under names ending in `_printed`, so that the "
        "difference can be seen.\n",
    ]
    for source, title in SOURCES.items():
        notes = sorted((note for note in users if note.source == source), key=lambda n: n.place)
        if notes:
            lines.append(f"## {source}: {title}\n")
        for note in notes:
            lines += [
                f"**{note.place}**: {NOTE_KINDS[note.kind]}\n",
                f"- reads: {note.printed}",
                f"- used: {note.right}",
                f"- why: {note.why}",
                f"- in: {', '.join(users[note])}\n",
            ]
    return page(*lines)
