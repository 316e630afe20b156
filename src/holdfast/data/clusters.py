"""How many rows belong to each unit, where rows come in clusters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from holdfast.data.sample import Sample
from holdfast.errors import InvalidArgument
from holdfast.question.columns import no_column

if TYPE_CHECKING:
    import polars as pl

__all__ = ["cluster_sizes", "totals_by_unit"]


def cluster_sizes(sample: Sample, column: str) -> list[int]:
    """The number of rows for each distinct value of a column, largest first; NULL is one value."""
    import polars as pl

    if column not in sample.types:
        raise InvalidArgument(f"sampling names {no_column(column, sample.types)}")
    rows = (
        frame.select(pl.col(column).alias("unit"), pl.lit(1, pl.Int64).alias("size"))
        for frame in sample.frames([column])
    )
    return sorted(totals_by_unit(rows)["size"].to_list(), reverse=True)


def totals_by_unit(frames: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """The sums of all other columns for each value of the column `unit`; NULL is one value."""
    import polars as pl

    parts = [frame.group_by("unit").agg(pl.all().sum()) for frame in frames]
    return pl.concat(parts).group_by("unit").agg(pl.all().sum())
