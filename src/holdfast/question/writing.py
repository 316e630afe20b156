"""Row expression to the language of an engine, with a name for whatever is used twice.

Some operations mention an operand more than once (a clip: ``case when x < 0 then 0 ... else x``).
Written out inside each other they would grow exponentially, so such an operand, unless it is a
column or a constant, is given a name first. Names come in stages: those of a stage are computed
from the columns and from the names of earlier stages.

The writer decides everything that the meaning of an expression depends on: where NaN is turned
into NULL, what a division by zero gives, what LEAST does with NULL. A language only says how a
single step is spelled, so that engines cannot disagree about more than a step.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from holdfast.question import build
from holdfast.question.bounds import may_be_nan, range_of
from holdfast.question.expression import Call, Column, Constant, Expression, Kind, Op

__all__ = ["Language", "Writer"]

T = TypeVar("T")

_ARITHMETIC = frozenset({Op.ADD, Op.SUBTRACT, Op.MULTIPLY, Op.DIVIDE})
_NULL = Constant(Kind.NUMBER, None)


class Language(Protocol[T]):
    """How an engine spells single steps."""

    def column(self, name: str) -> T:
        """The cleaned values of a column: no NaN, moments in range, numbers as doubles."""
        ...

    def named(self, name: str) -> T:
        """The values given this name in an earlier stage."""
        ...

    def constant(self, constant: Constant) -> T:
        """A literal."""
        ...

    def operation(self, op: Op, args: list[T]) -> T:
        """One operation, except LEAST, GREATEST and LIKE. Arithmetic may give NaN here."""
        ...

    def like(self, value: T, pattern: str) -> T:
        """Whether text fits a pattern of % (any run of characters) and _ (exactly one)."""
        ...

    def without_nan(self, value: T) -> T:
        """NULL in place of NaN; may mention the value twice."""
        ...


@dataclass(slots=True)
class Writer(Generic[T]):
    """Writes many expressions; afterwards `stages` holds what must be named before, in order."""

    language: Language[T]
    stages: list[dict[str, T]] = field(default_factory=list)
    _named: dict[tuple[Expression, bool], tuple[T, int]] = field(default_factory=dict)

    def write(self, expression: Expression) -> T:
        """The code of an expression, to be run after all stages."""
        return self._write(expression)[0]

    def name(self, expression: Expression) -> T:
        """The code of an expression, short enough to be mentioned more than once."""
        return self._name(expression)[0]

    def _write(self, expression: Expression) -> tuple[T, int]:
        """Code, and the number of stages it needs."""
        if isinstance(expression, Column):
            return self.language.column(expression.name), 0
        if isinstance(expression, Constant):
            return self.language.constant(expression), 0
        if expression.op in _ARITHMETIC and may_be_nan(expression):
            code, level = self._name(expression, raw=True)
            return self.language.without_nan(code), level
        return self._steps(expression)

    def _name(self, expression: Expression, *, raw: bool = False) -> tuple[T, int]:
        """The value under a name; `raw` arithmetic may still be NaN."""
        if not isinstance(expression, Call):
            return self._write(expression)
        if (expression, raw) not in self._named:
            code, level = self._steps(expression) if raw else self._write(expression)
            while len(self.stages) <= level:
                self.stages.append({})
            name = f"s{level}_{len(self.stages[level])}"
            self.stages[level][name] = code
            self._named[expression, raw] = self.language.named(name), level + 1
        return self._named[expression, raw]

    def _steps(self, call: Call) -> tuple[T, int]:
        if call.op in (Op.LEAST, Op.GREATEST):
            return self._extreme(call)
        if call.op is Op.LIKE and isinstance(call.args[1], Constant):
            value, level = self._write(call.args[0])
            return self.language.like(value, str(call.args[1].value)), level
        twice = -1
        if call.op is Op.CLIP:
            twice = 0
        elif call.op is Op.DIVIDE and _may_be_zero(call.args[1]):
            twice = 1
        written = [
            self._name(arg) if place == twice else self._write(arg)
            for place, arg in enumerate(call.args)
        ]
        args, level = [code for code, _ in written], max(level for _, level in written)
        code = self.language.operation(call.op, args)
        if call.op is Op.DIVIDE and _may_be_zero(call.args[1]):
            code = self._when((Op.UNEQUAL, args[1], self.language.constant(_ZERO), code))
        return code, level

    def _extreme(self, call: Call) -> tuple[T, int]:
        *rest, last = call.args
        first = rest[0] if len(rest) == 1 else Call(call.op, tuple(rest))
        (a, level_a), (b, level_b) = self._name(first), self._name(last)
        least = call.op is Op.LEAST
        chosen = self._when(
            (Op.AT_MOST if least else Op.AT_LEAST, a, b, a),
            (Op.BELOW if least else Op.ABOVE, b, a, b),
        )
        return chosen, max(level_a, level_b)

    def _when(self, *branches: tuple[Op, T, T, T]) -> T:
        """CASE WHEN left op right THEN value ... END."""
        args: list[T] = []
        for op, left, right, value in branches:
            args += [self.language.operation(op, [left, right]), value]
        return self.language.operation(Op.CASE, [*args, self.language.constant(_NULL)])


_ZERO = build.constant(0.0)


def _may_be_zero(divisor: Expression) -> bool:
    found = range_of(divisor)
    return found.low <= 0 <= found.high
