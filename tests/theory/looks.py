"""Record of searches: where each begins, and how often it looks.

A search returns the same wherever it begins: what saves looks changes no number, so no test of
numbers sees it. The record (`python -m tests.theory.looks`) is a detector of changes, as
`released_numbers.json` is: where searches begin elsewhere or look more often than they did, its
test fails, and the record is written anew if that is meant.
"""

from __future__ import annotations

import json
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial, wraps
from pathlib import Path
from typing import Any

import numpy as np

from holdfast.errors import HoldfastError
from holdfast.theory.base import bets, safeside
from holdfast.theory.base.theorem import registry
from tests.theory.rounding_cases import more_cases
from tests.theory.roundings import forget, modules_of
from tests.theory.tables import GOLDEN

RECORD = Path(__file__).with_name("looks.json")
SEARCHES = {
    **{name: getattr(bets, name) for name in ("first_kept", "last_rejected")},
    **{
        name: getattr(safeside, name)
        for name in ("smallest_true", "largest_true", "largest_integer", "golden_minimum")
    },
}
MOST, SLOW = 6, 0.06  # searches of a call that are kept, and seconds after which it is left out
Search = tuple[str, list[float], int]


def calls() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Names and calls: the first golden row of each theorem, and what no theorem calls."""
    seen = Counter[str]()
    for case in more_cases():
        seen[case.label] += 1
        yield f"{case.label} {seen[case.label]}", case.run
    rows = {row.theorem: row for row in reversed(GOLDEN)}
    for name, row in rows.items():
        yield name, partial(registry()[name].function, **row.inputs)


@contextmanager
def watched() -> Iterator[list[Search]]:
    """Inside, every search of the theory is noted: its name, where it begins, how many looks."""
    noted: list[Search] = []

    def through(name: str, search: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(search)
        def watching(function: Callable[[Any], Any], *places: float, **named: Any) -> Any:
            looks = 0

            def counting(value: Any) -> Any:
                nonlocal looks
                looks += 1
                return function(value)

            place = len(noted)
            begins = [float(each) for each in (*places, *named.values()) if _is_number(each)]
            noted.append((name, begins, 0))
            try:
                return search(counting, *places, **named)
            finally:
                noted[place] = (name, begins, looks)

        return watching

    replaced = {id(search): through(name, search) for name, search in SEARCHES.items()}
    before = [
        (module, name, value)
        for module in modules_of("theory")
        for name, value in vars(module).items()
        if id(value) in replaced and module is not safeside
    ]
    for module, name, value in before:
        setattr(module, name, replaced[id(value)])
    try:
        yield noted
    finally:
        for module, name, value in before:
            setattr(module, name, value)


def _is_number(value: object) -> bool:
    return isinstance(value, float | int | np.generic) and not isinstance(value, bool)


def searches(call: Callable[[], Any]) -> list[Search]:
    """The first searches of a call."""
    forget()
    with watched() as noted, warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        with suppress(HoldfastError):
            call()
    return noted[:MOST]


def same(was: Search, now: Search) -> bool:
    """Whether a search begins where it did and looks about as often."""
    return (
        was[0] == now[0]
        and len(was[1]) == len(now[1])
        and bool(np.allclose(was[1], now[1], rtol=1e-6, atol=1e-9))
        and abs(was[2] - now[2]) <= 1 + was[2] // 20
    )


def recorded() -> dict[str, list[Search]]:
    """The record as it was written."""
    record = json.loads(RECORD.read_text("utf-8"))
    return {
        name: [(kind, begins, looks) for kind, begins, looks in own] for name, own in record.items()
    }


def write() -> None:
    """The record, anew, of all calls that are quick and search."""
    record = {}
    for name, call in calls():
        began = time.process_time()
        noted = searches(call)
        if noted and time.process_time() - began < SLOW:
            kept = [
                (kind, [float(f"{each:.8g}") for each in begins], looks)
                for kind, begins, looks in noted
            ]
            record[name] = kept
    lines = [f"{json.dumps(name)}: {json.dumps(own)}" for name, own in record.items()]
    RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


if __name__ == "__main__":
    write()
