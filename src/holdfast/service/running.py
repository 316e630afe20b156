"""Run a service: one worker in this process, or several that share the folder."""

from __future__ import annotations

import gc
import json
import os
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast import require
from holdfast.errors import LedgerUnavailable
from holdfast.service.folder import Folder, Settings
from holdfast.service.logs import start_logging
from holdfast.service.tokens import Granted, TokenStore

if TYPE_CHECKING:
    from fastapi import FastAPI

    from holdfast.service.data_set import Service

_WORKER = "HOLDFAST_WORKER"  # what a worker's process is told: the folder and the settings
_FIRST = "custodian"
CONNECTIONS = "holdfast.service.edge:PromptConnection"
# Seconds after which a thread lets another one go on. A free read changes threads some ten times:
# with Python's own 5 ms it would wait for each of them while another one reads long questions.
_TURN = 0.001
# What a worker has of its time to stop for replies; the rest is for scans of the rows.
_REPLIES = 0.625


def first_token(folder: Folder) -> Granted | None:
    """A custodian's token for a folder that had no custodian yet; it is shown once."""
    store = TokenStore(folder.tokens, folder.secret)
    try:
        tokens = store.all()
        if any(each.role == "custodian" and each.dataset is None for each in tokens):
            return None
        names_taken = {each.name for each in tokens}
        names = (_FIRST, *(f"{_FIRST}-{number}" for number in range(2, len(names_taken) + 3)))
        return store.create(next(name for name in names if name not in names_taken), "custodian")
    finally:
        store.close()


def with_a_port(settings: Settings) -> Settings:
    """The settings with a port that can be listened at; 0 is any that is free."""
    try:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((settings.host, settings.port))
            return replace(settings, port=probe.getsockname()[1])
    except OSError as error:
        raise LedgerUnavailable(
            f"nothing can be served at {settings.host}:{settings.port} ({error.strerror}); choose "
            "another --host or --port."
        ) from error


def address_of(settings: Settings) -> str:
    """Where it is served."""
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"http://{host}:{settings.port}"


def run(folder: Folder, settings: Settings, app: str = "holdfast.service.running:worker") -> None:
    """Serve until the process is told to stop; what is being asked then is finished.

    `app` names what makes the app of each worker.
    """
    with require.installed("services", "serve"):
        import uvicorn

        for library in ("fastapi", "jinja2", "python_multipart"):  # which the workers need
            import_module(library)

    start_logging(settings.log_level, settings.log_format)
    with tempfile.TemporaryDirectory(prefix="holdfast-", ignore_cleanup_errors=True) as counts:
        handed_over = {"folder": str(folder.path), "settings": asdict(settings), "counts": counts}
        os.environ[_WORKER] = json.dumps(handed_over)
        uvicorn.run(
            app,
            factory=True,
            http=CONNECTIONS,
            host=settings.host,
            port=settings.port,
            workers=settings.workers,
            access_log=False,
            log_config=None,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=max(1, int(_REPLIES * settings.graceful_timeout)),
        )


def worker(mount: Callable[[FastAPI, Service], None] | None = None) -> FastAPI:
    """The app of one worker, as its process was told; everything it needs is loaded by then."""
    from holdfast.service.app import app_of, ask_one_of_each
    from holdfast.service.data_set import Service

    handed_over = json.loads(os.environ[_WORKER])
    settings = Settings(**handed_over["settings"])
    start_logging(settings.log_level, settings.log_format)
    counts = handed_over.get("counts")
    service = Service.of(Path(handed_over["folder"]), settings, counts and Path(counts))
    app = app_of(service)
    if mount is not None:
        mount(app, service)
    scans = (1 - _REPLIES) * settings.graceful_timeout
    app.router.lifespan_context = partial(_ending_in_time, app.router.lifespan_context, scans)
    ask_one_of_each()
    gc.freeze()  # all that is loaded stays; to look for garbage in it is what a request waits for
    sys.setswitchinterval(_TURN)
    return app


@asynccontextmanager
async def _ending_in_time(
    outer: Callable[[FastAPI], Any], seconds: float, app: FastAPI
) -> AsyncIterator[Any]:
    """What is being asked at the end is finished, unless that takes too long.

    Then the process ends under it: what was reserved is in the ledger, and is finished by whoever
    asks next.
    """

    def end() -> None:
        time.sleep(seconds)
        os._exit(128 + signal.SIGTERM)

    async with outer(app) as state:
        try:
            yield state
        finally:
            threading.Thread(target=end, daemon=True).start()
