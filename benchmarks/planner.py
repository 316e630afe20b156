"""The cost of a plan must not grow with the number of questions."""

from __future__ import annotations

import holdfast
from benchmarks.measure import Row, compare


def rows() -> list[Row]:
    return [
        compare(
            "plan, 10,000,000 questions",
            lambda: holdfast.plan(rows=10**8, questions=10**7),
            "plan, 10,000 questions",
            lambda: holdfast.plan(rows=10**8, questions=10**4),
            at_most=4.0,
            repeats=3,
        )
    ]
