"""The weights of all parts sum to at most 1, and none is above what its derivations add up to."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial

import numpy as np
import pytest
from scipy.stats import binom

from holdfast.errors import InvalidQuestion
from holdfast.prior import atoms as said, grammar
from holdfast.question import build
from holdfast.question.columns import Schema
from holdfast.question.expression import ColumnType, Constant, Expression, Op, Operation, text_of
from holdfast.statistics.description import Prior
from holdfast.statistics.entry import Part
from holdfast.theory.length.words import PRODUCTIONS, share
from tests.prior.derivations import Chooser, Drawn, Forward, Lost, masses
from tests.prior.drawn import drawn_part
from tests.seam import millibits

BOOLEAN, INTEGER, TEXT = ColumnType.BOOLEAN, ColumnType.INTEGER, ColumnType.TEXT
FLAGS = Schema({"a": BOOLEAN, "b": BOOLEAN})
MIXED = Schema({"flag": BOOLEAN, "level": INTEGER, "code": TEXT}).declare(
    {"level": (1, 3), "code": {"values": ["x", "y", "z"]}}
)
NUMBERS = Schema({"flag": BOOLEAN, "level": INTEGER, "range": ColumnType.FLOAT}).declare(
    {"level": {"bounds": (0, 3), "weight": "2.5"}, "range": (0, 10)}
)
CONTEXTS = ("v", "w", "i")
LEAST = 4e-6  # derivations that are less likely are not looked at
ORDERS = 24  # so many of them may be the orders of one


PRIORS = {id(schema): Prior(schema) for schema in (FLAGS, MIXED, NUMBERS)}


def _weight(schema: Schema, context: str, tree: Expression) -> float:
    weights = "v" if context == "i" else context
    return float(2.0 ** (-millibits(PRIORS[id(schema)], context, weights, tree) / 1000))


# --- Trees made by the builder -----------------------------------------------------------------


def _conditions(atoms: Iterable[Expression]) -> set[Expression]:
    """Everything that the builder makes of these conditions in one step."""
    some = list(atoms)
    found: set[Expression] = set(some)
    for one in some:
        found |= {build.negation(one), build.is_null(one)}
        found |= {build.negation(build.is_null(one))}
    for pair in itertools.product(some, repeat=2):
        found |= {build.comparison(op, *pair) for op in (Op.EQUAL, Op.UNEQUAL)}
        found |= {build.conjunction(pair), build.disjunction(pair), build.coalesce(pair)}
    for three in itertools.combinations(some, 3):
        found |= {build.conjunction(three), build.disjunction(three)}
    for condition, first, second in itertools.product(some[:6], repeat=3):
        found.add(build.case([(condition, first)], second))
        if condition != build.FALSE:
            found.add(build.case([(condition, first)], None))
    return found


@cache
def _two_flags() -> frozenset[Expression]:
    once = _conditions([FLAGS.column("a"), FLAGS.column("b"), build.TRUE, build.FALSE])
    short = sorted(once, key=lambda tree: (len(text_of(tree)), text_of(tree)))
    return frozenset(_conditions(short[:24]) | once)


@cache
def _level_and_code() -> frozenset[Expression]:
    level, code, flag = (MIXED.column(name) for name in ("level", "code", "flag"))
    numbers = [build.constant(float(i)) for i in range(4)]
    signs = (Op.EQUAL, Op.UNEQUAL, Op.BELOW, Op.AT_MOST, Op.ABOVE, Op.AT_LEAST)
    atoms = [build.comparison(op, level, number) for op in signs for number in numbers]
    values = [build.constant(value) for value in ("x", "y", "z", "w")]
    atoms += [build.comparison(op, code, value) for op in signs[:2] for value in values]
    return frozenset(_conditions([flag, *atoms, build.is_null(level), build.like(code, "x%")]))


def _kind(tree: Expression) -> str:
    """The production of a condition, told from the tree alone."""
    match tree:
        case Constant():
            return "constant"
        case Operation(Op.AND, args) | Operation(Op.OR, args) if len(_subjects(args)) > 1:
            return "both" if tree.op is Op.AND else "either"
        case Operation(Op.CASE):
            return "case"
        case Operation(Op.COALESCE):
            return "coalesce"
    return "other"


def _subjects(args: tuple[Expression, ...]) -> set[Expression]:
    return {arg.args[0] if isinstance(arg, Operation) else arg for arg in args}


@pytest.mark.parametrize(
    ("schema", "trees", "context"),
    [
        *((FLAGS, _two_flags, context) for context in CONTEXTS),
        (MIXED, _level_and_code, "i"),
        *(
            pytest.param(MIXED, _level_and_code, context, marks=pytest.mark.campaign)
            for context in ("v", "w")
        ),
    ],
)
def test_the_weights_of_conditions_sum_to_at_most_one(
    schema: Schema, trees: Callable[[], frozenset[Expression]], context: str
) -> None:
    by_kind: defaultdict[str, float] = defaultdict(float)
    for tree in trees():
        by_kind[_kind(tree)] += _weight(schema, context, tree)
    assert 0.4 < sum(by_kind.values()) < 1
    for kind in by_kind.keys() - {"other"}:
        assert by_kind[kind] <= share(f"condition {context}", kind), kind
    # What is known of two flags: most of the mass is on short conditions.
    expected = {"v": 0.80, "w": 0.76, "i": 0.88}[context]
    if schema is FLAGS:
        assert sum(by_kind.values()) == pytest.approx(expected, abs=0.012)


def test_the_weights_of_parts_sum_to_at_most_one() -> None:
    words = PRIORS[id(FLAGS)]
    total: defaultdict[str, float] = defaultdict(float)
    trees = sorted(_two_flags(), key=lambda tree: _weight(FLAGS, "v", tree), reverse=True)
    wheres: list[Expression | None] = [None, *trees[:60]]
    for tree, where in itertools.product(trees[:60], wheres):
        for kind in ("mean", "spread"):
            total[kind] += 2.0 ** (-words.millibits(Part(kind, (tree,), where)) / 1000)
    for one, other in itertools.combinations_with_replacement(trees[:60], 2):
        both = (one, other)
        total["paired"] += 2.0 ** (-words.millibits(Part("paired", both)) / 1000)
        for form in ("covariance", "correlation"):
            relation = Part("relation", both, form=form)
            total["relation"] += 2.0 ** (-words.millibits(relation) / 1000)
        for first, second in ((one, other), (other, one)):
            if first != second or one is other:
                ratio = Part("ratio", (first, second), form="f1")
                total["ratio"] += 2.0 ** (-words.millibits(ratio) / 1000)
    for kind, found in total.items():
        assert 0 < found <= share("part", kind), kind


def test_the_weights_of_numbers_sum_to_at_most_those_of_their_kinds() -> None:
    words = PRIORS[id(NUMBERS)].grammar
    columns = [build.clip(NUMBERS.column(name), *NUMBERS.bounds[name]) for name in NUMBERS.bounds]
    constants = [build.constant(value) for value in (0.0, 1.0, 2.0, 5.0, 0.5, -1.0)]
    flag = NUMBERS.column("flag")
    once: set[Expression] = {build.as_number(flag, "it"), *columns, *constants}
    some = list(once)
    for one, other in itertools.product(some, repeat=2):
        signs = (Op.ADD, Op.SUBTRACT, Op.MULTIPLY, Op.DIVIDE)
        once |= {build.arithmetic(op, one, other) for op in signs}
        once |= {build.extreme(op, [one, other]) for op in (Op.LEAST, Op.GREATEST)}
        once |= {build.as_number(build.coalesce([one, other]), "it")}
        once |= {build.as_number(build.case([(flag, one)], other), "it")}
    for one in list(once):
        once |= {build.negate(one), build.function(Op.ABS, one)}
    rows = {"arithmetic": "+-*/", "absolute": ["abs"], "negate": ["negate"], "constant": [""]}
    rows |= {name: [name] for name in ("least", "greatest", "case", "coalesce", "indicator")}
    total: defaultdict[str, float] = defaultdict(float)
    for tree in once - set(columns):
        op = str(tree.op) if isinstance(tree, Operation) else ""
        total[op] += 2.0 ** (-words.number(tree, bounded=True) / 1000)
    for kind, ops in rows.items():
        assert 0 < sum(total.pop(op) for op in ops) <= share("number", kind), kind
    assert not total
    assert sum(2.0 ** (-words.number(each, bounded=True) / 1000) for each in columns) <= 0.8


# --- The grammar run forwards ------------------------------------------------------------------


@cache
def _masses(context: str) -> Mapping[Expression, float]:
    return masses(lambda choose: Forward(FLAGS, choose).condition(context), LEAST)


def _overweight(context: str) -> list[str]:
    """Conditions that weigh more than all derivations that end in them."""
    found = _masses(context)
    weights = {tree: _weight(FLAGS, context, tree) for tree in {*found, *_two_flags()}}
    return [
        text_of(tree)
        for tree, weight in weights.items()
        if weight > ORDERS * LEAST and weight > found.get(tree, 0.0)
    ]


@pytest.mark.parametrize("context", CONTEXTS)
def test_no_condition_weighs_more_than_its_derivations(context: str) -> None:
    assert sum(_masses(context).values()) < 1
    assert len([mass for mass in _masses(context).values() if mass > ORDERS * LEAST]) >= 40
    assert _overweight(context) == []


@pytest.mark.parametrize(
    ("schema", "relative", "unseen"), [(MIXED, 0.01, 0), (NUMBERS, 0, 16)], ids=["mixed", "numbers"]
)
def test_numbers_and_codes_weigh_no_more_than_their_derivations(
    schema: Schema, relative: float, unseen: int
) -> None:
    # Constants have many unlikely derivations, of which those that were not looked at are missing.
    least = 4 * LEAST
    found = masses(partial(_where, schema), least)
    likely = {tree: mass for tree, mass in found.items() if mass > (ORDERS + 4 * unseen) * least}
    assert len(likely) >= 60
    for tree, mass in likely.items():
        assert _weight(schema, "w", tree) <= mass * (1 + relative) + unseen * least, text_of(tree)


def _where(schema: Schema, choose: Chooser) -> Expression:
    return Forward(schema, choose).condition("w")


def _twice(credit: Callable[[int], int]) -> Callable[[int], int]:
    return lambda k: 2 * credit(k)


@pytest.mark.parametrize("twin", ["orders counted twice", "counts at .4 bits"])
def test_a_doubled_credit_and_a_cheap_count_are_noticed(
    twin: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (grammar, said):
        if twin == "orders counted twice":
            credit = _twice(module.any_order_millibits)
            monkeypatch.setattr(module, "any_order_millibits", credit)
        else:
            monkeypatch.setattr(module, "count_millibits", lambda k: 400 * k)
    assert all(_overweight(context) for context in CONTEXTS)


# --- Questions drawn from the prior ------------------------------------------------------------


@pytest.mark.statistical
@pytest.mark.parametrize("schema", [MIXED, NUMBERS], ids=["mixed", "numbers"])
def test_no_part_is_rarer_than_its_weight(schema: Schema) -> None:
    draws, words = 6_000, PRIORS[id(schema)]
    choose = Drawn(np.random.default_rng(41))
    counts: Counter[Part] = Counter()
    for _ in range(draws):
        try:
            counts[drawn_part(schema, choose)] += 1
        except (Lost, InvalidQuestion):
            continue
    weights = {part: 2.0 ** (-words.millibits(part) / 1000) for part in counts}
    tested = [part for part in counts if weights[part] * draws >= 5]
    assert len(tested) >= 40
    assert {part.kind for part in counts} == set(PRODUCTIONS["part"])
    for part in tested:
        assert counts[part] >= binom.ppf(1e-9, draws, weights[part]), part.text
    # The twin: weights that are four times as large.
    assert any(counts[part] < binom.ppf(1e-9, draws, min(1, 4 * weights[part])) for part in tested)
