"""What a leaderboard needs of a holdout beside its verbs: its own lines of the ledger."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from holdfast.data.attached import ColumnValues, column_values
from holdfast.data.brought import Fields
from holdfast.errors import InvalidArgument
from holdfast.holdout.desk import Desk
from holdfast.holdout.grouping import knowing
from holdfast.holdout.reading import bound_to, one_answer_of
from holdfast.holdout.wishes import Body
from holdfast.ledger.boards import BoardRecord, BoardTerms, TurnedAway
from holdfast.ledger.chain import now

__all__ = ["Boarding"]

_LONGEST_LISTED = 200
_MOST_LISTED = 20  # of a team: whoever sends on and on would fill everybody's ledger


class Boarding:
    """The board of a ledger: what was declared of it, and whom it turned away."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    @property
    def record(self) -> BoardRecord:
        """All that was written so far."""
        with self._desk.reading() as transcript:
            return transcript.attached.board

    def declare(self, said: BoardTerms) -> BoardTerms:
        """Make the ledger a board's; refused where it is that of another one."""
        new = replace(said, at=now())

        def entry() -> list[Body]:
            return [] if self._desk.transcript.attached.board.terms is not None else [new.body()]

        if self.record.terms is None:
            self._desk.tell(entry)
        there = self.record.terms
        if there is None or there.said != new.said:
            known = {} if there is None else there.to_dict()
            told = [
                f"{name} is {value!r}, and was declared as {known[name]!r}"
                for name, value in new.to_dict().items()
                if name != "at" and value != known[name]
            ]
            raise InvalidArgument(
                f"{self._desk.opening.name!r} is another board: {'; '.join(told)}. Declare the "
                "same, or use another ledger."
            )
        return there

    def turn_away(self, team: str, called: str | None, why: str) -> None:
        """List a submission that was not taken, unless enough of the team are."""
        short = None if called is None else called[:_LONGEST_LISTED]

        def entry() -> list[Body]:
            listed = self._desk.transcript.attached.board.turned_away
            if sum(each.team == team for each in listed) >= _MOST_LISTED:
                return []
            return [TurnedAway(team, short, why, now()).body()]

        self._desk.tell(entry)

    def read(self, values: Any, fields: Fields) -> ColumnValues:
        """What somebody submits, as a column of the rows, NULL where it lacks one; not kept."""
        return column_values(values, self._desk.protected.order, fields, missing="null")

    def text_of(self, question: str) -> str:
        """A question as the ledger spells it."""
        return one_answer_of(bound_to(self._desk, question, knowing(self._desk, None))).text
