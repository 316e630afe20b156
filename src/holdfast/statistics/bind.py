"""Questions bound to a table: texts and options become statistics; no data is touched.

Canonical texts that a ledger recorded are read again here, too, without the Python functions that
some of them name.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from holdfast import require
from holdfast.data.design import ANY_GROUP
from holdfast.did_you_mean import STATISTICS_ELSEWHERE, did_you_mean
from holdfast.errors import HoldfastError, InvalidArgument, InvalidQuestion, NotDescribed
from holdfast.question.columns import Schema
from holdfast.question.declaring import Scale, bounds_pair
from holdfast.question.expression import ColumnType, Expression
from holdfast.question.functions import require_own
from holdfast.question.parse import CallText, read_call, require_likely
from holdfast.question.row import RowValue
from holdfast.statistics import call as statistics
from holdfast.statistics.averages import MEANS
from holdfast.statistics.claimed import ClaimedQuestion
from holdfast.statistics.derived import described_parts, is_derived
from holdfast.statistics.entry import (
    NO_TEXT,
    Better,
    Bound,
    Bounds,
    By,
    Call,
    Table,
    TableCall,
    Use,
    grouped,
    number_of,
    pair_of,
)
from holdfast.statistics.kappa_losses import KAPPA_LOSSES
from holdfast.statistics.mean import Mean
from holdfast.statistics.quantile import usual_step
from holdfast.statistics.registry import DESCRIPTIONS, STATISTICS
from holdfast.statistics.robust import CatoniEstimate
from holdfast.statistics.statistic import (
    ConcentratedGroupMean,
    ConcentratedMean,
    ConcentratedVariance,
    Statistic,
    is_single,
)
from holdfast.statistics.vectors import VECTOR
from holdfast.statistics.whole import Auc, TableFunction
from holdfast.theory.base.gamma import gamma_from_text
from holdfast.theory.base.unbounded import scaled_tail

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

Question: TypeAlias = str | Call | Mean | TableFunction

TABLES = ("distribution", "histogram", VECTOR)  # several answers, which no `by` makes more

_LOG_LOSS = re.compile(r"log_loss\s*\(", re.IGNORECASE)
_VARIANCE = re.compile(r"variance\s*<=\s*(\S+)", re.IGNORECASE)
_KAPPA = re.compile(r"kappa\s*=\s*(\S+)", re.IGNORECASE)
_SCALE = re.compile(r"(sigma|b|share)\s*>?=\s*(\S+)", re.IGNORECASE)


def bind(question: Question, table: Table) -> Bound:
    """The statistic that a question means."""
    if isinstance(question, str):
        question = _single(read_question(question))
    if isinstance(question, TableFunction):
        require_own(table.schema, question.columns)
        return question
    if isinstance(question, Mean):
        require_own(table.schema, question.row.columns)
        return question
    if isinstance(question, Call):
        try:
            return STATISTICS[question.name].bind(question, table)
        except InvalidArgument as error:
            raise InvalidQuestion(f"In {question.name}, {error}") from None
    raise InvalidQuestion(
        "A question is text such as 'avg(delay > 15)', or a statistic such as "
        f"holdfast.mean('delay > 15'), not {_unasked(question)}."
    )


def _unasked(question: object) -> str:
    """What was put that is no question, and how it is put."""
    match question:
        case list() | tuple() | set():
            instead = "; several go together: ask_many([...])"
        case _ if inspect.isroutine(question):
            instead = "; a function of rows is holdfast.stats.row_function(...) in a mean"
        case _:
            instead = ""
    return f"{type(question).__name__}{instead}"


def read_again(text: str, table: Table) -> Statistic:
    """The statistic that a ledger knows by this text; refused where the text alone is not it."""
    question = bound_again(text, table)
    if not is_single(question):
        raise InvalidQuestion(_ANOTHER)
    return question


def bound_again(text: str, table: Table) -> Bound:
    """What a ledger knows by this text, of one symbol or of parts."""
    try:
        question = bind(text, table)
    except HoldfastError as error:
        raise InvalidQuestion("The text in the ledger cannot be read.") from error
    if question.text != text:
        raise InvalidQuestion(_ANOTHER)
    return question


_ANOTHER = "The text in the ledger now reads as another question."


def read_question(source: str) -> Call | TableCall:
    """The statistic that a text names, with the texts of its arguments."""
    call_text = read_call(source)
    if call_text.name in TABLES:
        if call_text.by:
            raise InvalidQuestion(f"A {call_text.name} is many answers already; it has no by.")
        return TableCall(call_text.name, call_text.arguments, call_text.where)
    call = named_call(call_text)
    try:
        return grouped(call, call_text.by or None)
    except InvalidArgument as error:
        raise InvalidQuestion(f"In the question, {error}") from None


def _instead_of(name: str) -> str:
    """What to write for a name that is no statistic."""
    if name in STATISTICS_ELSEWHERE:
        return STATISTICS_ELSEWHERE[name]
    known = sorted({*STATISTICS, *TABLES})
    some, more = ", ".join(known[:_MOST_NAMED]), len(known[_MOST_NAMED:])
    there_are = f"there are {some} and {more} more, listed in the docs."
    return did_you_mean(name, [*MEANS, *known], there_are, str)


_MOST_NAMED = 17  # of all statistics, in one sentence


def named_call(call_text: CallText) -> Call:
    """The statistic by its name, of all rows or of those in its where."""
    name = "avg" if call_text.name in MEANS else call_text.name
    if name not in STATISTICS:
        raise InvalidQuestion(f"{name[:40]!r} is not a statistic; {_instead_of(name)}")
    arguments: tuple[Any, ...] = call_text.arguments
    if name == "avg" and _LOG_LOSS.match(arguments[0]):
        if len(arguments) > 1 or call_text.where is not None:
            raise InvalidQuestion("A log loss is asked of all rows, without where and variance.")
        return named_call(read_call(arguments[0]))  # as a ledger writes it
    if name == "difference":
        arguments = tuple(_inner(argument) for argument in arguments)
    declared = _VARIANCE.fullmatch(arguments[-1]) if name == "avg" else None
    if declared is not None and len(arguments) > 1:
        variance = number_of("variance", declared[1])
        return Call(name, arguments[:-1], call_text.where, variance=variance)
    spread = _KAPPA.fullmatch(arguments[-1]) if name in KAPPA_LOSSES else None
    if spread is not None:
        kappa = number_of("kappa", spread[1])
        return Call(name, arguments[:-1], call_text.where, kappa=kappa)
    if name in _SCALED and any(map(_SCALE.fullmatch, arguments[1:])):
        scale, share = _scale(name, arguments[1:])
        return Call(name, arguments[:1], call_text.where, scale=scale, share=share)
    return Call(name, arguments, call_text.where)


_SCALED = ("avg", "std", "variance")  # of a number without a range, by its scale


def _scale(name: str, texts: Sequence[str]) -> tuple[Scale, float | None]:
    """What stands after the value: sigma = 0.4, sigma = 0.4, b = 0.1, share >= 0.2."""
    named = [match for each in texts if (match := _SCALE.fullmatch(each))]
    numbers = {match[1].lower(): number_of(match[1], match[2]) for match in named}
    signs = all((">" in match[0]) == (match[1].lower() == "share") for match in named)
    if len(numbers) < len(texts) or "sigma" not in numbers or not signs:
        raise InvalidQuestion(
            f"After the value of a {'mean' if name == 'avg' else name} stands "
            f"{', '.join(texts)[:60]!r}; there may be sigma = 0.4, of a group also share >= 0.2, "
            "and of a mean sigma = 0.4, b = 0.1, or variance <= 0.2."
        )
    share = numbers.pop("share", None)
    try:
        if share is not None:
            require.between("share", share, 0.0, 1.0, open_low=True)
        return Scale(**numbers), share
    except InvalidArgument as error:
        raise InvalidQuestion(f"In the question, {error}") from None


def _inner(argument: str) -> str | Call:
    """A mean inside a difference, or the text of a value."""
    try:
        inner = read_call(argument)
    except InvalidQuestion:
        return argument
    return _single(read_question(argument)) if inner.name in MEANS else argument


def require_likely_values(call: Call | TableCall, table: Table) -> None:
    """Refuse texts that somebody typed, where they compare with what no row is meant to have."""
    for part in (*call.arguments, call.where):
        if isinstance(part, Call | TableCall):
            require_likely_values(part, table)
        elif isinstance(part, str):
            require_likely(part, table.schema)


def _single(call: Call | TableCall) -> Call:
    if isinstance(call, TableCall):
        raise InvalidQuestion(
            "A histogram, a distribution and groups are many answers; ask for them by themselves."
        )
    return call


# A question as it is said outside Python: a text, and options that add to the text.


def question_of(
    question: Question | TableCall,
    *,
    where: str | None = None,
    by: By | None = None,
    bounds: Bounds = None,
    better: Better | None = None,
    trusted: bool = True,
) -> Call | TableCall:
    """The statistic that is named, in Python or by a text, with what the options say of it.

    Whoever is not `trusted` assumes nothing of the rows: everybody's intervals would rest on it.
    """
    call = read_question(question) if isinstance(question, str) else question
    options = {"where": where, "by": by, "bounds": bounds, "better": better}
    stated = {option: value for option, value in options.items() if value is not None}
    if not isinstance(call, Call | TableCall):
        option, value = next(iter(stated.items()), ("where", where))
        raise InvalidArgument(
            f"{option} is {value!r}, and the question is a {type(call).__name__}, which has its "
            f"own; leave {option} out."
        )
    if not trusted and _assumes(call):
        raise InvalidArgument(
            "the question assumes something of the rows (sigma, b, kappa or a variance), which is "
            "for the custodian to declare; ask without it."
        )
    for option in stated:
        _require_taken(call.name, option)
    if where is not None:
        if call.where is not None:
            raise InvalidArgument(
                "the question has a where of its own, and another one is given beside it; join "
                "them with `and` in one place."
            )
        call = replace(call, where=where)
    if bounds is not None:
        call = replace(call, bounds=pair_of(bounds))
    if isinstance(call, TableCall):
        if by is not None:
            raise InvalidArgument(
                f"the question has its own groups, and by gives others ({by!r}); leave one out, or "
                "write both after by."
            )
        return call
    if by is not None:
        return grouped(call, by)
    return call if better is None else replace(call, better=better)


def _assumes(call: Call | TableCall) -> bool:
    """Whether a question says more of the rows than is declared."""
    inner = any(isinstance(each, Call) and _assumes(each) for each in call.arguments)
    if isinstance(call, TableCall):
        return inner
    return inner or call.name == "catoni" or bool(call.variance or call.scale or call.kappa)


def declared_kappa(text: str) -> float | None:
    """The kappa that a question of a ledger declares of its loss."""
    return _single(read_question(text)).kappa if text.startswith(KAPPA_LOSSES) else None


def _require_taken(name: str, option: str) -> None:
    """An option is for the statistics whose Python functions have it."""
    takers = [
        "avg" if each == "mean" else each
        for each in statistics.__all__
        if inspect.isfunction(function := getattr(statistics, each))
        and option in inspect.signature(function).parameters
    ]
    if name not in takers:
        raise InvalidArgument(f"{name} takes no {option}; it is for {', '.join(takers)}.")


# How people call a question that a ledger stores by its canonical text.
#
# That text says what was rewritten, too: values that are cut to the range declared for their
# column, the step of a median, what a row counts that has no value. People wrote `median(delay)`.


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
_REWRITTEN = ("clip(", "coalesce(")  # all of the above have one of them


def short_name(text: str, schema: Schema) -> str:
    """A question as people write it; its canonical text where that is not the same question.

    A range is applied to columns where they are averaged, and not in conditions: there
    `clip(delay, -60, 180)` is no `delay`.
    """
    if not any(each in text for each in _REWRITTEN):
        return text

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
    return named if named == text or _is_read_as(named, text, schema) else text


def _is_read_as(written: str, text: str, schema: Schema) -> bool:
    """Whether what is written is the question that a ledger stores by a text."""
    try:
        return bind(written, Table(schema, ANY_GROUP)).text == text
    except HoldfastError:
        return False


# What the texts of a ledger say, without the functions of Python that some of them name.


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
    texts = Auc | CatoniEstimate | ConcentratedMean | ConcentratedGroupMean | ConcentratedVariance
    by_text = isinstance(statistic, texts | ClaimedQuestion)
    return not by_text and not isinstance(source, Expression) and not hasattr(source, "part")


def require_written(statistic: Statistic, table: Table) -> None:
    """Refuse a question that its ledger could not read again: nobody could check its interval.

    It may be asked within the limits of a question, and have parts beyond them; or name a group as
    no text may. Functions of Python are known by name, whatever it is.
    """
    if is_named(statistic):
        return
    reading = bound_again if isinstance(statistic, ClaimedQuestion) else read_again
    try:
        reading(statistic.text, table)
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


# What a question is made of, by the registry.


def parts_of(question: Bound) -> tuple[Use, ...]:
    """The parts of a question, and what each is to it: its own events, or those of its parts."""
    own = DESCRIPTIONS.get(type(question))
    if own is not None:
        return tuple(own.uses(question))
    if is_derived(question):
        return tuple(_plain(described_parts(question)))
    raise NotDescribed(NO_TEXT)


def event_text(question: Bound) -> str | None:
    """The event that the rule of a question would be about; None if it has no description."""
    own = DESCRIPTIONS.get(type(question))
    try:
        return None if own is None else next(iter(own.uses(question))).part.text
    except InvalidQuestion:
        return None


def _plain(statistics: Iterable[Bound]) -> list[Use]:
    """What answers each of several statistics."""
    return [use for each in statistics for use in parts_of(each) if use.role == "plain"]
