"""Skeleton of a file's rows: golden values that others computed, and where the theorems hold.

A law that is not a direction goes into `tests/theory/<room>/test_<file>.py`, with the theorem named
in its `LAWS` tuple.
"""

from __future__ import annotations

from hypothesis import strategies as st

from tests.theory.rows import Domain, Golden

GOLDEN = [
    # ln(1/5), by the law on two points: 2 with probability 1/5, else -1/2. Its variance is 1.
    Golden("cantelli_log_tail", {"v": 1.0, "t": 2.0}, -1.6094379124341003, 1e-12, "ln 5 by mpmath"),
]
DOMAINS = {
    "cantelli_log_tail": Domain({"v": st.floats(0.0, 1e3), "t": st.floats(1e-3, 1e3)}),
}
