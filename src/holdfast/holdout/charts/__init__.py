"""Charts: one Altair specification for PNG, SVG, PDF, HTML and notebooks, all offline."""

from holdfast.holdout.charts.answers import (
    answers_chart,
    distribution_chart,
    ledger_chart,
    stability_chart,
)
from holdfast.holdout.charts.canvas import drawing_library, new_axes, require_file, save, svg_of
from holdfast.holdout.charts.plans import plan_chart

__all__ = [
    "answers_chart",
    "distribution_chart",
    "drawing_library",
    "ledger_chart",
    "new_axes",
    "plan_chart",
    "require_file",
    "save",
    "stability_chart",
    "svg_of",
]
