"""A pandas frame as a Polars frame, the same with and without pyarrow installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from holdfast.data.sample import check_names
from holdfast.errors import InvalidArgument

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

__all__ = ["from_pandas"]


def from_pandas(frame: pd.DataFrame) -> pl.DataFrame:
    """The columns of a pandas frame; its index is left out; NaN, NaT and NA are null."""
    import polars as pl

    names = [str(name) for name in frame.columns]
    check_names(names)
    columns = [_readable(name, frame.iloc[:, place]) for place, name in enumerate(names)]
    return pl.DataFrame(columns)


def _readable(name: str, series: pd.Series[Any]) -> pl.Series:
    try:
        return _column(name, series)
    except InvalidArgument:
        raise
    except Exception:  # whatever a type of another library raises
        raise InvalidArgument(
            f"Column {name!r} is of the pandas type {series.dtype}, which cannot be read; make it "
            "numbers, text, dates or booleans, or drop the column."
        ) from None


def _column(name: str, series: pd.Series[Any]) -> pl.Series:
    import numpy as np
    import polars as pl

    kind = getattr(series.dtype, "kind", "O")
    missing = series.isna().to_numpy(dtype=bool)
    if kind in "biuf":
        numpy_type = cast("Any", getattr(series.dtype, "numpy_dtype", series.dtype))
        filled = series.to_numpy(dtype=numpy_type, na_value=0) if missing.any() else series
        numbers = pl.Series(name, np.ascontiguousarray(filled, dtype=numpy_type))
        return _with_nulls(numbers, missing) if missing.any() else numbers
    if kind == "M":
        if getattr(series.dtype, "tz", None) is not None:
            series = series.dt.tz_convert("UTC").dt.tz_localize(None)
        moments = series.to_numpy()
        unit = np.datetime_data(moments.dtype)[0]
        return pl.Series(name, moments if unit in ("ms", "us", "ns") else moments.astype("M8[us]"))
    values = [None if absent else value for value, absent in zip(series, missing, strict=True)]
    try:
        return pl.Series(name, values)
    except (TypeError, pl.exceptions.PolarsError):
        raise InvalidArgument(
            f"Column {name!r} mixes values of several types; make them one type or drop the column."
        ) from None


def _with_nulls(series: pl.Series, missing: Any) -> pl.Series:
    import polars as pl

    values = pl.when(pl.Series("missing", missing).not_()).then(series)
    return pl.select(values.alias(series.name)).to_series()
