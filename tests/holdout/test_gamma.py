"""Statistics and samplings with a declared gamma_n: kept by the ledger, audited, refused."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import holdfast
from holdfast.data.polars import PolarsSample
from holdfast.errors import HoldfastError, InvalidArgument, InvalidQuestion
from holdfast.ledger.audit import audit
from tests.cli.run import holdfast as run
from tests.holdout.tables import same_secret, untouchable, watch

ROWS, COPIES = 2_000, 4
TABLE = [(0.02, -3.0), (0.05, -10.0), (0.2, -60.0)]
FAMILIES: dict[str, dict[str, Any]] = {
    "sigma": {"sigma": 0.02},
    "sigma and b": {"sigma": 0.02, "b": 0.005},
    "sub-gaussian": {"gamma": holdfast.tails.sub_gaussian(0.02)},
    "sub-weibull": {"gamma": holdfast.tails.sub_weibull(0.02, 1.5)},
    "polynomial": {"gamma": holdfast.tails.polynomial_tail(60, 0.02)},
    "table": {"gamma": TABLE},
}
SAMPLINGS: dict[str, Any] = {
    "graph": holdfast.dependency_graph(COPIES - 1),
    "markov": holdfast.markov_chain(0.75),
    "table": holdfast.declared(gamma=[(0.06, -3.0), (0.1, -15.0), (0.2, -60.0)]),
    "sub-weibull": holdfast.declared(gamma=holdfast.tails.sub_weibull(0.05, 1.5)),
}
BAD_GRAPH = holdfast.dependency_graph(ROWS)


def table() -> pl.DataFrame:
    """Every row comes four times."""
    rng = np.random.default_rng(4)
    x, flag = rng.normal(3.0, 0.4, ROWS // COPIES), rng.random(ROWS // COPIES) < 0.3
    return pl.DataFrame({"x": np.repeat(x, COPIES), "flag": np.repeat(flag, COPIES)})


def made(path: Path, **declared: Any) -> holdfast.Holdout:
    return holdfast.open(table(), ledger=path, **({"questions": 8} | declared))


def center(frame: pl.DataFrame) -> float:
    return float(frame["x"].to_numpy().mean())


def asked(name: str, **declared: Any) -> Any:
    return holdfast.statistic(center, columns=["x"], name=name, **declared)


def is_intact(path: Path) -> bool:
    return all(finding.fine for finding in audit(path, lambda: PolarsSample(table())))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_statistic_needs_no_bounds_if_its_tail_is_declared(tmp_path: Path, family: str) -> None:
    path = tmp_path / "t.ledger"
    with made(path, mechanism="bounded noise", tolerance=0.2) as holdout:
        question = asked("center", **FAMILIES[family])
        answer = holdout.ask(question)
        assert 3.0 in answer.interval
        # The unit is 2 sqrt(n) scales: what the range of a row is to Hoeffding.
        radius = question.gamma.radius(math.log(0.05)) / math.sqrt(2 * math.log(40))
        assert answer.half_width == pytest.approx(0.2 * 2 * math.sqrt(ROWS) * radius, rel=1e-3)
        assert holdout.check(asked("near", **FAMILIES[family]), guess=3.01).status == "confirmed"
        assert holdout.gate(asked("more", **FAMILIES[family]), at_least=2.0).status == "shown"
        assert "the concentration that the question declares" in answer.assumes
        assert "expectation" not in answer.assumes
    assert is_intact(path)
    with made(path) as again:  # the function is another one of the same name: it is not called
        watch(again, untouchable)
        assert again.ask(asked("center", **FAMILIES[family])).status == "repeated"


@pytest.mark.parametrize("how", SAMPLINGS)
def test_a_ledger_keeps_how_rows_depend_on_each_other(tmp_path: Path, how: str) -> None:
    path = tmp_path / "t.ledger"
    with made(path, sampling=SAMPLINGS[how], mechanism="bounded noise") as holdout:
        answer = holdout.ask("avg(flag)")
        assert 0.3 in answer.interval
        assert answer.half_width > 2 * 0.5 * math.sqrt(2 * math.log(40) / ROWS)
        assert str(SAMPLINGS[how]) in answer.assumes
    with made(path) as again:
        assert again.opening.terms.sampling == SAMPLINGS[how]
    assert is_intact(path)


@pytest.mark.parametrize("mechanism", ["typical laplace", "typical gaussian"])
@pytest.mark.parametrize("options", [None, {"eta": 1.0}], ids=["what the width leaves", "eta"])
def test_the_papers_setting_runs_as_written(
    tmp_path: Path,
    mechanism: str,
    options: dict[str, Any] | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Sub-exponential questions, each chosen after the answers before it, on dependent rows."""
    same_secret(monkeypatch)
    path = tmp_path / "t.ledger"
    rng = np.random.default_rng(8)
    units, k = 400, 5
    data = pl.DataFrame({f"x{j}": np.repeat(rng.laplace(size=units), COPIES) for j in range(k - 1)})
    scale = holdfast.tails.sub_exponential(math.sqrt(4 * math.log(2)), math.sqrt(2))
    with holdfast.open(
        data,
        ledger=path,
        questions=k,
        tolerance=0.45 if options is None else None,
        mechanism=mechanism,
        options=options or {},
        sampling=holdfast.dependency_graph(COPIES - 1),
        schema=dict.fromkeys(data.columns, scale),
    ) as holdout:
        signs = []
        for name in data.columns:
            answer = holdout.ask(f"mean({name})")
            assert 0.0 in answer.interval
            assert answer.value is not None
            signs.append("+" if answer.value > 0 else "-")
        total = " ".join(f"{sign} {name}" for sign, name in zip(signs, data.columns, strict=True))
        last = holdout.ask(f"mean((0 {total}) / 2, {scale.text})")
        assert 0.0 in last.interval
        assert holdout.budget.asked == k
    assert all(finding.fine for finding in audit(path, lambda: PolarsSample(data)))


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "nothing": ({}, "takes change=, or sigma="),
    "two ways": ({"sigma": 1.0, "gamma": TABLE}, "takes change=, or sigma="),
    "no range for a change": ({"change": 0.1}, "has bounds="),
    "sigma 0": ({"sigma": 0}, "sigma is 0"),
    "sigma nan": ({"sigma": math.nan}, "sigma is nan"),
    "a rising gamma": ({"gamma": [(0.1, -3), (0.2, -2)]}, "a tail never rises"),
    "a table out of order": ({"gamma": [(0.2, -3), (0.1, -4)]}, "deviations must rise"),
    "a table too short": ({"gamma": [(0.2, -1)]}, "says nothing at 95 %"),
    "a function": ({"gamma": lambda a: -a}, "it must be a family"),
    "a word": ({"gamma": "heavy"}, "it must be a family"),
}


@pytest.mark.parametrize("what", BAD)
def test_what_declares_no_tail_is_refused_before_there_is_a_question(what: str) -> None:
    declared, words = BAD[what]
    with pytest.raises(InvalidArgument, match=words):
        asked("bad", **declared)


def test_what_a_sampling_does_not_cover_is_refused_in_one_sentence(tmp_path: Path) -> None:
    with made(tmp_path / "t.ledger", sampling=SAMPLINGS["markov"]) as holdout:
        watch(holdout, untouchable)
        for text in ("mean(x, sigma = 0.4)", "catoni(x, 0.2)"):
            with pytest.raises(InvalidQuestion, match="Markov chain"):
                holdout.ask(text)
        assert holdout.budget.asked == 0
    with pytest.raises(InvalidArgument, match="degree is 2,000, and a row of 2,000 has at most"):
        made(tmp_path / "g.ledger", sampling=BAD_GRAPH)
    for wrong in (-1, 1.5, math.nan):
        with pytest.raises(InvalidArgument, match="degree is"):
            holdfast.dependency_graph(wrong)  # type: ignore[arg-type]
    for wrong in (-0.1, 1.0, math.nan):
        with pytest.raises(InvalidArgument, match="contraction is"):
            holdfast.markov_chain(wrong)


def test_only_a_variance_is_declared_for_catonis_estimate(tmp_path: Path) -> None:
    path = tmp_path / "t.ledger"
    heavy = pl.DataFrame({"x": np.random.default_rng(5).pareto(2.5, ROWS)})
    with holdfast.open(heavy, ledger=path, questions=5, tolerance=0.1) as holdout:
        answer = holdout.ask(holdfast.catoni("x", variance=2.3))
        assert 1 / 1.5 in answer.interval
        assert answer.half_width == pytest.approx(0.1 * 2 * math.sqrt(2.3), rel=1e-3)
        assert answer.question == "catoni(x, 2.3)"
        assert holdout.check("catoni(x, 2.4)", guess=0.67).status == "confirmed"
        for text in (
            "catoni(x, 0)",
            "catoni(x, -1)",
            "catoni(x > 1, 2)",
            "catoni(x, 2) where x > 1",
        ):
            with pytest.raises(HoldfastError):
                holdout.ask(text)
    assert all(finding.fine for finding in audit(path, lambda: PolarsSample(heavy)))


def test_the_command_line_declares_the_same(tmp_path: Path) -> None:
    words = {
        "dependency-graph:3": SAMPLINGS["graph"],
        "markov-chain:0.75": SAMPLINGS["markov"],
        'declared:{"family":"sub-weibull","scale":0.05,"shape":1.5}': SAMPLINGS["sub-weibull"],
    }
    for place, (said, sampling) in enumerate(words.items()):
        path, data = str(tmp_path / f"{place}.ledger"), str(tmp_path / f"{place}.parquet")
        table().with_columns(place=place).write_parquet(data)  # each ledger has its own rows
        made_there = run("init", data, "--ledger", path, "--sampling", said)
        assert made_there.returncode == 0, made_there.stderr
        with holdfast.open(ledger=path) as holdout:
            assert holdout.opening.terms.sampling == sampling
        planned = run("plan", "--rows", "2000", "--questions", "5", "--sampling", said, "--json")
        assert json.loads(planned.stdout)
    assert run("plan", "--rows", "20", "--questions", "5", "--sampling", "markov:2").returncode == 2
