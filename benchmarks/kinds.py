"""The kinds of questions that are measured, and what each is about in an engine's own words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

import holdfast

__all__ = ["COLUMNS", "KINDS", "Above", "Clipped", "Kind", "Term", "in_polars", "in_sql"]

COLUMNS = 4


@dataclass(frozen=True, slots=True)
class Clipped:
    """The average of a column between two ends."""

    column: str
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Above:
    """The share of rows above a number; less that of another column, if there is one."""

    column: str
    limit: float
    less: str | None = None


Term = Clipped | Above


def in_sql(term: Term) -> str:
    """The term as DuckDB, PostgreSQL and Spark read it."""
    match term:
        case Clipped(column, low, high):
            return f"avg(least(greatest({column}, {low}), {high}))"
        case Above(column, limit, str(less)):
            return f"avg(({column} > {limit})::int - ({less} > {limit})::int)"
        case Above(column, limit):
            return f"avg(({column} > {limit})::int)"


def in_polars(term: Term) -> pl.Expr:
    """The term as Polars reads it."""
    match term:
        case Clipped(column, low, high):
            return pl.col(column).clip(low, high).mean()
        case Above(column, limit, str(less)):
            differ = (pl.col(column) > limit).cast(pl.Int8) - (pl.col(less) > limit).cast(pl.Int8)
            return differ.mean()
        case Above(column, limit):
            return (pl.col(column) > limit).mean()


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of question: its text by a number that is new, how it is asked, and what it is of."""

    name: str
    text: Callable[[int], str]
    ask: Callable[[holdfast.Holdout, list[str]], object]
    term: Callable[[int], Term]
    at_most: float
    many: bool = False  # as many of them together as the engine is asked
    binned: bool = False  # needs to know how often values occur, not their sum alone


def _clip(number: int) -> str:
    return f"avg(clip(x{number % COLUMNS}, -{1 + number}.25, 3))"


def _clipped(number: int) -> Term:
    return Clipped(f"x{number % COLUMNS}", -1.25 - number, 3.0)


KINDS = (
    Kind(
        "ask",
        _clip,
        lambda holdout, texts: holdout.ask(texts[0], tolerance=0.4),
        _clipped,
        at_most=1.3,
    ),
    Kind(
        "described share",
        lambda number: f"avg(x0 > {number}e-5)",
        lambda holdout, texts: holdout.ask(texts[0]),
        lambda number: Above("x0", number * 1e-5),
        at_most=1.3,
    ),
    Kind(
        "described mean",
        _clip,
        lambda holdout, texts: holdout.ask(texts[0]),
        _clipped,
        at_most=2.0,
        binned=True,
    ),
    Kind(
        "check",
        lambda number: f"avg(x1 > {number}e-5)",
        lambda holdout, texts: holdout.check(texts[0], guess=0.5, tolerance=0.25),
        lambda number: Above("x1", number * 1e-5),
        at_most=1.3,
    ),
    Kind(
        "gate",
        lambda number: f"difference(x0 > {number}e-5, x1 > {number}e-5)",
        lambda holdout, texts: holdout.gate(texts[0], at_least=0.25),
        lambda number: Above("x0", number * 1e-5, "x1"),
        at_most=1.3,
    ),
    Kind(
        "ask_many",
        _clip,
        lambda holdout, texts: holdout.ask_many(texts, tolerance=0.4),
        _clipped,
        at_most=1.4,
        many=True,
    ),
)
