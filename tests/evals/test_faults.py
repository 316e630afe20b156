"""Files that are broken, ambiguous or hostile: one sentence each, and nothing else is raised."""

from __future__ import annotations

import gzip
import json
import math
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from holdfast import evals
from holdfast.errors import HoldfastError, InvalidArgument
from tests.evals.logs import (
    CHOICE,
    FILES,
    TEXT,
    changed_lines,
    entries,
    written_lines,
    zipped,
    zipped_in_zstandard,
)


def refused(path: Path, words: str, **said: Any) -> str:
    with pytest.raises(InvalidArgument, match=words) as error:
        evals.read(path, **said)
    text = str(error.value)
    assert re.fullmatch(r"[^\n]+[.?]", text), "one line, that ends"
    assert ";" in text or ". " in text, "what, and what to do"
    return text


def rows(path: Path, *scores: Any) -> Path:
    return written_lines(path, *({"id": f"q{n}", "acc": s} for n, s in enumerate(scores)))


def test_two_scorers_and_two_filters_are_a_choice() -> None:
    words = r"there are 3 scores in .*\('includes', 'brevity', 'exact'\); choose one: score="
    refused(FILES / "inspect-epochs.eval", words)
    refused(TEXT, r"there are 2 filters in .*'strict-match', 'flexible-extract'.*--filter")
    refused(TEXT, "there is no filter 'strict' in .*it has 'strict-match'", filter="strict")
    refused(CHOICE, "there is no score 'accuracy' in .*it has 'acc', 'acc_norm'", score="accuracy")
    refused(FILES / "inspect.eval", "there is no filter 'none'", filter="none")


def test_one_doc_id_with_two_doc_hashes(tmp_path: Path) -> None:
    def other(lines: list[Any]) -> list[Any]:
        return [*lines, {**lines[3], "doc_hash": "0" * 64}]

    path = changed_lines(CHOICE, tmp_path, other)
    refused(path, r"1 item \(3\) is two different items .* by their hashes", score="acc")


def test_doubled_items(tmp_path: Path) -> None:
    path = changed_lines(CHOICE, tmp_path, lambda lines: [*lines, lines[3], lines[5]])
    refused(path, r"2 items \(3, 5\) come more than once", score="acc")


def test_scores_out_of_range_name_the_item_and_not_the_score(tmp_path: Path) -> None:
    path = rows(tmp_path / "a.jsonl", 0.5, 1.75, 1)
    said = refused(path, r"1 item \('q1'\) has a score under 'acc' outside \[0, 1\]")
    assert "1.75" not in said
    assert evals.read(path, bounds=(0, 2)).by_item()["q1"] == 1.75
    for beyond in (math.inf, -math.inf, 10**400, -1e-9):
        refused(rows(tmp_path / "b.jsonl", 0, beyond), r"1 item \('q1'\) has a score")


def test_nan_is_no_score(tmp_path: Path) -> None:
    path = rows(tmp_path / "a.jsonl", 0.5, math.nan, None, 1)
    refused(path, r"2 items \('q1', 'q2'\) have no score under 'acc'")
    assert evals.read(path, missing="wrong").scores == (0.5, 0.0, 0.0, 1.0)
    wide = evals.read(path, missing="wrong", bounds=(-1, 1))
    assert wide.by_item()["q2"] == -1.0, "wrong is the lower end of the range"


def test_an_epoch_without_a_score_counts_as_wrong_too(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id,epoch,acc\na,1,1\na,2,\nb,1,1\n")
    refused(path, r"2 items \('a', 'b'\) have no score", epochs=2)
    assert evals.read(path, epochs=2, missing="wrong").by_item() == {"a": 0.5, "b": 0.5}


def test_mixed_types(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    refused(rows(path, 0.5, True), "are booleans and numbers; give numbers alone")
    refused(rows(path, 0.5, "high"), "are numbers and text")
    refused(rows(path, 1, [1]), "are list and numbers")
    lines = ({"id": each, "acc": 1} for each in ("a", 1))
    refused(written_lines(path, *lines), "some ids of items .* text and some are numbers")
    assert evals.read(rows(path, 0.5, 1)).scores == (0.5, 1.0)


def test_items_without_an_id(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    for strange in (None, 1.5, True, ["a"], {"a": 1}):
        refused(written_lines(path, {"id": strange, "acc": 1}), "has no id, or its id or epoch")
    refused(written_lines(path, {"name": "a", "acc": 1}), "no column of items.*--key")
    refused(written_lines(path, {"name": "a", "acc": 1}), "did you mean 'name'", key="names")
    refused(written_lines(path, {"id": "a", "epoch": "x", "acc": 1}), "no text or whole number")


def test_a_file_without_scores_or_items(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    refused(written_lines(path, {"id": "a", "question": "?"}), "there is no score in")
    for empty in ("", " \n\n", "id,acc\n"):
        path.write_text(empty)
        refused(path, "no items|no format")
    refused(tmp_path / "none.eval", "cannot be read .*No such file")
    refused(tmp_path, "cannot be read .*Is a directory")


def test_what_is_no_log(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"\x89PNG\r\n\0\0\0")
    refused(path, "is in no format that is read: inspect, lm-eval, helm")
    path.write_text('[{"id": 1, "acc": 0.5}]')
    refused(path, "is one JSON document, and none of inspect, helm, promptfoo")
    path.write_text('{"id": 1, "acc": 0.5}\n[1]\n')
    refused(path, "line 2 of .* is no JSON object but list")
    path.write_text('{"id": 1, "acc": 0.5}\n{"id": 2, "ac')
    refused(path, "line 2 of .* is no JSON, or is cut off")
    path.write_bytes(b'{"id": 1, "acc": 0.5}\n{"id": "\xff", "acc": 1}\n')
    refused(path, "line 2 of .* is no JSON")
    path.write_text('{"id": ' + "[" * 100_000)
    refused(path, "is no JSON, or is cut off")
    path.write_text("a,b\n1\n2,3,4,5\n")
    refused(path, "cannot be read as CSV|no column of items")
    path.write_bytes(b"PAR1" + bytes(100) + b"PAR1")
    refused(path, "cannot be read as Parquet")


def test_a_mark_before_utf_8_is_no_part_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"id": "a", "acc": 0.5}\n')
    assert evals.read(path).by_item() == {"a": 0.5}


@pytest.mark.parametrize("head", [b"{", b'{"doc_id": 1, "metrics": [], "x": "'])
def test_a_line_of_two_gigabytes_is_not_read(head: bytes, tmp_path: Path) -> None:
    path = tmp_path / "huge.jsonl"
    with path.open("wb") as file:
        file.write(head)
        file.truncate(2 * 2**30)  # a hole: no disk is used
    refused(path, "line 1 of .* has more than 67,108,864 bytes")


def test_broken_zips(tmp_path: Path) -> None:
    whole = (FILES / "inspect.eval").read_bytes()
    path = tmp_path / "a.eval"
    for broken in (whole[:5000], whole[:-30], b"PK\x03\x04" + bytes(100)):
        path.write_bytes(broken)
        refused(path, "is no zip, or is broken or cut off")
    parts = entries(FILES / "inspect.eval")
    with zipfile.ZipFile(FILES / "inspect.eval") as zipped_:
        entry = zipped_.getinfo("summaries.json")
    for at in range(entry.header_offset, entry.header_offset + entry.compress_size, 23):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 255]) + whole[at + 1 :])
        with suppress(InvalidArgument):  # never another error, and never other scores
            assert evals.read(path) == evals.read(FILES / "inspect.eval")
    refused(zipped(path, {"other.json": b"{}"}), "is no log of inspect_ai: it has no header.json")
    refused(zipped(path, {**parts, "header.json": b"[]"}), "header.json in .* is no JSON object")
    refused(zipped(path, {**parts, "header.json": b"{}"}), "is not as inspect_ai writes it")
    refused(zipped(path, {**parts, "summaries.json": b"{"}), "summaries.json in .* is no JSON")
    refused(zipped(path, {**parts, "summaries.json": b"{}"}), "has no samples")


def test_a_zip_that_unpacks_to_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("holdfast.evals.archive.LARGEST_DOCUMENT", 1000)
    refused(FILES / "inspect.eval", "header.json in .* has more than 1,000 bytes")
    deflated = zipped(tmp_path / "a.eval", entries(FILES / "inspect.eval"))
    refused(deflated, "header.json in .* has more than 1,000 bytes")


BOMBS: dict[str, Callable[[Path], Path]] = {
    # Each fills gigabytes where nothing limits it: text of spaces, and many small JSON values.
    "spaces.eval": lambda path: zipped(path, _summarised(b"[" + b" " * 50_000_000 + b"]")),
    "lists.eval": lambda path: zipped(path, _summarised(b"[" + b"[]," * 20_000_000 + b"0]")),
    "zstandard.eval": lambda path: zipped_in_zstandard(path, _summarised(b"[]," * 20_000_000)),
    "objects.json": lambda path: _document(path, b"[" + b'{"":0},' * 6_000_000 + b"0]"),
    "rows.parquet": lambda path: _parquet(path, pl.int_range(0, 30_000_000) // 30_000_000),
    "names.parquet": lambda path: _parquet(path, pl.repeat("x" * 10_000, 20_000)),
    "packed.csv": lambda path: _document(path, gzip.compress(b"id,acc\n" + b"1,1\n" * 20_000_000)),
}


def _document(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def _parquet(path: Path, items: pl.Expr) -> Path:
    pl.select(items.alias("item")).with_columns(acc=1).write_parquet(path)
    return path


def _summarised(summaries: bytes) -> dict[str, bytes]:
    header = entries(FILES / "inspect.eval")["header.json"]
    return {"header.json": header, "summaries.json": summaries}


@pytest.mark.parametrize("name", BOMBS)
def test_a_small_file_fills_no_memory(name: str, tmp_path: Path) -> None:
    """Refused in one sentence, by a process that may use half a gigabyte more than it needs."""
    path = BOMBS[name](tmp_path / name)
    done = subprocess.run(
        [sys.executable, "-c", READ_WITHIN, str(path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    kind, _, said = done.stdout.partition(": ")
    assert kind == "InvalidArgument"
    assert re.search("unpacks to more than 100 times|values;|cells,|bytes of names|as CSV;", said)


READ_WITHIN = """
import resource, sys
from holdfast import evals, errors
import polars, zstandard
evals.read("tests/evals/files/inspect.eval")
polars.select(item=1, acc=0).write_parquet(sys.argv[1] + ".small")
evals.read(sys.argv[1] + ".small")
taken = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (taken + 500 * 2**20,) * 2)
try:
    evals.read(sys.argv[1], "csv" if sys.argv[1].endswith("csv") else None)
except errors.HoldfastError as error:
    print(f"{type(error).__name__}: {error}")
"""


def test_more_memory_than_there_is_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def exhausted(_content: bytes) -> None:
        raise MemoryError

    monkeypatch.setattr("json.loads", exhausted)
    refused(FILES / "promptfoo.json", "takes more memory than there is")


def test_a_document_that_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("holdfast.evals.archive.LARGEST_DOCUMENT", 1000)
    refused(FILES / "promptfoo.json", "more than 1,000 bytes in one JSON document")


def test_arguments(tmp_path: Path) -> None:
    path = FILES / "inspect.eval"
    faults: list[dict[str, Any]] = [
        {"format": "inspect_ai"},
        {"missing": "right"},
        {"partial": "yes"},
        {"epochs": 0},
        {"bounds": (1, 0)},
    ]
    for said in faults:
        with pytest.raises(InvalidArgument, match=next(iter(said))):
            evals.read(path, **said)
    with pytest.raises(InvalidArgument, match="path is 7"):
        evals.read(7)  # type: ignore[arg-type]
    refused(FILES / "inspect-epochs.eval", "declares 2; leave epochs out", score="exact", epochs=3)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)
WHOLE: dict[str, Callable[[], Any]] = {
    "inspect-epochs.json": lambda: json.loads((FILES / "inspect-epochs.json").read_text()),
    "promptfoo.json": lambda: json.loads((FILES / "promptfoo.json").read_text()),
    "per_instance_stats.json": lambda: json.loads((FILES / "per_instance_stats.json").read_text()),
}

CHOICES: list[dict[str, Any]] = [
    {},
    {"score": "exact"},
    {"score": "acc"},
    {"score": "match", "partial": True},
    {"filter": "0"},
    {"filter": "none", "score": "exact_match", "epochs": 2},
    {"filter": "sums_choice/acc", "missing": "wrong"},
]


def mutated(value: Any, data: st.DataObject, depth: int = 0) -> Any:
    """The value with one part of it, wherever, replaced by any other."""
    if not isinstance(value, dict | list) or not value or (depth and data.draw(st.booleans())):
        return data.draw(JSON)
    keys = list(value) if isinstance(value, dict) else range(min(len(value), 3))
    at = data.draw(st.sampled_from(keys))
    copy = value.copy()
    copy[at] = mutated(value[at], data, depth + 1)
    return copy


@pytest.mark.parametrize(
    "name", [*WHOLE, CHOICE.name, "openai-events.jsonl", "every-eval-ever.jsonl"]
)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whatever_a_file_holds_is_read_or_refused(
    name: str, tmp_path: Path, data: st.DataObject
) -> None:
    path = tmp_path / name
    if name in WHOLE:
        path.write_text(json.dumps(mutated(WHOLE[name](), data)))
    else:
        lines = [json.loads(line) for line in (FILES / name).read_text().splitlines()]
        path.write_text("".join(json.dumps(line) + "\n" for line in mutated(lines, data)))
    said = data.draw(st.sampled_from(CHOICES))
    with suppress(HoldfastError):
        found = evals.read(path, **said)
        assert all(0 <= score <= 1 for score in found.scores)
        assert len(set(found.items)) == len(found.items) == len(found.scores)
