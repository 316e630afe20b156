"""REST: the leaderboard of a data set that is one, under /api/v1; and what pages show of it.

Who submits is who the token says. A submission is known by its content, so that whoever sends it
again is told where it stands now; what was looked at is not looked at again.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

from fastapi import APIRouter, File, Form, UploadFile
from pydantic import BaseModel, ConfigDict, Field

from holdfast.boards.leaderboard import Leaderboard
from holdfast.boards.standings import Standing, Standings
from holdfast.errors import InvalidArgument
from holdfast.holdout.holdout import Holdout
from holdfast.service.access import AsAnyone, AsCustodian, Asker, CallKey, Dataset
from holdfast.service.replies import JsonReply, problems
from holdfast.service.tokens import Token
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
    found = await served.read(lambda holdout: Leaderboard.over(holdout).standings())
    return JsonReply(standings_told(found, token))


@board_rest.post("/datasets/{dataset}/board", tags=["board"], responses=_LOOKS)
async def submit_values(body: SubmissionBody, caller: Asker, key: CallKey = None) -> Any:
    """Submit predictions under the name of the token: are they shown to be better?"""
    del key  # a submission is known by its content
    values = keyed_values(body.keys, body.values)

    def put(holdout: Holdout) -> Standing:
        mine = Leaderboard.over(holdout)
        return mine.submit(values, team=caller.token.name, name=body.name, claim=body.claim)

    return JsonReply((await caller.submit(put)).to_dict())


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
) -> Any:
    """The same from a CSV, Parquet or JSON-lines file."""
    said = {"name": name, "key": key, "value": value, "claim": claim}
    sent = UploadedFile(file.filename or "", await file.read(), caller.token.name, said)
    return JsonReply((await caller.submit(sent.submit_to)).to_dict())


@board_rest.post("/datasets/{dataset}/board/final", tags=["board"], responses=_LOOKS)
async def end_board(served: Dataset, token: AsCustodian, key: CallKey = None) -> Any:
    """The last look: exact scores of all submissions. Nothing is submitted after it."""
    del key  # taken again it shows the same
    found = await served.ask(lambda holdout: Leaderboard.over(holdout).final())
    return JsonReply(standings_told(found, token))


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

    @property
    def _kind(self) -> str:
        return PurePosixPath(self.filename).suffix.lower()

    def submit_to(self, holdout: Holdout) -> Standing:
        """Submit it to the board of a holdout."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"predictions{self._kind}"
            path.write_bytes(self.content)
            return Leaderboard.over(holdout).submit(path, team=self.team, **self.said)


def standings_told(found: Standings, reader: Token) -> dict[str, Any]:
    """The standings as plain values; a viewer does not learn who submitted, nor what failed."""
    told = found.to_dict()
    if reader.role != "viewer":
        return told
    for place, row in enumerate(told["standings"], start=1):
        row |= {"submission": f"submission {place}", "team": "", "also": []}
    return {**told, "invalid": []}
