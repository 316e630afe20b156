"""Text with SQL's look to a row expression, against the columns of a table.

What passes the gates is read node by node into our own tree; SQL is never made from the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, TypeAlias

from holdfast.did_you_mean import CLAUSES, did_you_mean
from holdfast.errors import InvalidQuestion
from holdfast.question import build
from holdfast.question.bounds import ELEMENTARY, range_of
from holdfast.question.columns import Schema
from holdfast.question.declaring import listed, shortened
from holdfast.question.expression import (
    Column,
    ColumnType,
    Constant,
    Expression,
    Op,
    Operation,
    ValueKind,
    identifier,
    string,
    subtrees,
    text_of,
)
from holdfast.question.safe_text import (
    MAX_SHORT,
    OPERATOR_CHAINS,
    Shape,
    TextToken,
    not_here,
    read_sql,
    read_words,
    text_shape,
)

MAX_PATTERN = 200  # characters of a LIKE pattern
_MOST_LISTED = 8  # values of a column, in a sentence

_MOMENT = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d{1,6})?)?)?", re.ASCII)

_JUNCTIONS = {"And": build.conjunction, "Or": build.disjunction}
_INFIX = {
    "Add": Op.ADD,
    "Sub": Op.SUBTRACT,
    "Mul": Op.MULTIPLY,
    "Div": Op.DIVIDE,
}
_COMPARISONS = {
    "EQ": Op.EQUAL,
    "NEQ": Op.UNEQUAL,
    "LT": Op.BELOW,
    "LTE": Op.AT_MOST,
    "GT": Op.ABOVE,
    "GTE": Op.AT_LEAST,
}
_ORDERS = frozenset({Op.BELOW, Op.AT_MOST, Op.ABOVE, Op.AT_LEAST})
_VALUES_BESIDE = frozenset({*_COMPARISONS, "In", "Like"})  # what a text is compared by
_FUNCTIONS = {
    "Abs": Op.ABS,
    "Ln": Op.LN,
    "Exp": Op.EXP,
    "Sqrt": Op.SQRT,
    "Lower": Op.LOWER,
    "Upper": Op.UPPER,
    "Length": Op.LENGTH,
    "Year": Op.YEAR,
    "Month": Op.MONTH,
    "Day": Op.DAY,
    "Hour": Op.HOUR,
    "Minute": Op.MINUTE,
    "DayOfWeekIso": Op.WEEKDAY,
}
_PARTS = {
    "year": Op.YEAR,
    "month": Op.MONTH,
    "day": Op.DAY,
    "hour": Op.HOUR,
    "minute": Op.MINUTE,
    "weekday": Op.WEEKDAY,
    "isodow": Op.WEEKDAY,
}
_INTEGER_TYPES = frozenset({"INT", "BIGINT", "SMALLINT", "TINYINT"})
_REAL_TYPES = frozenset({"DOUBLE", "FLOAT"})
_MOMENT_TYPES = frozenset({"DATE", "TIMESTAMP"})


def parse_row(text: str, schema: Schema, *, bounded: bool = True) -> Expression:
    """The row expression the text spells.

    With `bounded`, declared bounds are applied to the columns whose numbers make up the value;
    without it the caller will clip the value.
    """
    root, numbers = read_sql(text, schema.types)
    return _Reader(schema, numbers).read(root, bounded)


def column_value(schema: Schema, name: str, *, quoted: bool, bounded: bool) -> Expression:
    """A column, with `bounded` cut to the bounds that are declared for it."""
    column = schema.column(name, quoted=quoted)
    bounds = schema.bounds.get(column.name) if bounded else None
    return build.clip(column, *bounds) if bounds else column


def require_likely(text: str, schema: Schema) -> None:
    """Refuse a value that somebody typed where a text column is compared with what no row of it
    can be meant to have: a date, or a text that is none of its declared values.

    Only what is typed: a ledger's own texts are read whatever they compare.
    """
    if "'" not in text:
        return
    try:
        parts = subtrees(parse_row(text, schema, bounded=False))
    except InvalidQuestion:
        return  # it is refused, with its own words, where it is bound
    for part in parts:
        match part:
            case Operation(op, (Column(name, ColumnType.TEXT), Constant(value=str(value)))):
                _require_likely_value(schema, op, name, value)


def _require_likely_value(schema: Schema, op: Op, name: str, value: str) -> None:
    if op in _ORDERS and _MOMENT.fullmatch(value):
        raise InvalidQuestion(
            f"Column {shortened(name)} is text, which {str(op)!r} orders letter by letter, and "
            f"{string(value)} is a date; make it one before the table is opened: "
            f"pl.col({name!r}).str.to_datetime(), or open a CSV file with date_format='%d.%m.%Y', "
            "as its dates are written (--date-format)."
        )
    values = schema.without_learnt.values.get(name, (value,))
    if op in (Op.EQUAL, Op.UNEQUAL) and value not in values:
        raise InvalidQuestion(
            f"{shortened(value)} is not among the declared values of {name}, "
            f"{listed(map(str, values[:_MOST_LISTED]))}; write one of them, or {identifier(name)} "
            f"like {string(value)} for one that was not declared."
        )
    learnt = [each for each in schema.values.get(name, ()) if isinstance(each, str)]
    spelled = [each for each in learnt if each.casefold() == value.strip().casefold()]
    if op in (Op.EQUAL, Op.UNEQUAL) and spelled and value not in learnt:
        raise InvalidQuestion(
            f"{shortened(value)} is not among the values of {name} in the training rows; "
            f"did you mean {string(spelled[0])}? Write {identifier(name)} like {string(value)} for "
            "another one."
        )


_Node: TypeAlias = Any  # a node of sqlglot's tree, its type already checked by the gates


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads nodes; `bounded` says whether declared bounds apply where the node stands."""

    schema: Schema
    numbers: Sequence[str] | None  # of which literals are places

    def read(self, node: _Node, bounded: bool) -> Expression:
        name = type(node).__name__
        if name in OPERATOR_CHAINS:
            return self._chain(node, bounded)
        if name in _COMPARISONS:
            return self._compare(
                _COMPARISONS[name], self._raw(node.this), self._raw(node.expression)
            )
        if name in _FUNCTIONS:
            op = _FUNCTIONS[name]
            # Declared bounds apply inside ln, exp and sqrt wherever these stand: they need some.
            within = op in ELEMENTARY or (bounded and op is Op.ABS)
            return build.function(op, self.read(node.this, within))
        return _READERS[name](self, node, bounded)

    def _chain(self, node: _Node, bounded: bool) -> Expression:
        """Operations in a row, from the left: thousands of them are one loop."""
        name = type(node).__name__
        alike = _INFIX if name in _INFIX else {name}
        steps: list[_Node] = []
        while type(node).__name__ in alike:
            steps.append(node)
            node = node.this
        steps.reverse()
        if name in _JUNCTIONS:
            operands = (node, *(step.expression for step in steps))
            return _JUNCTIONS[name]([self._raw(operand) for operand in operands])
        value = self.read(node, bounded)
        for step in steps:
            right = self.read(step.expression, bounded)
            value = build.arithmetic(_INFIX[type(step).__name__], value, right)
        return value

    def _raw(self, node: _Node) -> Expression:
        return self.read(node, False)

    def _paren(self, node: _Node, bounded: bool) -> Expression:
        return self.read(node.this, bounded)

    def _column(self, node: _Node, bounded: bool) -> Expression:
        identifier = node.this
        if type(identifier).__name__ != "Identifier":
            raise InvalidQuestion(not_here("*"))
        quoted = bool(identifier.args.get("quoted"))
        try:
            return column_value(self.schema, identifier.this, quoted=quoted, bounded=bounded)
        except InvalidQuestion as error:
            beside = node.parent
            if type(beside).__name__ not in _VALUES_BESIDE or node is beside.this:
                raise
            if "single quotes" in str(error):
                raise
            if identifier.this.casefold() == "nan" and not quoted:
                raise InvalidQuestion(not_here("isnan").replace("isnan", "nan", 1)) from None
            raise InvalidQuestion(
                f"{error} Text goes in single quotes: {string(identifier.this.strip('‘’“”'))}."
            ) from None

    def _literal(self, node: _Node, _bounded: bool) -> Expression:
        if node.is_string:
            return build.constant(str(node.this))
        written = node.this if self.numbers is None else self.numbers[int(node.this)]
        try:
            value = float(written)
        except ValueError:
            raise InvalidQuestion("A number of the question cannot be read.") from None
        return build.constant(value)

    def _boolean(self, node: _Node, _bounded: bool) -> Expression:
        return build.constant(bool(node.this))

    def _null(self, _node: _Node, _bounded: bool) -> Expression:
        raise InvalidQuestion(
            "NULL can stand only after 'is', 'then' or 'else'; write x is null, or x is not null."
        )

    def _negate(self, node: _Node, bounded: bool) -> Expression:
        return build.negate(self.read(node.this, bounded))

    def _not(self, node: _Node, _bounded: bool) -> Expression:
        return build.negation(self._raw(node.this))

    def _compare(self, op: Op, left: Expression, right: Expression) -> Expression:
        if left.kind is ValueKind.MOMENT:
            right = _as_moment(right)
        elif right.kind is ValueKind.MOMENT:
            left = _as_moment(left)
        return build.comparison(op, left, right)

    def _between(self, node: _Node, _bounded: bool) -> Expression:
        value = self._raw(node.this)
        low = self._compare(Op.AT_LEAST, value, self._raw(node.args["low"]))
        return build.conjunction(
            [low, self._compare(Op.AT_MOST, value, self._raw(node.args["high"]))]
        )

    def _in(self, node: _Node, _bounded: bool) -> Expression:
        if not node.expressions:
            raise InvalidQuestion("'in' needs a list of values in parentheses.")
        value = self._raw(node.this)
        return build.disjunction(
            [self._compare(Op.EQUAL, value, self._raw(each)) for each in node.expressions]
        )

    def _is(self, node: _Node, _bounded: bool) -> Expression:
        value = self._raw(node.this)
        match type(node.expression).__name__:
            case "Null":
                return build.is_null(value)
            case "Boolean":
                holds = build.comparison(Op.EQUAL, value, self._raw(node.expression))
                return build.coalesce([holds, build.FALSE])
            case _:
                raise InvalidQuestion(
                    "After 'is' comes null, true or false; NaN is a missing value: x is null."
                )

    def _like(self, node: _Node, _bounded: bool) -> Expression:
        pattern = self._raw(node.expression)
        if not isinstance(pattern, Constant) or not isinstance(pattern.value, str):
            raise InvalidQuestion("'like' needs a pattern in quotes, such as 'B%'.")
        if len(pattern.value) > MAX_PATTERN:
            raise InvalidQuestion(f"A 'like' pattern has at most {MAX_PATTERN} characters.")
        condition = build.like(self._raw(node.this), pattern.value)
        return build.negation(condition) if node.args.get("negate") else condition

    def _case(self, node: _Node, bounded: bool) -> Expression:
        base = self._raw(node.this) if node.args.get("this") else None
        branches = []
        for branch in node.args["ifs"]:
            when = self._raw(branch.this)
            if base is not None:
                when = self._compare(Op.EQUAL, base, when)
            branches.append((when, self._or_null(branch.args["true"], bounded)))
        return build.case(branches, self._or_null(node.args.get("default"), bounded))

    def _if(self, node: _Node, bounded: bool) -> Expression:
        then = self._or_null(node.args["true"], bounded)
        otherwise = self._or_null(node.args.get("false"), bounded)
        return build.case([(self._raw(node.this), then)], otherwise)

    def _nullif(self, node: _Node, bounded: bool) -> Expression:
        equal = self._compare(Op.EQUAL, self._raw(node.this), self._raw(node.expression))
        return build.case([(equal, None)], self.read(node.this, bounded))

    def _or_null(self, node: _Node | None, bounded: bool) -> Expression | None:
        if node is None or type(node).__name__ == "Null":
            return None
        return self.read(node, bounded)

    def _coalesce(self, node: _Node, bounded: bool) -> Expression:
        return build.coalesce(self._several(node, bounded))

    def _extreme(self, node: _Node, bounded: bool) -> Expression:
        op = Op.LEAST if type(node).__name__ == "Least" else Op.GREATEST
        return build.extreme(op, self._several(node, bounded))

    def _several(self, node: _Node, bounded: bool) -> list[Expression]:
        return [self.read(each, bounded) for each in (node.this, *node.expressions)]

    def _extract(self, node: _Node, _bounded: bool) -> Expression:
        part = str(node.this.this).lower()
        if part not in _PARTS:
            raise InvalidQuestion(
                "'extract' knows year, month, day, hour, minute and isodow (Monday is 1)."
            )
        return build.function(_PARTS[part], self._raw(node.expression))

    def _cast(self, node: _Node, bounded: bool) -> Expression:
        to = str(node.args["to"].this.value)
        value = self.read(node.this, bounded)
        if value.kind in (ValueKind.TEXT, ValueKind.MOMENT) and not isinstance(value, Constant):
            to = ""  # no value of a row is read as another
        if to in _MOMENT_TYPES and isinstance(value, Constant):
            return _as_moment(value)
        if to in _REAL_TYPES or (to in _INTEGER_TYPES and value.kind is ValueKind.BOOLEAN):
            return build.as_number(value, "'cast'")
        raise InvalidQuestion(
            "'cast' makes a number of a condition, and a date of text in quotes, nothing else; "
            f"make {text_of(value)[:40]} what it should be before the table is opened, of a CSV "
            "file with decimal=, thousands= or date_format= (--decimal, --thousands, "
            "--date-format)."
        )

    def _named(self, node: _Node, _bounded: bool) -> Expression:
        name = str(node.this).lower()
        if name == "weekday" and len(node.expressions) == 1:
            return build.function(Op.WEEKDAY, self._raw(node.expressions[0]))
        if name == "clip" and len(node.expressions) == 3:
            value, *ends = (self._raw(each) for each in node.expressions)
            return build.clip(value, *(_number_given(end) for end in ends))
        if name in ("weekday", "clip"):
            wanted = "clip(value, low, high)" if name == "clip" else "weekday(date)"
            raise InvalidQuestion(f"'{name}' is written {wanted}.")
        instead = did_you_mean(name, [op.value for op in _FUNCTIONS.values()], "", str)
        raise InvalidQuestion(
            f"There is no function {name[:40]!r} in questions; {instead}"
            if instead
            else f"There is no function {name[:40]!r}: it {not_here(name).partition(' ')[2]}"
        )

    def _average(self, _node: _Node, _bounded: bool) -> Expression:
        raise InvalidQuestion(
            "avg(...) stands once, around the whole question; two averages are compared by "
            "difference(avg(x) where A, avg(x) where B)."
        )

    def _unreadable(self, _node: _Node, _bounded: bool) -> Expression:
        raise InvalidQuestion("The question cannot be read as one expression.")


_READERS: dict[str, Callable[[_Reader, _Node, bool], Expression]] = {
    "Paren": _Reader._paren,
    "Column": _Reader._column,
    "Literal": _Reader._literal,
    "Boolean": _Reader._boolean,
    "Null": _Reader._null,
    "Neg": _Reader._negate,
    "Not": _Reader._not,
    "Between": _Reader._between,
    "In": _Reader._in,
    "Is": _Reader._is,
    "Like": _Reader._like,
    "Case": _Reader._case,
    "If": _Reader._if,
    "Nullif": _Reader._nullif,
    "Coalesce": _Reader._coalesce,
    "Least": _Reader._extreme,
    "Greatest": _Reader._extreme,
    "Extract": _Reader._extract,
    "Cast": _Reader._cast,
    "Anonymous": _Reader._named,
    "Avg": _Reader._average,
    "Var": _Reader._unreadable,
    "DataType": _Reader._unreadable,
    "Identifier": _Reader._unreadable,
}


def _number_given(expression: Expression) -> float:
    if isinstance(expression, Constant) and expression.kind is ValueKind.NUMBER:
        return range_of(expression).low
    raise InvalidQuestion("The bounds of 'clip' are two numbers, as in clip(value, 0, 100).")


def _as_moment(expression: Expression) -> Expression:
    """A literal in quotes beside a date is a date; anything else is left as it is."""
    if not isinstance(expression, Constant) or not isinstance(expression.value, str):
        return expression
    if not _MOMENT.fullmatch(expression.value):
        raise InvalidQuestion(
            f"A date is written '2013-01-31', a time '2013-01-31 17:45:00', and not "
            f"{shortened(expression.value)}."
        )
    try:
        return build.constant(datetime.fromisoformat(expression.value))
    except ValueError:
        raise InvalidQuestion(
            f"The date {expression.value!r} is not in the calendar; write year, month and day as "
            "in '2013-01-31'."
        ) from None


# The outermost form of a question's text: ``name(argument, ...)``, ``where ...``, ``by ...``.
#
# Only the places of parentheses and commas are read here; each argument passes the gates by
# itself.


_NO_NAMES = ("STRING", "ISNULL", "NOTNULL")


@dataclass(frozen=True, slots=True)
class CallText:
    """A name, the texts of its arguments, and what stands after ``where`` and after ``by``."""

    name: str
    arguments: tuple[str, ...]
    where: str | None
    by: tuple[str, ...] = ()

    def filled(self, shape: Shape) -> CallText:
        """The form of a text, if this is that of its shape."""
        where = None if self.where is None else shape.filled(self.where)
        return CallText(self.name, tuple(map(shape.filled, self.arguments)), where, self.by)


def read_call(text: str) -> CallText:
    """The text's outermost form; refused when it has another one."""
    shape = text_shape(text) if isinstance(text, str) and len(text) <= MAX_SHORT else None
    of_shape = None if shape is None else _call_of_shape(shape.text)
    return _read_call(text) if shape is None or of_shape is None else of_shape.filled(shape)


@lru_cache(maxsize=128)
def _call_of_shape(text: str) -> CallText | None:
    try:
        call = _read_call(text)
    except InvalidQuestion:
        return None  # what is wrong is said of the text itself
    return call if call.name.isidentifier() else None


def _read_call(text: str) -> CallText:
    words: Sequence[TextToken] = read_words(text)
    while words and words[0].kind == "L_PAREN" and _closing(words, 0) == len(words) - 1:
        words = words[1:-1]
    if len(words) < 3 or words[1].kind != "L_PAREN":
        raise InvalidQuestion(_no_statistic(text, words))
    end = _closing(words, 1)
    arguments = tuple(_texts(text, words[2:end]))
    rest, by = _without_by(words[end + 1 :])
    if not rest:
        return CallText(words[0].text.lower(), arguments, None, by)
    if rest[0].text.lower() != "where":
        raise InvalidQuestion(_after_statistic(rest))
    if len(rest) == 1:
        raise InvalidQuestion("After where comes a condition, as in avg(delay > 15) where x = 1.")
    return CallText(words[0].text.lower(), arguments, _text(text, rest[1:]), by)


def _no_statistic(text: str, words: Sequence[TextToken]) -> str:
    """What is wrong with a text that begins with no statistic, and how to write it."""
    first, *rest = [word.text.lower() for word in words] or ["()"]
    hint = CLAUSES.get(first) or CLAUSES.get(rest[0] if rest[:1] == ["."] else "")
    if hint is not None:
        return f"A question is one statistic of the rows, and begins with {first!r}; {hint}"
    if first in ("avg", "mean") and rest:
        inside = text[words[1].start :]
    else:
        is_value = not rest or any(word.kind in _COMPARISONS for word in words)
        inside = text if is_value and first not in ("()", "avg", "mean") else "delay > 15"
    return (
        f"A question is one statistic of the rows, and {shortened(text)} names none; write it like "
        f"avg({' '.join(inside.split())[:60]})."
    )


def _after_statistic(rest: Sequence[TextToken]) -> str:
    """What is wrong with what stands after a statistic, and how to write it."""
    word = rest[0].text.lower().replace(" ", "_")
    number = next((each.text for each in rest[1:] if each.kind == "NUMBER"), "0.2")
    hint = CLAUSES.get(word, "write it like avg(delay > 15) where origin = 'JFK'.")
    if word == "by" and "where" in [each.text.lower() for each in rest]:
        hint = "where comes before by, as in avg(delay) where distance > 500 by origin."
    return (
        f"A question is one statistic of the rows, and after it stands {shortened(rest[0].text)}; "
        f"{hint.format(number=number)}"
    )


def reads_alike(text: str, second: str) -> bool:
    """Whether two texts say the same word by word, but for spaces and how numbers are written."""
    if text == second:
        return True
    first, other = text_shape(text), text_shape(second)
    if first is not None and other is not None:
        if [*map(float, first.numbers)] != [*map(float, other.numbers)]:
            return False
        if first.text == other.text:
            return True
    return _meaning(text) == _meaning(second)


def _meaning(text: str) -> list[tuple[str, str | float]]:
    """The words and signs of a text: what it means, whatever they are read as."""
    return [
        (kind, float(word) if kind == "NUMBER" else word) for kind, word, _, _ in read_words(text)
    ]


def _without_by(words: Sequence[TextToken]) -> tuple[Sequence[TextToken], tuple[str, ...]]:
    """What stands before ``by`` and names of columns, and these names.

    No condition has a name directly after another; a column that is called by is quoted.
    """
    for place in range(len(words) - 1, -1, -1):
        names, commas = words[place + 1 :: 2], words[place + 2 :: 2]
        if _is_by(words[place]) and len(names) == len(commas) + 1:
            named = all(map(_is_name, names))
            if named and all(comma.kind == "COMMA" for comma in commas):
                return words[:place], tuple(name.text for name in names)
    return words, ()


def _is_by(word: TextToken) -> bool:
    return word.kind != "IDENTIFIER" and word.text.lower() == "by"


def _is_name(word: TextToken) -> bool:
    """A word, also one that is reserved elsewhere; or anything in double quotes."""
    kind = word.kind
    return kind == "IDENTIFIER" or (kind not in _NO_NAMES and word.text.isidentifier())


def _closing(words: Sequence[TextToken], opening: int) -> int:
    """The place of the parenthesis that closes the one at `opening`."""
    depth = 0
    for place in range(opening, len(words)):
        depth += (words[place].kind == "L_PAREN") - (words[place].kind == "R_PAREN")
        if depth == 0:
            return place
    raise InvalidQuestion(
        f"A parenthesis of the question is not closed, the one after {words[opening - 1].text!r}; "
        "write one ) for each (."
    )


def _texts(text: str, words: Sequence[TextToken]) -> Iterator[str]:
    """The texts between the commas that stand outside inner parentheses."""
    depth, first = 0, 0
    for place, word in enumerate(words):
        depth += (word.kind == "L_PAREN") - (word.kind == "R_PAREN")
        if depth == 0 and word.kind == "COMMA":
            yield _text(text, words[first:place])
            first = place + 1
    yield _text(text, words[first:])


def _text(text: str, words: Sequence[TextToken]) -> str:
    if not words:
        raise InvalidQuestion(
            "An argument of the question is missing; write it like avg(delay > 15)."
        )
    return text[words[0].start : words[-1].end + 1]
