"""Arguments are checked where they enter: what passes, what is refused, and what the text says."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given, strategies as st

from holdfast import require
from holdfast.errors import HoldfastError, InvalidArgument

Check = Callable[[str, object], float]
CHECKS: dict[str, Check] = {
    "finite": require.finite,
    "positive": require.positive,
    "non_negative": require.non_negative,
    "at_least": partial(require.at_least, least=1.0),
    "between": partial(require.between, low=0.0, high=1.0),
    "probability": require.probability,
    "log_probability": require.log_probability,
    "integer_at_least": partial(require.integer_at_least, least=1),
    "positive_integer": require.positive_integer,
}
each_check = pytest.mark.parametrize("name", CHECKS)


@each_check
@pytest.mark.parametrize(
    "value", [math.nan, math.inf, -math.inf, True, "0.5", None, 1j, [0.5], Decimal("0.5"), 10**400]
)
def test_what_is_no_finite_number_is_refused_everywhere(name: str, value: object) -> None:
    with pytest.raises(InvalidArgument, match="size is "):
        CHECKS[name]("size", value)


@pytest.mark.parametrize(
    ("name", "accepted", "refused"),
    [
        ("finite", [-1e308, 0, 1e308, Fraction(1, 4)], []),
        ("positive", [5e-324, 1, 1e308], [0, 0.0, -0.0, -1]),
        ("non_negative", [0, -0.0, 2.5], [-5e-324, -1]),
        ("at_least", [1, 1.0, 7.5], [math.nextafter(1, 0), 0]),
        ("between", [0, 0.5, 1], [-5e-324, math.nextafter(1, 2)]),
        ("probability", [5e-324, 0.5, math.nextafter(1, 0)], [0, 1, -0.5, 2]),
        ("log_probability", [0, -1000, -1e308], [5e-324, 1]),
        ("integer_at_least", [1, 500.0, np.int64(7), 10**30], [0, 0.5, 1.5, -3]),
        ("positive_integer", [1, 500.0, np.int64(7), 10**30], [0, 0.5, 1.5, -3]),
    ],
)
def test_ranges(name: str, accepted: list[float], refused: list[float]) -> None:
    for value in accepted:
        assert CHECKS[name]("size", value) == value
    for value in refused:
        with pytest.raises(InvalidArgument, match="size is "):
            CHECKS[name]("size", value)


@pytest.mark.parametrize(
    ("open_low", "open_high", "inside", "outside"),
    [
        (False, False, [2, 3], [1.9, 3.1]),
        (True, False, [2.1, 3], [2, 3.1]),
        (False, True, [2, 2.9], [1.9, 3]),
        (True, True, [2.1, 2.9], [2, 3]),
    ],
)
def test_open_and_closed_ends(
    open_low: bool, open_high: bool, inside: list[float], outside: list[float]
) -> None:
    check = partial(require.between, low=2, high=3, open_low=open_low, open_high=open_high)
    for value in inside:
        assert check("t", value) == value
    brackets = f"{'(' if open_low else '['}2, 3{')' if open_high else ']'}"
    for value in outside:
        with pytest.raises(InvalidArgument) as caught:
            check("t", value)
        assert str(caught.value) == f"t is {value!r}; it must be in {brackets}."


@pytest.mark.parametrize(
    ("check", "value", "text"),
    [
        ("positive", -2, "rows is -2; it must be a finite number above 0."),
        ("non_negative", -2.5, "rows is -2.5; it must be a finite number, 0 or above."),
        ("at_least", 0.5, "rows is 0.5; it must be a finite number, 1 or above."),
        ("probability", 1.5, "rows is 1.5; it must be in (0, 1)."),
        ("positive_integer", 2.5, "rows is 2.5; it must be a whole number, 1 or above."),
        (
            "log_probability",
            0.5,
            "rows is 0.5; it must be the natural logarithm of a probability: "
            "a finite number, 0 or below.",
        ),
        ("finite", math.nan, "rows is nan; it must be a finite number."),
    ],
)
def test_the_text_names_argument_value_and_range(check: str, value: float, text: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        CHECKS[check]("rows", value)
    assert str(caught.value) == text
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, HoldfastError)


@given(value=st.integers(-(10**30), 10**30), least=st.integers(-(10**6), 10**6))
def test_whole_numbers_stay_exact(value: int, least: int) -> None:
    """Integers are not sent through floats, which would round those beyond 2^53."""
    if value >= least:
        checked = require.integer_at_least("n", value, least)
        assert checked == value
        assert isinstance(checked, int)
    else:
        with pytest.raises(InvalidArgument):
            require.integer_at_least("n", value, least)


@given(value=st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_come_back_as_floats(value: float) -> None:
    for same in (value, np.float64(value)):
        checked = require.finite("x", same)
        assert checked == value
        assert type(checked) is float


def test_a_failure_probability_is_not_taken_for_a_confidence_level() -> None:
    for level in (0.5, 0.8, 0.95, 0.999999):
        assert require.confidence_level(level) == level
    for level, meant in ((0.05, "0.95"), (0.001, "0.999"), (0.49, "0.51")):
        with pytest.raises(InvalidArgument, match=rf"level is .*; did you mean {meant}\?"):
            require.confidence_level(level)
    for level in (0.0, 1.0, 95, -0.05):
        with pytest.raises(InvalidArgument, match=r"must be in \(0, 1\)"):
            require.confidence_level(level)


def test_surprises_are_some_of_the_declared_questions() -> None:
    assert require.surprises(None, None) is None
    assert require.surprises(0, 5) == 0
    assert require.surprises(5, 5) == 5
    for surprises, questions, words in (
        (1, None, "questions is not declared"),
        (6, 5, "cannot be more surprises"),
        (-1, 5, "surprises is -1"),
        (0.5, 5, "surprises is 0.5"),
    ):
        with pytest.raises(InvalidArgument, match=words):
            require.surprises(surprises, questions)


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (1.1 * 3, "3.3"),
        (1.0000000000000002, "1.0000000000000002"),  # what is wrong with it is the last digit
        (-1e-17, "-1e-17"),
        (math.nan, "nan"),
        (math.inf, "inf"),
    ],
)
def test_a_number_that_is_refused_is_shown_as_people_write_it(number: float, shown: str) -> None:
    with pytest.raises(InvalidArgument, match=f"x is {re.escape(shown)}; "):
        require.between("x", number, 0.0, 1.0)
