"""Lecture 15 (L15), end to end: python -m examples.documents.l15

From the wanted expected generalisation error to the noise, to a ledger, to answers, and back to the
error that the answers have: by total variation with Gaussian noise, and by differential privacy.
"""

from __future__ import annotations

import math
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

import holdfast
from holdfast.papers.theorems.tv_generalisation import epsilon_for_expected_error

ROWS, QUESTIONS, WANTED, DELTA = 400_000, 20, 0.2, 0.0125


def main() -> None:
    rng = np.random.default_rng(20_30)
    epsilon = epsilon_for_expected_error(ROWS, WANTED, math.log(DELTA))
    print(f"An expected error of {WANTED} allows epsilon = {epsilon:.3g} in all")
    for mechanism in ("gaussian", "private gaussian", "private laplace"):
        chain(mechanism, rng)


def chain(mechanism: str, rng: np.random.Generator) -> None:
    table = pl.DataFrame({f"late{j}": rng.random(ROWS) < 0.3 for j in range(QUESTIONS)})
    # Laplace noise composes by the sum, so that a wanted error needs more of it.
    wanted = WANTED if "gaussian" in mechanism else 0.95
    with (
        tempfile.TemporaryDirectory() as folder,
        holdfast.open(
            table,
            ledger=Path(folder) / "l15.ledger",
            questions=QUESTIONS,
            mechanism=mechanism,
            private=mechanism.startswith("private"),
            options={"expected_error": wanted},
        ) as holdout,
    ):
        print(f"{mechanism}: {holdout.opening.mechanism['told']}")
        answers = [holdout.ask(f"avg({name})") for name in table.columns]
        true = all(0.3 in answer.interval for answer in answers)
        error = holdout.stability().neighbours.expected_error
        print(f"  all true: {true}; expected generalisation error at most {error:.4g}\n")


if __name__ == "__main__":
    main()
