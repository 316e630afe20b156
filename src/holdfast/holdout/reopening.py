"""How a holdout is opened again: in another process, from the same files."""

from __future__ import annotations

import os.path
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.data.files import is_path
from holdfast.errors import InvalidArgument

if TYPE_CHECKING:
    from holdfast.holdout.holdout import Holdout

__all__ = ["by_path", "opened_again", "reopening"]


def reopening(name: str, how: Mapping[str, Any] | None) -> dict[str, Any]:
    """What is needed to open a holdout in another process; refused where that is not known."""
    if how is None:
        raise InvalidArgument(
            f"{name!r} was opened with a table in memory or a guesser of one's own, and cannot be "
            "opened again elsewhere; open it from files."
        )
    return dict(how)


def opened_again(how: dict[str, Any]) -> Holdout:
    """The holdout that was opened this way in another process."""
    from holdfast.holdout.open import open as open_holdout

    return open_holdout(**how)


def by_path(how: dict[str, Any], timeout: float) -> dict[str, Any] | None:
    """The same arguments wherever they are used: files by their whole paths; None for tables."""
    kept = {what: given for what, given in how.items() if given is not None}
    if not all(isinstance(given, str | Path) for given in kept.values()):
        return None
    files = {"data", "secret", "train"} & kept.keys()
    whole = {what: os.path.abspath(kept[what]) for what in files if is_path(kept[what])}
    return {**kept, **whole, "timeout": timeout}
