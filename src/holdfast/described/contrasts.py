"""How much larger a mean is in one group than in another.

Alike rows have one bet on both groups. Of others (rows in units, rows that are not alike) each
group has the interval of its own mean, at half of the level, and the difference follows.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from holdfast.data.sampling import Clustered, Independent
from holdfast.described import means
from holdfast.described.disjoint import are_disjoint
from holdfast.described.gridded import Gridded, apart_look, unit_mean, unlike_group_mean
from holdfast.described.ground import Ground
from holdfast.described.rounded import RoundedContrast
from holdfast.described.rule import Look
from holdfast.question import build
from holdfast.question.expression import Expression
from holdfast.question.row import RowValue, row_value
from holdfast.statistics.mean import within_group
from holdfast.words.parts import Part

__all__ = ["contrast", "of_groups"]

_Groups = tuple[Expression, Expression]


def contrast(question: Any, part: Part, free: tuple[float, ...], ground: Ground) -> Look | None:  # noqa: ARG001 - one signature for all makers of looks
    """The look at a contrast, or None where no theorem covers it."""
    tree, *sides = part.trees
    shared = [] if part.where is None else [part.where]
    first, second = (build.conjunction([*shared, group]) for group in sides)
    value, groups = row_value(tree), (first, second)
    if not ground.alike:
        return _apart(value, groups, part, ground)
    rule = means.Contrast(
        ground.rows,
        ground.log_level(part),
        (ground.log_share(first), ground.log_share(second)),
        are_disjoint(first, second),
    )
    return of_groups(value, groups, rule, ground)


def of_groups(value: RowValue, groups: _Groups, rule: means.Contrast, ground: Ground) -> Look:
    """The look at two groups of alike rows."""
    if not ground.rounded:
        return means.contrast_look(value, groups, rule)
    rounded = RoundedContrast(rule.rows, rule.log_p, rule.log_shares, rule.disjoint)
    sums = (within_group(value, group) for group in groups)
    return Look(rounded, rounded.seen, (*sums, *map(row_value, groups)))


def _apart(value: RowValue, groups: _Groups, part: Part, ground: Ground) -> Look | None:
    """Each group by itself, where a theorem has the mean of one."""
    gridded = partial(Gridded, rows=ground.rows, log_p=ground.log_level(part), points=ground.points)
    match ground.sampling:
        case Independent():
            mean_of = partial(unlike_group_mean, rows=ground.rows)
            return apart_look(value, groups, mean_of, gridded("unlike groups"))
        case Clustered(column=column, largest=int(largest)):
            mean_of = partial(unit_mean, column=column, largest=largest)
            return apart_look(value, groups, mean_of, gridded("units in both groups"))
    return None
