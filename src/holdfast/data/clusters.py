"""How many rows belong to each unit, where rows come in clusters."""

from __future__ import annotations

from holdfast.data.sample import Sample
from holdfast.errors import InvalidArgument

__all__ = ["cluster_sizes"]


def cluster_sizes(sample: Sample, column: str) -> list[int]:
    """The number of rows for each distinct value of a column, largest first; NULL is one value."""
    import polars as pl

    if column not in sample.types:
        listed = ", ".join(repr(name) for name in sample.types)
        raise InvalidArgument(f"{column!r} is not a column of the table; its columns are {listed}.")
    counts = [
        frame.group_by(pl.col(column).alias("unit")).len() for frame in sample.frames([column])
    ]
    sizes = pl.concat(counts).group_by("unit").agg(pl.col("len").sum())["len"]
    return sorted(sizes.to_list(), reverse=True)
