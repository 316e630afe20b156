"""The protected rows of a holdout with attached columns, and reservations they cannot answer."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.data.attached import ColumnValues
from holdfast.data.files import require_unchanged
from holdfast.data.keys import KeyOrder, key_order
from holdfast.data.overlap import RowContents
from holdfast.data.sample import Sample
from holdfast.errors import HoldfastError, InvalidArgument, InvalidQuestion
from holdfast.ledger.attachments import AttachedColumn, ValuesKept
from holdfast.ledger.column_files import ColumnStore, submitted_file
from holdfast.ledger.entries import Pending
from holdfast.ledger.opening import Opening

__all__ = ["ProtectedRows", "given_up", "is_readable", "passes"]


_MOST_BESIDE = 64  # attached columns that are held beside the rows


class ProtectedRows:
    """The rows, if the holdout was opened with them; attached columns are put beside on demand."""

    def __init__(self, sample: Sample | None, opening: Opening, columns: ColumnStore) -> None:
        self._opening = opening
        self._columns = columns
        self._order: KeyOrder | None = None
        self._held: dict[tuple[str, str], ColumnValues] = {}  # what was read, or brought, here
        self.put(sample)

    def put(self, sample: Sample | None) -> None:
        """These rows from now on, as they were opened."""
        self.sample = sample
        self.contents = None if sample is None else RowContents(sample, self._opening.terms.key)
        self._joined = sample

    def needed(self, attached: Sequence[AttachedColumn] = ()) -> Sample:
        """The rows, as they were, with these columns; looked at before anything is reserved."""
        if self.sample is None or self._joined is None:
            raise InvalidArgument(
                f"a new question needs the rows of {self._opening.name!r}, and the ledger was "
                "opened without them; open it with its data. Nothing was spent."
            )
        require_unchanged(self.sample)
        beside = self._joined is not self.sample
        if beside and len(self._joined.types) - len(self.sample.types) >= _MOST_BESIDE:
            self._joined = self.sample  # a search brings more than anybody looks at again
        for column in attached:
            if column.name not in self._joined.types:
                frame = self.values(column).frame(column.name)
                self._joined = self._joined.joined(self.key, frame)
        return self._joined if attached else self.sample

    @property
    def key(self) -> str:
        """The column by which values are attached; refused where none was declared."""
        key = self._opening.terms.key
        if key is None:
            raise InvalidArgument(
                f"{self._opening.name!r} was opened without a key, so that nothing can be attached "
                "to its rows; open a ledger with key= (--key), a column that names each row."
            )
        return key

    @property
    def order(self) -> KeyOrder:
        """The keys of the rows, read once."""
        if self._order is None:
            key = self.key
            self._order = key_order(self.needed(), key)
        return self._order

    def values(self, column: AttachedColumn) -> ColumnValues:
        """What was attached, from beside the ledger; refused if that was changed."""
        if column.identity not in self._held:
            self._held[column.identity] = self._columns.values(column, self.key)
        return self._held[column.identity]

    def keep(self, digest: str, values: ColumnValues) -> None:
        """Write what is to be submitted, durably when this returns."""
        self._columns.write(submitted_file(digest), values)
        self._held["submitted", digest] = values

    def keep_computed(self, column: str, values: ColumnValues) -> ValuesKept:
        """Write the values of a computed column, durably when this returns what marks them."""
        return self._columns.keep_computed(column, values)


# Reserved questions that cannot be answered: for now, or for good.


def passes(error: Exception) -> bool:
    """Whether an error is of the machine or the files, so that another try may succeed.

    An argument that is refused inside the door is not: a rule has met rows that it was not made
    for, and would meet them again.
    """
    if isinstance(error, HoldfastError):
        of_question = isinstance(error, InvalidQuestion | InvalidArgument)
        return type(error) is not HoldfastError and not of_question
    return isinstance(error, OSError | MemoryError)


def is_readable(sample: Sample) -> bool:
    """Whether the rows can be read at all, whatever is computed of them."""
    try:
        for _ in sample.frames(sorted(sample.types)):
            pass
    except Exception:
        return False
    return True


def given_up(pending: Pending) -> InvalidQuestion:
    """What is said of a batch that was given up."""
    texts = ", ".join(reserved.offer.question for reserved in pending.asked)
    return InvalidQuestion(
        f"{texts} could not be evaluated, though the table can be read; it keeps its worst charge "
        "and will not be tried again. Ask it in another form."
    )
