"""The command line with --url: the same commands, of a holdout that a service holds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import polars as pl
import pytest

import holdfast
from holdfast.errors import InvalidArgument
from holdfast.service.data_set import Service
from tests.cli.run import holdfast as typed
from tests.service.boarding import BETTER, answers, csv_of_answers, with_board
from tests.service.serving import LATE, ROWS, listening, made_service, require_clean, table


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Service:
    return made_service(tmp_path_factory.mktemp("url"))


@pytest.fixture(scope="module")
def url(service: Service) -> Iterator[str]:
    with listening(service) as address:
        yield address


@pytest.fixture(scope="module")
def token(service: Service) -> str:
    return service.tokens.create("cy", "custodian").text


def run(url: str, *words: str, cwd: Path | None = None) -> CompletedProcess[str]:
    done = typed(*words, "--url", url, cwd=cwd)
    require_clean(done.stderr if cwd else done.stdout + done.stderr)
    return done


def told(done: CompletedProcess[str]) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_session_at_a_service(
    url: str, token: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOLDFAST_TOKEN", token)
    guess = float(table()["late"].mean())  # type: ignore[arg-type]
    cost = told(run(url, "ask", "flights", LATE, "--dry-run", "--json"))
    answer = told(run(url, "ask", "flights", LATE, "--why", "first", "--json"))
    assert abs(answer["value"] - guess) < 0.05
    assert cost["bits"] > 0
    checked = run(url, "check", "flights", "avg(x > 30)", "--guess", "0.4", "--tolerance", "0.2")
    assert checked.returncode == 0, checked.stderr
    assert f"Next: holdfast budget flights --url {url}" in checked.stdout
    gated = run(url, "gate", "flights", "avg(late)", "--at-least", "0.9")
    assert gated.returncode == 5
    assert "not shown" in gated.stdout

    values = tmp_path / "values.csv"
    pl.DataFrame({"item": range(ROWS), "guess": [n % 3 == 0 for n in range(ROWS)]}).write_csv(
        values
    )
    attached = told(run(url, "attach", "flights", "v1", str(values), "--json", cwd=tmp_path))
    assert attached["name"] == "v1"
    assert [each["name"] for each in told(run(url, "columns", "flights", "--json"))["columns"]] == [
        "v1"
    ]
    again = told(run(url, "ask", "flights", "avg(v1 = late)", "--json"))
    assert again["value"] is not None

    lines = told(run(url, "ledger", "flights", "--json"))
    assert [line["question"] for line in lines][:2] == [LATE, "avg(x > 30)"]
    assert told(run(url, "budget", "flights", "--json"))["rows"] == ROWS
    assert told(run(url, "audit", "flights", "--json"))["fine"] is True
    for name in ("reuse.html", "reuse.json"):
        assert run(url, "certificate", "flights", "--output", name, cwd=tmp_path).returncode == 0
    proof = typed("audit", "reuse.json", cwd=tmp_path)
    assert proof.returncode == 0, proof.stdout


def test_a_board_at_a_service(
    service: Service, url: str, token: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with_board(service)
    monkeypatch.setenv("HOLDFAST_TOKEN", service.tokens.create("ada", "analyst").text)
    for file, values in (("better.csv", BETTER), ("worse.csv", answers(0.5))):
        (tmp_path / file).write_bytes(csv_of_answers(values))
    better = told(run(url, "board", "submit", "digits", "better.csv", "--json", cwd=tmp_path))
    assert better["status"] == "leads"
    words = ("board", "submit", "digits", "worse.csv", "--as", "coin", "--claim", "0.5")
    worse = run(url, *words, cwd=tmp_path)
    assert worse.returncode == 5
    assert f"Next: holdfast board show digits --url {url}" in worse.stdout
    shown = run(url, "board", "show", "digits", "--output", "board.csv", cwd=tmp_path)
    assert "ada/coin" in shown.stdout
    with holdfast.open(ledger=service.folder.ledger("digits")) as holdout:
        assert (tmp_path / "board.csv").read_text() == (
            holdfast.Leaderboard.over(holdout).standings().to_csv()
        )
    assert "role is analyst" in run(url, "board", "final", "digits").stderr
    monkeypatch.setenv("HOLDFAST_TOKEN", token)
    ended = told(run(url, "board", "final", "digits", "--json"))
    assert {row["status"] for row in ended["standings"]} == {"final"}


def test_predictions_are_sent_from_python(service: Service, url: str, token: str) -> None:
    """A mapping, or a list in the order of keys; names of columns are a file's."""
    with_board(service, "letters")
    with holdfast.connect(url, token=token, name="letters") as holdout:
        board = holdout.board
        by_key = board.submit(dict(enumerate(BETTER)), name="net")
        assert board.submit(BETTER).submission == by_key.submission == "cy/net"
        assert board.standings()["cy/net"] == by_key
        with pytest.raises(InvalidArgument, match="columns of a file"):
            board.submit(BETTER, key="item")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("final", "flights", LATE), "Leave out --url, on the machine that has the ledger"),
        (("reveal", "flights", LATE, "--dry-run"), "ends asks, checks and gates for everybody"),
        (("gate", "flights", __file__), "scores are made with the answers"),
        (("board", "final", "flights", "--dry-run"), "told where the ledger is"),
        (("board", "submit", "flights", "x.csv", "--team", "ada"), "--team cannot be sent"),
        (("board", "show", "flights"), "is no leaderboard"),
        (("ask", "flights", LATE, "--data", "t.csv"), "--data cannot be sent to a service"),
        (("check", "flights", LATE, "--guess-from", "t.csv"), "--guess-from cannot be sent"),
        (("ask", "flights", LATE, "--train", "t.csv"), "--train cannot be sent"),
        (("ledger", "flights", "--explain"), "--explain cannot be sent"),
        (("ask", "nobody", LATE), "there is no data set of this name"),
        (("ask", "flights", "avg(nothing)"), "nothing"),
        (("certificate", "flights", "--output", "x.doc"), "must end in .html, .pdf or .json"),
        (("attach", "flights", "v9", "none.csv"), "cannot be read"),
    ],
)
def test_what_a_service_is_not_sent(
    url: str, token: str, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], why: str
) -> None:
    monkeypatch.setenv("HOLDFAST_TOKEN", token)
    done = run(url, *words)
    assert done.returncode == 2
    assert why in done.stderr


def test_the_token_is_in_the_environment(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOLDFAST_TOKEN", raising=False)
    assert "HOLDFAST_TOKEN=hf_" in run(url, "budget", "flights").stderr
    monkeypatch.setenv("HOLDFAST_URL", url)
    assert "HOLDFAST_TOKEN=hf_" in typed("budget", "flights").stderr
    monkeypatch.setenv("HOLDFAST_TOKEN", "hf_00_no")
    assert "unknown, expired or revoked" in typed("budget", "flights").stderr
