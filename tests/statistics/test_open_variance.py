"""Variances without a range: asked, described, claimed, audited, and true in every session."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import holdfast
from holdfast.data.polars import PolarsSample
from holdfast.errors import HoldfastError, InvalidQuestion
from holdfast.ledger.audit import audit
from holdfast.question.declaring import Scale
from holdfast.question.expression import Column, ColumnType
from holdfast.statistics.statistic import SPREAD_ERROR, ConcentratedMean, spread_of
from tests.holdout.tables import untouchable, watch
from tests.statistics.open_sessions import SAMPLINGS, require_true_sessions

ROWS = 20_000
SCALES = {
    "gain": holdfast.tails.sub_gaussian(0.5),
    "far": holdfast.tails.sub_gaussian(0.5),
    "waiting": holdfast.tails.sub_exponential(1.8, 1.6),
}
# The truths of `table`: late rows vary by 0.48, the others by 0.36, around means .1 apart.
TRUTHS = {
    "variance(gain)": 0.3 * 0.48**2 + 0.7 * 0.36**2 + 0.21 * 0.01,
    "std(gain)": (0.3 * 0.48**2 + 0.7 * 0.36**2 + 0.21 * 0.01) ** 0.5,
    "variance(gain - 1000, sigma = 0.6)": 0.3 * 0.48**2 + 0.7 * 0.36**2 + 0.21 * 0.01,
    "std(far)": 0.4,
    "std(gain) where late": 0.48,
    "variance(gain) where not late": 0.36**2,
    "std(far) where arm = 'a'": 0.4,
}


def table(seed: int = 5, rows: int = ROWS, copies: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    n = rows // copies
    late = rng.random(n) < 0.3
    columns = {
        "gain": 3.0 + 0.1 * late + np.where(late, 0.48, 0.36) * rng.normal(size=n),
        "far": 4e11 + 0.4 * rng.normal(size=n),  # beyond half of the first coarse grid
        "waiting": 10.0 + rng.laplace(size=n),
        "late": late,
        "arm": np.where(rng.random(n) < 0.5, "a", "b"),
        "unit": np.arange(n),
    }
    return pl.DataFrame({name: np.repeat(each, copies) for name, each in columns.items()})


def made(path: Path, frame: pl.DataFrame | None = None, **facts: Any) -> holdfast.Holdout:
    rows = table() if frame is None else frame
    declared: dict[str, Any] = {"questions": 60, "schema": SCALES}
    return holdfast.open(rows, ledger=path, **(declared | facts))


def is_intact(path: Path, frame: pl.DataFrame) -> bool:
    return all(each.fine for each in audit(path, lambda: PolarsSample(frame)))


@pytest.mark.parametrize("described", ["exact", "rounded", "off"])
def test_variances_are_answered_and_audited(tmp_path: Path, described: str) -> None:
    path, frame = tmp_path / "t.ledger", table()
    with made(path, frame, described=described, mechanism="bounded noise") as holdout:
        for text, truth in TRUTHS.items():
            answer = holdout.ask(text)
            assert truth in answer.interval, text
            assert answer.interval.low >= 0.0
            assert answer.half_width < 0.45
            assert "the concentration that the question declares" in answer.assumes
            assert holdout.ask(text).status == "repeated"
        assert str(holdout.ledger)
        assert holdout.explain()
    assert is_intact(path, frame)


def test_a_described_variance_is_at_the_level_of_its_words(tmp_path: Path) -> None:
    """The radius by its own formula: 2.11 sigma^2, and the square of the mean's."""
    with made(tmp_path / "t.ledger") as holdout:
        answer, group = holdout.ask("variance(gain)"), holdout.ask("variance(gain) where late")
        beta = 0.02
        for found, sigma, within in ((answer, 0.5, 0.002), (group, 0.5 / math.sqrt(0.29), 0.05)):
            assert isinstance(found.n, int)
            e = math.log(2) - math.log(beta) + (found.bits or 0.0) * math.log(2)
            squares = 2.11 * sigma**2 * math.sqrt(2 * (e + math.log(64 / 63)) / found.n)
            mean = 2 * sigma**2 * (e + math.log(64)) / found.n
            assert found.half_width == pytest.approx(squares + mean, rel=within)
        root = holdout.ask("std(gain)")
        assert root.bits == answer.bits  # the same event, at no further cost
        ends = [end**0.5 for end in answer.interval]
        assert tuple(root.interval) == pytest.approx(ends, rel=1e-12)


@pytest.mark.parametrize("described", ["exact", "off"])
def test_claims_about_variances_are_checked_and_gated(tmp_path: Path, described: str) -> None:
    path, frame = tmp_path / "t.ledger", table()
    with made(path, frame, described=described, mechanism="bounded noise") as holdout:
        assert holdout.check("std(gain)", guess=0.405).status == "confirmed"
        assert holdout.check("variance(gain)", at_most=0.22).status == "confirmed"
        assert holdout.check("variance(gain)", guess=0.05, half_width=0.06).status != "confirmed"
        assert holdout.gate("variance(gain)", at_most=0.21).status == "shown"
        assert holdout.gate("variance(gain)", at_most=0.12).status == "not shown"
        if described == "exact":
            assert holdout.gate("std(gain)", at_most=0.46).status == "shown"
            assert holdout.gate("std(gain) where late", at_least=0.3).status == "shown"
        else:
            known = "variance(gain, sigma = 0.5, share >= 0.28) where late"
            assert holdout.check(known, guess=0.23).status == "confirmed"
    assert is_intact(path, frame)


def test_groups_by_a_column_and_by_design(tmp_path: Path) -> None:
    frame, schema = table(), SCALES | {"arm": ["a", "b"]}
    with made(tmp_path / "t.ledger", frame, schema=schema) as holdout:
        answers = dict(holdout.ask(holdfast.stats.std("far", by="arm")).answers)
        assert all(0.4 in answers[arm].interval for arm in ("a", "b"))
    for described in ("exact", "rounded", "off"):
        path = tmp_path / f"{described}.ledger"
        facts: dict[str, Any] = {
            "described": described,
            "mechanism": "bounded noise",
            "design": ["arm"],
        }
        with made(path, frame, **facts) as holdout:
            answer = holdout.ask("std(far) where arm = 'a'")
            assert 0.4 in answer.interval
            assert answer.assumes.endswith("declares of a row drawn from all rows")
        assert is_intact(path, frame)


@pytest.mark.parametrize(
    ("sampling", "covered"),
    [
        (holdfast.dependency_graph(3), True),
        (holdfast.m_dependent(3), True),
        (holdfast.clustered("unit", largest=4), True),
        (holdfast.clustered("unit", sizes="fixed"), False),
        (holdfast.markov_chain(0.5), False),
    ],
    ids=str,
)
def test_dependent_rows_are_answered_on_the_ledger_or_refused(
    tmp_path: Path, sampling: Any, covered: bool
) -> None:
    path, frame = tmp_path / "t.ledger", table(rows=40_000, copies=4)
    facts: dict[str, Any] = {"sampling": sampling, "tolerance": 0.15, "mechanism": "bounded noise"}
    with made(path, frame, **facts) as holdout:
        for text in ("std(gain)", "std(gain) where late"):
            if not covered:
                with pytest.raises(InvalidQuestion, match="No theorem here covers"):
                    holdout.ask(text)
                continue
            answer = holdout.ask(text)
            assert answer.bits is None or "where" not in text
            assert TRUTHS[text] in answer.interval
            assert answer.assumes.endswith("declares of a row drawn from all rows")
    assert is_intact(path, frame)


@pytest.mark.parametrize("centre", [0.0, -7e3, 3e9, 5e12, -1e15])
def test_what_is_read_is_the_variance_wherever_the_rows_are(centre: float) -> None:
    """Against whole numbers; sigma is far above the spread of a double so far out."""
    rng = np.random.default_rng(3)
    rows = centre + np.round(rng.normal(0.0, 40.0, 2_000))
    frame = pl.DataFrame({"x": rows, "g": rng.random(2_000) < 0.4})
    whole = ConcentratedMean(Column("x", ColumnType.FLOAT, nullable=False), Scale(50.0))
    inside = Column("g", ColumnType.BOOLEAN, nullable=False)
    for group, kept in ((None, rows), (inside, rows[frame["g"].to_numpy()])):
        size, found = spread_of(PolarsSample(frame), whole, group)
        exact = [Fraction(each) for each in kept]
        mean = sum(exact, Fraction(0)) / len(exact)
        variance = sum(((each - mean) ** 2 for each in exact), Fraction(0)) / len(exact)
        assert size == len(exact)
        assert abs(found - variance) <= 50**2 * SPREAD_ERROR
    nobody = Column("never", ColumnType.BOOLEAN, nullable=False)
    sample = PolarsSample(frame.with_columns(never=pl.lit(value=False)))
    assert spread_of(sample, whole, nobody) == (0, Fraction(0))


def test_a_small_group_says_nothing(tmp_path: Path) -> None:
    frame = table().with_columns(never=pl.col("unit") < 0)
    for described in ("exact", "off"):
        path = tmp_path / f"{described}.ledger"
        with made(path, frame, described=described, mechanism="bounded noise") as holdout:
            nothing = holdout.ask("variance(gain) where never")
            assert nothing.status == "says nothing"
            assert nothing.interval.high == math.inf
            assert nothing.interval.low <= 0.0
        assert is_intact(path, frame)


REFUSED = {
    "std(waiting)": "ask for quantiles",
    "std(gain, sigma = 0.5, b = 1)": "a sigma alone where that is true",
    "std(clip(gain, 0, 9), sigma = 0.5)": "leave the sigma out",
    "std(unit, b = 1)": "After the value of a std stands",
    "variance(gain, sigma = 0.5, share >= 0.2)": "the mean is of all rows",
    "variance(unit)": "sigma",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_has_no_variance_is_one_sentence(tmp_path: Path, text: str) -> None:
    with made(tmp_path / "t.ledger") as holdout:
        watch(holdout, untouchable)
        with pytest.raises(HoldfastError) as refused:
            holdout.ask(text)
        assert REFUSED[text] in str(refused.value)
        assert len(holdout.ledger) == 0


# Sessions that choose their questions by the answers.


_HEIGHT, _WEIGHT = 2.3, 0.13  # +-2.3 in so many rows is sub-Gaussian with 1, and squares vary most


def _session(path: Path, seed: int, copies: int, **facts: Any) -> tuple[bool, float]:
    """Whether an interval is false, and how far the worst value is off, in half-widths.

    Six variances are asked, then the roots of the greatest and the least, and one's of a group.
    """
    rng = np.random.default_rng(seed)
    n = 1_500
    signs = rng.choice([-1.0, 1.0], size=(6, n)) * (rng.random((6, n)) < _WEIGHT)
    columns = {"g": rng.random(n) < 0.6, "unit": np.arange(n)}
    columns |= {f"x{j}": _HEIGHT * x for j, x in enumerate(signs)}
    frame = pl.DataFrame({name: np.repeat(each, copies) for name, each in columns.items()})
    schema = {f"x{j}": holdfast.tails.sub_gaussian(1.0) for j in range(6)}
    with holdfast.open(frame, ledger=path, questions=40, schema=schema, **facts) as holdout:
        found = [holdout.ask(f"variance(x{j})") for j in range(6)]
        order = sorted(range(6), key=lambda j: found[j].value or 0.0)
        roots = [holdout.ask(f"std(x{j})") for j in (order[0], order[-1])]
        found.append(holdout.ask(f"variance(x{order[-1]}) where g"))
    truth = _HEIGHT**2 * _WEIGHT
    missed = any(truth not in each.interval for each in found)
    missed |= any(truth**0.5 not in each.interval for each in roots)
    off = [abs((each.value or 0.0) - truth) / each.half_width for each in found[:6]]
    return missed, max(off)


@pytest.mark.parametrize("how", SAMPLINGS)
def test_adaptive_sessions_are_true_and_their_twins_are_not(tmp_path: Path, how: str) -> None:
    require_true_sessions(_session, tmp_path, how)
