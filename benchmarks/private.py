"""The same job by OpenDP: many means of one column, each released with noise.

OpenDP hides individuals; its accuracy is about the rows that it has. Holdfast's interval is about
where the rows came from, for all questions together and each chosen after the earlier answers; it
does not hide individuals unless it is asked to. So the table shows two prices for two promises.
"""

from __future__ import annotations

import itertools
import math
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import holdfast
from benchmarks.measure import side_by_side
from benchmarks.page import Line, Scale, Section

ROWS, QUESTIONS, EPSILON, BETA = 100_000, 500, 1.0, 0.05


def released(values: Any, epsilon: float) -> Any:
    """A mean of numbers in [0, 1] with Laplace noise, as OpenDP's own pages make one."""
    import opendp.prelude as dp  # type: ignore[import-not-found,import-untyped,unused-ignore]

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(bounds=(0.0, 1.0), nan=False), size=len(values))
    meter = space, dp.symmetric_distance()
    mean = meter >> dp.t.then_mean()
    return dp.binary_search_chain(
        lambda scale: mean >> dp.m.then_laplace(scale), d_in=2, d_out=epsilon
    )


def lines(scale: Scale) -> Iterator[Line]:
    if find_spec("opendp") is None:
        yield "OpenDP is not installed (`pip install opendp`): it was left out."
        return
    values = np.random.default_rng(1).random(ROWS)
    each = EPSILON / QUESTIONS
    noisy = released(values, each)
    reach = math.log(QUESTIONS / BETA) / (ROWS * each)  # of all Laplace noises together
    numbers = itertools.count()
    with (
        tempfile.TemporaryDirectory() as name,
        holdfast.open(
            pl.DataFrame({"x": values}),
            ledger=Path(name) / "noise.ledger",
            questions=QUESTIONS,
            described="off",
        ) as holdout,
    ):
        found = side_by_side(
            lambda: holdout.ask(f"avg(clip(x, 0, 1 - {next(numbers)}e-6))"),
            lambda: noisy(values),
            scale.repeats,
        )
        width = holdout.opening.terms.tolerance
    yield (
        "OpenDP, Laplace noise",
        f"{found.theirs.clock * 1000:.2f}",
        f"{found.theirs.processor * 1000:.2f}",
        f"{reach:.4f}",
        "of the rows' own mean",
        f"all of them, epsilon {EPSILON:g}",
    )
    yield (
        "Holdfast, `ask`",
        f"{found.ours.clock * 1000:.2f}",
        f"{found.ours.processor * 1000:.2f}",
        f"{width:.4f}",
        "of the population's mean, adaptively",
        "no",
    )


SECTION = Section(
    "opendp",
    "OpenDP on the same job",
    f"""
{QUESTIONS} means of {ROWS:,} numbers in [0, 1], each released with noise, 95 % for all of them
together. Half-widths are what each promises, about different things: OpenDP's of the rows that are
there, under differential privacy of epsilon {EPSILON:g} for all {QUESTIONS}; Holdfast's of the
population that the rows were drawn from, with every question chosen after the earlier answers,
written to a durable ledger.
""",
    ("who", "ms a question", "of the processor", "half-width", "of what", "individuals hidden"),
    lines,
)
