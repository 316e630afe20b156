"""An attack on exact answers: features that know nothing vote, turned to their better side.

Every agreement is told exactly. The vote that is made of them looks good on the protected rows, and
a plain interval around it is false. But whoever asks for the vote must say which features vote, and
how: its text is as long as what was learnt, and its interval grows with its text.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import polars as pl

import holdfast

ROWS, FEATURES, TRUTH = 4_000, 101, 0.5
VOTERS = (1, 5, 25, 101)


def coins() -> pl.DataFrame:
    """A label and features of -1 and 1, all fair and independent of each other."""
    rng = np.random.default_rng(0)
    table = {f"f{i}": rng.integers(0, 2, ROWS) * 2 - 1 for i in range(FEATURES)}
    return pl.DataFrame(table).with_columns(up=pl.Series(rng.random(ROWS) < TRUTH))


def session() -> None:
    with tempfile.TemporaryDirectory() as folder:
        schema = {f"f{i}": (-1, 1) for i in range(FEATURES)}
        # Everything is described here: long questions have no ledger with noise to turn to.
        holdout = holdfast.open(
            coins(), schema=schema, ledger=Path(folder) / "votes.ledger", described_share=1
        )
        agreements = holdout.ask_many([f"avg((f{i} > 0) = up)" for i in range(FEATURES)])
        sides = {f"f{i}": float(answer) - TRUTH for i, answer in enumerate(agreements)}
        told(agreements[0], 1, "first asked")
        for voters in VOTERS:
            told(holdout.ask(f"avg(({vote(sides, voters)} > 0) = up)"), voters, "best vote")


def vote(sides: dict[str, float], voters: int) -> str:
    """The sum of the features that were furthest from fair, each turned to its better side."""
    best = sorted(sides, key=lambda feature: -abs(sides[feature]))[:voters]
    terms = (f"{'+' if sides[feature] > 0 else '-'} {feature}" for feature in best)
    return " ".join(terms).removeprefix("+ ")


def told(answer: holdfast.Answer, voters: int, which: str) -> None:
    """One line: the vote, its length and intervals, and whether they are true."""
    share = float(answer)
    plain = 1.96 * (share * (1 - share) / ROWS) ** 0.5
    print(
        f"{voters:>4} {which:<12} {answer.bits:>7.1f} bits  {share:.3f}"
        f"   plain +-{plain:.3f} {said(abs(share - TRUTH) <= plain):<6}"
        f"   {answer.interval} {said(answer.interval.low <= TRUTH <= answer.interval.high)}"
    )


def said(true: bool) -> str:
    return "true" if true else "FALSE"


if __name__ == "__main__":
    session()
