"""Evaluation of a theorem as people type it: `k=100 eta=0.01 nu=1e-6`.

Where a theorem takes the logarithm of a probability, `log_nu`, the probability itself may be given
instead: `nu=1e-6`. A list is written `[1, 2]`, a value of another kind as it is made, for instance
`step=PureDP(0.1)` or `profile=SubGaussian(1)`. Text is read as data, never run.
"""

from __future__ import annotations

import ast
import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from holdfast.errors import HoldfastError, InvalidArgument
from holdfast.theory.base.theorem import Theorem, registry
from holdfast.theory.typical.notion import TypicalStability

_WORDS = {"inf": math.inf, "true": True, "false": False, "none": None}
# What is asked of a concentration, and what then is answered.
_OF_A_PROFILE = {"log_p": "radius", "radius": "log_tail"}


@dataclass(frozen=True, slots=True)
class Evaluated:
    """A theorem's value at some arguments."""

    theorem: Theorem
    arguments: Mapping[str, Any]
    value: Any

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON; what is not finite as text."""
        return {
            "theorem": self.theorem.name,
            "arguments": {name: _plain(value) for name, value in self.arguments.items()},
            "value": _plain(self.value),
        }

    def lines(self) -> list[str]:
        """Its parts, one a line; beside a logarithm what it is the logarithm of."""
        if is_dataclass(self.value):
            return [
                _value_line(f"{part.name} = ", part.name, getattr(self.value, part.name))
                for part in fields(self.value)
                if part.init
            ]
        label = "log_value" if _is_logarithm(self.theorem) else ""
        return [_value_line("", label, self.value)]


def evaluated(theorem: Theorem, assignments: Iterable[str]) -> Evaluated:
    """The value of a theorem at `name=value` arguments; `InvalidArgument` says what is wrong."""
    texts = dict(_parted(each, theorem) for each in assignments)
    parameters = inspect.signature(theorem.function).parameters
    points = {name: texts.pop(name) for name in _asked_of(theorem, texts)}
    read = dict(_argument(name, text, theorem, parameters) for name, text in texts.items())
    hints = _hints(theorem)
    arguments = {name: _as_hinted(value, hints.get(name)) for name, value in read.items()}
    missing = [
        name
        for name, parameter in parameters.items()
        if name not in arguments and parameter.default is inspect.Parameter.empty
    ]
    if missing:
        raise InvalidArgument(
            f"{theorem.name} needs {', '.join(missing)}; call it as {theorem.signature}."
        )
    value = _called(theorem, lambda: theorem.function(**arguments))
    for name, text in points.items():
        asked_name, point = _argument(name, text, theorem, dict.fromkeys(_OF_A_PROFILE))
        answer = getattr(value, _OF_A_PROFILE[asked_name])
        value = _called(theorem, partial(answer, point))
        arguments[asked_name] = point
    return Evaluated(theorem, arguments, value)


def _asked_of(theorem: Theorem, texts: Mapping[str, str]) -> list[str]:
    """The point of a concentration at which it is asked for a radius or a tail, if it is one."""
    if not (isinstance(theorem.function, type) and hasattr(theorem.function, "log_tail")):
        return []
    return [name for name in ("p", "log_p", "radius") if name in texts][:1]


def _parted(text: str, theorem: Theorem) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise InvalidArgument(
            f"{text!r} is no argument; write name=value, as in {theorem.name} "
            f"{next(iter(inspect.signature(theorem.function).parameters), 'k')}=..."
        )
    return name.strip(), value.strip()


def _argument(
    name: str, text: str, theorem: Theorem, parameters: Mapping[str, Any]
) -> tuple[str, Any]:
    """The parameter that is meant, and its value; ln of a probability where that is asked for."""
    try:
        value = _value(ast.parse(text, mode="eval").body)
    except InvalidArgument:  # a value of another kind says itself what is wrong with it
        raise
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        raise InvalidArgument(
            f"{name} is {text!r}; it must be a number, a list such as [1, 2], or a value such as "
            "PureDP(0.1)."
        ) from None
    if name in parameters:
        annotated = getattr(parameters[name], "annotation", "float")
        whole = annotated == "int" and isinstance(value, float) and value.is_integer()
        return name, int(value) if whole else value
    if f"log_{name}" in parameters:
        logs = [_log(name, each) for each in value] if isinstance(value, list) else None
        return f"log_{name}", _log(name, value) if logs is None else logs
    raise InvalidArgument(
        f"{theorem.name} has no argument {name!r}; call it as {theorem.signature}."
    )


def _hints(theorem: Theorem) -> Mapping[str, Any]:
    try:
        return get_type_hints(theorem.function)
    except (NameError, TypeError):  # types that are only there for a checker
        return {}


def _as_hinted(value: Any, hint: Any) -> Any:
    """A list as the record that a parameter wants: an interval, or several of them."""
    if not isinstance(value, list):
        return value
    if isinstance(hint, type) and hasattr(hint, "_fields"):
        return hint(*value)
    kinds = [kind for kind in get_args(hint) if kind not in (NoneType, Ellipsis)]
    records = [kind for kind in kinds if isinstance(kind, type) and hasattr(kind, "_fields")]
    if get_origin(hint) in (UnionType, Union):
        return _as_hinted(value, records[0]) if records else value
    if get_origin(hint) is tuple and len(kinds) == len(value):
        return tuple(map(_as_hinted, value, kinds))
    return [_as_hinted(each, kinds[0]) for each in value] if len(kinds) == 1 else value


def _log(name: str, probability: Any) -> float:
    if isinstance(probability, bool) or not isinstance(probability, int | float):
        raise InvalidArgument(f"{name} is {probability!r}; it must be a probability.")
    if not 0 <= probability <= 1:
        raise InvalidArgument(f"{name} is {probability!r}; it must be a probability in [0, 1].")
    return math.log(probability) if probability else -math.inf


def _value(node: ast.expr) -> Any:
    match node:
        case ast.Constant(value=int() | float() | str() | None as value):
            return value
        case ast.Name(id=word):
            return _WORDS.get(word, word)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand)
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            return [_value(part) for part in parts]
        case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords):
            named = {each.arg: _value(each.value) for each in keywords if each.arg}
            return _kind(name)(*map(_value, args), **named)
    raise ValueError(node)


def _kind(name: str) -> Callable[..., Any]:
    """The kind of value of this name: those of the registry, and typical stability."""
    if name == TypicalStability.__name__:
        return TypicalStability
    entry = registry().get(name)
    if entry is None or not isinstance(entry.function, type):
        raise ValueError(name)
    return entry.function


def _called(theorem: Theorem, call: Callable[[], Any]) -> Any:
    try:
        return call()
    except HoldfastError:
        raise
    except (TypeError, ValueError, AttributeError, OverflowError, MemoryError) as error:
        raise InvalidArgument(
            f"{theorem.name} cannot be evaluated there ({error}); it holds for {theorem.domain}."
        ) from None


def _is_logarithm(theorem: Theorem) -> bool:
    text = theorem.function.__doc__ or ""
    return "log_" in theorem.name or text.startswith("ln ")


def _value_line(before: str, name: str, value: Any) -> str:
    """A number, and for a logarithm the number that it is of."""
    if name.startswith("log_") and isinstance(value, float):
        whole = math.exp(value) if value < 700 else math.inf
        return f"{before}{value:.10g}  (e to it: {whole:.6g})"
    return f"{before}{value:.10g}" if isinstance(value, float) else f"{before}{value}"


def _plain(value: Any) -> Any:
    match value:
        case float() if not math.isfinite(value):
            return str(value)
        case int() | float() | str() | None:
            return value
        case list() | tuple() if not hasattr(value, "_fields"):
            return [_plain(part) for part in value]
    if is_dataclass(value):
        return {part.name: _plain(getattr(value, part.name)) for part in fields(value) if part.init}
    if hasattr(value, "_asdict"):
        return {name: _plain(part) for name, part in value._asdict().items()}
    return str(value)
