"""The special functions of scipy, loaded when the first of them is called.

Most commands and many questions need none, and loading them takes as long as loading numpy itself.
"""

from __future__ import annotations

from typing import Any

__all__: list[str] = []


def __getattr__(name: str) -> Any:
    from scipy import special

    value = getattr(special, name)
    globals()[name] = value
    return value
