"""Files that unpack to much more than they are, or are none: uploads must not read them."""

from __future__ import annotations

import gzip
import io
from functools import cache

import polars as pl

__all__ = ["bombs", "parquet"]


def parquet(frame: pl.DataFrame) -> bytes:
    """A table as a Parquet file, packed as tightly as can be."""
    content = io.BytesIO()
    frame.write_parquet(content, compression="zstd", compression_level=19)
    return content.getvalue()


@cache
def bombs() -> dict[str, tuple[str, bytes]]:
    """What each of them is, its name and its content."""
    rows = pl.DataFrame({"item": pl.repeat(1, 3_000_000, eager=True, dtype=pl.Int64), "v": True})
    texts = pl.DataFrame({"item": range(40), "v": [f"{n}" + "a" * 2_000_000 for n in range(40)]})
    plain = b"item,v\n" + b"1,2\n" * 3_000_000
    return {
        "rows": ("v.parquet", parquet(rows)),
        "texts": ("v.parquet", parquet(texts)),
        "lines": ("v.csv", plain),
        "json lines": ("v.jsonl", b"{}\n" * 3_000_000),
        "packed": ("v.csv", gzip.compress(plain)),
        "cut": ("v.parquet", parquet(rows)[:-9] + b"PAR1"),
        "empty": ("v.parquet", b"PAR1" * 3),
    }
