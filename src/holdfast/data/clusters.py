"""How many rows belong to each unit, where rows come in clusters."""

from __future__ import annotations

from holdfast.data.counting import value_counts
from holdfast.data.sample import Sample
from holdfast.errors import InvalidArgument
from holdfast.question.columns import no_column

__all__ = ["cluster_sizes"]


def cluster_sizes(sample: Sample, column: str) -> list[int]:
    """The number of rows for each distinct value of a column, largest first; NULL is one value."""
    if column not in sample.types:
        raise InvalidArgument(f"sampling names {no_column(column, sample.types)}")
    return sorted(value_counts(sample, [column])["rows"].to_list(), reverse=True)
