"""Reserved questions that cannot be answered: for now, or for good."""

from __future__ import annotations

from holdfast.data.sample import Sample
from holdfast.errors import HoldfastError, InvalidArgument, InvalidQuestion
from holdfast.ledger.recording import Pending

__all__ = ["given_up", "is_readable", "passes"]


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
    texts = ", ".join(asked.offer.question for asked in pending.asked)
    return InvalidQuestion(
        f"{texts} could not be evaluated, though the table can be read; it keeps its worst charge "
        "and will not be tried again. Ask it in another form."
    )
