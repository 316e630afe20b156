"""What statistics say of public numbers alone: their rules, what symbols stand for, what follows.

Of every statistic of the zoo and some more, on few rows and many, of every sampling; no table.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import cycle
from typing import Any

from holdfast.data.sampling import Independent, clustered, declared, m_dependent
from holdfast.errors import HoldfastError, InvalidArgument
from holdfast.mechanisms.described import recorded_rule, release_of
from holdfast.question.columns import Schema
from holdfast.question.declaring import Scale
from holdfast.question.expression import ColumnType
from holdfast.statistics.bind import TABLES, bind, short_name
from holdfast.statistics.derived import Estimate, is_derived
from holdfast.statistics.description import (
    DescribedQuestion,
    Prior,
    described_answer,
    floor_of_units,
    is_at_the_floor,
    method_of,
    sure_half_width,
    truth_of,
    units_of,
)
from holdfast.statistics.entry import Bound, Table
from holdfast.statistics.quantile import Quantile
from holdfast.statistics.registry import STATISTICS
from holdfast.statistics.rule import Ground, Rule, Symbols, Told
from holdfast.statistics.statistic import is_single, own_unit
from holdfast.theory.base.intervals import Interval
from holdfast.theory.direct.symbols import STEPS
from tests.mechanisms.offered import Facts, of_call
from tests.statistics import zoo

SCHEMA = Schema(
    zoo.TYPES | {"open": ColumnType.FLOAT, "heavy": ColumnType.FLOAT},
    scales={"open": Scale(2.0), "heavy": Scale(2.0, 0.5)},
    never_null=dict.fromkeys(zoo.TYPES, False),
).declare({**zoo.BOUNDS, "arm": ["A", "B", "C"]})
WHOLE = replace(SCHEMA, never_null={})  # no row misses a value
MORE = [
    "avg(open)",
    "avg(heavy)",
    "avg(x, sigma = 3)",
    "avg(open) where arm = 'A'",
    "avg(open) where arm = 'A', share >= 0.2",
    "avg(open, share >= 0.2) where arm = 'A'",
    "avg(open, sigma = 2, share >= 0.2) where arm = 'A'",
    "difference(avg(open) where arm = 'A', avg(open) where arm = 'B')",
    "difference(open, heavy)",
    "std(open)",
    "variance(open) where arm = 'A'",
    "median(open)",
    "median(x)",
    "median(k) where arm = 'A'",
    "quantile(x, 0.9)",
    "quantile(z, 0.01)",
    "catoni(open, 5)",
    "mcc(new, y)",
    "kappa(new, y)",
    "precision(new, y)",
    "recall(new, y)",
    "auc(p, y) where arm = 'A'",
    "effect(z, arm = 'A')",
    "avg(x) where arm = 'A' and k > 4",
    "avg(no_such)",
    "avg(x",
    "mean(x) by arm",
]
EDGES = [
    *(f"avg(x, sigma = {sigma})" for sigma in (119.9, 120, 120.1)),
    *(f"avg(x, sigma = 1) where arm = 'A'{share}" for share in ("", ", share >= 0.5")),
    *("avg(x, variance <= 90)", "avg(x, variance <= 0)", "avg(x, variance <= -1)"),
    *("avg(open, share >= 0)", "avg(open, share >= 1) where new", "avg(open, b = 1)"),
    *("sum(x, 0)", "sum(z, 1.5)", "sum(z, 1)", "count(x, 5)", "count(new, 1)"),
    *(f"sum(z, {size})" for size in (2**53 - 1, 2**53, 1e300)),
    *(f"rmse(x, z, {cap})" for cap in ("0", "0.0001", "1e400", "9.9999", "12345.6")),
    *("closer(x, k, z, 0)", "r2(k, z, -3, 9, 0)", "r2(k, z, 9, -3, 8)", "r2(k, z, 9, 9, 8)"),
    *("coordinate(0, 3, z, k)", "coordinate(3, 3, z, k)", "coordinate(1, 0, z, k)"),
    *("coordinate_l1(1, -1, z, k)", "coordinate(1, 3, z)", "coordinate(1.5, 3, z, k)"),
    *("geometric_mean(x)", "geometric_mean(p)", "geometric_mean(exp(p))"),
    *("difference(new, old)", "difference(p, new)", "difference(open, x)", "difference(p, p)"),
    *("difference(avg(p), rest)", "difference(median(p), avg(p))", "difference(avg(p), p)"),
    *("effect(z, arm)", "effect(z, new)", "effect(z, site)", "effect(z, k > 4) where arm = 'A'"),
    *("effect(z, p)", "effect(p, 1 = 1)", "auc(y, p)", "auc(p, p)", "auc(p, y, 1)", "kendall(x)"),
    *("kendall(new, old)", "correlation(x, x)", "covariance(x, arm)", "slope(x, 3)"),
    *(f"quantile(x, {level})" for level in (0, 1e-9, 0.5, 1, -0.1)),
    *(f"quantile(k, 0.5, {step})" for step in (0, 1, 0.5, 21, 1e-9)),
    *("quantile(open, 0.5)", "median(arm)", "median(new)", "median(x) where arm = 'no'"),
    *("catoni(x, 0)", "catoni(x, -1)", "catoni(x, 1e-9)", "catoni(x + 1, 5)", "catoni(new, 5)"),
    *("log_loss(p, y)", "log_loss(x, y)", "log_loss(p, p)", "brier(x, y)", "brier(y, p)"),
    *("f1(p, y)", "f1(new, p)", "balanced_accuracy(x, y)", "accuracy(x, z)", "error(arm, arm)"),
    *("avg(arm)", "avg('a')", "avg(3)", "avg(1 = 1)", "avg(p) where p", "avg(p) where 1 = 1"),
    *(
        "avg(p) where arm in ('A', 'B', 'C')",
        "avg(p) where not new",
        "avg(case when new then 1 end)",
    ),
    *(
        "histogram(x, 0, 10, 20)",
        "histogram(x, 10)",
        "histogram(x, 10, 10)",
        "histogram(x, 20, 10)",
    ),
    *("distribution(x)", "distribution(x, 5)", "distribution(k)", "avg(p) by arm", "avg(p) by x"),
    *("std(open) where new", "variance(heavy)", "std(p)", "variance(new)", "std(3)"),
    *(
        f"{name}({', '.join(['p'] * many)})"
        for name in (*STATISTICS, *TABLES, "mean", "proportion")
        for many in range(8)
    ),
]
LEVEL = math.log(0.02)
GROUNDS: dict[str, Ground] = {
    name: Ground(rows, sampling, Prior(schema), LEVEL, **others)
    for name, rows, schema, sampling, others in (
        ("alike", 400, SCHEMA, Independent(), {}),
        ("whole", 5_000, WHOLE, Independent(), {"generation": 2}),
        ("few", 7, WHOLE, Independent(), {}),
        ("rounded", 5_000, WHOLE, Independent(), {"rounded": True}),
        ("rounded, missing", 400, SCHEMA, Independent(), {"rounded": True}),
        ("these items", 5_000, WHOLE, Independent(), {"for_these_items": True}),
        ("contained", 5_000, WHOLE, Independent(), {"contains_means": True}),
        ("dependent, missing", 400, SCHEMA, m_dependent(2), {}),
        ("units", 5_000, WHOLE, clustered("site", largest=4, units=2_000), {}),
        (
            "within units",
            5_000,
            WHOLE,
            clustered("site", largest=4, units=2_000, differences="within"),
            {},
        ),
        ("fixed units", 5_000, SCHEMA, clustered("site", sizes="fixed", size=2.5), {}),
        ("declared", 5_000, WHOLE, declared(sigma=0.01), {"rounded": True}),
    )
}


def rules() -> Facts:
    """The rule of every statistic on every ground, and what its symbols stand for."""
    for name, ground in GROUNDS.items():
        for text in [*zoo.TEXTS, *MORE]:
            yield from _rule(f"{name}, {text.partition('(')[0]};{text}", text, ground)


def _rule(label: str, text: str, ground: Ground) -> Facts:
    try:
        answer = described_answer(ground.prior.read(text), ground)
    except HoldfastError:
        yield from of_call(label, lambda: described_answer(ground.prior.read(text), ground))
        return
    if answer is None:
        yield label, None
        return
    parts = (answer,) if isinstance(answer, DescribedQuestion) else answer.parts
    for part in parts:
        rule = part.rule
        facts = [part.bits, part.turned, part.columns, part.event, part.planned, part.reach]
        facts += [recorded_rule(rule), rule.symbols, rule.method, rule.theorems, method_of(rule)]
        facts += [sure_half_width(rule), truth_of(rule), units_of(rule)]
        yield f"{label} {part.text}", facts
        for place, symbols in enumerate(symbols_of(rule)):
            yield from of_call(f"{label} {place}", partial(_of_symbols, part, symbols))


def symbols_of(rule: Rule) -> Iterator[Symbols]:
    """Symbols as long as the rule reads them: the lowest, the highest, some between, and beyond."""
    n, points = rule.rows, getattr(rule, "points", 64)
    length = next(filter(partial(_is_read, rule), range(1, 8)))
    middle, last = points // 2, points - 1
    yield (n + 1,) * length
    yield (-1,) * length
    sizes = cycle(((n, n // 2, n // 3, n // 4), (n // 2, n // 3, 2, 1), (n, n, n, n), (0,) * 4))
    for places in (
        (0, 0, 0),
        (middle, middle // 2, middle + 1),
        (middle, middle, last),
        (last, last // 2, last),
        (last + 1, 0, last + 1),
        (n // 2, 1, 0),
        (n // 2, 0, 1),
        (n, 0, 0),
        (STEPS * n // 2, 3, 2),
    ):
        yield (*next(sizes), *places)[-length:]


def _is_read(rule: Rule, length: int) -> bool:
    try:
        rule.decode((0,) * length)
    except InvalidArgument:
        return True
    except (TypeError, ValueError, LookupError):
        return False
    return True


def _of_symbols(part: DescribedQuestion, symbols: Symbols) -> Any:
    told: Told = part.rule.decode(symbols)
    floor = None
    if told.value is not None:
        floor = floor_of_units(part.rule, told.value, told.interval)
    return [
        told,
        told.turned(),
        is_at_the_floor(part.rule, told),
        floor,
        release_of(part, 1, symbols),
    ]


def joins() -> Facts:
    """What a statistic is by itself, its concentration, and what follows from its parts."""
    for name, schema in (("missing", SCHEMA), ("whole", WHOLE)):
        for text in [*zoo.TEXTS, *zoo.ALSO, *MORE, *EDGES]:
            label = f"{name}, {text.partition('(')[0]};{text}"
            try:
                question = bind(text, Table(schema))
            except HoldfastError:
                yield from of_call(label, lambda: bind(text, Table(schema)))  # noqa: B023
                continue
            yield label, [question.text, short_name(question.text, schema)]
            yield from _single(label, question)


def _single(label: str, question: Bound) -> Facts:
    if isinstance(question, Quantile):
        cells = question.cells
        yield f"{label} cells", cells
        for place in (0, 1, cells // 3, cells - 1, cells):
            yield from of_call(f"{label} {place}", partial(_threshold, question, place))
        return
    yield f"{label} range", [question.low, question.high, own_unit(question, 400)]
    if is_single(question):
        yield f"{label} alone", [question.rows(400), question.error]
        for ground in GROUNDS.values():
            concentration = partial(question.concentration, 400, ground.sampling)
            yield from of_call(
                f"{label} {ground.sampling}",
                lambda: [concentration().radius(-3.0), concentration().log_tail(0.1)],  # noqa: B023
            )
        return
    assert is_derived(question)
    parts = [each for stage in question.stages for each in stage]
    for part in parts:
        yield from _single(f"{label} of {part.text}", part)
    for low, value, high in ((0.2, 0.3, 0.5), (0.0, 0.0, 0.0), (1.0, 1.0, 1.0), (0.0, 0.5, 1.0)):
        estimates = [
            Estimate(*placed(each, value, low + 0.01 * k, high + 0.01 * k))
            for k, each in enumerate(parts)
        ]
        yield from of_call(f"{label} join {value}", lambda: question.join(estimates))  # noqa: B023
    for known in ([None] * len(parts), estimates):
        yield from of_call(f"{label} favourable", lambda: question.favourable(known))  # noqa: B023
    for guess in (0.1, 0.5):
        values = [each.value for each in estimates[:-1]]
        yield from of_call(f"{label} guess {guess}", lambda: question.last_guess(guess, values))  # noqa: B023


def _threshold(quantile: Quantile, place: int) -> str:
    return quantile.threshold(quantile.place(place)).text


def placed(part: Bound, value: float, low: float, high: float) -> tuple[float, Interval]:
    """Fractions of a part's range in its own unit."""
    low, high = min(low, 1.0), min(high, 1.0)
    width = part.high - part.low
    return part.low + value * width, Interval(part.low + low * width, part.low + high * width)
