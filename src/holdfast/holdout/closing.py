"""The end of asks and checks, after which the rows may be looked at in other ways; or of all.

Answers on the ledger are true for questions that were chosen from answers. Where something else of
the rows is shown, what is asked next is chosen from that, too. So the ledger says that it is closed
before anything is read, durably, and stays closed; described questions do not depend on it.
"""

from __future__ import annotations

from holdfast import require
from holdfast.data.sample import Sample
from holdfast.errors import InvalidArgument
from holdfast.holdout.desk import Desk
from holdfast.holdout.wishes import Body
from holdfast.ledger.chain import now
from holdfast.ledger.endings import closing, retirement

__all__ = ["close", "retire"]


def close(desk: Desk, why: str) -> Sample:
    """Refuse asks and checks from here on, for good; then the protected rows are given out."""
    rows = desk.protected.needed()  # refused before anything is closed

    def entry() -> list[dict[str, str]]:
        return [] if desk.transcript.account.closed else [closing(now(), why)]

    desk.tell(entry)
    return rows


def retire(desk: Desk, why: str, successor: str | None) -> None:
    """Answer nothing new any more; what was answered stays, and is told again for free."""
    require.text("why", why)
    if successor is not None:
        require.text("successor", successor)

    def entry() -> list[Body]:
        closed = desk.transcript.account.closed
        if closed is not None and closed.retired:
            raise InvalidArgument(
                f"the ledger was retired at {closed.at} already: {closed.why}. That is for good."
            )
        return [retirement(now(), why, successor)]

    desk.tell(entry)
