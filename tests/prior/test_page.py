"""Every figure of docs/bits.md."""

from __future__ import annotations

import math
import re
import statistics
import tomllib
from pathlib import Path
from typing import Any

import pytest

from holdfast.question.columns import Schema
from holdfast.question.expression import ColumnType
from holdfast.statistics.description import Prior
from holdfast.theory.base.concentration import BoundedMean
from holdfast.theory.length.levels import described_log_level
from tests.prior.corpus import QUESTIONS, prior

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "bits.md").read_text(encoding="utf-8")


def _blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    """What the page's Python defines."""
    found: dict[str, Any] = {}
    for block in _blocks("python"):
        exec(compile(block, "bits.md", "exec"), found)
    return found


def _shown(bits: float | None) -> str:
    return "" if bits is None else f"{bits:.1f}"


def test_the_table_of_questions(names: dict[str, Any]) -> None:
    words = Prior.from_dict(names["schema"])
    rows = re.findall(r"^\| `(.*?)` \| (.*?) \|(.*?)\|$", PAGE, re.MULTILINE)
    assert len(rows) == 13
    for question, plain, free in rows:
        found = words.bits(question)
        assert (_shown(found.plain), _shown(found.free)) == (plain, free.strip()), question


def test_the_table_of_half_widths() -> None:
    rows = re.findall(r"^\| (\d+) \| (0\S+) \| (0\S+) \| (0\S+) \|$", PAGE, re.MULTILINE)
    assert len(rows) == 6
    for bits, *widths in rows:
        level = described_log_level(math.log(0.02), 1000 * int(bits))
        for n, width in zip((1_000, 10_000, 100_000), widths, strict=True):
            assert f"{math.ceil(1e4 * BoundedMean(n).radius(level)) / 1e4:.4f}" == width
    by_bits = {int(bits): float(first) for bits, first, *_ in rows}
    assert by_bits[30] / by_bits[20] < by_bits[20] / by_bits[10] < 1.27


def test_the_figures_in_the_text(names: dict[str, Any]) -> None:
    schema = names["schema"]
    values = {**schema["values"], "dest": names["entries"]["dest"]["values"]}
    declared = Prior.from_dict({**schema, "values": values})
    airport = declared.bits("avg(dest = 'LAX')").plain
    assert f"from 28.8 to {_shown(airport)} bits" in PAGE
    heavy = Prior.from_dict({**schema, "weights": {"arr_delay": 10}})
    assert f"from 13.2 to {_shown(heavy.bits('avg(arr_delay > 15)').plain)} bits" in PAGE
    assert f"from 4.7 to {_shown(heavy.bits('avg(cancelled)').plain)}." in PAGE
    favourites = ["avg(arr_delay > 15) where origin = 'JFK'", "avg(cancelled) where month = 12"]
    listed = Prior.from_dict({**schema, "favourites": favourites})
    assert len(listed.favourites) == 3
    assert f"the first costs {_shown(listed.bits(favourites[0]).plain)} bits and not 18.0" in PAGE
    held = [prior(q["schema"]).bits(q["text"]).best for q in QUESTIONS if q["split"] == "held"]
    assert f"the median of that half is {statistics.median(held):.1f} bits" in PAGE
    assert f"On {len(QUESTIONS)} questions" in PAGE


def test_both_forms_of_a_schema_can_be_declared(names: dict[str, Any], tmp_path: Path) -> None:
    (block,) = _blocks("toml")
    path = tmp_path / "schema.toml"
    path.write_text(block, encoding="utf-8")
    types = {name: ColumnType(kind) for name, kind in names["schema"]["types"].items()}
    assert tomllib.loads(block)["favourites"]
    in_file = Schema(types).declare(path)
    assert Schema(types).declare(names["entries"]) == in_file
