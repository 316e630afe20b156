"""Progress on a terminal, and only there, for work that takes more than two seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

__all__ = ["progress"]

_PATIENCE = 2.0


def progress(label: str) -> Callable[[int, int], None] | None:
    """A function of (done, all) that keeps one line of the terminal; None where there is none."""
    if not sys.stderr.isatty():
        return None
    started = time.monotonic()

    def tell(done: int, many: int) -> None:
        if time.monotonic() - started < _PATIENCE:
            return
        end = "\r\033[K" if done >= many else ""
        print(f"\r\033[K{label}: {done:,} of {many:,}{end}", end="", file=sys.stderr, flush=True)

    return tell
