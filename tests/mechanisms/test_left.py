"""As many questions are answered as are said to be left: at the opening, and after every answer."""

from __future__ import annotations

from contextlib import suppress

import pytest

from holdfast.errors import Refused
from holdfast.mechanisms.bounded_noise import BOUNDED
from holdfast.mechanisms.leakage import Leakage
from holdfast.mechanisms.mechanism import Wish
from holdfast.question.row import GRID
from tests.mechanisms.fake import NUMBER, Session, independent, of_units
from tests.mechanisms.vectors import BY_LAPLACE, GAUSSIAN


@pytest.mark.parametrize("by", [BOUNDED, GAUSSIAN, BY_LAPLACE], ids=lambda each: each.name)
@pytest.mark.parametrize("questions", [None, 12, 200])
@pytest.mark.parametrize(("rows", "tolerance"), [(900, 0.15), (2_000, 0.06), (2_000, 0.1)])
def test_as_many_are_answered_as_are_left(
    by: Leakage, questions: int | None, rows: int, tolerance: float
) -> None:
    terms = independent(rows, tolerance=tolerance, questions=questions)
    session, sample = Session(terms), of_units([GRID // 3] * rows)
    foreseen = [by.questions_left(terms, session.account)]
    with suppress(Refused):
        while len(foreseen) <= 100:
            session.put(by, Wish(NUMBER, tolerance), sample)
            foreseen.append(len(foreseen) + by.questions_left(terms, session.account))
    answered = len(foreseen) - 1
    assert foreseen[-1] == answered
    if by is not BOUNDED or questions is not None:  # counted by a formula, where it is undeclared
        assert set(foreseen) == {answered}
    else:
        assert foreseen == sorted(foreseen)
