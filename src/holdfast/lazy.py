"""Lazy names: what a catalogue or a namespace lists is imported from its home when it is used."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def load(path: str) -> Any:
    """The value of `room.module.NAME` below this package."""
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(f"holdfast.{module}"), name)


def lazy_names(module: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a module that has these names, each at its home."""

    def attribute(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        value = load(f"{homes[name]}.{name}")
        setattr(sys.modules[module], name, value)
        return value

    return attribute
