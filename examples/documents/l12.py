"""Lecture 12 (L12), end to end: python -m examples.documents.l12

Algorithm 1, Gaussian noise of a declared sigma, and Algorithm 2, Laplace noise of a declared scale:
how far one row moves the answers in total variation, exactly and as printed, and by differential
privacy.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import polars as pl

import holdfast
from holdfast.papers.theorems.notions import gaussian_tv_printed
from holdfast.theory.notions.arrows import pure_dp_to_tv
from holdfast.theory.notions.composing import PureDP
from holdfast.theory.notions.distances import gaussian_tv, laplace_tv

ROWS, QUESTIONS = 60_000, 10


def main() -> None:
    rng = np.random.default_rng(20_29)
    with tempfile.TemporaryDirectory() as folder:
        algorithm_1(rng, Path(folder))
        algorithm_2(rng, Path(folder))


def algorithm_1(rng: np.random.Generator, folder: Path, sigma: float = 0.02) -> None:
    table = pl.DataFrame({f"late{j}": rng.random(ROWS) < 0.3 for j in range(QUESTIONS)})
    with holdfast.open(
        table,
        ledger=folder / "gaussian.ledger",
        questions=QUESTIONS,
        mechanism="gaussian",
        options={"sigma": sigma},
    ) as holdout:
        print(f"Algorithm 1: {holdout.opening.mechanism['told']}")
        answers = [holdout.ask(f"avg({name})") for name in table.columns]
        found = holdout.stability().neighbours
        true = all(0.3 in answer.interval for answer in answers)
        exact = gaussian_tv(ROWS, QUESTIONS, sigma)
        printed = gaussian_tv_printed(ROWS, QUESTIONS, sigma)
        print(
            f"  all true: {true}; total variation {found.tv:.3g} (Claim 0.2: {exact:.3g}, as "
            f"printed {printed:.3g})\n"
        )


def algorithm_2(rng: np.random.Generator, folder: Path, scale: float = 0.005) -> None:
    table = pl.DataFrame({f"late{j}": rng.random(ROWS) < 0.3 for j in range(QUESTIONS)})
    with holdfast.open(
        table,
        ledger=folder / "laplace.ledger",
        questions=QUESTIONS,
        mechanism="private laplace",
        private=True,
        options={"scale": scale},
    ) as holdout:
        print(f"Algorithm 2: {holdout.opening.mechanism['told']}")
        answers = [holdout.ask(f"avg({name})") for name in table.columns]
        true = all(0.3 in answer.interval for answer in answers)
        each = PureDP(1 / (ROWS * scale))
        print(
            f"  all true: {true}; each answer {each.epsilon:.3g}-DP, total variation "
            f"{laplace_tv(each.epsilon):.3g} (Claim 0.6: {pure_dp_to_tv(each).distance:.3g})"
        )


if __name__ == "__main__":
    main()
