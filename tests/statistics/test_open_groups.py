"""Means of groups, and differences, without a range: asked, described, claimed, and audited."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import holdfast
from holdfast.data.polars import PolarsSample
from holdfast.errors import HoldfastError, InvalidQuestion
from holdfast.ledger.audit import audit
from holdfast.ledger.subjects import columns_about, mean_within, subjects_of
from holdfast.question.columns import Schema
from holdfast.question.declaring import sub_gaussian
from holdfast.question.expression import ColumnType
from holdfast.statistics.bind import bind
from holdfast.statistics.derived import OpenConditional, OpenDifference
from holdfast.statistics.entry import Table
from holdfast.theory.base.intervals import clopper_pearson
from tests.holdout.tables import same_secret, untouchable, watch
from tests.seam import desk_of
from tests.statistics.open_sessions import SAMPLINGS, require_true_sessions

ROWS = 4_000
SCALES = {
    "gain": holdfast.tails.sub_gaussian(0.5),
    "loss": holdfast.tails.sub_gaussian(0.3),
    "waiting": holdfast.tails.sub_exponential(1.8, 1.6),
}
# The truths of `table`: late rows gain .2 more, and the arms differ by .4 in waiting.
TRUTHS = {
    "avg(gain) where late": 3.2,
    "avg(gain) where not late": 3.0,
    "avg(waiting) where arm = 'a'": 10.2,
    "difference(avg(gain) where late, rest)": 0.2,
    "effect(waiting, arm = 'a')": 0.4,
    "difference(gain, loss)": 2.06,
    "difference(gain, loss) where late": 2.2,
    "difference(avg(gain) where late, avg(loss) where late)": 2.2,
    "difference(avg(gain) where late, avg(loss))": 2.2,
    "difference(avg(gain), avg(loss))": 2.06,
}


def table(seed: int = 5, rows: int = ROWS, copies: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    n = rows // copies
    late, arm = rng.random(n) < 0.3, rng.random(n) < 0.5
    columns = {
        "gain": 3.0 + 0.2 * late + 0.45 * rng.normal(size=n),
        "loss": 1.0 + 0.3 * rng.normal(size=n),
        "waiting": 10.0 + 0.2 * np.where(arm, 1, -1) + rng.laplace(size=n),
        "late": late,
        "arm": np.where(arm, "a", "b"),
        "unit": np.arange(n),
    }
    return pl.DataFrame({name: np.repeat(each, copies) for name, each in columns.items()})


def made(path: Path, frame: pl.DataFrame | None = None, **facts: Any) -> holdfast.Holdout:
    rows = table() if frame is None else frame
    declared: dict[str, Any] = {"questions": 60, "schema": SCALES}
    return holdfast.open(rows, ledger=path, **(declared | facts))


def is_intact(path: Path, frame: pl.DataFrame) -> bool:
    return all(each.fine for each in audit(path, lambda: PolarsSample(frame)))


@pytest.mark.parametrize("described", ["exact", "off"])
def test_groups_and_differences_are_answered_and_audited(
    tmp_path: Path, described: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    same_secret(monkeypatch)
    path, frame = tmp_path / "t.ledger", table(rows=20_000)
    mechanism = "bounded noise" if described == "off" else "auto"
    with made(path, frame, described=described, mechanism=mechanism) as holdout:
        for text, truth in TRUTHS.items():
            answer = holdout.ask(text)
            assert truth in answer.interval, text
            assert math.isfinite(answer.half_width)
            assert "the concentration that the question declares" in answer.assumes
            assert (answer.bits is None) is (described == "off")
            assert holdout.ask(text).status == "repeated"
        two = holdout.ask("effect(waiting, arm = 'a')")
        assert two.n == 20_000 or described == "exact"  # of two groups no number of rows is told
        assert str(holdout.ledger)
        assert holdout.explain()
    assert is_intact(path, frame)


def test_a_described_group_is_at_the_level_of_its_words(tmp_path: Path) -> None:
    """The radius by its own formula, to first order in t: sigma/sqrt(p) is the group's sigma."""
    frame = table(rows=100_000)
    with made(tmp_path / "t.ledger", frame) as holdout:
        answer = holdout.ask("avg(gain) where late")
        size = int(frame["late"].sum())
        assert answer.n == size
        log_p = math.log(0.02) - (answer.bits or 0.0) * math.log(2)
        share = clopper_pearson(100_000, size, math.log(0.02) - 12 * math.log(2)).low
        radius = 0.5 / math.sqrt(share) * math.sqrt(2 * (math.log(2) - log_p) / size)
        assert answer.half_width == pytest.approx(radius, rel=0.02)


@pytest.mark.parametrize("described", ["exact", "off"])
def test_claims_about_groups_are_checked_and_gated(tmp_path: Path, described: str) -> None:
    path, frame = tmp_path / "t.ledger", table(rows=20_000)
    with made(path, frame, described=described, mechanism="bounded noise") as holdout:
        assert holdout.check("avg(gain) where late", guess=3.21).status == "confirmed"
        assert holdout.check("avg(loss) where late", guess=2.0).status == "not confirmed"
        assert holdout.check("effect(waiting, arm = 'a')", guess=0.41).status == "confirmed"
        known = "avg(gain, sigma = 0.5, share >= 0.28) where late"
        assert holdout.gate(known, at_least=3.0).status == "shown"
        assert holdout.gate(known, at_least=3.5).status == "not shown"
        if described == "exact":
            assert holdout.gate("avg(gain) where not late", at_least=2.9).status == "shown"
            assert holdout.gate("difference(gain, loss)", at_least=1.0).status == "shown"
    assert is_intact(path, frame)


def test_groups_by_a_column_and_by_design(tmp_path: Path) -> None:
    frame = table(rows=20_000)
    schema = SCALES | {"arm": ["a", "b"]}
    with made(tmp_path / "t.ledger", frame, schema=schema) as holdout:
        answers = dict(holdout.ask(holdfast.mean("waiting", by="arm")).answers)
        assert 10.2 in answers["a"].interval
        assert 9.8 in answers["b"].interval
    for described in ("exact", "rounded", "off"):
        path = tmp_path / f"{described}.ledger"
        facts: dict[str, Any] = {
            "described": described,
            "mechanism": "bounded noise",
            "design": ["arm"],
        }
        with made(path, frame, **facts) as holdout:
            answer = holdout.ask("avg(waiting) where arm = 'a'")
            assert 10.2 in answer.interval
            assert described == "off" or answer.n == frame["arm"].eq("a").sum()
            assert "no row's expectation beyond" in answer.assumes
            assert holdout.gate("avg(waiting) where arm = 'b'", at_least=9.0).status == "shown"
            assert 0.4 in holdout.ask("effect(waiting, arm = 'a')").interval
            with pytest.raises(InvalidQuestion, match="leave its share out"):
                holdout.ask("avg(waiting, sigma = 1.8, b = 1.6, share >= 0.4) where arm = 'a'")
        assert is_intact(path, frame)


@pytest.mark.parametrize(
    ("sampling", "words"),
    [
        (holdfast.dependency_graph(3), "of a row drawn from all rows, no row's expectation"),
        (holdfast.m_dependent(3), "of a row drawn from all rows, no row's expectation"),
        (holdfast.clustered("unit", largest=4), "of a row drawn from all rows, no row's"),
        (holdfast.clustered("unit", sizes="fixed"), None),
        (holdfast.markov_chain(0.5), None),
    ],
    ids=str,
)
def test_dependent_rows_are_answered_on_the_ledger_or_refused(
    tmp_path: Path, sampling: Any, words: str | None
) -> None:
    path, frame = tmp_path / "t.ledger", table(rows=40_000, copies=4)
    facts: dict[str, Any] = {"sampling": sampling, "tolerance": 0.15, "mechanism": "bounded noise"}
    with made(path, frame, **facts) as holdout:
        if words is None:
            with pytest.raises(InvalidQuestion, match="o theorem here covers"):
                holdout.ask("avg(gain, sigma = 0.5, share >= 0.25) where late")
            return
        answer = holdout.ask("avg(gain) where late")
        assert answer.bits is None
        assert 3.2 in answer.interval
        assert math.isfinite(answer.half_width)
        assert words in answer.assumes
        assert 0.2 in holdout.ask("difference(avg(gain) where late, rest)").interval
    assert is_intact(path, frame)


def test_a_group_far_from_the_grid_or_without_rows_says_so(tmp_path: Path) -> None:
    frame = table().with_columns(
        far=pl.col("gain") - 1e9, never=pl.col("unit") < 0, rare=pl.col("unit") < 3
    )
    schema = SCALES | {"far": holdfast.tails.sub_gaussian(0.5)}
    for described in ("exact", "off"):
        path = tmp_path / f"{described}.ledger"
        facts: dict[str, Any] = {"described": described, "mechanism": "bounded noise"}
        with made(path, frame, schema=schema, **facts) as holdout:
            far = holdout.ask("avg(far) where late")
            assert far.interval.low == -math.inf
            assert far.interval.high < -1000
            apart = holdout.ask("difference(avg(far) where late, avg(gain) where late)")
            assert apart.interval.low == -math.inf
            sides = ("avg(far) where late", "avg(gain) where not late")
            holdout.ask(sides[1])
            beside = holdout.ask(f"difference({', '.join(sides)})")  # of which one is a half-line
            assert beside.interval.low == -math.inf
            assert beside.interval.high < -1000
            for group in ("never", "rare"):
                nothing = holdout.ask(f"avg(gain) where {group}")
                if described == "exact" and group == "rare":
                    assert nothing.half_width > 100  # of three rows
                    continue
                assert nothing.status == "says nothing"
                assert tuple(nothing.interval) == (-math.inf, math.inf)
        assert is_intact(path, frame)


def test_nothing_is_implied_by_a_range_that_a_column_does_not_have(tmp_path: Path) -> None:
    """The rows outside a group that was answered may have any mean, not one inside the window."""
    with made(tmp_path / "t.ledger") as holdout:
        question = bind("avg(gain) where late", desk_of(holdout).table)
        assert isinstance(question, OpenConditional)
        assert mean_within(question) is None
        assert subjects_of(question) == ()
        assert columns_about(question) == {"gain", "late"}
        whole = bind("avg(gain)", desk_of(holdout).table)
        assert columns_about(whole) == {"gain"}


REFUSED = {
    "avg(gain, sigma = 0.5, share >= 0.2)": "the mean is of all rows",
    "avg(gain, sigma = 0.5, share = 0.2) where late": "of a group also share >= 0.2",
    "avg(gain, sigma = 0.5, share >= 0) where late": "share is 0.0",
    "avg(gain, sigma = 0.5, share >= 1.5) where late": "share is 1.5",
    "avg(gain, share >= 0.5) where late": "After the value of a mean stands",
    "avg(gain, sigma = 0.5) by late": "declare the scale of the column at opening",
    "avg(clip(gain, 0, 9), sigma = 0.5) where late": "leave the sigma out",
    "difference(gain, unit)": "bounds",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_cannot_be_asked_of_a_group_is_one_sentence(tmp_path: Path, text: str) -> None:
    with made(tmp_path / "t.ledger") as holdout:
        watch(holdout, untouchable)
        with pytest.raises(HoldfastError) as refused:
            holdout.ask(text)
        assert REFUSED[text] in str(refused.value)
        assert len(holdout.ledger) == 0


def test_a_ledger_that_answers_once_needs_the_share(tmp_path: Path) -> None:
    facts: dict[str, Any] = {"mechanism": "one look", "described": "off", "questions": 3}
    with made(tmp_path / "t.ledger", **facts) as holdout:
        with pytest.raises(InvalidQuestion, match="this ledger answers once; say what share"):
            holdout.ask("avg(gain) where late")
        answer = holdout.ask("avg(gain, sigma = 0.5, share >= 0.27) where late")
        assert 3.2 in answer.interval
        declared = "the concentration and the share of rows that the question declares"
        assert declared in answer.assumes  # nobody checks it


# Sessions that choose their questions by the answers.


def _spread_rows(seed: int, copies: int) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Ten columns that are 0 outside a group and signs inside it, so that it has all the spread."""
    rng = np.random.default_rng(seed)
    n, share = 1_200, 0.4
    inside = rng.random(n) < share
    signs = rng.choice([-1.0, 1.0], size=(10, n)) * inside
    columns = {"g": inside, "unit": np.arange(n)} | {f"x{j}": x for j, x in enumerate(signs)}
    scale = holdfast.tails.sub_gaussian(math.sqrt(share))
    frame = pl.DataFrame({name: np.repeat(each, copies) for name, each in columns.items()})
    return frame, {f"x{j}": scale for j in range(10)}


def _session(path: Path, seed: int, copies: int, **facts: Any) -> tuple[bool, float]:
    """Whether an interval is false, and how far the worst value is off, in half-widths.

    All ten means of the group are asked, then differences of columns with the best and the worst.
    """
    frame, schema = _spread_rows(seed, copies)
    with holdfast.open(frame, ledger=path, questions=40, schema=schema, **facts) as holdout:
        means = [holdout.ask(f"avg(x{j}) where g") for j in range(10)]
        order = sorted(range(10), key=lambda j: means[j].value or 0.0)
        best, worst = order[-1], order[0]
        chosen = [
            holdout.ask(f"difference(avg(x{best}) where g, avg(x{worst}) where g)"),
            holdout.ask(f"difference(x{best}, x{worst})"),
            holdout.ask(f"difference(avg(x{best}) where g, rest)"),
        ]
    answers = [*means, *chosen]
    off = [abs(each.value or 0.0) / each.half_width for each in answers]
    return any(0.0 not in each.interval for each in answers), max(off)


@pytest.mark.parametrize("how", SAMPLINGS)
def test_adaptive_sessions_are_true_and_their_twins_are_not(tmp_path: Path, how: str) -> None:
    """The truth is 0."""
    require_true_sessions(_session, tmp_path, how)


def test_a_half_width_of_a_difference_is_a_part_of_both_units() -> None:
    """Of 2 sigma of the mean without a range, and of the range of the other."""
    types = {"gain": ColumnType.FLOAT, "late": ColumnType.BOOLEAN}
    schema = Schema(types).declare({"gain": sub_gaussian(0.4)})
    question = bind("difference(avg(gain), avg(late))", Table(schema))
    assert isinstance(question, OpenDifference)
    assert question.unit(1_000) * (question.high - question.low) == pytest.approx(2 * 0.4 + 1.0)
