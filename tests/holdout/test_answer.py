"""An answer is a float that carries its interval, its cost and what it rests on."""

from __future__ import annotations

import copy
import json
import math
import pickle
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

import holdfast
from holdfast.holdout.answer import Answer
from holdfast.holdout.holdout import Holdout
from holdfast.ledger.view import LedgerView
from holdfast.mechanisms.mechanism import in_unit, in_unit_outwards
from holdfast.theory.base.intervals import Interval
from tests.holdout.tables import LATE


@pytest.fixture
def answer(holdout: Holdout) -> Answer:
    return holdout.check(LATE, guess=0.24, why="<b>baseline</b>")


def test_it_behaves_as_a_float(answer: Answer) -> None:
    assert isinstance(answer, float)
    assert answer == 0.24
    assert answer + 1 == 1.24
    assert 0.2 < answer < 0.3
    assert f"{answer:.1%}" == "24.0%"
    assert round(answer, 1) == 0.2
    assert math.sqrt(answer) == math.sqrt(0.24)
    assert np.mean([answer, answer]) == 0.24
    assert hash(answer) == hash(0.24)
    assert json.dumps(answer) == "0.24"
    assert type(answer * 2) is float


def test_it_says_what_was_promised(answer: Answer) -> None:
    text = str(answer)
    assert text == repr(answer) == f"{answer}"
    left = f"{answer.left.questions_left} questions left"
    together = "400 rows · all answers together 95 % sure"
    assert text == f"confirmed 0.24 [0.13, 0.35] · {together} · {left}"
    assert answer.details.startswith(f"question 1 · cost {answer.cost:.5g} nats · {left} · ")
    assert answer.assumes == "independent rows"
    assert re.fullmatch("[0-9a-f]{64}", answer.receipt)


def test_its_html_is_escaped(holdout: Holdout) -> None:
    html = holdout.ask("avg(origin = '<script>')")._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "all answers together 95 % sure" in html
    assert "independent rows" in html


def test_the_session_explained_is_shown_as_lines(holdout: Holdout) -> None:
    answer = holdout.ask("avg(origin = '<script>')")
    explained = holdout.explain()
    assert repr(explained) == explained  # no quotes, and no backslashes for the ends of lines
    page = explained._repr_html_()
    assert page.startswith("<pre")
    assert page.count("\n") == explained.count("\n")
    assert "&lt;script&gt;" in page
    assert "<script>" not in page
    assert answer.question in explained


def test_its_html_says_the_verdict_too(holdout: Holdout) -> None:
    difference = holdfast.difference("late", "origin = 'JFK'", better="higher")
    answer = holdout.ask(difference)
    assert answer.verdict is not None
    assert str(answer).startswith(f"{answer.verdict}: ")
    assert f"{answer.verdict}: " in answer._repr_html_()


def test_a_difference_that_excludes_0_is_seen_to(holdout: Holdout, answer: Answer) -> None:
    """Recorded [0.0051, 0.2313] is above 0 wherever it is written, and never [0.00, 0.24]."""
    recorded = replace(
        answer.recorded,
        question="difference(late, origin = 'JFK')",
        status="answered",
        value=0.117,
        interval=Interval(0.0051, 0.2313),
        range=Interval(-1.0, 1.0),
        guess=None,
        claim=None,
    )
    told = Answer(recorded, answer.left)
    assert str(told).startswith("0.12 [0.0051, 0.24] above 0 · ")
    assert "0.12 [0.0051, 0.24] above 0" in told._repr_html_()
    view = LedgerView((recorded,), (recorded,), "together", 400, holdout.schema)
    assert "[0.0051, 0.24] above 0" in view.to_text()
    mirrored = replace(recorded, value=-0.117, interval=Interval(-0.2313, -0.0051))
    assert str(Answer(mirrored, answer.left)).startswith("-0.12 [-0.24, -0.0051] below 0 · ")
    both = replace(recorded, interval=Interval(-0.0051, 0.2313))
    assert str(Answer(both, answer.left)).startswith("0.12 [-0.01, 0.24] · ")
    other = replace(recorded, question=LATE)
    assert str(Answer(other, answer.left)).startswith("0.12 [0.0051, 0.24] · ")


def test_every_surface_writes_intervals_beside_their_bounds() -> None:
    """`Recorded.interval_text` knows the declared range; the interval alone does not."""
    source = Path(holdfast.__file__).parent
    alone = re.compile(r"(str\(\w+(\.\w+)*\.interval\)|\{\w+(\.\w+)*\.interval\})")
    found = [path for path in source.rglob("*.py") if alone.search(path.read_text("utf-8"))]
    assert [path.name for path in found] == ["standings.py"]  # where it is a text already


def test_its_facts_can_be_written_as_json(answer: Answer) -> None:
    facts = json.loads(json.dumps(answer.to_dict(), allow_nan=False))
    assert facts["value"] == 0.24
    assert (facts["low"], facts["high"]) == answer.interval
    assert facts["simultaneous"] is True
    assert facts["confidence_level"] == 0.95
    assert facts["status"] == "confirmed"
    assert facts["cost"] == answer.cost > 0
    assert facts["questions_left"] == answer.left.questions_left
    assert facts["why"] == "<b>baseline</b>"
    assert (facts["bits"], facts["n"], facts["n_most"]) == (None, 400, 400)
    assert (answer.bits, answer.n) == (None, 400)


@pytest.mark.parametrize("repeated", [False, True])
def test_it_survives_copies(holdout: Holdout, answer: Answer, repeated: bool) -> None:
    kept = holdout.ask(LATE) if repeated else answer
    for again in (pickle.loads(pickle.dumps(kept)), copy.copy(kept), copy.deepcopy(kept)):
        assert type(again) is Answer
        assert again == kept
        assert again.to_dict() == kept.to_dict()
        assert again.status == ("repeated" if repeated else "confirmed")


def test_what_is_left_is_counted_after_it(holdout: Holdout) -> None:
    first, second = holdout.ask(LATE), holdout.ask("avg(x)")
    assert first.left.asked == 1
    assert second.left.asked == 2
    assert second.left.nats == pytest.approx(first.cost + second.cost)


units = st.floats(-1e9, 1e9)


@given(low=units, high=units, first=st.floats(-0.1, 1.1), second=st.floats(-0.1, 1.1))
def test_units_are_exact_and_intervals_rounded_outwards(
    low: float, high: float, first: float, second: float
) -> None:
    low, high = sorted((low, high))
    first, second = sorted((first, second))

    def exact(fraction: float) -> Fraction:
        part = Fraction(min(1.0, max(0.0, fraction)))
        return Fraction(low) + (Fraction(high) - Fraction(low)) * part

    found = in_unit_outwards(Interval(first, second), low, high)
    assert low <= found.low <= exact(first)
    assert exact(second) <= found.high <= high
    for end, truth in ((found.low, exact(first)), (found.high, exact(second))):
        assert abs(Fraction(end) - truth) <= Fraction(math.ulp(end)) or end in (low, high)
    assert in_unit(0.0, low, high) == low
    assert in_unit(1.0, low, high) == high
    assert found.low <= in_unit(first, low, high) <= found.high
