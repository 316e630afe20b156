"""Search spaces: finitely many configurations, each known by its place among all of them.

A configuration is plain, as JSON has it: what trains a model from it is not part of it. The digest
of a space says which configurations it has, so that the same can be named again.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.ledger.chain import canonical


@dataclass(frozen=True, slots=True)
class Space:
    """`size` configurations: numbered, listed, or all combinations of what `axes` list.

    Listed ones are one axis without a name. Values are told apart by their canonical texts.
    """

    size: int
    axes: Mapping[str | None, Mapping[str, int]] | None = None

    @property
    def digest(self) -> str | None:
        """Which configurations there are; None where they are numbered."""
        if self.axes is None:
            return None
        listed = [[name, list(places)] for name, places in self.axes.items()]
        return sha256(canonical({"space": listed}).encode()).hexdigest()

    def place_of(self, configuration: Any) -> int:
        """The number of a configuration, from 0; refused if it is none of the space."""
        if self.axes is None:
            return require.integer_between("configuration", configuration, 0, self.size - 1)
        if None in self.axes:
            return self._place(None, configuration)
        if not isinstance(configuration, Mapping) or configuration.keys() != self.axes.keys():
            raise InvalidArgument(
                f"configuration is {configuration!r}; the space needs one value for each of "
                f"{', '.join(map(str, self.axes))}."
            )
        place = 0
        for name, places in self.axes.items():
            place = place * len(places) + self._place(name, configuration[name])
        return place

    def _place(self, axis: str | None, value: Any) -> int:
        places = (self.axes or {})[axis]
        place = places.get(_text(value))
        if place is None:
            what = "configuration" if axis is None else f"{axis} of the configuration"
            raise InvalidArgument(
                f"{what} is {value!r}, which is none of the {len(places):,} that were declared; "
                "open another search for it."
            )
        return place


def space_of(space: Any, size: int | None) -> Space:
    """A space as somebody declares it: a list, values for each parameter, or its size alone."""
    if (space is None) is (size is None):
        raise InvalidArgument(
            f"space is {'not ' if space is None else ''}given and size is {size!r}; a search needs "
            "one of them: size=1000, or space={'depth': [2, 3], 'seed': range(10)}."
        )
    if space is None:
        return Space(require.positive_integer("size", size))
    if isinstance(space, Mapping):
        named = {require.text("parameter", name): _axis(name, space[name]) for name in space}
        axes: dict[str | None, Mapping[str, int]] = {name: named[name] for name in sorted(named)}
    else:
        axes = {None: _axis("space", space)}
    if not axes:
        raise InvalidArgument("space has no parameter; give values for at least one.")
    return Space(math.prod(map(len, axes.values())), axes)


def _axis(name: str, values: object) -> dict[str, int]:
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise InvalidArgument(f"{name} is {values!r}; it must list its values.")
    texts = [_text(value) for value in values]
    places = {text: place for place, text in enumerate(texts)}
    if len(places) < len(texts) or not texts:
        raise InvalidArgument(
            f"{name} lists {len(texts):,} values, {len(places):,} of them different; list each "
            "once, and at least one."
        )
    return places


def _text(value: object) -> str:
    """A value by which it is known in every process."""
    try:
        return canonical({"value": _plain(value)})
    except (TypeError, ValueError):
        raise InvalidArgument(
            f"a configuration has the value {value!r}; it must be a number, text, True, False, "
            "None, or a list or mapping of these. Name anything else by a text."
        ) from None


def _plain(value: Any) -> Any:
    """Numbers of arrays are numbers, and tuples lists."""
    if isinstance(value, Mapping):
        return {require.text("parameter", name): _plain(each) for name, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_plain(each) for each in value]
    return value.item() if hasattr(value, "item") and getattr(value, "ndim", 0) == 0 else value
