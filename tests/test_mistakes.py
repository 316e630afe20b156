"""Natural mistakes: what people type who know SQL, pandas, scikit-learn or R, and what is replied.

Each line has what was typed, and what the reply must say: what is wrong, the name or number that
it is about, and something that can be typed next. `DONE` stands where what was meant is done.
"""

from __future__ import annotations

import shlex
import warnings
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]

import holdfast
from holdfast.errors import SecondLedger
from holdfast.holdout.charts.canvas import require_file
from tests.cli.run import holdfast as command

DONE = "done: "
ROWS = 400

# Of the first hours of people who tried it, as they typed it.
FIRST_HOURS = [
    ("? avg(x)", "No bounds are declared", "column x", "bounds=(low, high)"),
    ("ds.ask('avg(x)', bounds=(0, 9))", DONE, "400 rows"),
    ("ds.gate('m1', 'm0')", "takes question without a name", "'m0'", "at_least="),
    ("gate.gate('m1', 'm0')", "an EvalGate has no", "'gate'", "did you mean compare?"),
    ("gate.compare('m1', 'm0')", DONE, "m1 is better than m0"),
    ("holdfast.plan(5000)", "takes nothing without a name", "5000", "rows="),
    ("opened(confidence=0.9)", "takes no", "confidence=", "did you mean confidence_level=0.95?"),
    ('? avg(origin = "JFK")', "uses 'JFK' as a column", "JFK", "single quotes: 'JFK'"),
    ("? avg(origin = JFK)", "uses 'JFK' as a column", "JFK", "single quotes: 'JFK'"),
    ('? avg(patient = "p1")', "not a column", "'p1'", "single quotes: 'p1'"),
    ("? select avg(x)", "begins with", "'select'", "leave out select"),
    ("? avg(arr_delay) group by origin", "after it stands", "GROUP BY", "avg(delay) by origin"),
    ("? avg(late);", "after it stands", "';'", "leave out the semicolon"),
    ("? count(*)", "count takes 2 arguments", "1 was given", "count(condition, size of"),
    ("? avg(late) by month(time_hour)", "after it stands 'by'", "month", "where month(day) = 6"),
    (
        "? avg(late) where origin = 'JFK' - avg(late) where origin = 'LGA'",
        "cannot be used",
        "'where'",
        "difference(avg(x) where A, avg(x) where B)",
    ),
    ("? avg(mean radius)", "cannot be read", "'mean radius'", '"mean radius"'),
    ("opened(schema={'origin': ['EWR', 'JFK', 'LGA']}).schema", DONE, "EWR"),
    (
        "opened(schema={'origin': 'category'})",
        "bounds of column 'origin'",
        "'category'",
        "'values'",
    ),
    (
        "opened(schema={'arr_delay': {'min': -60, 'max': 180}}).schema.bounds",
        DONE,
        "low=-60.0, high=180.0",
    ),
    ("? corr(x, arr_delay)", "not a statistic", "'corr'", "did you mean correlation?"),
    ("? percentile(arr_delay, 95)", "not a statistic", "'percentile'", "quantile(delay, 0.95)"),
    ("? max(arr_delay)", "cannot be estimated", "'max'", "quantile(delay, 0.99)"),
    ("? min(arr_delay)", "cannot be estimated", "'min'", "quantile(delay"),
    ("? avg(log(x))", "There is no 'log'", "base", "ln(x) / ln(10)"),
    ("? avg(arr_delay % 2)", "cannot be used", "'%'", "0.15"),
    ("? avg(round(x))", "cannot be used", "'round'", "x >= 2.5 and x < 3.5"),
    ("ds.check('avg(late)', guess='24%')", "guess is '24%'", "number", "did you mean 0.24?"),
    ("ds.ask('avg(late)', tolerance=0.5)", "tolerance is 0.5", "part of the range", "half_width="),
    ("? avg(price > 2000)", "mixes", "text (price)", "pl.col('price').str.replace_all(',', '')"),
    ("? avg(price < 900)", "mixes", "'2,071.68'", "thousands=',' (--thousands; decimal=','"),
    ("? avg(cast(price as double))", "'cast' makes", "price", "(--decimal, --thousands"),
    ("? avg(late) by rating", "'rating' is float", "by=", "where rating > 2"),
    (
        "opened(questions=100, sampling=holdfast.clustered('patient', largest=20))",
        "cannot answer 100 questions",
        "100 independent units of at most 20 rows",
        "holdfast plan --rows 400 --questions 1 --sampling clustered:20",
    ),
    (
        "? avg(date > '2025-06-01')",
        "'date' is text",
        "'2025-06-01'",
        "pl.col('date').str.to_datetime()",
    ),
    ("? avg(date < '2025-07-01')", "is text", "'2025-07-01'", "date_format='%d.%m.%Y'"),
    ("? avg(late) where g = 'c'", "not among the declared values of g", "'a' or 'b'", "g like 'c'"),
    (
        "holdfast.open(df, name='t', schema={'arr_delay': (0, 90)})",
        "was opened with",
        "[0.0, 90.0]",
        "leave it out",
    ),
    ('$ gate t "avg(late) > 0.2"', "after it stands '>'", "0.2", "--at-least 0.2"),
    ("$ chart t", DONE, "answers.svg"),
    ("$ gate a.csv b.csv", "no ledger", "'a.csv'", "holdfast compare A B"),
    ("$ gate t a.csv b.csv", "unexpected extra argument", "b.csv", "holdfast compare a.csv b.csv"),
]
SQL = [
    ("? avg(late) from t", "after it stands", "'from'", "leave out from"),
    ("? avg(late) having avg(late) > 0.2", "after it stands", "'having'", "leave out having"),
    ("? avg(late) order by origin", "after it stands", "ORDER BY", "leave out order by"),
    ("? avg(late) by origin where late", "after it stands", "'by'", "where comes before by"),
    ("? avg(late) as rate", "after it stands", "'as'", "leave out as"),
    ("? avg(late) over (partition by origin)", "after it stands", "'over'", "avg(delay) by origin"),
    ("? avg(late) -- the rate", "holds no comments", "--", "leave it out"),
    ("? avg(late), avg(x > 0)", "after it stands", "','", "ask_many([...])"),
    ("? avg(distinct arr_delay)", "cannot be used", "'distinct'", "leave out distinct"),
    ("? avg(t.late)", "without its table", "late", "write late alone"),
    ("? avg(late) where origin == 'JFK'", DONE, "of 400 rows"),
    ("? avg(late) where origin in 'JFK'", "'in'", "list of values", "origin in ('JFK', 'LGA')"),
    ("? avg(late) where origin = 'JFK' && late", "cannot be used", "'&&'", "write and"),
    ("? avg(late) where x = null", "NULL can stand only after 'is'", "NULL", "x is null"),
    ("? avg(cast(price as float))", "'cast' makes a number", "price", "before the table is opened"),
    ("? avg(time_hour > '06/01/2025')", "A date is written", "'06/01/2025'", "'2013-01-31'"),
    ("? avg(time_hour > '2025-13-01')", "not in the calendar", "'2025-13-01'", "'2013-01-31'"),
    ("? avg(time_hour > 2025)", "mixes a date or time (time_hour)", "2025", "> '2013-01-31'"),
    ("? avg(quarter(time_hour) = 2)", "cannot be used", "'quarter'", "month(day) = 6"),
    ("? avg(late) where time_hour > now()", "There is no function", "'now'", "'2013-01-31'"),
    ("? avg(arr_delay > '15')", "mixes a number (arr_delay)", "'15'", "without quotes: 15"),
    ("? avg(late = 'true')", "mixes a condition (late)", "'true'", "without quotes"),
    ("? avg(late) > 0.2", "after it stands '>'", "0.2", "at_least=0.2"),
    ("? avg(late) = 0.2", "after it stands '='", "0.2", "guess=0.2"),
    ("? avg(late) where origin = ‘JFK’", "not a column", "JFK", "single quotes: 'JFK'"),
    ("? avg(late) where origin = 'JFK", "a quote that is not closed", "quote", "'like this'"),
    ("? avg(late", "not closed", "'avg'", "one ) for each ("),
    ("? late > 15", "names none", "'late > 15'", "avg(late > 15)"),
    ("? avg late", "names none", "'avg late'", "avg(late)"),
    ("? sum(arr_delay)", "sum takes 2 arguments", "1 was given", "sum(value, size of"),
]
PANDAS_AND_R = [
    ("? df.late.mean()", "begins with", "'df'", "avg(delay)"),
    ("? avg(df['late'])", "cannot be used", "'['", "stands alone"),
    ("? avg(isnan(x))", "cannot be used", "'is_nan'", "x is null"),
    ("? avg(late) where origin != NA", "not a column", "'NA'", "single quotes: 'NA'"),
    ("? avg(arr_delay ** 2)", "cannot be read", "'arr_delay ** 2'", "x * x"),
    ("? mean(late ~ origin)", "cannot be used", "'~'", "avg(x) by origin"),
    ("? t_test(arr_delay, origin)", "not a statistic", "'t_test'", "difference(avg(delay) where"),
    ("? sd(arr_delay)", "not a statistic", "'sd'", "did you mean std?"),
    ("? avg(arr_delai)", "not a column", "'arr_delai'", "did you mean 'arr_delay'?"),
    ("? avg(late) where origin = 'jfk'", "declared values of origin", "'jfk'", "'JFK'"),
    ("? quantile(arr_delay, 95)", "level is 95", "(0, 1)", "95 % is 0.95"),
    ("ds.mean('late')", "a holdout has no", "'mean'", "did you mean ask?"),
    ("ds['late']", "it shows no rows", "'late'", 'ask("avg(late)")'),
    ("ds.late", "it shows no rows", "'late'", 'ask("avg(late)")'),
    ("ds.head()", "a holdout has no", "'head'", "did you mean schema?"),
    ("ds.ask(df['x'])", "A question is text", "not Series", "'avg(delay > 15)'"),
    ("ds.ask(['avg(late)', 'avg(x > 0)'])", "A question is text", "not list", "ask_many([...])"),
    ("ds.ask('avg(late)', where={'origin': 'JFK'})", "row is text", "dict", "\"origin = 'JFK'\""),
    ("ds.ask('avg(late)', groupby='origin')", "takes no", "groupby=", "by='origin'"),
    ("ds.ask('avg(late)', by='origin, g')", "not a column", "'origin, g'", "by=['origin', 'g']"),
    ("holdfast.train_test_split(df)", "no attribute", "'train_test_split'", "holdfast.split("),
    ("holdfast.read_csv('hold.csv')", "no attribute", "'read_csv'", "holdfast.open("),
    ("holdfast.Holdout(df)", "not made of", "DataFrame", "holdfast.open(data"),
    ("holdfast.split(df, train_size=0.8)", "takes no", "train_size=", "test_size=0.2"),
]
NUMBERS = [
    ("ds.ask('avg(x)', bounds=(9, 0))", "low below high", "(9, 0)", "such as (0, 100)"),
    ("ds.ask('avg(x)', min=0, max=9)", "takes no", "min=", "bounds=(0, 100)"),
    ("ds.ask('avg(late)', alpha=0.05)", "takes no", "alpha=", "confidence_level=0.95"),
    ("ds.ask('avg(late)', guess=0.3)", "takes no", "guess=", "check()"),
    ("ds.check('avg(late)')", "takes one of", "guess=", "such as guess=0.24"),
    ("ds.check('avg(late)', guess=float('nan'))", "guess is nan", "finite", "such as 0.24"),
    ("ds.check('avg(late)', guess=24)", "guess is 24", "[0, 1]", "24 % is 0.24"),
    ("ds.gate('avg(late)', 0.2)", "takes question without a name", "0.2", "at_least="),
    ("ds.gate('avg(late)', at_least='20%')", "at_least is '20%'", "number", "did you mean 0.2?"),
    ("ds.gate('avg(late)', greater_than=0.2)", "takes no", "greater_than=", "at_least=0.2"),
    ("ds.gate('avg(late) > 0.2')", "after it stands '>'", "0.2", "at_least=0.2"),
    ("opened(tolerance='5%')", "tolerance is '5%'", "above 0", "did you mean 0.05?"),
    ("opened(confidence_level=95)", "confidence_level is 95", "(0, 1)", "95 % is 0.95"),
    ("opened(confidence_level=0.05)", "confidence_level is 0.05", "all", "did you mean 0.95?"),
    ("opened(questions='500')", "questions is '500'", "whole number", "did you mean 500?"),
    ("opened(clusters='patient')", "takes no", "clusters=", "holdfast.clustered('patient'"),
    ("opened(design='origin')", "design is 'origin'", "list of texts", "such as ['origin']"),
    ("holdfast.plan(n=5000, questions=100)", "takes no", "n=", "did you mean rows=20_000?"),
]
FILES = [
    ("holdfast.open('missing.csv')", "names no file", "'missing.csv'", "path of a CSV or Parquet"),
    ("holdfast.open(df.head(10), name='t')", "not the one", "400 rows", "Open the original table"),
    ("opened(schema={'arr_delai': (0, 1)})", "not a column", "'arr_delai'", "'arr_delay'?"),
    ("opened(schema={'arr_delay': '0-180'})", "two finite numbers", "'0-180'", "such as (0, 100)"),
    ("opened(schema={'arr_delay': {'range': (0, 9)}})", "has 'range'", "'arr_delay'", "'bounds'"),
    ("opened(schema='nothere.toml')", "cannot be read", "'nothere.toml'", "delay = [-60, 180]"),
    (r"toml('arr_delay = [-60, 180]')", "no table [bounds]", "'arr_delay'", "x = [0, 1]"),
    (r"toml('[bounds]\narr_delay = -60, 180')", "is not TOML", "line 2", "delay = [-60, 180]"),
    (r"toml('bounds:\n  arr_delay: [0, 1]')", "is not TOML", "line 1", "[bounds]"),
    (
        r"toml('[bounds]\narr_delay = { min = -60, max = 180 }').schema.bounds",
        DONE,
        "low=-60.0, high=180.0",
    ),
    ("$ open hold.csv", "No such command", "'open'", "did you mean holdfast init?"),
    ('$ query t "avg(late)"', "No such command", "'query'", "did you mean holdfast ask?"),
    ('$ ask tt "avg(late)"', "there is no ledger", "'tt.ledger'", "did you mean 't'?"),
    ('$ ask hold.csv "avg(late)"', "no ledger", "'hold.csv'", "holdfast init hold.csv"),
    ("$ ask t avg late", "unexpected extra argument", "late", 'holdfast ask flights "avg('),
    ('$ ask t "avg(late)" --group-by origin', "No such option", "--group-by", "--by origin"),
    ('$ ask t "avg(x)" --bounds 0,9', "requires 2 arguments", "--bounds", "--bounds 0 100"),
    ('$ check t "avg(late)" 0.24', "unexpected extra argument", "(0.24)", "--guess 0.24?"),
    ('$ check t "avg(late)" --guess 50%', "guess is '50%'", "number", "did you mean 0.5?"),
    ('$ check t "avg(late)" --guess 0,24', "guess is '0,24'", "number", "did you mean 0.24?"),
    ('$ gate t "avg(late)" --min 0.2', "No such option", "--min", "--at-least 0.2"),
    ("$ gate t missing.csv", "there is no file", "'missing.csv'", "--at-least 0.2"),
    ("$ init hold.parquet t", "unexpected extra argument", "(t)", "did you mean --name t?"),
    ("$ init hold.parquet --name t", "already a ledger", "'t.ledger'", "holdfast budget t"),
    ("$ init hold.parquet --name u --clusters p", "No such option", "--clusters", "--sampling"),
    ("$ init hold.parquet --name u --tolerance 5%", "tolerance is '5%'", "number", "0.05?"),
    ("$ plan 5000", "unexpected extra argument", "(5000)", "did you mean --rows 5000?"),
    ("$ plan --rows 5000", "needs two of", "rows=5000", "--questions 500"),
    ("$ chart t answers.jpg", "must end in", "'answers.jpg'", "answers.svg"),
    ("$ compare a.csv", "Missing argument", "'B'", "holdfast compare main.csv candidate.csv"),
    ("$ compare a.csv missing.csv", "cannot be read", "'missing.csv'", "see that it exists"),
    ("$ compare a.csv b.csv --metric score", "No such option", "--metric", "--score"),
]
# Of a newcomer's walk through five jobs.
WALKED = [
    ('$ gate t "avg(late)" --atmost 0.35', "No such option", "--atmost", "--at-most 0.35?"),
    ('$ ask t "avg(late)" --group-by g', "No such option", "--group-by", "did you mean --by g?"),
    ('$ ask t "avg(x)" --range 0 7', "No such option", "--range", "did you mean --bounds 0 7?"),
    ('$ ask t "avg(x)" --filter "g = \'a\'"', "No such option", "--filter", "--where \"g = 'a'\"?"),
    ("$ plan --n=10000", "No such option", "--n", "did you mean --rows 10000?"),
    ("$ init hold.csv --alpha 0.1", "No such option", "--alpha", "--confidence-level 0.95?"),
    (
        "$ init hold.csv --train-split 0.5",
        "No such option",
        "--train-split",
        "did you mean --split?",
    ),
    ("$ init hold.csv --name w --randomised coins", "which column", "arm=", "--arm COLUMN"),
    ("$ chart t -o a.png", "No such option", "-o", "holdfast chart NAME a.png"),
    ("$ certificate t -o a.html", "No such option", "-o", "did you mean --output"),
    ("$ certificate t a.html", "unexpected extra", "a.html", "did you mean --output a.html?"),
    ("$ declare t", "nothing of this is new", "--outcome", "--schema FILE"),
    ("$ compare a.csv percent.csv", "no scores that are numbers", "'score'", "write 0.5"),
    ("$ compare a.csv headless.csv", "no column of items", "'q1', '1'", "item,score"),
    ("$ gate bench b.csv --data items.csv", "does not say which run", "'b.csv'", "--as b."),
    ("$ gate bench short.csv --as s --data items.csv", "no value", "99 keys", "--missing wrong"),
    ("? percent(late)", "not a statistic", "'percent'", "avg(delay > 15)"),
    ("? p90(arr_delay)", "not a statistic", "'p90'", "quantile(delay, 0.9)"),
    ("? avg(arr_delay > NaN)", "cannot be used", "'nan'", "x is null"),
    ("? avg(late) where origin in ('JFK' 'LGA')", "cannot be used", "comma", "('JFK', 'LGA')"),
    ("? avg(late) where arr_delay = 'June'", "mixes a number", "'June'", "number without quotes."),
    (
        "? effect(late, patient)",
        "values of patient",
        "arm = 'treated'",
        "declare(schema={'patient':",
    ),
    ("toml('[g]\\nvalues = [\"a\"]')", "begins with 'g'", "[bounds]", "[values] with lines like"),
    ("models.budget", "has no", "'budget'", "holdout.budget"),
    ("learnt.ask(\"avg(late) where origin = 'jfk'\")", "not among", "'jfk'", "did you mean 'JFK'?"),
    ("learnt.ask(\"avg(late) where origin like 'jfk'\")", DONE, "0 of"),
    ("reusable(y=X[:, 0])", "not whole", "'accuracy'", "y_range=(low, high)"),
]
EVALS_AND_MODELS = [
    ("gate.compare('m9')", "was not submitted", "'m9'", "'m0', 'm1'"),
    ("gate.compare('m1', 0.02)", "name of a submission", "0.02", "min_gain="),
    ("gate.submit('m2', {i: 95 for i in range(100)})", "neither 0 nor 1", "100 keys", "--bounds"),
    ("gate.submit('m2', {i: 1 for i in range(90)})", "no value", "10 keys", "give one for every"),
    ("gate.submit('m1', {i: 0 for i in range(100)})", "before", "'m1'", "choose another name"),
    ("holdfast.EvalGate('items.csv', ledger='b.ledger')", "EvalGate() needs", "key=", "key='id'"),
    ("holdfast.compare('a.csv')", "compare() needs", "b=", "'candidate.csv'"),
    ("holdfast.compare([1, 0, 1], [1, 0])", "A has 3 scores", "B has 2", "by item"),
    ("holdfast.compare('a.csv', 'b.csv', score='acc')", "no score", "'acc'", "it has 'score'"),
    ("models.ask(LogisticRegression())", "not fitted", "LogisticRegression", "fit it"),
    (
        "models.ask(LogisticRegression)",
        "is a class",
        "LogisticRegression",
        ".fit(X_train, y_train)",
    ),
    ("models.ask(y)", "has no predict", "ndarray", "give an estimator"),
    ("models.score(model)", "has no", "'score'", "did you mean ask?"),
    ("models.check(model, '85%')", "guess is '85%'", "number", "did you mean 0.85?"),
    ("models.gate(model, model, at_least=0.01)", "takes no", "at_least=", "min_gain=0.01"),
    ("reusable(scoring='acc')", "scoring is 'acc'", "accuracy", "did you mean 'accuracy'?"),
    ("reusable(scoring='rmse')", "scoring is 'rmse'", "mean", "'neg_root_mean_squared_error'?"),
    ("reusable(metric='accuracy')", "takes no", "metric=", "scoring='accuracy'"),
    ("search(model, {'C': [1]})", "HoldoutSearchCV() needs", "holdout=", "ReusableHoldout(X, y"),
    (
        "search(model, {'C': [1]}, holdout=ds).fit(X, y)",
        "is a Holdout",
        "holdout",
        "ReusableHoldout",
    ),
    ("search(model, {'C': 1}, holdout=models).fit(X, y)", "C is 1", "space", "list its values"),
]
MISTAKES = [*FIRST_HOURS, *SQL, *PANDAS_AND_R, *NUMBERS, *FILES, *WALKED, *EVALS_AND_MODELS]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What somebody has open: a table, an eval with two submissions, models, and their files."""
    folder, rng, number = tmp_path_factory.mktemp("mistakes"), np.random.default_rng(5), count()
    frame = pl.DataFrame(
        {
            "origin": rng.choice(["EWR", "JFK", "LGA"], ROWS),
            "g": rng.choice(["a", "b"], ROWS),
            "arr_delay": rng.integers(-60, 180, ROWS),
            "x": rng.normal(size=ROWS),
            "late": rng.random(ROWS) < 0.3,
            "date": [f"2025-{1 + i % 12:02d}-{1 + i % 28:02d}" for i in range(ROWS)],
            "price": [f"{1 + i % 3},{100 + i % 800}.50" for i in range(ROWS)],
            "time_hour": [datetime(2025, 1, 1) + timedelta(hours=7 * i) for i in range(ROWS)],
            "mean radius": rng.random(ROWS) * 20,
            "rating": rng.choice([1.0, 1.5, 2.0, 2.5, 3.0], ROWS),
            "patient": [f"p{i // 4}" for i in range(ROWS)],
        }
    )
    frame.write_parquet(folder / "hold.parquet")
    frame.write_csv(folder / "hold.csv")
    values = {"origin": {"values": ["EWR", "JFK", "LGA"]}, "g": {"values": ["a", "b"]}}
    ds = holdfast.open(
        folder / "hold.parquet",
        name="t",
        ledger=folder / "t.ledger",
        schema={"arr_delay": (-60, 180), **values},
    )
    items = pl.DataFrame({"id": range(100)})
    items.write_csv(folder / "items.csv")
    gate = holdfast.EvalGate(items, key="id", ledger=folder / "bench.ledger")
    for run, wrong in (("m0", 3), ("m1", 5)):
        gate.submit(run, {i: int(i % wrong > 0) for i in range(100)})
    gate.promote("m0")
    for file, wrong in (("a.csv", 3), ("b.csv", 5)):
        items.with_columns(score=pl.col("id") % wrong > 0).cast(pl.Int64).write_csv(folder / file)
    (folder / "percent.csv").write_text("id,score\n1,50%\n2,100%\n")
    (folder / "headless.csv").write_text("q1,1\nq2,0\n")
    (folder / "short.csv").write_text("id,score\n0,1\n")
    features = rng.normal(size=(200, 3))
    labels = (features[:, 0] > 0).astype(int)
    model = LogisticRegression().fit(rng.normal(size=(50, 3)), np.arange(50) % 2)

    def opened(**options: Any) -> holdfast.Holdout:
        here = folder / f"n{next(number)}.ledger"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SecondLedger)
            return holdfast.open(frame, ledger=here, **options)

    def toml(text: str) -> holdfast.Holdout:
        (folder / "schema.toml").write_text(text)
        return opened(schema=folder / "schema.toml")

    def reusable(**options: Any) -> Any:
        here = folder / f"n{next(number)}.ledger"
        y = options.pop("y", labels)
        return holdfast.sklearn.ReusableHoldout(features, y, ledger=here, **options)

    return {
        "folder": folder,
        "holdfast": holdfast,
        "ds": ds,
        "df": frame,
        "gate": gate,
        "models": reusable(),
        "model": model,
        "LogisticRegression": LogisticRegression,
        "X": features,
        "y": labels,
        "search": holdfast.sklearn.HoldoutSearchCV,
        "opened": opened,
        "learnt": opened(split=0.5),
        "toml": toml,
        "reusable": reusable,
    }


def reply(typed: str, world: dict[str, Any]) -> str:
    """What is said to a question (?), to a command ($) or to Python, done or refused."""
    kind, _, rest = typed.partition(" ")
    folder: Path = world["folder"]
    if kind == "$":
        done = command(*shlex.split(rest), cwd=folder)
        assert "Traceback" not in done.stderr
        return f"{DONE if done.returncode == 0 else ''}{done.stdout}{done.stderr}"
    ask: Callable[[str], object] = world["ds"].ask
    try:
        return f"{DONE}{ask(rest) if kind == '?' else eval(typed, world)}"
    except Exception as error:
        return str(error)


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: ascii(mistake[0][:60]))
def test_a_mistake_is_told_with_what_and_which_and_what_to_type(
    mistake: tuple[str, ...], world: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    typed, *words = mistake
    monkeypatch.chdir(world["folder"])
    # What is drawn is the charts' own; to load what draws it takes seconds.
    monkeypatch.setattr("holdfast.holdout.charts.ledger_chart", lambda _, file: require_file(file))
    said = reply(typed, world)
    assert [each for each in words if each not in said] == [], said
    assert said.startswith(DONE) == (words[0] == DONE), said


def test_there_are_at_least_91_different_ones_each_with_three_things_to_say() -> None:
    assert max(Counter(typed for typed, *_ in MISTAKES).values()) == 1
    assert len(MISTAKES) >= 91
    assert all(len(words) == 3 or words[0] == DONE for _, *words in MISTAKES)


def test_what_a_ledger_says_itself_is_read_whatever_it_compares(world: dict[str, Any]) -> None:
    """A value that is refused where it is typed is none that a Polars expression may not have."""
    answer = world["ds"].ask(holdfast.mean(pl.col("g") == "c"))
    assert answer.value == 0
    again = holdfast.open(ledger=world["folder"] / "t.ledger")
    assert again.ledger.to_dicts()[-1]["question"] == "avg(g = 'c')"
