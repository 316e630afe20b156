"""How often values occur: counted by an engine that can, or from batches of its rows.

Memory grows with the different values, not with the rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from holdfast.data.sample import Sample
from holdfast.question.expression import Expression
from holdfast.question.row import RowValue

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Counting", "summed_by", "value_counts"]

_MOST_WAITING = 1 << 20  # rows of batches that are not added up yet


@runtime_checkable
class Counting(Protocol):
    """An engine that counts by itself, where its rows are."""

    def value_counts(self, columns: Sequence[str]) -> pl.DataFrame:
        """As the function of this name."""
        ...

    def step_counts(
        self, rows: Sequence[tuple[RowValue, Expression]], inside: Expression | None
    ) -> pl.DataFrame:
        """Each combination of steps k0, k1, ... once, and in `times` how many rows have it.

        Of the rows where the condition holds.
        """
        ...

    def class_counts(self, score: Expression, positive: Expression) -> Iterator[pl.DataFrame]:
        """Each `score` once, ascending, with its `negatives` and `positives`, in batches.

        A missing score is below all, and a row whose class is missing is a negative.
        """
        ...


def value_counts(sample: Sample, columns: Sequence[str]) -> pl.DataFrame:
    """Each combination v0, v1, ... of values of the columns once, and how many `rows` have it.

    NULL is one value, and so is all else that no question can tell apart.
    """
    import polars as pl

    from holdfast.data.plain import told_apart

    keys = {f"v{place}": name for place, name in enumerate(columns)}
    if isinstance(sample, Counting):
        found = sample.value_counts(columns)
        return _added_up([*keys], found.with_columns(told_apart(v, found.schema[v]) for v in keys))

    def counted(frame: pl.DataFrame) -> pl.DataFrame:
        values = (told_apart(name, frame.schema[name]).alias(v) for v, name in keys.items())
        return frame.select(values).group_by([*keys]).agg(rows=pl.len().cast(int))

    return summed_by([*keys], map(counted, sample.frames(list(dict.fromkeys(columns)))))


def summed_by(keys: Sequence[str], parts: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """The sums of all other columns for each combination of the keys; NULL is one value."""
    import polars as pl

    held: list[pl.DataFrame] = []
    waiting = 0
    for part in parts:
        held.append(part)
        waiting += part.height
        if waiting > max(_MOST_WAITING, 2 * held[0].height):
            held, waiting = [_added_up(keys, pl.concat(held))], 0
    return _added_up(keys, pl.concat(held))


def _added_up(keys: Sequence[str], parts: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    return parts.group_by(keys).agg(pl.all().sum())
