"""How numbers are written for people, the same everywhere."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_CEILING, Context, Decimal


def adjusted_text(adjusted: float) -> str:
    """adjusted at most 0.001: three digits, rounded up but for the last bits of its floats."""
    unit = 10.0 ** (math.floor(math.log10(adjusted)) - 2)
    return f"adjusted at most {math.ceil(adjusted / unit - 1e-9) * unit:.3g}"


_FIRST_LINES, _LAST_LINES, _FEWEST_FOLDED = 30, 10, 20


def plural(number: int, singular: str, many: str | None = None) -> str:
    """1 question, 1,000 questions; `many` where it takes more than an s."""
    return f"{number:,} {singular if number == 1 else many or singular + 's'}"


def among_rows(used: tuple[int, int], rows: int, missing: tuple[int, int] = (0, 0)) -> str:
    """163,673 rows; of a group 54,473 of 163,673 rows, where it is rounded 54,000 to 55,000.

    Where some are missing: 4,870 of 5,000 rows, 130 missing.
    """
    lost = missing_rows(missing)
    text = plural(rows, "row")
    if used[0] != rows:
        text = f"{_between(used)} of {text}"
    return f"{text}, {lost}" if lost else text


def folded(lines: Sequence[str], rest: str) -> list[str]:
    """The first and the last lines of a long table, and between them how many there are more."""
    hidden = len(lines) - _FIRST_LINES - _LAST_LINES
    if hidden < _FEWEST_FOLDED:
        return list(lines)
    between = f"... {hidden:,} more: {rest}"
    return [*lines[:_FIRST_LINES], between, *lines[-_LAST_LINES:]]


def missing_rows(missing: tuple[int, int]) -> str:
    """130 missing; where it is rounded 100 to 150 missing, and nothing where there are none."""
    return f"{_between(missing)} missing" if missing[1] else ""


def _between(ends: tuple[int, int]) -> str:
    least, most = ends
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def nth_candidate(number: int, left: int | None) -> str:
    """candidate 1 of 100; candidate 1 where no number was declared."""
    return f"candidate {number:,}" + ("" if left is None else f" of {number + left:,}")


def percent(level: float) -> str:
    """0.95 as 95 %, 0.999 as 99.9 %; 100 % only where it is that."""
    texts = (f"{100 * level:.{digits}g}" for digits in (10, 13, 17))
    return f"{next(text for text in texts if text != '100' or level >= 1.0)} %"


def upwards(width: float) -> str:
    """A half-width in three digits, rounded up: who asks for that much gets it."""
    if not 0.0 < width < math.inf:
        return f"{width:g}"
    unit = 10.0 ** (math.floor(math.log10(width)) - 2)
    return f"{math.ceil(width / unit) * unit:.6g}"


def status_text(status: str) -> str:
    """A status in words: an answer that says nothing has no information."""
    return "no information" if status == "says nothing" else status


def sure(level: float) -> str:
    """all answers together 95 % sure."""
    return f"all answers together {percent(level)} sure"


def at_most(width: float, digits: int = 4) -> str:
    """A half-width that is kept, in few digits: rounded up but for the last bits of its floats."""
    if not 0.0 < width < math.inf:
        return f"{width:g}"
    number = Decimal(f"{width:.13g}")
    return f"{float(Context(prec=digits, rounding=ROUND_CEILING).plus(number)):.{digits}g}"


def points(gain: float) -> str:
    """0.02984 as 3 points: two digits, rounded up, so that what is said is enough."""
    if gain <= 0.0:
        return "0 points"
    unit = 10.0 ** (math.floor(math.log10(100 * gain)) - 1)
    return f"{math.ceil(100 * gain / unit - 1e-9) * unit:.2g} points"
