"""Columns that arrive later: attached by the key, known by their content, asked as any other."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

import holdfast
from holdfast.data.sampling import Independent
from holdfast.errors import InvalidArgument, InvalidQuestion, LedgerTampered
from holdfast.holdout.desk import Desk
from holdfast.holdout.holdout import Holdout
from holdfast.ledger.attachments import AttachedColumn
from holdfast.ledger.audit import audit
from holdfast.ledger.column_files import ColumnStore, submitted_file
from holdfast.ledger.store import Store
from holdfast.mechanisms.described import ground_of
from holdfast.mechanisms.terms import Terms, profile_of
from holdfast.question.expression import ColumnType
from holdfast.statistics.bind import bind
from holdfast.statistics.statistic import is_single
from holdfast.theory.base.concentration import BinomialMean
from tests.data.loading import database_of
from tests.holdout.tables import copied
from tests.seam import CHECKPOINT_EVERY, desk_of, store_of, transcript_of, write_entry

N = 600
RNG = np.random.default_rng(11)
LABEL = RNG.random(N) < 0.5
V6 = np.where(RNG.random(N) < 0.7, LABEL, ~LABEL)
V7 = np.where(RNG.random(N) < 0.9, LABEL, ~LABEL)
SCORE = RNG.random(N)
KEYS = [f"item-{place:04}" for place in range(N)]
TABLE = pl.DataFrame({"id": KEYS, "label": LABEL, "x": RNG.random(N)}).sample(
    fraction=1.0, shuffle=True, seed=3
)
BOUNDS = {"x": (0.0, 1.0)}
ASKED = "avg(v7 = label)"


def opened(folder: Path, data: Any = TABLE, **said: Any) -> Holdout:
    said = {"key": "id", "tolerance": 0.3, "described": "off", "schema": BOUNDS, **said}
    return holdfast.open(data, ledger=folder / "t.ledger", **said)


@pytest.fixture
def holdout(tmp_path: Path) -> Iterator[Holdout]:
    with opened(tmp_path) as found:
        yield found


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    """A ledger with one column attached, and nothing asked."""
    with opened(tmp_path) as found:
        found.attach("v7", V7)
    return tmp_path / "t.ledger"


def column_file(holdout: Holdout, name: str) -> Path:
    _, digest = transcript_of(holdout).attached.columns[name].identity
    return Path(store_of(holdout).file_name(submitted_file(digest)))


# What is attached is a column -------------------------------------------------------------------


FORMS: dict[str, Callable[[Path], Any]] = {
    "array": lambda _: V7,
    "list": lambda _: V7.tolist(),
    "mapping": lambda _: dict(zip(KEYS, V7.tolist(), strict=True)),
    "frame": lambda _: pl.DataFrame({"id": KEYS[::-1], "v7": V7[::-1]}),
    "parquet": lambda folder: _written(folder / "v7.parquet"),
    "csv": lambda folder: _written(folder / "v7.csv"),
    "jsonl": lambda folder: _written(folder / "v7.jsonl"),
}


def _written(path: Path) -> Path:
    frame = pl.DataFrame({"id": KEYS[::-1], "v7": V7[::-1]})
    match path.suffix:
        case ".parquet":
            frame.write_parquet(path)
        case ".csv":
            frame.write_csv(path)
        case _:
            frame.write_ndjson(path)
    return path


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_the_same_column(holdout: Holdout, tmp_path: Path, form: str) -> None:
    first = holdout.attach("first", V7)
    again = holdout.attach("v7", FORMS[form](tmp_path))
    assert (again.column, again.digest, again.type) == ("first", first.digest, ColumnType.BOOLEAN)
    assert [column.name for column in holdout.columns] == ["first", "v7"]


QUESTIONS = [
    "avg(v7 = label)",
    "avg(score)",
    "difference(v7 = label, not v7 = label)",
    "avg(x) where v7",
    "std(score)",
    "correlation(score, x)",
    "median(score)",
    "brier(score, label)",
]


def _parquet(frame: pl.DataFrame, folder: Path) -> Path:
    frame.write_parquet(folder / "t.parquet")
    return folder / "t.parquet"


def _csv(frame: pl.DataFrame, folder: Path) -> Path:
    frame.write_csv(folder / "t.csv")
    return folder / "t.csv"


def _database(frame: pl.DataFrame, folder: Path) -> Path:
    with duckdb.connect(str(folder / "t.duckdb")) as connection:
        connection.register("given", frame)
        connection.execute("CREATE TABLE t AS SELECT * FROM given")
    return folder / "t.duckdb"


ENGINES: dict[str, Callable[[pl.DataFrame, Path], Any]] = {
    "memory": lambda frame, _: frame,
    "pandas": lambda frame, _: frame.to_pandas(),
    "parquet": _parquet,
    "csv": _csv,
    "database": _database,
    "postgresql": lambda frame, _: database_of(frame),
}


@pytest.mark.filterwarnings("ignore::holdfast.errors.SecondLedger")
@pytest.mark.parametrize("engine", ENGINES)
def test_statistics_are_those_of_a_table_that_always_had_it(tmp_path: Path, engine: str) -> None:
    whole = TABLE.join(pl.DataFrame({"id": KEYS, "v7": V7, "score": SCORE}), on="id")
    bounds = {**BOUNDS, "score": (0.0, 1.0)}
    (tmp_path / "whole").mkdir()
    said = {"mechanism": "exact", "tolerance": None}
    with (
        opened(tmp_path, ENGINES[engine](TABLE, tmp_path), **said) as later,
        opened(tmp_path / "whole", whole, schema=bounds, key=None, **said) as always,
    ):
        later.attach("v7", V7)
        later.attach("score", SCORE, bounds=(0, 1))
        for question in QUESTIONS:
            found, expected = later.ask(question), always.ask(question)
            assert (found.question, found.recorded.value) == (
                expected.question,
                expected.recorded.value,
            )


def test_every_verb_takes_it(holdout: Holdout) -> None:
    holdout.attach("v7", V7)
    holdout.attach("v6", V6)
    assert holdout.cost(ASKED).most > 0
    assert holdout.ask(ASKED).status == "answered"
    assert holdout.check("avg(v6 = label)", guess=0.7).status == "confirmed"
    assert [each.status for each in holdout.ask_many(["avg(v6)", "avg(v7)"])] == ["answered"] * 2
    assert holdout.ask(holdfast.mean(pl.col("v6") == pl.col("label"))).status == "repeated"
    hits = holdfast.row_function(
        lambda rows: rows["v7"] == rows["label"],
        columns=["v7", "label"],
        bounds=(0, 1),
        name="hits",
        version="1",
    )
    assert holdout.ask(holdfast.mean(hits)).status == "answered"
    assert all(finding.fine for finding in audit(store_of(holdout).home))


def test_the_share_in_which_two_differ_is_public(holdout: Holdout) -> None:
    holdout.attach("v6", V6)
    holdout.attach("v7", V7)
    before = store_of(holdout).news()
    assert holdout.differing("v6", "v7") == np.mean(V6 != V7)
    assert store_of(holdout).news() == before
    with pytest.raises(InvalidArgument, match="differing names 'v66'"):
        holdout.differing("v66", "v7")


# Who it is --------------------------------------------------------------------------------------


def test_the_same_values_under_another_name_repeat_for_free(holdout: Holdout) -> None:
    holdout.attach("v7", V7)
    asked = holdout.ask(ASKED)
    same = holdout.attach("best", V7, asked_by="ann")
    left = holdout.budget.to_dict()
    again = holdout.ask("avg(best = label)")
    assert (same.column, same.by) == ("v7", "ann")
    assert (again.status, again.question) == ("repeated", asked.question)
    assert holdout.budget.to_dict() == left
    function = holdfast.row_function(
        lambda rows: rows["best"], columns=["best"], bounds=(0, 1), name="f", version="1"
    )
    with pytest.raises(InvalidQuestion, match="'best' is another name of column 'v7'"):
        holdout.ask(holdfast.mean(function))


def test_a_name_never_means_others(holdout: Holdout) -> None:
    first = holdout.attach("v7", V7)
    entries = store_of(holdout).news()
    assert holdout.attach("v7", V7, asked_by="another") == first
    for name in ("v7", "V7", "label", "LABEL", "id"):
        with pytest.raises(InvalidArgument, match=f"the name '{name}' is taken"):
            holdout.attach(name, V6)
    assert store_of(holdout).news() == entries


def test_bounds_belong_to_the_values(holdout: Holdout) -> None:
    holdout.attach("score", SCORE, bounds=(0, 1))
    assert holdout.attach("same", SCORE).bounds == (0, 1)
    with pytest.raises(InvalidArgument, match=r"bounds is \(0.0, 2.0\), and the same column"):
        holdout.attach("wider", SCORE, bounds=(0, 2))
    with pytest.raises(InvalidArgument, match="which is boolean; only numbers have bounds"):
        holdout.attach("v7", V7, bounds=(0, 1))
    holdout.attach("free", SCORE * 2)
    with pytest.raises(holdfast.NotBounded):
        holdout.ask("avg(free)")
    assert holdout.ask(holdfast.mean("free", bounds=(0, 2))).status == "answered"


def test_two_that_attach_the_same_at_once_write_one_entry(
    ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(ledger.parent) as one, opened(ledger.parent) as other:
        tell = Desk.tell

        def after(name: str, values: Any) -> None:
            def late(self: Desk, compose: Any) -> None:
                if self is desk_of(one):
                    other.attach(name, values)
                tell(self, compose)

            monkeypatch.setattr(Desk, "tell", late)

        after("v6", V6)
        mine = one.attach("v6", V6)
        assert mine == other.columns[-1]
        assert len(store_of(one).news()) == 3  # the opening, v7, v6
        after("v8", ~V6)
        with pytest.raises(InvalidArgument, match="'v8' is attached with other values"):
            one.attach("v8", ~V7)


def test_what_another_process_attached_can_be_asked_at_once(ledger: Path) -> None:
    with opened(ledger.parent) as one, opened(ledger.parent) as other:
        with pytest.raises(InvalidQuestion, match="'v6', which is not a column"):
            one.ask("avg(v6)")
        other.attach("v6", V6)
        assert one.ask("avg(v6)").status == "answered"


def test_another_copy_with_other_values_has_other_noise(ledger: Path, tmp_path: Path) -> None:
    """By its name alone a question would have the same noise there: the difference is exact."""
    copies = [copied(ledger, tmp_path / str(place)) for place in range(3)]
    nonces = []
    for copy, values in zip(copies, (V6, V6, ~V6), strict=True):
        with opened(copy.parent) as holdout:
            holdout.attach("new", values)
            holdout.ask("avg(new)")
            (batch,) = [row for row in store_of(holdout).news() if "reserve/2" in row[1]]
            nonces.append(batch[1].partition('"nonce":')[2].partition("}")[0])
    assert nonces[0] == nonces[1] != nonces[2]
    assert "null" not in nonces


# What is said when something is wrong ------------------------------------------------------------

FAULTS: list[tuple[Any, str]] = [
    ({**dict(zip(KEYS, V7.tolist(), strict=True)), "z": True}, r"1 key \('z'\) is not in"),
    (dict(zip(KEYS[4:], V7.tolist()[4:], strict=True)), r"4 keys \('item-0000', .* no value"),
    (
        pl.DataFrame({"id": [*KEYS, KEYS[0]], "v": [*V7.tolist(), True]}),
        r"1 key \('item-0000'\) comes more",
    ),
    (V7[1:], "599 values, and the table has 600 keys"),
    ([float("nan"), *SCORE[1:]], "1 key .* no value"),
    ([float("inf"), *SCORE[1:]], "infinite"),
    (["a", *SCORE[1:]], "one type|mixed|text"),
    ([], "no value at all"),
]


@pytest.mark.parametrize(("values", "message"), FAULTS)
def test_what_is_no_column_is_refused_and_not_written(
    holdout: Holdout, values: Any, message: str
) -> None:
    with pytest.raises(InvalidArgument, match=message):
        holdout.attach("v", values)
    assert len(store_of(holdout).news()) == 1
    assert not store_of(holdout).home.beside("columns").exists()


def test_keys_without_a_value_may_be_null(holdout: Holdout) -> None:
    holdout.attach("v", dict(zip(KEYS[4:], V7.tolist()[4:], strict=True)), missing="null")
    assert holdout.ask("avg(v is null)").status == "answered"


@pytest.mark.parametrize("name", ["", "a\nb", "x" * 201, "*", "^v.*$", 7])
def test_a_name_must_be_one(holdout: Holdout, name: Any) -> None:
    with pytest.raises(InvalidArgument):
        holdout.attach(name, V7)


def test_a_key_names_every_row(tmp_path: Path) -> None:
    doubled = TABLE.with_columns(pl.lit("a").alias("id"))
    for data, said, message in (
        (TABLE, {"key": "idd"}, "key names 'idd'"),
        (TABLE, {"key": "x"}, "which is float"),
        (doubled, {"key": "id"}, "more than once"),
        (TABLE.with_columns(id=pl.lit(None, pl.String)), {"key": "id"}, "missing"),
        (TABLE, {"public": ["y"]}, "public names 'y'"),
        (TABLE, {"private": True, "questions": 10, "tolerance": None}, "key= are published"),
        (TABLE, {"mechanism": "sample splitting", "questions": 3, "tolerance": None}, "or a key"),
    ):
        with pytest.raises(InvalidArgument, match=message):
            opened(tmp_path, data, **said)
    assert not (tmp_path / "t.ledger").exists()


def test_without_a_key_or_without_rows_nothing_is_attached(tmp_path: Path, ledger: Path) -> None:
    (tmp_path / "plain").mkdir()
    with (
        opened(tmp_path / "plain", key=None) as holdout,
        pytest.raises(InvalidArgument, match="was opened without a key"),
    ):
        holdout.attach("v7", V7)
    with (
        holdfast.open(ledger=ledger) as holdout,
        pytest.raises(InvalidArgument, match="opened without them"),
    ):
        holdout.attach("v6", V6)


def test_it_is_opened_again_with_the_same_key(ledger: Path) -> None:
    with pytest.raises(InvalidArgument, match=r"key is 'x', and the ledger .* opened with 'id'"):
        opened(ledger.parent, key="x")
    with pytest.raises(InvalidArgument, match="public is"):
        opened(ledger.parent, public=["x"])
    with opened(ledger.parent, key=None) as holdout:
        assert [column.name for column in holdout.columns] == ["v7"]


# What is promised -------------------------------------------------------------------------------


def test_it_has_a_name_and_no_description(tmp_path: Path) -> None:
    with opened(tmp_path, described=None) as holdout:
        assert holdout.opening.terms.described == "rounded"
        holdout.attach("v7", V7)
        assert holdout.ask("avg(label)").recorded.bits is not None
        assert holdout.ask(ASKED).recorded.bits is None
        groups = holdout.ask(holdfast.histogram("x", [0, 0.5, 1], where="v7"))
        assert all(answer.recorded.bits is None for _, answer in groups)
        assert "v7" not in desk_of(holdout).opening.schema.types


def test_a_group_whose_share_was_described_is_audited(tmp_path: Path) -> None:
    with opened(tmp_path, described=None) as holdout:
        holdout.attach("v7", V7)
        share = holdout.ask("avg(label)")
        answer = holdout.ask("avg(v7 = label) where label", tolerance=0.2)
        assert share.recorded.look in [each.look for each in answer.parts]
    assert all(finding.fine for finding in audit(tmp_path / "t.ledger"))


def test_rows_are_not_alike_where_something_of_them_is_public(holdout: Holdout) -> None:
    """Binomial laws, and empirical Bernstein, are for rows that are draws of one population."""
    alone = Terms(N, 0.3, 0.95, 10, Independent(), described="rounded", described_share=0.4)
    known = {"key": replace(alone, key="id"), "public": replace(alone, public=("x",))}
    table = desk_of(holdout).table
    question = bind("avg(label)", table)
    assert is_single(question)
    assert alone.alike
    assert isinstance(profile_of(question, alone, alike=alone.alike), BinomialMean)
    for terms in known.values():
        assert not terms.alike
        assert not isinstance(profile_of(question, terms, alike=terms.alike), BinomialMean)
        assert "for these items" in terms.assumption
        assert Terms.from_dict(terms.to_dict()) == terms
    assert known["key"].alike_for(keyless=True)
    assert not known["public"].alike_for(keyless=True)
    grounds = [ground_of(terms, table) for terms in (alone, known["public"])]
    assert [ground is not None and ground.alike for ground in grounds] == [True, False]


def test_training_rows_guess_what_they_have(tmp_path: Path) -> None:
    train = pl.DataFrame({"id": KEYS[:9], "label": LABEL[:9], "x": SCORE[:9]})
    with opened(tmp_path, train=train) as holdout:
        holdout.attach("v7", V7)
        assert holdout.ask(ASKED).guess is None
        assert holdout.ask("avg(label)").guess is not None
    with opened(tmp_path, train=train.with_columns(v7="label")) as holdout:
        assert holdout.ask("avg(v7 and label)").guess is not None
    with opened(tmp_path, guesser="multiplicative weights") as holdout:
        assert holdout.ask("avg(label or v7)").guess is None
        assert holdout.ask("avg(label or x > 0.5)").guess is not None


# Files, crashes and tampering -------------------------------------------------------------------


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-40])


def _changed(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"\xff", b"\xfe", 1)[:-1] + b"x")


@pytest.mark.parametrize("damage", [Path.unlink, _cut, _changed])
def test_a_damaged_file_is_named_before_anything_is_reserved(
    ledger: Path, damage: Callable[[Path], None]
) -> None:
    with opened(ledger.parent) as holdout:
        path = column_file(holdout, "v7")
        damage(path)
        with pytest.raises(LedgerTampered, match=path.name):
            holdout.ask(ASKED)
        assert holdout.ask("avg(label)").status == "answered"
        assert transcript_of(holdout).pending is None
        assert holdout.budget.asked == 1
    (finding,) = [each for each in audit(ledger) if not each.fine]
    assert finding.what == "columns"
    assert path.name in finding.detail


class Crash(BaseException):
    """A process that ends."""


STEPS = ["file", "attach/1", "reserve/2", "settle/2"]


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("step", STEPS)
def test_whoever_comes_next_goes_on(
    ledger: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, when: str
) -> None:
    def session(holdout: Holdout) -> list[Any]:
        holdout.attach("v6", V6)
        found = [holdout.ask("avg(v6 = v7)").recorded, holdout.ask(ASKED).recorded]
        return [(each.number, each.question, each.value, each.interval) for each in found]

    with opened(copied(ledger, tmp_path / "whole").parent) as holdout:
        expected = session(holdout)
    crashed = copied(ledger, tmp_path / "crashed").parent
    append, write = Store.append, ColumnStore.write

    def dying(act: Callable[[], Any], here: bool) -> Any:
        if here and when == "before":
            raise Crash
        found = act()
        if here:
            raise Crash
        return found

    with monkeypatch.context() as patch:
        patch.setattr(
            Store,
            "append",
            lambda self, entries, *said: dying(
                lambda: append(self, entries, *said), entries[0][0]["kind"] == step
            ),
        )
        patch.setattr(
            ColumnStore,
            "write",
            lambda self, *said: dying(lambda: write(self, *said), step == "file"),
        )
        with opened(crashed) as holdout, pytest.raises(Crash):
            session(holdout)
    with opened(crashed) as holdout:
        assert session(holdout) == expected
        assert [column.name for column in holdout.columns] == ["v7", "v6"]
    assert all(finding.fine for finding in audit(crashed / "t.ledger"))


KILLED = """
import os, signal, sys
import polars as pl
import holdfast
from holdfast.ledger.store import Store

folder, entry = sys.argv[1:]
append = Store.append

def dying(self, entries, *said):
    rows = append(self, entries, *said)
    if entries[0][0]["kind"] == entry:
        os.kill(os.getpid(), signal.SIGKILL)
    return rows

Store.append = dying
with holdfast.open(pl.read_parquet(folder + "/t.parquet"), ledger=folder + "/t.ledger") as holdout:
    holdout.attach("v6", folder + "/v6.parquet")
    holdout.ask("avg(v6 = v7)")
"""


@pytest.mark.parametrize("entry", ["attach/1", "reserve/2"])
def test_what_a_killed_process_left_is_finished_by_another(ledger: Path, entry: str) -> None:
    TABLE.write_parquet(ledger.parent / "t.parquet")
    pl.DataFrame({"id": KEYS, "v6": V6}).write_parquet(ledger.parent / "v6.parquet")
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(ledger.parent), entry], check=False, capture_output=True
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    with opened(ledger.parent) as holdout:
        assert [column.name for column in holdout.columns] == ["v7", "v6"]
        assert (transcript_of(holdout).pending is None) == (entry == "attach/1")
        assert holdout.ask("avg(v6 = v7)").number == 1
    assert all(finding.fine for finding in audit(ledger))


def test_a_checkpoint_keeps_what_was_attached(
    ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CHECKPOINT_EVERY, 2)
    with opened(ledger.parent) as holdout:
        holdout.attach("same", V7)
        for place in range(4):
            holdout.ask(f"avg(x > 0.{place + 1} and v7)")
    with opened(ledger.parent) as holdout:
        assert store_of(holdout).checkpoint() is not None
        assert [column.column for column in holdout.columns] == ["v7", "v7"]
        assert holdout.ask("avg(x > 0.1 and same)").status == "repeated"
        assert len(holdout.ledger) == 4


@pytest.mark.parametrize(
    "changes",
    [{"name": "label"}, {"name": "v7"}, {"column": "v6"}, {"column": "new"}, {"type": "text"}],
    ids=str,
)
def test_an_entry_that_could_not_be_written_is_tampering(
    ledger: Path, changes: dict[str, Any]
) -> None:
    with opened(ledger.parent) as holdout:
        (first,) = holdout.columns
        body = {**first.body(), "name": "new", "column": "v7", **changes}
        with pytest.raises(LedgerTampered, match="entry 3"):
            write_entry(holdout, body)
    assert [finding.fine for finding in audit(ledger)] == [False]


def test_an_entry_says_what_was_attached(holdout: Holdout) -> None:
    column = holdout.attach("score", SCORE, bounds=(0, 1), asked_by="ann")
    assert AttachedColumn.read(column.body()) == column
    assert column.to_dict() == {
        "name": "score",
        "column": "score",
        "origin": "submitted",
        "digest": column.digest,
        "type": "float",
        "bounds": [0.0, 1.0],
        "at": column.at,
        "by": "ann",
        "keyless": False,
        "ready": True,
    }
    assert "score: submitted, float in [0, 1], digest" in holdout.explain()


# The page ----------------------------------------------------------------------------------------


def test_the_examples_of_the_page_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = Path(__file__).resolve().parents[2] / "docs" / "columns.md"
    examples = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for example in examples:
        exec(compile(example, "columns.md", "exec"), names)
    printed = capsys.readouterr().out.splitlines()
    share, difference, status, *columns, mean, incumbent = printed
    assert 0.2 < float(share) < 0.3
    assert difference.startswith("0.")
    assert status == "repeated"
    assert "v7-final: submitted, boolean, the same as v7" in columns[2]
    assert mean.startswith("0.")
    assert incumbent == "m4"
