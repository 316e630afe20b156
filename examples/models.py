"""Is the new model better? Models compared on protected flights, paired on the same rows.

When a flight leaves, will it arrive more than 15 minutes late? Four ways to call it: "on time"
always; late if it left late; a logistic regression; and a memory of how each aeroplane fared at
each hour, which is excellent on the rows it remembers. The labels are a design column: how many
protected flights were late is public, and every promise is for that share of late flights.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

import holdfast
from examples.flights import finish, parts

Vector = NDArray[np.float64]

COMPARED = (
    ("logistic", "always_on_time"),
    ("logistic", "left_late"),
    ("memory", "always_on_time"),
)


def main(output: Path) -> None:
    train, _, judge = parts()
    session(train, judge, output)


def session(train: pl.DataFrame, judge: pl.DataFrame, output: Path) -> None:
    weights = fitted(inputs(train), late(train))
    train, judge = (called(table, train, weights) for table in (train, judge))
    with tempfile.TemporaryDirectory() as folder:
        ledger = Path(folder) / "models.ledger"
        holdout = holdfast.open(
            judge,
            name="models",
            questions=50,
            tolerance=0.03,
            design=["late"],
            train=train,
            ledger=ledger,
        )
        print(f"Protected {holdout.rows:,} flights to judge by; {train.height:,} to learn from.\n")
        compare(holdout, train)
        print("\nHow well does the logistic score rank flights?\n")
        area = holdout.ask("auc(score, late)", why="the score to publish")
        print(f"{area.question}: {area}")
        finish(holdout, ledger, output / "models.png")


def compare(holdout: holdfast.Holdout, train: pl.DataFrame) -> None:
    """Candidate minus incumbent: how many more flights are called rightly."""
    print(f"{'candidate - incumbent':<28}{'training rows':>14}   protected rows")
    for candidate, incumbent in COMPARED:
        question = holdfast.difference(
            f"{candidate} = late", f"{incumbent} = late", better="higher"
        )
        answer = holdout.ask(question, tolerance=0.01, why=f"{candidate} for {incumbent}?")
        hoped = right(train, candidate) - right(train, incumbent)
        print(
            f"{f'{candidate} - {incumbent}':<28}{hoped:>+14.4f}   {answer.verdict:<12}"
            f"{answer.value:>+8.4f} {answer.interval!s:<22} {answer.status}"
        )


def right(table: pl.DataFrame, model: str) -> float:
    """The share of rows that a model calls rightly."""
    return float(table.select((pl.col(model) == pl.col("late")).mean()).item())


def called(table: pl.DataFrame, train: pl.DataFrame, weights: Vector) -> pl.DataFrame:
    """The table with what each model says; all of them have seen the training rows only."""
    remembered = train.group_by("tailnum", "hour").agg(memory=late_rate() > 0.5)
    return (
        table.join(remembered, on=["tailnum", "hour"], how="left")
        .with_columns(
            late=pl.col("arr_delay") > 15,
            always_on_time=pl.lit(False),
            left_late=pl.col("dep_delay") > 15,
            memory=pl.col("memory").fill_null(False),
            score=pl.Series(chance(inputs(table), weights)),
        )
        .with_columns(logistic=pl.col("score") > 0.5)
    )


def late_rate() -> pl.Expr:
    return (pl.col("arr_delay") > 15).mean()


def late(table: pl.DataFrame) -> Vector:
    return table.select((pl.col("arr_delay") > 15).cast(pl.Float64)).to_numpy()[:, 0]


def inputs(table: pl.DataFrame) -> Vector:
    """What is known when a flight leaves: its delay so far, the hour, the season, the way."""
    delay = pl.col("dep_delay")
    columns = (
        pl.lit(1.0).alias("constant"),
        (delay.clip(-20, 120) / 60).alias("delay"),
        (delay.clip(0, 60) / 60).alias("short delay"),
        (pl.col("hour") / 24).alias("hour"),
        (pl.col("distance") / 1_000).alias("distance"),
        pl.col("month").is_between(9, 11).cast(pl.Float64).alias("autumn"),
        (pl.col("origin") == "LGA").cast(pl.Float64).alias("from LGA"),
    )
    return table.select(columns).to_numpy()


def chance(x: Vector, weights: Vector) -> Vector:
    found: Vector = 1 / (1 + np.exp(-x @ weights))
    return found


def fitted(x: Vector, y: Vector, steps: int = 8) -> Vector:
    """Logistic regression by Newton's method."""
    weights = np.zeros(x.shape[1])
    for _ in range(steps):
        p = chance(x, weights)
        weights = weights + np.linalg.solve((x.T * (p * (1 - p))) @ x, x.T @ (y - p))
    return weights


if __name__ == "__main__":
    main(Path())
