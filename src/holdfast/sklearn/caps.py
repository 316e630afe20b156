"""Caps of errors: how far off a prediction counts at most, from rows that are not protected."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from holdfast import require
from holdfast.data.fingerprint import RowContents, unexplained_overlap
from holdfast.data.polars import PolarsSample
from holdfast.errors import InvalidArgument
from holdfast.sklearn.matrix import CONTENT, ROW, labelled_rows
from holdfast.statistics.metrics import cap_of_errors

if TYPE_CHECKING:
    import polars as pl

_DIGITS = 3  # that the baseline is rounded to: it is part of every question
_PREFIT = "prefit"


@dataclass(frozen=True, slots=True)
class ErrorCaps:
    """Caps of regression errors: an error beyond `cap` counts as `cap`.

    `baseline` is what R2 compares with, a fixed number, and `baseline_cap` the cap of its errors.
    `rows` are the digests of the rows that they were taken from, where that is known.
    """

    cap: float
    baseline: float = 0.0
    baseline_cap: float | None = None
    rows: tuple[str, ...] = field(default=(), repr=False, compare=False)

    def __post_init__(self) -> None:
        require.positive("cap", self.cap)
        require.finite("baseline", self.baseline)
        if self.baseline_cap is not None:
            require.positive("baseline_cap", self.baseline_cap)

    def require_other_rows(self, protected: pl.DataFrame) -> None:
        """Refuse caps that were taken from protected rows, but for duplicates."""
        import polars as pl

        own = PolarsSample(pl.DataFrame({CONTENT: self.rows}, schema={CONTENT: pl.String}))
        contents = RowContents(PolarsSample(protected.select(CONTENT)), ROW)
        shared = unexplained_overlap(contents, own) if self.rows else 0
        if shared:
            raise InvalidArgument(
                f"of the {own.n:,} rows that the caps were taken from {shared:,} are protected "
                "here, more than duplicates explain; take them from other rows."
            )


def error_caps(estimator: Any, X: Any, y: Any, *, cv: Any = 5) -> ErrorCaps:
    """Caps by the 0.99-quantile of the absolute errors of the estimator in use.

    X and y are rows that are not protected. They are training rows that are predicted by fits to
    the others (`cv`, as for scikit-learn's cross_val_predict), or with `cv="prefit"` development
    rows that a fitted estimator has not seen. The baseline is the mean of y.
    """
    import numpy as np

    rows = labelled_rows(X, y)
    if rows.labels.dtype.kind not in "biuf":
        raise InvalidArgument("y holds no numbers, and errors are differences; give numbers.")
    if isinstance(cv, str) and cv == _PREFIT:
        predicted = estimator.predict(rows.features)
    else:
        from sklearn.model_selection import (  # type: ignore[import-untyped]
            cross_val_predict,
        )

        predicted = cross_val_predict(estimator, rows.features, rows.labels, cv=cv)
    labels = rows.labels.astype(np.float64)
    baseline = float(f"{labels.mean():.{_DIGITS}g}")
    return ErrorCaps(
        cap_of_errors((labels - np.asarray(predicted, dtype=np.float64)).tolist()),
        baseline,
        cap_of_errors((labels - baseline).tolist()),
        tuple(rows.table()[CONTENT]),
    )
