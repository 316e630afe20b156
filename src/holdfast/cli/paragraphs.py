"""Paragraphs of a page in the terminal: plain ones, and ones with a name in the margin."""

from __future__ import annotations

import textwrap

__all__ = ["field", "indented"]

_WIDTH = 96


def indented(text: str) -> str:
    """A paragraph."""
    return textwrap.fill(
        text, _WIDTH, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False
    )


def field(name: str, text: str) -> str:
    """A paragraph with its name in the margin; words that can be typed are not broken."""
    return textwrap.fill(
        text or "-",
        width=_WIDTH,
        initial_indent=f"{name:>12}  ",
        subsequent_indent=" " * 14,
        break_long_words=False,
        break_on_hyphens=False,
    )
