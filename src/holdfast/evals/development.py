"""Development scores: candidates on other items than the protected ones, beside the ledger.

They forecast comparisons, and no promise rests on them: if they are lost, there is no forecast.
They must say nothing of protected items, so that items with a protected id are refused.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Unpack

from holdfast.errors import InvalidArgument
from holdfast.evals.compare import read_run
from holdfast.evals.item_scores import ItemId
from holdfast.evals.submission import HowToRead
from holdfast.holdout.forecast import DevFiles
from holdfast.question.bounds import Range
from holdfast.theory.leakage.forecasts import DevResult, dev_rows_wanted

__all__ = ["Development"]


@dataclass(frozen=True, slots=True)
class Development:
    """Development scores of submissions, by the names of their columns."""

    files: DevFiles

    def keep(
        self, column: str, given: Any, key: str, range_: Range | None, **how: Unpack[HowToRead]
    ) -> None:
        """Keep scores of a submission beside those that it has; the newest of an item counts."""
        run = read_run(
            "dev",
            given,
            score=how.get("score"),
            key=key,
            bounds=None if range_ is None else (range_.low, range_.high),
            filter=how.get("filter"),
            format=how.get("format"),
            partial=how.get("partial", False),
        )
        if not run.keyed:
            raise InvalidArgument(
                f"dev has {len(run.scores):,} scores without items, so that nobody can tell "
                "whether they are of protected ones; give them by item: a mapping, a table or a "
                "file."
            )
        scores = run.scores.by_item()
        self.files.require_other_items(scores)
        content = json.dumps(list({**self.of(column), **scores}.items()))
        self.files.keep(_file(column), content.encode())

    def of(self, column: str) -> dict[ItemId, float]:
        """The scores that are kept of a submission; none if there are none, or they are damaged."""
        content = self.files.content(_file(column))
        try:
            pairs = [] if content is None else json.loads(content)
            return {item: float(score) for item, score in pairs}
        except (TypeError, ValueError):
            return {}

    def result(self, column: str, opponent: str) -> DevResult | None:
        """The counts of a submission against another one, on items that both have."""
        mine, theirs = self.of(column), self.of(opponent)
        gains = [mine[item] - theirs[item] for item in mine if item in theirs]
        if not gains:
            return None
        return DevResult(
            sum(each > 0 for each in gains), sum(each < 0 for each in gains), len(gains)
        )

    def wanted(self, column: str, opponent: str) -> list[ItemId]:
        """The items to run next, of those of an opponent: in an order that says nothing of them."""
        mine, theirs = self.of(column), self.of(opponent)
        if not theirs:
            return []
        many = dev_rows_wanted(self.result(column, opponent), len(theirs))
        left = sorted((item for item in theirs if item not in mine), key=_shuffled)
        return left[: max(0, many - (len(theirs) - len(left)))]


def _file(column: str) -> str:
    return f"dev-{sha256(column.encode()).hexdigest()}.scores"


def _shuffled(item: ItemId) -> bytes:
    return sha256(str(item).encode()).digest()
