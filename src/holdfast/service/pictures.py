"""Pictures on the pages: drawn here as SVG, so that they need neither scripts nor other sites.

They need the extra `charts`; where it is missing, the pages say the same in their tables.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

__all__ = ["can_draw", "drawn"]


def can_draw() -> bool:
    """Whether what draws is installed."""
    return find_spec("altair") is not None and find_spec("vl_convert") is not None


async def drawn(chart: Callable[[], Any]) -> Response:
    """The picture of a chart, made beside the event loop."""
    return Response(await run_in_threadpool(lambda: _svg(chart())), media_type="image/svg+xml")


def _svg(chart: Any) -> str:
    written = io.StringIO()
    chart.properties(background="white").save(written, format="svg")
    return written.getvalue()
