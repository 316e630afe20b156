"""What people bring for the rows of a table: one column, in whatever form it comes."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, strategies as st

from holdfast.data import open_sample
from holdfast.data.attached import ColumnValues, Fields, column_values, share_differing
from holdfast.data.keys import KeyOrder, key_order, ordered
from holdfast.errors import HoldfastError, InvalidArgument
from holdfast.question.expression import ColumnType

FIELDS = Fields("v7")
NAMED, NUMBERED = pl.Series(["c", "a", "é", "b"]), pl.Series([30, -1, 7, 2**60])
CONTENTS: dict[str, list[Any]] = {
    "boolean": [True, False, True, True],
    "integer": [3, -(2**60), 0, 7],
    "float": [0.5, -1e300, 0.0, 0.1],
    "text": ["x", "", 'it\'s, "so"', "é\n"],
}
every_content = pytest.mark.parametrize("content", CONTENTS)
every_key = pytest.mark.parametrize("keys", [NAMED, NUMBERED], ids=["text keys", "integer keys"])


def column(given: object, keys: pl.Series = NAMED, **options: Any) -> ColumnValues:
    fields = Fields("v7", options.pop("key", None), options.pop("value", None))
    return column_values(given, ordered("id", keys), fields, **options)


def written(frame: pl.DataFrame, path: Path) -> Path:
    match path.suffix:
        case ".csv":
            frame.write_csv(path, quote_style="non_numeric" if "v7" in frame else "necessary")
        case ".parquet":
            frame.write_parquet(path)
        case _:
            path.write_text("\n".join(map(json.dumps, frame.to_dicts())), encoding="utf-8")
    return path


FORMS: dict[str, Callable[[pl.DataFrame, Path], Any]] = {
    "mapping": lambda frame, _: dict(frame.iter_rows()),
    "Polars": lambda frame, _: frame,
    "Polars, lazily": lambda frame, _: frame.lazy(),
    "Polars, more columns": lambda frame, _: frame.with_columns(other=1).select(
        "other", "v7", "id"
    ),
    "pandas": lambda frame, _: pd.DataFrame(frame.to_dict(as_series=False)),
    "pandas, by the index": lambda frame, _: pd.DataFrame(frame.to_dict(as_series=False)).set_index(
        "id"
    ),
    "pandas Series": lambda frame, _: pd.Series(
        frame["v7"].to_list(), index=pd.Index(frame["id"].to_list(), name="id")
    ),
    "pandas, by the column before the index": lambda frame, _: pd.DataFrame(
        frame.to_dict(as_series=False), index=pd.RangeIndex(frame.height, name="id")
    ),
    "pyarrow": lambda frame, _: frame.to_arrow(),
    "list in the order of keys": lambda frame, _: frame.sort("id")["v7"].to_list(),
    "tuple of numpy's": lambda frame, _: tuple(np.array(frame.sort("id")["v7"].to_list())),
    "numpy array": lambda frame, _: np.array(frame.sort("id")["v7"].to_list()),
    "Polars Series": lambda frame, _: frame.sort("id")["v7"],
    "CSV": lambda frame, folder: written(frame, folder / "v.csv"),
    "Parquet": lambda frame, folder: written(frame, folder / "v.parquet"),
    "JSON lines": lambda frame, folder: str(written(frame, folder / "v.jsonl")),
}


@every_key
@every_content
@pytest.mark.parametrize("form", FORMS)
def test_the_same_content_is_the_same_column_in_every_form(
    tmp_path: Path, form: str, content: str, keys: pl.Series
) -> None:
    order = ordered("id", keys)
    frame = pl.DataFrame({"id": keys, "v7": CONTENTS[content]})
    found = column_values(FORMS[form](frame, tmp_path), order, FIELDS)
    assert found.type == content
    assert found.frame("v").equals(frame.sort("id").rename({"v7": "v"}))
    assert found.digest() == ColumnValues(order, frame.sort("id")["v7"]).digest()


def test_the_digest_is_that_of_bytes_anyone_can_write_down() -> None:
    text = b"holdfast keys/1\ntext 3\n" + b"\xe0" + struct.pack("<3Q", 1, 1, 2) + "abé".encode()
    head = f"holdfast column/1 {sha256(text).hexdigest()}\nfloat 3\n".encode()
    expected = sha256(head + b"\xa0" + struct.pack("<3d", 1.5, 0.0, 0.0)).hexdigest()
    found = column({"é": -0.0, "a": 1.5}, pl.Series(["b", "é", "a"]), missing="null")
    assert found.digest() == expected


def test_type_and_keys_are_part_of_the_content() -> None:
    contents: list[list[Any]] = [[1, 0, 1, 1], [1.0, 0.0, 1.0, 1.0], [True, False, True, True]]
    contents += [["1", "0", "1", "1"], [None, 0, 1, 1]]
    found = [column(each, keys, missing="null") for each in contents for keys in (NAMED, NUMBERED)]
    assert len({each.digest() for each in found}) == len(found)


def test_missing_has_one_form_and_so_has_zero() -> None:
    forms: list[Any] = [
        {"a": 0.0, "b": 1.5},
        {"a": -0.0, "b": 1.5, "c": None, "é": float("nan")},
        [-0.0, 1.5, None, np.nan],
        np.array([0.0, 1.5, np.nan, np.nan]),
        pd.Series([0.0, 1.5, np.nan], index=["a", "b", "c"]),
        pl.DataFrame({"id": ["b", "a", "c"], "v": [1.5, -0.0, None]}),
        np.ma.masked_array([0.0, 1.5, 9.0, 9.0], mask=[False, False, True, True]),
    ]
    assert len({column(each, missing="null").digest() for each in forms}) == 1


def test_whole_numbers_beside_other_numbers_are_floats() -> None:
    assert column([1, 2.5, 3, 4]).digest() == column([1.0, 2.5, 3.0, 4.0]).digest()
    assert column(np.array([1, 2, 3, 4], dtype=np.uint8)).type is ColumnType.INTEGER
    assert column(np.array([0.5, 2, 3, 4], dtype=">f4")).digest() == column([0.5, 2, 3, 4]).digest()
    assert column(pl.Series(["a", "b", "a", "b"], dtype=pl.Categorical)).type is ColumnType.TEXT


values = st.one_of(
    st.lists(st.booleans(), min_size=1),
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1),
    st.lists(st.floats(allow_infinity=False, allow_nan=False), min_size=1),
    st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1),
)


@given(values, st.data())
def test_the_order_in_which_pairs_come_does_not_matter(
    content: list[Any], data: st.DataObject
) -> None:
    order = ordered("id", pl.Series(range(len(content))))
    pairs = list(enumerate(content))
    found = [
        column_values(dict(data.draw(st.permutations(pairs))), order, FIELDS) for _ in range(3)
    ]
    assert len({each.digest() for each in found}) == 1
    assert found[0].values.to_list() == content


@given(values, st.data())
def test_another_value_is_another_column(content: list[Any], data: st.DataObject) -> None:
    order = ordered("id", pl.Series(range(len(content))))
    place = data.draw(st.integers(0, len(content) - 1))
    other = data.draw(st.sampled_from(content) | st.none())
    changed = [*content[:place], other, *content[place + 1 :]]
    if all(each is None for each in changed):
        return
    one, two = (column_values(each, order, FIELDS, missing="null") for each in (content, changed))
    assert (one.digest() == two.digest()) == (other == content[place])
    assert share_differing(one, two) == (other != content[place]) / len(content)


def test_whoever_brought_values_cannot_change_them() -> None:
    array = np.array([1.0, 2.0, 3.0, 4.0])
    keys = np.array([2, 7, 30, -1])
    brought = [array, pl.Series(array), pl.DataFrame({"id": keys, "v": array})]
    found = [column(each, pl.Series([-1, 2, 7, 30])) for each in brought]
    before = [each.values.to_list() for each in found]
    array[:], keys[:] = 9.0, 9
    assert [each.values.to_list() for each in found] == before


# Faults -------------------------------------------------------------------------------------------

KEYS = dict.fromkeys(["a", "b", "c", "é"], 1.5)
FAULTS: dict[str, tuple[Any, str]] = {
    "an unknown key": (KEYS | {"z": 1.5}, "1 key ('z') is not in column 'id'"),
    "many unknown keys": (
        KEYS | dict.fromkeys("vwxyz", 1.5),
        "5 keys ('v', 'w', 'x', ...) are not in column 'id'",
    ),
    "a long unknown key": (KEYS | {"z" * 999: 1.5}, "..."),
    "missing keys": ({"a": 1.5}, "3 keys ('b', 'c', 'é') have no value"),
    "nothing for a key": (KEYS | {"b": None}, "1 key ('b') has no value"),
    "NaN": (KEYS | {"b": np.nan, "a": np.nan}, "2 keys ('a', 'b') have no value"),
    "infinities": (KEYS | {"b": np.inf, "é": -np.inf}, "2 keys ('b', 'é') have an infinite value"),
    "doubled keys": (
        pl.DataFrame({"id": ["a", "b", "a", "c", "b"], "v": range(5)}),
        "2 keys ('a', 'b') come more than once",
    ),
    "values without a key": (
        pl.DataFrame({"id": ["a", None, "c"], "v": [1, 2, 3]}),
        "1 value of 3 came without a key",
    ),
    "too short": ([1.5, 2.5], "2 values, and the table has 4 keys"),
    "too long": (np.zeros(5), "5 values, and the table has 4 keys"),
    "a matrix": (np.zeros((4, 1)), "shape (4, 1)"),
    "keys of another type": ({1: 1.5}, "are integer, and those of column 'id' are text"),
    "keys that are no keys": ({1.5: 1.5}, "are float, and those of column 'id' are text"),
    "mixed types": (["x", 1, 2, 3], "holds integer and text values"),
    "truth among numbers": ([True, 1, 0, 1], "holds boolean and integer values"),
    "mixed in pandas": (pd.DataFrame({"id": list("abcé"), "v": ["x", 1, 2, 3]}), "several types"),
    "other things": ([object()] * 4, "holds object values"),
    "dates": (pl.Series([0] * 4).cast(pl.Date), "holds Date values"),
    "no value at all": ([None] * 4, "no value at all"),
    "nothing of a type": (pl.Series([None] * 4, dtype=pl.Float64), "for any of 4 keys"),
    "Polars' nothing": (pl.Series([None] * 4), "no value at all"),
    "beyond 64 bits": ([2**63, 0, 0, 0], "beyond 64 bits"),
    "beyond 64 bits, unsigned": (np.array([2**63, 0, 0, 0], dtype=np.uint64), "beyond 64 bits"),
    "digits lost": ([2**53 + 1, 0.5, 0.5, 0.5], "beyond 2^53"),
    "text that ends in C": (KEYS | dict.fromkeys(KEYS, "a\0b"), "'c', ...) have a NUL character"),
    "half a character": (["\ud800", "a", "b", "c"], "half characters"),
    "no column of keys": (pl.DataFrame({"key": list("abcé"), "v": range(4)}), "'id'"),
    "several columns": (pl.DataFrame({"id": list("abcé"), "v": 1, "w": 2}), "value="),
    "a single text": (Path("v7"), "ends in nothing"),
    "no file": ("/nowhere/v7.csv", "cannot be read as what its name says"),
    "one number": (1.5, "values is a float"),
    "a generator": ((each for each in range(4)), "values is a generator"),
    "an index of numbers": (pd.Series(range(4)), "rename_axis('id')"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_told_in_one_sentence_and_what_to_do(fault: str) -> None:
    given, words = FAULTS[fault]
    with pytest.raises(InvalidArgument) as refused:
        column(given)
    said = str(refused.value)
    assert words in said
    assert said.endswith(".")
    assert len(said) < 400


anything = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.binary(),
    st.dates(),
    st.decimals(),
    st.lists(st.integers(), max_size=2),
    st.builds(np.float32, st.floats(width=32)),
    st.builds(np.int8, st.integers(-128, 127)),
)


@given(st.lists(anything | st.none(), min_size=4, max_size=4), st.booleans())
def test_whatever_comes_is_a_column_or_is_refused_in_words(
    content: list[Any], mapped: bool
) -> None:
    given = dict(zip(["a", "b", "c", "é"], content, strict=True)) if mapped else content
    try:
        found = column(given, missing="null").values.to_list()
    except InvalidArgument:
        return
    missing = [
        each is None or (isinstance(each, float | np.floating) and np.isnan(each))
        for each in content
    ]
    assert found == [
        None if absent else each for each, absent in zip(content, missing, strict=True)
    ]


class Elsewhere:
    """An array that is not in this memory."""

    def __array__(self, *_: object, **__: object) -> Any:
        raise TypeError("the values are on another device")


def test_what_cannot_be_read_is_refused_in_words() -> None:
    with pytest.raises(InvalidArgument, match="cannot be read as an array"):
        column(Elsewhere())
    with pytest.raises(HoldfastError, match="could not be read"):
        column(pl.scan_parquet("/nowhere/v.parquet"))


def test_one_wrong_key_among_a_million() -> None:
    order = ordered("id", pl.Series(np.arange(1_000_000)))
    keys = np.arange(1_000_000)[::-1].copy()
    keys[123] = 1_000_000
    with pytest.raises(InvalidArgument, match=r"^1 key \(1000000\) is not in column 'id'"):
        column_values(pl.DataFrame({"id": keys, "v": 0.5}), order, FIELDS)
    keys[123] = 5
    with pytest.raises(InvalidArgument, match=r"^1 key \(5\) comes more than once"):
        column_values(pl.DataFrame({"id": keys, "v": 0.5}), order, FIELDS)


def test_missing_is_refused_or_null_and_nothing_else() -> None:
    assert column({"a": 1}, missing="null").values.to_list() == [1, None, None, None]
    with pytest.raises(InvalidArgument, match="'refuse' or 'null'"):
        column({"a": 1}, missing="zero")


# Files --------------------------------------------------------------------------------------------


def test_keys_in_a_csv_are_read_as_the_table_has_them(tmp_path: Path) -> None:
    path = tmp_path / "v.csv"
    path.write_text("item,score,note\n007,1.5,x\n7,2.5,y\n", encoding="utf-8")
    texts = column(path, pl.Series(["7", "007"]), key="item", value="score")
    assert texts.frame("v").rows() == [("007", 1.5), ("7", 2.5)]
    with pytest.raises(InvalidArgument, match="comes more than once"):
        column(path, pl.Series([7, 8]), key="item", value="score")
    path.write_text("id,v\n1,0.5\none,0.5\n", encoding="utf-8")
    with pytest.raises(InvalidArgument, match=r"1 key \('one'\) is not of whole numbers"):
        column(path, pl.Series([1, 2]))


def test_truth_as_pandas_writes_it_is_truth(tmp_path: Path) -> None:
    frame = pd.DataFrame({"id": ["a", "b", "c", "é"], "v": [True, False, True, False]})
    frame.to_csv(tmp_path / "v.csv", index=False)
    assert column(tmp_path / "v.csv").digest() == column(frame).digest()


def test_a_csv_without_a_value_is_no_column_of_truths(tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_text("id,v\na,\nb,\n", encoding="utf-8")
    with pytest.raises(InvalidArgument, match="no value for any of 4 keys"):
        column(tmp_path / "v.csv", missing="null")


@pytest.mark.parametrize("name", ["v.csv", "v.parquet", "v.jsonl"])
def test_files_that_are_not_what_their_name_says_are_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"\x00\xff{[")
    with pytest.raises(InvalidArgument):
        column(path)


def test_a_line_that_is_no_object_is_named(tmp_path: Path) -> None:
    (tmp_path / "v.jsonl").write_text('{"id": "a", "v": 1}\n\n[1]\n', encoding="utf-8")
    with pytest.raises(InvalidArgument, match="line 3 "):
        column(tmp_path / "v.jsonl")


# Keys ---------------------------------------------------------------------------------------------


def key_of(**columns: Any) -> KeyOrder:
    return key_order(open_sample(pl.DataFrame(columns)), "id")


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"id": [1, 2, 1, 2, 3]}, "in which 2 keys (1, 2) come more than once"),
        ({"id": ["a", None, None]}, "in 2 rows"),
        ({"id": [2**63, 0]}, "beyond 64 bits"),
        ({"id": [0.5, 1.5]}, "which is float"),
        ({"ID": [1, 2]}, "'ID'"),
    ],
)
def test_a_key_has_another_value_in_every_row(columns: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidArgument) as refused:
        key_of(**columns)
    assert words in str(refused.value)


def test_the_order_of_keys_is_by_size_or_by_code_points() -> None:
    assert key_of(id=[10, -2, 9]).keys.to_list() == [-2, 9, 10]
    assert key_of(id=["b", "é", "B", "𝔞", "ｂ"]).keys.to_list() == ["B", "b", "é", "ｂ", "𝔞"]
    assert key_of(id=[3, 1], y=[1, 2]) == key_of(id=[1, 3])
    assert key_of(id=[3, 1]) != key_of(id=["3", "1"])


# What differs -------------------------------------------------------------------------------------


def test_the_share_of_rows_that_differ() -> None:
    one, other = (
        column([1, 2, None, 4], missing="null"),
        column([1.0, 2.5, None, 0.0], missing="null"),
    )
    assert share_differing(one, other) == share_differing(other, one) == 0.5
    assert share_differing(one, one) == 0.0
    assert share_differing(column(list("abcd")), column(list("abca"))) == 0.25
    with pytest.raises(InvalidArgument, match="one column is integer and the other is text"):
        share_differing(one, column(list("abcd")))
    with pytest.raises(InvalidArgument, match="different keys"):
        share_differing(one, column([1, 2, 3, 4], NUMBERED))
