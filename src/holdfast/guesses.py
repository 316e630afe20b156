"""Guesses: from numbers, or computed from other rows than the protected ones."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

from holdfast import require
from holdfast.data.fingerprint import fingerprint
from holdfast.data.sample import Sample
from holdfast.data.source import open_sample
from holdfast.errors import InvalidArgument
from holdfast.ledger.entries import Opening
from holdfast.mechanisms.mechanism import Wish
from holdfast.question.columns import Schema
from holdfast.question.row import GRID
from holdfast.question.statistic import Mean

__all__ = ["averages", "checks_about", "fraction", "guesses_of", "other_rows"]


def guesses_of(
    guess: Any, questions: Sequence[Mean], schema: Schema, opening: Opening
) -> list[float]:
    """Guesses as fractions of the range: a number, or computed from a table of other rows."""
    if guess is None:
        raise InvalidArgument("a check needs a guess for every question; `ask` needs none.")
    if isinstance(guess, Real):
        return [fraction("guess", guess, question) for question in questions]
    return averages(other_rows(guess, opening), questions, schema)


def other_rows(data: Any, opening: Opening) -> Sample:
    """A table to guess from. The protected rows themselves would tell their exact values."""
    sample = open_sample(data)
    if sample.n == opening.rows and fingerprint(sample) == opening.fingerprint:
        raise InvalidArgument(
            f"the table to guess from is the protected table of {opening.name!r} itself; guess "
            "from other rows, such as the first part of holdfast.split. Nothing was spent."
        )
    return sample


def averages(others: Sample, questions: Sequence[Mean], schema: Schema) -> list[float]:
    """The questions' values on other rows, as fractions of the range."""
    for column in {column for question in questions for column in question.row.columns}:
        kind = others.types[column].kind if column in others.types else None
        if kind is not schema.types[column].kind:
            raise InvalidArgument(
                f"the table to guess from has no column {column!r} of the type it has in the "
                "holdout; give rows of the same columns. Nothing was spent."
            )
    totals = others.sums([question.row for question in questions])
    return [total / (others.n * GRID) for total in totals]


def checks_about(questions: Sequence[Mean], middles: Sequence[float], t: float) -> list[Wish]:
    """Checks that each question is within t of its guess."""
    return [
        Wish(question, t, (middle - t, middle + t), middle)
        for question, middle in zip(questions, middles, strict=True)
    ]


def fraction(name: str, value: object, question: Mean) -> float:
    """A number in the question's own unit as a fraction of its range."""
    number = require.between(name, value, question.low, question.high)
    width = question.high - question.low
    return (number - question.low) / width if width else 0.0
