"""Counters of a worker, as Prometheus reads them: requests by route and status, no times.

How long something took may tell of the rows, and what was asked is in the ledger; so only what the
outside saw anyway is counted.
"""

from __future__ import annotations

import os
from collections import Counter

__all__ = ["Metrics"]


class Metrics:
    """What was counted since the worker started."""

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, str, int]] = Counter()

    def count(self, method: str, route: str, status: int) -> None:
        """One request, by the pattern of its address, not by the address."""
        self._requests[method, route, status] += 1

    def text(self) -> str:
        """All counters in Prometheus' text format."""
        lines = [
            "# HELP holdfast_requests_total Requests answered by this worker.",
            "# TYPE holdfast_requests_total counter",
        ]
        lines += [
            f'holdfast_requests_total{{worker="{os.getpid()}",method="{method}",route="{route}",'
            f'status="{status}"}} {count}'
            for (method, route, status), count in sorted(self._requests.items())
        ]
        return "\n".join(lines) + "\n"
