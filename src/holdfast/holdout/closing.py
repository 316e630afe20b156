"""The end of asks and checks, after which the rows may be looked at in other ways.

Answers on the ledger are true for questions that were chosen from answers. Where something else of
the rows is shown, what is asked next is chosen from that, too. So the ledger says that it is closed
before anything is read, durably, and stays closed; described questions do not depend on it.
"""

from __future__ import annotations

from holdfast.data.sample import Sample
from holdfast.holdout.desk import Desk
from holdfast.ledger.chain import now
from holdfast.ledger.entries import closing

__all__ = ["close"]


def close(desk: Desk, why: str) -> Sample:
    """Refuse asks and checks from here on, for good; then the protected rows are given out."""
    rows = desk.protected.needed()  # refused before anything is closed

    def entry() -> list[dict[str, str]]:
        return [] if desk.transcript.account.closed else [closing(now(), why)]

    desk.tell(entry)
    return rows
