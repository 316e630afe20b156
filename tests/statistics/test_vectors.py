"""Means of vectors with a norm bound: what they are, how they are written, and what is refused."""

from __future__ import annotations

import math
from contextlib import suppress
from pathlib import Path
from typing import Any, get_args

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

import holdfast
from holdfast.errors import HoldfastError, InvalidArgument, InvalidQuestion
from holdfast.holdout.holdout import Holdout
from holdfast.ledger.audit import audit
from holdfast.question.columns import Schema
from holdfast.question.expression import ColumnType
from holdfast.statistics.bind import bind
from holdfast.statistics.entry import Table
from holdfast.statistics.vectors import Coordinate, Norm
from tests.seam import transcript_of

N = 400
RNG = np.random.default_rng(5)
TABLE = pl.DataFrame({name: RNG.normal(size=N) for name in "xyz"})
SCHEMA = Schema(dict.fromkeys("xyz", ColumnType.FLOAT))


def opened(folder: Path, table: pl.DataFrame = TABLE, **said: Any) -> Holdout:
    said = {"tolerance": 0.4, "described": "off", **said}
    return holdfast.open(table, ledger=folder / "t.ledger", **said)


def shortened(rows: Any, bound: float) -> Any:
    """The vectors of all rows, kept to a bound; by numpy."""
    with np.errstate(over="ignore", invalid="ignore"):
        squares = (rows**2).sum(axis=1, keepdims=True)
        kept = np.where(squares <= bound**2, rows, rows * (bound**2 / squares))
    return np.where(np.isnan(rows).any(axis=1, keepdims=True), 0.0, np.nan_to_num(kept))


@pytest.mark.parametrize("bound", [0.5, 1.0, 10.0])
def test_coordinates_are_means_of_vectors_that_keep_to_the_bound(
    tmp_path: Path, bound: float
) -> None:
    rows = TABLE.to_numpy()
    expected = shortened(rows, bound).mean(axis=0)
    assert np.linalg.norm(shortened(rows, bound), axis=1).max() <= bound * (1 + 1e-12)
    with opened(tmp_path, mechanism="exact", tolerance=None) as holdout:
        found = holdout.ask(holdfast.vector_mean(["x", "y", "z"], norm="l2", bound=bound))
        assert [label for label, _ in found] == ["x", "y", "z"]
        assert [answer.value for _, answer in found] == pytest.approx(expected, abs=1e-6 * bound)


@pytest.mark.parametrize("bound", [0.5, 2.0, 10.0])
def test_so_do_vectors_with_a_bound_in_l1(tmp_path: Path, bound: float) -> None:
    rows = np.nan_to_num(TABLE.to_numpy())
    lengths = np.maximum(np.abs(rows).sum(axis=1, keepdims=True), 1e-300)
    kept = np.where(lengths <= bound, rows, rows * (bound / lengths) ** 2)
    assert np.abs(kept).sum(axis=1).max() <= bound * (1 + 1e-12)
    with opened(tmp_path, mechanism="exact", tolerance=None) as holdout:
        found = holdout.ask(holdfast.vector_mean(["x", "y", "z"], norm="l1", bound=bound))
        assert found["y"].question == f"coordinate_l1(2, {bound:g}, x, y, z)"
        values = [answer.value for _, answer in found]
        assert values == pytest.approx(kept.mean(axis=0), abs=1e-6 * bound)


def test_columns_that_miss_values_are_refused(tmp_path: Path) -> None:
    table = pl.DataFrame({"x": [None, 0.5] * 40, "y": [0.5, 0.25] * 40})
    with opened(tmp_path, table, mechanism="exact", tolerance=None) as holdout:
        with pytest.raises(InvalidQuestion, match="x is not null"):
            holdout.ask(holdfast.vector_mean(["x", "y"], bound=1))
        found = holdout.ask(holdfast.vector_mean(["coalesce(x, 0)", "y"], bound=1))
        assert [answer.value for _, answer in found] == pytest.approx([0.25, 0.375], abs=1e-8)


def test_rows_that_are_beyond_doubles_count_as_nothing(tmp_path: Path) -> None:
    wild = [(math.inf, 1.0), (1e300, 1.0), (1e200, 1e200), (-math.inf, math.inf), (3.0, 4.0)]
    table = pl.DataFrame({"x": [x for x, _ in wild] * 40, "y": [y for _, y in wild] * 40})
    with opened(tmp_path, table, mechanism="exact", tolerance=None) as holdout:
        found = holdout.ask(holdfast.vector_mean(["x", "y"], bound=1))
        first, second = (answer.value for _, answer in found)
    # Only (3, 4), of length 5, is left: in its direction, 1/5 long.
    assert first == pytest.approx(3 / 25 / 5, abs=1e-8)
    assert second == pytest.approx(4 / 25 / 5, abs=1e-8)


def test_the_other_norm_cuts_each_value(tmp_path: Path) -> None:
    with opened(tmp_path, mechanism="exact", tolerance=None) as holdout:
        found = holdout.ask(holdfast.vector_mean(["x", "y"], norm="linf", bound=0.5))
        cut = np.clip(TABLE.to_numpy()[:, :2], -0.5, 0.5).mean(axis=0)
        assert [answer.value for _, answer in found] == pytest.approx(cut, abs=1e-8)
        assert found["x"].question == "avg(clip(x, -0.5, 0.5))"
        assert found.question == "vector_mean(linf, 0.5, x, y)"


@given(st.lists(st.sampled_from("xyz"), min_size=1, unique=True), st.floats(1e-3, 1e3), st.data())
def test_a_coordinate_is_read_again_from_its_text(
    names: list[str], bound: float, data: st.DataObject
) -> None:
    place = data.draw(st.integers(1, len(names)))
    table = Table(SCHEMA)
    found = bind(f"coordinate({place}, {bound!r}, {', '.join(names)})", table)
    assert isinstance(found, Coordinate)
    assert bind(found.text, table) == found
    assert (found.low, found.high) == (-bound, bound)


def test_one_call_one_entry_intervals_together_and_repeated(tmp_path: Path) -> None:
    asked_for = holdfast.vector_mean(["x * y", "2 * z"], bound=2)
    with opened(tmp_path) as holdout:
        first = holdout.ask(asked_for, why="a step")
        assert transcript_of(holdout).count == 3
        assert all(answer.half_width <= 0.4 * 4 * (1 + 1e-6) for _, answer in first)
        again = holdout.ask(asked_for)
        assert {answer.status for _, answer in again} == {"repeated"}
        assert transcript_of(holdout).count == 3
        assert holdout.cost("vector_mean(l2, 2, x, y, z)").to_dict()["questions"] == 1
    assert all(finding.fine for finding in audit(tmp_path / "t.ledger"))


@pytest.mark.parametrize("mechanism", ["bounded noise", "typical laplace", "typical gaussian"])
def test_a_vector_is_one_question_of_those_declared(tmp_path: Path, mechanism: str) -> None:
    """So many vectors are answered as are said to be left; a plain question goes on from them."""
    table = pl.DataFrame(RNG.uniform(-1, 1, (20_000, 3)), schema=["x", "y", "z"])
    said = {"mechanism": mechanism, "questions": 6, "tolerance": 0.1}
    with opened(tmp_path, table, **said) as holdout:
        for place, norm in enumerate(get_args(Norm), start=1):
            vector = holdfast.vector_mean(["x", "y", "z"], norm=norm, bound=1)
            cost = holdout.cost(vector)
            assert cost.question == f"vector_mean({norm}, 1, x, y, z)"
            assert (cost.questions, cost.half_width) == (1, 0.2)
            found = holdout.ask(vector)
            assert all(0.0 in answer.interval for _, answer in found)
            assert holdout.budget.asked == place
            assert found["x"].left.questions_left == cost.left - 1 == 6 - place
        assert holdout.ask("avg(x > 0)").left.questions_left == 2
        for bound in (2, 3):
            found = holdout.ask(holdfast.vector_mean(["x", "y"], bound=bound))
            assert found["x"].left.questions_left == 3 - bound
        with pytest.raises(holdfast.errors.BudgetExhausted, match="remaining 0 of the 6 declared"):
            holdout.ask(holdfast.vector_mean(["x", "y"], bound=4))
        numbers = [look.look for look in transcript_of(holdout).answers]
        assert numbers == list(range(1, 3 * 3 + 1 + 2 * 2 + 1))
        assert transcript_of(holdout).account.leakage.log_beta_spent <= math.log(0.05)
    assert all(finding.fine for finding in audit(tmp_path / "t.ledger"))


@pytest.mark.parametrize("norm", get_args(Norm))
@pytest.mark.parametrize("mechanism", ["bounded noise", "typical laplace", "typical gaussian"])
def test_a_vector_of_a_declared_scale_has_no_bound(
    tmp_path: Path, mechanism: str, norm: Norm
) -> None:
    table = pl.DataFrame(RNG.normal(3.0, 0.2, (20_000, 3)), schema=["x", "y", "z"])
    vector = holdfast.vector_mean(["x", "y", "z"], norm=norm, sigma=0.4)
    with opened(tmp_path, table, mechanism=mechanism, questions=4, tolerance=0.1) as holdout:
        cost = holdout.cost(vector)
        assert cost.question == f"vector_mean({norm}, sigma = 0.4, x, y, z)"
        assert (cost.questions, cost.unbounded) == (1, True)
        assert cost.half_width == pytest.approx(0.1 * 2 * 0.4)
        found = holdout.ask(vector)
        assert all(3.0 in answer.interval for _, answer in found)
        assert found["y"].question == "avg(y, sigma = 0.4)"
        assert "repeated" in str(holdout.ask(cost.question))
        assert (holdout.budget.asked, found["x"].left.questions_left) == (1, cost.left - 1)
    assert all(finding.fine for finding in audit(tmp_path / "t.ledger"))


@pytest.mark.parametrize("how", [{}, {"bound": 1, "sigma": 1}])
def test_a_vector_has_a_bound_or_a_scale(how: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument, match="give one of them"):
        holdfast.vector_mean(["x", "y"], **how)


def test_what_a_vector_leaves_is_answered(tmp_path: Path) -> None:
    """Where the nats end before the number does: at least as many vectors as were said."""
    with opened(tmp_path, tolerance=0.3, questions=100) as holdout:
        said, answered = holdout.cost("vector_mean(l2, 1, x, y, z)").left, 0
        with suppress(holdfast.errors.BudgetExhausted):
            for bound in range(1, 100):
                holdout.ask(holdfast.vector_mean(["x", "y", "z"], bound=bound))
                answered += 1
        assert 1 < said <= answered <= said + 1


def test_where_rows_or_noise_have_no_theorem_of_vectors_it_is_one_question_too(
    tmp_path: Path,
) -> None:
    """Rows that depend on each other: coordinates by themselves, on the share of one question.

    With a declared eta each is a step of its own, and with Theorem T an answer of its own.
    """
    vector = holdfast.vector_mean(["x", "y"], bound=1)
    counts: dict[str, tuple[int, int, int]] = {}
    for name, how in {
        "dependent": {"sampling": holdfast.m_dependent(1), "questions": 5, "tolerance": 0.4},
        "eta": {"mechanism": "typical laplace", "options": {"eta": 5.0}, "questions": 5},
        "gaussian": {"mechanism": "gaussian", "questions": 5},
    }.items():
        table = TABLE.with_columns(x=pl.col("x") + len(counts))
        said = {"tolerance": None, **how}
        (folder := tmp_path / name).mkdir()
        with opened(folder, table, **said) as holdout:
            cost = holdout.cost(vector)
            left = holdout.ask(vector)["x"].left.questions_left
            counts[name] = cost.questions, holdout.budget.asked, left
        assert all(finding.fine for finding in audit(folder / "t.ledger"))
    assert counts == {"dependent": (1, 1, 4), "eta": (2, 2, 1), "gaussian": (2, 2, 1)}


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("vector_mean(l2, 0, x, y)", "bound"),
        ("vector_mean(l2, -1, x, y)", "bound"),
        ("vector_mean(l2, x, y)", "bound"),
        ("vector_mean(l2, sigma = 0, x, y)", "sigma"),
        ("vector_mean(l2, sigma = x, y)", "sigma"),
        ("vector_mean(l7, 1, x, y)", "norm"),
        ("coordinate_l1(3, 1, x, y)", "no coordinate 3"),
        ("vector_mean(l2, 1)", "has 0"),
        ("vector_mean(l2)", "bound"),
        ("vector_mean(l2, 1, x, x)", "once"),
        ("vector_mean(l2, 1, x, nothing)", "nothing"),
        ("vector_mean(l2, 1, x, y) where x > 0", "no where"),
        ("vector_mean(l2, 1, x, y) by z", "no by"),
        ("coordinate(3, 1, x, y)", "no coordinate 3"),
        ("coordinate(0, 1, x, y)", "no coordinate 0"),
        ("coordinate(1.5, 1, x, y)", "no coordinate 1.5"),
        ("coordinate(1, 0, x, y)", "bound"),
        ("coordinate(1, 1)", "takes"),
        ("coordinate(1, 1, x, y) where x > 0", "no where"),
    ],
)
def test_what_is_no_vector_is_refused_and_nothing_is_spent(
    tmp_path: Path, question: str, said: str
) -> None:
    with opened(tmp_path) as holdout:
        with pytest.raises(HoldfastError, match=said):
            holdout.ask(question)
        assert transcript_of(holdout).count == 1


@pytest.mark.parametrize(
    ("values", "how", "said"),
    [
        (["x", "y"], {"bound": math.nan}, "bound"),
        (["x", "y"], {"bound": math.inf}, "bound"),
        (["x", "y"], {"bound": "one"}, "bound"),
        ([], {"bound": 1}, "coordinates"),
        ("x", {"bound": 1}, "values"),
        (["x", 3], {"bound": 1}, "int"),
        ([f"x + {place}" for place in range(300)], {"bound": 1}, "this one has 300"),
        (["x", "y"], {"bound": 1, "norm": 2}, "norm"),
    ],
    ids=str,
)
def test_what_python_may_say(tmp_path: Path, values: Any, how: Any, said: str) -> None:
    with opened(tmp_path) as holdout:
        with pytest.raises((InvalidArgument, InvalidQuestion), match=said):
            holdout.ask(holdfast.vector_mean(values, **how))
        assert transcript_of(holdout).count == 1
