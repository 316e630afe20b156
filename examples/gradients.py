"""Learning from protected rows by gradients alone, and an honest error on the rows it learned from.

A linear model of how late a flight arrives is fitted by gradient descent. Nobody sees a row: each
step asks for the mean of the clipped gradient, one vector, and gets it with noise. In the end the
error of the model is wanted on the very rows that it was fitted to. Three ledgers do it: bounded
noise, typically stable noise (the error is revealed exactly, by near independence), and private
noise. A gradient is one question of the first; declared eta and privacy are counted by coordinates.
Run it: python -m examples.gradients
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import holdfast
from examples.flights import parts
from holdfast.ledger.audit import audit

RANGES = {"arr_delay": (-60, 180), "dep_delay": (-60, 180), "distance": (0, 5000), "hour": (0, 23)}
DELAY = "arr_delay / 180"
# What the model sees of a flight, each about as large as the others.
INPUTS = ("0.5 + 0 * hour", "dep_delay / 60", "distance / 5000", "hour / 23")
STEPS, RATE, BOUND = 15, 1.2, 0.5
LEDGERS: Mapping[str, dict[str, Any]] = {
    "bounded noise": {"described": "off", "tolerance": 0.03},
    "typical gaussian": {
        "mechanism": "typical gaussian",
        "options": {"eta": 1.0, "nu": 1e-8, "reveal": 0.25},
    },
    "private gaussian": {"private": True},
}


@dataclass
class Model:
    """Weights of the inputs; what it says of a flight is a text, and so is how wrong it is."""

    weights: list[float] = field(default_factory=lambda: [0.0] * len(INPUTS))

    @property
    def residual(self) -> str:
        terms = (f"{w:.6f} * ({x})" for w, x in zip(self.weights, INPUTS, strict=True))
        return f"({' + '.join(terms)} - {DELAY})"

    @property
    def error(self) -> str:
        """The mean squared error, of squares cut at 1."""
        return f"avg(clip({self.residual} * {self.residual}, 0, 1))"

    @property
    def gradient(self) -> list[str]:
        """The gradient of half the squared error, input by input."""
        return [f"{self.residual} * ({x})" for x in INPUTS]

    def step(self, downhill: list[float]) -> Model:
        return Model([w - RATE * g for w, g in zip(self.weights, downhill, strict=True)])


def learned(holdout: holdfast.Holdout, steps: int) -> Model:
    """The model after all steps; the ledger is asked for nothing but means of clipped gradients."""
    model = Model()
    for number in range(steps):
        question = holdfast.vector_mean(model.gradient, norm="l2", bound=BOUND)
        found = holdout.ask(question, why=f"step {number + 1}")
        model = model.step([float(answer) for _, answer in found])
    return model


def main() -> None:
    _, hold, judge = parts()
    session(hold, judge)


def session(hold: pl.DataFrame, judge: pl.DataFrame, steps: int = STEPS) -> None:
    columns = [*RANGES]
    hold, judge = hold.select(columns), judge.select(columns)
    print(f"Fitted to {hold.height:,} protected flights, {steps} steps; {judge.height:,} others.\n")
    heading = f"{'ledger':<18}{'questions':>10}{'width':>8}{'before':>9}"
    print(f"{heading}   error on the same rows     on others")
    for name, how in LEDGERS.items():
        questions = 1 + steps * (1 if name == "bounded noise" else len(INPUTS))
        with tempfile.TemporaryDirectory() as folder:
            ledger = Path(folder) / "gradients.ledger"
            with holdfast.open(
                hold, ledger=ledger, schema=RANGES, questions=questions, **how
            ) as holdout:
                model = learned(holdout, steps)
                asked, width = holdout.budget.asked, holdout.opening.terms.half_width
                told = f"{asked:>10}{width:>8.3f}{error(judge, Model()):>9.4f}"
                last = holdout.ask if name == "private gaussian" else holdout.end.reveal
                answer = last(model.error, why="how wrong is it?")
            fine = all(finding.fine for finding in audit(ledger))
        print(
            f"{name:<18}{told}   {answer.value:.4f} {answer.interval!s:<18}"
            f"{error(judge, model):>9.4f}  audit {'ok' if fine else 'FAILED'}"
        )


def error(table: pl.DataFrame, model: Model) -> float:
    """The same error of rows that anybody may see."""
    columns = {name: np.clip(table[name].to_numpy(), *ends) for name, ends in RANGES.items()}
    residual = eval(model.residual, {}, columns)
    return float(np.clip(residual * residual, 0, 1).mean())


if __name__ == "__main__":
    main()
