"""Multiplicative weights on 2^20 cells: a guess and an update, against single passes of NumPy."""

from __future__ import annotations

import numpy as np

from benchmarks.measure import Row, compare
from holdfast.data.sampling import Independent
from holdfast.guessers.guesser import Grounds, Lesson
from holdfast.mechanisms.terms import Terms
from holdfast.papers.multiplicative_weights import MultiplicativeWeights
from holdfast.question.columns import Schema
from holdfast.question.expression import ColumnType
from holdfast.statistics.bind import bind
from holdfast.statistics.entry import Table
from holdfast.statistics.mean import Mean
from holdfast.theory.base.intervals import Interval

COLUMNS = 20  # booleans: 2^20 cells
QUESTIONS = {
    "one column": "avg(b7)",
    "six columns": "avg(b0 and b3 and not b7 or b11 and b15 and b19)",
    "all columns": f"avg({' or '.join(f'b{j} and b{j + 1}' for j in range(0, COLUMNS, 2))})",
}


def rows() -> list[Row]:
    table = Table(Schema({f"b{j}": ColumnType.BOOLEAN for j in range(COLUMNS)}))
    terms = Terms(10**6, 0.01, 0.95, 1_000, Independent())
    guesser = MultiplicativeWeights()
    state = guesser.start(Grounds(terms, table, None, b""))
    found = []
    for which, text in QUESTIONS.items():
        question = bind(text, table)
        if not isinstance(question, Mean):
            raise TypeError("the benchmark asks for means")
        (guess,) = guesser.guess(state, [question])
        low = (guess + 1) / 2
        lesson = Lesson(
            question.text, Interval(0.0, 1.0), low, 0.01, Interval(low, min(1.0, low + 0.01))
        )
        found += [
            compare(
                f"guess, 2^20 cells, {which}",
                lambda question=question: guesser.guess(state, [question]),  # type: ignore[misc]
                "NumPy: the sum of 2^20 products",
                lambda: np.sum(state.weights * state.logs),
                at_most=100.0 if which == "all columns" else 6.0,
                repeats=15,
            ),
            compare(
                f"update, 2^20 cells, {which}",
                lambda lesson=lesson: guesser.learn(state, lesson),  # type: ignore[misc]
                "NumPy: 2^20 exponentials",
                lambda: np.exp(state.logs),
                at_most=80.0 if which == "all columns" else 12.0,
                repeats=9,
            ),
        ]
    return found
