"""`holdfast.Leaderboard`: who leads was shown, one content is one submission, nobody climbs."""

from __future__ import annotations

import re
import signal
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest

import holdfast
from holdfast.errors import BudgetExhausted, InvalidArgument
from holdfast.holdout.holdout import Holdout
from holdfast.ledger.audit import audit
from tests.boards.making import ITEMS, answers, board, labels, submit_elsewhere, table


def looks(found: holdfast.Leaderboard) -> list[tuple[str, str]]:
    return [(line.request.verb, line.status) for line in found.holdout.ledger]


def test_a_new_rank_is_given_only_when_it_is_shown(tmp_path: Path) -> None:
    with board(tmp_path) as found:
        first = found.submit(answers(0.7, 1), team="host", name="baseline")
        assert (first.rank, first.status) == (1, "leads")
        assert looks(found) == []  # there is nobody to compare it with
        better = found.submit(answers(0.85, 2), team="ada")
        assert (better.submission, better.rank, better.leads) == ("ada/1", 1, True)
        alike = found.submit(answers(0.85, 3), team="bob")
        assert (alike.rank, alike.status) == (None, "not shown to be better than the leader")
        assert looks(found) == [("gate", "shown"), ("gate", "not shown")]
        rows = {row.submission: row.rank for row in found.standings()}
        assert rows == {"ada/1": 1, "host/baseline": 2, "bob/1": None}
        gates = [line.request for line in found.holdout.ledger]
        assert [(request.by, request.side, request.guess) for request in gates] == [
            ("ada", "at least", 0.0),
            ("bob", "at least", 0.0),
        ]
    assert all(finding.fine for finding in audit(tmp_path / "b.ledger"))


def test_one_content_is_one_submission_whoever_brings_it_and_however(tmp_path: Path) -> None:
    said = answers(0.8, 2)
    shuffled = pl.DataFrame({"item": range(ITEMS), "p": said}).sample(fraction=1, shuffle=True)
    shuffled.write_csv(tmp_path / "again.csv")
    with board(tmp_path) as found:
        found.submit(answers(0.7, 1), team="host")
        found.submit(said, team="ada", name="net")
        before = found.holdout.budget.account
        for place, again in enumerate((said, dict(enumerate(said)), tmp_path / "again.csv")):
            standing = found.submit(again, team=f"account{place}")
            assert standing.submission == "ada/net"
        assert standing.also == ("account0/1", "account1/1", "account2/1")
        assert found.holdout.budget.account == before
        assert len(found.standings()) == 2
        assert found.standings()["account1/1"] == standing


@pytest.mark.parametrize(
    ("predictions", "says"),
    [
        ([True], "1 value, and the table has 2,000 keys"),
        ([None] + [True] * (ITEMS - 1), "1 key (0) has no prediction"),
        ({0: True, 5_000: True}, "(5000) is not in column 'item'"),
        (["yes"] * ITEMS, "of the kind text, and accuracy takes a condition"),
        ("no-such-file.csv", "cannot be read"),
        (object(), "values is a object"),
    ],
)
def test_invalid_files_cost_nothing_and_are_listed(
    predictions: Any, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with board(tmp_path) as found:
        before = found.holdout.budget.account
        with pytest.raises(InvalidArgument, match=re.escape(says)):
            found.submit(predictions, team="eve", name="<b>")
        assert found.holdout.budget.account == before
        assert len(found.standings()) == 0
        (listed,) = found.standings().invalid
        assert (listed.team, listed.called) == ("eve", "<b>")
        assert says in listed.why
    with board(tmp_path) as again:  # the ledger keeps it
        assert again.standings().invalid == (listed,)


def test_a_name_is_written_once(tmp_path: Path) -> None:
    with board(tmp_path) as found:
        found.submit(answers(0.7, 1), team="ada", name="net")
        with pytest.raises(InvalidArgument, match="the name 'ada/net' is taken"):
            found.submit(answers(0.7, 2), team="ada", name="net")
        with pytest.raises(InvalidArgument, match="a slash ends it"):
            found.submit(answers(0.7, 2), team="ada/net")
        with pytest.raises(InvalidArgument, match="claim is 2"):
            found.submit(answers(0.7, 2), team="ada", claim=2.0)
        assert [row.submission for row in found.standings()] == ["ada/net"]


def test_a_right_claim_gives_an_interval_and_a_wrong_one_is_told(tmp_path: Path) -> None:
    with board(tmp_path, wrong_claims=1) as found:
        right = found.submit(answers(0.7, 1), team="host", claim=0.7)
        half = found.claim_half_width(0.7)
        assert right.value == 0.7
        assert right.low == pytest.approx(0.7 - half, abs=2e-3)
        assert right.high == pytest.approx(0.7 + half, abs=2e-3)
        assert right.claim == 0.7
        wrong = found.submit(answers(0.5, 2), team="eve", claim=0.9)
        assert (wrong.low or 0.0) < 0.5 < (wrong.high or 1.0)  # it is answered, if it can be
        assert (right.confirmed, wrong.confirmed) == (True, False)
        assert "; its claim was not confirmed" in str(wrong)
        # One wrong claim was allowed: the next one is not looked at, and costs nothing.
        checks = found.holdout.budget.account.checks
        ignored = found.submit(answers(0.5, 3), team="eve", claim=0.9)
        assert (ignored.claim, ignored.confirmed) == (None, None)
        assert found.holdout.budget.account.checks == checks
        low = found.submit(answers(0.7, 1), team="host", claim=0.6)
        assert low.claim == 0.7  # a claim is looked at once


def test_a_number_that_another_process_takes_meanwhile_is_left_to_it(tmp_path: Path) -> None:
    with board(tmp_path) as found, board(tmp_path) as other:
        attach = Holdout.attach

        def late(holdout: Holdout, *words: Any, **said: Any) -> Any:
            if holdout is found.holdout and len(other.standings()) == 0:
                other.submit(answers(0.7, 1), team="ada")
            return attach(holdout, *words, **said)

        with patch.object(Holdout, "attach", late):
            mine = found.submit(answers(0.7, 2), team="ada")
        assert mine.submission == "ada/2"
        assert found.standings().invalid == ()


def test_what_follows_from_a_comparison_is_in_the_intervals(tmp_path: Path) -> None:
    with board(tmp_path) as found:
        base = found.submit(answers(0.7, 1), team="host", claim=0.7)
        better = found.submit(answers(0.9, 2), team="ada")
        assert (better.low, better.high, better.value) == (base.low, None, None)
        worse = found.submit(answers(0.5, 3), team="eve", claim=0.5)
        assert worse.high is not None
        assert worse.high < (base.low or 0)
        assert [row.rank for row in found.standings()] == [1, 2, 3]


def test_the_end_has_exact_scores_that_are_true_together(tmp_path: Path) -> None:
    with board(tmp_path) as found:
        shares = {"host": 0.7, "ada": 0.85, "bob": 0.85}
        said = {team: answers(share, place) for place, (team, share) in enumerate(shares.items())}
        for team, mine in said.items():
            found.submit(mine, team=team)
        assert found.final_cost().new == 3
        end = found.final()
        assert end.final
        for row in end:
            assert row.status == "final"
            assert row.value == pytest.approx(np.mean(said[row.team] == labels()))
            assert row.low is not None
            assert row.high is not None
            assert row.low < shares[row.team] < row.high
        assert [row.rank for row in end] == [1, 1, 3]
        assert [len(group) for group in end.groups] == [2, 1]
        with pytest.raises(BudgetExhausted, match="the board was ended"):
            found.submit(answers(0.9, 9), team="late")
        assert len(found.standings()) == 3
    assert all(finding.fine for finding in audit(tmp_path / "b.ledger"))


def test_a_board_that_is_not_public_looks_at_nothing_before_the_end(tmp_path: Path) -> None:
    with board(tmp_path, public=False) as found:
        for team in ("ada", "bob"):
            standing = found.submit(answers(0.8, len(team)), team=team, claim=0.8)
            assert (standing.rank, standing.status) == (None, "not compared yet")
        assert looks(found) == []
        assert {row.status for row in found.final()} == {"final"}


def test_declared_submissions_are_counted(tmp_path: Path) -> None:
    with board(tmp_path, submissions=1) as found:
        found.submit(answers(0.7, 1), team="host")
        found.submit(answers(0.7, 2), team="ada")
        with pytest.raises(BudgetExhausted, match="requested candidate 2"):
            found.submit(answers(0.7, 3), team="ada")
        found.submit(answers(0.7, 2), team="bob")  # the same again is free
        assert found.standings()["ada/2"].status == "not compared yet"


def test_a_board_is_opened_again_as_it_was_declared(tmp_path: Path) -> None:
    with board(tmp_path, wrong_claims=5) as found:
        found.submit(answers(0.7, 1), team="host")
        told = repr(found)
        assert "Leaderboard: accuracy of label, looked at as they come" in found.holdout.explain()
    assert told == (
        "Leaderboard 'b': accuracy on 2,000 items · all answers together 95 % sure · "
        "1 submission · host/1 leads"
    )
    with pytest.raises(InvalidArgument, match=r"wrong_claims is 3, and was declared as 5"):
        board(tmp_path)
    with holdfast.open(table(), ledger=tmp_path / "b.ledger") as holdout:
        assert repr(holdfast.Leaderboard.over(holdout)) == told
    with (
        holdfast.open(table(100), ledger=tmp_path / "c.ledger") as plain,
        pytest.raises(InvalidArgument, match="'c' is no leaderboard"),
    ):
        holdfast.Leaderboard.over(plain)


def test_a_process_killed_before_its_question_loses_nothing(tmp_path: Path) -> None:
    with board(tmp_path) as found:
        found.submit(answers(0.6, 1), team="host")
        child = submit_elsewhere(tmp_path, "ada", killed=True)
        assert child.wait(60) == -signal.SIGKILL
        assert found.standings()["ada/1"].status == "not compared yet"
        assert found.holdout.budget.account.gates == 0
        # The same content again, from anybody, is compared now.
        assert found.submit(answers(0.9, 9), team="bob").submission == "ada/1"
        assert found.standings()["ada/1"].leads


def test_two_processes_that_submit_at_once_have_one_board(tmp_path: Path) -> None:
    board(tmp_path).close()
    children = [submit_elsewhere(tmp_path, team, killed=False) for team in ("ada", "bob")]
    assert [child.wait(60) for child in children] == [0, 0]
    with board(tmp_path) as found:
        rows = found.standings()
        assert len(rows) == 3  # what both of them brought
        assert sum(row.leads for row in rows) == 1
        assert all(len(row.also) == 1 for row in rows)
        assert found.holdout.budget.account.gates == 2
    assert all(finding.fine for finding in audit(tmp_path / "b.ledger"))


def test_who_beats_a_leader_that_fell_meanwhile_meets_the_next_one(tmp_path: Path) -> None:
    """Another process submits, and leads, after the leader was read and before the question."""
    with board(tmp_path) as found, board(tmp_path) as other:
        found.submit(answers(0.6, 1), team="host")
        asked = Holdout.gate

        def late(holdout: Holdout, *words: Any, **said: Any) -> holdfast.Answer:
            if holdout is found.holdout and other.standings().rows[0].team != "bob":
                other.submit(answers(0.85, 2), team="bob")
            return asked(holdout, *words, **said)

        with patch.object(Holdout, "gate", late):
            standing = found.submit(answers(0.95, 3), team="ada")
        assert standing.leads
        assert [row.submission for row in found.standings()] == ["ada/1", "bob/1", "host/1"]
        assert [row.rank for row in found.standings()] == [1, 2, 3]


def test_nobody_is_put_on_the_board_by_a_key_alone(tmp_path: Path) -> None:
    """A line that shows something else under the board's key gives no rank."""
    with board(tmp_path) as found:
        found.submit(answers(0.7, 1), team="host")
        found.submit(answers(0.5, 2), team="eve")
        found.holdout.gate(
            'avg("eve/1" = label)', at_least=0.1, request_key='board gate ["eve/1", "host/1"] again'
        )
        found.holdout.gate(
            'avg("host/1" = label)', at_least=0.1, request_key='board gate ["host/1", "eve/1"]'
        )
        assert found.standings()["eve/1"].rank is None
        assert found.standings()["host/1"].leads


def test_noise_from_many_accounts_does_not_climb(tmp_path: Path) -> None:
    """By exact scores a vote of submissions climbs; verdicts tell nothing to vote by."""
    items, rng = 500, np.random.default_rng(3)
    truth = labels(items)
    said = rng.random((41, items)) < 0.5
    fits = [each if np.mean(each == truth) > 0.5 else ~each for each in said]
    assert np.mean((np.mean(fits, axis=0) > 0.5) == truth) > 0.56  # of labels that are coins
    with board(tmp_path, items) as found:
        leads = [
            found.submit(each, team=f"account{place}").leads for place, each in enumerate(said)
        ]
        assert leads == [True] + [False] * 40
        assert found.holdout.budget.account.nats < 1.0
