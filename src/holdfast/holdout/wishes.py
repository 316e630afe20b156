"""Wishes put together: which are the same, which are answered alike, and what they found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias, TypeGuard

from holdfast import require
from holdfast.described.question import DescribedQuestion
from holdfast.errors import LedgerTampered
from holdfast.ledger.entries import Recorded
from holdfast.mechanisms.mechanism import Wish
from holdfast.mechanisms.terms import Terms
from holdfast.question.row import RowValue
from holdfast.statistics.measuring import summed
from holdfast.statistics.recorded import is_named
from holdfast.statistics.statistic import Statistic

__all__ = [
    "Body",
    "Concluding",
    "Conclusion",
    "Key",
    "LookFound",
    "by_mechanism",
    "is_by_name",
    "is_described",
    "looks_found",
    "order_of",
    "rows_of",
    "wanted_part",
]

# What makes wishes of one batch the same: the question, and what the analyst claims of it.
Key: TypeAlias = tuple[str, tuple[float, float] | None]
Body: TypeAlias = dict[str, Any]


class LookFound(NamedTuple):
    """The look that fulfils a wish, and whether it was taken in this call."""

    look: Recorded
    fresh: bool


# Given what was found, before that is written: the entries to write in one commit with it.
Conclusion: TypeAlias = Callable[[Sequence[LookFound]], Sequence[Body]]
Concluding: TypeAlias = Callable[[Sequence[Recorded]], Sequence[Body]]


def by_mechanism(wishes: Sequence[Wish]) -> list[list[Wish]]:
    """Those to be checked, to be gated, to be asked, and those that are described."""
    groups: list[list[Wish]] = [[], [], [], []]
    for wish in wishes:
        groups[order_of(wish)].append(wish)
    return [group for group in groups if group]


def order_of(wish: Wish) -> int:
    """Which of the groups a wish belongs to: each is answered by another mechanism."""
    if is_described(wish.question):
        return 3
    return 2 if wish.claim is None else int(wish.gated)


def looks_found(
    keys: Sequence[Key],
    wishes: Sequence[Wish],
    fresh: Mapping[Key, Recorded],
    stored: Callable[[Wish], Recorded | None],
) -> list[LookFound]:
    """What fulfils each wish: a look of this call, or one that is stored."""
    found = []
    for key, wish in zip(keys, wishes, strict=True):
        look = fresh.get(key) or stored(wish)
        if look is None:
            raise LedgerTampered("the ledger has lost an answer; open it again.")
        found.append(LookFound(look, key in fresh))
    return found


def is_described(question: object) -> TypeGuard[DescribedQuestion]:
    """Whether a rule of its own answers it."""
    return isinstance(question, DescribedQuestion)


def is_by_name(question: Statistic) -> bool:
    """Whether it is known by its name alone, whatever it does."""
    return not is_described(question) and is_named(question)


def wanted_part(terms: Terms, tolerance: float | None, of: Statistic | None) -> float:
    """The half-width wanted, as a part of the range: a tolerance may be one of a smaller unit."""
    unit = 1.0 if of is None else of.unit(terms.rows)
    if tolerance is None:
        return terms.half_width * unit
    if of is None or not of.unbounded:
        return require.tolerance(tolerance) * unit
    return require.between("tolerance", tolerance, 0.0, 0.5 / unit, open_low=True) * unit


def rows_of(question: Statistic) -> tuple[RowValue, ...]:
    """What an engine has to compute for a question."""
    if is_described(question):
        return question.look.rows
    row = summed(question)
    return () if row is None else (row,)
