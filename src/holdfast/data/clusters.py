"""How many rows belong to each unit, where rows come in clusters."""

from __future__ import annotations

from holdfast.data.sample import Sample
from holdfast.errors import InvalidArgument
from holdfast.question.columns import no_column

__all__ = ["cluster_sizes", "effective_size"]


def cluster_sizes(sample: Sample, column: str) -> list[int]:
    """The number of rows for each distinct value of a column, largest first; NULL is one value."""
    import polars as pl

    if column not in sample.types:
        raise InvalidArgument(f"sampling names {no_column(column, sample.types)}")
    counts = [
        frame.group_by(pl.col(column).alias("unit")).len() for frame in sample.frames([column])
    ]
    sizes = pl.concat(counts).group_by("unit").agg(pl.col("len").sum())["len"]
    return sorted(sizes.to_list(), reverse=True)


def effective_size(sample: Sample, column: str) -> float:
    """Rows in a unit; for unequal units the sum of their squared sizes over the sum of sizes."""
    sizes = cluster_sizes(sample, column)
    return sum(size * size for size in sizes) / sum(sizes)
