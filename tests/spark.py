"""One Spark session for all tests of a process, or a word why there is none."""

from __future__ import annotations

import os
import shutil
import socket
import sys
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

import polars as pl
import pytest

from holdfast.data.sql.spark import SparkSample

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.connect.session import SparkSession as ConnectSession

_MISSING = [
    what
    for what, found in (
        ("pyspark", find_spec("pyspark") is not None),
        ("Java", shutil.which("java") is not None or "JAVA_HOME" in os.environ),
    )
    if not found
]
NEEDS_SPARK = pytest.mark.skipif(
    bool(_MISSING), reason=f"Spark needs {' and '.join(_MISSING)}, which is not installed"
)


_WITH_CONNECT = find_spec("grpc_status") is not None
NEEDS_CONNECT = pytest.mark.skipif(
    not _WITH_CONNECT, reason="Spark Connect needs grpcio-status, which is not installed"
)


@cache
def _connect_port() -> int:
    """A port that nobody has."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@cache
def session() -> SparkSession:
    """A session on two threads that nobody can reach from elsewhere."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    settings = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        # Nothing runs long enough for Java's best compiler to pay.
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.driver.memory": "1g",
        "spark.log.level": "OFF",
        "spark.sql.session.timeZone": "America/New_York",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.timestampType": "TIMESTAMP_NTZ",  # so that naive times come in as such
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    if _WITH_CONNECT:
        settings["spark.connect.grpc.binding.address"] = "127.0.0.1"
        settings["spark.connect.grpc.binding.port"] = str(_connect_port())
        settings["spark.plugins"] = "org.apache.spark.sql.connect.SparkConnectPlugin"
    builder = SparkSession.builder.master("local[2]").appName("holdfast tests")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def spark_frame(frame: pl.DataFrame) -> DataFrame:
    """The frame as Spark has it; of times only microseconds are kept, rounded down."""
    held = frame.with_columns(
        pl.col(pl.Datetime("ns"), pl.Datetime("ms")).dt.cast_time_unit("us"),
        pl.col(pl.Categorical, pl.Enum).cast(pl.String),
        pl.col(pl.UInt8).cast(pl.Int16),
    )
    return session().createDataFrame(held.to_arrow())


def spark_sample(frame: pl.DataFrame) -> SparkSample:
    """The frame as the Spark engine reads it."""
    return SparkSample(spark_frame(frame))


@cache
def connect_session() -> ConnectSession:
    """A session of Spark Connect, with the same server."""
    from pyspark.sql.connect.session import SparkSession as ConnectSession

    session()
    return ConnectSession.builder.remote(f"sc://127.0.0.1:{_connect_port()}").getOrCreate()
