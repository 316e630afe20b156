"""The terminal: paragraphs of a page, and progress of work that takes more than two seconds."""

from __future__ import annotations

import sys
import textwrap
import time
from collections.abc import Callable

__all__ = ["field", "indented", "progress"]


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


# Progress of work that takes more than two seconds: one line of a terminal, or lines of a log.


_PATIENCE = 2.0
_SELDOM = 30.0  # seconds between two lines of a file


def progress(label: str, *, lines: bool = False) -> Callable[[int, int], None] | None:
    """A function of (done, all) that keeps one line of the terminal.

    Where there is none it is None, or with `lines` writes one now and then, and one at the end: for
    work so long that people look into its log.
    """
    if sys.stderr.isatty():
        return _kept_line(label)
    return _lines(label) if lines else None


def _kept_line(label: str) -> Callable[[int, int], None]:
    started = time.monotonic()

    def tell(done: int, many: int) -> None:
        if time.monotonic() - started < _PATIENCE:
            return
        end = "\r\033[K" if done >= many else ""
        print(f"\r\033[K{label}: {done:,} of {many:,}{end}", end="", file=sys.stderr, flush=True)

    return tell


def _lines(label: str) -> Callable[[int, int], None]:
    last = time.monotonic()

    def tell(done: int, many: int) -> None:
        nonlocal last
        if done >= many or time.monotonic() - last >= _SELDOM:
            last = time.monotonic()
            print(f"{label}: {done:,} of {many:,}", file=sys.stderr, flush=True)

    return tell
