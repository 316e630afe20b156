"""Row expression to the language of an engine, with a name for whatever is used twice.

Some operations mention an operand more than once (a clip: ``case when x < 0 then 0 ... else x``).
Written out inside each other they would grow exponentially, so such an operand, unless it is a
column or a constant, is given a name first. Names come in stages: those of a stage are computed
from the columns and from the names of earlier stages. Two more things are named:

* what CASE and COALESCE choose from, and what CASE decides by, but for the first of them: an engine
  may leave out a branch that no row takes, and the time it saves would tell about the rows. Named,
  every branch is computed for every row, whatever the rows hold, and only the choice is left;
* every `_LEVELS` levels of a deep tree, so that no engine meets code that is deeper.

The writer decides everything that the meaning of an expression depends on: where NaN is turned
into NULL, what a division by zero gives, what LEAST does with NULL. A language only says how a
single step is spelled, so that engines cannot disagree about more than a step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeGuard, TypeVar

from holdfast.errors import InvalidQuestion
from holdfast.question import build
from holdfast.question.bounds import ARITHMETIC, range_of
from holdfast.question.elementary import MOST_EXPONENT, exp, ln
from holdfast.question.expression import (
    Column,
    Constant,
    Expression,
    Op,
    Operation,
    ValueKind,
    bottom_up,
    column_names,
    subtrees,
)

_T = TypeVar("_T")

_LEVELS = 24  # of a tree, or branches of a CASE: planning what is deeper takes engines too long
_MOST_STAGES = 300  # a query inside a query for each: engines recurse over them
_NULL = Constant(ValueKind.NUMBER, None)


class Language(Protocol[_T]):
    """How an engine spells single steps."""

    def column(self, name: str) -> _T:
        """The cleaned values of a column: no NaN, moments in range, numbers as doubles."""
        ...

    @property
    def named_operands(self) -> frozenset[Op]:
        """The operations whose operands must be named, since the language mentions them often, or
        an engine leaves out one that does not decide a row.
        """
        ...

    def named(self, name: str) -> _T:
        """The values given this name in an earlier stage."""
        ...

    def constant(self, constant: Constant) -> _T:
        """A literal."""
        ...

    def operation(self, op: Op, args: list[_T]) -> _T:
        """One operation, except LEAST, GREATEST and LIKE. Arithmetic may give NaN here."""
        ...

    def harmless(self, op: Op, left: _T, right: _T) -> _T:
        """Arithmetic on numbers of which no result is too large, too small or NaN."""
        ...

    def like(self, value: _T, pattern: str) -> _T:
        """Whether text fits a pattern of % (any run of characters) and _ (exactly one)."""
        ...

    def without_nan(self, value: _T) -> _T:
        """NULL in place of NaN; may mention the value twice."""
        ...


@bottom_up
def may_be_nan(expression: Expression) -> bool:
    """Whether arithmetic could give NaN: by inf - inf, 0 * inf or inf / inf, here or inside."""
    if not isinstance(expression, Operation) or expression.op not in ARITHMETIC:
        return False
    left, right = (range_of(arg) for arg in expression.args)
    if expression.op is Op.MULTIPLY:
        here = (not left.finite and right.low <= 0 <= right.high) or (
            not right.finite and left.low <= 0 <= left.high
        )
    else:
        here = not left.finite and not right.finite
    return here or any(may_be_nan(arg) for arg in expression.args)


@dataclass(slots=True)
class Writer(Generic[_T]):
    """Writes many expressions; afterwards `stages` holds what must be named before, in order."""

    language: Language[_T]
    stages: list[dict[str, _T]] = field(default_factory=list)
    _named: dict[tuple[Expression, bool], tuple[_T, int]] = field(default_factory=dict)

    def write(self, expression: Expression) -> _T:
        """The code of an expression, to be run after all stages."""
        if isinstance(expression, Operation) and expression.height > _LEVELS:
            for node in sorted(set(_deep(expression)), key=_height):
                self._name(node, raw=_is_arithmetic(node))
        return self._write(expression)[0]

    def _write(self, expression: Expression) -> tuple[_T, int]:
        """Code, and the number of stages it needs."""
        if isinstance(expression, Column):
            return self.language.column(expression.name), 0
        if isinstance(expression, Constant):
            return self.language.constant(expression), 0
        name = self._named.get((expression, False))
        if name is not None:
            return name
        if may_be_nan(expression):
            code, level = self._name(expression, raw=True)
            return self.language.without_nan(code), level
        if expression.op in (Op.LN, Op.EXP):
            return self._name(expression, raw=True)  # in many steps, which are written once
        return self._steps(expression)

    def _raw(self, expression: Expression) -> tuple[_T, int]:
        """Code that may give NaN in place of NULL: in arithmetic they do the same."""
        if not _is_arithmetic(expression):
            return self._write(expression)
        return self._named.get((expression, True)) or self._steps(expression)

    def _name(self, expression: Expression, *, raw: bool = False) -> tuple[_T, int]:
        """The value under a name; `raw` arithmetic may still be NaN."""
        if not isinstance(expression, Operation):
            return self._write(expression)
        if (expression, raw) not in self._named:
            code = self._steps(expression) if raw else self._write(expression)
            self._named[expression, raw] = self.name_code(*code)
        return self._named[expression, raw]

    def name_code(self, code: _T, level: int) -> tuple[_T, int]:
        """Code that needs so many stages under a name, which needs one more."""
        if level >= _MOST_STAGES:
            raise InvalidQuestion(
                f"The question has more than {_MOST_STAGES} steps that each need the one "
                "before, such as quotients of quotients; make it smaller."
            )
        while len(self.stages) <= level:
            self.stages.append({})
        name = f"s{level}_{len(self.stages[level])}"
        self.stages[level][name] = code
        return self.language.named(name), level + 1

    def _steps(self, node: Operation) -> tuple[_T, int]:
        match node.op:
            case Op.LEAST | Op.GREATEST:
                return self._extreme(node)
            case Op.LIKE if isinstance(node.args[1], Constant):
                value, level = self._write(node.args[0])
                return self.language.like(value, str(node.args[1].value)), level
            case Op.CASE:
                operands = self._choices(self._shorter(node).args)
            case Op.COALESCE:
                operands = self._choices(node.args)
            case Op.CLIP:
                clipped, *ends = node.args
                operands = [self._name(clipped), *(self._write(end) for end in ends)]
            case Op.DIVIDE:
                return self._quotient(*node.args)
            case Op.LN | Op.EXP:
                return self._elementary(node)
            case Op.AND if (pair := _first_alone(node)) is not None:
                (a, level_a), (b, level_b) = map(self._write, pair)
                return self.language.operation(Op.ABOVE, [a, b]), max(level_a, level_b)
            case op if op in self.language.named_operands:
                operands = [self._operand(node, arg) for arg in node.args]
            case _:
                write = self._raw if _is_arithmetic(node) else self._write
                operands = [write(arg) for arg in node.args]
        args, levels = zip(*operands, strict=True)
        return self.language.operation(node.op, list(args)), max(levels)

    def _choices(self, args: Sequence[Expression]) -> list[tuple[_T, int]]:
        """What is chosen by or from: all by name but the first, which is computed in any case."""
        first, *rest = args
        return [self._write(first), *(self._name(arg) for arg in rest)]

    def _operand(self, node: Operation, arg: Expression) -> tuple[_T, int]:
        """An operand under a name, unless it takes no longer to compute than to fetch."""
        if _is_arithmetic(node):
            return self._name(arg, raw=_is_arithmetic(arg))
        return self._write(arg) if _is_simple(arg) else self._name(arg)

    def _quotient(self, dividend: Expression, divisor: Expression) -> tuple[_T, int]:
        # Both by name: Polars plans quotients inside quotients in exponential time.
        a, level_a = self._name(dividend, raw=_is_arithmetic(dividend))
        b, level_b = self._name(divisor, raw=_is_arithmetic(divisor))
        if _may_be_zero(divisor):
            b = self._when((Op.UNEQUAL, b, self.language.constant(_ZERO), b))
        return self.language.operation(Op.DIVIDE, [a, b]), max(level_a, level_b)

    def _elementary(self, node: Operation) -> tuple[_T, int]:
        """ln or exp, in the steps of `holdfast.question.elementary`."""
        (operand,) = node.args
        function = ln if node.op is Op.LN else exp
        if node.op is Op.EXP:
            operand = build.clip(operand, -MOST_EXPONENT, MOST_EXPONENT)
        low, high = range_of(operand)
        term = _Term(self, *self._name(operand))
        result = function(term, low, high, _Term.chosen, _Term.named)
        return result.code, result.level

    def _shorter(self, case: Operation) -> Operation:
        """The same CASE, its last branches a named one, and so on, until it has few branches."""
        while len(case.args) > 2 * _LEVELS + 1:
            first = (len(case.args) - 2) // 2 // _LEVELS * (2 * _LEVELS)
            rest = Operation(Op.CASE, case.args[first:])
            self._name(rest)
            case = Operation(Op.CASE, (*case.args[:first], rest))
        return case

    def _extreme(self, node: Operation) -> tuple[_T, int]:
        middle = len(node.args) // 2
        halves = (node.args[:middle], node.args[middle:])
        (a, level_a), (b, level_b) = (
            self._name(half[0] if len(half) == 1 else Operation(node.op, half)) for half in halves
        )
        least = node.op is Op.LEAST
        chosen = self._when(
            (Op.AT_MOST if least else Op.AT_LEAST, a, b, a),
            (Op.BELOW if least else Op.ABOVE, b, a, b),
        )
        return chosen, max(level_a, level_b)

    def _when(self, *branches: tuple[Op, _T, _T, _T]) -> _T:
        """CASE WHEN left op right THEN value ... END."""
        args: list[_T] = []
        for op, left, right, value in branches:
            args += [self.language.operation(op, [left, right]), value]
        return self.language.operation(Op.CASE, [*args, self.language.constant(_NULL)])


@dataclass(frozen=True, slots=True)
class WrittenRows(Generic[_T]):
    """Row expressions in code: their values are `codes`, over the cleaned columns and the stages.

    `names` are those of the cleaned columns, by column. Each of the `stages` gives names to values
    that are computed from the columns and the stages before it.
    """

    names: Mapping[str, str]
    stages: Sequence[Mapping[str, _T]]
    codes: Sequence[_T]


def write_rows(
    expressions: Sequence[Expression], language: Callable[[Mapping[str, str]], Language[_T]]
) -> WrittenRows[_T]:
    """The values of all expressions over the columns they read, in a language of these names."""
    columns = sorted({column for each in expressions for column in column_names(each)})
    names = {column: f"c{place}" for place, column in enumerate(columns)}
    writer = Writer(language(names))
    codes = [writer.write(expression) for expression in expressions]
    return WrittenRows(names, writer.stages, codes)


@dataclass(frozen=True, slots=True)
class _Term(Generic[_T]):
    """A number in code that needs so many stages; arithmetic on it is known to be harmless."""

    writer: Writer[_T]
    code: _T
    level: int

    def __add__(self, other: _Term[_T] | float, /) -> _Term[_T]:
        return self._with(Op.ADD, other)

    def __sub__(self, other: _Term[_T] | float, /) -> _Term[_T]:
        return self._with(Op.SUBTRACT, other)

    def __mul__(self, other: _Term[_T] | float, /) -> _Term[_T]:
        return self._with(Op.MULTIPLY, other)

    def __truediv__(self, other: _Term[_T] | float, /) -> _Term[_T]:
        return self._with(Op.DIVIDE, other)

    def named(self) -> _Term[_T]:
        """The number under a name: what is mentioned more than once."""
        return _Term(self.writer, *self.writer.name_code(self.code, self.level))

    def chosen(self, least: float, then: float, otherwise: float) -> _Term[_T]:
        """One of two constants: `then` where the number is at least `least`."""
        language = self.writer.language
        limit, *values = (
            language.constant(build.constant(each)) for each in (least, then, otherwise)
        )
        code = language.operation(
            Op.CASE, [language.operation(Op.AT_LEAST, [self.code, limit]), *values]
        )
        return _Term(self.writer, code, self.level)

    def _with(self, op: Op, other: _Term[_T] | float) -> _Term[_T]:
        language = self.writer.language
        if isinstance(other, float):
            code, level = language.constant(build.constant(other)), 0
        else:
            code, level = other.code, other.level
        return _Term(self.writer, language.harmless(op, self.code, code), max(self.level, level))


_ZERO = build.constant(0.0)
_COMPARING = frozenset(
    {Op.EQUAL, Op.UNEQUAL, Op.BELOW, Op.AT_MOST, Op.ABOVE, Op.AT_LEAST, Op.IS_NULL}
)


def _deep(expression: Expression) -> Iterator[Operation]:
    for each in subtrees(expression):
        if isinstance(each, Operation) and each.height % _LEVELS == 0:
            yield each


def _is_arithmetic(expression: Expression) -> TypeGuard[Operation]:
    return isinstance(expression, Operation) and expression.op in ARITHMETIC


def _first_alone(conjunction: Operation) -> tuple[Expression, Expression] | None:
    """The a and b of ``a and not b`` or ``a and a != b``, of which every row has both.

    That is ``a > b``: a comparison, for which every engine computes both sides of every row.
    """
    if len(conjunction.args) != 2:
        return None
    for condition, other in (conjunction.args, conjunction.args[::-1]):
        if not isinstance(other, Operation):
            continue
        if other.op is Op.NOT:
            (less,) = other.args
            pair = (_opposed(condition, less) or condition, less)
        elif (opposed := _opposed(other, condition)) is not None:
            pair = (condition, opposed)
        else:
            continue
        if all(map(_is_never_null, pair)):
            return pair
    return None


def _opposed(comparison: Expression, side: Expression) -> Expression | None:
    """The other side, if it is said that this one differs from it."""
    if not isinstance(comparison, Operation) or comparison.op is not Op.UNEQUAL:
        return None
    first, second = comparison.args
    return second if first == side else first if second == side else None


def _is_never_null(condition: Expression) -> bool:
    """Whether every row has it, whatever its columns lack."""
    if not isinstance(condition, Operation):
        return False
    last = condition.args[-1]
    otherwise = isinstance(last, Constant) and last.value is not None
    return condition.op is Op.IS_NULL or (condition.op is Op.COALESCE and otherwise)


def _is_simple(condition: Expression) -> bool:
    """Whether it compares columns and constants, and nothing more."""
    if not isinstance(condition, Operation):
        return True
    plain = not any(isinstance(arg, Operation) for arg in condition.args)
    return plain and condition.op in _COMPARING


def _height(node: Operation) -> int:
    return node.height


def _may_be_zero(divisor: Expression) -> bool:
    divisor_range = range_of(divisor)
    return divisor_range.low <= 0 <= divisor_range.high
