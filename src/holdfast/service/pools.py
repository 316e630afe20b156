"""Pools of threads, one for each purpose.

Who holds a thread of one purpose never waits for a thread of the same: so that however many call,
somebody always gets on. What asks and reads a data set has threads of its own (`service.data_set`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import TypeVar

__all__ = ["BODIES", "PICTURES", "REPORTS", "TOKENS", "run_in"]

_T = TypeVar("_T")

TOKENS = ThreadPoolExecutor(1, "tokens")  # who may ask how much: one file, one writer
REPORTS = ThreadPoolExecutor(2, "reports")  # audits, plans and certificates, which take long
PICTURES = ThreadPoolExecutor(1, "pictures")  # alone, since what draws is loaded when it is needed
BODIES = ThreadPoolExecutor(2, "bodies")  # what is long to read: columns, submissions


def run_in(pool: Executor, do: Callable[[], _T]) -> Awaitable[_T]:
    """What is done by a thread of a pool, while the event loop goes on."""
    return asyncio.get_running_loop().run_in_executor(pool, do)
