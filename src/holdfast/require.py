"""Arguments, checked where they enter: one sentence with the name, the value and the range.

Each function returns the checked value, so that a caller can write
``rows = require.positive_integer("rows", rows)``; `takes` checks the names that a call gives.
"""

from __future__ import annotations

import inspect
import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Never, ParamSpec, TypeVar, get_type_hints

from holdfast.did_you_mean import number_meant, require_arguments
from holdfast.errors import InvalidArgument, MissingExtra

# A file system's limit for one name, with room for what the ledger's other files add to theirs.
_LONGEST_NAME = 230
_LONGEST_SHOWN = 100


def _reject(name: str, value: object, allowed: str) -> Never:
    number = number_meant(value)
    advice = "" if number is None else f"; did you mean {_plain(number):.10g}?"
    raise InvalidArgument(f"{name} is {_text_of(value)}; it must be {allowed}{advice or '.'}")


def _text_of(value: object) -> str:
    """What was given, as Python writes it; long things are cut, and 0.06999999999999999 is 0.07."""
    literal = repr(_plain(value) if type(value) is float else value)
    if len(literal) <= _LONGEST_SHOWN:
        return literal
    return f"{literal[: _LONGEST_SHOWN // 2]}... ({type(value).__name__})"


def _plain(number: float) -> float:
    """The number without its rounding error, unless it is that by which it misses a whole one."""
    short = float(f"{number:.12g}")
    return short if short.is_integer() == number.is_integer() else number


@contextmanager
def installed(feature: str, extra: str) -> Iterator[None]:
    """What is done inside needs libraries that the extra brings."""
    try:
        yield
    except ImportError as missing:
        raise MissingExtra(
            f"{feature} need {missing.name or 'a library'}, which is not installed; "
            f"install the extra: pip install 'holdfast[{extra}]'."
        ) from missing


def text(name: str, value: object) -> str:
    """Text that can be written to a file: without NUL and half characters."""
    allowed = "text"
    if not isinstance(value, str) or not value or "\0" in value or not _encodes(value):
        _reject(name, value, allowed)
    return value


def texts(name: str, value: object) -> list[str]:
    """A list of texts, not one text."""
    allowed = "a list of texts"
    if isinstance(value, str):
        allowed += f", such as [{_text_of(value)}]"
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        _reject(name, value, allowed)
    values = items(name, value, allowed)
    if not all(isinstance(each, str) for each in values):
        _reject(name, value, allowed)
    return values


def items(name: str, value: object, allowed: str) -> list[Any]:
    """What an iterable holds; some that say they are iterable are not."""
    try:
        return list(value)  # type: ignore[call-overload, no-any-return]
    except TypeError:
        _reject(name, value, allowed)


def mapping(name: str, value: object) -> Mapping[str, Any]:
    """Named values."""
    if not isinstance(value, Mapping):
        _reject(name, value, "a mapping from names to values")
    return value


def flag(name: str, value: object) -> bool:
    """True or False."""
    if not isinstance(value, bool):
        _reject(name, value, "True or False")
    return value


def one_of(name: str, allowed: Sequence[str], value: object) -> str:
    """One of a few words."""
    if value not in allowed:
        _reject(name, value, " or ".join(map(repr, allowed)))
    return str(value)


def file(name: str, value: object) -> Path:
    """A path that a file system can have."""
    allowed = f"a path, with names of at most {_LONGEST_NAME} bytes"
    if not isinstance(value, str | os.PathLike):
        _reject(name, value, allowed)
    try:
        path = Path(value)
        longest = max((len(os.fsencode(part)) for part in path.parts), default=0)
    except (TypeError, ValueError):
        _reject(name, value, allowed)
    if longest > _LONGEST_NAME or "\0" in str(path):
        _reject(name, value, allowed)
    return path


def _encodes(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def finite(name: str, value: object, allowed: str = "a finite number") -> float:
    """A real number that is neither NaN nor infinite (and not a bool)."""
    if type(value) is float:  # nearly always: asking what a number is costs more than the check
        number = value
    else:
        if isinstance(value, bool) or not isinstance(value, Real):
            _reject(name, value, allowed)
        try:
            number = float(value)
        except OverflowError:
            _reject(name, value, allowed)
    if not math.isfinite(number):
        _reject(name, value, allowed)
    return number


def positive(name: str, value: object) -> float:
    """A finite number above zero."""
    allowed = "a finite number above 0"
    number = finite(name, value, allowed)
    if number <= 0:
        _reject(name, value, allowed)
    return number


def non_negative(name: str, value: object) -> float:
    """A finite number, zero or above."""
    allowed = "a finite number, 0 or above"
    number = finite(name, value, allowed)
    if number < 0:
        _reject(name, value, allowed)
    return number


def at_least(name: str, value: object, least: float) -> float:
    """A finite number, `least` or above."""
    allowed = f"a finite number, {least:g} or above"
    number = finite(name, value, allowed)
    if number < least:
        _reject(name, value, allowed)
    return number


def between(
    name: str,
    value: object,
    low: float,
    high: float,
    *,
    open_low: bool = False,
    open_high: bool = False,
) -> float:
    """A number from `low` to `high`, each end included unless said open."""
    if type(value) is float and low < value < high:  # nearly always
        return value
    allowed = f"in {'(' if open_low else '['}{low:g}, {high:g}{')' if open_high else ']'}"
    number = finite(name, value, allowed)
    below = number <= low if open_low else number < low
    above = number >= high if open_high else number > high
    if above and high <= 1 and 2 <= number <= 100:
        allowed += f"; {number:.10g} % is {number / 100:.10g}"
    if below or above:
        _reject(name, value, allowed)
    return number


def probability(name: str, value: object) -> float:
    """A probability strictly between 0 and 1."""
    return between(name, value, 0.0, 1.0, open_low=True, open_high=True)


def confidence_level(value: object) -> float:
    """How sure all intervals are together; below a half it was meant as the failure probability."""
    level = probability("confidence_level", value)
    if level < 0.5:
        raise InvalidArgument(
            f"confidence_level is {value!r}, the probability that all intervals are true; did you "
            f"mean {1 - level:.10g}?"
        )
    return level


def tolerance(value: object) -> float:
    """A half-width as a part of the range, below that of the whole range."""
    try:
        return between("tolerance", value, 0.0, 0.5, open_low=True, open_high=True)
    except InvalidArgument as error:
        raise InvalidArgument(
            f"{error} It is a part of the range, such as 0.025; half_width= has the answer's unit."
        ) from None


def log_probability(name: str, value: object) -> float:
    """The natural logarithm of a probability in (0, 1]."""
    if type(value) is float and -math.inf < value <= 0.0:  # nearly always
        return value
    allowed = "the natural logarithm of a probability: a finite number, 0 or below"
    number = finite(name, value, allowed)
    if number > 0:
        _reject(name, value, allowed)
    return number


def integer_at_least(name: str, value: object, least: int) -> int:
    """A whole number, `least` or above; 500.0 counts as 500."""
    if type(value) is int and least <= value <= sys.maxsize:  # nearly always
        return value
    allowed = f"a whole number, {least:,} or above"
    number = finite(name, value, allowed)
    if not number.is_integer():
        _reject(name, value, allowed)
    whole = int(value) if isinstance(value, Integral) else int(number)
    if whole < least:
        _reject(name, value, allowed)
    return whole


def integer_between(name: str, value: object, least: int, most: int) -> int:
    """A whole number from `least` to `most`."""
    if type(value) is int and least <= value <= most:  # nearly always
        return value
    allowed = f"a whole number from {least:,} to {most:,}"
    number = finite(name, value, allowed)
    if not number.is_integer() or not least <= number <= most:
        _reject(name, value, allowed)
    return int(value) if isinstance(value, Integral) else int(number)


def positive_integer(name: str, value: object) -> int:
    """A whole number, 1 or above."""
    return integer_at_least(name, value, 1)


def surprises(value: object, questions: int | None) -> int | None:
    """How many of the declared questions may be refuted guesses; None where it is not said."""
    if value is None:
        return None
    count = integer_at_least("surprises", value, 0)
    if questions is None:
        raise InvalidArgument(
            f"surprises is {count:,}, and questions is not declared; say how many questions they "
            "are among: questions=."
        )
    if count > questions:
        raise InvalidArgument(
            f"surprises is {count:,} and questions is {questions:,}; there cannot be more "
            "surprises than questions."
        )
    return count


# Keyword arguments that the record of a verb's options has.


_P = ParamSpec("_P")
_T = TypeVar("_T")
_RENAMED = {
    "by": "the person who asks is asked_by=, and by= is a column.",
    "key": "the idempotency key of a call is request_key=, and key= is a column of keys.",
}


def takes(
    record: type | None = None, called: str | None = None, *, shown: bool = True
) -> Callable[[Callable[_P, _T]], Callable[_P, _T]]:
    """Give a verb the options of a record, and no others; `shown`, in its signature, too."""

    def with_options(verb: Callable[_P, _T]) -> Callable[_P, _T]:
        own, hints = inspect.signature(verb), {} if record is None else get_type_hints(record)
        own_parameters = [
            each for each in own.parameters.values() if each.kind is not each.VAR_KEYWORD
        ]
        options_taken = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=False if hint is bool else None,
                annotation=hint,
            )
            for name, hint in hints.items()
        ]
        parameters = [*own_parameters, *options_taken]
        known = {each.name for each in parameters}
        title, is_method = (
            called or verb.__name__,
            bool(own_parameters) and own_parameters[0].name == "self",
        )

        @wraps(verb)
        def checked(*given: _P.args, **options: _P.kwargs) -> _T:
            unknown = options.keys() - known
            for name in _RENAMED.keys() & unknown:
                raise TypeError(f"{title}() takes no {name}=; {_RENAMED[name]}")
            if unknown:
                require_arguments(title, parameters, given[is_method:], options)
            try:
                return verb(*given, **options)
            except TypeError:  # of the call, or of what it does
                require_arguments(title, parameters, given[is_method:], options)
                raise

        if shown:
            checked.__signature__ = own.replace(  # type: ignore[attr-defined]
                parameters=parameters
            )
        return checked

    return with_options
