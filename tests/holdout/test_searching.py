"""Search spaces: exact scores at the level of the whole space, whatever chooses among them."""

from __future__ import annotations

import copy
import json
import math
import pickle
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import holdfast
from holdfast.errors import (
    BudgetExhausted,
    HoldfastError,
    InvalidArgument,
    InvalidQuestion,
    LedgerTampered,
)
from holdfast.holdout.holdout import Holdout
from holdfast.holdout.search import Search
from holdfast.holdout.space import space_of
from holdfast.ledger.audit import audit
from holdfast.ledger.chain import chained
from holdfast.ledger.dictionaries import Dictionary
from holdfast.theory.base.intervals import clopper_pearson, independent_clopper_pearson
from holdfast.theory.length.levels import declared_millibits, late_log_level
from tests.ledger.forging import forged
from tests.ledger.reading import rows_of
from tests.seam import CHECKPOINT_EVERY, transcript_of, write_entry

N = 1_000
RNG = np.random.default_rng(21)
LABEL = RNG.random(N) < 0.5
X = RNG.random(N)
TABLE = pl.DataFrame({"id": np.arange(N), "label": LABEL, "x": X})
ACCURACY = "avg(model = label)"
MILLION = 10**6


def right_in(share: float) -> Any:
    """Predictions that are right in this share of the rows."""
    return np.where(np.arange(N) < round(share * N), LABEL, ~LABEL)


def opened(folder: Path, data: Any = TABLE, **said: Any) -> Holdout:
    said = {"key": "id", "tolerance": 0.1, "described": "off", "schema": {"x": (0, 1)}, **said}
    return holdfast.open(data, ledger=folder / "t.ledger", **said)


@pytest.fixture
def holdout(tmp_path: Path) -> Iterator[Holdout]:
    with opened(tmp_path) as found:
        yield found


@pytest.fixture
def search(holdout: Holdout) -> Search:
    return holdout.search("model", size=MILLION, question=ACCURACY)


def spent(holdout: Holdout) -> float:
    return math.exp(transcript_of(holdout).account.leakage.log_beta_spent)


# Scores ------------------------------------------------------------------------------------------


def test_the_score_of_one_of_a_million_configurations(search: Search) -> None:
    answer = search.score(17, right_in(0.8))
    assert answer.value == 0.8
    assert str(answer).startswith("0.800 [0.722, 0.865]")
    assert tuple(answer.interval) == pytest.approx((0.722, 0.865), abs=1e-3)
    assert answer.bits == 20.025
    assert str(answer).endswith(" · all answers together 95 % sure")


def test_ten_thousand_rows_decide_two_points(tmp_path: Path) -> None:
    rows = 10_000
    label = np.random.default_rng(1).random(rows) < 0.5
    table = pl.DataFrame({"id": np.arange(rows), "label": label})
    with holdfast.open(table, ledger=tmp_path / "t.ledger", key="id", described="off") as holdout:
        search = holdout.search("model", size=MILLION, question=ACCURACY)
        predicted = np.where(np.arange(rows) < 8_000, label, ~label)
        assert search.score(0, predicted).half_width < 0.0235


def test_the_level_is_that_of_the_declaration(search: Search) -> None:
    level = late_log_level(math.log(0.05 * 0.5), declared_millibits(MILLION), 0.0)
    found = search.score(3, right_in(0.6)).recorded.rule
    assert found is not None
    assert found.log_p == pytest.approx(level, abs=1e-12)
    # Given their keys, rows are not alike; the interval for such rows is as good.
    interval = search.score(3).interval
    assert tuple(interval) == pytest.approx(
        tuple(independent_clopper_pearson(N, 600, level)), abs=1e-12
    )
    assert tuple(interval) == pytest.approx(tuple(clopper_pearson(N, 600, level)), abs=1e-3)


def test_a_configuration_has_one_score(holdout: Holdout, search: Search) -> None:
    first = search.score(5, right_in(0.7), why="tree of depth 5")
    again = search.score(5, right_in(0.7))
    assert (again.status, again.cost, again.number) == ("repeated", 0, first.number)
    assert search.score(5).status == "repeated"
    with pytest.raises(InvalidArgument, match=r"'model\[5\]' is taken: .* other values"):
        search.score(5, right_in(0.9))
    # The same predictions are the same column, and have its score.
    assert search.score(6, right_in(0.7)).status == "repeated"
    assert len(holdout.ledger) == 1
    assert [look.member for look in search.scores] == ["model[5]"]
    assert holdout.ledger[0].why == "tree of depth 5"


def test_values_come_in_every_form_that_columns_do(search: Search, tmp_path: Path) -> None:
    frame = pl.DataFrame({"id": np.arange(N), "predicted": right_in(0.6)}).sample(
        fraction=1.0, shuffle=True, seed=1
    )
    frame.write_csv(tmp_path / "p.csv")
    assert search.score(1, tmp_path / "p.csv", key="id", value="predicted").value == 0.6
    assert search.score(2, dict(frame.iter_rows())).status == "repeated"


def test_a_bounded_loss(holdout: Holdout) -> None:
    search = holdout.search(
        "pred", size=1000, question="avg(abs(pred - x))", bounds=(0.0, 1.0), share=0.25
    )
    answer = search.score(0, np.clip(X + 0.1, 0, 1))
    assert answer.value == pytest.approx(np.abs(np.clip(X + 0.1, 0, 1) - X).mean(), abs=1e-3)
    assert answer.half_width < 0.04


def test_several_questions_are_declared_together(holdout: Holdout) -> None:
    both = [ACCURACY, "avg(model and not label)"]
    search = holdout.search("model", size=50, question=both)
    one, other = (search.score(9, right_in(0.8)), search.score(9, question=both[1]))
    assert one.bits == other.bits == declared_millibits(50, 2) / 1000


def test_another_question_is_longer(search: Search) -> None:
    declared = search.score(1, right_in(0.8))
    group = search.score(1, question="avg(model = label) where x > 0.5")
    assert group.bits is not None
    assert group.bits > 8 + (declared.bits or 0)


def test_without_a_question_every_text_has_its_length(holdout: Holdout) -> None:
    search = holdout.search("model", size=4)
    with pytest.raises(InvalidArgument, match="opened without a question"):
        search.score(1, right_in(0.8))
    assert search.score(1, right_in(0.8), question=ACCURACY).value == 0.8


def test_rounded_scores_are_rounded(tmp_path: Path) -> None:
    with opened(tmp_path, described="rounded") as holdout:
        search = holdout.search("model", size=100, question=ACCURACY)
        answer = search.score(0, right_in(0.8))
        assert answer.cost == pytest.approx(math.log(5))
        assert answer.value is not None
        assert abs(answer.value - 0.8) < answer.half_width / 4


def test_scores_of_what_is_computed_inside_the_door(holdout: Holdout, tmp_path: Path) -> None:
    search = holdout.search("loss", size=100, question="avg(loss)")
    loss = holdfast.computed(lambda rows: (rows["x"] - 0.5).abs(), columns=["x"], bounds=(0, 1))
    answer = search.score(7, loss)
    assert answer.value == pytest.approx(np.abs(X - 0.5).mean(), abs=1e-4)
    assert search.score(7).status == "repeated"
    assert all(finding.fine for finding in audit(tmp_path / "t.ledger"))


@pytest.mark.parametrize("values", [X, X > 0.5, (X > 0.5).astype(int)], ids=["x", "bool", "int"])
def test_what_is_declared_is_what_is_asked_whatever_values_are(
    holdout: Holdout, values: Any
) -> None:
    """Of a condition "model > 0.5" is "model", whose mean for numbers is no share."""
    search = holdout.search("model", size=10, question="avg(model > 0.5)")
    assert search.score(1, values).value == (X > 0.5).mean()


def test_a_score_of_values_that_were_not_there_is_found(holdout: Holdout, tmp_path: Path) -> None:
    search = holdout.search("loss", size=100, question="avg(loss)")
    search.score(7, holdfast.computed(lambda rows: rows["x"], columns=["x"], bounds=(0, 1)))
    holdout.close()

    def values_last(bodies: list[dict[str, Any]]) -> None:
        (at,) = [place for place, body in enumerate(bodies) if body["kind"] == "values/1"]
        bodies.append(bodies.pop(at))
        bodies[-2]["reserve"] -= 1

    assert "had no values" in "".join(forged(tmp_path / "t.ledger", values_last))


def test_a_column_attached_before_may_be_compared_with(holdout: Holdout) -> None:
    holdout.attach("incumbent", right_in(0.7))
    search = holdout.search(
        "model", size=20, question="difference(model = label, incumbent = label)"
    )
    assert search.score(2, right_in(0.8)).value == pytest.approx(0.1)
    holdout.attach("later", right_in(0.9))
    with pytest.raises(InvalidQuestion, match="later"):
        search.score(2, question="difference(model = label, later = label)")


# What it costs -----------------------------------------------------------------------------------


def test_a_search_takes_its_part_and_later_questions_keep_the_rest(tmp_path: Path) -> None:
    with opened(tmp_path, questions=10) as holdout:
        holdout.ask("avg(x > 0.5)", tolerance=0.3)
        before = spent(holdout)
        assert before == pytest.approx(0.005)
        holdout.search("model", size=10, question=ACCURACY, share=0.2)
        assert spent(holdout) == pytest.approx(before + 0.2 * (0.05 - before))
        holdout.ask("avg(x > 0.6)", tolerance=0.3)
        assert spent(holdout) == pytest.approx(before + 0.2 * (0.05 - before) + 0.8 * 0.005)
        for place in range(8):
            holdout.ask(f"avg(x > 0.0{place + 1})", tolerance=0.4)
        assert spent(holdout) <= 0.05 * (1 + 1e-12)
    assert all(finding.fine for finding in audit(tmp_path / "t.ledger"))


def test_claims_are_tested_at_what_a_search_leaves(tmp_path: Path) -> None:
    with opened(tmp_path) as holdout:
        holdout.search("model", size=10, question=ACCURACY, share=0.2)
        assert holdout.check("avg(x > 0.5)", guess=0.5).status == "confirmed"
        assert holdout.gate("avg(x > 0.4)", at_least=0.2).status == "shown"
    bodies = [json.loads(text) for _, text, _ in rows_of(tmp_path / "t.ledger")]
    offers = [item["offer"] for body in bodies for item in body.get("items", ())]
    left = [offer["extra"]["standing"]["log_left"] for offer in offers]
    assert left == [pytest.approx(math.log(0.8 * 0.05))] * 2
    assert all(finding.fine for finding in audit(tmp_path / "t.ledger"))


def test_scores_are_charged_to_what_comes_later_and_not_to_the_search(holdout: Holdout) -> None:
    search = holdout.search("model", size=1000, question=ACCURACY)
    first = search.score(0, right_in(0.8))
    assert first.cost > 4  # ln of a window of counts
    assert holdout.budget.nats == pytest.approx(first.cost)
    second = search.score(1, right_in(0.6))
    assert second.recorded.leaked == pytest.approx(first.cost)
    one, other = (look.rule for look in search.scores)
    assert one is not None
    assert other is not None
    assert one.log_p == other.log_p
    later = holdout.search("late", size=1000, question="avg(late = label)")
    third = later.score(0, right_in(0.5)).recorded.rule
    assert third is not None
    charged = first.cost + second.cost
    assert third.log_p == pytest.approx(one.log_p + math.log(0.5) - charged, abs=1e-9)
    assert search.score(2, right_in(0.55)).recorded.rule == one


def test_what_it_would_cost_is_told_before(holdout: Holdout) -> None:
    cost = holdout.search_cost("model", size=MILLION, question=ACCURACY)
    text = str(cost)
    assert "1,000,000 configurations" in text
    assert "takes 0.025 of the 0.05 that is left" in text
    assert "half-width at most 0.09556" in text
    assert cost.to_dict()["size"] == MILLION
    assert len(transcript_of(holdout).dictionaries.named) == 0  # nothing was written
    search = holdout.search("model", size=MILLION, question=ACCURACY)
    score = search.cost()
    assert score.bits == 20.025
    assert score.half_width == pytest.approx(0.09556, abs=1e-5)
    assert score.most == pytest.approx(search.score(0, right_in(0.5)).cost)
    assert cost.nats == pytest.approx(score.most)


def test_budget_explain_and_repr_tell_of_it(holdout: Holdout, search: Search) -> None:
    search.score(1, right_in(0.8), asked_by="ada")
    assert "search: model: 1,000,000 configurations" in str(holdout.budget)
    assert holdout.budget.to_dict()["searches"][0]["size"] == MILLION
    explained = holdout.explain()
    assert "Search model: 1,000,000 configurations" in explained
    assert "Theorem O'" in explained
    assert repr(search).endswith("1 scored; of the failure probability 0.025 is for all of them")
    json.dumps(holdout.budget.to_dict())


# Spaces ------------------------------------------------------------------------------------------


def test_a_space_of_parameters(holdout: Holdout) -> None:
    space = {"depth": [2, 3, None], "seed": range(5), "name": ["a", "b"]}
    search = holdout.search("model", space, question=ACCURACY)
    assert search.size == 30
    columns = {
        search.column({"depth": depth, "seed": seed, "name": name})
        for depth in space["depth"]
        for seed in space["seed"]
        for name in space["name"]
    }
    assert columns == {f"model[{place}]" for place in range(30)}
    config = {"seed": np.int64(4), "depth": None, "name": "b"}
    assert search.score(config, right_in(0.9)).value == 0.9


def test_a_list_of_configurations() -> None:
    space = space_of([{"a": 1}, {"a": 2}, "baseline"], None)
    assert [space.place_of(each) for each in ({"a": 1}, {"a": 2}, "baseline")] == [0, 1, 2]
    assert space.digest != space_of([{"a": 1}, {"a": 2}], None).digest
    assert space_of(None, 3).digest is None
    assert (
        space_of({"a": [1], "b": [2]}, None).digest == space_of({"b": [2], "a": [1]}, None).digest
    )


@pytest.mark.parametrize(
    ("space", "configuration", "said"),
    [
        ({"a": [1, 2]}, {"a": 3}, "a of the configuration is 3, which is none of the 2"),
        ({"a": [1, 2]}, {"b": 1}, "one value for each of a"),
        ({"a": [1, 2]}, 1, "one value for each of a"),
        (["x", "y"], "z", "configuration is 'z', which is none of the 2"),
        (["x", "y"], object(), "must be a number, text"),
        (None, 7, "a whole number from 0 to 6"),
        (None, -1, "a whole number from 0 to 6"),
        (None, "x", "a whole number from 0 to 6"),
    ],
)
def test_a_configuration_outside_the_space(space: Any, configuration: Any, said: str) -> None:
    found = space_of(space, 7 if space is None else None)
    with pytest.raises(InvalidArgument, match=said):
        found.place_of(configuration)


@pytest.mark.parametrize(
    ("space", "size", "said"),
    [
        (None, None, "needs one of them"),
        ([1], 1, "needs one of them"),
        (None, 0, "size"),
        (None, 1.5, "size"),
        ([], None, "at least one"),
        ({}, None, "no parameter"),
        ({"a": []}, None, "at least one"),
        ([1, 1], None, "1 of them different"),
        ("abc", None, "must list its values"),
        ({"a": 5}, None, "must list its values"),
        ([math.nan], None, "must be a number, text"),
    ],
)
def test_what_is_no_space(space: Any, size: Any, said: str) -> None:
    with pytest.raises(InvalidArgument, match=said):
        space_of(space, size)


# Faults ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        ({"size": 0}, "size"),
        ({"size": -3}, "size"),
        ({"share": 0.0}, "share"),
        ({"share": 1.0}, "share"),
        ({"share": 1.5}, "share"),
        ({"question": "avg(model = nothing)"}, "nothing"),
        ({"question": "avg(label)"}, "about no column of 'model'"),
        ({"question": [ACCURACY, ACCURACY]}, "twice"),
        ({"question": "avg(model)", "bounds": (1, 0)}, "bounds"),
        ({"code": 5}, "code"),
    ],
    ids=str,
)
def test_a_search_that_cannot_be_opened_costs_nothing(
    holdout: Holdout, declared: dict[str, Any], said: str
) -> None:
    with pytest.raises(HoldfastError, match=said):
        holdout.search("model", **{"size": 10, "question": ACCURACY, **declared})
    assert transcript_of(holdout).count == 1


@pytest.mark.parametrize("name", ["label", "LABEL", "last look", ""])
def test_a_name_that_is_taken(holdout: Holdout, name: str) -> None:
    with pytest.raises(InvalidArgument, match="name"):
        holdout.search(name, size=10)


def test_a_name_means_one_search(holdout: Holdout, search: Search) -> None:
    again = holdout.search("model", size=MILLION, question=ACCURACY)
    assert transcript_of(holdout).count == 2
    assert again.size == search.size
    assert holdout.search("model").size == MILLION
    with pytest.raises(InvalidArgument, match="with other declarations"):
        holdout.search("model", size=7, question=ACCURACY)
    with pytest.raises(InvalidArgument, match="'MODEL' is taken by 'model'"):
        holdout.search("MODEL", size=7)
    with pytest.raises(InvalidArgument, match="'model' is taken"):
        holdout.attach("model", right_in(0.5))


def test_values_of_another_type_do_not_use_up_the_configuration(search: Search) -> None:
    with pytest.raises(InvalidQuestion):
        search.score(1, [f"text {place}" for place in range(N)])
    with pytest.raises(InvalidArgument, match="no values yet"):
        search.score(1)
    assert search.score(1, right_in(0.8)).value == 0.8


def test_another_process_has_the_same_search(tmp_path: Path) -> None:
    TABLE.write_parquet(tmp_path / "t.parquet")
    with opened(tmp_path, tmp_path / "t.parquet") as holdout:
        search = holdout.search("model", {"seed": range(10)}, question=ACCURACY)
        again = pickle.loads(pickle.dumps(search))
        assert again.score({"seed": 3}, right_in(0.8)).value == 0.8
        assert search.score({"seed": 3}).status == "repeated"
        assert copy.deepcopy(search).score({"seed": 3}).status == "repeated"


def test_a_space_of_any_size(holdout: Holdout) -> None:
    with pytest.raises(InvalidArgument, match="size"):
        holdout.search("model", size=10**400, question=ACCURACY)
    answer = holdout.search("model", size=10**30, question=ACCURACY).score(7, right_in(0.8))
    assert 0.1 < answer.half_width < 0.15


def test_a_member_beyond_the_space(search: Search) -> None:
    with pytest.raises(InvalidArgument, match="from 0 to 999,999"):
        search.score(MILLION, right_in(0.8))


def test_training_rows_are_recorded_and_are_not_the_protected_ones(holdout: Holdout) -> None:
    train = TABLE.with_columns(x=1 - pl.col("x"))
    holdout.search("model", size=5, train=train, code="commit 1234")
    found = transcript_of(holdout).dictionaries.named["model"]
    assert found.train is not None
    assert found.code == "commit 1234"
    with pytest.raises(InvalidArgument, match="protected"):
        holdout.search("other", size=5, train=TABLE)


def test_a_ledger_by_another_mechanism_has_no_search(tmp_path: Path) -> None:
    with opened(tmp_path, mechanism="median noise", questions=10, tolerance=None) as holdout:
        with pytest.raises(InvalidArgument, match="answers by median noise"):
            holdout.search("model", size=10)
        with pytest.raises(InvalidArgument, match="answers by median noise"):
            holdout.final(["avg(label)"])


def test_nothing_is_left_for_it(tmp_path: Path) -> None:
    only = opened(tmp_path, described="exact", described_share=1.0, tolerance=None)
    with only, pytest.raises(BudgetExhausted, match="described_share is 1"):
        only.search("model", size=10)
    folder = tmp_path / "asked"
    folder.mkdir()
    with opened(folder, questions=1) as holdout:
        holdout.ask("avg(label)")
        with pytest.raises(BudgetExhausted, match="remaining 0 after 1 questions"):
            holdout.search("model", size=10)


def test_a_closed_ledger_has_no_search_and_no_scores(holdout: Holdout, search: Search) -> None:
    search.score(0, right_in(0.8))
    holdout.final(["avg(x > 0.5)"])
    for refused in (
        lambda: search.score(1, right_in(0.6)),
        lambda: holdout.search("other", size=10),
        lambda: holdout.search_cost("other", size=10),
        search.cost,
    ):
        with pytest.raises(BudgetExhausted, match="when a last look was taken"):
            refused()
    assert search.score(0).status == search.score(0, right_in(0.8)).status == "repeated"
    assert [column.name for column in holdout.columns] == ["model[0]"]


# The ledger --------------------------------------------------------------------------------------


def test_the_audit_derives_every_score_from_the_ledger_alone(
    holdout: Holdout, search: Search, tmp_path: Path
) -> None:
    for place in range(5):
        search.score(place, right_in(0.5 + place / 20))
        holdout.ask(f"avg(x > 0.{place + 1})", tolerance=0.4)
    search.score(2, question="avg(model) where label")
    findings = audit(tmp_path / "t.ledger")
    assert all(finding.fine for finding in findings)
    assert any("11 derived again" in finding.detail for finding in findings)


def test_a_checkpoint_keeps_searches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CHECKPOINT_EVERY, 2)
    with opened(tmp_path) as holdout:
        search = holdout.search("model", size=100, question=ACCURACY)
        for place in range(4):
            search.score(place, right_in(0.5 + place / 20))
    with opened(tmp_path) as holdout:
        assert transcript_of(holdout).account.log_kept == pytest.approx(math.log(0.5))
        again = holdout.search("model")
        assert again.score(1).status == "repeated"
        assert len(again.scores) == 4
    assert all(finding.fine for finding in audit(tmp_path / "t.ledger"))


@pytest.mark.parametrize(
    "changes",
    [
        {"log_beta": math.log(0.04)},
        {"nats": 1.0},
        {"share": 0.6},
        {"share": 1.0},
        {"size": 0},
        {"columns": 3},
        {"name": "model"},
        {"bounds": [2, 1]},
    ],
    ids=str,
)
def test_an_opening_that_does_not_follow_is_tampering(
    holdout: Holdout, search: Search, changes: dict[str, Any]
) -> None:
    known = transcript_of(holdout).dictionaries.named["model"]
    body = {**known.body(), "name": "other", "log_beta": math.log(0.0125), **changes}
    with pytest.raises(LedgerTampered):
        write_entry(holdout, body)
    assert search.size == MILLION


@pytest.mark.parametrize("name", ["model", "MODEL"])
def test_a_column_that_is_called_as_a_search_is_tampering(
    holdout: Holdout, search: Search, name: str
) -> None:
    search.score(3, right_in(0.8))
    transcript = transcript_of(holdout)
    attached = {**transcript.attached.columns["model[3]"].body(), "name": name}
    promoted = {"kind": "promote/1", "name": name, "column": name, "why": None, "by": None}
    for body in (attached, {**promoted, "at": ""}):
        with pytest.raises(LedgerTampered, match="as a search is called"):
            transcript.apply(chained([body], transcript.count, transcript.head))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda bodies: bodies[1].update(size=10), "way of answering|symbols|bits|charge"),
        (lambda bodies: bodies[1].update(questions=[]), "way of answering|bits|charge"),
        (lambda bodies: bodies[1].update(nats=0.5), "what follows is"),
        (lambda bodies: bodies[1].update(log_beta=-1.0), "what follows is"),
        (
            lambda bodies: bodies[3]["items"][0]["offer"]["extra"]["rule"].update(log_p=-3.0),
            "way of answering|charge",
        ),
        (
            lambda bodies: bodies[3]["items"][0]["offer"]["extra"].update(member="model[8]"),
            "cannot be read",
        ),
        (lambda bodies: bodies[3].update(mechanism="search/2 other"), "other"),
    ],
    ids=["size", "questions", "nats", "share", "level", "member", "search"],
)
def test_a_forged_search_is_found_out(
    holdout: Holdout, search: Search, tmp_path: Path, change: Any, said: str
) -> None:
    search.score(3, right_in(0.8))
    holdout.close()
    assert re.search(said, "".join(forged(tmp_path / "t.ledger", change)))


@pytest.mark.parametrize(
    "sampling",
    [holdfast.clustered("unit", largest=4), holdfast.m_dependent(2), holdfast.declared(sigma=0.05)],
    ids=str,
)
def test_rows_that_depend_on_each_other(tmp_path: Path, sampling: Any) -> None:
    table = TABLE.with_columns(unit=pl.col("id") // 4)
    with opened(tmp_path, table, sampling=sampling, tolerance=0.2) as holdout:
        search = holdout.search("model", size=100, question=ACCURACY)
        answer = search.score(3, right_in(0.8))
        assert answer.value == pytest.approx(0.8, abs=0.01)
        assert answer.half_width > 0.05
    assert all(finding.fine for finding in audit(tmp_path / "t.ledger"))


def test_what_is_written_is_read_again(search: Search, holdout: Holdout) -> None:
    known = transcript_of(holdout).dictionaries.named["model"]
    assert Dictionary.read(json.loads(json.dumps(known.body()))) == known
    assert search.name == "model"


KILLED = """
import os, signal, sys
import polars as pl
import holdfast
from holdfast.ledger.store import Store

folder, entry, verb = sys.argv[1:]
append = Store.append

def dying(self, entries, *said):
    rows = append(self, entries, *said)
    if entries[0][0]["kind"] == entry:
        os.kill(os.getpid(), signal.SIGKILL)
    return rows

Store.append = dying
with holdfast.open(pl.read_parquet(folder + "/t.parquet"), ledger=folder + "/t.ledger") as holdout:
    if verb == "final":
        holdout.final(["avg(x > 0.5)", "avg(label)"])
    else:
        search = holdout.search("model", size=100, question="avg(model = label)")
        search.score(3, folder + "/p.parquet")
"""


@pytest.mark.parametrize(
    ("entry", "verb"),
    [("search/2", "score"), ("attach/1", "score"), ("reserve/2", "score"), ("final/2", "final")],
)
def test_what_a_killed_process_left_is_finished_by_another(
    tmp_path: Path, entry: str, verb: str
) -> None:
    with opened(tmp_path):
        TABLE.write_parquet(tmp_path / "t.parquet")
    pl.DataFrame({"id": np.arange(N), "p": right_in(0.8)}).write_parquet(tmp_path / "p.parquet")
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path), entry, verb],
        check=False,
        capture_output=True,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    with opened(tmp_path) as holdout:
        pending = transcript_of(holdout).pending
        assert (pending is not None) == (entry in ("reserve/2", "final/2"))
        if verb == "final":
            assert holdout.budget.questions_left == 0
            found = holdout.final(["avg(label)", "avg(x > 0.5)"])
            assert [each.status for each in found] == ["repeated", "repeated"]
            assert found[0].value == pytest.approx(LABEL.mean())
        else:
            search = holdout.search("model", size=100, question=ACCURACY)
            assert search.score(3, right_in(0.8)).value == 0.8
            assert len(search.scores) == 1
    assert all(finding.fine for finding in audit(tmp_path / "t.ledger"))


def test_the_page_runs_and_prints_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "searching.md").read_text("utf-8")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for example in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(compile(example, "searching.md", "exec"), names)
    said = capsys.readouterr().out
    assert "1,000,000 configurations" in said
    assert "\n0.800 [0.722, 0.865]" in said
    assert "closed but for text questions" in said
    low, high = clopper_pearson(1_000, 800, math.log(0.05))
    assert f"{low:.3f} to {high:.3f}" in page


# Values that one program computes ----------------------------------------------------------------

SCORES = np.where(LABEL, 0.3, 0.0) + 0.7 * X
COMPUTED = {
    "auc(model, label)": "auc",
    "f1(model > 0.5, label)": "overlap",
    "balanced_accuracy(model > 0.5, label)": "contrast",
}


@pytest.mark.parametrize("question", COMPUTED)
def test_statistics_of_alike_rows_are_for_what_one_program_makes(
    holdout: Holdout, tmp_path: Path, question: str
) -> None:
    facts: dict[str, Any] = {"size": 9, "question": question, "bounds": (0, 1)}
    with pytest.raises(InvalidQuestion, match=r"made for single keys.*computed=True"):
        holdout.search("model", **facts)
    search = holdout.search("model", computed=True, **facts)
    with pytest.raises(InvalidArgument, match=r"values are made for the keys of rows"):
        search.score(3, SCORES)
    told = search.score(3, SCORES, digest="model 3")
    assert told.status == "answered"
    truth = {
        "auc(model, label)": float(
            (SCORES[LABEL][:, None] > SCORES[~LABEL][None, :]).mean()  # no two are the same
        ),
        "f1(model > 0.5, label)": _f1(SCORES > 0.5),
        "balanced_accuracy(model > 0.5, label)": float(
            ((SCORES > 0.5)[LABEL].mean() + (SCORES <= 0.5)[~LABEL].mean()) / 2
        ),
    }[question]
    assert told.value == pytest.approx(truth, abs=0.002)
    assert told.interval.low < truth < told.interval.high
    assert told.half_width is not None
    assert told.half_width < 0.2
    inside = holdfast.computed(lambda rows: rows["x"], columns=["x"], bounds=(0, 1))
    assert search.score(4, inside).status == "answered"
    by_key = holdfast.computed(lambda rows: rows["x"], columns=["x", "id"], bounds=(0, 1))
    with pytest.raises(InvalidArgument, match=r"values are made for the keys of rows"):
        search.score(5, by_key)
    assert search.score(5, SCORES, digest="model 5").status == "answered"
    assert all(finding.fine for finding in audit(tmp_path / "t.ledger"))


def _f1(said: Any) -> float:
    both = np.count_nonzero(said & LABEL)
    return float(2 * both / (np.count_nonzero(said) + np.count_nonzero(LABEL)))


def test_which_rule_answers_is_declared_and_not_chosen(tmp_path: Path) -> None:
    """By computed=True Clopper and Pearson's interval; otherwise the wider one, whatever comes."""
    widths = {}
    for computed in (False, True):
        folder = tmp_path / str(computed)
        folder.mkdir()
        with opened(folder) as holdout:
            search = holdout.search("model", size=9, question="avg(model)", computed=computed)
            told = search.score(0, right_in(0.8), digest="model 0")
            widths[computed] = told.interval.high - told.interval.low
            assert holdout.search("model").score(0).repeated
            with pytest.raises(InvalidArgument, match="opened with other declarations"):
                holdout.search("model", size=9, question="avg(model)", computed=not computed)
    assert widths[True] < widths[False]


def test_scores_with_a_digest_are_known_by_it(holdout: Holdout) -> None:
    search = holdout.search("model", size=9, question="avg(model)")
    first = search.score(0, right_in(0.8), digest="model 0")
    again = search.score(0, right_in(0.2), digest="model 0")  # not looked at
    assert (again.status, again.value) == ("repeated", first.value)
    with pytest.raises(InvalidArgument, match="taken"):
        search.score(0, right_in(0.2), digest="model 1")
