"""What an engine was seen to take: with other numbers it takes it, too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from holdfast.question.expression import Constant, Expression, Operation, ValueKind, bottom_up
from holdfast.question.row import RowValue

__all__ = ["Taken"]

_MOST, _SMALL = 1_000, 50  # of so many small questions it is known
_NUMBER = Constant(ValueKind.NUMBER, 0.5)


@dataclass(slots=True)
class Taken:
    """The shapes of small questions that were tried without rows."""

    _shapes: set[Expression] = field(default_factory=set)

    def try_others(
        self, rows: Sequence[RowValue], trial: Callable[[Sequence[RowValue]], None]
    ) -> None:
        """Try one row value of each shape that is new; what the trial raises is for the caller."""
        shapes = {_shape(row.source): row for row in rows if isinstance(row.source, Expression)}
        unknown = {shape: row for shape, row in shapes.items() if shape not in self._shapes}
        if not unknown:
            return
        trial(list(unknown.values()))
        if len(self._shapes) < _MOST:
            self._shapes |= {shape for shape in unknown if _is_small(shape)}


@bottom_up
def _shape(node: Expression) -> Expression:
    """An expression but for its numbers, which are all written alike."""
    match node:
        case Operation():
            return Operation(node.op, tuple(map(_shape, node.args)))
        case Constant(ValueKind.NUMBER, float()):
            return _NUMBER
        case _:
            return node


def _is_small(shape: Expression) -> bool:
    return not isinstance(shape, Operation) or shape.size <= _SMALL
