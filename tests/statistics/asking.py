"""Described questions asked of rows in memory, without a ledger."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import polars as pl

from holdfast.data.design import NO_DESIGN, design_of
from holdfast.data.polars import PolarsSample
from holdfast.data.sample import Sample
from holdfast.data.sampling import Independent, Sampling
from holdfast.data.values import columns_with_missing
from holdfast.mechanisms.described import DESCRIBED
from holdfast.mechanisms.mechanism import Wish
from holdfast.mechanisms.noise import Noise
from holdfast.mechanisms.terms import Account, Terms
from holdfast.question.columns import Schema
from holdfast.statistics.description import DescribedQuestion, Prior, described
from holdfast.statistics.rule import Ground, Symbols, Told

BETA = 0.02


def ground_on(
    sample: Sample,
    declared: Mapping[str, Any] | None = None,
    *,
    sampling: Sampling | None = None,
    design: tuple[str, ...] = (),
    rounded: bool = False,
    beta: float = BETA,
) -> Ground:
    """What rules rest on for these rows."""
    missing = dict.fromkeys(columns_with_missing(sample, sample.types), False)
    schema = replace(Schema(sample.types).declare(declared), never_null=missing)
    return Ground(
        sample.n,
        sampling or Independent(),
        Prior(schema),
        math.log(beta),
        design_of(sample, design, sampling or Independent()) if design else NO_DESIGN,
        rounded,
    )


def question_on(ground: Ground, text: str) -> DescribedQuestion:
    """The question with its rule."""
    found = described(ground.prior.read(text), ground)
    assert found is not None, text
    return found


def symbols_of(sample: Sample, question: DescribedQuestion) -> Symbols:
    """What crosses the door for it."""
    terms = Terms(sample.n, 0.1, 0.95, None, Independent())
    offers = DESCRIBED.offer(terms, Account(), [Wish(question, 0.1)])
    (found,) = DESCRIBED.respond(terms, offers, [question], sample, _noise)
    assert isinstance(found, tuple)
    return found


def told(frame: pl.DataFrame, text: str, ground: Ground) -> Told:
    """What is told of it, as fractions of its range."""
    question = question_on(ground, text)
    found = question.rule.decode(symbols_of(PolarsSample(frame), question))
    return found.turned() if question.turned else found


def _noise(number: int) -> Noise:
    return Noise(b"described", str(number))
