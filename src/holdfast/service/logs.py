"""Logs of a service: an access line for each request, and failures with where they happened.

They are for whoever runs the service. No log has a question, a token or the query of an address. A
failure is logged with its frames; its own text, which may quote a value of the rows, is there at
the level debug alone.
"""

from __future__ import annotations

import json
import logging
import sys
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias, get_args

LogLevel: TypeAlias = Literal["debug", "info", "warning", "error"]
LogFormat: TypeAlias = Literal["text", "json"]
LOG_LEVELS: tuple[LogLevel, ...] = get_args(LogLevel)
LOG_FORMATS: tuple[LogFormat, ...] = get_args(LogFormat)

_FACTS, _FRAMES, _TEXT = "facts", "frames", "error_text"  # what a record carries beside its message
_MOST_FRAMES = 60


def start_logging(level: LogLevel, form: LogFormat) -> None:
    """Write the logs of this process to standard error, one record after another.

    Libraries have none of their own: what they warn of is a record as all others are.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if form == "json" else TextLines())
    handler.addFilter(_at_its_level)
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(max(logging.WARNING, logging.getLevelName(level.upper())))
    for name in ("holdfast", "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level.upper() if name == "holdfast" or level != "info" else "WARNING")


def _at_its_level(record: logging.LogRecord) -> bool:
    """Requests that the server cuts off when it stops are no error: each has a line of its own."""
    if record.name == "uvicorn.error" and str(record.msg).startswith("Cancel %s running task"):
        record.levelno, record.levelname = logging.WARNING, "WARNING"
    return True


def log_failure(logger: logging.Logger, message: str, error: BaseException) -> None:
    """Log something that failed: what, the class of the error, and the frames it came through."""
    extra: dict[str, Any] = {_FRAMES: list(_frames_of(error))}
    if logger.isEnabledFor(logging.DEBUG):
        extra[_TEXT] = str(error)
    logger.error("%s: %s", message, type(error).__name__, extra=extra)


def _frames_of(error: BaseException) -> Iterator[str]:
    """Where an error was raised, the newest last, then where those were that it came of."""
    cause: BaseException | None = error
    while cause is not None:
        stack = traceback.StackSummary.extract(traceback.walk_tb(cause.__traceback__))
        for frame in stack[-_MOST_FRAMES:]:
            yield f"{frame.filename}:{frame.lineno} in {frame.name}: {frame.line}"
        origin = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
        if origin is not None:
            yield f"of {type(origin).__name__}:"
        cause = origin


class JsonLines(logging.Formatter):
    """One JSON object for each record."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as one line."""
        body: dict[str, Any] = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "process": record.process,
            "message": record.getMessage(),
            **getattr(record, _FACTS, {}),
        }
        for name in (_FRAMES, _TEXT):
            if hasattr(record, name):
                body["traceback" if name == _FRAMES else name] = getattr(record, name)
        if record.exc_info:  # of a library's own record
            body["traceback"] = self.formatException(record.exc_info).splitlines()
        return json.dumps(body)


class TextLines(logging.Formatter):
    """A line for people, with the frames of a failure below it."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as lines."""
        lines = [f"{_time(record)} {record.levelname} {record.name} {record.getMessage()}"]
        lines += [f"    {frame}" for frame in getattr(record, _FRAMES, ())]
        if hasattr(record, _TEXT):
            lines.append(f"    {getattr(record, _TEXT)!r}")
        if record.exc_info:
            lines.append(self.formatException(record.exc_info))
        return "\n".join(lines)


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
