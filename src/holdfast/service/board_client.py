"""The leaderboard of a data set that is served elsewhere: standings, submissions, and the end."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast import require
from holdfast.boards.standings import Standing, Standings
from holdfast.errors import InvalidArgument
from holdfast.service.sending import Sender

__all__ = ["ServedBoard"]


@dataclass(frozen=True, slots=True)
class ServedBoard:
    """A board that a service holds; who submits is who the token says."""

    sender: Sender
    path: str

    def standings(self) -> Standings:
        """Everybody's rank, as far as it was shown; free."""
        return Standings.from_dict(self.sender.get(self.path))

    def submit(
        self,
        predictions: Mapping[Any, Any] | Iterable[Any] | str | Path,
        *,
        name: str | None = None,
        claim: float | None = None,
        key: str | None = None,
        value: str | None = None,
    ) -> Standing:
        """A prediction for every item: a mapping, a list in the order of keys, or a file.

        `key` and `value` name the columns of a file. It is known by its content, so that it can be
        sent again; `claim` is what you take its score to be.
        """
        said: dict[str, Any] = {"name": name, "claim": claim}
        if isinstance(predictions, str | Path):
            file = require.file("predictions", predictions)
            said |= {"key": key, "value": value}
            sent = self.sender.upload(f"{self.path}/file", said, file, secrets.token_hex(16))
            return Standing.from_dict(sent)
        if not (key is value is None):
            raise InvalidArgument("key and value name columns of a file; leave them out here.")
        if isinstance(predictions, Mapping):
            said |= {"keys": list(predictions.keys()), "values": list(predictions.values())}
        else:
            said["values"] = require.items("predictions", predictions, "a mapping or a list")
        return Standing.from_dict(self.sender.post(self.path, said, secrets.token_hex(16)))

    def final(self) -> Standings:
        """The last look: exact scores of all; nothing is submitted after it. For custodians."""
        ended = self.sender.post(f"{self.path}/final", {}, secrets.token_hex(16))
        return Standings.from_dict(ended)
