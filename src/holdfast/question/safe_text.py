"""The gates an analyst's text passes before anything is made of it.

The text is only ever read, never run. The characters (no invisible ones), the tokens (a fixed
list, so that no statement, comment, parameter or clause gets further), the size, and the exact type
of every node of the SQL reader's tree with the arguments it may carry: whatever is not on a list is
refused, in one sentence.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from holdfast.did_you_mean import WORDS_ELSEWHERE
from holdfast.errors import InvalidQuestion

if TYPE_CHECKING:
    from sqlglot import exp
    from sqlglot.dialects.dialect import Dialect
    from sqlglot.tokenizer_core import Token, TokenType

MAX_LENGTH = 200_000  # characters
MAX_TOKENS = 40_000  # declared bounds are written out: each column becomes six of them
MAX_NESTING = 20  # parentheses and CASEs inside each other: the SQL reader is recursive
MAX_PREFIXES = 20  # NOTs and signs in a row, for the same reason
MAX_DEPTH = 100  # levels of the tree, not counting the terms of a chain, which are read in a loop

# What the SQL reader raises of a text that it cannot read, beside errors of its own; its words are
# about SQL, not about us. Trouble of the machine (memory, imports, recursion) is nobody's question.
_UNREADABLE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
MAX_SHORT = 300  # characters of a text whose reading is kept for a while

_NOT_HERE = (
    "docs/questions.md says what can, and a column of an unusual name is written in double quotes."
)
_LOGARITHM = (
    "There is no 'log' in questions, since its base differs from one system to the next; did you "
    "mean ln, the natural logarithm? To the base 10 it is ln(x) / ln(10)."
)
_WHITESPACE = frozenset("\t\n\r ")
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})

_TOKENS = frozenset(
    {"L_PAREN", "R_PAREN", "COMMA", "DOT", "NUMBER", "STRING", "IDENTIFIER", "VAR"}
    | {"EQ", "NEQ", "LT", "LTE", "GT", "GTE", "PLUS", "DASH", "STAR", "SLASH", "DCOLON"}
    | {"NOT", "AND", "OR", "IN", "BETWEEN", "IS", "ISNULL", "NOTNULL", "LIKE"}
    | {"NULL", "TRUE", "FALSE", "CASE", "WHEN", "THEN", "ELSE", "END"}
    | {"ALIAS", "FROM"}  # for cast(x as double) and extract(year from x)
    | {"DATE", "TIMESTAMP", "DOUBLE", "FLOAT", "INT", "BIGINT", "SMALLINT", "TINYINT"}
)
_PREFIXES = frozenset({"NOT", "DASH", "PLUS"})
# What stands in a row without parentheses: a + b + c is read as (a + b) + c.
OPERATOR_CHAINS = frozenset({"And", "Or", "Add", "Sub", "Mul", "Div"})
_OPENING = frozenset({"L_PAREN", "CASE"})
_CLOSING = frozenset({"R_PAREN", "END"})


class SqlTree(NamedTuple):
    """The SQL reader's tree of an expression, which nobody changes, and the numbers in it.

    With `numbers`, each literal is the place of its number among them, counted from 0; where they
    are None, literals are as they were written.
    """

    root: exp.Expression
    numbers: tuple[str, ...] | None = None


def read_sql(text: str, columns: Collection[str]) -> SqlTree:
    """The one expression the text holds, every node of it on the list of known ones.

    A word that is otherwise reserved may be used where it is the name of a column.
    """
    if not isinstance(text, str) or len(text) > MAX_SHORT:
        return SqlTree(_parsed(text, columns))
    shape, names = text_shape(text), frozenset(columns)
    root = None if shape is None else _read_shape(shape.text, len(shape.numbers), names)
    if shape is None or root is None:
        return SqlTree(_read_short(text, names))
    return SqlTree(root, shape.numbers)


# Texts that differ in their numbers alone have one tree.


class Shape(NamedTuple):
    """A text whose numbers are places in a list of them, counted from 0."""

    text: str
    numbers: tuple[str, ...]

    def filled(self, text: str) -> str:
        """A part of the shape's text with the numbers in their places."""
        return _NUMERALS.sub(lambda found: found[1] or self.numbers[int(found[2])], text)


# Text in quotes; or a number that no letter, digit or point touches; or the start of another one.
_NUMERALS = re.compile(
    r"""('[^']*'|"[^"]*")|(?<![\w.])([0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?![\w.])|(?<!\w)[0-9]"""
)


@lru_cache(maxsize=128)  # what is read is compared with its canonical text next
def text_shape(text: str) -> Shape | None:
    """The shape of a text; None if it has a number that is written in an unusual way."""
    parts: list[str] = []
    numbers: list[str] = []
    end = 0
    for numeral in _NUMERALS.finditer(text):
        quoted, number = numeral.groups()
        if quoted is None and number is None:
            return None
        if number is not None:
            parts += text[end : numeral.start()], str(len(numbers))
            numbers.append(number)
            end = numeral.end()
    return Shape("".join((*parts, text[end:])), tuple(numbers))


@lru_cache(maxsize=128)
def _read_shape(text: str, numbers: int, columns: frozenset[str]) -> exp.Expression | None:
    """The tree of a shape; None if it cannot be read, or has not each place once as a number."""
    from sqlglot import exp

    try:
        root = _parsed(text, columns)
    except InvalidQuestion:
        return None  # what is wrong is said of the text itself
    places = sorted(str(each.this) for each in root.find_all(exp.Literal) if not each.is_string)
    return root if places == sorted(map(str, range(numbers))) else None


# A ledger's questions are read again wherever it is followed; nobody changes the tree.
@lru_cache(maxsize=128)
def _read_short(text: str, columns: frozenset[str]) -> exp.Expression:
    return _parsed(text, columns)


def _parsed(text: str, columns: Collection[str]) -> exp.Expression:
    from sqlglot import ErrorLevel, exp
    from sqlglot.errors import SqlglotError

    before = "WHERE "  # after which comes one expression, and no word is a command
    tokens = _tokens(text, before)
    _check_tokens(tokens[1:], columns)
    parser = _dialect().parser(error_level=ErrorLevel.IMMEDIATE)
    try:
        (where,) = parser.parse_into(exp.Where, tokens, before + text)
        expression: exp.Expression = where.this  # type: ignore[union-attr]  # None fails, too
    except (SqlglotError, *_UNREADABLE):
        raise InvalidQuestion(
            f"{text.strip()[:60]!r} cannot be read as one expression"
            f"{_misread(text, tokens[1:], columns)}"
        ) from None
    _check_nodes(expression)
    return expression


def _misread(text: str, tokens: Sequence[Token], columns: Collection[str]) -> str:
    """Why a text may not be readable, and what to write."""
    kinds = _kinds()
    for token in tokens:
        if token.text in columns and kinds[token.token_type] not in ("VAR", "IDENTIFIER", "STRING"):
            name = token.text
            return f'; {name} is a word of questions; write the column in double quotes: "{name}".'
    spaced = [name for name in columns if not name.isidentifier() and name in text]
    if spaced:
        return f'; write the column {spaced[0]!r} in double quotes: "{spaced[0]}".'
    if "**" in text:
        return f"; {WORDS_ELSEWHERE['**']}"
    if "case" in text.lower().split() and "end" not in text.lower().split():
        return "; a case ends with end: case when late then 1 else 0 end."
    return ", such as delay > 15 and origin = 'JFK'; look for a word or a sign too many."


class TextToken(NamedTuple):
    """A word or a sign of a text: of what kind it is, and where it stands."""

    kind: str
    text: str
    start: int
    end: int


@lru_cache(maxsize=1)  # a text is read, and then compared with what it was read as
def read_words(text: str) -> tuple[TextToken, ...]:
    """The words and signs of the text, as they stand; there is at least one."""
    kinds = _kinds()
    tokens = _tokens(text, "")
    words = tuple(
        TextToken(kinds[each.token_type], each.text, each.start, each.end) for each in tokens
    )
    _check_nesting([word.kind for word in words])
    return words


def _tokens(text: str, before: str) -> list[Token]:
    _check_characters(text)
    dialect = _dialect()
    from sqlglot.errors import SqlglotError

    try:
        tokens: list[Token] = dialect.tokenize(before + text)
    except (SqlglotError, *_UNREADABLE):
        raise InvalidQuestion(
            "The question has a quote that is not closed, or a sign that cannot be read; text is "
            "written 'like this'."
        ) from None
    if len(tokens) <= bool(before):
        raise InvalidQuestion("The question is empty; write something like avg(delay > 15).")
    if any(token.comments for token in tokens):
        raise InvalidQuestion(
            "A question holds no comments (-- or /* */); leave it out, and say why= (--why)."
        )
    return tokens


@cache
def _kinds() -> Mapping[TokenType, str]:
    """Their names, which an enumeration takes its time to say."""
    from sqlglot import TokenType  # by the package, as everywhere here

    return {kind: kind.name for kind in TokenType}


@cache
def _dialect() -> Dialect:
    # The package first: threads that each begin with another module of it wait for one another,
    # and Python breaks the circle by failing one of them (_DeadlockError): half a package is left.
    from sqlglot import Dialect

    return Dialect.get_or_raise(None)


def _check_characters(text: str) -> None:
    if not isinstance(text, str):
        raise InvalidQuestion(f"A question is text, not {type(text).__name__}.")
    if not text.strip():
        raise InvalidQuestion("The question is empty; write something like avg(delay > 15).")
    if len(text) > MAX_LENGTH:
        raise InvalidQuestion(
            f"The question has {len(text):,} characters; at most {MAX_LENGTH:,} are read."
        )
    if text.isascii() and text.isprintable():
        return
    for place, character in enumerate(text):
        if character not in _WHITESPACE and unicodedata.category(character) in _INVISIBLE:
            raise InvalidQuestion(
                f"The question holds an invisible character (U+{ord(character):04X}) "
                f"at position {place + 1}."
            )


def _check_tokens(tokens: list[Token], columns: Collection[str]) -> None:
    if len(tokens) > MAX_TOKENS:
        raise InvalidQuestion(
            f"The question has {len(tokens):,} words and signs; at most {MAX_TOKENS:,} are read."
        )
    names_of_kinds = _kinds()
    kinds = [names_of_kinds[token.token_type] for token in tokens]
    unusual = [token for token, kind in zip(tokens, kinds, strict=True) if kind not in _TOKENS]
    names = {column.casefold() for column in columns} if unusual else set()
    for token in unusual:
        if token.text.casefold() not in names:
            raise InvalidQuestion(not_here(token.text))
    _check_nesting(kinds)


def _check_nesting(kinds: Sequence[str]) -> None:
    nesting = prefixes = 0
    for kind in kinds:
        nesting += (kind in _OPENING) - (kind in _CLOSING)
        prefixes = prefixes + 1 if kind in _PREFIXES else 0
        if nesting > MAX_NESTING or prefixes > MAX_PREFIXES:
            raise InvalidQuestion(f"The question is nested more than {MAX_NESTING} levels deep.")


def _check_nodes(expression: exp.Expression) -> None:
    from sqlglot import exp

    allowed = _allowed_nodes()
    pending = [(expression, 1)]
    while pending:
        node, depth = pending.pop()
        if depth > MAX_DEPTH:
            raise InvalidQuestion(f"The question is more than {MAX_DEPTH} levels deep.")
        arguments = allowed.get(type(node))
        if arguments is None or node.comments:
            if isinstance(node, exp.Log):
                raise InvalidQuestion(_LOGARITHM)
            raise InvalidQuestion(not_here(_name(node)))
        for name, value in node.args.items():
            if value and name not in arguments:
                if type(node).__name__ == "Column":
                    raise InvalidQuestion(
                        f"A column is named without its table; write {node.name} alone."
                    )
                raise InvalidQuestion(not_here(_name(node), name.replace("_", " ").strip()))
        chain = node.this if type(node).__name__ in OPERATOR_CHAINS else None
        pending += [
            (each, depth if each is chain else depth + 1) for each in node.iter_expressions()
        ]


def _name(node: exp.Expression) -> str:
    from sqlglot import exp

    if isinstance(node, exp.Anonymous):
        return str(node.this)
    return node.sql_name() if isinstance(node, exp.Func) else type(node).__name__


def not_here(word: str, extra: str = "") -> str:
    """The sentence about a word, or what it is used with, that no question has."""
    short = word.lower() if len(word) <= 40 else word[:37].lower() + "..."
    beside = f" with {extra}" if extra else ""
    return (
        f"{short!r}{beside} cannot be used in a question; {WORDS_ELSEWHERE.get(short, _NOT_HERE)}"
    )


@cache
def _allowed_nodes() -> dict[type[exp.Expression], frozenset[str]]:
    """Exact node types, each with the arguments that may be set."""
    from sqlglot import exp

    unary: list[type[exp.Expression]]
    binary: list[type[exp.Expression]]
    several: list[type[exp.Expression]]
    unary = [exp.Avg, exp.Paren, exp.Neg, exp.Not, exp.Abs, exp.Lower, exp.Upper, exp.Length]
    unary += [exp.Year, exp.Month, exp.Day, exp.Hour, exp.Minute, exp.DayOfWeekIso]
    unary += [exp.Ln, exp.Exp, exp.Sqrt, exp.Column, exp.Boolean, exp.Null, exp.Var]
    binary = [exp.And, exp.Or, exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Is, exp.Extract, exp.Nullif]
    binary += [exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE]
    several = [exp.Coalesce, exp.In, exp.Anonymous]
    return {
        **dict.fromkeys(unary, frozenset({"this"})),
        **dict.fromkeys(binary, frozenset({"this", "expression"})),
        **dict.fromkeys(several, frozenset({"this", "expressions"})),
        exp.Least: frozenset({"this", "expressions", "ignore_nulls"}),
        exp.Greatest: frozenset({"this", "expressions", "ignore_nulls"}),
        exp.Like: frozenset({"this", "expression", "negate"}),
        exp.Between: frozenset({"this", "low", "high"}),
        exp.Case: frozenset({"this", "ifs", "default"}),
        exp.If: frozenset({"this", "true", "false"}),
        exp.Cast: frozenset({"this", "to"}),
        exp.DataType: frozenset({"this"}),
        exp.Identifier: frozenset({"this", "quoted"}),
        exp.Literal: frozenset({"this", "is_string"}),
    }
