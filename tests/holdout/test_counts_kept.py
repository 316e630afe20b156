"""What is said to be left is answered: random settings of every kind, mechanism and sampling.

A ledger is opened, how many questions of a kind are left is read, and so many are asked. The first
settings run always, all of them as a campaign.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import holdfast
from holdfast.data.sampling import Independent, Sampling
from holdfast.errors import HoldfastError, InvalidQuestion, NothingLeft, Refused, ToleranceTooLoose
from holdfast.holdout.holdout import Holdout
from holdfast.statistics.entry import Call

Question = str | Call
SETTINGS, FEW = 500, 40
RANGES: Mapping[str, Any] = {"x": (0.0, 1.0), "y": (0.0, 1.0)}
SCALES: Mapping[str, Any] = {"z": holdfast.tails.sub_gaussian(0.5)}
EXPONENTIAL: Mapping[str, Any] = {"z": holdfast.tails.sub_exponential(0.5, 0.4)}
GUESSES = ("halting guess and check",)
ACCOUNT = ("bounded noise", "rounding", "typical laplace", "typical gaussian")
OTHERS = ("one look", "sample splitting", "median noise", "gaussian", *GUESSES)
SAMPLINGS: Mapping[str, Sampling] = {
    "independent": Independent(),
    "m-dependent": holdfast.m_dependent(2),
    "graph": holdfast.dependency_graph(3),
    "chain": holdfast.markov_chain(0.4),
}


@dataclass(frozen=True)
class Kind:
    """A kind of question: one for every number, and what has to be declared for it.

    `exactly`, the count is met but for what is known of it beforehand.
    """

    name: str
    ask: Callable[[float], Question]
    schema: Mapping[str, Any]
    design: tuple[str, ...] = ()
    exactly: bool = False


KINDS = [
    Kind("mean", lambda c: f"avg(x * {c})", RANGES, exactly=True),
    Kind("proportion", lambda c: f"avg(x > {c})", RANGES),
    Kind("mean and scale", lambda c: f"avg(x * {c})", {**RANGES, **SCALES}),
    Kind("paired difference", lambda c: f"difference(x > {c}, y > {c})", RANGES),
    Kind("difference of values", lambda c: f"difference(x * {c}, y * {c})", RANGES),
    Kind("group", lambda c: f"avg(x * {c}) where arm = 'a'", RANGES),
    Kind(
        "difference of groups",
        lambda c: f"difference(avg(x * {c}) where arm = 'a', avg(x * {c}) where arm = 'b')",
        RANGES,
    ),
    Kind(
        "difference of arms",
        lambda c: f"difference(avg(x * {c}) where arm = 'a', avg(x * {c}) where arm = 'b')",
        RANGES,
        ("arm",),
    ),
    Kind("quantile", lambda c: f"quantile(x * {c}, 0.5, {c / 10:.4f})", RANGES),
    Kind("standard deviation", lambda c: f"std(x * {c})", RANGES),
    Kind("variance", lambda c: f"variance(x * {c})", RANGES),
    Kind("correlation", lambda c: f"correlation(x * {c}, y)", RANGES),
    Kind("coordinate", lambda c: f"coordinate(1, {1 + c}, x, y)", RANGES, exactly=True),
    Kind("auc", lambda c: f"auc(x + y * {c}, rare)", RANGES, ("rare",), exactly=True),
    Kind("accuracy", lambda c: f"accuracy(x > {c}, rare)", RANGES),
    Kind("balanced accuracy", lambda c: f"balanced_accuracy(x > {c}, rare)", RANGES, ("rare",)),
    Kind("f1", lambda c: f"f1(x > {c}, rare)", RANGES),
    Kind("brier", lambda c: f"brier(x * {c}, rare)", RANGES),
    Kind("total", lambda c: f"sum(x * {c}, 900)", RANGES, exactly=True),
    Kind("scaled", lambda c: holdfast.mean("z", sigma=0.5 + c / 1e6), SCALES, exactly=True),
    Kind(
        "sub-exponential",
        lambda c: holdfast.mean("z", sigma=0.5 - c / 1e6, b=0.4),
        EXPONENTIAL,
        exactly=True,
    ),
    Kind("catoni", lambda c: f"catoni(z, {1 + c / 1e3})", RANGES, exactly=True),
]


@dataclass(frozen=True)
class Setting:
    """One session: what is declared, and what is asked."""

    kind: Kind
    mechanism: str
    sampling: str
    rows: int
    questions: int | None
    tolerance: float | None
    described: str

    @property
    def name(self) -> str:
        many = "open" if self.questions is None else self.questions
        width = "planned" if self.tolerance is None else f"{self.tolerance:.3g}"
        return f"{self.kind.name}, {self.mechanism}, {self.sampling}, {self.rows}, {many}, {width}"


def settings(many: int, seed: int = 25) -> list[Setting]:
    rng = np.random.default_rng(seed)
    kinds = [KINDS[place] for _ in range(many) for place in rng.permutation(len(KINDS))][:many]
    return [_setting(kind, rng) for kind in kinds]


def _setting(kind: Kind, rng: np.random.Generator) -> Setting:
    other = rng.random() < 0.3
    mechanism = str(rng.choice(OTHERS if other else ACCOUNT))
    is_open = not other and rng.random() < 0.2
    fixed = is_open or rng.random() < 0.3
    return Setting(
        kind,
        mechanism,
        str(rng.choice(list(SAMPLINGS))) if rng.random() < 0.3 else "independent",
        int(rng.choice([300, 1_000, 3_000])),
        None if is_open else int(rng.integers(2, 25)),
        float(rng.uniform(0.15, 0.35)) if fixed else None,
        "rounded" if mechanism in ACCOUNT[:2] and rng.random() < 0.2 else "off",
    )


def table(rows: int) -> pl.DataFrame:
    rng = np.random.default_rng(rows)
    return pl.DataFrame(
        {
            "x": rng.random(rows),
            "y": rng.random(rows),
            "z": rng.normal(size=rows) / 2,
            "arm": np.where(np.arange(rows) % 2 == 0, "a", "b"),
            "rare": np.arange(rows) % 4 == 0,
        }
    )


def opened(folder: Path, setting: Setting) -> Holdout | None:
    """The ledger, or None where such a one is refused."""
    facts: dict[str, Any] = {
        "schema": setting.kind.schema,
        "design": list(setting.kind.design),
        "mechanism": setting.mechanism,
        "sampling": SAMPLINGS[setting.sampling],
        "questions": setting.questions,
        "tolerance": setting.tolerance,
        "described": setting.described,
    }
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NothingLeft)
            return holdfast.open(table(setting.rows), ledger=folder / "t.ledger", **facts)
    except HoldfastError:
        return None


def asked(setting: Setting, place: int) -> Question:
    return setting.kind.ask(round(0.3 + place / 1_000, 3))


def left_of(setting: Setting, holdout: Holdout, place: int) -> int | None:
    """How many are said to be left; None where it is no question of this ledger."""
    question = asked(setting, place)
    width = holdout.opening.terms.tolerance if setting.described != "off" else None
    try:
        return holdout.cost(question, tolerance=width).left
    except InvalidQuestion:
        return None
    except Refused:
        return 0


def answers(setting: Setting, holdout: Holdout, first: int, many: int) -> int:
    """How many of them are answered until one is refused."""
    width = holdout.opening.terms.tolerance if setting.described != "off" else None
    questions = [asked(setting, place) for place in range(first, first + many)]
    if setting.mechanism == "one look":
        try:
            return len(holdout.ask_many(questions)) if questions else 0
        except Refused:
            return 0
    for place, question in enumerate(questions):
        try:
            holdout.ask(question, tolerance=width)
        except ToleranceTooLoose:  # what is known of its parts leaves it its whole range
            continue
        except Refused:
            return place
    return many


def played(folder: Path, setting: Setting) -> str:
    """What became of a setting: nothing left, or so many kept; a failure otherwise."""
    holdout = opened(folder, setting)
    if holdout is None:
        return "refused at opening"
    with holdout:
        said = left_of(setting, holdout, 0)
        if said is None:
            return "no question of this ledger"
        many = min(said, 120)
        found = answers(setting, holdout, 0, many)
        assert found == many, f"{setting.name}: {said} were left, and {found} answered"
        if setting.mechanism == "one look" or many < said:
            return "kept"
        last = left_of(setting, holdout, many)
        if setting.kind.exactly and setting.described == "off":
            more = answers(setting, holdout, many, 60)
            assert more <= 1 + said // 10, f"{setting.name}: {said} were left, {more} more answered"
        elif last:
            assert answers(setting, holdout, many, min(last, 60)) == min(last, 60), setting.name
        return "kept" if said else "nothing left"


NUMBERS = count()


def all_kept(folder: Path, chosen: list[Setting]) -> None:
    found = []
    for setting in chosen:
        where = folder / str(next(NUMBERS))
        where.mkdir()
        found.append(played(where, setting))
    assert found.count("kept") >= 0.5 * len(chosen), "the settings can tell"


@pytest.mark.parametrize("place", range(0, FEW, 10))
def test_what_is_left_is_answered(tmp_path: Path, place: int) -> None:
    all_kept(tmp_path, settings(SETTINGS)[place : place + 10])


@pytest.mark.campaign
@pytest.mark.parametrize("place", range(FEW, SETTINGS, 20))
def test_what_is_left_is_answered_in_every_setting(tmp_path: Path, place: int) -> None:
    all_kept(tmp_path, settings(SETTINGS)[place : place + 20])
