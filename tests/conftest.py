"""The same on every run and every machine: examples of property tests, and secrets of ledgers."""

from __future__ import annotations

import gc
import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A law is tried on few examples at every run, and by `make laws` on many.
for name, examples in {"holdfast": 10, "laws": 2_000}.items():
    settings.register_profile(
        name,
        derandomize=True,
        deadline=None,
        max_examples=examples,
        database=None,
        suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
    )
settings.load_profile("holdfast")

# Hundreds of processes are started, and none is to compile all modules again: where nothing may be
# written beside the source, what is compiled is shared in a folder of this run.
_COMPILED = tempfile.mkdtemp(prefix="holdfast-compiled-") if sys.dont_write_bytecode else None
if _COMPILED is not None:
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # it may have been said by -B
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix = _COMPILED
    sys.dont_write_bytecode = False

# Every worker has a core: matrices are small, and threads that wait for each other only take it.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# A ledger is written through to the disk at every step, which takes milliseconds. What is tried
# here are processes that die, not the power: where there is room, tests' files are in memory.
_MEMORY, _ROOM = Path("/dev/shm"), 4 * 2**30
if _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free >= _ROOM:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))


@pytest.hookimpl(optionalhook=True)  # where there is no xdist
def pytest_xdist_auto_num_workers() -> int:
    """One worker more than cores: at any time some wait for Java, a browser or a service."""
    return (os.cpu_count() or 1) + 1


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long files begin early, one in three, so that no worker is left alone with one at the end.

    All others come by their number of tests, and the smallest fill the end.
    """
    files = Counter(item.nodeid.partition("::")[0] for item in items)
    long = {item.nodeid.partition("::")[0] for item in items if item.get_closest_marker("long")}
    others = [file for file, _ in files.most_common() if file not in long]
    place = {
        file: 3.0 * number for number, file in enumerate(file for file in files if file in long)
    }
    place |= {file: 1.0 + 1.5 * number for number, file in enumerate(others)}
    items.sort(key=lambda item: place[item.nodeid.partition("::")[0]])


def pytest_unconfigure() -> None:
    """The run is over: nothing that was compiled for it is left, and all is garbage again."""
    gc.unfreeze()
    if _COMPILED is not None:
        shutil.rmtree(_COMPILED, ignore_errors=True)


def pytest_collectstart() -> None:
    """While thousands of tests are made, looking again and again for garbage takes half."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Tests stay to the end: to look through thousands of them for garbage takes an eighth."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    gc.enable()


def pytest_configure(config: pytest.Config) -> None:
    """What Spark's library says where pandas is newer than it."""
    config.addinivalue_line("filterwarnings", "ignore:PySpark does not yet fully support pandas")


@pytest.fixture(autouse=True, scope="session")
def nobodys_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test writes into somebody's home, nor finds the ledgers or the key of another test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOLDFAST_STATE", "")
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(autouse=True, scope="session")
def secrets_follow_from_the_test() -> Iterator[None]:
    """A new ledger's secret is that of its test and its place there: so noise is no accident."""
    places: Counter[str] = Counter()

    def token_bytes(size: int) -> bytes:
        test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
        places[test] += 1
        return blake2b(f"{test} {places[test]}".encode(), digest_size=size).digest()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("holdfast.ledger.store.secrets.token_bytes", token_bytes)
        yield
