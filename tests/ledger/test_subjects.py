"""Looks at other thresholds, conditions and groups: found by their subjects, and never false."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from holdfast.holdout.holdout import Holdout
from holdfast.ledger.audit import audit
from holdfast.ledger.entries import Recorded
from holdfast.ledger.implied import Implications, Implied, NamedLooks
from holdfast.ledger.subjects import subjects_of, value_about
from holdfast.question.expression import Op
from holdfast.statistics.bind import bind
from holdfast.statistics.entry import Bound
from holdfast.statistics.quantile import Quantile
from holdfast.theory.base.implied import ThresholdCut
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.safeside import float_above, float_below
from tests.holdout.tables import Crash, crash, opened, untouchable, watch
from tests.ledger.forging import Body, forged
from tests.seam import EXHAUSTIVE_GROUPS, RELATED_LOOKS, SIDES_OF_A_CUT, desk_of

SCHEMA = {"x": (0.0, 100.0), "m": (0.0, 1.0), "g": {"values": ["a", "b"]}}


def rows(many: int = 4_000) -> pl.DataFrame:
    """A number, one with holes, two conditions, and groups of which one was not declared."""
    rng = np.random.default_rng(3)
    holes = rng.random(many)
    return pl.DataFrame(
        {
            "x": rng.random(many) * 100,
            "m": [None if value < 0.2 else value for value in holes.tolist()],
            "late": rng.random(many) < 0.3,
            "far": rng.random(many) < 0.6,
            "g": rng.choice(["a", "b", "c"], many, p=[0.48, 0.48, 0.04]),
        }
    )


@pytest.fixture
def holdout(tmp_path: Path) -> Iterator[Holdout]:
    with opened(
        tmp_path, rows(), described="exact", schema=SCHEMA, tolerance=0.1, questions=40
    ) as made:
        yield made


def is_sound(folder: Path) -> bool:
    return all(finding.fine for finding in audit(folder / "t.ledger"))


def test_asks_are_intersected_with_their_conditions(holdout: Holdout, tmp_path: Path) -> None:
    both = holdout.ask("avg(late and x > 0.5)")  # in about all rows that are late
    late = holdout.ask("avg(late)")
    assert late.interval.low >= both.interval.low
    third = holdout.ask("avg(late and x > 0.5 and far)")
    assert third.interval.high <= both.interval.high
    less = holdout.ask("avg(x > 1 and late)")
    assert (less.recorded.known, less.interval.high) == ((2,), late.interval.high)
    either = holdout.ask("avg(late or x < 0.1)")
    assert (either.recorded.known, either.interval.low) == ((2,), late.interval.low)
    holdout.close()
    assert is_sound(tmp_path)


def test_shares_of_one_value_fall(holdout: Holdout, tmp_path: Path) -> None:
    below = holdout.ask("avg(x < 30)")
    at_most = holdout.ask("avg(x <= 30)")
    assert (at_most.interval.low, at_most.recorded.known) == (below.interval.low, (1,))
    assert "narrower by earlier answers" in str(at_most)
    above = holdout.ask("avg(x > 30.001)")
    assert above.interval.high <= float_above(1 - Fraction(below.interval.low))
    quantile = holdout.ask("quantile(x, 0.6)")
    before = holdout.budget.account.checks, holdout.budget.nats
    watch(holdout, untouchable)
    level = holdout.check(f"avg(x <= {quantile.interval.high + 0.01:.4f})", at_least=0.59)
    assert (level.status, level.cost) == ("confirmed", 0.0)
    lower = holdout.gate("quantile(x, 0.1)", at_most=30.5)
    assert (lower.status, lower.cost) == ("shown", 0.0)
    desk = desk_of(holdout)
    assert desk.implied(bind("avg(x > 99) where late", desk.table)) is None  # of other rows
    assert (holdout.budget.account.checks, holdout.budget.nats) == before
    holdout.close()
    assert is_sound(tmp_path)


def test_what_an_answer_implies_an_audit_comes_to_from_its_text(
    holdout: Holdout, tmp_path: Path
) -> None:
    """Of late rows a quantile is asked by its description, and its text alone does not say it."""
    holdout.ask("quantile(x, 0.9) where late")
    holdout.check("avg(x >= 97) where late", at_least=0.3)
    holdout.ask("avg(x < 30) where late")
    less = holdout.check("avg(x <= 20) where late", at_least=0.6)
    assert (less.status, less.recorded.known) == ("not confirmed", (holdout.budget.account.looks,))
    holdout.close()
    assert is_sound(tmp_path)


def test_of_values_that_may_be_missing_only_shares_say_something(holdout: Holdout) -> None:
    first = holdout.ask("avg(m > 0.5)")
    second = holdout.ask("avg(m <= 0.5)")  # of the same rows: those with a value
    assert second.interval.low == pytest.approx(1 - first.interval.high, abs=1e-12)
    assert holdout.ask("quantile(m, 0.5)").recorded.known == ()
    assert subjects_of(bind("quantile(m, 0.5)", desk_of(holdout).table)) == ()


def test_a_mean_follows_from_groups_that_part_the_rows(holdout: Holdout, tmp_path: Path) -> None:
    for question in ("avg(x) where late", "avg(x) where not late", "avg(late)"):
        holdout.ask(question)
    before = holdout.budget.nats
    watch(holdout, untouchable)
    whole = holdout.check("avg(x)", at_least=40)
    assert (whole.status, whole.cost, whole.recorded.known) == ("confirmed", 0.0, (1, 2, 3))
    assert holdout.budget.nats == before
    holdout.close()
    assert is_sound(tmp_path)


def test_values_that_were_declared_are_not_taken_for_all(holdout: Holdout) -> None:
    for name in "ab":
        holdout.ask(f"avg(x) where g = '{name}'")
        holdout.ask(f"avg(g = '{name}')")
    implied = desk_of(holdout).implied(bind("avg(x)", desk_of(holdout).table))
    assert implied is not None
    assert implied.interval is not None
    # 4 % of the rows, and what the shares leave open, may be at either end of the range.
    assert implied.interval.high - implied.interval.low > 15


def test_rows_of_no_known_group_are_part_of_the_whole(tmp_path: Path) -> None:
    """In half of the rows nobody knows h, and there x is 100: of the others, half are in a."""
    frame = pl.DataFrame(
        {"x": [0.0, 10.0, 100.0, 100.0] * 1_000, "h": ["a", "b", None, None] * 1_000}
    )
    schema = {"x": (0.0, 100.0), "h": {"values": ["a", "b"]}}
    with opened(tmp_path, frame, described="exact", schema=schema, tolerance=0.1) as made:
        for name in "ab":
            made.ask(f"avg(x) where h = '{name}'")
            made.ask(f"avg(h = '{name}')")
        assert desk_of(made).implied(bind("avg(x)", desk_of(made).table)) is None
        whole = made.ask("avg(x)")
        assert (whole.recorded.known, whole.recorded.contradict) == ((), False)
        assert 52.5 in whole.interval
        for name in "ab":
            made.ask(f"avg(coalesce(h = '{name}', false))")
        desk = desk_of(made)
        groups = Implications(desk.ground, lambda: desk.table)
        looks = [look for look in desk.transcript.answers if look.question != whole.question]
        implied = groups.of(bind("avg(x)", desk.table), NamedLooks(looks))
        assert implied is not None  # half of the rows may be anywhere in the range
        assert implied.interval is not None
        assert 52.5 in implied.interval
        assert implied.interval.high < 65
    assert is_sound(tmp_path)


def test_a_share_among_the_late_follows_from_groups_among_the_late(holdout: Holdout) -> None:
    for question in (
        "avg(x > 50) where far and late",
        "avg(x > 50) where late and not far",
        "avg(far) where late",
    ):
        holdout.ask(question)
    found = holdout.check("avg(x > 50) where late", at_least=0.2)
    assert (found.status, found.recorded.known) == ("confirmed", (1, 2, 3))


def test_a_crash_in_the_scan_leaves_the_same_answer(holdout: Holdout, tmp_path: Path) -> None:
    below = holdout.ask("avg(x < 30)")
    sample = watch(holdout, crash)
    with pytest.raises(Crash):
        holdout.ask("avg(x <= 30)")
    charged = holdout.budget.nats
    holdout.close()
    del sample
    assert is_sound(tmp_path)
    with opened(tmp_path, rows()) as resumed:
        found = resumed.ask("avg(x <= 30)")
        assert (found.recorded.known, found.interval.low) == ((1,), below.interval.low)
        assert resumed.budget.nats <= charged
    assert is_sound(tmp_path)


def test_of_a_subject_the_newest_looks_are_read(
    holdout: Holdout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RELATED_LOOKS, 3)
    for constant in (50, 10, 20, 60, 70):
        holdout.ask(f"avg(x > {constant})")
    transcript = desk_of(holdout).transcript
    (subject,) = subjects_of(bind("avg(x > 9)", desk_of(holdout).table))
    assert [look.look for look in transcript.looks_about(subject)] == [3, 4, 5]
    assert holdout.ask("avg(x >= 50)").recorded.known in ((), (3,), (4,), (3, 4))
    holdout.close()
    assert is_sound(tmp_path)
    with opened(tmp_path, rows()) as resumed:
        looks = desk_of(resumed).transcript.looks_about(subject)
        assert [look.look for look in looks] == [4, 5, 6]
        resumed.ask("avg(x > 51)")
        looks = desk_of(resumed).transcript.looks_about(subject)
        assert [look.look for look in looks] == [5, 6, 7]


def test_the_ledger_files_looks_under_their_subjects(holdout: Holdout, tmp_path: Path) -> None:
    holdout.ask("avg(x < 30)")
    holdout.ask("avg(x <= 30)")
    holdout.close()

    def other_subject(bodies: list[Body]) -> None:
        item = next(body for body in bodies if body["kind"] == "reserve/2")["items"][0]
        assert item["subjects"] == ["values of x"]
        item["subjects"] = ["values of m"]

    def no_subject(bodies: list[Body]) -> None:
        """As a ledger of before: nothing is found by it, and nothing follows from it."""
        for body in bodies:
            for item in body.get("items", ()):
                item.pop("subjects", None)

    path = tmp_path / "t.ledger"
    assert forged(path, lambda _: None) == []
    assert forged(path, other_subject)
    assert forged(path, no_subject)  # the second line names what it does not follow from


# Worlds: every one of a few rows, with intervals around its truths.


def around(truth: Fraction, reach: float) -> Interval:
    return Interval(float_below(truth - Fraction(reach)), float_above(truth + Fraction(reach)))


Truth = Callable[[Sequence[tuple[int, str]]], Fraction]


def share(condition: Callable[[int, str], bool]) -> Truth:
    return lambda world: Fraction(sum(condition(*row) for row in world), len(world))


def mean_where(name: str) -> Truth:
    def truth(world: Sequence[tuple[int, str]]) -> Fraction:
        inside = [x for x, g in world if g == name]
        return Fraction(sum(inside), len(inside)) if inside else Fraction(0)

    return truth


def quantile_of(q: Fraction) -> Truth:
    def truth(world: Sequence[tuple[int, str]]) -> Fraction:
        values = sorted(x for x, _ in world)
        return Fraction(
            next(x for x in values if Fraction(sum(y <= x for y in values), len(values)) >= q)
        )

    return truth


TOLD: dict[str, Truth] = {
    "avg(x > 0.5)": share(lambda x, _: x > 0.5),
    "avg(x >= 2)": share(lambda x, _: x >= 2),
    "avg(x < 3)": share(lambda x, _: x < 3),
    "quantile(x, 0.5)": quantile_of(Fraction(1, 2)),
    "avg(x) where g = 'a'": mean_where("a"),
    "avg(x) where g = 'b'": mean_where("b"),
    "avg(g = 'a')": share(lambda _, g: g == "a"),
    "avg(g = 'b')": share(lambda _, g: g == "b"),
    "avg(x > 2 and g = 'a')": share(lambda x, g: x > 2 and g == "a"),
}
FOLLOWING: dict[str, Truth] = {
    "avg(x > 2)": share(lambda x, _: x > 2),
    "avg(x < 2)": share(lambda x, _: x < 2),
    "avg(x >= 1)": share(lambda x, _: x >= 1),
    "quantile(x, 0.75)": quantile_of(Fraction(3, 4)),
    "quantile(x, 0.25)": quantile_of(Fraction(1, 4)),
    "avg(x)": lambda world: Fraction(sum(x for x, _ in world), len(world)),
}


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Holdout]:
    frame = pl.DataFrame({"x": [0, 1, 2, 3] * 500, "g": ["a", "b", "c", "a"] * 500})
    with opened(
        tmp_path,
        frame,
        described="exact",
        schema={"x": (0.0, 3.0), "g": {"values": ["a", "b"]}},
        tolerance=0.2,
    ) as made:
        yield made


def worlds_in_which_something_false_is_implied(holdout: Holdout) -> tuple[int, int]:
    """Of all worlds of two rows: in how many something false is implied, and how often
    something is."""
    for question in TOLD:
        holdout.ask(question)
    desk = desk_of(holdout)
    looks = {look.question: look for look in desk.transcript.answers}
    asked = [looks[bind(question, desk.table).text] for question in TOLD]
    questions = {text: bind(text, desk.table) for text in FOLLOWING}
    false, narrower = 0, 0
    for world in product(product(range(4), "abc"), repeat=2):
        if list(world) != sorted(world):
            continue
        truths = [truth(world) for truth in TOLD.values()]
        told = [
            replace(look, interval=around(truth, 0.125))
            for look, truth in zip(asked, truths, strict=True)
        ]
        implications = Implications(desk.ground, lambda: desk.table)
        for text, truth in FOLLOWING.items():
            implied = implications.of(questions[text], NamedLooks(told))
            if implied is None or implied.interval is None:
                false += implied is not None  # a true world contradicts nothing
                continue
            low, high = implied.interval
            wide = questions[text].high - questions[text].low
            narrower += high - low < wide
            false += not low <= truth(world) <= high
    return false, narrower


def test_in_every_small_world_what_is_implied_is_true(small: Holdout) -> None:
    false, narrower = worlds_in_which_something_false_is_implied(small)
    assert (false, narrower > 200) == (0, True)


def test_sabotage_groups_that_were_declared_are_taken_for_all(
    small: Holdout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(EXHAUSTIVE_GROUPS, lambda _: True)
    assert worlds_in_which_something_false_is_implied(small)[0] > 0


def test_sabotage_at_least_is_taken_for_above(
    small: Holdout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(SIDES_OF_A_CUT, Op.AT_LEAST, (True, False))
    assert worlds_in_which_something_false_is_implied(small)[0] > 0


def test_these_rows_and_the_population_say_nothing_of_each_other(small: Holdout) -> None:
    """A column whose values were made for single keys, with one that is drawn with its row."""
    for question in ("avg(x > 0.5)", "avg(g = 'a')"):
        small.ask(question)
    desk = desk_of(small)
    both = bind("avg(x > 0.5 and g = 'a')", desk.table)
    plain = Implications(desk.ground, lambda: desk.table)
    keyed = Implications(desk.ground, lambda: desk.table, lambda columns: "x" in columns)
    assert plain.of(both, desk.transcript) is not None
    assert keyed.of(both, desk.transcript) is None


def test_no_chain_from_the_population_leads_over_these_rows(holdout: Holdout) -> None:
    """late > (x > 50) > far, where x has values that were made for these rows' keys."""
    for question in ("difference(late, x > 50)", "difference(x > 50, far)"):
        holdout.ask(question)
    desk = desk_of(holdout)
    ends = bind("difference(late, far)", desk.table)
    plain = Implications(desk.ground, lambda: desk.table)
    keyed = Implications(desk.ground, lambda: desk.table, lambda columns: "x" in columns)
    assert plain.of(ends, desk.transcript) is not None
    assert keyed.of(ends, desk.transcript) is None


# Sessions about one value: what is kept between questions is what every look says, read plainly.

ABOUT_ONE_VALUE = [
    *(f"avg(x {op} {c})" for op in ("<", "<=", ">", ">=") for c in (0.5, 1, 1.5, 2)),
    *(f"quantile(x, {q})" for q in (0.25, 0.5, 0.75)),
]
TURNED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}


def threshold_in(text: str) -> tuple[str, float]:
    """The comparison of avg(x > 0.5) and its constant."""
    op, constant = text.removeprefix("avg(x ").removesuffix(")").split()
    return op, float(constant)


def together(sources: Sequence[Implied | None]) -> Implied | None:
    """The intersection by exact numbers; of ends that say as much the first counts."""
    told = [source for source in sources if source is not None]
    intervals = [source.interval for source in told if source.interval is not None]
    if len(intervals) < len(told) or not told:
        return next((source for source in told if source.interval is None), None)
    lows = [Fraction(each.low) for each in intervals]
    highs = [Fraction(each.high) for each in intervals]
    low, high = max(lows), min(highs)
    return Implied(
        Interval(float_below(low), float_above(high)) if low <= high else None,
        told[lows.index(low)].low_from,
        told[highs.index(high)].high_from,
    )


def plainly(question: Bound, looks: Sequence[Recorded], bound: dict[str, Bound]) -> Implied | None:
    """What looks say of a question, each compared with it by exact numbers."""

    def said(text: str) -> list[Implied]:
        return [
            Implied(each.interval, (each.look or 0,), (each.look or 0,))
            for each in looks
            if each.question == text
        ]

    own, turned = value_about(question), None
    assert own is not None
    told: list[tuple[ThresholdCut, Interval, int]] = []
    others: list[tuple[ThresholdCut, Interval, int]] = []
    for each in looks:
        about = value_about(bound[each.question])
        assert about is not None
        if each.question != question.text:
            shares = about.shares(each.interval)
            told += [(cut, share, each.look or 0) for cut, share in shares.items()]
    if isinstance(question, Quantile):
        left = 1 - Fraction(question.level)
        above = [each for each in told if Fraction(each[1].high) <= left]
        below = [each for each in told if Fraction(each[1].low) > left]
        others += [max(below, key=lambda each: Fraction(each[0].constant))] if below else []
        others += [min(above, key=lambda each: Fraction(each[0].constant))] if above else []
    else:
        op, constant = threshold_in(question.text)
        turned = together(said(f"avg(x {TURNED[op]} {constant:g})"))
        if turned is not None and turned.interval is not None:
            low, high = (1 - Fraction(end) for end in turned.interval)
            ends = Interval(float_below(high), float_above(low))
            turned = Implied(ends, turned.high_from, turned.low_from)
        cut = ThresholdCut(Fraction(constant), op in (">", "<="))
        later = [each for each in told if each[0] >= cut]
        earlier = [each for each in told if each[0] <= cut]
        others += [max(later, key=lambda each: Fraction(each[1].low))] if later else []
        others += [min(earlier, key=lambda each: Fraction(each[1].high))] if earlier else []
    following = [Implied(own.within(cut, share), (n,), (n,)) for cut, share, n in others]
    return together([together([*said(question.text), turned]), *following])


def random_look(look: Recorded, question: Bound, rng: np.random.Generator) -> Recorded:
    """A look with an interval around its truth, were x uniform on [0, 4]; now and then beside."""
    left, right = rng.integers(0, 4, 2) / 8
    if isinstance(question, Quantile):
        truth = 4 * question.level
    else:
        op, constant = threshold_in(question.text)
        truth = constant / 4 if op in ("<", "<=") else 1 - constant / 4
    shift = 0.5 if rng.random() < 0.03 else 0.0
    interval = Interval(float(truth) - float(left) + shift, float(truth) + float(right) + shift)
    return replace(look, question=question.text, interval=interval, subjects=subjects_of(question))


def test_what_is_kept_between_questions_is_what_each_look_says(holdout: Holdout) -> None:
    look, table = holdout.ask("avg(x > 0.5)").recorded, desk_of(holdout).table
    bound = {each.text: each for each in (bind(text, table) for text in ABOUT_ONE_VALUE)}
    rng, following, contradicting = np.random.default_rng(11), 0, 0
    for _ in range(2):
        looks: list[Recorded] = []
        kept = Implications(None, lambda: table)
        for number in range(1, 41):
            question = bound[str(rng.choice(list(bound)))]
            looks.append(replace(random_look(look, question, rng), look=number))
            newest = looks[-int(rng.integers(5, 9)) :]
            window = [each for each in newest if rng.random() < 0.97]
            for asked in bound.values():
                found = kept.of(asked, NamedLooks(window))
                assert found == plainly(asked, window, bound)
                following += found is not None and asked.text not in {
                    each.question for each in window
                }
                contradicting += found is not None and found.interval is None
    assert (following > 300, contradicting > 30) == (True, True), (following, contradicting)
