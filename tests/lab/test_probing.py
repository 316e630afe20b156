"""The tester of learners: what it says of learners whose stability is known."""

from __future__ import annotations

import json
import math
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import polars as pl
import pytest

import holdfast
from holdfast.errors import InvalidArgument
from tests.cli.run import holdfast as cli
from tests.theory.coverage import most_failures

ROWS = np.random.default_rng(7).normal(size=100)
TABLES: dict[str, Any] = {
    "array": ROWS,
    "list": ROWS.tolist(),
    "polars": pl.DataFrame({"x": ROWS}),
    "pandas": pl.DataFrame({"x": ROWS}).to_pandas(),
    "pyarrow": pl.DataFrame({"x": ROWS}).to_arrow(),
}


def noisy(scale: float) -> Any:
    return lambda sample, rng: float(np.mean(sample) + rng.normal(0, scale))


def blind(_: Any, rng: np.random.Generator) -> float:
    return float(rng.normal())


@pytest.mark.parametrize("kind", TABLES)
def test_tables_of_every_kind_are_resampled(kind: str) -> None:
    seen: list[int] = []

    def learner(sample: Any, rng: np.random.Generator) -> int:
        seen.append(len(sample))
        return int(rng.integers(3))

    found = holdfast.papers.probe(learner, TABLES[kind], pairs=3, runs=6)
    assert set(seen) == {100}
    assert found.rows == 100
    assert found.outcomes <= 4


def test_a_learner_that_does_not_look_is_not_refuted() -> None:
    found = holdfast.papers.probe(blind, ROWS, pairs=30, runs=200, score=lambda output, rows: 0.5)
    assert found.eta.low is None
    assert found.eta.value < 0.5
    assert found.tv.low == 0.0
    assert abs(found.tv.value) < 0.05
    assert found.overfitting is not None
    assert found.overfitting.low is not None
    assert found.overfitting.high is not None
    assert found.overfitting.low <= 0.0 <= found.overfitting.high


def test_a_learner_that_tells_its_sample_is_refuted() -> None:
    """The sign of the sample's mean: half of all pairs have nothing in common."""
    found = holdfast.papers.probe(
        lambda sample, rng: bool(np.mean(sample) > ROWS.mean()), ROWS, runs=60
    )
    assert found.eta.low is not None
    assert found.eta.low > 1.0
    assert found.eta.high is None
    assert found.half_width is None
    assert "ESTIMATE, no promise" in str(found)
    assert "nothing would follow" in str(found)


def test_overfitting_is_seen() -> None:
    """Memorising rows is perfect on the own sample and worthless elsewhere."""
    found = holdfast.papers.probe(
        lambda sample, rng: tuple(sample[:3]),
        ROWS,
        score=lambda output, rows: 0.8 if set(output) <= set(rows[:3]) else 0.2,
        pairs=20,
        runs=4,
    )
    assert found.overfitting is not None
    assert found.overfitting.value == pytest.approx(0.6)
    assert found.overfitting.low is not None
    assert found.overfitting.low > 0.2


@pytest.mark.statistical
def test_the_lower_bound_is_true_with_the_confidence_named() -> None:
    """Laws that are known: a share of pairs is exactly (eta, tau)-close; its twin is refuted."""
    shift, tau, trials = 1.0, 0.1, 60
    cdf = NormalDist().cdf

    def tau_of(eta: float) -> float:
        return cdf(shift / 2 - eta / shift) - math.exp(eta) * cdf(-shift / 2 - eta / shift)

    truth = next(eta for eta in np.arange(0, 5, 0.01) if tau_of(eta) <= tau)
    population = [-shift / 2, shift / 2]

    def learner(sample: Any, rng: np.random.Generator) -> float:
        # All samples of two rows are as far apart as the two rows, or not at all.
        return float(sample[0] + rng.normal())

    wrong = sum(
        (found.eta.low or 0.0) >= truth
        for found in (
            holdfast.papers.probe(
                learner, population, pairs=12, runs=40, tau=tau, nu=0.05, outcomes=2, seed=seed
            )
            for seed in range(trials)
        )
    )
    assert wrong <= most_failures(trials, 0.05)
    # Sabotage: with the same runs a shift three times as large is seen to be beyond that eta.
    far = [
        holdfast.papers.probe(
            lambda sample, rng: float(4 * sample[0] + rng.normal()),
            population, pairs=12, runs=40, tau=tau, nu=0.05, outcomes=2, seed=seed,
        ).eta.low
        for seed in range(10)
    ]  # fmt: skip
    assert sum((low or 0.0) > 0.0 for low in far) >= 8


def test_an_estimate_repeats_itself() -> None:
    first, second = (holdfast.papers.probe(noisy(0.5), ROWS, pairs=3, runs=8) for _ in range(2))
    assert first == second
    assert json.loads(json.dumps(first.to_dict(), allow_nan=False))["estimate"] is True


@pytest.mark.parametrize(
    ("learner", "options", "said"),
    [
        (lambda sample, rng: [1], {}, "give view="),
        (lambda sample: 1, {}, "learner failed"),
        (blind, {"pairs": 1}, "pairs is 1"),
        (blind, {"runs": 0}, "runs is 0"),
        (blind, {"tau": 0.0}, "tau is 0"),
        (blind, {"outcomes": 1}, "outcomes is 1"),
        (blind, {"score": lambda output, rows: 7.0}, "score is 7"),
        (blind, {"score": lambda output: 0.5}, "score failed"),
        (blind, {"view": lambda: 0.5}, "view failed"),
        (blind, {"seed": -1}, "seed is -1"),
    ],
)
def test_bad_input_is_one_sentence(learner: Any, options: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidArgument, match=said):
        holdfast.papers.probe(learner, ROWS, **({"pairs": 2, "runs": 4} | options))


def test_a_table_has_rows() -> None:
    for table in (7, [1.0]):
        with pytest.raises(InvalidArgument, match="rows"):
            holdfast.papers.probe(blind, table, pairs=2, runs=4)


def test_what_is_no_number_may_be_viewed() -> None:
    found = holdfast.papers.probe(lambda sample, rng: [1.0], ROWS, view=len, pairs=2, runs=4)
    assert found.outcomes == 2


def test_probe_is_a_command(tmp_path: Path) -> None:
    pl.DataFrame({"x": ROWS}).write_csv(tmp_path / "rows.csv")
    code = "def learner(sample, rng):\n    return float(sample['x'].mean() + rng.normal())\n"
    (tmp_path / "train.py").write_text(code + "half = lambda output, rows: 0.5\n")
    words = ("probe", "train.py:learner", "rows.csv", "--pairs", "2", "--runs", "6")
    said = cli(*words, "--score", "train.py:half", cwd=tmp_path)
    assert said.returncode == 0, said.stderr
    assert said.stdout.startswith("ESTIMATE, no promise: 2 pairs of samples of 100 rows")
    assert json.loads(cli(*words, "--json", cwd=tmp_path).stdout)["estimate"] is True
    for learner, data, why in (
        ("train.py:none", "rows.csv", "has no function"),
        ("gone.py:learner", "rows.csv", "FILE.py:FUNCTION"),
        ("train.py:learner", "gone.csv", "that is there"),
    ):
        refused = cli("probe", learner, data, cwd=tmp_path)
        assert refused.returncode == 2
        assert why in refused.stderr
