"""Lecture 4 (L4), end to end: python -m examples.documents.l4

GuessAndCheck(eta, m) with guesses of the Median mechanism, halting on one mistake more than m;
the small table that answers alike (Claim 1); and the other way to stability, differential privacy,
with its composition.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import polars as pl

import holdfast
from holdfast.guessers import MedianMechanism
from holdfast.papers.theorems.tv_generalisation import subsample_size

ROWS, ETA = 60_000, 0.12
QUESTIONS = ("a", "b", "a and b", "a or b", "not a", "a and not b", "not a or b", "a = b")


def main() -> None:
    rng = np.random.default_rng(20_28)
    with tempfile.TemporaryDirectory() as folder:
        guessed(rng, Path(folder))
        private(rng, Path(folder))


def guessed(rng: np.random.Generator, folder: Path) -> None:
    """The lecture's whole mechanism: four values, the median of all small tables guesses."""
    table = pl.DataFrame({name: rng.random(ROWS) < 0.3 for name in ("a", "b")})
    k = 40
    print(f"Claim 1: {subsample_size(k, ETA):,} rows answer {k} questions to within {ETA}")
    with holdfast.open(
        table,
        ledger=folder / "median.ledger",
        questions=k,
        mechanism="halting guess and check",
        options={"mistakes": 10, "accuracy": ETA},
        guesser=MedianMechanism({"a": None, "b": None}, accuracy=ETA),
    ) as holdout:
        answers = [holdout.ask(f"avg({question})") for question in QUESTIONS]
        truth = {"a": 0.3, "b": 0.3, "a and b": 0.09, "a or b": 0.51, "not a": 0.7}
        truth |= {"a and not b": 0.21, "not a or b": 0.79, "a = b": 0.58}
        true = all(
            truth[text] in answer.interval for text, answer in zip(QUESTIONS, answers, strict=True)
        )
        account, terms = holdout.budget.account, holdout.opening.terms
        print(
            f"Theorem 2: {len(answers)} questions, {account.surprises} of 10 mistakes, "
            f"+-{terms.half_width:.4g}; all true: {true}\n"
        )


def private(rng: np.random.Generator, folder: Path) -> None:
    """Theorems 5, 7 and 8: the Laplace mechanism, and what twenty answers cost."""
    table = pl.DataFrame({f"late{j}": rng.random(ROWS) < 0.3 for j in range(20)})
    with holdfast.open(
        table,
        ledger=folder / "private.ledger",
        questions=20,
        mechanism="private laplace",
        private=True,
        options={"epsilon": 1.0},
    ) as holdout:
        answers = holdout.ask_many([f"avg({name})" for name in table.columns])
        true = all(0.3 in answer.interval for answer in answers)
        print(f"Theorems 5 to 8: +-{holdout.opening.terms.half_width:g}; all true: {true}")
        print(f"  {holdout.budget.privacy}")


if __name__ == "__main__":
    main()
