"""Declarations that are corrected: anew before anything is asked, by additions afterwards."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import holdfast
from holdfast.errors import BudgetExhausted, InvalidArgument, LedgerTampered, NotBounded
from holdfast.holdout.holdout import Holdout
from holdfast.ledger.audit import audit
from holdfast.ledger.chain import canonical
from holdfast.ledger.transcript import Transcript
from tests.cli.run import holdfast as run
from tests.seam import CHECKPOINT_EVERY, store_of, transcript_of

ORIGINS = ["EWR", "JFK", "LGA"]
VALUES = {"origin": {"values": ORIGINS}}
FAMILY: dict[str, Any] = {"outcomes": ["late"], "segments": ["origin"], "schema": VALUES}


def table(rows: int = 2_000, seed: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "origin": rng.choice(ORIGINS, rows),
            "delay": rng.normal(5, 30, rows).round(1),
            "late": rng.random(rows) < 0.2,
        }
    )


def opened(folder: Path, **declared: Any) -> Holdout:
    return holdfast.open(table(), ledger=folder / "t.ledger", **declared)


def is_fine(folder: Path) -> bool:
    return all(finding.fine for finding in audit(folder / "t.ledger"))


def test_who_holds_the_ledger_open_asks_by_what_another_one_declared(tmp_path: Path) -> None:
    with opened(tmp_path) as early, opened(tmp_path) as other:
        early.ask("avg(late)")
        other.declare(schema={"delay": (-100, 120), **VALUES})
        assert str(early.cost("avg(delay)")).startswith("avg(delay): ")
        assert early.ask("avg(delay)").value == other.ask("avg(delay)").value
    assert is_fine(tmp_path)


# Before the first answer -------------------------------------------------------------------------


def test_before_the_first_answer_declarations_are_corrected(tmp_path: Path) -> None:
    opened(tmp_path, schema={"delay": (0, 1)}, questions=50).close()
    with opened(tmp_path, schema={"delay": (-100, 120)}) as ds:
        assert ds.schema.bounds == {"delay": (-100.0, 120.0)}
        assert ds.opening.terms.questions == 50
        assert str(ds.ask("avg(delay)").recorded.question) == "avg(clip(delay, -100, 120))"
    for again in ({}, {"schema": {"delay": (-100, 120)}}):  # and so it is for who comes later
        with opened(tmp_path, **again) as ds:
            assert ds.ask("avg(delay)").status == "repeated"
    with pytest.raises(InvalidArgument, match="and answered 1 question by that"):
        opened(tmp_path, schema={"delay": (0, 1)})
    assert is_fine(tmp_path)


def test_each_correction_takes_the_place_of_those_before(tmp_path: Path) -> None:
    for low in (0, -50, -100):
        opened(tmp_path, schema={"delay": (low, 120)}).close()
    with opened(tmp_path) as ds:
        answer = ds.ask("avg(delay)")
        assert answer.recorded.question == "avg(clip(delay, -100, 120))"
        values = table()["delay"].clip(-100, 120)
        assert answer.value == pytest.approx(values.mean(), abs=0.05)
    assert is_fine(tmp_path)


def test_texts_are_then_as_long_as_at_the_opening(tmp_path: Path) -> None:
    """Nothing is missing: the ledger's questions pay for it, and texts do not."""
    with opened(tmp_path) as ds:
        cost = ds.declare_cost(**FAMILY)
        assert cost.share == pytest.approx(2 / 3, abs=1e-9)  # 2 % of the 3 % that there are
        assert cost.bits == pytest.approx(0.0, abs=1e-6)
        ds.declare(**FAMILY)
        corrected = ds.ask("difference(avg(late) where origin = 'JFK', rest)")
    with holdfast.open(table(), ledger=tmp_path / "other.ledger", **FAMILY) as other:
        at_once = other.ask("difference(avg(late) where origin = 'JFK', rest)")
    assert corrected.bits == at_once.bits
    assert corrected.half_width == pytest.approx(at_once.half_width, rel=1e-3)
    assert is_fine(tmp_path)


def test_what_a_look_for_missing_values_told_is_paid_for(tmp_path: Path) -> None:
    """Which columns miss values is known by who corrects something: it may depend on that."""
    frame = table().with_columns(delay=pl.when(pl.col("late").not_()).then("delay"))
    with holdfast.open(frame, ledger=tmp_path / "t.ledger") as ds:
        with pytest.raises(InvalidArgument, match="outcomes would make questions shorter"):
            ds.declare(**FAMILY)
        cost = ds.declare_cost(**FAMILY, share=0.5)
        assert cost.bits is not None
        assert cost.bits > 40
        looked_up = ds.opening.terms.looked_up
        assert looked_up is not None
        assert looked_up[1] == 1
    with holdfast.open(frame, ledger=tmp_path / "t.ledger", questions=7) as ds:
        assert ds.opening.terms.looked_up == looked_up  # another plan does not forget it
    assert is_fine(tmp_path)


def test_a_refused_correction_leaves_the_plan_as_it_is(tmp_path: Path) -> None:
    opened(tmp_path, questions=50, tolerance=0.1).close()
    with pytest.raises((InvalidArgument, holdfast.errors.InvalidQuestion), match="nowhere"):
        opened(tmp_path, questions=20, outcomes=["nowhere"])
    with opened(tmp_path) as ds:
        assert (ds.opening.terms.questions, transcript_of(ds).count) == (50, 1)


def test_before_the_first_answer_a_ledger_is_planned_anew(tmp_path: Path) -> None:
    opened(tmp_path, questions=50, tolerance=0.1).close()
    with opened(tmp_path, questions=20) as first:
        assert first.opening.terms.questions == 20
        with opened(tmp_path, tolerance=0.2) as second:
            assert second.opening.terms.tolerance == 0.2
            assert second.opening.terms.questions == 20  # what is left out stays
            with pytest.raises(InvalidArgument, match="planned anew since it was opened here"):
                first.ask("avg(late)")
            second.ask("avg(late)")
    with opened(tmp_path) as ds:
        assert ds.opening.terms.questions == 20
        assert ds.ask("avg(late)").status == "repeated"
    assert is_fine(tmp_path)


def test_a_checkpoint_keeps_another_plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CHECKPOINT_EVERY, 2)
    opened(tmp_path, questions=50).close()
    with opened(tmp_path, questions=20, **FAMILY) as ds:
        for number in range(4):
            ds.ask(f"avg(delay > {number})")
    with opened(tmp_path) as ds:
        assert ds.opening.terms.questions == 20
        assert ds.schema.outcomes == ("late",)
        assert ds.ask("avg(delay > 1)").status == "repeated"
    assert is_fine(tmp_path)


@pytest.mark.parametrize(
    "other", [{"described": "rounded"}, {"confidence_level": 0.9}, {"design": ["origin"]}]
)
def test_what_described_levels_rest_on_stays(tmp_path: Path, other: dict[str, Any]) -> None:
    opened(tmp_path).close()
    with pytest.raises(InvalidArgument, match="was opened with"):
        opened(tmp_path, **other)


def test_a_ledger_that_was_asked_is_not_planned_anew(tmp_path: Path) -> None:
    with opened(tmp_path) as ds:
        again = ds.opening.reopening()
        ds.ask("avg(late)")
        transcript = transcript_of(ds)
        with pytest.raises(LedgerTampered, match="plans anew what was in use"):
            transcript.apply([(transcript.count + 1, canonical(again), "")])


@pytest.mark.parametrize(
    "fact",
    [{"fingerprint": "00"}, {"name": "other"}, {"described_share": 0.5}, {"looked_up": [0, 0]}],
)
def test_another_opening_is_found(tmp_path: Path, fact: dict[str, Any]) -> None:
    with opened(tmp_path) as ds:
        body = ds.opening.body()
    transcript = Transcript()
    transcript.apply([(1, canonical(body), "")])
    with pytest.raises(LedgerTampered):
        transcript.apply([(2, canonical({**body, "kind": "reopen/1", **fact}), "")])
    transcript = Transcript()
    transcript.apply([(1, canonical(body), "")])
    transcript.apply([(2, canonical({**body, "kind": "reopen/1", "questions": 9}), "")])


# After answers -----------------------------------------------------------------------------------


def test_ranges_and_values_are_added_and_priced_as_if_written_out(tmp_path: Path) -> None:
    with opened(tmp_path) as ds:
        ds.ask("avg(late)")
        nats = transcript_of(ds).account.nats
        added = {"delay": (-100, 120), **VALUES}
        assert str(ds.declare_cost(schema=added)).startswith("free: questions that use it")
        assert "delay" not in ds.schema.bounds  # to ask for the price declares nothing
        ds.declare(schema=added, why="forgotten")
        assert transcript_of(ds).account.nats == nats
        mean = ds.ask("avg(delay)")
        groups: Any = ds.ask("avg(late) by origin")
        assert [member for member, _ in groups] == ORIGINS
        written = mean.bits, groups["JFK"].bits
    with holdfast.open(table(), ledger=tmp_path / "other.ledger") as other:
        other.ask("avg(late)")
        plain = [
            other.ask("avg(clip(delay, -100, 120))").bits,
            other.ask("avg(late) where origin = 'JFK'").bits,
        ]
    assert list(written) == plain
    with opened(tmp_path) as ds:
        assert ds.schema.bounds == {"delay": (-100.0, 120.0)}
        assert ds.ask("avg(delay)").status == "repeated"
        assert "Added, declared 1: bounds of delay; values of origin" in ds.explain()
    assert is_fine(tmp_path)


def test_a_handle_that_was_open_binds_with_what_was_declared_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / "t.ledger"
    with holdfast.open(table(), ledger=path) as early, holdfast.open(ledger=path) as reader:
        with pytest.raises(NotBounded):
            early.cost("avg(delay)")
        with opened(tmp_path) as late:
            late.declare(schema={"delay": (-100, 120)})
        for handle in (early, reader):
            assert handle.cost("avg(delay)").question == "avg(clip(delay, -100, 120))"
        with opened(tmp_path) as late:
            late.declare(schema={"delay": (-50, 60)})
        assert reader.cost("avg(delay)").question == "avg(clip(delay, -50, 60))"
        assert early.ask("avg(delay)").question == "avg(clip(delay, -50, 60))"
        assert early.schema.bounds == {"delay": (-50.0, 60.0)}


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ({"schema": {"delay": (0, 9)}}, r"not changed. Write the other one .*clip\(delay, 0, 9\)"),
        ({"schema": {"origin": {"values": ["EWR"]}}}, "can be added and not taken away"),
        ({"schema": {"delay": (-100, 120)}}, "nothing of this is new"),
        ({}, "nothing of this is new"),
        ({"outcomes": ["late"], "segments": ["origin"]}, "such as share=0.1, and see the price"),
        ({"outcomes": ["nowhere"], "share": 0.1}, "nowhere"),
        ({"schema": {"late": {"never_null": False}}}, "only be declared when a ledger is open"),
        ({"planned": ["avg(late) by origin"], "share": 1}, "share"),
        ({"planned": ["avg(late) by origin"], "share": -0.1}, "share"),
    ],
)
def test_what_cannot_be_added_is_refused_and_writes_nothing(
    tmp_path: Path, declared: dict[str, Any], message: str
) -> None:
    with opened(tmp_path, schema={"delay": (-100, 120), **VALUES}) as ds:
        ds.ask("avg(late)")
        entries = transcript_of(ds).count
        for verb in (ds.declare_cost, ds.declare):
            with pytest.raises((InvalidArgument, holdfast.errors.InvalidQuestion), match=message):
                verb(**declared)
        assert transcript_of(ds).count == entries


@pytest.mark.parametrize("fact", [{"never_null": False}, {"scale": {"sigma": 0.4}}])
def test_what_only_an_opening_says_is_refused_before_answers_too(
    tmp_path: Path, fact: dict[str, Any]
) -> None:
    """It would be left out of the entry, and a share be taken for nothing."""
    with opened(tmp_path) as ds:
        for verb in (ds.declare_cost, ds.declare):
            with pytest.raises(InvalidArgument, match="only be declared when a ledger is opened"):
                verb(schema={"delay": fact})
        ds.declare(schema={"delay": {"never_null": True, "bounds": (-100, 120)}})  # as it is
        assert ds.schema.bounds == {"delay": (-100.0, 120.0)}


def test_a_share_of_what_is_left_makes_texts_shorter_again(tmp_path: Path) -> None:
    """With rounded answers little has leaked: the late dictionary is the narrower one."""
    with opened(tmp_path, described="rounded", tolerance=0.2) as ds:
        ds.ask("avg(late)")
        account, terms = transcript_of(ds).account, transcript_of(ds).terms
        cost = ds.declare_cost(**FAMILY, share=0.5)
        left = math.exp(terms.log_beta) - math.exp(account.leakage.log_beta_spent)
        expected = math.log2(math.exp(terms.log_beta_described) / (left / 2)) + account.nats / (
            math.log(2)
        )
        assert cost.bits == pytest.approx(expected, abs=1e-6)
        ds.declare(**FAMILY, share=0.5)
        late = ds.ask("difference(avg(late) where origin = 'JFK', rest)")
        assert late.recorded.mechanism == "declared/1 declared 1"
        assert late.bits is not None
        assert late.bits < 6
        assert transcript_of(ds).account.log_kept == pytest.approx(math.log(0.5))
        both = ds.ask_many(["avg(late) where origin = 'EWR'", "avg(delay > 0)"])  # one of each
        assert {each.recorded.mechanism for each in both} == {
            "described/1",
            "declared/1 declared 1",
        }
    assert is_fine(tmp_path)


def test_where_much_was_answered_the_first_dictionary_stays_narrower(tmp_path: Path) -> None:
    with opened(tmp_path) as ds:
        for number in range(12):
            ds.ask(f"avg(delay > {number})")
        ds.declare(**FAMILY, share=0.1)
        difference = ds.ask("difference(avg(late) where origin = 'JFK', rest)")
        assert difference.recorded.mechanism == "described/1"
    assert is_fine(tmp_path)


def test_nothing_is_given_away_twice(tmp_path: Path) -> None:
    """The failure probabilities of all dictionaries and asks together are at most the promised one.

    By Theorem O' each has Kraft sum 1 by itself, so that the sum of their parts is what counts.
    """
    with opened(tmp_path, described="rounded", questions=20, tolerance=0.1) as ds:
        ds.ask("avg(late)")
        for number, share in enumerate((0.5, 0.9, 0.99, 0.1)):
            ds.declare(planned=[f"avg(delay > {number})"], share=share)
        transcript = transcript_of(ds)
        parts = [Fraction(math.exp(each.log_beta)) for each in transcript.dictionaries]
        terms = transcript.terms
        asks = 20 * Fraction(math.exp(terms.log_share(1) + transcript.account.log_kept))
        described = Fraction(math.exp(terms.log_beta_described))
        assert sum(parts) + asks + described <= Fraction(0.05) * (1 + Fraction(1, 10**9))
        # The twin gives each its part of what there was at first, as if nothing had been taken.
        twin = sum(Fraction(math.exp(terms.log_beta)) * Fraction(each) for each in (0.5, 0.9))
        assert twin + described > Fraction(0.05)
    assert is_fine(tmp_path)


@pytest.mark.parametrize("fact", [{"log_beta": -3.6}, {"nats": 0.0}, {"share": 0.6}, {"size": 2}])
def test_an_entry_with_another_stake_is_found(tmp_path: Path, fact: dict[str, Any]) -> None:
    with opened(tmp_path, described="rounded") as ds:
        ds.ask("avg(late)")
        ds.declare(**FAMILY, share=0.5)
        rows = store_of(ds).news()
    *before, (seq, text, _) = rows
    forged = canonical({**json.loads(text), **fact})
    transcript = Transcript()
    transcript.apply(before)
    with pytest.raises(LedgerTampered):
        transcript.apply([(seq, forged, "")])


def test_a_closed_ledger_takes_no_share_and_still_ranges(tmp_path: Path) -> None:
    with opened(tmp_path, schema={"delay": (-100, 120)}) as ds:
        ds.ask("avg(late)")
        ds.final(["avg(delay)"])
        with pytest.raises(BudgetExhausted):
            ds.declare(**FAMILY, share=0.1)
        ds.declare(schema=VALUES)
        assert len(ds.ask("avg(late) by origin")) == 3  # type: ignore[arg-type]
    assert is_fine(tmp_path)


def test_the_command_line_declares_and_says_the_price_first(tmp_path: Path) -> None:
    table().write_parquet(tmp_path / "flights.parquet")
    assert run("init", "flights.parquet", cwd=tmp_path).returncode == 0
    assert run("ask", "flights", "avg(late)", cwd=tmp_path).returncode == 0
    (tmp_path / "more.toml").write_text("[bounds]\ndelay = [-100, 120]\n", encoding="utf-8")
    words = ("declare", "flights", "--schema", "more.toml")
    dry = run(*words, "--dry-run", cwd=tmp_path)
    assert dry.returncode == 0, dry.stderr
    assert "free: questions that use it" in dry.stdout
    refused = run("ask", "flights", "avg(delay)", cwd=tmp_path)
    assert refused.returncode != 0
    done = run(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert run("ask", "flights", "avg(delay)", cwd=tmp_path).returncode == 0
    assert run("audit", "flights", cwd=tmp_path).returncode == 0
