"""What the canonical texts of a ledger say, without the Python functions that some of them name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from holdfast.errors import HoldfastError, InvalidQuestion
from holdfast.question.declaring import bounds_pair
from holdfast.question.expression import Expression
from holdfast.question.row import RowValue
from holdfast.statistics.bind import bind, read_again
from holdfast.statistics.entry import Bound, Table
from holdfast.statistics.mean import Mean
from holdfast.statistics.robust import CatoniEstimate
from holdfast.statistics.statistic import ConcentratedGroupMean, ConcentratedMean, Statistic
from holdfast.statistics.whole import Auc, TableFunction
from holdfast.theory.base.gamma import gamma_from_text
from holdfast.theory.base.unbounded import scaled_tail

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

__all__ = ["asked_again", "is_named", "recorded_statistic", "require_written"]

_GONE = "function_that_is_gone_"
_RANGE = r"in \[(\S+), (\S+)\]"
_OF_ROWS = re.compile(rf"avg\((function .* {_RANGE})(?:, variance <= (\S+))?\)", re.DOTALL)
_OF_TABLE = re.compile(
    rf"statistic .*\)(?: {_RANGE})?, "
    r"(?:change (\S+)|sigma ([^\s,]+)(?:, b ([^\s,]+))?|gamma (\{.*\}))",
    re.DOTALL,
)


_TEXT = r'"(?:[^"\\]|\\.)*"'
_FUNCTION = re.compile(
    rf'function {_TEXT} version {_TEXT} of \((?:[^()"]|"(?:[^"]|"")*")*\) {_RANGE}'
)


@dataclass(frozen=True, slots=True)
class _Gone:
    """A Python function of which only the text is left."""

    text: str
    columns: tuple[str, ...] = ()

    def values(self, frame: pl.DataFrame) -> NDArray[np.float64]:  # noqa: ARG002
        raise InvalidQuestion(f"Only the text of {self.text} is left.")


def is_named(statistic: Statistic) -> bool:
    """Whether it is a function of Python: known by its name, whatever it does."""
    source = statistic.row and statistic.row.source
    texts = Auc | CatoniEstimate | ConcentratedMean | ConcentratedGroupMean
    by_text = isinstance(statistic, texts)
    return not by_text and not isinstance(source, Expression) and not hasattr(source, "part")


def require_written(statistic: Statistic, table: Table) -> None:
    """Refuse a question that its ledger could not read again: nobody could check its interval.

    It may be asked within the limits of a question, and have parts beyond them; or name a group as
    no text may. Functions of Python are known by name, whatever it is.
    """
    if is_named(statistic):
        return
    try:
        read_again(statistic.text, table)
    except InvalidQuestion as error:
        raise InvalidQuestion(
            f"Written out as {_shortened(statistic.text)} the question cannot be read again from "
            f"its ledger: {error.__cause__ or error} Ask for less at once, or clean the text that "
            "a group is named by."
        ) from None


def _shortened(text: str) -> str:
    quoted = repr(text)
    return quoted if len(quoted) <= 60 else f"{quoted[:57]}..."


def recorded_statistic(source: str, table: Table) -> Statistic:
    """The statistic that a ledger's text names; one made by Python cannot be measured again."""
    try:
        return read_again(source, table)
    except InvalidQuestion as error:
        return _by_python(source, error)


def asked_again(source: str, table: Table) -> Bound:
    """What a ledger's text asks for, whether one symbol answers it or it has parts."""
    functions: dict[str, RowValue] = {}

    def named(match: re.Match[str]) -> str:
        name = f"{_GONE}{len(functions)}"
        row = _Gone(match[0])
        functions[name] = RowValue(row, float(match[1]), float(match[2]), row.text, False)
        return name

    try:
        question = bind(
            _FUNCTION.sub(named, source), _Recalled(table.schema, table.design, functions)
        )
        if question.text == source:
            return question
    except HoldfastError:
        pass
    return recorded_statistic(source, table)


@dataclass(frozen=True, slots=True)
class _Recalled(Table):
    """A table with functions of Python of which only the texts are left, by made-up names."""

    functions: Mapping[str, RowValue] = field(default_factory=dict)

    def value(self, what: Any, bounds: tuple[float, float] | None = None) -> RowValue:
        function = self.functions.get(what) if isinstance(what, str) else None
        return Table.value(self, what, bounds) if function is None else function


def _by_python(source: str, otherwise: InvalidQuestion) -> Statistic:
    """What the text says of a function; any other text is an error."""
    match = _OF_TABLE.fullmatch(source)
    if match is not None:
        low, high, change, sigma, b, gamma = match.groups()
        bounds = None if low is None else bounds_pair((float(low), float(high)))
        moved = None if change is None else float(change)
        tail = None if gamma is None else gamma_from_text(gamma)
        if sigma is not None:
            tail = scaled_tail(float(sigma), None if b is None else float(b))
        return TableFunction(_gone, (), bounds, source, "", moved, tail)
    match = _OF_ROWS.fullmatch(source)
    if match is not None:
        text, low, high, variance = match.groups()
        row = RowValue(_Gone(text), float(low), float(high), text, is_condition=False)
        return Mean(row, None if variance is None else float(variance))
    raise otherwise


def _gone(_: pl.DataFrame) -> float:
    raise InvalidQuestion("Only the text of the function is left.")
