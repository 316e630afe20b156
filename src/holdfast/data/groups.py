"""The groups of a table: which combinations of values there are, and how many rows have each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from holdfast.data.design import DesignValue
from holdfast.data.sample import Sample
from holdfast.question.expression import ColumnType

__all__ = ["group_sizes"]


def group_sizes(sample: Sample, columns: Sequence[str]) -> Mapping[tuple[DesignValue, ...], int]:
    """How many rows have each combination of values; rows that miss one of them are left out."""
    import polars as pl

    text = [name for name in columns if sample.types[name] is ColumnType.TEXT]
    cell = pl.struct(pl.col(n).cast(pl.String) if n in text else pl.col(n) for n in columns)
    found: Counter[tuple[DesignValue, ...]] = Counter()
    for frame in sample.frames(columns):
        sizes = frame.select(cell=cell).group_by("cell").agg(rows=pl.len())
        for values, rows in sizes.iter_rows():
            found[tuple(values[name] for name in columns)] += rows
    return {values: rows for values, rows in found.items() if None not in values}
