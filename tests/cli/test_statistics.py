"""Statistics, groups and guesses from other rows, as they are asked on the command line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

from holdfast.statistics.registry import STATISTICS
from tests.cli.run import holdfast

ROWS = 20_000
PARTS = "difference(avg(late) where arm = 'A', avg(delay > 3) where arm = 'B')"


def table(seed: int) -> pl.DataFrame:
    """A trial: arms and labels are the design; score knows something of the label."""
    rng = np.random.default_rng(seed)
    late = rng.random(ROWS) < 0.3
    return pl.DataFrame(
        {
            "arm": rng.choice(["A", "B"], ROWS),
            "late": late,
            "site": rng.choice([1, 2, 3], ROWS),
            "delay": rng.integers(0, 100, ROWS),
            "score": np.clip(0.5 * late + rng.random(ROWS) / 2, 0, 1),
            "good": late,
            "bad": ~late,
        }
    )


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a holdout whose design is public, and with other rows to guess from."""
    folder = tmp_path_factory.mktemp("trial")
    table(1).write_parquet(folder / "hold.parquet")
    table(2).write_parquet(folder / "train.parquet")
    words = ("--name", "trial", "--questions", "200", "--tolerance", "0.06", "--described", "off")
    design = ("--design", "late", "--design", "arm")
    done = holdfast("init", "hold.parquet", *words, *design, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "Public by design: arm, late, with the number of rows" in done.stdout
    assert "each of 4 combinations" in done.stdout
    assert "design columns as they are" in done.stdout
    return folder


@pytest.fixture
def folder(opened: Path, tmp_path: Path) -> Path:
    """A copy of it for every test: nothing was asked there."""
    return Path(shutil.copytree(opened, tmp_path / "trial"))


def said(*words: str, cwd: Path) -> Any:
    done = holdfast(*words, "--json", cwd=cwd)
    assert done.returncode == 0, done.stdout
    return json.loads(done.stdout)


def mean(expression: pl.Expr, **equal: object) -> float:
    rows = table(1).filter(**equal) if equal else table(1)
    return float(rows.select(expression.mean()).item())


def test_init_says_the_design(tmp_path: Path) -> None:
    table(1).write_csv(tmp_path / "t.csv")
    facts = said("init", "t.csv", "--design", "site", "--design", "arm", cwd=tmp_path)
    assert facts["design"] == ["arm", "site"]
    table(1).write_csv(tmp_path / "plain.csv")
    assert said("init", "plain.csv", cwd=tmp_path)["design"] == []
    for name, text in (("orm", "not a column"), ("score", "text, whole numbers or booleans")):
        done = holdfast("init", "t.csv", "--name", "other", "--design", name, cwd=tmp_path)
        assert (done.returncode, text in done.stderr) == (2, True), done.stderr
        assert not (tmp_path / "other.ledger").exists()


@pytest.mark.parametrize(
    ("words", "truth"),
    [
        (("avg(delay >= 50) where arm = 'A'",), mean(pl.col("delay") >= 50, arm="A")),
        (("avg(delay >= 50)", "--where", "site = 2"), mean(pl.col("delay") >= 50, site=2)),
        (("avg(delay)", "--bounds", "-10", "1e2"), mean(pl.col("delay"))),
        (("median(delay)", "--bounds", "0", "100"), 49.5),
        (("auc(score, late)",), 1.0),
        (("difference(good = late, bad = late)",), 1.0),
        (
            ("difference(avg(score > 0.4) where arm = 'A', avg(score > 0.4) where arm = 'B')",),
            mean(pl.col("score") > 0.4, arm="A") - mean(pl.col("score") > 0.4, arm="B"),
        ),
    ],
)
def test_any_statistic_can_be_asked(folder: Path, words: tuple[str, ...], truth: float) -> None:
    cost = said("ask", "trial", *words, "--dry-run", cwd=folder)
    found = said("ask", "trial", *words, cwd=folder)
    assert found["low"] <= truth <= found["high"]
    assert found["cost"] <= cost["most"]
    assert cost["questions"] >= 1
    again = said("ask", "trial", *words, cwd=folder)
    assert (again["status"], again["value"], again["cost"]) == ("repeated", found["value"], 0.0)


def test_a_dry_run_asks_nothing(folder: Path) -> None:
    before = said("budget", "trial", cwd=folder)
    for words in (
        ("ask", "trial", "quantile(delay, 0.9)", "--bounds", "0", "100"),
        ("ask", "trial", "avg(delay > 3)", "--by", "arm"),
        ("ask", "trial", "histogram(delay, 0, 50, 99)", "--train", "train.parquet"),
        ("check", "trial", "avg(delay > 3)", "--by", "site", "--guess-from", "train.parquet"),
    ):
        done = holdfast(*words, "--dry-run", cwd=folder)
        assert done.returncode == 0, done.stderr
        assert "takes up to" in done.stdout
        assert "nats" not in done.stdout
    assert said("budget", "trial", cwd=folder) == before


def test_groups_of_the_design_are_a_table_and_a_list(folder: Path) -> None:
    shown = holdfast("ask", "trial", "avg(delay > 20)", "--by", "arm", cwd=folder)
    assert shown.returncode == 0, shown.stderr
    head, first, second, *_ = shown.stdout.splitlines()
    assert head.split() == ["arm", "n", "value", "interval"]
    assert (first.split()[0], second.split()[0]) == ("A", "B")
    assert "all answers together 95 % sure" in shown.stdout
    assert shown.stdout.splitlines()[-1] == "Next: holdfast budget trial"
    listed = said("ask", "trial", "avg(delay > 20)", "--by", "arm", cwd=folder)
    assert [(group["arm"], group["status"]) for group in listed] == [
        ("A", "repeated"),
        ("B", "repeated"),
    ]
    for group in listed:
        assert group["low"] <= mean(pl.col("delay") > 20, arm=group["arm"]) <= group["high"]
    checked = said("check", "trial", "avg(delay > 9)", "--by", "arm", "--guess", "0.9", cwd=folder)
    assert [group["status"] for group in checked] == ["confirmed", "confirmed"]


def test_a_histogram_is_a_table(folder: Path) -> None:
    bins = said("ask", "trial", "histogram(delay, 0, 25, 50, 99)", cwd=folder)
    assert [each["delay"] for each in bins] == ["[0, 25)", "[25, 50)", "[50, 99]"]
    shares = [mean(pl.col("delay").is_between(*ends)) for ends in ((0, 24), (25, 49), (50, 99))]
    for each, share in zip(bins, shares, strict=True):
        assert each["low"] <= share <= each["high"]


@pytest.mark.parametrize("words", [("ask", "--train"), ("check", "--guess-from")])
def test_other_rows_give_the_groups_and_the_guesses(folder: Path, words: tuple[str, str]) -> None:
    verb, option = words
    question = "avg(score > 0.5)" if verb == "ask" else "avg(score > 0.6)"
    listed = said(verb, "trial", question, "--by", "site", option, "train.parquet", cwd=folder)
    assert [(group["site"], group["status"]) for group in listed] == [
        (site, "confirmed") for site in (1, 2, 3)
    ]
    level = "0.8" if verb == "ask" else "0.7"
    text = f"quantile(score, {level})"
    words_of_it = (text, "--bounds", "0", "1", option, "train.parquet")
    found = said(verb, "trial", *words_of_it, cwd=folder)
    assert found["status"] == "confirmed"
    truth = table(1)["score"].quantile(float(level), "lower")
    assert truth is not None
    assert found["low"] <= truth <= found["high"]


@pytest.mark.parametrize(
    ("sides", "better", "verdict", "code"),
    [
        ("good = late, bad = late", "higher", "better", 0),
        ("good = late, bad = late", "lower", "worse", 6),
        ("delay < 50, delay >= 50", "higher", "cannot tell", 5),
    ],
)
def test_a_difference_is_judged(
    folder: Path, sides: str, better: str, verdict: str, code: int
) -> None:
    words = (f"difference({sides})", "--better", better)
    checked = holdfast("check", "trial", *words, "--guess", "0", cwd=folder)
    assert checked.returncode == code, checked.stderr
    assert f"  {verdict}: " in checked.stdout
    asked = holdfast("ask", "trial", *words, "--json", cwd=folder)
    assert (json.loads(asked.stdout)["verdict"], asked.returncode) == (verdict, code)


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (("ask", "medain(delay)"), 2, "did you mean median?"),
        (("ask", "std(delay)"), 2, "No bounds are declared for column delay"),
        (("ask", "histogram(delay, 0, 50, 25)"), 2, "each above the one before"),
        (("ask", "auc(score, delay > 3)"), 2, "is not about design columns"),
        (("ask", "avg(late)", "--by", "site"), 2, "without looking at the protected rows"),
        (("ask", "avg(late)", "--by", "score"), 2, "by= needs a column of text"),
        (
            ("ask", "auc(score, late)", "--by", "arm"),
            2,
            "auc takes no by; it is for accuracy",
        ),
        (("ask", "avg(late)", "--better", "higher"), 2, "it is for difference."),
        (("ask", "difference(good, bad)", "--better", "best"), 2, "'higher', 'lower'"),
        (("ask", "auc(score, late)", "--where", "site = 1"), 2, "auc takes no where"),
        (("ask", "avg(late) where site = 1", "--where", "site = 2"), 2, "join them with `and`"),
        (("ask", "avg(delay)", "--bounds", "5", "1"), 2, "with low below high"),
        (("ask", "avg(delay)", "--bounds", "low", "1"), 2, "bounds is 'low'; it must be a number"),
        (("ask", "covariance(delay, score)", "--bounds", "0", "1"), 2, "takes no bounds"),
        (("ask", "avg(late)", "--train", "absent.parquet"), 2, "names no file"),
        (("check", "avg(late)", "--guess-from", "hold.parquet"), 2, "the protected table"),
        (("check", "avg(late)", "--guess", "1", "--guess-from", "t"), 2, "takes one of --guess"),
        (("check", PARTS, "--at-most", "5"), 2, "one side can be"),
        (("ask", "avg(delay > 1)", "--by", "arm", "--tolerance", "0.001"), 3, "missing 2"),
        (
            ("ask", "median(delay, 0.001)", "--bounds", "0", "99", "--tolerance", "1e-3"),
            3,
            "best possible",
        ),
    ],
)
def test_errors_are_one_sentence_and_an_exit_code(
    folder: Path, words: tuple[str, ...], code: int, text: str
) -> None:
    verb, *rest = words
    before = said("budget", "trial", cwd=folder)
    done = holdfast(verb, "trial", *rest, cwd=folder)
    assert done.returncode == code, done.stderr
    assert text in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert said("budget", "trial", cwd=folder) == before


def test_a_misspelt_name_makes_no_ledger(folder: Path) -> None:
    done = holdfast("ask", "trail", "avg(late)", "--data", "hold.parquet", cwd=folder)
    assert done.returncode == 2
    assert "there is no ledger 'trail.ledger'" in done.stderr
    assert not (folder / "trail.ledger").exists()


def test_a_database_with_several_tables(tmp_path: Path) -> None:
    with duckdb.connect(tmp_path / "two.duckdb") as database:
        database.execute("CREATE TABLE a AS SELECT range % 2 = 0 AS even FROM range(2000)")
        database.execute("CREATE TABLE b AS SELECT 1 AS one")
    words = ("--table", "a")
    made = holdfast("init", "two.duckdb", *words, "--tolerance", "0.2", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert said("check", "two", "avg(even)", "--guess", "0.5", *words, cwd=tmp_path)["low"] > 0
    assert holdfast("ask", "two", "avg(even is null)", *words, cwd=tmp_path).returncode == 0
    assert holdfast("ask", "two", "avg(not even)", cwd=tmp_path).returncode == 0  # remembered
    assert holdfast("ask", "two", "avg(one)", "--table", "b", cwd=tmp_path).returncode == 2
    assert holdfast("audit", "two", *words, cwd=tmp_path).returncode == 0


def test_help_names_every_statistic() -> None:
    shown = holdfast("ask", "--help").stdout
    for name in ("histogram", *STATISTICS):
        assert name in shown


def test_private_and_guessed(folder: Path) -> None:
    made = holdfast(
        "init", "hold.parquet", "--name", "hidden", "--questions", "9", "--private", cwd=folder
    )
    assert made.returncode == 0, made.stderr
    refused = holdfast("check", "hidden", "avg(late)", "--guess", "0.3", cwd=folder)
    assert refused.returncode == 2
    assert "checks no guesses" in refused.stderr
    words = ("ask", "hidden", "avg(late)", "--guesser", "multiplicative weight", "--dry-run")
    wrong = holdfast(*words, cwd=folder)
    assert wrong.returncode == 2
    assert "did you mean 'multiplicative weights'" in wrong.stderr
