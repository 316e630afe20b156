"""The groups of a table: which combinations of values there are, and how many rows have each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from holdfast.data.counting import value_counts
from holdfast.data.design import DesignValue
from holdfast.data.sample import Sample

__all__ = ["group_sizes"]


def group_sizes(sample: Sample, columns: Sequence[str]) -> Mapping[tuple[DesignValue, ...], int]:
    """How many rows have each combination of values; rows that miss one of them are left out."""
    counted = value_counts(sample, columns).drop_nulls()
    return {tuple(values): rows for *values, rows in counted.iter_rows()}
