"""Missing values are left out, as SQL and pandas have it, and every line says how many.

The truth of a question is that of the rows with a value: for alike rows those of a group, with its
own size and at the same weight.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest
from scipy.stats import binom

import holdfast
from holdfast.data.polars import PolarsSample
from holdfast.errors import BudgetExhausted, InvalidArgument, InvalidQuestion
from holdfast.holdout.ask import CallTerms, Waiting
from holdfast.holdout.holdout import Holdout
from holdfast.holdout.request import Guess
from holdfast.ledger.audit import audit
from tests.statistics.asking import ground_on, told

ROWS = 2_000
DECLARED = {"age": (0, 100), "z": (0, 1)}


def table(rows: int = ROWS, seed: int = 5) -> pl.DataFrame:
    """Ages that have nothing to do with the group, and are missing in 30 % of one."""
    rng = np.random.default_rng(seed)
    treated = rng.random(rows) < 0.5
    age = rng.uniform(20, 80, rows).round()
    hidden = treated & (rng.random(rows) < 0.3)
    flag = rng.random(rows) < 0.6
    return pl.DataFrame(
        {
            "treated": treated,
            "age": pl.Series(
                [None if hole else each for each, hole in zip(age, hidden, strict=True)]
            ),
            "z": rng.random(rows),
            "flag": pl.Series(
                [None if each < 30 else bool(f) for each, f in zip(age, flag, strict=True)]
            ),
            "y": rng.random(rows) < 0.4,
        }
    )


TABLE = table()
AGE, FLAG, TREATED = TABLE["age"], TABLE["flag"], TABLE["treated"]


def opened(folder: Path, data: Any = TABLE, **said: Any) -> Holdout:
    facts: dict[str, Any] = {"schema": DECLARED, **said}
    return holdfast.open(data, ledger=folder / "missing.ledger", **facts)


@pytest.fixture
def holdout(tmp_path: Path) -> Any:
    with opened(tmp_path) as found:
        yield found


def test_ages_missing_in_one_group_make_no_difference(holdout: Holdout) -> None:
    found = holdout.ask("difference(avg(age) where treated, avg(age) where not treated)")
    low, high = found.interval
    assert low < 0.0 < high
    plain = AGE.filter(TREATED).mean() - AGE.filter(~TREATED).mean()  # type: ignore[operator]
    assert found.value == pytest.approx(plain, abs=0.05)


def spread(frame: pl.DataFrame, *columns: str) -> np.ndarray[Any, Any]:
    return np.cov(frame.select(columns).drop_nulls().to_numpy().T, bias=True)


BOTH = TABLE.select("age", "flag", "z", "y").drop_nulls()
# What is asked, by pandas' rules (Polars has the same), on the rows of the table.
PLAIN: dict[str, Any] = {
    "avg(age)": AGE.mean(),
    "avg(age) where treated": AGE.filter(TREATED).mean(),
    "avg(age > 50)": (AGE > 50).mean(),
    "avg(age <= 50)": (AGE <= 50).mean(),
    "avg(not (age <= 50))": (AGE > 50).mean(),
    "avg(flag) where treated": FLAG.filter(TREATED).mean(),
    "avg(age > 50 and flag)": ((AGE > 50) & FLAG).mean(),
    "avg(age > 50 or flag)": ((AGE > 50) | FLAG).mean(),
    "avg(y) where age > 50": TABLE["y"].filter((AGE > 50).fill_null(value=False)).mean(),
    "avg(case when age > 50 then 1 else 0 end)": (AGE > 50).fill_null(value=False).mean(),
    "avg(coalesce(age, 0))": AGE.fill_null(0).mean(),
    "avg(age is null)": AGE.is_null().mean(),
    "median(age)": AGE.quantile(0.5, "lower"),
    "quantile(age, 0.9) where treated": AGE.filter(TREATED).quantile(0.9, "lower"),
    "std(age)": AGE.std(ddof=0),
    "variance(age) where treated": AGE.filter(TREATED).var(ddof=0),
    "covariance(age, z)": spread(TABLE, "age", "z")[0, 1],
    "correlation(age, flag)": np.corrcoef(BOTH["age"], BOTH["flag"])[0, 1],
    "difference(age > 50, flag)": (BOTH["age"] > 50).mean() - BOTH["flag"].mean(),  # type: ignore[operator]
    "difference(age, z)": (AGE - TABLE["z"]).mean(),
    "count(age > 50, 5000)": 5000 * (AGE > 50).sum() / ROWS,
    "sum(age, 1000)": 1000 * AGE.sum() / ROWS,
    "accuracy(flag, y)": (TABLE["y"] == FLAG).sum() / ROWS,
    "error(flag, y)": 1 - (TABLE["y"] == FLAG).sum() / ROWS,
}


@pytest.mark.parametrize("by", ["polars", "duckdb"])
def test_described_answers_are_what_pandas_says(tmp_path: Path, by: str) -> None:
    data = TABLE if by == "polars" else duckdb.from_arrow(TABLE.to_arrow())
    with opened(tmp_path, data) as found:
        for text, plain in PLAIN.items():
            answer = found.ask(text)
            assert answer.status in ("answered", "repeated"), text
            width = answer.recorded.range.high - answer.recorded.range.low
            assert float(answer) == pytest.approx(plain, abs=2e-3 * width), text
            low, high = answer.interval
            assert low <= float(answer) <= high


def test_a_histogram_and_a_distribution_are_of_the_rows_with_a_value(holdout: Holdout) -> None:
    bins = holdout.ask(holdfast.histogram("age", [0, 50, 100]))
    assert sum(float(answer) for _, answer in bins) == pytest.approx(1.0)
    shape = holdout.ask(holdfast.distribution("age", [50, 100]))
    assert shape[100].value == 1.0
    assert f"{AGE.count():,} of 2,000 rows, {AGE.null_count()} missing" in str(shape)
    assert f"({AGE.null_count()} missing)" in str(bins)


# A median follows from thresholds where no value can be missing, so that it is asked by itself.
@pytest.mark.parametrize(
    "texts",
    [
        [
            "avg(age)",
            "avg(age > 50)",
            "avg(flag) where treated",
            "avg(age) where treated",
            "std(age)",
            "correlation(age, z)",
            "difference(flag, y)",
            "difference(avg(age) where treated, avg(age) where not treated)",
        ],
        ["median(age)"],
    ],
)
def test_nothing_is_wider_where_nothing_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, texts: list[str]
) -> None:
    """A column that may be missing, and is not, has the intervals of one that never is."""
    monkeypatch.setattr("holdfast.ledger.store.secrets.token_bytes", bytes)  # one order of rows
    full = TABLE.with_columns(pl.col("age").fill_null(50), pl.col("flag").fill_null(value=True))
    may: dict[str, Any] = {name: {"never_null": False} for name in ("flag", "y")}
    may |= {name: {"bounds": ends, "never_null": False} for name, ends in DECLARED.items()}
    (tmp_path / "may").mkdir()
    with opened(tmp_path, full) as never, opened(tmp_path / "may", full, schema=may) as perhaps:
        for text in texts:
            one, other = never.ask(text), perhaps.ask(text)
            assert (one.value, one.interval, one.bits) == (other.value, other.interval, other.bits)
            assert other.missing == 0
            assert "missing" not in str(other)


def test_lines_say_how_many_are_missing(holdout: Holdout, tmp_path: Path) -> None:
    known, missing = AGE.count(), AGE.null_count()
    answer = holdout.ask("avg(age)")
    assert (answer.n, answer.missing) == (known, missing)
    said = f"{known:,} of 2,000 rows, {missing} missing"
    assert said in str(answer)
    assert said in answer._repr_html_()
    facts = answer.to_dict()
    assert (facts["n"], facts["missing"], facts["missing_most"]) == (known, missing, missing)
    # In a group, those of the group; in a contrast, those of both groups.
    group = holdout.ask("avg(age) where treated")
    assert (group.n, group.missing) == (AGE.filter(TREATED).count(), missing)
    other = holdout.ask("avg(age) where not treated")
    assert (other.n, other.missing) == (AGE.filter(~TREATED).count(), 0)
    both = holdout.ask("difference(avg(age) where treated, avg(age) where not treated)")
    assert (both.n, both.missing) == (known, missing)
    assert f"({missing} missing)" in holdout.ledger.to_text()
    frame = holdout.ledger.to_polars()
    assert frame["missing"].to_list() == [missing, missing, 0, missing]
    page = tmp_path / "missing.html"
    holdout.certificate(str(page))
    assert f"{known:,} of 2,000, {missing} missing" in page.read_text(encoding="utf-8")
    assert "may be missing" in str(holdout.schema)


def test_a_line_says_what_filling_in_missing_values_would_gain(holdout: Holdout) -> None:
    answer = holdout.ask("avg(age) where treated")
    known, missing = answer.recorded.rows, answer.recorded.missing
    assert known is not None
    gain = 1 - math.sqrt(known[0] / (known[0] + missing[0]))
    assert 0.1 < gain < 0.2
    said = f"fewer rows are known: with the {missing[0]:,} missing values it would be about"
    assert answer.advice == f"{said} {100 * gain:.0f} % narrower"
    assert answer.advice in str(answer)
    assert holdout.ask("avg(age) where not treated").advice is None
    assert holdout.ask("avg(y)").advice is None


def test_how_many_are_missing_is_charged_as_the_size_of_a_group(tmp_path: Path) -> None:
    full = TABLE.with_columns(pl.col("age").fill_null(50))
    (tmp_path / "full").mkdir()
    with opened(tmp_path) as some, opened(tmp_path / "full", full) as none:
        for text in ("avg(age > 50)", "avg(age)", "median(age)"):
            assert some.cost(text).least > none.cost(text).least


def test_rounded_answers_leave_them_out_too(tmp_path: Path) -> None:
    with opened(tmp_path, described="rounded") as found:
        for text in ("avg(age)", "avg(age) where treated", "avg(age > 50)"):
            answer = found.ask(text)
            least, most = answer.missing  # type: ignore[misc]
            assert least <= AGE.null_count() <= most
            low, high = answer.interval
            assert low <= PLAIN[text] <= high
            assert f"{least} to {most} missing" in str(answer)
        contrast = found.ask("difference(avg(age) where treated, avg(age) where not treated)")
        assert contrast.interval.low < 0.0 < contrast.interval.high


def test_the_ledger_is_read_and_audited_again(tmp_path: Path) -> None:
    with opened(tmp_path) as found:
        first = [found.ask(text) for text in PLAIN]
    with opened(tmp_path) as again:
        for text, before in zip(PLAIN, first, strict=True):
            answer = again.ask(text)
            assert (answer.status, answer.interval) == ("repeated", before.interval)
            assert answer.missing == before.missing
    findings = audit(tmp_path / "missing.ledger", lambda: PolarsSample(TABLE))
    assert all(each.fine for each in findings), findings


@pytest.mark.parametrize(
    "said",
    [
        {"sampling": holdfast.clustered("unit", largest=4)},
        {"sampling": holdfast.m_dependent(2)},
        {"design": ["treated"]},
    ],
    ids=["units", "m-dependent", "unlike"],
)
def test_rows_that_are_not_alike_have_what_groups_have(tmp_path: Path, said: Any) -> None:
    units = TABLE.with_columns(unit=pl.Series(np.arange(ROWS) // 4))
    with opened(tmp_path, units, **said) as found:
        for text in ("avg(age)", "avg(age > 50)", "avg(age) where y"):
            answer = found.ask(text)
            plain = {"avg(age) where y": AGE.filter(TABLE["y"]).mean(), **PLAIN}[text]
            width = answer.recorded.range.high - answer.recorded.range.low
            assert answer.value == pytest.approx(plain, abs=2e-3 * width), text
            assert answer.interval.low < plain < answer.interval.high


HALF = pl.DataFrame(  # what is missing is what is low: the covariance of the others is 2
    {"age": [None, 40.0, None, 60.0] * 5_000, "z": [0.0, 0.6, 0.1, 1.0] * 5_000}
).with_columns(unit=pl.int_range(20_000) // 4)


@pytest.mark.parametrize(
    "said",
    [
        {"sampling": holdfast.clustered("unit", largest=4)},
        {"sampling": holdfast.m_dependent(3)},
        {"design": ["age"], "described": "off", "tolerance": 0.05, "questions": 20},
    ],
    ids=["units", "m-dependent", "public"],
)
def test_two_values_are_compared_in_the_rows_that_have_both(
    tmp_path: Path, said: dict[str, Any]
) -> None:
    with opened(tmp_path, HALF.cast({"age": pl.Int64}), **said) as found:
        low, high = found.ask("covariance(age, z)").interval
        assert low < 2.0 < high
        low, high = found.ask("avg(z)").interval  # and that of all rows is another question
        assert low < 0.425 < high
    findings = audit(tmp_path / "missing.ledger")
    assert all(each.fine for each in findings), findings


# On the ledger ---------------------------------------------------------------------------------


def test_on_the_ledger_a_mean_has_the_two_parts_of_a_group(tmp_path: Path) -> None:
    with opened(tmp_path, mechanism="exact", tolerance=None) as found:
        for text in ("avg(age)", "avg(age > 50)", "std(age)", "median(age)"):
            answer = found.ask(text)
            # Between thresholds a quantile's value is interpolated.
            assert answer.value == pytest.approx(PLAIN[text], abs=1.0 if "median" in text else 0.1)
        assert [part.question for part in found.ask("avg(age)").parts] == [
            "avg(age is not null)",
            "avg(case when age is not null then coalesce(clip(age, 0, 100), 0) - 50 else 0 end)",
        ]
        assert found.ask("avg(z)").parts == ()
        assert found.ask("avg(coalesce(age, 0))").parts == ()
        assert found.ask("accuracy(flag, y)").parts == ()


def test_a_guess_is_checked_and_one_side(tmp_path: Path) -> None:
    with opened(tmp_path, described="off", tolerance=0.2) as found:
        assert found.check("avg(age)", guess=50).status == "confirmed"
        assert found.check("avg(age)", guess=90).status == "not confirmed"
        assert found.check("avg(age > 50)", at_least=0.2).status == "confirmed"
        assert found.gate("avg(age > 50)", at_least=0.1).status == "shown"
        assert found.gate("avg(coalesce(age > 50, false))", at_least=0.2).status == "shown"


def test_what_is_declared_never_to_be_missing_is_checked(tmp_path: Path) -> None:
    said = {"age": {"bounds": (0, 100), "never_null": True}}
    with pytest.raises(InvalidArgument, match="never_null is declared for 'age'"):
        opened(tmp_path, schema=said)
    full = TABLE.with_columns(pl.col("age").fill_nan(None).fill_null(50))
    with opened(tmp_path, full, schema=said, mechanism="exact", tolerance=None) as found:
        assert found.ask("avg(age)").parts == ()
    with opened(tmp_path, full, schema=said) as found:
        assert found.ask("avg(age)").status == "repeated"
    other = {"age": {"bounds": (0, 100), "never_null": False}}
    with pytest.raises(InvalidArgument, match="never_null"):
        opened(tmp_path, full, schema=other)


def test_an_opening_that_says_nothing_is_missing_fails_its_audit(tmp_path: Path) -> None:
    from tests.ledger.forging import forged

    with opened(tmp_path) as found:
        found.ask("avg(y)")

    def complete(bodies: list[Any]) -> None:
        bodies[0]["schema"]["never_null"] = {}

    forged(tmp_path / "missing.ledger", complete)
    findings = audit(tmp_path / "missing.ledger", lambda: PolarsSample(TABLE))
    assert "missing values of the table are not as the opening says" in str(findings)


@pytest.mark.parametrize(
    "question",
    [
        holdfast.mean("age", sigma=20),
        holdfast.mean("age", variance=400),
        holdfast.catoni("age", variance=400),
    ],
)
def test_a_declaration_about_all_rows_needs_a_value_in_each(
    holdout: Holdout, question: Any
) -> None:
    with pytest.raises(InvalidQuestion, match="age is not null"):
        holdout.ask(question)


# Scores: a missing prediction is a wrong one ---------------------------------------------------


def test_missing_predictions_are_wrong_whichever_way_they_are_scored(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "said": [True, None, False, None, True, False] * 40,
            "p": [0.9, None, 0.2, None, 0.7, 0.4] * 40,
            "y": [True, True, False, False, False, True] * 40,
        }
    )
    worst = -math.log(0.01)
    losses = [-math.log(0.9), worst, -math.log(0.8), worst, -math.log(0.3), -math.log(0.4)]
    wanted = {
        "accuracy(said, y)": 2 / 6,
        "error(said, y)": 4 / 6,
        "balanced_accuracy(said, y)": (1 / 3 + 1 / 3) / 2,
        # Predicted, with what is missing turned to the wrong side: T, F, F, T, T, F.
        "f1(said, y)": 2 * 1 / (3 + 3),
        "brier(p, y)": (0.1**2 + 1 + 0.2**2 + 1 + 0.7**2 + 0.6**2) / 6,
        "log_loss(p, y)": sum(losses) / 6,
        # Of 9 pairs: 0.9 beats 0.2 and 0.7, 0.4 beats 0.2; what is missing loses all its pairs.
        "auc(p, y)": 3 / 9,
    }
    exactly = {"mechanism": "exact", "tolerance": None, "design": ["y"]}
    for folder, said in (("described", {}), ("ledger", exactly)):
        (tmp_path / folder).mkdir()
        with opened(tmp_path / folder, frame, schema=None, **said) as found:
            for text, value in wanted.items():
                answer = found.ask(text)
                assert answer.value == pytest.approx(value, abs=5e-3), (folder, text)


# Coverage --------------------------------------------------------------------------------------

LEVEL, TRIALS, TWIN = 0.1, 100, 0.15  # the twin's ends are at this part of their distances


def drawn(rng: np.random.Generator, rows: int) -> pl.DataFrame:
    """Values that are missing the more often, the higher they are, and in one group more."""
    group, x = rng.random(rows) < 0.4, rng.beta(1, 4, rows)
    hidden = rng.random(rows) < np.where(group, 0.2 + 0.6 * x, 0.5 * x)
    return pl.DataFrame({"x": np.where(hidden, np.nan, x), "g": group}).fill_nan(None)


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("avg(x)", lambda frame: frame["x"].mean()),
        ("avg(x > 0.2)", lambda frame: (frame["x"] > 0.2).mean()),
        ("avg(x) where g", lambda frame: frame["x"].filter(frame["g"]).mean()),
        ("avg(x > 0.2) where g", lambda frame: (frame["x"].filter(frame["g"]) > 0.2).mean()),
        ("median(x)", lambda frame: frame["x"].median()),
        (
            "difference(avg(x) where g, avg(x) where not g)",
            lambda frame: (
                (frame["x"].filter(frame["g"]).mean() - frame["x"].filter(~frame["g"]).mean() + 1)
                / 2
            ),
        ),
    ],
)
def test_intervals_are_about_the_rows_with_a_value(
    text: str, truth: Callable[[pl.DataFrame], Any]
) -> None:
    rng, rows = np.random.default_rng(77), 250
    population = truth(drawn(rng, 1_000_000))
    first = drawn(rng, rows)
    declared = {"x": {"bounds": (0, 1), "never_null": False}}
    ground = ground_on(PolarsSample(first), declared, beta=1.0)
    bits = ground.prior.of(ground.prior.read(text))
    # The level of its dearest part is LEVEL.
    ground = ground_on(PolarsSample(first), declared, beta=min(0.999, LEVEL * 2.0**bits.plain))
    missed = {1.0: 0, TWIN: 0}
    for _ in range(TRIALS):
        found = told(drawn(rng, rows), text, ground)
        assert found.value is not None
        for part in missed:
            low, high = (found.value + part * (end - found.value) for end in found.interval)
            missed[part] += not low <= population <= high
    assert missed[1.0] <= binom.isf(1e-9, TRIALS, LEVEL) < missed[TWIN]


# What a look at opening tells is counted ----------------------------------------------------------


def test_a_look_for_missing_values_is_taken_off_the_level(tmp_path: Path) -> None:
    """Not of columns that were declared, are public, or miss values in training rows."""
    complete = {"age": {"bounds": (0, 100), "never_null": False}, "flag": {"never_null": False}}
    cases: list[tuple[dict[str, Any], tuple[int, int]]] = [
        ({}, (5, 2)),
        ({"schema": {**DECLARED, **complete}}, (3, 0)),
        ({"design": ["flag"]}, (4, 1)),
        ({"train": table(200, seed=9)}, (3, 0)),
    ]
    levels = []
    for place, (said, looked_up) in enumerate(cases):
        (tmp_path / str(place)).mkdir()
        with opened(tmp_path / str(place), questions=10, **said) as holdout:
            terms = holdout.opening.terms
            assert terms.looked_up == looked_up
            levels.append(terms.log_beta)
        assert all(finding.fine for finding in audit(tmp_path / str(place) / "missing.ledger"))
    weight = math.log(2**40 * 5 * math.comb(5, 2))
    assert levels[0] == pytest.approx(levels[1] - weight, abs=1e-9)
    assert levels[1] == pytest.approx(math.log(0.05 * 0.6), abs=1e-9)
    assert levels[3] == pytest.approx(levels[1], abs=1e-9)


def test_a_private_ledger_does_not_look(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match=r"declare it: schema=\{'age': \{'never_null': False"):
        opened(tmp_path, private=True, questions=5)
    declared = {**DECLARED, "age": {"bounds": (0, 100), "never_null": False}}
    said = {**declared, "flag": {"never_null": False}}
    with opened(tmp_path, private=True, questions=5, tolerance=0.3, schema=said) as holdout:
        assert holdout.opening.terms.looked_up == (0, 0)


# Checks of what its text describes ----------------------------------------------------------------


def test_a_check_that_is_not_confirmed_is_answered_by_its_text(tmp_path: Path) -> None:
    """Though its parts are beyond what is left. Later claims follow from it."""
    with opened(tmp_path) as holdout:
        for place in range(12):
            holdout.ask(f"avg(z > 0.{place + 10})")
        with pytest.raises(BudgetExhausted):
            holdout.ask("avg(age > 50)", tolerance=0.04)
        answer = holdout.check("avg(age > 50)", guess=0.5)
        assert answer.status == "not confirmed"
        assert contains(answer, float((AGE.drop_nulls().to_numpy() > 50).mean()))
        rows = ROWS - AGE.null_count()
        for claim in (
            holdout.check("avg(age > 50)", guess=0.5, tolerance=0.2),
            holdout.check("avg(age > 50)", guess=0.9, tolerance=0.2),
            holdout.gate("avg(age > 50)", at_least=0.1),
        ):
            assert claim.details.startswith("question ")
            assert f"{rows:,} of {ROWS:,} rows, {AGE.null_count():,} missing" in str(claim)
    assert all(finding.fine for finding in audit(tmp_path / "missing.ledger"))


def test_so_is_one_of_several_who_wait_and_a_call_that_is_made_again(tmp_path: Path) -> None:
    with opened(tmp_path) as holdout:
        for place in range(12):
            holdout.ask(f"avg(z > 0.{place + 10})")
        guess = Guess((0.5,))
        texts = ["avg(age > 50)", "avg(age > 40)"]
        calls = [Waiting(text, guess, CallTerms(request_key=text)) for text in texts]
        for text, first in zip(texts, holdout.answer_together(calls), strict=True):
            assert isinstance(first, holdfast.Answer)
            assert (first.status, first.value is None) == ("not confirmed", False)
            again = holdout.check(text, guess=0.5, request_key=text)
            assert (again.number, again.interval) == (first.number, first.interval)
        with pytest.raises(InvalidArgument, match="the key was used to check"):
            holdout.check("avg(age > 30)", guess=0.5, request_key=texts[0])
        assert len(holdout.ledger) == 12 + len(texts)


def contains(answer: Any, truth: float) -> bool:
    low, high = answer.interval
    return bool(low <= truth <= high)
