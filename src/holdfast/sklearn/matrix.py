"""Features and labels as they come: arrays, pandas and Polars tables, sparse matrices.

Which rows they are is a digest of each, whatever they came in: numbers are told apart by their
values and not by their types, so that the same rows in another container are the same rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise
from math import isnan
from typing import TYPE_CHECKING, Any

from holdfast.errors import InvalidArgument

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

__all__ = ["ROW", "LabelledRows", "labelled_rows"]

ROW = "row"
_CONTENT = "content"
_NUMBERS = "biuf"  # kinds of NumPy's types that are numbers


@dataclass(frozen=True, slots=True)
class LabelledRows:
    """Rows of features, and a label of each."""

    features: Any
    labels: NDArray[Any]

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def width(self) -> int:
        """How many features a row has."""
        return int(self.features.shape[1])

    def taken(self, places: NDArray[np.int64]) -> Any:
        """The features of some rows, in the container they came in."""
        if hasattr(self.features, "iloc"):
            return self.features.iloc[places]
        return self.features[places]

    def invented(self) -> Any | None:
        """Two rows that are nobody's, in the same container; None where values are no numbers."""
        import numpy as np

        numbers = np.stack([np.zeros(self.width), np.ones(self.width)])
        if hasattr(self.features, "columns"):
            types = [each.kind if hasattr(each, "kind") else "" for each in _types(self.features)]
            if any(kind not in ("i", "u", "f") for kind in types):
                return None
            return type(self.features)(numbers, **_named(self.features))
        if self.features.dtype.kind not in _NUMBERS:
            return None
        if not isinstance(self.features, np.ndarray):
            return type(self.features)(numbers)
        return numbers.astype(self.features.dtype)

    def table(self) -> pl.DataFrame:
        """What a ledger knows the rows by: a number and a digest for each."""
        import polars as pl

        return pl.DataFrame({ROW: range(len(self)), _CONTENT: _digests(self)})


def labelled_rows(features: Any, labels: Any) -> LabelledRows:
    """Features and labels that belong together; refused where they cannot."""
    import numpy as np

    if hasattr(features, "tocsr"):
        features = features.tocsr()
    elif not hasattr(features, "columns"):
        features = np.asarray(features)
    shape: tuple[int, ...] = tuple(features.shape)
    known = np.asarray(labels)
    if len(shape) != 2 or not shape[0] or known.ndim != 1:
        raise InvalidArgument(
            f"X has the shape {shape} and y {known.shape}; X must be a table of rows and "
            "features, and y one label for each row."
        )
    if len(known) != shape[0]:
        raise InvalidArgument(
            f"X has {shape[0]:,} rows and y {len(known):,} labels; give one label for each row."
        )
    if any(each is None or (isinstance(each, float) and isnan(each)) for each in known.tolist()):
        raise InvalidArgument("y has missing labels; leave out the rows that have none.")
    return LabelledRows(features, known)


def _types(frame: Any) -> list[Any]:
    """The NumPy types of a table's columns."""
    import numpy as np

    if hasattr(frame, "iloc"):
        return list(frame.dtypes)
    return [np.dtype("float64" if each.is_numeric() else "O") for each in frame.dtypes]


def _named(frame: Any) -> dict[str, Any]:
    """How the columns of a table are named when it is made."""
    if hasattr(frame, "iloc"):
        return {"columns": frame.columns}
    return {"schema": frame.columns, "orient": "row"}


def _digests(rows: LabelledRows) -> list[str]:
    labels = [repr(each).encode() for each in rows.labels.tolist()]
    features = _bytes_of_rows(rows.features)
    return [
        sha256(b"%d:%b%b" % (len(row), row, label)).hexdigest()
        for row, label in zip(features, labels, strict=True)
    ]


def _bytes_of_rows(features: Any) -> list[bytes]:
    import numpy as np

    if hasattr(features, "indptr"):
        features = features.copy()
        features.sum_duplicates()
        features.eliminate_zeros()
        ends = features.indptr
        parts = (features.indices.astype("<i8"), features.data.astype("<f8"))
        return [
            b"".join(part[low:high].tobytes() for part in parts) for low, high in pairwise(ends)
        ]
    array = features.to_numpy() if hasattr(features, "to_numpy") else features
    if array.dtype.kind in _NUMBERS:
        return [row.tobytes() for row in np.ascontiguousarray(array, dtype="<f8") + 0.0]
    return [repr(row).encode() for row in array.tolist()]
