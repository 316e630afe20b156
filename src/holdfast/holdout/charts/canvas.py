"""What all charts are drawn with, where they are written, and how a notebook shows them."""

from __future__ import annotations

import importlib
import io
from functools import cache
from pathlib import Path
from typing import Any

from holdfast import require
from holdfast.errors import InvalidArgument

__all__ = ["drawing_library", "new_axes", "require_file", "save", "shown_offline", "svg_of"]

_FORMATS = (".html", ".json", ".pdf", ".png", ".svg")


def save(chart: Any, path: str | Path) -> Path:
    """Write a chart; the ending of the name says the format. No network is used."""
    target = require_file(path)
    options: dict[str, Any] = {}
    match target.suffix.lower():
        case ".html":
            options["inline"] = True
        case ".png":
            options["scale_factor"] = 2
    chart.save(str(target), **options)
    return target


def require_file(path: str | Path) -> Path:
    """Where a chart can be written: a folder that is there, a name that says the format."""
    target = require.file("the chart's file", path)
    if target.suffix.lower() not in _FORMATS:
        raise InvalidArgument(
            f"the chart's file is {str(path)!r}; its name must end in {', '.join(_FORMATS)}, such "
            f"as {target.stem}.svg."
        )
    if not target.parent.is_dir():
        raise InvalidArgument(
            f"the chart's file is {str(path)!r}, and there is no folder {str(target.parent)!r}; "
            "create it first."
        )
    return target


def svg_of(chart: Any, *, dark: bool = False) -> str:
    """The picture itself, on white; with `dark`, on the ground of a dark page.

    It has room for a font that is wider than the one it was measured with.
    """
    buffer = io.StringIO()
    ground = _DARK if dark else {"background": "white"}
    chart.configure(**ground, padding=_PADDING).save(buffer, format="svg")
    picture = buffer.getvalue()
    for colour, bright in _BRIGHT.items() if dark else ():
        picture = picture.replace(colour, bright)
    return picture


_PADDING = {"left": 48, "right": 48, "top": 8, "bottom": 8}
_INK, _DIM, _LINE = "#e7e6e2", "#a0a8b0", "#343a40"
# Colours of charts that are hard to see on a dark ground, and those in their place there.
_BRIGHT = {
    "#0b6e4f": "#5cc79f",
    "#1f77b4": "#6fb1e6",
    "#d62728": "#f08a8a",
    "#b8860b": "#e0b44c",
    "#08306b": "#8abdf0",
    "#2171b5": "#6fb1e6",
    "#54278f": "#b9a3e3",
    "#a02020": "#f08a8a",
    "#555555": _DIM,
}
_DARK: dict[str, Any] = {
    "background": "#1c2024",
    "title": {"color": _INK, "subtitleColor": _DIM},
    "axis": {
        "labelColor": _DIM,
        "titleColor": _DIM,
        "gridColor": _LINE,
        "domainColor": _LINE,
        "tickColor": _LINE,
    },
    "legend": {"labelColor": _DIM, "titleColor": _DIM},
    "view": {"stroke": _LINE},
    "text": {"color": _INK},
    "rule": {"color": _DIM},
}


def shown_offline(chart: Any) -> Any:
    """The same chart, which a notebook shows as its picture.

    Altair's own way to show it loads scripts from another host.
    """
    # Altair's own way to set it would make it a property of the drawing.
    object.__setattr__(chart, "__class__", _pictured(chart.__class__))
    return chart


@cache
def _pictured(kind: type) -> type:
    """Charts of this kind that are shown as SVG, whichever renderer is enabled."""

    def picture(self: Any, *_: object, **__: object) -> dict[str, str]:
        return {"image/svg+xml": svg_of(self)}

    return type(kind.__name__, (kind,), {"_repr_mimebundle_": picture})


def new_axes(width: float, height: float) -> Any:
    """Axes of matplotlib on a figure of their own, so many inches wide and high."""
    with require.installed("displays", "plots"):
        pyplot = importlib.import_module("matplotlib.pyplot")
    _, axes = pyplot.subplots(figsize=(width, height))
    return axes


def drawing_library() -> Any:
    """Altair, with what it needs to write pictures; or which extra brings them."""
    with require.installed("charts", "charts"):
        import altair
        import vl_convert  # noqa: F401 - Altair needs it to write pictures
    return altair
