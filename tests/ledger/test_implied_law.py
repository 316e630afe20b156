"""Law of implied answers: where every released interval is true, so is everything that follows.

Random populations of few rows, with missing values; random sessions of questions whose intervals
hold the truth; and the truths of other questions, by a few lines of three-valued logic of their
own.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

import polars as pl
import pytest

from holdfast.errors import HoldfastError
from holdfast.holdout.holdout import Holdout
from holdfast.ledger.entries import Recorded
from holdfast.ledger.implied import Implications, Implied, NamedLooks
from holdfast.ledger.subjects import subjects_of
from holdfast.statistics.bind import bind
from holdfast.statistics.entry import Bound
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.safeside import float_above, float_below
from tests.holdout.tables import opened
from tests.seam import (
    COUNTED_WITHOUT_VALUE,
    EXHAUSTIVE_GROUPS,
    desk_of,
)

Value: TypeAlias = "Fraction | bool | str | None"
Row: TypeAlias = dict[str, Value]
World: TypeAlias = list[Row]
SOME_NULL = "meh"  # columns with missing values
TYPES = {
    **dict.fromkeys("xm", pl.Float64),
    **dict.fromkeys("kj", pl.Int64),
    **dict.fromkeys("cde", pl.Boolean),
    **dict.fromkeys("gh", pl.String),
}
SCHEMA = {
    **dict.fromkeys("xm", (0.0, 4.0)),
    **dict.fromkeys("kj", (0, 3)),
    **{name: {"values": ["a", "b"]} for name in "gh"},
}


@dataclass(frozen=True)
class Term:
    """A row expression: its text, and its value in a row, None where it is missing."""

    text: str
    of: Callable[[Row], Value]


@dataclass(frozen=True)
class Asked:
    """A question: its text, and its truth in a world, None where no row says anything."""

    text: str
    truth: Callable[[World], Fraction | None]


def random_row(rng: random.Random) -> Row:
    row: Row = {
        **{name: Fraction(rng.randrange(9), 2) for name in "xm"},
        **{name: Fraction(rng.randrange(4)) for name in "kj"},
        **{name: rng.random() < 0.5 for name in "cde"},
        "g": rng.choice("abc"),
        "h": rng.choice("ab"),
    }
    return row | {name: None for name in SOME_NULL if rng.random() < 0.3}


def column(name: str) -> Term:
    return Term(name, lambda row: row[name])


def told(term: Term, what: Callable[[Value], Value]) -> Callable[[Row], Value]:
    """What is made of a value; it is missing where that is."""
    return lambda row: None if (value := term.of(row)) is None else what(value)


COMPARED: dict[str, Callable[[Fraction, Fraction], bool]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "=": lambda a, b: a == b,
}


def compared(term: Term, op: str, constant: Fraction) -> Term:
    return Term(
        f"({term.text} {op} {float(constant):g})",
        told(term, lambda value: COMPARED[op](Fraction(value or 0), constant)),
    )


def equal(name: str, text: str) -> Term:
    return Term(f"({name} = '{text}')", told(column(name), lambda value: value == text))


def opposite(term: Term) -> Term:
    return Term(f"(not {term.text})", told(term, lambda value: not value))


def joined(word: str, *terms: Term) -> Term:
    settled = word == "or"

    def of(row: Row) -> Value:
        values = [term.of(row) for term in terms]
        unknown = None if None in values else not settled
        return settled if settled in values else unknown

    return Term(f"({f' {word} '.join(term.text for term in terms)})", of)


def random_number(rng: random.Random) -> Term:
    term = column(rng.choice("xmkj"))
    match rng.randrange(6):
        case 0:
            low, high = (Fraction(end, 2) for end in sorted(rng.sample(range(8), 2)))
            inside = told(term, lambda value: min(max(Fraction(value or 0), low), high))
            return Term(f"clip({term.text}, {float(low):g}, {float(high):g})", inside)
        case 1:
            return Term(
                f"coalesce({term.text}, 1)",
                lambda row: Fraction(1) if (value := term.of(row)) is None else value,
            )
    return term


def random_condition(rng: random.Random, about: str, depth: int = 0) -> Term:
    if depth and rng.random() < 0.5:
        parts = [random_condition(rng, about, depth - 1) for _ in range(rng.choice([2, 2, 3]))]
        return joined(rng.choice(["and", "or"]), *parts)
    match rng.randrange(8):
        case 0 | 1:
            return column(rng.choice("cde"))
        case 2:
            return equal(rng.choice("gh"), rng.choice("ab"))
        case 3:
            return opposite(random_condition(rng, about))
    term = column(about) if rng.random() < 0.7 else random_number(rng)
    return compared(term, rng.choice(list(COMPARED)), Fraction(rng.randrange(9), 2))


def values_of(term: Term, where: Term | None, world: World) -> list[Fraction]:
    inside = [row for row in world if where is None or where.of(row) is True]
    return [Fraction(value) for row in inside if (value := term.of(row)) is not None]


def mean_of(values: Sequence[Fraction]) -> Fraction | None:
    return sum(values, Fraction(0)) / len(values) if values else None


def among(where: Term | None) -> str:
    return "" if where is None else f" where {where.text}"


def average(term: Term, where: Term | None = None) -> Asked:
    return Asked(
        f"avg({term.text}){among(where)}", lambda world: mean_of(values_of(term, where, world))
    )


def quantile(term: Term, level: float, where: Term | None) -> Asked:
    def truth(world: World) -> Fraction | None:
        values = sorted(values_of(term, where, world))
        reached = (i for i in range(len(values)) if Fraction(i + 1, len(values)) >= level)
        return values[next(reached)] if values else None

    return Asked(f"quantile({term.text}, {level}){among(where)}", truth)


def apart(first: Asked, second: Asked) -> Asked:
    """The difference of two groups."""

    def truth(world: World) -> Fraction | None:
        sides = first.truth(world), second.truth(world)
        return None if sides[0] is None or sides[1] is None else sides[0] - sides[1]

    return Asked(f"difference({first.text}, {second.text})", truth)


def paired(first: Term, second: Term) -> Asked:
    """The difference of two values, in the rows that have both."""

    def truth(world: World) -> Fraction | None:
        pairs = [(first.of(row), second.of(row)) for row in world]
        both = [(a, b) for a, b in pairs if a is not None and b is not None]
        return mean_of([Fraction(a) - Fraction(b) for a, b in both])

    return Asked(f"difference({first.text}, {second.text})", truth)


def about_one_value(rng: random.Random) -> Iterator[Asked]:
    about = rng.choice("xmk")
    where = rng.choice([None, random_condition(rng, about)])
    for constant in range(1, 4):
        op = rng.choice(["<", "<=", ">", ">="])
        yield average(compared(column(about), op, Fraction(constant)), where)
        yield quantile(column(about), constant / 4, where)
    for _ in range(2):
        condition = random_condition(rng, about, 1)
        yield from (average(condition, where), average(opposite(condition), where))


def about_conditions(rng: random.Random) -> Iterator[Asked]:
    three = [random_condition(rng, rng.choice("xmk")) for _ in range(3)]
    for word in ("and", "or"):
        yield from (average(joined(word, *three)), average(joined(word, *three[:2])))
    yield from map(average, three)
    yield from (paired(one, other) for one, other in pairwise([*three, three[0]]))


def about_groups(rng: random.Random) -> Iterator[Asked]:
    """The mean of a whole, of its groups and of their shares."""
    about = rng.choice("xmk")
    value = rng.choice([column(about), random_condition(rng, about)])
    one = random_condition(rng, about)
    ways = [
        [one, opposite(one)],
        [equal("g", "a"), equal("g", "b")],
        [equal("h", "a"), equal("h", "b")],
        [column("e"), opposite(column("e"))],
        [compared(column("k"), "=", Fraction(each)) for each in range(4)],
    ]
    parts, around = rng.choice(ways), rng.choice([None, None, random_condition(rng, about)])
    inside = [part if around is None else joined("and", around, part) for part in parts]
    means = [average(value, group) for group in inside]
    yield from (average(value, around), *means, *(average(part, around) for part in parts))
    yield from (apart(means[0], means[1]), apart(means[1], means[0]))


ABOUT = (about_one_value, about_conditions, about_groups, about_groups)


def interval_around(truth: Fraction, rng: random.Random) -> Interval:
    below, above = (Fraction(rng.choice([1, 1, 1, 40]), 512) for _ in range(2))
    return Interval(float_below(truth - below), float_above(truth + above))


@pytest.fixture
def holdout(tmp_path: Path) -> Iterator[Holdout]:
    rng = random.Random(5)
    rows = [random_row(rng) for _ in range(12)]
    frame = pl.DataFrame(
        {
            name: [
                float(value) if isinstance(value := row[name], Fraction) else value for row in rows
            ]
            * 200
            for name in TYPES
        },
        strict=False,
        schema=TYPES,
    )
    with opened(tmp_path, frame, described="exact", schema=SCHEMA, tolerance=0.2) as made:
        yield made


def is_false(found: Implied | None, truth: Fraction) -> bool:
    if found is None or found.interval is None:
        return found is not None  # true intervals contradict nothing
    low, high = found.interval
    return truth < low or high < truth


def false_and_narrower(holdout: Holdout, sessions: int, seed: int) -> tuple[int, int]:
    """In how many questions something false follows, and in how many anything new does."""
    desk, rng, false, narrower = desk_of(holdout), random.Random(seed), 0, 0
    blank = holdout.ask("avg(c)").recorded
    blank = replace(blank, event=None, symbols=None, rule=None, number=None)

    def look(number: int, bound: Bound, truth: Fraction | None) -> Recorded:
        wide = Interval(bound.low, bound.high)
        return replace(
            blank,
            look=number,
            question=bound.text,
            interval=wide if truth is None else interval_around(truth, rng),
            range=wide,
            subjects=subjects_of(bound),
            request=replace(blank.request, question=bound.text),
        )

    for _ in range(sessions):
        asked: list[tuple[Asked, Bound]] = []
        for each in rng.choice(ABOUT)(rng):
            try:
                asked.append((each, bind(each.text, desk.table)))
            except HoldfastError:  # of a condition and itself, say
                continue
        for _ in range(4):
            world = [random_row(rng) for _ in range(rng.choice([1, 2, 3, 5]))]
            some = rng.sample(asked, rng.randint(2 * len(asked) // 3, len(asked)))
            looks = [look(i, bound, each.truth(world)) for i, (each, bound) in enumerate(some, 1)]
            implications = Implications(desk.ground, lambda: desk.table)
            for each, bound in asked:
                truth = each.truth(world)
                if truth is None:
                    continue
                found = implications.of(bound, NamedLooks(looks))
                false += is_false(found, truth)
                own = {one.look for one in looks if one.question == bound.text}
                narrower += found is not None and not own.issuperset(found.looks)
    return false, narrower


def test_what_follows_from_true_answers_is_true(holdout: Holdout) -> None:
    false, narrower = false_and_narrower(holdout, sessions=100, seed=2)
    assert (false, narrower > 500) == (0, True), (false, narrower)


def test_sabotage_rows_without_a_group_are_left_out_of_its_share(
    holdout: Holdout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(COUNTED_WITHOUT_VALUE, lambda condition: condition)
    assert false_and_narrower(holdout, sessions=40, seed=2)[0] > 0


def test_sabotage_declared_groups_are_all_there_are(
    holdout: Holdout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(EXHAUSTIVE_GROUPS, lambda _: True)
    assert false_and_narrower(holdout, sessions=40, seed=2)[0] > 0
