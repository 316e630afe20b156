"""`holdfast attack` and `holdfast demo`, run as a user runs them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import pytest

from holdfast.cli.commands import progress
from holdfast.errors import MissingExtra
from holdfast.lab.arena.campaign import campaign, tightness
from holdfast.lab.arena.comparison import Run
from holdfast.lab.arena.experiments import EXPERIMENTS, Sizes, attacked
from holdfast.lab.attacks.roster import ATTACKS
from holdfast.lab.pages.report import (
    Pages,
    Report,
    Section,
    experiment_sheet,
    reports,
    showcase,
)
from tests.cli.run import holdfast


def test_the_list_names_everything() -> None:
    done = holdfast("attack")
    assert done.returncode == 0
    for name in [*EXPERIMENTS, *ATTACKS]:
        assert f"\n{name} " in f"\n{done.stdout}"
    assert done.stdout.splitlines()[-1].startswith("Next: ")
    listed = json.loads(holdfast("attack", "--json").stdout)
    assert listed["attacks"].keys() == ATTACKS.keys()


@pytest.mark.statistical
def test_an_attack_by_name_with_a_chart(tmp_path: Path) -> None:
    chart = tmp_path / "attack.png"
    words = ("sign-attack", "--rows", "1,000", "--questions", "81", "--trials", "10")
    done = holdfast("attack", *words, "--chart", str(chart))
    assert done.returncode == 0
    assert "plain holdout" in done.stdout
    assert "Every promise held: Holdfast ask." in done.stdout
    assert chart.read_bytes().startswith(b"\x89PNG")
    facts = json.loads(holdfast("attack", *words, "--seed", "3", "--json").stdout)
    assert facts["rows"][1]["verdict"]["trials"] == 10
    assert facts["rows"][1]["holds"] is True


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("sing-attack",), "did you mean 'sign-attack'"),
        (("sign-attack", "--mechanism", "bounded nois"), "did you mean 'bounded noise'"),
        (("sign-attack", "--questions", "3"), "needs at least"),
        (("sign-attack", "--trials", "0"), "trials"),
        (("sign-attack", "--jobs", "0"), "n_jobs"),
        (("sign-attack", "--seed", "-1"), "seed is -1"),
        (("sign-attack", "--seed", "1.5"), "seed is 1.5"),
        (("sign-attack", "--rows", "0"), "is 0"),
        (("sign-attack", "--questions", "0"), "is 0"),
        (("sign-attack", "--tolerance", "0"), "tolerance is 0"),
        (("reusable-holdout", "--tolerance", "0"), "tolerance is 0"),
        (("--tightness", "--trials", "0"), "trials is 0"),
        (("--tightness", "--trials", "6"), "at least 7"),
        (("--all", "--trials", "6"), "at least 7"),
        (("sign-attack", "--all"), "one of"),
        (("sums", "--mechanism", "median noise"), "independent rows"),
        (("guess-bisection", "--mechanism", "median noise"), "checks no guesses"),
    ],
)
def test_what_cannot_be_run_says_why_in_one_sentence(words: tuple[str, ...], said: str) -> None:
    done = holdfast("attack", *words)
    assert done.returncode in (2, 3)
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.statistical
def test_a_broken_promise_is_an_exit_code() -> None:
    """Sabotage: the plain holdout of the experiment is made to promise what it shows."""
    found = attacked("heavy-tails", Sizes(rows=500, questions=81), Run(9, 7))
    assert found.rows[0].holds is False
    assert found.kept
    lying = replace(found, rows=(replace(found.rows[0], promises=True), *found.rows[1:]))
    with patch("holdfast.lab.arena.experiments.attacked", return_value=lying):
        done = holdfast("attack", "heavy-tails")
    assert done.returncode == 4
    assert "A promise was BROKEN: plain holdout." in done.stdout


def test_what_is_doubtful_is_not_said_to_have_held() -> None:
    found = attacked("heavy-tails", Sizes(rows=200, questions=9), Run(7, 7))
    plain, own = found.rows
    worse = replace(own, verdict=replace(own.verdict, failures=3))
    with patch(
        "holdfast.lab.arena.experiments.attacked",
        return_value=replace(found, rows=(plain, worse)),
    ):
        done = holdfast("attack", "heavy-tails")
        facts = json.loads(holdfast("attack", "heavy-tails", "--json").stdout)
    assert done.returncode == 0
    assert "held" not in done.stdout
    assert "Doubtful: Holdfast ask" in done.stdout
    assert facts["rows"][1]["word"] == "doubtful"


@pytest.mark.parametrize("file", ["attack.doc", "nowhere/attack.png"])
def test_a_chart_that_cannot_be_written_is_said_before_the_trials(
    tmp_path: Path, file: str
) -> None:
    run = AssertionError("it was run")
    with (
        patch("holdfast.lab.arena.experiments.attacked", side_effect=run),
        patch("holdfast.lab.pages.report.showcase", side_effect=run),
    ):
        for words in (("attack", "heavy-tails"), ("demo",), ("demo", "--json")):
            done = holdfast(*words, "--chart", file, cwd=tmp_path)
            assert done.returncode == 2
            assert "the chart's file" in done.stdout + done.stderr


@pytest.mark.statistical
def test_a_false_declaration_is_no_broken_promise() -> None:
    done = holdfast("attack", "dependent-data", "--questions", "41", "--trials", "9")
    assert done.returncode == 0
    assert "Holdfast told that rows are independent" in done.stdout.rpartition("False")[2]


@pytest.mark.statistical
def test_demo_in_small(tmp_path: Path) -> None:
    found = showcase(1_500, 200, 0.17, run=Run(trials=9))
    plain, rounded, splitting, checked, asked = found.rows
    assert plain.holds is False
    assert rounded.holds is False
    assert (plain.shown or 0.0) > 0.6
    assert splitting.shown is None  # out of rows long before the last question
    assert splitting.answered < 30
    assert checked.holds
    assert asked.holds
    assert "0.500" in experiment_sheet(found).text()


def test_demo_says_where_its_chart_is(tmp_path: Path) -> None:
    small = showcase(300, 20, 0.3, run=Run(trials=1))
    with patch("holdfast.lab.pages.report.showcase", return_value=small):
        done = holdfast("demo", cwd=tmp_path)
        whole = holdfast("demo", "--all", "--chart", "", cwd=tmp_path).stdout
        facts = json.loads(holdfast("demo", "--json", "--chart", "", cwd=tmp_path).stdout)
    assert done.returncode == 0
    told = [row.holder for row in small.rows if row.holder in done.stdout]
    assert told == ["plain holdout", "Holdfast: check guesses"]
    assert "holdfast demo --all" in done.stdout
    assert all(row.holder in whole for row in small.rows)
    assert "Chart written to holdfast-demo.png." in done.stdout
    assert (tmp_path / "holdfast-demo.png").stat().st_size > 5_000
    assert facts["name"] == "re-using one holdout"
    assert "chart" not in facts


def test_demo_tells_its_numbers_where_nothing_can_be_drawn(tmp_path: Path) -> None:
    small = showcase(300, 20, 0.3, run=Run(trials=1))
    lacking = MissingExtra("charts need altair.")
    with (
        patch("holdfast.lab.pages.report.showcase", return_value=small),
        patch("holdfast.lab.pages.pictures.experiment_chart", side_effect=lacking),
    ):
        done = holdfast("demo", cwd=tmp_path)
        facts = json.loads(holdfast("demo", "--json", cwd=tmp_path).stdout)
    assert done.returncode == 0
    assert "No chart: charts need altair." in done.stdout
    assert facts["name"] == "re-using one holdout"
    assert "chart" not in facts


@pytest.mark.campaign
@pytest.mark.statistical
def test_a_report_has_every_experiment_and_needs_no_network(tmp_path: Path) -> None:
    """The whole page in small: two experiments, two mechanisms, one attack."""
    few = {name: EXPERIMENTS[name] for name in ("heavy-tails", "snowball")}
    two = ["bounded noise", "median noise"]
    one = [ATTACKS["alternate-accounts"]]
    with (
        patch("holdfast.lab.pages.report.EXPERIMENTS", few),
        patch("holdfast.lab.pages.report.Sizes", lambda: Sizes(questions=40)),
        patch("holdfast.lab.pages.report.campaign", lambda run: campaign(two, one, run=run)),
        patch("holdfast.lab.pages.report.tightness", lambda run: tightness(two, one, run=run)),
        patch("holdfast.lab.pages.report.showcase", lambda run: showcase(400, 40, 0.3, run=run)),
    ):
        labels: list[str] = []

        def small(trials: int, label: str) -> Run:
            labels.append(label)
            return Run(9, 5)

        made = []
        for report in reports(tmp_path / "out", small):
            made.append((report.done, report.parts, report.files[1].read_text(encoding="utf-8")))
    assert report.word == "holds"
    assert [(done, parts) for done, parts, _ in made] == [(n, 5) for n in range(1, 6)]
    assert ["parts: the run has not ended" in text for *_, text in made] == [True] * 4 + [False]
    assert "## Heavy tails" in made[1][2]
    assert "## Snowball" not in made[1][2]
    page, words = (path.read_text(encoding="utf-8") for path in report.files)
    for title in ("Re-using one holdout", "Heavy tails", "Snowball", "How tight the promises are"):
        assert f"<h2>{title}</h2>" in page
        assert f"## {title}" in words
    assert page.count("<svg") == 5
    assert "<script" not in page
    assert 'src="http' not in page
    assert "| bounded noise |" in words
    assert (tmp_path / "out" / "snowball.svg").exists()
    assert labels[0] == "re-using one holdout"


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ([], "interrupted; nothing is finished yet."),
        (
            [Report((Path("out/report.html"),), "holds", 1, 9)],
            "interrupted; 1 of 9 parts are in out/report.html.",
        ),
    ],
)
def test_what_was_found_before_an_interruption_is_kept(made: list[Report], said: str) -> None:
    def interrupted(*_: object) -> Iterator[Report]:
        yield from made
        raise KeyboardInterrupt

    with patch("holdfast.lab.pages.report.reports", interrupted):
        done = holdfast("attack", "--all")
    assert done.returncode == 130
    assert said in done.stderr


def test_a_page_escapes_what_it_is_told(tmp_path: Path) -> None:
    found = showcase(300, 20, 0.3, run=Run(trials=1))
    from holdfast.lab.pages.pictures import experiment_chart

    section = Section(
        "a < b", ("1 < 2",), experiment_chart(found), experiment_sheet(found), ("c < d",)
    )
    pages = Pages(tmp_path)
    pages.add(section)
    page, words = pages.write()
    assert "<h2>a &lt; b</h2>" in page.read_text(encoding="utf-8")
    assert "- c < d" in words.read_text(encoding="utf-8")


def test_progress_is_for_terminals_and_for_long_work(capsys: pytest.CaptureFixture[str]) -> None:
    assert progress("work") is None
    with patch("sys.stderr.isatty", return_value=True), patch("time.monotonic") as clock:
        clock.return_value = 0.0
        tell = progress("work")
        assert tell is not None
        tell(1, 10)
        assert capsys.readouterr().err == ""
        clock.return_value = 3.0
        tell(2, 10)
        assert "work: 2 of 10" in capsys.readouterr().err
        tell(10, 10)
        assert capsys.readouterr().err.endswith("\r\033[K")


def test_long_work_writes_lines_where_there_is_no_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with patch("time.monotonic") as clock:
        clock.return_value = 0.0
        tell = progress("work", lines=True)
        assert tell is not None
        for seconds, done in ((1.0, 1), (40.0, 2), (41.0, 3), (42.0, 10)):
            clock.return_value = seconds
            tell(done, 10)
    assert capsys.readouterr().err == "work: 2 of 10\nwork: 10 of 10\n"


def test_what_comes_next_can_be_run() -> None:
    words = ("null-hill-climber", "--rows", "200", "--questions", "3", "--trials", "1")
    said = holdfast("attack", *words).stdout
    assert said.splitlines()[-1] == "Next: holdfast attack null-hill-climber --chart attack.png"
