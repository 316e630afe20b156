"""How numbers are written for people, the same everywhere."""

from __future__ import annotations

__all__ = ["among_rows", "percent", "plural"]


def plural(number: int, one: str, many: str | None = None) -> str:
    """1 question, 1,000 questions; `many` where it takes more than an s."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def among_rows(used: tuple[int, int], rows: int) -> str:
    """163,673 rows; of a group 54,473 of 163,673 rows, where it is rounded 54,000 to 55,000."""
    least, most = used
    if least == rows:
        return plural(rows, "row")
    some = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    return f"{some} of {plural(rows, 'row')}"


def percent(level: float) -> str:
    """0.95 as 95 %, 0.999 as 99.9 %."""
    return f"{100 * level:.10g} %"
