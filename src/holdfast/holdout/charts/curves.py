"""Curves: a distribution with its band, and how stability falls with the questions."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from holdfast.errors import InvalidArgument
from holdfast.holdout.charts import canvas

if TYPE_CHECKING:
    import altair

    from holdfast.papers.stability import Stability

__all__ = ["distribution_chart", "stability_chart"]

_BLUE = "#1f77b4"


def distribution_chart(
    value: str, points: list[dict[str, Any]], together: str
) -> altair.LayerChart:
    """The share of rows up to each threshold, with a band that holds between them too."""
    alt = canvas.drawing_library()
    x = alt.X("threshold:Q", title=value).scale(zero=False)
    y = alt.Y("low:Q", title="share of rows up to there").scale(domain=[0, 1]).axis(format="%")
    at_thresholds = alt.Chart(alt.Data(values=points)).encode(x=x)
    between = alt.Chart(alt.Data(values=list(_between(points)))).encode(x=x, x2="next:Q")
    picture = alt.layer(
        between.mark_rect(color=_BLUE, opacity=0.2).encode(y=y, y2="high:Q"),
        at_thresholds.mark_line(interpolate="step-after", color=_BLUE).encode(y="share:Q"),
        at_thresholds.mark_rule(color=_BLUE, strokeWidth=2).encode(y=y, y2="high:Q"),
        at_thresholds.mark_point(color=_BLUE, filled=True, size=30, opacity=1).encode(y="share:Q"),
    ).properties(
        width=560,
        height=320,
        title=alt.Title(
            f"Distribution of {value}",
            subtitle=[together, "shaded: where the share is, between thresholds too"],
        ),
    )
    return canvas.shown_offline(picture)  # type: ignore[no-any-return]


def _between(points: Iterable[dict[str, Any]]) -> Iterable[dict[str, Any]]:
    """What is known between neighbouring thresholds.

    A share grows with its threshold, so there it is at least what the one before it says, and at
    most what the one after it says: a band of each threshold's own interval would say too much.
    """
    for here, following in pairwise(points):
        yield {
            "threshold": here["threshold"],
            "next": following["threshold"],
            "low": here["low"],
            "high": following["high"],
        }


def stability_chart(stability: Stability) -> altair.Chart:
    """eta of all answers together against their number, a line for each account."""
    alt = canvas.drawing_library()
    points = [
        {"account": point.by, "questions": point.questions, "eta": point.eta}
        for point in stability.growing()
    ]
    if not points:
        raise InvalidArgument("no account has a finite eta here, so there is nothing to draw.")
    lines = alt.Chart(alt.Data(values=points)).mark_line(point=True, strokeWidth=2)
    picture = lines.encode(
        x=alt.X("questions:Q", title="questions").scale(type="log"),
        y=alt.Y("eta:Q", title="eta of all answers together").scale(type="log"),
        color=alt.Color("account:N", title=None).legend(labelLimit=320),
        tooltip=["account:N", "questions:Q", alt.Tooltip("eta:Q", format=".4g")],
    ).properties(
        width=560,
        height=360,
        title=alt.Title(
            f"Stability of answers by {stability.mechanism}",
            subtitle=f"tau = nu = {stability.level:g}; an account that has no finite eta there has "
            "no point",
        ),
    )
    return canvas.shown_offline(picture)  # type: ignore[no-any-return]
