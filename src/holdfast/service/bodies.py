"""Long bodies of JSON, read beside the event loop, as what OpenAPI says of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from starlette.requests import Request

from holdfast.service.pools import BODIES, run_in

__all__ = ["described_body", "long_body"]

_Body = TypeVar("_Body", bound=BaseModel)


def long_body(model: type[_Body]) -> Callable[[Request], Awaitable[_Body]]:
    """A dependency that reads the body of a request as a model, by a thread for bodies."""

    async def read(request: Request) -> _Body:
        content = await request.body()
        try:
            return await run_in(BODIES, lambda: model.model_validate_json(content))
        except ValidationError as error:
            faults = error.errors(include_url=False, include_input=False, include_context=False)
            raise RequestValidationError(
                [{**each, "loc": ("body", *each["loc"])} for each in faults]
            ) from None

    return read


def described_body(model: type[BaseModel]) -> dict[str, Any]:
    """What OpenAPI says of an operation that takes such a body."""
    content = {"application/json": {"schema": model.model_json_schema()}}
    return {"requestBody": {"required": True, "content": content}}
