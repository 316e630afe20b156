"""Pictures on the pages: drawn here as SVG, so that they need neither scripts nor other sites.

They need the extra `charts`; where it is missing, the pages say the same in their tables.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from importlib.util import find_spec
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from holdfast.holdout.charts import svg_of

__all__ = ["can_draw", "svg_reply"]


def can_draw() -> bool:
    """Whether what draws is installed."""
    return find_spec("altair") is not None and find_spec("vl_convert") is not None


def svg_reply(chart: Callable[[], Any]) -> Awaitable[Response]:
    """The picture of a chart, made beside the event loop."""
    return run_in_threadpool(lambda: Response(svg_of(chart()), media_type="image/svg+xml"))
