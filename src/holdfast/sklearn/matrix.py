"""Features and labels as they come: arrays, pandas and Polars tables, sparse matrices.

Which rows they are is a digest of each, whatever they came in: numbers are told apart by their
values and not by their types, so that the same rows in another container are the same rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from itertools import pairwise
from math import isnan
from typing import TYPE_CHECKING, Any

from holdfast.data.source import require_unforked
from holdfast.errors import InvalidArgument

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

ROW = "row"
LABEL = "label"
CONTENT = "content"
DEVIATION = "deviation"  # of the label from a baseline, where a scoring needs it
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

    @property
    def kept_as(self) -> list[str]:
        """How the numbers are kept, by which two models of the same ones may differ a little."""
        own = self.features.dtypes if hasattr(self.features, "columns") else [self.features.dtype]
        order = str(getattr(self.features, "strides", ""))
        return [type(self.features).__name__, order, *map(str, own), str(self.labels.dtype)]

    def rows_at(self, places: NDArray[np.int64]) -> LabelledRows:
        """Some rows, in the container they came in."""
        own = self.features.iloc if hasattr(self.features, "iloc") else self.features
        return LabelledRows(own[places], self.labels[places])

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
        """What a ledger knows the rows by: a number, a digest and the label of each."""
        import polars as pl

        labels = label_texts(self.labels.tolist())
        digests = _digests(self.features, labels)
        return pl.DataFrame({ROW: range(len(self)), CONTENT: digests, LABEL: labels})


@dataclass(frozen=True)
class RowsByContent:
    """Protected rows, found by their digests: what is made of one is made of what it holds."""

    rows: LabelledRows
    table: pl.DataFrame

    def having(self, contents: pl.Series) -> LabelledRows:
        """Rows with these digests. Only ever called behind the door."""
        if contents.equals(self.table[CONTENT]):  # all of them, as they are
            return self.rows
        known = self._distinct[CONTENT]
        places = known.search_sorted(contents)
        if not known.gather(places.clip(upper_bound=len(known) - 1)).equals(contents):
            raise KeyError("invented rows are none of the protected ones")
        return self.rows.rows_at(self._distinct[ROW].gather(places).to_numpy())

    @cached_property
    def _distinct(self) -> pl.DataFrame:
        """One row of each content, which is as good as its equals, in the order of contents."""
        return self.table.unique(CONTENT, keep="first").sort(CONTENT)


def labelled_rows(features: Any, labels: Any) -> LabelledRows:
    """Features and labels that belong together; refused where they cannot."""
    import numpy as np

    require_unforked()  # before anything of Polars is touched
    if hasattr(features, "tocsr"):
        features = features.tocsr()
    elif not hasattr(features, "columns"):
        features = np.asarray(features)
    shape: tuple[int, ...] = tuple(features.shape)
    targets = np.asarray(labels)
    if len(shape) != 2 or not shape[0] or targets.ndim != 1:
        raise InvalidArgument(
            f"X has the shape {shape} and y {targets.shape}; X must be a table of rows and "
            "features, and y one label for each row."
        )
    if len(targets) != shape[0]:
        raise InvalidArgument(
            f"X has {shape[0]:,} rows and y {len(targets):,} labels; give one label for each row."
        )
    if any(each is None or (isinstance(each, float) and isnan(each)) for each in targets.tolist()):
        raise InvalidArgument("y has missing labels; leave out the rows that have none.")
    return LabelledRows(features, _plain(targets))


def _plain(labels: NDArray[Any]) -> NDArray[Any]:
    """Labels of one type that NumPy knows, so that they have an order."""
    import numpy as np

    if labels.dtype.kind != "O":
        return labels
    types = sorted({type(each).__name__ for each in labels.tolist()})
    plain_labels = np.asarray(labels.tolist())
    if len(types) > 1 or plain_labels.dtype.kind == "O":
        raise InvalidArgument(
            f"y has labels of the types {', '.join(types)}; give numbers, texts or truth values, "
            "all of one type."
        )
    return plain_labels


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


def label_texts(labels: Iterable[Any]) -> list[str]:
    """Labels as the ledger's column of them has them."""
    return [repr(each) for each in labels]


def _digests(features: Any, labels: list[str]) -> list[str]:
    return [
        sha256(b"%d:%b%b" % (len(row), row, label.encode())).hexdigest()
        for row, label in zip(_bytes_of_rows(features), labels, strict=True)
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
