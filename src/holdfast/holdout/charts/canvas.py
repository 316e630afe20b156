"""What all charts are drawn with, where they are written, and how a notebook shows them."""

from __future__ import annotations

import importlib
import io
import os
from contextlib import suppress
from functools import cache
from importlib import metadata
from pathlib import Path
from string import Template
from typing import Any

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.ledger.side_files import replace_whole

_FORMATS = (".html", ".json", ".pdf", ".png", ".svg")


def save(chart: Any, path: str | Path) -> Path:
    """Write a chart; the ending of the name says the format. No network is used."""
    target = require_file(path)
    match target.suffix.lower():
        case ".html":
            target.write_text(_page_of(chart), encoding="utf-8")
        case ".png":
            chart.save(str(target), scale_factor=2)
        case _:
            chart.save(str(target))
    return target


def _page_of(chart: Any) -> str:
    """The chart as a page of its own, with all the scripts that it needs."""
    # Altair's check of what it made takes longer than to make it: our tests have done that.
    drawing = chart.to_json(indent=None, validate=False)
    drawing = drawing.replace("</", "<\\/")  # no text in it ends the script
    return _PAGE.substitute(scripts=_scripts(), drawing=drawing)


_PAGE = Template("""\
<!DOCTYPE html>
<html>
<head>
  <meta charset="UTF-8">
  <script>$scripts</script>
</head>
<body>
<div id="vis"></div>
<script>vegaEmbed("#vis", $drawing, {"mode": "vega-lite"}).catch(console.error);</script>
</body>
</html>
""")


def _scripts() -> str:
    """Vega's scripts in one piece, put together once for each version: that takes a second.

    It is kept for the next chart (holdfast in XDG_CACHE_HOME, or in ~/.cache), if it can be.
    """
    import vl_convert

    version, cached = metadata.version("vl-convert-python"), None
    with suppress(OSError, RuntimeError):  # nobody's home, or no room
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        cached = cache / "holdfast" / f"vega-of-vl-convert-{version}.js"
        return cached.read_text(encoding="utf-8")
    scripts = str(vl_convert.javascript_bundle())  # type: ignore[call-arg]
    with suppress(OSError):
        if cached is not None:
            cached.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            replace_whole(cached, scripts.encode())
    return scripts


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
