"""How people call a question that a ledger stores by its canonical text.

That text says what was rewritten, too: values that are cut to the range declared for their column,
the step of a median, what a row counts that has no value. People wrote `median(delay)`.
"""

from __future__ import annotations

import re

from holdfast.question.columns import Schema
from holdfast.question.expression import ColumnType
from holdfast.statistics.quantile import usual_step

__all__ = ["short_name"]

_COLUMN, _NUMBER, _VALUE = (
    r'("(?:[^"]|"")+"|[a-z_][a-z0-9_]*)',
    r"(-?[0-9][0-9.e+-]*)",
    r"([^(),]+)",
)
_CLIPPED = rf"clip\({_COLUMN}, {_NUMBER}, {_NUMBER}\)"
_QUANTILE = re.compile(rf"quantile\({_CLIPPED}, {_NUMBER}, {_NUMBER}\)")
_CLIP = re.compile(_CLIPPED)
_GAP = rf"abs\({_VALUE} - {_VALUE}\)"
_CAPPED = rf"clip\({_GAP}, 0, {_NUMBER}\)"
_STORED = {
    re.compile(rf"avg\(coalesce\({stored}\)\)"): written
    for stored, written in {
        rf"{_VALUE}, {_VALUE}\) - coalesce\({_VALUE}, \2": r"difference(\1, \3)",
        rf"{_VALUE} = {_VALUE}, false": r"accuracy(\1, \2)",
        rf"{_GAP} \* abs\(\1 - \2\), 1": r"brier(\1, \2)",
        rf"{_CAPPED}, \3": r"mae(\1, \2, \3)",
        rf"{_CAPPED} \* clip\(abs\(\1 - \2\), 0, \3\), {_NUMBER}": r"mse(\1, \2, \3)",
    }.items()
}


def short_name(text: str, schema: Schema) -> str:
    """A question as people write it; its canonical text where nothing was rewritten."""

    def is_declared(name: str, low: str, high: str) -> bool:
        column = name[1:-1].replace('""', '"') if name.startswith('"') else name
        return schema.bounds.get(column) == (float(low), float(high))

    def column(clipped: re.Match[str]) -> str:
        return clipped[1] if is_declared(*clipped.groups()) else clipped[0]

    def quantile(call: re.Match[str]) -> str:
        name, low, high, level, step = call.groups()
        whole = schema.types.get(name) is ColumnType.INTEGER
        usual = usual_step(float(low), float(high), whole=whole)
        if not is_declared(name, low, high) or float(step) != usual:
            return call[0]
        return f"median({name})" if float(level) == 0.5 else f"quantile({name}, {level})"

    named = _CLIP.sub(column, _QUANTILE.sub(quantile, text))
    for stored, written in _STORED.items():
        named = stored.sub(written, named)
    return named
