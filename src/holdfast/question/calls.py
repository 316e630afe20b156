"""The outermost form of a question's text: ``name(argument, ...)``, ``where ...``, ``by ...``.

Only the places of parentheses and commas are read here; each argument passes the gates by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from holdfast.errors import InvalidQuestion
from holdfast.question.gate import TextToken, read_words

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
    words: Sequence[TextToken] = read_words(text)
    while words and words[0].kind == "L_PAREN" and _closing(words, 0) == len(words) - 1:
        words = words[1:-1]
    if len(words) < 3 or words[1].kind != "L_PAREN":
        raise InvalidQuestion(_FORM)
    end = _closing(words, 1)
    arguments = tuple(_texts(text, words[2:end]))
    rest, by = _without_by(words[end + 1 :])
    if not rest:
        return CallText(words[0].text.lower(), arguments, None, by)
    if rest[0].text.lower() != "where":
        raise InvalidQuestion(_FORM)
    if len(rest) == 1:
        raise InvalidQuestion("After where comes a condition, as in avg(delay > 15) where x = 1.")
    return CallText(words[0].text.lower(), arguments, _text(text, rest[1:]), by)


def reads_alike(text: str, other: str) -> bool:
    """Whether two texts say the same word by word, but for spaces and how numbers are written."""
    return text == other or _said(text) == _said(other)


def _said(text: str) -> list[tuple[str, str | float]]:
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
    raise InvalidQuestion("A parenthesis of the question is not closed.")


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
        raise InvalidQuestion("An argument of the question is missing.")
    return text[words[0].start : words[-1].end + 1]
