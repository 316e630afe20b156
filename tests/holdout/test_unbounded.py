"""Questions without a range: asked, described, checked, gated, refused, and audited."""

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
from holdfast.errors import HoldfastError, InvalidArgument, InvalidQuestion, Refused
from holdfast.ledger.audit import audit
from tests.cli.run import holdfast as run
from tests.holdout.tables import same_secret, untouchable, watch

ROWS = 2_000
SCALED = {"x": holdfast.tails.sub_gaussian(0.4)}
LEAKAGE = ("bounded noise", "rounding", "typical laplace", "typical gaussian")


def table(seed: int = 3) -> pl.DataFrame:
    """Sub-Gaussian and sub-exponential rows, far rows, and a condition."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "x": rng.normal(3.0, 0.4, ROWS),
            "waiting": rng.laplace(10.0, 1.0, ROWS),
            "far": rng.normal(-1e9, 0.4, ROWS),
            "flag": rng.random(ROWS) < 0.3,
        }
    )


def made(path: Path, **declared: Any) -> holdfast.Holdout:
    facts: dict[str, Any] = {"questions": 20, "schema": SCALED}
    return holdfast.open(table(), ledger=path, **(facts | declared))


def is_intact(path: Path) -> bool:
    return all(finding.fine for finding in audit(path, lambda: PolarsSample(table())))


@pytest.mark.parametrize("mechanism", LEAKAGE)
def test_every_mechanism_that_needs_a_concentration_answers(
    tmp_path: Path, mechanism: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    same_secret(monkeypatch)
    path = tmp_path / "t.ledger"
    with made(path, mechanism=mechanism) as holdout:
        t = holdout.opening.terms.half_width
        plain = holdout.ask("mean(x)")
        heavy = holdout.ask(holdfast.mean("waiting", sigma=1.7, b=1.5))
        assert 3.0 in plain.interval
        assert plain.half_width == pytest.approx(t * 2 * 0.4, rel=1e-3)  # of 2 sigma
        assert 10.0 in heavy.interval
        assert heavy.half_width == pytest.approx(t * 2 * 1.7, rel=1e-3)
        assert holdout.ask("mean(x, sigma = 0.4)").status == "repeated"
        assert "the concentration that the question declares" in plain.assumes
        assert holdout.check("mean(waiting, sigma = 1.8)", guess=10.02).status == "confirmed"
        silent = holdout.gate("mean(waiting, sigma = 1.8)", at_least=10.5)
        assert silent.status == "not shown"
        assert holdout.gate("mean(waiting, sigma = 1.8)", at_least=9.0).status == "shown"
    assert is_intact(path)


def test_a_named_half_width_is_in_its_own_unit(tmp_path: Path) -> None:
    with made(tmp_path / "t.ledger", mechanism="bounded noise") as holdout:
        cost = holdout.cost("mean(x)", half_width=0.05)
        assert cost.half_width == pytest.approx(0.05)
        assert cost.tolerance == pytest.approx(0.0625)  # of 2 sigma
        assert "0.0625 of its unit = 0.05" in str(cost)
        assert holdout.ask("mean(x)", half_width=0.05).half_width == pytest.approx(0.05, rel=1e-6)
        with pytest.raises(Refused, match=r"requested half-width 0.001; .* possible here is .-0.0"):
            holdout.ask("mean(x)", half_width=0.001)
        assert holdout.ask("mean(x, sigma = 0.5)", tolerance=0.9).half_width == pytest.approx(0.9)


@pytest.mark.parametrize("described", ["exact", "rounded"])
def test_described_answers_are_at_the_level_of_their_words(tmp_path: Path, described: str) -> None:
    path = tmp_path / "t.ledger"
    with made(path, described=described, tolerance=0.3) as holdout:
        usual, said = holdout.ask("mean(x)"), holdout.ask("mean(waiting, sigma = 1.7, b = 1.5)")
        assert usual.bits is not None
        assert said.bits is not None
        assert usual.bits + 10 < said.bits  # what was declared at opening need not be said
        for answer, sigma, truth in ((usual, 0.4, 3.0), (said, 1.7, 10.0)):
            log_p = math.log(0.02) - (answer.bits or 0.0) * math.log(2)
            alpha = sigma * math.sqrt(2 * (math.log(2) - log_p) / ROWS)
            wider = 1 + 1 / 1024 if described == "exact" else 1.25
            assert truth in answer.interval
            assert answer.half_width == pytest.approx(alpha * wider, rel=2e-3)
    assert is_intact(path)


def test_one_declared_sigma_never_spills_over_to_other_questions(tmp_path: Path) -> None:
    """A boolean mean was once answered +-.00007 under a sigma meant for another column."""
    wide = 0.5 * math.sqrt(2 * math.log(2 / 0.05) / ROWS)
    schema = {"x": holdfast.tails.sub_gaussian(2e-5)}
    with made(tmp_path / "t.ledger", schema=schema, mechanism="bounded noise") as holdout:
        holdout.ask("mean(x)")
        assert holdout.ask("mean(flag)").half_width > wide
        assert holdout.ask(holdfast.mean("waiting", bounds=(0, 20))).half_width > 20 * wide
    with made(tmp_path / "e.ledger", schema=schema) as holdout:
        holdout.ask("mean(x)")
        assert holdout.ask("mean(flag)").half_width > 0.9 * wide
    for sampling in (holdfast.declared(sigma=2e-5), holdfast.declared(sigma=2e-5, b=1e-6)):
        with pytest.raises(InvalidArgument, match=r"declare it for the column it is about"):
            made(tmp_path / "d.ledger", sampling=sampling)


def test_a_mean_beyond_the_grid_is_told_as_a_half_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    same_secret(monkeypatch)
    path = tmp_path / "t.ledger"
    for mechanism in (*LEAKAGE, None):
        path = tmp_path / f"{mechanism}.ledger"
        with made(path, mechanism=mechanism or "auto") as holdout:
            answer = holdout.ask("mean(far, sigma = 0.4)")
            assert answer.interval.low == -math.inf
            assert -1e9 in answer.interval
            assert answer.interval.high < -1600
            body = json.loads(json.dumps(answer.to_dict(), allow_nan=False))
            assert body["low"] is None
            assert body["half_width"] is None
            assert "-inf" in str(answer)
            nearer = holdout.ask("mean(far + 1000000000, sigma = 0.4)")
            assert 0.0 in nearer.interval
            assert nearer.half_width < 0.5
            assert str(holdout.ledger)
            assert holdout.explain()
        assert is_intact(path)


def test_range_and_sigma_together_use_the_narrower_radius_and_say_which(tmp_path: Path) -> None:
    with made(tmp_path / "t.ledger", mechanism="bounded noise", tolerance=0.2) as holdout:
        both = holdfast.mean("x", bounds=(0.0, 10.0), sigma=0.4)
        assert holdout.cost(both).question == "avg(clip(x, 0, 10), sigma = 0.4)"
        assert holdout.cost(both).least < holdout.cost(holdfast.mean("x", bounds=(0, 10))).least
        idle = holdfast.mean("x", bounds=(2.9, 3.1), sigma=0.4)
        assert holdout.cost(idle).question == "avg(clip(x, 2.9, 3.1))"
        assert 3.0 in holdout.ask(both, half_width=0.5).interval


@pytest.mark.parametrize("mechanism", ["gaussian", "median noise", "sample splitting", "ladder"])
def test_mechanisms_that_need_a_range_refuse_in_one_sentence(
    tmp_path: Path, mechanism: str
) -> None:
    with made(tmp_path / "t.ledger", mechanism=mechanism) as holdout:
        watch(holdout, untouchable)
        with pytest.raises(InvalidQuestion, match=r"avg\(x, sigma = 0.4\)") as refused:
            holdout.ask("mean(x)")
        assert str(refused.value).count(". ") == 0
        assert holdout.budget.asked == 0


BAD = {
    "mean(x, sigma = 0)": "sigma is 0.0; it must be a finite number above 0",
    "mean(x, sigma = -1)": "sigma is -1.0",
    "mean(x, sigma = nan)": "sigma is nan",
    "mean(x, sigma = inf)": "sigma is inf",
    "mean(x, sigma = 1e300)": "sigma is 1e",
    "mean(x, sigma = 0.4, b = 0)": "b is 0.0",
    "mean(x, b = 2)": "After the value of a mean stands",
    "mean(x, sigma = 0.4, sigma = 0.5)": "After the value of a mean stands",
    "mean(x, sigma = big)": "sigma is 'big'",
    "mean(flag, sigma = 0.4)": "a condition is between 0 and 1",
    "mean(x, sigma = 0.4) by flag": "declare the scale of the column at opening",
    "difference(median(x), mean(x, sigma = 0.4))": "A difference is of two values",
    "mean(waiting)": "sigma = 0.4",
}


@pytest.mark.parametrize("text", BAD)
def test_bad_input_is_one_sentence_and_spends_nothing(tmp_path: Path, text: str) -> None:
    with made(tmp_path / "t.ledger") as holdout:
        watch(holdout, untouchable)
        with pytest.raises(HoldfastError) as refused:
            holdout.ask(text)
        assert BAD[text] in str(refused.value)
        assert len(holdout.ledger) == 0


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"x": {"scale": {"sigma": -1}}}, "The scale of column 'x': sigma is -1"),
        ({"x": {"scale": 0.4}}, "holdfast.tails.sub_gaussian"),
        ({"x": {"scale": {"b": 1}}}, "holdfast.tails.sub_gaussian"),
        ({"flag": holdfast.tails.sub_gaussian(1)}, "only numbers have scales"),
        ({"y": holdfast.tails.sub_gaussian(1)}, "not a column"),
    ],
)
def test_a_declaration_that_says_no_scale_is_refused(
    tmp_path: Path, schema: dict[str, Any], words: str
) -> None:
    with pytest.raises(InvalidArgument, match=words):
        made(tmp_path / "t.ledger", schema=schema)
    assert not (tmp_path / "t.ledger").exists()


def test_files_and_the_command_line_say_the_same(tmp_path: Path) -> None:
    (tmp_path / "schema.toml").write_text(
        "[scales]\nx = { sigma = 0.4 }\nwaiting = { sigma = 1.7, b = 1.5 }\n", encoding="utf-8"
    )
    table().write_parquet(tmp_path / "t.parquet")
    path = str(tmp_path / "t.ledger")
    schema = str(tmp_path / "schema.toml")
    made_there = run("init", str(tmp_path / "t.parquet"), "--ledger", path, "--schema", schema)
    assert made_there.returncode == 0, made_there.stderr
    asked = json.loads(run("ask", path, "mean(waiting)", "--json").stdout)
    assert asked["question"] == "avg(waiting, sigma = 1.7, b = 1.5)"
    assert asked["low"] < 10.0 < asked["high"]
    checked = json.loads(
        run("check", path, "mean(x)", "--guess", "3", "--tolerance", "0.1", "--json").stdout
    )
    assert checked["status"] == "confirmed"
    assert run("audit", path).returncode == 0


def test_what_lies_just_beside_a_stored_interval_does_not_follow_from_it(tmp_path: Path) -> None:
    """The interval is a tiny part of its grid: roundings of that size must not confirm a claim."""
    question = holdfast.statistic(
        lambda rows: float(rows["x"].to_numpy().mean()), columns=["x"], name="center", sigma=0.01
    )
    with made(tmp_path / "t.ledger", mechanism="bounded noise", tolerance=0.2) as holdout:
        for asked in (question, "mean(x)"):
            answer = holdout.ask(asked)
            low, t = answer.interval.low, answer.half_width
            assert holdout.gate(asked, at_least=low + 1e-3 * t).recorded.parts == ()
            assert holdout.gate(asked, at_least=low - 1e-3 * t).recorded.parts != ()
            narrower = holdout.ask(asked, half_width=0.999 * t)
            assert narrower.status == "answered"
            assert holdout.ask(asked, half_width=t).status == "repeated"


def test_columns_that_are_attached_later_have_scales_too(tmp_path: Path) -> None:
    path, rows = tmp_path / "t.ledger", table().with_row_index("item")
    with holdfast.open(rows, ledger=path, questions=10, key="item", tolerance=0.3) as holdout:
        holdout.attach("v7", dict(enumerate((rows["x"] + 1.0).to_list())))
        answer = holdout.ask("mean(v7, sigma = 0.4)")
        assert 4.0 in answer.interval
        assert "no row's expectation beyond +-2457.6" in answer.assumes
        assert holdout.gate("mean(v7 - x, sigma = 0.6)", at_least=0.5).status == "shown"
        last = holdout.final(["mean(x, sigma = 0.4)"])
        assert 3.0 in last[0].interval
    assert all(finding.fine for finding in audit(path, lambda: PolarsSample(rows)))


def other_rows(sigma: float, seed: int = 5, **more: Any) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame({"x": rng.normal(3.0, sigma, 400), **more})


@pytest.mark.parametrize(
    ("scale", "train", "told"),
    [
        (holdfast.tails.sub_gaussian(0.4), other_rows(1.2), r"sigma = 0\.4, and of 400 .* 1\.1"),
        (
            holdfast.tails.sub_gaussian(0.4),
            other_rows(0.55),
            r"sigma = 0\.4, and of 400 .* is 0\.5",
        ),
        (
            holdfast.tails.sub_exponential(0.4, 0.1),
            other_rows(4.0),
            r"sigma = 0\.4, b = 0\.1, and of 400 training rows two are 2\d\.\d+ apart",
        ),
    ],
)
def test_a_scale_that_training_rows_contradict_is_warned_about(
    tmp_path: Path, scale: Any, train: pl.DataFrame, told: str
) -> None:
    path = tmp_path / "t.ledger"
    with (
        pytest.warns(holdfast.errors.ImplausibleScale, match=told) as noticed,
        made(path, schema={"x": scale}, train=train) as holdout,
    ):
        assert 3.0 in holdout.ask("mean(x)").interval  # nothing else is changed
    [warning] = noticed
    assert warning.filename == __file__
    assert str(warning.message).endswith("declare a larger one.")


@pytest.mark.filterwarnings("error::holdfast.errors.ImplausibleScale")
def test_scales_that_training_rows_bear_out_are_not_warned_about(tmp_path: Path) -> None:
    quiet = [other_rows(0.4, seed) for seed in range(10, 30)]  # as declared
    missing = other_rows(0.4).with_columns(x=pl.when(pl.col("x") > 3.0).then(pl.col("x")))
    huge = pl.DataFrame({"x": [1e308, 1e308]})  # no doubles for its squares
    for number, train in enumerate([*quiet, missing, huge, other_rows(0.4).head(1)]):
        made(tmp_path / f"{number}.ledger", train=train).close()
    made(tmp_path / "none.ledger", train=pl.DataFrame({"y": [1.0, 2.0]})).close()
    # Rows of different expectations, or that depend on each other, may be far apart.
    apart = other_rows(5.0)
    made(tmp_path / "public.ledger", train=apart, public=["flag"]).close()
    made(tmp_path / "near.ledger", train=apart, sampling=holdfast.m_dependent(2)).close()


def test_the_command_line_shows_the_contradiction(tmp_path: Path) -> None:
    table().write_parquet(tmp_path / "hold.parquet")
    other_rows(1.2).write_parquet(tmp_path / "train.parquet")
    (tmp_path / "schema.toml").write_text("[scales]\nx = { sigma = 0.4 }\n")
    done = run(
        "init",
        "hold.parquet",
        "--train",
        "train.parquet",
        "--schema",
        "schema.toml",
        "--questions",
        "20",
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert "sigma = 0.4, and of 400 training rows the standard deviation is 1.1" in done.stderr
