"""The outermost form of a question's text: ``name(argument, ...)``, ``where ...``, ``by ...``.

Only the places of parentheses and commas are read here; each argument passes the gates by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.errors import InvalidQuestion
from holdfast.question.gate import read_tokens

if TYPE_CHECKING:
    from sqlglot.tokenizer_core import Token

__all__ = ["CallText", "read_call", "reads_alike"]

_NO_NAMES = ("STRING", "ISNULL", "NOTNULL")
_FORM = "A question is one statistic of the rows; write it like avg(delay > 15)."


@dataclass(frozen=True, slots=True)
class CallText:
    """A name, the texts of its arguments, and what stands after ``where`` and after ``by``."""

    name: str
    arguments: tuple[str, ...]
    where: str | None
    by: tuple[str, ...] = ()


def read_call(text: str) -> CallText:
    """The text's outermost form; refused when it has another one."""
    tokens = read_tokens(text)
    while tokens and _kind(tokens[0]) == "L_PAREN" and _closing(tokens, 0) == len(tokens) - 1:
        tokens = tokens[1:-1]
    if len(tokens) < 3 or _kind(tokens[1]) != "L_PAREN":
        raise InvalidQuestion(_FORM)
    end = _closing(tokens, 1)
    arguments = tuple(_texts(text, tokens[2:end]))
    rest, by = _without_by(tokens[end + 1 :])
    if not rest:
        return CallText(tokens[0].text.lower(), arguments, None, by)
    if rest[0].text.lower() != "where":
        raise InvalidQuestion(_FORM)
    if len(rest) == 1:
        raise InvalidQuestion("After where comes a condition, as in avg(delay > 15) where x = 1.")
    return CallText(tokens[0].text.lower(), arguments, _text(text, rest[1:]), by)


def reads_alike(text: str, other: str) -> bool:
    """Whether two texts say the same word by word, but for spaces and how numbers are written."""
    return text == other or _words(text) == _words(other)


def _words(text: str) -> list[tuple[str, str | float]]:
    """The words and signs of a text: what it means, whatever they are read as."""
    words = ((_kind(token), token.text) for token in read_tokens(text))
    return [(kind, float(word) if kind == "NUMBER" else word) for kind, word in words]


def _without_by(tokens: list[Token]) -> tuple[list[Token], tuple[str, ...]]:
    """What stands before ``by`` and names of columns, and these names.

    No condition has a name directly after another; a column that is called by is quoted.
    """
    for place in range(len(tokens) - 1, -1, -1):
        names, commas = tokens[place + 1 :: 2], tokens[place + 2 :: 2]
        if _is_by(tokens[place]) and len(names) == len(commas) + 1:
            named = all(map(_is_name, names))
            if named and all(_kind(comma) == "COMMA" for comma in commas):
                return tokens[:place], tuple(name.text for name in names)
    return tokens, ()


def _is_by(token: Token) -> bool:
    return _kind(token) != "IDENTIFIER" and token.text.lower() == "by"


def _is_name(token: Token) -> bool:
    """A word, also one that is reserved elsewhere; or anything in double quotes."""
    kind = _kind(token)
    return kind == "IDENTIFIER" or (kind not in _NO_NAMES and token.text.isidentifier())


def _kind(token: Token) -> str:
    return str(token.token_type.name)


def _closing(tokens: list[Token], opening: int) -> int:
    """The place of the parenthesis that closes the one at `opening`."""
    depth = 0
    for place in range(opening, len(tokens)):
        depth += (_kind(tokens[place]) == "L_PAREN") - (_kind(tokens[place]) == "R_PAREN")
        if depth == 0:
            return place
    raise InvalidQuestion("A parenthesis of the question is not closed.")


def _texts(text: str, tokens: list[Token]) -> Iterator[str]:
    """The texts between the commas that stand outside inner parentheses."""
    depth, first = 0, 0
    for place, token in enumerate(tokens):
        depth += (_kind(token) == "L_PAREN") - (_kind(token) == "R_PAREN")
        if depth == 0 and _kind(token) == "COMMA":
            yield _text(text, tokens[first:place])
            first = place + 1
    yield _text(text, tokens[first:])


def _text(text: str, tokens: list[Token]) -> str:
    if not tokens:
        raise InvalidQuestion("An argument of the question is missing.")
    return text[tokens[0].start : tokens[-1].end + 1]
