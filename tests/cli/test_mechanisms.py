"""`holdfast mechanisms` and `holdfast init --mechanism`, run as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from holdfast.mechanisms.catalogue import CATALOGUE
from tests.cli.run import holdfast
from tests.holdout.tables import table


def test_the_listing_names_them_all() -> None:
    done = holdfast("mechanisms")
    assert done.returncode == 0
    for name, kind in CATALOGUE.items():
        assert f"\n{name}\n" in f"\n{done.stdout}"
        assert ("no promise" in kind.promises) is False
    assert done.stdout.count("no promise: ") == sum(
        kind.theorem is None for kind in CATALOGUE.values()
    )
    assert done.stdout.splitlines()[-1].endswith("Next: holdfast mechanisms 'bounded noise'")


def test_the_listing_as_json() -> None:
    facts = json.loads(holdfast("mechanisms", "--json").stdout)
    assert [fact["name"] for fact in facts] == list(CATALOGUE)
    for fact in facts:
        kind = CATALOGUE[fact["name"]]
        assert (fact["theorem"], fact["options"]) == (kind.theorem, dict(kind.options))
        assert fact["checks"] is (kind.refuses_checks is None)


@pytest.mark.parametrize("name", list(CATALOGUE))
def test_one_in_full(name: str) -> None:
    done = holdfast("mechanisms", name)
    assert done.returncode == 0
    kind = CATALOGUE[name]
    for option in kind.options:
        assert f"--option {option}=..." in done.stdout
    assert ("no promise" in done.stdout) is (kind.theorem is None)
    if kind.theorem is not None:
        assert f"holdfast theorems {kind.theorem}" in done.stdout
    assert done.stdout.splitlines()[-1].startswith(
        "Next: holdfast init DATA --questions 100 --mech"
    )
    assert json.loads(holdfast("mechanisms", name, "--json").stdout)["name"] == name


def test_the_choice_by_itself_is_explained_too() -> None:
    done = holdfast("mechanisms", "auto")
    assert done.returncode == 0
    assert "whichever the planner says is narrower" in done.stdout
    assert "\nauto\n" in holdfast("mechanisms").stdout
    assert json.loads(holdfast("mechanisms", "auto", "--json").stdout)["name"] == "auto"


def test_an_unknown_one_gets_the_nearest() -> None:
    done = holdfast("mechanisms", "lader")
    assert (done.returncode, done.stdout) == (2, "")
    assert "did you mean 'ladder'?" in done.stderr


def test_init_takes_a_mechanism_and_its_options(tmp_path: Path) -> None:
    table(1_000).write_parquet(tmp_path / "t.parquet")
    words = ("init", "t.parquet", "--questions", "5", "--mechanism", "ladder")
    done = holdfast(*words, "--option", "step=0.02", "--option", "better=higher", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "promised: nothing" in done.stdout
    asked = holdfast("ask", "t", "avg(late)", "--json", cwd=tmp_path)
    answer = json.loads(asked.stdout)
    assert (answer["status"], answer["simultaneous"]) == ("no promise", False)
    assert round(answer["value"] / 0.02, 9).is_integer()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--mechanism", "lader"), "did you mean 'ladder'?"),
        (("--mechanism", "ladder", "--option", "step"), "write it as KEY=VALUE"),
        (("--mechanism", "ladder", "--option", "stp=1"), "did you mean 'step'?"),
        (("--mechanism", "ladder", "--option", "step=much"), "step is 'much'"),
        (("--mechanism", "exact", "--tolerance", "0.1"), "promises no half-width"),
    ],
)
def test_init_refuses_in_one_sentence(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    table(100).write_parquet(tmp_path / "t.parquet")
    done = holdfast("init", "t.parquet", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert not (tmp_path / "t.ledger").exists()
