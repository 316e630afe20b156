"""What earlier answers imply is free, and every answer is intersected with it (section 13.3)."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import holdfast
from holdfast.holdout.answer import Answer
from holdfast.holdout.holdout import Holdout
from holdfast.ledger.audit import audit
from holdfast.ledger.composites import Followed
from holdfast.ledger.implied import Implications, NamedLooks, intersected
from holdfast.statistics.bind import bind
from holdfast.statistics.derived import Joined, Paired
from holdfast.theory.base.implied import ShownGates, difference_implied
from holdfast.theory.base.intervals import Interval
from tests.holdout.tables import Crash, crash, opened, untouchable, watch
from tests.ledger.forging import Body, forged
from tests.seam import SIDES_OF_DIFFERENCE, desk_of

ROWS = 4_000


def models(rows: int = ROWS) -> pl.DataFrame:
    """Labels, three models of which each is better than the next, and groups."""
    rng = np.random.default_rng(1)
    label = rng.random(rows) < 0.5
    right = {"a": 0.985, "b": 0.85, "c": 0.7}
    columns = {name: np.where(rng.random(rows) < p, label, ~label) for name, p in right.items()}
    late = np.where(rng.random(rows) < 0.25, label, rng.random(rows) < 0.3)
    group = rng.choice(["A", "B"], rows)
    return pl.DataFrame({"y": label, **columns, "late": late.astype(bool), "o": group})


@pytest.fixture
def open_ledger(tmp_path: Path) -> Iterator[Holdout]:
    with opened(tmp_path, models(), described="exact", tolerance=0.1, questions=40) as holdout:
        yield holdout


def is_sound(folder: Path) -> bool:
    return all(finding.fine for finding in audit(folder / "t.ledger"))


def standing(holdout: Holdout) -> tuple[Any, ...]:
    account = holdout.budget.account
    return account.nats, account.checks, account.surprises, account.gates, account.looks


# Intersection: rules 2 and 7.

PAIR = "difference(a = y, c = y)"


def told_everywhere(holdout: Holdout, answer: Answer) -> None:
    """The ledger's line, its frame, the certificate and JSON say the same interval."""
    line = holdout.ledger[answer.number - 1]
    assert line.interval == answer.interval
    row = holdout.ledger.to_dicts()[answer.number - 1]
    assert (row["low"], row["high"]) == tuple(answer.interval)
    numbered = [
        each for each in holdout.certificate().statement["answers"] if each["part_of"] is None
    ]
    assert (numbered[answer.number - 1]["low"], numbered[answer.number - 1]["high"]) == (
        row["low"],
        row["high"],
    )
    plain = json.loads(json.dumps(answer.to_dict()))
    assert (plain["low"], plain["high"]) == tuple(answer.interval)


def test_a_difference_is_never_wider_than_that_of_its_means(
    open_ledger: Holdout, tmp_path: Path
) -> None:
    first, second = (open_ledger.ask(f"avg({model} = y)") for model in "ac")
    limits = difference_implied(first.interval, second.interval)
    found = open_ledger.ask(PAIR)
    (look,) = found.parts
    assert look.interval.low < limits.low  # the look itself is wider
    assert limits.low <= found.interval.low <= found.interval.high <= limits.high
    assert found.recorded.known == (1, 2)
    assert "narrower by earlier answers" in str(found)
    assert "narrower by looks 1, 2" in found.details
    assert found.value in found.interval
    told_everywhere(open_ledger, found)
    again = open_ledger.ask(PAIR)
    assert (again.status, again.interval, again.cost) == ("repeated", found.interval, 0.0)
    open_ledger.close()
    assert is_sound(tmp_path)
    with opened(tmp_path, models()) as resumed:
        assert resumed.ask(PAIR).interval == found.interval


def test_what_was_asked_before_its_means_is_narrower_when_it_is_asked_again(
    open_ledger: Holdout, tmp_path: Path
) -> None:
    wide = open_ledger.ask(PAIR)
    for model in "ac":
        open_ledger.ask(f"avg({model} = y)")
    before = standing(open_ledger)
    watch(open_ledger, untouchable)
    again = open_ledger.ask(PAIR)
    assert again.half_width < wide.half_width
    assert (again.cost, standing(open_ledger), again.bits) == (0.0, before, wide.bits)
    assert open_ledger.ledger[wide.number - 1].interval == wide.interval  # as it was told
    assert open_ledger.ask(PAIR).status == "repeated"
    open_ledger.close()
    assert is_sound(tmp_path)


def test_all_intervals_of_one_part_are_intersected(open_ledger: Holdout, tmp_path: Path) -> None:
    share = open_ledger.ask("avg(late)")
    middle = sum(share.interval) / 2
    claim = open_ledger.check("avg(late)", at_most=middle + 0.9 * share.half_width)
    asked = open_ledger.ask("avg(late)")
    assert asked.interval == (share.interval.low, min(share.interval.high, claim.interval.high))
    other = open_ledger.ask("avg(not late)")
    assert other.interval.low == pytest.approx(1 - asked.interval.high, abs=1e-12)
    open_ledger.close()
    assert is_sound(tmp_path)


def test_a_crash_in_the_scan_leaves_the_same_answer(open_ledger: Holdout, tmp_path: Path) -> None:
    for model in "ac":
        open_ledger.ask(f"avg({model} = y)")
    sample = watch(open_ledger, crash)
    with pytest.raises(Crash):
        open_ledger.ask(PAIR)
    charged = open_ledger.budget.nats
    open_ledger.close()
    del sample
    assert is_sound(tmp_path)
    with opened(tmp_path, models()) as resumed:
        found = resumed.ask(PAIR)
        assert found.recorded.known == (1, 2)
        assert resumed.budget.nats <= charged
        told_everywhere(resumed, found)
    assert is_sound(tmp_path)


# Free claims: rules 1, 2 and 6.


def test_a_claim_that_follows_costs_nothing(open_ledger: Holdout, tmp_path: Path) -> None:
    accuracy = open_ledger.ask("accuracy(a, y)")
    assert Interval(0.94, 1.0).low <= accuracy.interval.low
    before = standing(open_ledger)
    watch(open_ledger, untouchable)
    price = open_ledger.cost("avg(a <> y)", 0.01, tolerance=0.05)
    assert str(price) == "avg(a != y): free: it follows from line 1"
    assert (price.least, price.most, price.questions, price.follows) == (0.0, 0.0, 0, (1,))
    confirmed = open_ledger.check("avg(a <> y)", 0.01, tolerance=0.05)
    assert (confirmed.status, confirmed.cost, confirmed.number) == ("confirmed", 0.0, 2)
    assert confirmed.interval.high == pytest.approx(1 - accuracy.interval.low, abs=1e-12)
    excluded = open_ledger.check("avg(a <> y)", 0.5, tolerance=0.05)
    assert (excluded.status, excluded.cost, excluded.number) == ("not confirmed", 0.0, 3)
    total = open_ledger.check("count(a <> y, 1000)", 20, tolerance=0.05)
    assert (total.status, total.cost) == ("confirmed", 0.0)
    assert open_ledger.check("avg(a <> y)", 0.5, tolerance=0.05).receipt == excluded.receipt
    assert open_ledger.check("avg(a = y)", at_least=0.95).interval == accuracy.interval
    shown = open_ledger.gate("avg(a <> y)", at_most=0.04)
    assert (shown.status, shown.cost) == ("shown", 0.0)
    assert standing(open_ledger) == before
    told_everywhere(open_ledger, confirmed)
    assert "follows from look 1" in open_ledger.explain()
    open_ledger.close()
    assert is_sound(tmp_path)


def test_a_claim_that_only_partly_follows_is_put(open_ledger: Holdout) -> None:
    accuracy = open_ledger.ask("accuracy(a, y)")
    middle = 1 - sum(accuracy.interval) / 2
    before = open_ledger.budget.account.checks
    open_ledger.check("avg(a <> y)", at_most=middle)
    assert open_ledger.budget.account.checks == before + 1


def test_of_a_claim_that_is_half_implied_only_the_other_side_is_tested(
    open_ledger: Holdout, tmp_path: Path
) -> None:
    share = open_ledger.ask("avg(late)", tolerance=0.1)
    guess, reach = share.interval.high - 0.04, 0.06  # its upper end is known, its lower is not
    found = open_ledger.check("avg(late)", guess, tolerance=reach)
    look = found.parts[0]
    assert look.claim is not None
    assert list(look.claim) == pytest.approx([guess - reach, 1.0])
    assert found.status == ("confirmed" if look.status == "confirmed" else "not confirmed")
    assert found.interval.high <= share.interval.high
    again = open_ledger.check("avg(late)", guess, tolerance=reach)
    assert (again.receipt, again.cost) == (found.receipt, 0.0)
    open_ledger.close()
    assert is_sound(tmp_path)


def test_free_claims_go_on_where_the_budget_is_closed(open_ledger: Holdout, tmp_path: Path) -> None:
    open_ledger.ask("accuracy(a, y)")
    open_ledger.final(["avg(late)"])
    assert open_ledger.check("avg(a <> y)", 0.01, tolerance=0.05).status == "confirmed"
    open_ledger.end.retire(why="done")
    with pytest.raises(holdfast.HoldfastError, match="retired"):
        open_ledger.check("avg(a <> y)", 0.02, tolerance=0.05)
    open_ledger.close()
    assert is_sound(tmp_path)


def test_a_share_follows_from_those_of_its_conditions(open_ledger: Holdout, tmp_path: Path) -> None:
    a, late = open_ledger.ask("avg(a = y)"), open_ledger.ask("avg(late)")
    both = open_ledger.check("avg(late and a = y)", at_most=late.interval.high)
    assert (both.status, both.cost, both.recorded.known) == ("confirmed", 0.0, (1, 2))
    assert both.interval.high == late.interval.high
    low = a.interval.low + late.interval.low - 1
    assert open_ledger.gate("avg(a = y and late)", at_least=low - 0.001).recorded.known == (1, 2)
    either = open_ledger.gate("avg(late or a = y)", at_least=a.interval.low - 0.001)
    assert (either.status, either.cost, either.recorded.known) == ("shown", 0.0, (1,))
    # Of a third condition nothing was told: all three may hold nowhere, and one of them anywhere.
    three = open_ledger.check("avg(late and a = y and b = y)", at_most=late.interval.high)
    assert (three.status, three.cost) == ("confirmed", 0.0)
    before = open_ledger.budget.account.checks
    open_ledger.check("avg(late and a = y and b = y)", at_least=low - 0.001)
    open_ledger.check("avg(late or c = y)", at_most=late.interval.high)
    assert open_ledger.budget.account.checks == before + 2
    open_ledger.close()
    assert is_sound(tmp_path)


def test_in_every_small_world_what_conditions_imply_is_true(open_ledger: Holdout) -> None:
    """Shares of the four kinds of rows on a grid, each condition's told up to a tenth."""
    first, second = open_ledger.ask("avg(late)"), open_ledger.ask("avg(y)")
    desk = desk_of(open_ledger)
    implications = Implications(desk.ground, lambda: desk.table)
    questions = {op: bind(f"avg(late {op} y)", desk.table) for op in ("and", "or")}
    looks = [each.recorded.look for each in (first, second)]
    assert looks == [1, 2]
    twin = 0
    for world in product(range(7), repeat=3):
        rest = 6 - sum(world)
        if rest < 0:
            continue
        both, one, other = (each / 6 for each in world)
        told = [
            replace(look, interval=Interval(max(0.0, share - 0.1), min(1.0, share + 0.1)))
            for look, share in zip(
                desk.transcript.answers[:2], (both + one, both + other), strict=True
            )
        ]
        released = NamedLooks(told)
        for op, truth in (("and", both), ("or", both + one + other)):
            implied = implications.of(questions[op], released)
            assert implied is not None
            assert implied.interval is not None
            assert implied.interval.low - 1e-12 <= truth <= implied.interval.high + 1e-12
            product_of_both = (both + one) * (both + other)  # as if they were independent
            twin += op == "and" and abs(product_of_both - truth) > 0.2
    assert twin > 0


def test_gates_that_were_shown_one_after_another_show_a_third(
    open_ledger: Holdout, tmp_path: Path
) -> None:
    for better, worse in ("ab", "bc"):
        found = open_ledger.gate(f"difference({better} = y, {worse} = y)", at_least=0.05)
        assert found.status == "shown"
    before = standing(open_ledger)
    watch(open_ledger, untouchable)
    price = open_ledger.cost(PAIR, at_least=0.09, gate=True)
    assert price.follows == (1, 2)
    third = open_ledger.gate(PAIR, at_least=0.09)
    assert (third.status, third.cost, third.recorded.known) == ("shown", 0.0, (1, 2))
    turned = open_ledger.gate("difference(c = y, a = y)", at_most=-0.09)
    assert (turned.status, turned.cost) == ("shown", 0.0)
    other = open_ledger.gate("difference(c = y, a = y)", at_least=0.0)
    assert (other.status, other.cost) == ("not shown", 0.0)
    assert standing(open_ledger) == before
    open_ledger.close()
    assert is_sound(tmp_path)


# Traps, each with a twin that goes wrong.


def test_closer_on_more_rows_is_never_chained(tmp_path: Path) -> None:
    # Errors of three models in turn: each is closer than the next on two of three rows.
    errors = np.array([[1, 2, 3], [3, 1, 2], [2, 3, 1]]).repeat(600, axis=0)
    table = pl.DataFrame({name: errors[:, place] / 4 for place, name in enumerate("abc")})
    bounds = dict.fromkeys("abc", (0.0, 1.0))

    def closer(first: str, second: str) -> str:
        return f"difference({first} < {second}, {second} < {first})"

    with opened(tmp_path, table, schema=bounds, tolerance=0.2, questions=20) as holdout:
        for better, worse in ("ab", "bc"):
            assert holdout.gate(closer(better, worse), at_least=0.0).status == "shown"
        third = holdout.gate(closer("a", "c"), at_least=0.0)
        assert (third.status, third.recorded.known) == ("not shown", ())
        assert holdout.gate(closer("c", "a"), at_least=0.0).status == "shown"  # the other way
    # The twin names candidates instead of scores, and shows what is false.
    twin = ShownGates.of([("a", "b", 0.0), ("b", "c", 0.0)])
    assert twin.shows("a", "c")


def holes() -> pl.DataFrame:
    """Two conditions of which one is missing exactly where that matters."""
    first = [True] * 500 + [False] * 500 + [None] * 1_000
    second = [True] * 500 + [False] * 500 + [True] * 1_000
    return pl.DataFrame({"p": first, "q": second})


def test_missing_rows_imply_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(tmp_path, holes(), described="exact", tolerance=0.1, questions=40) as holdout:
        holdout.ask("avg(p)")
        holdout.ask("avg(q)")
        desk = desk_of(holdout)
        difference = bind("difference(p, q)", desk.table)
        assert desk.implied(difference) is None
        for text in ("avg(p and q)", "avg(p or q)"):  # each of the rows where that is known
            assert desk.implied(bind(text, desk.table)) is None
        answer = holdout.ask("difference(p, q)")  # in the rows that have both: 0
        assert 0.0 in answer.interval

        sides = tuple(bind(f"avg({name})", desk.table) for name in "pq")
        monkeypatch.setattr(SIDES_OF_DIFFERENCE, lambda *_: sides)
        twin = Implications(desk.ground, lambda: desk.table)
        wrong = twin.of(difference, NamedLooks(desk.transcript.answers[:2]))
        assert wrong is not None
        assert wrong.interval is not None
        assert 0.0 not in wrong.interval  # the twin implies what is false


@pytest.mark.parametrize("resumed", [False, True])
def test_quantiles_of_a_group_are_audited(tmp_path: Path, resumed: bool) -> None:
    """A group of any condition, of whose quantiles only a description tells."""
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({"x": rng.random(ROWS), "late": rng.random(ROWS) < 0.4})
    declared: dict[str, Any] = {"described": "exact", "schema": {"x": (0, 1)}}
    asked = ["avg(late)", "median(x) where late", "quantile(x, 0.9) where late"]
    for texts in [[text] for text in asked] if resumed else [asked]:
        with opened(tmp_path, frame, **declared) as holdout:
            for text in texts:
                holdout.ask(text)
            last = desk_of(holdout).implied(bind("avg(x > 0.2) where late", desk_of(holdout).table))
    assert last is not None
    assert last.interval is not None
    assert last.interval.low >= 0.5  # as the median is above 0.2
    assert is_sound(tmp_path)


def infinite() -> pl.DataFrame:
    """Two numbers that are infinite in the same 400 rows of 1,000, and two that never are."""
    u = [math.inf] * 800 + [1.0] * 200
    v = [math.inf] * 400 + [0.0] * 600
    whole = list(range(1_000))
    y = [0.0] * 400 + [1.0] * 600
    return pl.DataFrame({"u": u, "v": v, "m": whole, "k": whole[::-1], "y": y})


def test_rows_that_infinities_leave_undefined_imply_nothing(tmp_path: Path) -> None:
    """In inf - inf neither a condition holds nor its opposite, and no value is missing."""
    y = {"y": (0, 1)}
    with opened(tmp_path, infinite(), described="exact", questions=40, schema=y) as holdout:
        assert 0.6 in holdout.ask("avg(u - v > 0)").interval
        answer = holdout.check("avg(u - v <= 0)", at_least=0.2)
        assert answer.status == "not confirmed"
        assert 0.0 in answer.interval
        assert not answer.recorded.known
        for text in ("avg(y) where u - v > 0", "avg(y) where not (u - v > 0)", "avg(u * 0 = 0)"):
            holdout.ask(text)
        answer = holdout.ask("avg(y)")
        assert not answer.recorded.contradict
        assert not answer.recorded.known
        assert not holdout.ask("avg(u * 0 <> 0)").recorded.known
        above = holdout.ask("avg(m - k > 0)")  # whole numbers are finite
        assert holdout.ask("avg(m - k <= 0)").recorded.known == (above.recorded.look,)
    assert is_sound(tmp_path)


Change = Callable[[list[Body]], None]


def _line_of(bodies: list[Body]) -> Body:
    """The last line that was told."""
    line: Body = bodies[-1]["lines"][-1]
    return line


def _narrower(bodies: list[Body]) -> None:
    low, high = _line_of(bodies)["interval"]
    _line_of(bodies)["interval"] = [low + (high - low) / 4, high]


def _from_a_look_that_is_not_there(bodies: list[Body]) -> None:
    _line_of(bodies)["known"] = [1, 9]


def _from_another_question(bodies: list[Body]) -> None:
    _line_of(bodies)["known"] = [1, 3]


def _from_nothing(bodies: list[Body]) -> None:
    del _line_of(bodies)["known"]


def _from_itself(bodies: list[Body]) -> None:
    _line_of(bodies)["known"] = [4]


def _unsaid(bodies: list[Body]) -> None:
    _line_of(bodies)["contradict"] = True


@pytest.mark.parametrize(
    "change",
    [
        _narrower,
        _from_a_look_that_is_not_there,
        _from_another_question,
        _from_nothing,
        _from_itself,
        _unsaid,
    ],
)
def test_a_line_is_audited_from_the_looks_it_names(
    open_ledger: Holdout, tmp_path: Path, change: Change
) -> None:
    for question in ("avg(a = y)", "avg(c = y)", "avg(late)", PAIR):
        open_ledger.ask(question)
    open_ledger.close()
    path = tmp_path / "t.ledger"
    assert forged(path, lambda _: None) == []
    assert forged(path, change)


def test_a_look_that_was_reserved_and_not_released_implies_nothing(
    open_ledger: Holdout, tmp_path: Path
) -> None:
    open_ledger.ask("avg(c = y)")
    watch(open_ledger, crash)
    with pytest.raises(Crash):
        open_ledger.ask("avg(a = y)")  # computed, perhaps, and never told
    desk = desk_of(open_ledger)
    assert desk.implied(bind("avg(a = y)", desk.table)) is None
    assert desk.implied(bind(PAIR, desk.table)) is None
    open_ledger.close()
    assert is_sound(tmp_path)


def test_contradictions_imply_nothing_and_are_told(open_ledger: Holdout) -> None:
    share = open_ledger.ask("avg(late)").recorded
    desk = desk_of(open_ledger)
    question = bind("avg(late)", desk.table)
    false = replace(share, look=2, interval=Interval(0.9, 0.95))
    implications = Implications(desk.ground, lambda: desk.table)
    both = implications.of(question, NamedLooks([share, false]))
    assert both is not None
    assert (both.interval, both.looks) == (None, (1, 2))
    found = Followed(Joined(0.5, Interval(0.4, 0.6)), [share], [])
    for implied in (both, implications.of(question, NamedLooks([false]))):
        told = intersected(found, implied, question)
        assert (told.joined, told.contradict) == (found.joined, True)
    line = replace(share, known=(1, 2), contradict=True)
    assert line.known_text == (
        "looks 1, 2 contradict each other or this answer, so that nothing is implied"
    )
    assert isinstance(bind(PAIR, desk.table), Paired)


def test_an_effect_in_these_rows_and_means_of_the_population_say_nothing_of_each_other(
    tmp_path: Path,
) -> None:
    """Both arms' means are about the population, the effect of drawn arms about these rows."""
    rng = np.random.default_rng(8)
    arm = rng.choice(["control", "treated"], 2_000)
    frame = pl.DataFrame(
        {"arm": arm, "well": rng.random(2_000) < np.where(arm == "treated", 0.7, 0.5)}
    )
    schema = {"arm": {"values": ["control", "treated"]}}
    effect, family = "effect(well, arm)", ["avg(well) by arm"]
    declared: dict[str, Any] = {"schema": schema, "planned": family, "arm": "arm"}
    with holdfast.open(
        frame, ledger=tmp_path / "before.ledger", randomised="coins", **declared
    ) as before:
        alone = before.ask(effect)
        means = [before.ask(f"avg(well) where arm = '{name}'") for name in ("control", "treated")]
    with holdfast.open(
        frame, ledger=tmp_path / "after.ledger", randomised="coins", **declared
    ) as after:
        for name in ("control", "treated"):
            after.ask(f"avg(well) where arm = '{name}'")
        assert after.ask(effect).interval == alone.interval
    assert all(mean.recorded.known == () for mean in means)
