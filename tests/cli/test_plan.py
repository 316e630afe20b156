"""`holdfast plan` and `holdfast theorems`, run as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from holdfast.theory.base.theorem import registry
from tests.cli.run import holdfast, process


def test_a_process_of_its_own_says_the_same() -> None:
    for words in (
        ("plan", "--rows", "163,673", "--questions", "500"),
        ("plan", "--rows", "100", "--tolerance", "0.01"),
        ("plan", "--colour", "red"),
    ):
        alone, here = process(*words), holdfast(*words)
        assert (alone.returncode, alone.stdout) == (here.returncode, here.stdout)
        assert alone.stderr.splitlines()[-1:] == here.stderr.splitlines()[-1:]


def test_plan_ends_with_what_to_do_next() -> None:
    done = holdfast("plan", "--rows", "163,673", "--questions", "5e2")
    assert done.returncode == 0
    assert "Plan: 163,673 rows, 500 questions" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("Next: ")


def test_plan_as_json_with_a_chart(tmp_path: Path) -> None:
    chart = tmp_path / "plan.svg"
    done = holdfast(
        "plan", "--questions", "20", "--tolerance", "0.1", "--json", "--chart", str(chart)
    )
    assert done.returncode == 0
    facts = json.loads(done.stdout)
    assert facts["solved_for"] == "rows"
    assert facts["simultaneous"] is True
    assert facts["chart"] == str(chart)
    assert "one look" not in chart.read_text(encoding="utf-8")
    again = ("plan", "--questions", "20", "--tolerance", "0.1", "--chart", str(chart), "--every")
    assert holdfast(*again).returncode == 0
    assert "one look" in chart.read_text(encoding="utf-8")


def test_plan_of_a_question(tmp_path: Path) -> None:
    schema = tmp_path / "schema.toml"
    schema.write_text("[bounds]\narr_delay = [-60, 180]\n", encoding="utf-8")
    words = ("plan", "--rows", "5000", "--question", "avg(arr_delay > 15)")
    said = holdfast(*words).stdout
    for word in ("14.4 as written", "rate 0.02", "nats to whatever else", "20 columns"):
        assert word in said
    facts = json.loads(holdfast(*words, "--schema", str(schema), "--json").stdout)
    assert facts["bits"] < 14.4
    assert set(facts["half_widths"]) == {"rate 0.5", "rate 0.1", "rate 0.02"}
    refused = holdfast("plan", "--rows", "5000", "--question", "avg(arr_delay)")
    assert refused.returncode == 2
    assert "--schema FILE" in refused.stderr


def test_plan_of_gates() -> None:
    words = ("plan", "--gate", "--rows", "1000", "--candidates", "100", "--disagreement", "0.05")
    assert "0.0260" in holdfast(*words).stdout
    assert json.loads(holdfast(*words, "--json").stdout)["candidates"] == 100


def test_the_same_plan_again_says_how_described_questions_are_answered() -> None:
    said = holdfast("plan", "--rows", "9000", "--questions", "5", "--described-share", "0.2").stdout
    assert said.splitlines()[-1].endswith(
        "holdfast plan --rows 9000 --questions 5 --described-share 0.2 --chart plan.png"
    )
    off = holdfast("plan", "--rows", "9000", "--questions", "5", "--described", "off").stdout
    assert "median noise" in off
    assert "--described off" in off


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (("plan", "--rows", "0", "--questions", "5"), 2, "rows is 0"),
        (("plan", "--rows", "many", "--questions", "5"), 2, "rows is 'many'; it must be a number"),
        (("plan", "--rows", "nan", "--questions", "5"), 2, "rows is nan"),
        (("plan", "--rows", "100"), 2, "two of rows, questions and tolerance"),
        (("plan", "--rows", "100", "--questions", "5", "--confidence-level", "2"), 2, "(0, 1)"),
        (("plan", "--rows", "9", "--questions", "5", "--confidence-level", ".1"), 2, "mean 0.9?"),
        (("plan", "--rows", "100", "--questions", "5", "--sampling", "x:1"), 2, "sampling is"),
        (("plan", "--rows", "100", "--colour", "red"), 2, "--colour"),
        (("plan", "--rows", "100", "--tolerance", "0.01"), 3, "Possible:"),
        (("plan", "--rows", "100", "--questions", "5", "--described", "x"), 2, "'x' is not one of"),
        (("plan", "--rows", "100", "--candidates", "5"), 2, "--gate goes with"),
        (("plan", "--rows", "100", "--gate"), 2, "--gate goes with"),
        (("plan", "--rows", "900", "--questions", "5", "--every"), 2, "give --chart too"),
        (
            ("plan", "--rows", "9", "--question", "avg(x > 1)", "--chart", "plan.png"),
            2,
            "leave it out here",
        ),
        (("theorems", "no-such-thing-anywhere"), 2, "no theorem contains"),
    ],
)
def test_errors_are_one_sentence_and_an_exit_code(
    words: tuple[str, ...], code: int, text: str
) -> None:
    done = holdfast(*words)
    assert done.returncode == code
    assert text in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_errors_as_json() -> None:
    done = holdfast("plan", "--rows", "100", "--tolerance", "0.01", "--json")
    assert done.returncode == 3
    assert json.loads(done.stdout)["error"] == "ToleranceTooTight"


@pytest.mark.parametrize(
    "sampling",
    [
        "independent",
        "clustered:12",
        "clustered:id:12",
        "clustered:2.5:fixed",
        "m-dependent:7",
        "declared:0.002",
    ],
)
def test_sampling_can_be_said(sampling: str) -> None:
    done = holdfast(
        "plan", "--rows", "90000", "--questions", "20", "--sampling", sampling, "--json"
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["recommended"] == "bounded noise"


@pytest.mark.parametrize("command", [("plan", "--rows", "900", "--questions", "5"), ("init", "t")])
@pytest.mark.parametrize("sampling", ["clustered:patient", "clustered:2.5"])
def test_the_sizes_of_units_must_be_said(command: tuple[str, ...], sampling: str) -> None:
    """Before any file is read: one sentence with both ways, as they are written here."""
    done = holdfast(*command, "--sampling", sampling)
    assert done.returncode == 2
    said = " ".join(done.stderr.split())
    assert "clustered:COLUMN:12 or clustered:COLUMN:fixed" in said
    assert "given the sizes of the units" in said


def test_units_whose_sizes_were_decided_are_planned_for_given_them() -> None:
    words = ("plan", "--rows", "9000", "--questions", "20", "--sampling")
    assert "given the sizes of the units" in holdfast(*words, "clustered:12:fixed").stdout
    assert "given the sizes" not in holdfast(*words, "clustered:12").stdout


def test_theorems_can_be_listed_found_and_shown() -> None:
    everything = holdfast("theorems")
    assert f"{len(registry())} theorems" in everything.stdout
    found = holdfast("theorems", "composition")
    assert "pure_composition" in found.stdout
    assert "SubGaussian" not in found.stdout
    shown = holdfast("theorems", "pure_composition")
    for word in (
        "statement",
        "Bassily & Freund",
        "domain",
        "rises with k",
        "slack",
        "printed form",
    ):
        assert word in shown.stdout
    facts = json.loads(holdfast("theorems", "pure_composition", "--json").stdout)
    assert facts["place"]
    assert isinstance(json.loads(holdfast("theorems", "leakage", "--json").stdout), list)
    near = holdfast("theorems", "pure_compositon")
    assert "near matches: pure_composition" in near.stderr


@pytest.mark.parametrize(
    "command", ["plan", "theorems", "init", "check", "ask", "budget", "ledger", "audit"]
)
def test_help_has_an_example(command: str) -> None:
    assert "Example: holdfast" in holdfast(command, "--help").stdout
