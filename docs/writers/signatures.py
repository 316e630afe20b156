"""Names of Python as a page shows them: signatures, docstrings, and the members of a class."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from docs.writers.markdown import table

__all__ = ["class_entry", "function_entry", "prose", "summary"]

_WIDE = 96
_STARS: Mapping[Any, str] = {
    inspect.Parameter.VAR_POSITIONAL: "*",
    inspect.Parameter.VAR_KEYWORD: "**",
}
_LITERAL = re.compile(r"``([^`]*)``")
_PAGE = re.compile(r"\bdocs/([a-z-]+)\.md")


def prose(thing: Any) -> str:
    """A docstring as Markdown; other pages that it names are links."""
    said = inspect.getdoc(thing)
    if not said:
        raise ValueError(f"{thing!r} is public and has no docstring")
    return _PAGE.sub(r"[\1](../\1.md)", _LITERAL.sub(r"`\1`", said))


def summary(thing: Any) -> str:
    """The first paragraph of a docstring, on one line."""
    return " ".join(prose(thing).partition("\n\n")[0].split())


def function_entry(name: str, function: Callable[..., Any]) -> list[str]:
    """What a function is called with, and what it says of itself."""
    return ["```python", _signature(name, function), "```\n", f"{prose(function)}\n"]


def class_entry(
    name: str, kind: type, *, made_by_users: bool, known: Collection[str] = ()
) -> list[str]:
    """What a class says of itself, what it holds, and what it does beside what is `known`."""
    head = function_entry(name, kind) if made_by_users else [f"{prose(kind)}\n"]
    members = {each: value for each, value in _members(kind) if each not in known}
    held = [each for each in members.items() if isinstance(each[1], property)]
    methods = [each for each in members.items() if not isinstance(each[1], property)]
    # What takes nothing is a line of the table; the rest has its own place.
    rows = [(f"`{each}`", _returned(value.fget), summary(value)) for each, value in held]
    rows += [
        (f"`{each}()`", _returned(value), summary(value))
        for each, value in methods
        if _short(value)
    ]
    lines = [*head, *_fields(kind), *table(("member", "type", "what it is"), rows)]
    for each, value in methods:
        if not _short(value):
            lines += [f"**`{name}.{each}`**\n", *function_entry(each, value)]
    return lines


def _fields(kind: type) -> list[str]:
    """The fields of a record, which its own docstring explains."""
    if not is_dataclass(kind):
        return []
    own = [each for each in fields(kind) if not each.name.startswith("_")]
    return [f"Fields: {', '.join(f'`{each.name}: {_plain(each.type)}`' for each in own)}.\n"]


def _members(kind: type) -> Iterator[tuple[str, Any]]:
    """Public methods and properties that Holdfast itself gives to a class, its own first."""
    seen: set[str] = set()
    for base in kind.__mro__:
        if base.__module__.partition(".")[0] != "holdfast":
            continue
        for each, value in vars(base).items():
            plain = value.__func__ if isinstance(value, classmethod | staticmethod) else value
            if each.startswith("_") or each in seen:
                continue
            if isinstance(value, property) or inspect.isfunction(plain):
                seen.add(each)
                yield each, plain


def _short(method: Callable[..., Any]) -> bool:
    return not _parameters(method) and "\n\n" not in prose(method)


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    found = inspect.signature(function).parameters.values()
    return [each for each in found if each.name not in ("self", "cls")]


def _signature(name: str, function: Callable[..., Any]) -> str:
    """A call on one line if it fits, else one parameter on each."""
    words, starred = [], False
    for each in _parameters(function):
        if each.kind is each.KEYWORD_ONLY and not starred:
            words.append("*")
        starred |= each.kind in (each.KEYWORD_ONLY, each.VAR_POSITIONAL)
        words.append(_parameter(each))
    returned = "" if inspect.isclass(function) else _returned(function)
    after = f" -> {returned}" if returned else ""
    line = f"{name}({', '.join(words)}){after}"
    if len(line) <= _WIDE:
        return line
    return "\n".join([f"{name}(", *(f"    {word}," for word in words), f"){after}"])


def _parameter(each: inspect.Parameter) -> str:
    kind = _plain(each.annotation)
    text = _STARS.get(each.kind, "") + (f"{each.name}: {kind}" if kind else each.name)
    if each.default is each.empty:
        return text
    shown = each.default.__name__ if isinstance(each.default, type) else repr(each.default)
    return f"{text} = {shown}" if kind else f"{text}={shown}"


def _returned(function: Callable[..., Any]) -> str:
    kind = _plain(inspect.signature(function).return_annotation)
    return "" if kind == "None" else kind


def _plain(annotation: Any) -> str:
    """An annotation as it was written; names that are private to a module without their mark."""
    if annotation is inspect.Parameter.empty:
        return ""
    text = annotation if isinstance(annotation, str) else str(annotation)
    text = re.sub(r"Unpack\[(\w+)\]", r"\1", text.strip("'\""))
    return re.sub(r"\b_(?=[A-Z])", "", text)
