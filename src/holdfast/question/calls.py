"""The outermost form of a question's text: ``name(argument, ...)``, and perhaps ``where ...``.

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

__all__ = ["CallText", "read_call"]

_FORM = "A question is one statistic of the rows; write it like avg(delay > 15)."


@dataclass(frozen=True, slots=True)
class CallText:
    """A name, the texts of its arguments, and the condition after ``where``."""

    name: str
    arguments: tuple[str, ...]
    where: str | None


def read_call(text: str) -> CallText:
    """The text's outermost form; refused when it has another one."""
    tokens = read_tokens(text)
    while tokens and _kind(tokens[0]) == "L_PAREN" and _closing(tokens, 0) == len(tokens) - 1:
        tokens = tokens[1:-1]
    if len(tokens) < 3 or _kind(tokens[1]) != "L_PAREN":
        raise InvalidQuestion(_FORM)
    end = _closing(tokens, 1)
    arguments = tuple(_texts(text, tokens[2:end]))
    rest = tokens[end + 1 :]
    if not rest:
        return CallText(tokens[0].text.lower(), arguments, None)
    if rest[0].text.lower() != "where":
        raise InvalidQuestion(_FORM)
    if len(rest) == 1:
        raise InvalidQuestion("After where comes a condition, as in avg(delay > 15) where x = 1.")
    return CallText(tokens[0].text.lower(), arguments, _text(text, rest[1:]))


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
