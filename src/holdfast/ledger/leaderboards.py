"""Leaderboards: what the ledger's entries say of one beside its columns and its looks.

`board/1` declares what submissions are scored by. `turned_away/1` lists a submission that could not
be read, or did not fit: nothing was attached, and nothing was asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from holdfast.question.bounds import Range
from holdfast.question.declaring import bounds_pair

__all__ = ["BOARDING", "BoardRecord", "BoardTerms", "TurnedAway"]


_BOARD, _TURNED_AWAY = "board/1", "turned_away/1"
BOARDING = frozenset({_BOARD, _TURNED_AWAY})


@dataclass(frozen=True, slots=True)
class BoardTerms:
    """Terms of a leaderboard: the metric, the column of labels, their range or the cap of errors.

    With `public` every submission is compared with the leader as it arrives, and its claim checked,
    until `wrong_claims` were refuted; without, nothing is looked at before the end.
    """

    metric: str
    label: str
    y_range: Range | None
    public: bool
    wrong_claims: int
    at: str
    cap: float | None = None

    @property
    def said(self) -> tuple[object, ...]:
        """Declaration that must be repeated by whoever opens it again."""
        return (self.metric, self.label, self.y_range, self.public, self.wrong_claims, self.cap)

    def __str__(self) -> str:
        y_range = "" if self.y_range is None else " in [{:g}, {:g}]".format(*self.y_range)
        cap = "" if self.cap is None else f", errors capped at {self.cap:g}"
        when = "as they come" if self.public else "at the end alone"
        return f"{self.metric} of {self.label}{y_range}{cap}, looked at {when}, declared {self.at}"

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        plain = {name: getattr(self, name) for name in self.__slots__}
        return {**plain, "y_range": None if self.y_range is None else list(self.y_range)}

    def body(self) -> dict[str, Any]:
        """The entry that declares it."""
        return {"kind": _BOARD, **self.to_dict()}

    @classmethod
    def read(cls, body: Mapping[str, Any]) -> BoardTerms:
        """Terms read from an entry."""
        plain = {name: body[name] for name in cls.__slots__ if name != "cap"}
        y_range = None if body["y_range"] is None else bounds_pair(body["y_range"])
        return cls(**{**plain, "y_range": y_range, "cap": body.get("cap")})


@dataclass(frozen=True, slots=True)
class TurnedAway:
    """A submission that was not taken, and why; `called` is what its team calls it."""

    team: str
    called: str | None
    why: str
    at: str

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {name: getattr(self, name) for name in self.__slots__}

    def body(self) -> dict[str, Any]:
        """The entry that lists it."""
        return {"kind": _TURNED_AWAY, **self.to_dict()}


@dataclass(frozen=True, slots=True)
class BoardRecord:
    """Record of a ledger's board, if it has one: its terms, and who was turned away."""

    terms: BoardTerms | None = None
    turned_away: tuple[TurnedAway, ...] = ()

    def after(self, body: Mapping[str, Any]) -> BoardRecord:
        """The record after one more entry; a ValueError if it cannot have been written then."""
        if (body["kind"] == _BOARD) is not (self.terms is None):
            raise ValueError("a board is declared once, and first of all")
        if body["kind"] == _BOARD:
            return replace(self, terms=BoardTerms.read(body))
        new = TurnedAway(*(body[name] for name in TurnedAway.__slots__))
        return replace(self, turned_away=(*self.turned_away, new))

    def bodies(self) -> list[dict[str, Any]]:
        """Entries that come to the same, for a checkpoint."""
        declared = [] if self.terms is None else [self.terms.body()]
        return [*declared, *(each.body() for each in self.turned_away)]
