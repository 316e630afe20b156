"""Typical stability (BF2), end to end: python -m examples.documents.bf2

Values that nothing bounds, rows that depend on each other, questions that follow the answers. What
is declared is a concentration, the number of questions and the level: Theorem 6.1 chooses eta, nu,
tau and the noise of Algorithms 2 and 3. In the end the certificate of all answers (sections 3 and
4), and one statistic chosen from them that is shown exactly (Theorem 3.4).
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import polars as pl

import holdfast

FEATURES, BLOCKS, COPIES = 6, 5_000, 4
SCALE = holdfast.tails.sub_exponential(1.7, 1.5)  # of a two-sided exponential value


def main() -> None:
    rng = np.random.default_rng(20_26)
    for mechanism in ("typical laplace", "typical gaussian"):
        session(mechanism, rng)
    certified(rng)


def session(mechanism: str, rng: np.random.Generator) -> None:
    """An analyst who adds up the features with the signs that fit; the truth of all is 0."""
    rows = pl.DataFrame(
        {f"x{j}": np.repeat(rng.laplace(size=BLOCKS), COPIES) for j in range(FEATURES)}
    )
    with (
        tempfile.TemporaryDirectory() as folder,
        holdfast.open(
            rows,
            ledger=Path(folder) / "bf2.ledger",
            questions=FEATURES + 1,
            mechanism=mechanism,
            options={"theorem": "6.1"},
            sampling=holdfast.dependency_graph(COPIES - 1),
            schema=dict.fromkeys(rows.columns, SCALE),
        ) as holdout,
    ):
        print(f"{mechanism}: {holdout.opening.mechanism['told']}")
        answers = [holdout.ask(f"mean({name})") for name in rows.columns]
        signs = [1 if float(answer) > 0 else -1 for answer in answers]
        fitted = " + ".join(f"({sign}) * x{j}" for j, sign in enumerate(signs))
        # Of length 1, so that the same scale is true of it.
        last = holdout.ask(f"mean(({fitted}) / {FEATURES**0.5:.6f}, sigma = 1.7, b = 1.5)")
        true = all(0.0 in answer.interval for answer in [*answers, last])
        print(f"  chosen from the answers: {last.value:+.4f} {last.interval}; all true: {true}\n")


def certified(rng: np.random.Generator) -> None:
    """The certificate of ten answers of Algorithm 2, and what may be shown exactly after them."""
    rows = pl.DataFrame({f"late{j}": rng.random(400_000) < 0.25 for j in range(10)})
    with (
        tempfile.TemporaryDirectory() as folder,
        holdfast.open(
            rows,
            ledger=Path(folder) / "certificate.ledger",
            questions=10,
            mechanism="typical laplace",
            options={"eta": 0.1, "nu": 1e-9, "reveal": 0.3},
        ) as holdout,
    ):
        answers = {name: float(holdout.ask(f"avg({name})")) for name in rows.columns}
        print(holdout.stability(level=0.01))
        best = max(answers, key=lambda name: answers[name])
        shown = holdout.end.reveal(f"avg({best})")
        print(f"  {best} looks best, and is {shown.value:.4f} {shown.interval}")


if __name__ == "__main__":
    main()
