"""REST: what custodians do, and the columns that analysts bring, under /api/v1."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

from fastapi import APIRouter, File, Form, Path as PathField, Query, UploadFile
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from holdfast.errors import InvalidArgument
from holdfast.holdout.holdout import Holdout
from holdfast.ledger.attachments import AttachedColumn
from holdfast.ledger.audit import audit as run_audit
from holdfast.ledger.identity import protected_rows
from holdfast.service.access import AsAnyone, AsCustodian, Asker, CallKey, Dataset, Serving
from holdfast.service.caller import Caller
from holdfast.service.pacing import OnTheStep
from holdfast.service.replies import JsonReply, certificate_file, problems
from holdfast.service.served import Served
from holdfast.service.tokens import expiry_of
from holdfast.service.veil import veil_for
from holdfast.service.wire import ColumnBody, TokenBody, column_told

__all__ = ["custody"]

custody = APIRouter(prefix="/api/v1", responses=problems(400, 401, 403, 404, 422, 429, 503))
_FORMATS = (".csv", ".parquet", ".jsonl")
# What an audit finds wrong with the data may name the files it is in.
_OTHER_DATA = (
    "the table is not the protected one, or cannot be read; `holdfast audit` says which, where the "
    "data is."
)
_Which = Annotated[str, PathField(description="The ID of a token, or its name.")]


@custody.get("/datasets/{dataset}/columns", tags=["columns"])
async def columns(served: Dataset, token: AsAnyone) -> Any:
    """The columns that were attached."""

    def told(holdout: Holdout) -> Any:
        found = [column_told(each, token) for each in holdout.columns]
        return veil_for(token, holdout).over({"columns": found})

    return JsonReply(await served.read(told))


@custody.post("/datasets/{dataset}/columns", tags=["columns"], responses=problems(410, 413))
async def attach(body: ColumnBody, caller: Asker, key: CallKey = None) -> Any:
    """Attach values that were made without protected columns; the same again is the same."""
    bounds = None if body.bounds is None else (body.bounds[0], body.bounds[1])

    def put(holdout: Holdout) -> AttachedColumn:
        return holdout.attach(
            body.name, body.brought, bounds=bounds, missing=body.missing, by=caller.token.name
        )

    return await _attached(caller, put, body, key)


@custody.post("/datasets/{dataset}/columns/file", tags=["columns"], responses=problems(410, 413))
async def attach_file(
    caller: Asker,
    name: Annotated[
        str, Form(min_length=1, max_length=200, description="What questions call the column.")
    ],
    file: Annotated[UploadFile, File(description="A value for every key.")],
    key: Annotated[str | None, Form(description="The file's column of keys.")] = None,
    value: Annotated[str | None, Form(description="The file's column of values.")] = None,
    low: Annotated[
        float | None, Form(allow_inf_nan=False, description="The lower bound of the values.")
    ] = None,
    high: Annotated[
        float | None, Form(allow_inf_nan=False, description="The upper bound of the values.")
    ] = None,
    missing: Annotated[
        Literal["refuse", "null"], Form(description="What to do about keys without a value.")
    ] = "refuse",
    call: CallKey = None,
) -> Any:
    """The same from a CSV, Parquet or JSON-lines file."""
    kind = PurePosixPath(file.filename or "").suffix.lower()
    if kind not in _FORMATS:
        raise InvalidArgument(f"the file must be one of {', '.join(_FORMATS)}, by its name.")
    if (low is None) != (high is None):
        raise InvalidArgument("bounds have a low and a high end; give both, or none.")
    bounds = None if low is None or high is None else (low, high)
    said: dict[str, Any] = {"key": key, "value": value, "bounds": bounds, "missing": missing}
    content = await file.read()

    def put(holdout: Holdout) -> AttachedColumn:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"values{kind}"
            path.write_bytes(content)
            try:
                return holdout.attach(name, path, by=caller.token.name, **said)
            except InvalidArgument as error:  # where it was put for a moment is nobody's business
                raise InvalidArgument(str(error).replace(str(path), path.name)) from None

    digest = hashlib.sha256(content).hexdigest()
    return await _attached(caller, put, (name, kind, said, digest), call)


async def _attached(
    caller: Caller, put: Callable[[Holdout], AttachedColumn], sent: object, key: str | None
) -> JsonReply:
    """A column that was brought, told on the step as answers are: it waits for their turn."""
    await _require_columns(caller.served)

    async def work() -> dict[str, Any]:
        async with OnTheStep(caller.service.settings.release_step):
            return column_told(await caller.served.ask(put), caller.token)

    return JsonReply(await caller.once(key, (caller.served.name, sent), work))


async def _require_columns(served: Served) -> None:
    """Refuse columns of a leaderboard: what is attached to it was looked at as a submission."""
    if await served.is_board():
        raise InvalidArgument("this is a leaderboard; submit predictions to it: POST .../board.")


@custody.get("/datasets/{dataset}/audit", tags=["custody"])
async def audit(dataset: str, service: Serving, served: Dataset, token: AsCustodian) -> Any:
    """The chain, every interval derived again from the ledger alone, and the data."""
    del token
    source, opening = await served.read(lambda holdout: (holdout.source, holdout.opening))
    home = service.folder.home(dataset)
    found = await run_in_threadpool(
        run_audit, home, None if source is None else lambda: protected_rows(opening, source)
    )
    findings = [
        {**each.to_dict(), "detail": each.detail.replace(str(home), dataset)}
        | ({"detail": _OTHER_DATA} if each.what == "data" and not each.fine else {})
        for each in found
    ]
    return JsonReply(
        {
            "fine": all(each.fine for each in found),
            "data_compared": source is not None,
            "findings": findings,
        }
    )


@custody.get("/datasets/{dataset}/certificate", tags=["custody"], response_class=Response)
async def certificate(
    dataset: str,
    served: Dataset,
    token: AsCustodian,
    form: Annotated[
        Literal["html", "json"], Query(description="For people, or for programs.")
    ] = "html",
) -> Any:
    """What was promised, and every answer: one file that is read, and audited, anywhere."""
    del token
    return certificate_file(await served.read(Holdout.certificate), dataset, form)


@custody.get("/tokens", tags=["tokens"])
async def tokens(service: Serving, token: AsCustodian) -> Any:
    """Every token that was made: who, what for, and how much is spent."""
    found = [each for each in service.tokens.all() if token.dataset in (None, each.dataset)]
    spent = [service.tokens.spent(each) for each in found]
    listed = zip(found, spent, strict=True)
    facts = [{**each.to_dict(), "spent": used} for each, used in listed]
    return JsonReply({"tokens": facts})


@custody.post("/tokens", tags=["tokens"], status_code=201, responses=problems(413))
async def create_token(
    body: TokenBody, service: Serving, token: AsCustodian, key: CallKey = None
) -> Any:
    """Make a token; it is shown in this reply, and never again."""
    service.require_scope(token, body.dataset)
    made = service.tokens.create(
        body.name,
        body.role,
        dataset=body.dataset,
        questions=body.questions,
        expires=expiry_of(body.expires),
        key=None if key is None else f"{token.id} {key}",
    )
    return JsonReply(made.to_dict(), 201)


@custody.delete("/tokens/{which}", tags=["tokens"])
async def revoke_token(which: _Which, service: Serving, token: AsCustodian) -> Any:
    """Revoke a token by its ID or name, on every worker, from the next request on."""
    known = {each.id: each for each in service.tokens.all() if which in (each.id, each.name)}
    for each in known.values():
        service.require_scope(token, each.dataset)
    return JsonReply(service.tokens.revoke(which).to_dict())
