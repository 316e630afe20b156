"""Typicality-based stability (BF1), end to end: python -m examples.documents.bf1

The set form of typical stability, its noise (Figure 2), the game of adaptive composition (Figure 1)
with a certificate that runs along, and a mean of vectors, noise by the radius of the whole (end of
section 4).
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import holdfast
from holdfast.theory.base.concentration import BoundedMean
from holdfast.theory.typical.notion import TypicalStability

ROWS = 40_000


def main() -> None:
    rng = np.random.default_rng(20_27)
    table = pl.DataFrame({name: rng.random(ROWS) < 0.3 for name in ("a", "b", "c")})
    with tempfile.TemporaryDirectory() as folder:
        set_form(table, Path(folder))
        vectors(rng, Path(folder))
    composed(table)


def set_form(table: pl.DataFrame, folder: Path) -> None:
    """Figure 2: twice the distance, at half of nu, for a set of samples that are all alike."""
    with holdfast.open(
        table,
        ledger=folder / "first.ledger",
        questions=3,
        mechanism="typical laplace",
        options={"eta": 2.0, "version": 1},
    ) as holdout:
        answers = holdout.ask_many([f"avg({name})" for name in table.columns])
        true = all(0.3 in answer.interval for answer in answers)
        print(f"Figure 2: +-{holdout.opening.terms.half_width:g}; all true: {true}")
    pair = TypicalStability(2.0, 0.0, 1e-6, form="set").to_pair()
    told = f"({pair.eta:g}, {pair.tau:g}, {pair.nu:g})"
    print(f"  one answer: (2, 0, 1e-06) on a set of samples, {told} of pairs\n")


class Adversary:
    """Asks for the mean of one half of the rows, and of the other if the answer is low."""

    def next_step(self, answers: Sequence[Any]) -> Any:
        if len(answers) == 3:
            return None
        start = 0 if not answers or float(answers[-1]) > 0.3 else 1
        return holdfast.papers.laplace_step(
            lambda sample: float(np.mean(sample[start::2])),
            BoundedMean(ROWS // 2),
            eta=0.1,
            nu=1e-9,
        )


def composed(table: pl.DataFrame) -> None:
    """Figure 1: the adversary names a step from the answers so far."""
    step = holdfast.papers.TypicalStability(0.1, 0.0, 1e-9)
    game = holdfast.papers.AdaptiveComposition(k=3, step=step)
    rows = table["a"].cast(pl.Float64).to_numpy()
    for interaction in game.play(Adversary(), rows):
        told, certificate = interaction.answers[-1], interaction.certificate(level=0.05)
        sharp = certificate.sharp
        print(f"Figure 1: answer {float(told):.4f}, so far eta {sharp.eta:.3f} at tau, nu 0.05")


def vectors(rng: np.random.Generator, folder: Path) -> None:
    """A mean of vectors in a ball: every coordinate has an interval, the ball has one charge."""
    names = [f"g{j}" for j in range(16)]
    rows = rng.normal(0.05, 0.2, (ROWS, len(names)))
    table = pl.DataFrame(rows, schema=names)
    ranges = dict.fromkeys(names, (-1.0, 1.0))
    with holdfast.open(
        table,
        ledger=folder / "vectors.ledger",
        questions=4,
        mechanism="typical gaussian",
        schema=ranges,
        tolerance=0.1,
    ) as holdout:
        mean = holdout.ask(holdfast.vector_mean(names, bound=2.0))
        true = all(0.05 in answer.interval for _, answer in mean)
        budget, left = holdout.budget, mean["g0"].left.questions_left
        print(
            f"Section 4: {len(names)} coordinates, {budget.asked} question, "
            f"{budget.account.nats:.3f} nats, {left} more such vectors left; all true: {true}\n"
        )


if __name__ == "__main__":
    main()
