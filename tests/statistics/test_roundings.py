"""Statistics round to the safe side: each rounding made large, one at a time.

Ends of intervals may only move outwards, radii and errors only rise (tests/theory/roundings.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import partial

from holdfast.errors import HoldfastError
from holdfast.statistics.bind import bind
from holdfast.statistics.derived import Derived, Estimate, is_derived
from holdfast.statistics.description import DescribedQuestion, described_answer
from holdfast.statistics.entry import Bound, Table
from holdfast.statistics.rule import Rule, Symbols
from holdfast.statistics.statistic import is_single
from tests.statistics import zoo
from tests.statistics.ruled import GROUNDS, MORE, WHOLE, placed, symbols_of
from tests.theory.roundings import Case, examine

TEXTS = [*zoo.TEXTS, *zoo.ALSO, *MORE]


def cases() -> Iterator[Case]:
    """What follows from parts, what is known of each, and what symbols stand for."""
    for text in TEXTS:
        with suppress(HoldfastError):
            yield from of_question(bind(text, Table(WHOLE)))
    for name in ("alike", "whole", "rounded", "units", "declared"):
        ground = GROUNDS[name]
        for text in TEXTS:
            with suppress(HoldfastError):
                answer = described_answer(ground.prior.read(text), ground)
                if isinstance(answer, DescribedQuestion):
                    yield from of_rule(f"{name}, {text}", answer.rule)


def of_question(question: Bound) -> Iterator[Case]:
    if is_derived(question):
        parts = [each for stage in question.stages for each in stage]
        for low, high in ((0.2, 0.4), (0.3, 0.3), (0.6, 0.9)):
            values = [Estimate(*placed(each, low, low, high)) for each in parts]
            yield case(f"{question.text} {low}", partial(joined, question, values))
        for part in parts:
            yield from of_question(part)
    elif is_single(question):
        for ground in GROUNDS.values():
            run = partial(radius, question, ground.rows, ground.sampling)
            with suppress(HoldfastError):
                yield case(f"{question.text} {ground.sampling}", run)


def of_rule(label: str, rule: Rule) -> Iterator[Case]:
    if hasattr(rule, "half_width"):  # by which it is told what its symbols stand for
        yield case(label, partial(half_width, rule))
        return
    for symbols in symbols_of(rule):
        run = partial(decoded, rule, symbols)
        with suppress(HoldfastError, ValueError):
            yield case(f"{label} {symbols}", run)


def case(label: str, run: partial[tuple[float, ...]]) -> Case:
    return Case(label, run, (1,) * len(run()), 2.0**40, 0.0)


def joined(question: Derived, values: list[Estimate]) -> tuple[float, ...]:
    low, high = question.join(values).interval
    return -low, high


def radius(question: Bound, rows: int, sampling: object) -> tuple[float, ...]:
    assert is_single(question)
    profile = question.concentration(rows, sampling)  # type: ignore[arg-type]
    return question.error, profile.radius(-3.0) * (question.high - question.low)


def half_width(rule: Rule) -> tuple[float, ...]:
    return (rule.half_width,)  # type: ignore[attr-defined]


def decoded(rule: Rule, symbols: Symbols) -> tuple[float, ...]:
    low, high = rule.decode(symbols).interval
    # With another radius the same symbol of a rounded answer stands for another value.
    return (high - low,) if rule.name.startswith("rounded") else (-low, high)


def test_every_rounding_is_to_the_safe_side() -> None:
    faults, found = examine(list(cases()), 1, "statistics/", patience=30)
    assert not faults
    assert len(found) >= 26
