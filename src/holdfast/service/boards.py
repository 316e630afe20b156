"""REST: the leaderboard of a data set that is one, under /api/v1; and what pages show of it.

Who submits is who the token says. A submission is known by its content: whoever sends it again is
told where it stands now, or with the key of a call where it stood then; what was looked at is not
looked at again, and does not count again.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

from fastapi import APIRouter, File, Form, UploadFile
from pydantic import BaseModel, ConfigDict, Field

from holdfast.boards.leaderboard import Leaderboard
from holdfast.boards.standings import Standing
from holdfast.errors import InvalidArgument
from holdfast.holdout.holdout import Holdout
from holdfast.service.access import AsAnyone, AsCustodian, Asker, CallKey, Dataset, Serving
from holdfast.service.caller import Caller
from holdfast.service.pacing import OnTheStep
from holdfast.service.replies import JsonReply, problems
from holdfast.service.tokens import Token, said_digest
from holdfast.service.veil import veil_for
from holdfast.service.wire import keyed_values

__all__ = ["SubmissionBody", "UploadedFile", "board_rest", "standings_told"]

board_rest = APIRouter(prefix="/api/v1", responses=problems(400, 401, 403, 404, 422, 429, 503))
_LOOKS = problems(409, 410, 413)
_FORMATS = (".csv", ".parquet", ".jsonl")
_Number = Annotated[float | None, Field(allow_inf_nan=False)]


class SubmissionBody(BaseModel):
    """A prediction for every item, by its key or in the order of keys; and what it may score."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: Annotated[
        str | None, Field(min_length=1, max_length=100, description="What the team calls it.")
    ] = None
    keys: Annotated[
        list[str | int] | None,
        Field(description="The keys of the values; without, they are in the order of keys."),
    ] = None
    values: Annotated[
        list[bool | int | float | str | None], Field(description="A prediction for every item.")
    ]
    claim: Annotated[_Number, Field(description="Your own estimate of the score; checked.")] = None


@board_rest.get("/datasets/{dataset}/board", tags=["board"])
async def standings(served: Dataset, token: AsAnyone) -> Any:
    """The standings: ranks as far as they were shown, with intervals that are true together."""
    return JsonReply(await served.read(lambda holdout: standings_told(holdout, token)))


@board_rest.post("/datasets/{dataset}/board", tags=["board"], responses=_LOOKS)
async def submit_values(body: SubmissionBody, caller: Asker, key: CallKey = None) -> Any:
    """Submit predictions under the name of the token: are they shown to be better?"""
    values = keyed_values(body.keys, body.values)

    def put(holdout: Holdout) -> Standing:
        mine = Leaderboard.over(holdout)
        return mine.submit(values, team=caller.token.name, name=body.name, claim=body.claim)

    return await _submitted(caller, put, said_digest((caller.served.name, body)), key)


@board_rest.post("/datasets/{dataset}/board/file", tags=["board"], responses=_LOOKS)
async def submit_a_file(
    caller: Asker,
    file: Annotated[UploadFile, File(description="A prediction for every item.")],
    name: Annotated[
        str | None, Form(min_length=1, max_length=100, description="What the team calls it.")
    ] = None,
    key: Annotated[str | None, Form(description="The file's column of keys.")] = None,
    value: Annotated[str | None, Form(description="The file's column of predictions.")] = None,
    claim: Annotated[
        float | None,
        Form(allow_inf_nan=False, description="Your own estimate of the score; checked."),
    ] = None,
    call: CallKey = None,
) -> Any:
    """The same from a CSV, Parquet or JSON-lines file."""
    said = {"name": name, "key": key, "value": value, "claim": claim}
    sent = UploadedFile(file.filename or "", await file.read(), caller.token.name, said)
    return await _submitted(caller, sent.submit_to, sent.digest(caller.served.name), call)


async def _submitted(
    caller: Caller, put: Callable[[Holdout], Standing], sent: str, key: str | None
) -> JsonReply:
    """Where a submission stands; with a key, where it stood when that was told."""

    async def work() -> dict[str, Any]:
        return (await caller.submit(put, sent)).to_dict()

    return JsonReply(await caller.once(key, sent, work))


@board_rest.post("/datasets/{dataset}/board/final", tags=["board"], responses=_LOOKS)
async def end_board(
    service: Serving, served: Dataset, token: AsCustodian, key: CallKey = None
) -> Any:
    """The last look: exact scores of all submissions. Nothing is submitted after it."""
    del key  # taken again it shows the same

    def ended(holdout: Holdout) -> dict[str, Any]:
        Leaderboard.over(holdout).final()
        return standings_told(holdout, token)

    async with OnTheStep(service.settings.release_step):
        return JsonReply(await served.ask(ended))


@dataclass(frozen=True, slots=True)
class UploadedFile:
    """A file of predictions that somebody sent, which is kept for no longer than reading takes."""

    filename: str
    content: bytes
    team: str
    said: Mapping[str, Any]

    def __post_init__(self) -> None:
        if self._kind not in _FORMATS:
            raise InvalidArgument(f"the file must be one of {', '.join(_FORMATS)}, by its name.")

    def digest(self, board: str) -> str:
        """What it is known by on a board."""
        content = hashlib.sha256(self.content).hexdigest()
        return said_digest((board, self._kind, content, self.team, self.said))

    @property
    def _kind(self) -> str:
        return PurePosixPath(self.filename).suffix.lower()

    def submit_to(self, holdout: Holdout) -> Standing:
        """Submit it to the board of a holdout."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"predictions{self._kind}"
            path.write_bytes(self.content)
            return Leaderboard.over(holdout).submit(path, team=self.team, **self.said)


def standings_told(holdout: Holdout, reader: Token) -> dict[str, Any]:
    """The standings as plain values; a viewer does not learn who submitted, nor what failed."""
    told = Leaderboard.over(holdout).standings().to_dict()
    if reader.role != "viewer":
        return told
    rows = veil_for(reader, holdout).over(told["standings"])
    return {**told, "standings": [row | {"team": "", "also": []} for row in rows], "invalid": []}
