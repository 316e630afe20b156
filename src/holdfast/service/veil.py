"""What viewers do not learn of a leaderboard: whose submissions are compared.

A submission is named after its team, and its name is in questions, columns and reasons. For viewers
it is *submission 3*, the third that came: the same one wherever it is named.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from holdfast.holdout.holdout import Holdout
from holdfast.service.tokens import Token

__all__ = ["Veil", "veil_for"]

_SAID_BY_TEAMS = ("by", "team", "why")


class Veil:
    """Other names in place of some; with none to hide, everything is shown as it is."""

    def __init__(self, hidden: Mapping[str, str]) -> None:
        self._hidden = {**hidden, **{_quoted(name): other for name, other in hidden.items()}}
        longest_first = sorted(self._hidden, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest_first)))

    @property
    def hides(self) -> bool:
        """Whether there is anything to hide."""
        return bool(self._hidden)

    def over(self, told: Any) -> Any:
        """Plain values with the other names, and without what teams said."""
        if not self.hides:
            return told
        match told:
            case str():
                return self._pattern.sub(lambda found: self._hidden[found[0]], told)
            case list():
                return [self.over(each) for each in told]
            case dict():
                return {
                    name: None if name in _SAID_BY_TEAMS else self.over(value)
                    for name, value in told.items()
                }
        return told


def veil_for(reader: Token, holdout: Holdout) -> Veil:
    """What is hidden from a reader: from viewers the names of submissions."""
    if reader.role != "viewer" or holdout.boarding.record.terms is None:
        return Veil({})
    # What follows from a submission, such as its errors, is attached by nobody, under a name that
    # begins with the submission's.
    submitted = [each for each in holdout.columns if each.by is not None]
    numbers = {each: place for place, each in enumerate(dict.fromkeys(c.column for c in submitted))}
    return Veil({each.name: f"submission {numbers[each.column] + 1}" for each in submitted})


def _quoted(name: str) -> str:
    """A name as questions have it between double quotes."""
    return name.replace('"', '""')
