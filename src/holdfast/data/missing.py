"""Which columns hold missing values: looked up once, when a ledger is opened."""

from __future__ import annotations

from collections.abc import Iterable

from holdfast.data.sample import Sample
from holdfast.question import build
from holdfast.question.expression import Column
from holdfast.question.row import condition_row

__all__ = ["columns_with_missing"]

_AT_ONCE = 64  # columns of one scan


def columns_with_missing(sample: Sample, columns: Iterable[str]) -> list[str]:
    """Those of the columns that hold NULL or NaN; one whose type no question can use is passed."""
    usable = [name for name in columns if sample.types[name].kind is not None]
    incomplete: list[str] = []
    for start in range(0, len(usable), _AT_ONCE):
        names = usable[start : start + _AT_ONCE]
        missing = (build.is_null(Column(name, sample.types[name])) for name in names)
        totals = sample.sums([condition_row(each) for each in missing])
        incomplete += [name for name, total in zip(names, totals, strict=True) if total]
    return incomplete
