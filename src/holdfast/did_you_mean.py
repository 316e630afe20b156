"""Did you mean: the nearest of the names there are, for the error about one that there is not."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import get_close_matches

__all__ = ["did_you_mean", "near_names"]


def near_names(name: object, names: Iterable[str], most: int = 1) -> list[str]:
    """The names that are spelled nearly so, the nearest first."""
    return get_close_matches(str(name), list(names), n=most)


def did_you_mean(
    name: object, names: Iterable[str], otherwise: str = "", write: Callable[[str], str] = repr
) -> str:
    """The question that ends an error's sentence, with the nearest name; or what is said else."""
    near = near_names(name, names)
    return f"did you mean {write(near[0])}?" if near else otherwise
