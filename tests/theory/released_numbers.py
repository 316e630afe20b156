"""Record of released numbers: what every theorem says at fixed arguments, to twelve digits.

A detector of changes, not a source of values: the record was written by this software
(`python -m tests.theory.released_numbers`), so that it says nothing about who is right. Its test
fails where any number comes out differently than when it was written, so that no such change lands
without a line under *Guarantees changed* in the changelog. Arguments are those of the golden rows
(`tests/theory/tables`), and the same with one of them put somewhere else: at an end, at a tiny
level, few or many rows.
"""

from __future__ import annotations

import dataclasses
import json
import math
import signal
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any

import numpy as np

from holdfast.errors import HoldfastError
from holdfast.theory.base.theorem import registry
from tests.theory.released_cases import KINDS, more_calls
from tests.theory.rows import Golden
from tests.theory.tables import GOLDEN

RECORD = Path(__file__).with_name("released_numbers.json")
DIGITS = 12
WITHIN = 1e-10  # libraries of other machines differ in the last places
EACH, REFUSED = 12, 40  # points of a theorem beside its golden rows
MORE, LONG = "more", 16
SLOW = 0.03  # seconds, after which a point is left out
REWRITE = (
    "A number that was released comes out differently. If that is meant, enter it under "
    "*Guarantees changed* in CHANGELOG.md and run `python -m tests.theory.released_numbers`."
)
_REFUSED = "refused: "
LEVELS, RADII = (-0.1, -3.0, -30.0, -400.0), (0.01, 0.3, 2.0)

Call = Callable[[], Any]
Result = list[Any]


def flat(value: Any) -> Iterator[Any]:
    """Everything that a result says, in order."""
    match value:
        case bool() | None | str():
            yield value
        case Fraction() | float() | int() | np.generic():
            yield float(f"{float(value):.{DIGITS}g}")
        case np.ndarray():
            yield from flat(value.tolist())
        case Mapping():
            for each in value.items():
                yield from flat(each)
        case list() | tuple():
            for each in value:
                yield from flat(each)
        case _ if _is_tail(value):
            yield from (said for p in LEVELS for said in called(partial(value.radius, p)))
            yield from (said for a in RADII for said in called(partial(value.log_tail, a)))
        case _ if dataclasses.is_dataclass(value):
            for name in _fields(value):
                yield from flat(getattr(value, name))
        case _ if callable(value):
            return
        case _:
            raise TypeError(f"no numbers in {value!r}")


def called(call: Call) -> Result:
    """The numbers of a call, or that it refused."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return shortened(list(flat(call())))
        except HoldfastError as error:
            return [f"{_REFUSED}{type(error).__name__}"]


def shortened(result: Result) -> Result:
    """Of a long table how many numbers it has, its ends and its sums."""
    if len(result) <= LONG:
        return result
    weighted = math.fsum(place * each for place, each in enumerate(result, 1))
    return [*flat([len(result), result[0], result[-1], math.fsum(result), weighted])]


def is_refusal(result: Result) -> bool:
    """Whether nothing but a refusal came out."""
    return len(result) == 1 and str(result[0]).startswith(_REFUSED)


def same(was: Result, now: Result) -> bool:
    """Whether two results say the same, as far as they are kept."""
    return len(was) == len(now) and all(
        a == b
        or (isinstance(a, float) and isinstance(b, float) and math.isclose(a, b, rel_tol=WITHIN))
        for a, b in zip(was, now, strict=True)
    )


# Arguments ----------------------------------------------------------------------------------------


def elsewhere(name: str, value: Any) -> Iterator[Any]:
    """Other values of an argument: ends, few and many, tiny and large."""
    match value:
        case bool():
            yield not value
        case int():
            yield from (0, 1, 2, 3, value - 1, value + 1, 2 * value + 1, 10 * value, 20_000, -1)
        case Fraction():
            yield from (value / 3, 2 * value, Fraction(0), Fraction(1))
        case float() if name.startswith("log_") or value < 0:
            yield from (
                -0.1,
                -0.7,
                -3.0,
                -12.0,
                -60.0,
                -600.0,
                value / 2,
                0.0,
                -math.inf,
                0.5,
                math.nan,
            )
        case float():
            yield from (
                0.0,
                1e-12,
                value / 3,
                2.5 * value,
                1 - value,
                1.0,
                1 - 1e-12,
                40.0,
                -value,
                math.nan,
            )
        case list() | tuple() if value and not hasattr(value, "_fields"):
            kind = type(value)
            yield kind(value[::-1])
            yield kind([*value, *value])
            yield kind(value[:1])
            for place in (0, len(value) - 1):
                for other in elsewhere(name, value[place]):
                    yield kind([*value[:place], other, *value[place + 1 :]])
        case _ if fields := _fields(value):
            for each in fields:
                for other in elsewhere(each, getattr(value, each)):
                    with suppress(HoldfastError, ArithmeticError, ValueError, TypeError):
                        yield _with(value, each, other)


def _fields(value: Any) -> tuple[str, ...]:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return tuple(each.name for each in dataclasses.fields(value) if each.init)
    return getattr(value, "_fields", ())


def _with(value: Any, name: str, other: Any) -> Any:
    before = {each: getattr(value, each) for each in _fields(value)}
    return type(value)(**before | {name: other})


@cache
def points() -> dict[str, dict[str, tuple[Call, Call]]]:
    """Of every theorem its calls by name, each with the same a unit in the last place away."""
    found: dict[str, dict[str, tuple[Call, Call]]] = {}
    rows = Counter[str]()
    for row in GOLDEN:
        own, number = found.setdefault(row.theorem, {}), rows[row.theorem]
        rows[row.theorem] += 1
        named = {f"{number}": row.inputs} | {
            f"{number} {argument} {place}": {**row.inputs, argument: other}
            for argument, value in row.inputs.items()
            for place, other in enumerate(elsewhere(argument, value))
        }
        for name, inputs in named.items():
            near = {argument: _near(value) for argument, value in inputs.items()}
            own[name] = partial(_said, row, inputs), partial(_said, row, near)
    for name, call in (*_made_otherwise(), *more_calls()):
        own = found.setdefault(name, {})
        own[f"{MORE} {len(own)}"] = call, call
    return found


def _made_otherwise() -> Iterator[tuple[str, Call]]:
    """Every kind of value that checks its fields, with one of them put elsewhere."""
    kinds: dict[type, Any] = {}
    given = [list(row.inputs.values()) for row in GOLDEN]
    for _, call in more_calls():
        if isinstance(call, partial):
            whose = getattr(call.func, "__self__", None)
            given.append([whose, *call.args, *call.keywords.values()])
            if isinstance(call.func, type):
                with suppress(HoldfastError):
                    given.append([call()])
    for value in _parts_of([*given, *KINDS]):
        kinds.setdefault(type(value), value)
    for kind, value in kinds.items():
        for field in _fields(value) if hasattr(kind, "__post_init__") else ():
            for other in elsewhere(field, getattr(value, field)):
                yield f"made {kind.__name__}", partial(_with, value, field, other)


def _parts_of(value: Any) -> Iterator[Any]:
    """All that a value is made of, itself first."""
    yield value
    parts = value if isinstance(value, list | tuple) else ()
    for each in (*parts, *(getattr(value, name) for name in _fields(value))):
        yield from _parts_of(each)


def _said(row: Golden, inputs: Mapping[str, Any]) -> Any:
    found = registry()[row.theorem].function(**inputs)
    return found if _is_tail(found) or row.measure is None else (found, row.measure(found))


def _is_tail(value: Any) -> bool:
    return hasattr(value, "log_tail") and hasattr(value, "radius")


def _near(value: Any) -> Any:
    if isinstance(value, float) and math.isfinite(value):
        return math.nextafter(value, 0.5)
    return type(value)(map(_near, value)) if type(value) in (list, tuple) else value


# The record ---------------------------------------------------------------------------------------


def recorded() -> dict[str, dict[str, Result]]:
    """The record as it was written."""
    found: dict[str, dict[str, Result]] = json.loads(RECORD.read_text("utf-8"))
    return found


def differences(names: Sequence[str]) -> list[str]:
    """What comes out differently than it was recorded."""
    record, present, found = recorded(), points(), []
    for name in names:
        for point, was in record[name].items():
            call = present.get(name, {}).get(point)
            now = _any(call[0]) if call else ["no such arguments any more"]
            if not same(was, now):
                found.append(f"{name}, {point}: {was} became {now}")
    return found


def _any(call: Call) -> Result:
    try:
        return called(call)
    except Exception as error:
        return [repr(error)]


def _is_senseless(result: Result) -> bool:
    return any(isinstance(each, float) and math.isnan(each) for each in result)


class _Slow(Exception):
    pass


def _stop(number: int, frame: FrameType | None) -> None:
    raise _Slow


def _kept(call: Call, near: Call, slow: float) -> Result | None:
    """What is recorded of a point: nothing where it is slow, senseless or ill-conditioned."""
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, slow)
        result = called(call)
        signal.setitimer(signal.ITIMER_VIRTUAL, 20 * SLOW)
        return result if not _is_senseless(result) and same(result, called(near)) else None
    except (ArithmeticError, ValueError, TypeError, LookupError, _Slow, RecursionError):
        return None
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)


def write() -> None:
    """The record, anew: points that it has stay, so that only what changed is another line."""
    signal.signal(signal.SIGVTALRM, _stop)
    before = recorded() if RECORD.exists() else {}
    record = {
        name: _chosen(name, every, before.get(name, {})) for name, every in sorted(points().items())
    }
    lines = [f"{json.dumps(name)}: {json.dumps(own)}" for name, own in record.items()]
    RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


def _chosen(
    name: str, every: Mapping[str, tuple[Call, Call]], before: Mapping[str, Result]
) -> dict[str, Result]:
    """What is kept of a theorem: what was, its golden rows, and others drawn by lot."""
    lot = sorted(every)
    Random(name).shuffle(lot)
    lot.sort(key=lambda point: point not in before)
    own: dict[str, Result] = {}
    left = {True: REFUSED, False: EACH}
    for point in lot:
        is_varied = " " in point and not point.startswith(MORE)
        if is_varied and not any(left.values()):
            continue
        # What was quick enough once stays on a machine that is slower today.
        result = _kept(*every[point], 20 * SLOW if point in before else SLOW)
        if result is not None and not (is_varied and left[is_refusal(result)] == 0):
            left[is_refusal(result)] -= is_varied
            own[point] = result
    return {point: own[point] for point in every if point in own}


if __name__ == "__main__":
    write()
