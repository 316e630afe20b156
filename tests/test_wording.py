"""Numbers as people read them: what is kept is never written as less than it is."""

from __future__ import annotations

import pytest

from holdfast.wording import at_most, percent


@pytest.mark.parametrize(
    ("width", "digits", "text"),
    [
        (0.0398412, 4, "0.03985"),
        (0.0884, 2, "0.089"),
        (0.15, 2, "0.15"),
        (0.1 + 0.2, 4, "0.3"),
        (100 * 0.07, 4, "7"),
        (123_401.0, 4, "1.235e+05"),
        (0.0, 4, "0"),
    ],
)
def test_a_half_width_is_rounded_up(width: float, digits: int, text: str) -> None:
    assert at_most(width, digits) == text


def test_only_a_hundred_percent_is_written_as_that() -> None:
    assert [percent(level) for level in (0.95, 0.999, 1.0)] == ["95 %", "99.9 %", "100 %"]
    assert percent(1 - 1e-11) == "99.999999999 %"
    assert percent(1 - 2.0**-53) != "100 %"
