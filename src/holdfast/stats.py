"""Statistics to ask for, in Python: `holdfast.stats.mean("arr_delay", where="origin = 'JFK'")`.

Most of them are written shorter as text, `avg(arr_delay) where origin = 'JFK'`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.lazy import lazy_names
from holdfast.statistics import call as _call

if TYPE_CHECKING:
    from holdfast.data.attached import computed
    from holdfast.holdout.verbs import Ask, Check, Gate
    from holdfast.question.functions import row_function
    from holdfast.statistics.call import *  # noqa: F403
    from holdfast.statistics.description import bits
    from holdfast.statistics.whole import statistic

_HOMES = {
    **dict.fromkeys(_call.__all__, "statistics.call"),
    "Ask": "holdout.verbs",
    "Check": "holdout.verbs",
    "Gate": "holdout.verbs",
    "bits": "statistics.description",
    "computed": "data.attached",
    "row_function": "question.functions",
    "statistic": "statistics.whole",
}
__all__ = ["Ask", "Check", "Gate", "bits", "computed", "row_function", "statistic"]
__all__ += _call.__all__
__all__.sort()
__getattr__ = lazy_names(__name__, _HOMES)


def __dir__() -> list[str]:
    return __all__
