"""SQL in Spark's dialect, from the tree; it means the same with ANSI mode on and off.

A text is written as its bytes: whether a backslash in quotes is one depends on a setting of the
session. Divisors that may be 0 are NULL where they are (`holdfast.question.writing`), so that ANSI
mode finds nothing to complain of.
"""

from __future__ import annotations

from holdfast.question.expression import Op, ValueKind
from holdfast.question.sql import Dialect

__all__ = ["SPARK", "always_computed"]

_NO_ESCAPE = "%_'\\"  # characters that cannot be written as the escape of a pattern


def always_computed(code: str) -> str:
    """The same value, computed for every row and where it stands.

    What may differ from one run to the next (as the number of a partition may) is neither moved
    into the branch of a CASE that needs it nor left out where no row does: the time that Spark
    would save by it would tell about the rows.
    """
    return f"if(spark_partition_id() < 0, NULL, {code})"


def _text(value: str) -> str:
    return f"CAST(X'{value.encode().hex()}' AS STRING)"


def _like(value: str, pattern: str) -> str:
    used = _NO_ESCAPE + pattern
    escape = next(each for each in map(chr, range(33, 0x110000)) if each not in used)
    return f"({value} LIKE {_text(pattern)} ESCAPE '{escape}')"


SPARK = Dialect(
    types={
        ValueKind.BOOLEAN: "BOOLEAN",
        ValueKind.NUMBER: "DOUBLE",
        ValueKind.TEXT: "STRING",
        ValueKind.MOMENT: "TIMESTAMP_NTZ",
    },
    text=_text,
    like=_like,
    without_nan=lambda value: f"(CASE WHEN isnan({value}) THEN NULL ELSE {value} END)",
    weekday="DAYOFWEEK_ISO",
    spelling={},
    named_operands=frozenset({Op.AND, Op.OR}),  # they stop at the first that decides
)
