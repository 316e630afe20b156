"""Columns computed from protected rows: known by what was declared, never by what they hold."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import holdfast
from holdfast.data.attached import Computed
from holdfast.errors import InvalidArgument, InvalidQuestion, LedgerTampered
from holdfast.holdout.desk import Desk
from holdfast.holdout.holdout import Holdout
from holdfast.ledger.audit import Finding, audit
from holdfast.ledger.column_files import ColumnStore, computed_file
from holdfast.ledger.store import Store
from tests.holdout.tables import copied, watch
from tests.postgres import server
from tests.seam import CHECKPOINT_EVERY, desk_of, store_of, transcript_of, write_entry

N = 600
RNG = np.random.default_rng(12)
KEYS = [f"item-{place:04}" for place in range(N)]
X = RNG.integers(0, 400, N)
LABEL = RNG.random(N) < 0.5
TABLE = pl.DataFrame({"id": KEYS, "x": X, "label": LABEL}).sample(
    fraction=1.0, shuffle=True, seed=3
)
ASKED = "avg(m3)"
Row = dict[str, Any]


def opened(folder: Path, data: Any = TABLE, **said: Any) -> Holdout:
    said = {"key": "id", "tolerance": 0.3, "described": "off", **said}
    return holdfast.open(data, ledger=folder / "t.ledger", **said)


def model(rows: pl.DataFrame) -> pl.Series:
    return (rows["x"] % 7 / 7.0).alias("p")


def by_model(digest: str | None = "sha256:1f", function: Any = model) -> Computed:
    return holdfast.computed(function, columns=["x"], bounds=(0, 1), digest=digest)


@pytest.fixture
def holdout(tmp_path: Path) -> Iterator[Holdout]:
    with opened(tmp_path) as found:
        yield found


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    """A ledger with one computed column, and nothing asked."""
    with opened(tmp_path) as found:
        found.attach("m3", by_model())
    return tmp_path / "t.ledger"


def entries(holdout: Holdout) -> list[Row]:
    return [json.loads(text) for _, text, _ in store_of(holdout).news()]


def kinds(holdout: Holdout) -> list[str]:
    return [entry["kind"] for entry in entries(holdout)]


def columns_finding(ledger: Path) -> Finding:
    (found,) = [finding for finding in audit(ledger) if finding.what == "columns"]
    return found


# A function is run once, behind the door ----------------------------------------------------------


def test_a_model_is_a_column_of_numbers_in_its_bounds(tmp_path: Path) -> None:
    with opened(tmp_path, mechanism="exact", tolerance=None) as holdout:
        found = holdout.attach("m3", by_model(), asked_by="ann")
        assert (found.origin, found.digest, found.by) == ("computed", "sha256:1f", "ann")
        assert (found.type, found.bounds, found.ready) == ("float", (0.0, 1.0), True)
        assert holdout.ask(ASKED).recorded.value == pytest.approx(np.mean(X % 7 / 7), abs=1e-8)
        assert holdout.ask("avg(m3 > 0.5 and label)").recorded.value == pytest.approx(
            np.mean((X % 7 / 7 > 0.5) & LABEL)
        )
    assert kinds_in(tmp_path / "t.ledger")[:3] == ["open/3", "attach/1", "values/1"]
    assert all(finding.fine for finding in audit(tmp_path / "t.ledger", _sample))


def kinds_in(ledger: Path) -> list[str]:
    with holdfast.open(ledger=ledger) as holdout:
        return kinds(holdout)


def _sample() -> Any:
    from holdfast.data import open_sample

    return open_sample(TABLE)


def test_it_is_durable_who_it_is_before_a_row_is_read(holdout: Holdout) -> None:
    seen: list[list[str]] = []
    watch(holdout, lambda: seen.append(kinds(holdout)))
    _ = desk_of(holdout).protected.order  # the keys are public
    seen.clear()
    holdout.attach("m3", by_model())
    assert seen == [["open/3", "attach/1"]]
    assert kinds(holdout) == ["open/3", "attach/1", "values/1"]


def test_it_is_run_once_and_never_again(holdout: Holdout) -> None:
    seen: list[int] = []

    def counting(rows: pl.DataFrame) -> pl.Series:
        seen.append(rows.height)
        return model(rows)

    first = holdout.attach("m3", by_model(function=counting))
    assert [height for height in seen if height > 10] == [N]  # invented rows are few
    seen.clear()
    assert holdout.attach("m3", by_model(function=counting)) == first
    holdout.ask(ASKED)
    assert not [height for height in seen if height > 10]


def test_it_may_read_columns_that_were_attached(holdout: Holdout) -> None:
    holdout.attach("v7", LABEL)
    hits = holdfast.computed(
        lambda rows: rows["v7"] == rows["label"], columns=["v7", "label"], bounds=(0, 1)
    )
    holdout.attach("hits", hits)
    holdout.attach(
        "halves", holdfast.computed(lambda r: r["hits"], columns=["hits"], bounds=(0, 1))
    )
    assert holdout.check("avg(halves)", guess=1.0).status == "confirmed"
    with pytest.raises(InvalidQuestion, match="'v8', which is not a column"):
        holdout.attach("w", holdfast.computed(model, columns=["v8"], bounds=(0, 1)))


def test_a_function_that_fails_says_nothing_of_the_rows(tmp_path: Path) -> None:
    """Where it fails is NULL, whatever it raises; what is public is the same for all tables."""

    def failing(rows: pl.DataFrame) -> Any:
        if (rows["x"] > 390).any():
            raise ValueError(f"rows {rows['x'].to_list()}")
        return np.where(rows["x"] % 2 == 0, np.nan, rows["x"] / 10.0)

    known = []
    for place, data in enumerate((TABLE, TABLE.with_columns(x=pl.lit(3)))):
        (tmp_path / str(place)).mkdir()
        with opened(tmp_path / str(place), data, mechanism="exact", tolerance=None) as holdout:
            holdout.attach("m3", by_model(function=failing))
            _, attach, values = entries(holdout)
            known.append([attach, {**values, "salt": "", "mark": ""}])
            for body in known[-1]:
                body["at"] = ""
            if place == 0:
                missing = (X > 390) | (X % 2 == 0)
                assert holdout.ask("avg(m3 is null)").recorded.value == np.mean(missing)
    assert known[0] == known[1]


def test_what_fails_on_invented_rows_is_refused_before_there_is_an_entry(holdout: Holdout) -> None:
    def broken(rows: pl.DataFrame) -> Any:
        return rows["nothing"]

    with pytest.raises(InvalidQuestion, match="fails on invented rows"):
        holdout.attach("m3", by_model(function=broken))
    assert kinds(holdout) == ["open/3"]


def standardised(rows: pl.DataFrame) -> Any:
    return (rows["x"] - rows["x"].mean()) / rows["x"].std()


def ranked(rows: pl.DataFrame) -> Any:
    if (rows["x"] > 390).any():  # not on all invented rows, then
        raise ValueError
    return rows["x"].rank()


def counted(rows: pl.DataFrame) -> Any:
    return np.full(rows.height, 1.0 / rows.height)


@pytest.mark.parametrize("function", [standardised, ranked, counted])
def test_a_function_that_looks_at_its_batch_is_refused(holdout: Holdout, function: Any) -> None:
    with pytest.raises(InvalidQuestion, match="invented rows otherwise together than one by one"):
        holdout.attach("m3", by_model(function=function))
    assert kinds(holdout) == ["open/3"]


def test_a_bare_function_is_told_how_it_is_attached(holdout: Holdout) -> None:
    with pytest.raises(InvalidArgument, match=r"holdfast\.computed\(function, columns="):
        holdout.attach("m3", model)


def test_it_has_a_name_and_no_description(tmp_path: Path) -> None:
    with opened(tmp_path, described="rounded") as holdout:
        holdout.attach("m3", by_model())
        assert holdout.ask("avg(label)").recorded.bits is not None
        assert holdout.ask(ASKED).recorded.bits is None


def test_rows_that_training_shares_are_the_custodians_to_know(tmp_path: Path) -> None:
    """They are refused when the ledger is made, and nothing is written of them."""
    for train in (TABLE.head(2), TABLE.head(N - 1)):
        with pytest.raises(InvalidArgument, match=f"{train.height} are also in the protected"):
            opened(tmp_path, train=train)
    assert list(tmp_path.iterdir()) == []


# Scores that come as a file are the same kind -----------------------------------------------------


@pytest.mark.parametrize("form", ["array", "mapping", "csv", "jsonl"])
def test_scores_of_protected_labels_have_a_digest(tmp_path: Path, form: str) -> None:
    scores = pl.DataFrame({"id": KEYS[::-1], "right": LABEL[::-1]})
    brought: dict[str, Callable[[], Any]] = {
        "array": lambda: LABEL,
        "mapping": lambda: dict(scores.iter_rows()),
        "csv": lambda: (scores.write_csv(tmp_path / "s.csv"), tmp_path / "s.csv")[1],
        "jsonl": lambda: (scores.write_ndjson(tmp_path / "s.jsonl"), tmp_path / "s.jsonl")[1],
    }
    with opened(tmp_path, mechanism="exact", tolerance=None) as holdout:
        found = holdout.attach("m3", brought[form](), bounds=(0, 1), digest="prompt 7")
        assert (found.origin, found.type, found.digest) == ("computed", "float", "prompt 7")
        assert holdout.ask(ASKED).recorded.value == np.mean(LABEL)
        assert kinds(holdout)[:3] == ["open/3", "attach/1", "values/1"]


FAULTS: list[tuple[Any, dict[str, Any], str]] = [
    ({**dict.fromkeys(KEYS, 0.5), "z": 1.0}, {}, r"1 key \('z'\) is not in"),
    (dict.fromkeys(KEYS[4:], 0.5), {}, r"4 keys \('item-0000', .* no value"),
    (pl.DataFrame({"id": [*KEYS, KEYS[0]], "v": 0.5}), {}, r"1 key \('item-0000'\) comes more"),
    ([0.5] * (N - 1), {}, "599 values, and the table has 600 keys"),
    ([float("nan")] + [0.5] * (N - 1), {}, "1 key .* no value"),
    ([float("inf")] + [0.5] * (N - 1), {}, "infinite"),
    (["a"] + [0.5] * (N - 1), {}, "one type|mixed|text"),
    (["a"] * N, {}, "values are text"),
    ([0.5] * N, {"bounds": None}, "without bounds"),
    ([0.5] * N, {"bounds": (1, 0)}, "bounds"),
    ([0.5] * N, {"digest": ""}, "digest"),
    ([0.5] * N, {"digest": "x" * 201}, "digest has 201 characters"),
    ([0.5] * N, {"missing": "zero"}, "missing is 'zero'"),
]


@pytest.mark.parametrize(("values", "said", "message"), FAULTS)
def test_what_are_no_scores_is_refused_and_not_written(
    holdout: Holdout, values: Any, said: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidArgument, match=message):
        holdout.attach("m3", values, **{"bounds": (0, 1), "digest": "d", **said})
    assert kinds(holdout) == ["open/3"]
    assert not store_of(holdout).home.beside("columns").exists()


@pytest.mark.parametrize(
    "said", [{"digest": "d"}, {"bounds": (0, 1)}, {"key": "id"}, {"missing": "null"}]
)
def test_what_a_function_declares_is_declared_once(holdout: Holdout, said: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument, match="say bounds and digest there"):
        holdout.attach("m3", by_model(), **said)
    assert kinds(holdout) == ["open/3"]


# Who it is ----------------------------------------------------------------------------------------


def test_the_same_values_by_another_digest_are_another_column(holdout: Holdout) -> None:
    first, second = holdout.attach("m3", by_model("a")), holdout.attach("m4", by_model("b"))
    assert (first.column, second.column) == ("m3", "m4")
    assert holdout.ask(ASKED).status == holdout.ask("avg(m4)").status == "answered"
    submitted = (TABLE.sort("id")["x"] % 7 / 7.0).to_numpy()
    assert holdout.attach("m5", submitted).column == "m5"  # nor are they those of a submitted one


def test_the_same_digest_under_another_name_is_the_same_column(holdout: Holdout) -> None:
    holdout.attach("m3", by_model())
    holdout.ask(ASKED)
    alias = holdout.attach("best", by_model(), asked_by="ann")
    assert (alias.column, alias.ready, alias.by) == ("m3", True, "ann")
    assert kinds(holdout).count("values/1") == 1
    assert holdout.ask("avg(best)").status == "repeated"
    # Nobody looks at what is brought again: it would be compared.
    same = holdout.attach("again", np.zeros(N), digest="sha256:1f", bounds=(0, 1))
    assert same.column == "m3"
    assert all(finding.fine for finding in audit(store_of(holdout).home))


def test_a_name_never_means_others(holdout: Holdout) -> None:
    holdout.attach("m3", by_model())
    holdout.attach("v7", LABEL)
    before = kinds(holdout)
    for name, values, why in (
        ("m3", by_model("other"), r"another one \(computed, digest sha256:1f\)"),
        ("m3", by_model(None), "another one"),
        ("M3", by_model(), "taken"),
        ("m3", LABEL, "another one"),
        ("v7", by_model(), "another one"),
        ("label", by_model(), "a column of the holdout"),
    ):
        with pytest.raises(InvalidArgument, match=why):
            holdout.attach(name, values)
    with pytest.raises(InvalidArgument, match=r"bounds is \(0.0, 2.0\), and the same column"):
        holdout.attach(
            "m4", holdfast.computed(model, columns=["x"], bounds=(0, 2), digest="sha256:1f")
        )
    assert kinds(holdout) == before


def test_without_a_digest_the_name_is_who_it_is(holdout: Holdout) -> None:
    found = holdout.attach("m3", by_model(None))
    assert found.digest is None
    assert "known by its name" in str(found)
    with pytest.raises(InvalidArgument, match="without a digest, so that nobody can tell"):
        holdout.attach("m3", by_model(None))
    # A digest that reads like the name is a digest.
    assert holdout.attach("m4", by_model("m3")).column == "m4"


def test_a_digest_that_is_the_content_of_another_is_not_that_column(holdout: Holdout) -> None:
    content = holdout.attach("v7", LABEL).digest
    assert holdout.attach("m3", by_model(content)).column == "m3"


def test_nothing_about_its_content_is_free(holdout: Holdout) -> None:
    holdout.attach("m3", by_model("a"))
    holdout.attach("m4", by_model("b"))
    holdout.attach("v7", (X % 7 / 7.0))
    for pair in (("m3", "m4"), ("m3", "v7"), ("v7", "m4")):
        with pytest.raises(InvalidArgument, match="computed from protected rows"):
            holdout.differing(*pair)


def test_the_ledger_tells_nothing_of_two_that_hold_the_same(holdout: Holdout) -> None:
    for name in ("m3", "m4"):
        holdout.attach(name, by_model(name))
        holdout.ask(f"avg({name})")
    written = entries(holdout)
    marks = [entry["mark"] for entry in written if entry["kind"] == "values/1"]
    nonces = re.findall(r'"nonce": "([0-9a-f]{32})"', json.dumps(written))
    assert len(set(marks)) == len(set(nonces)) == 2


def test_copies_of_a_ledger_tell_nothing_either(ledger: Path, tmp_path: Path) -> None:
    """The same name in two copies, with the same values or not: marks and noise are fresh."""
    copies = [copied(ledger, tmp_path / str(place)) for place in range(3)]
    seen = []
    for copy, function in zip(copies, (model, model, lambda rows: 1 - model(rows)), strict=True):
        with opened(copy.parent) as holdout:
            holdout.attach("new", by_model("same", function))
            holdout.ask("avg(new)")
            (*_, values, reserve, _) = entries(holdout)
            seen.append((values["mark"], reserve["items"][0]["nonce"]))
    assert len({mark for mark, _ in seen}) == len({nonce for _, nonce in seen}) == 3


# Twin models --------------------------------------------------------------------------------------


def twins(values: list[int]) -> list[tuple[int, Callable[[pl.DataFrame], pl.Series]]]:
    """For each value a model that is the base model but for rows with this value."""

    def twin(value: int) -> Callable[[pl.DataFrame], pl.Series]:
        return lambda rows: (model(rows) + 0.5 * (rows["x"] == value)).clip(0, 1)

    return [(value, twin(value)) for value in values]


TRIED = list(range(0, 400, 10))
OCCURRING = sorted(set(X.tolist()) & set(TRIED))


def test_twin_models_are_told_apart_by_what_was_declared_alone(holdout: Holdout) -> None:
    holdout.attach("base", by_model("base"))
    found = [
        value
        for value, twin in twins(TRIED)
        if holdout.attach(f"twin {value}", by_model(f"twin {value}", twin)).is_alias
    ]
    assert not found
    assert holdout.budget.account.nats == 0.0


def test_by_content_twin_models_read_the_rows(holdout: Holdout) -> None:
    """The sabotage: attached as if they were public, they say which values occur, for nothing."""
    table = TABLE.sort("id")
    holdout.attach("base", model(table).to_numpy())
    found = [
        value
        for value, twin in twins(TRIED)
        if not holdout.attach(f"twin {value}", twin(table).to_numpy()).is_alias
    ]
    assert found == OCCURRING
    assert 0 < len(OCCURRING) < len(TRIED)
    assert holdout.budget.account.nats == 0.0


# Files, crashes and tampering ---------------------------------------------------------------------


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-40])


def _changed(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1] + b"x")


def _of_another(path: Path) -> None:
    other = path.with_name(computed_file("m4"))
    path.write_bytes(other.read_bytes())


@pytest.mark.parametrize("damage", [Path.unlink, _cut, _changed, _of_another])
def test_a_damaged_file_is_named_before_anything_is_reserved(
    ledger: Path, damage: Callable[[Path], None]
) -> None:
    with opened(ledger.parent) as holdout:
        holdout.attach("m4", by_model("other", lambda rows: 1 - model(rows)))
        path = Path(store_of(holdout).file_name(computed_file("m3")))
        damage(path)
        with pytest.raises(LedgerTampered, match=path.name):
            holdout.ask(ASKED)
        assert holdout.ask("avg(m4)").status == "answered"
        assert holdout.budget.asked == 1
    finding = columns_finding(ledger)
    assert not finding.fine
    assert path.name in finding.detail


def test_without_the_secret_an_audit_says_what_it_cannot_compare(ledger: Path) -> None:
    with opened(ledger.parent) as holdout:
        holdout.attach("v7", LABEL)
    ledger.with_name("t.ledger-secret").unlink()
    finding = columns_finding(ledger)
    assert finding.fine
    assert "1 attached" in finding.detail
    assert "1 computed, not compared without the secret" in finding.detail


class Crash(BaseException):
    """A process that ends."""


STEPS = ["attach/1", "run", "file", "values/1", "reserve/2", "settle/2"]


def crashing(patch: pytest.MonkeyPatch, step: str, when: str) -> None:
    append, write, keep = Store.append, ColumnStore.write, ColumnStore.keep_computed

    def dying(act: Callable[[], Any], here: bool) -> Any:
        if here and when == "before":
            raise Crash
        found = act()
        if here:
            raise Crash
        return found

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
    patch.setattr(
        ColumnStore,
        "keep_computed",
        lambda self, *said: dying(lambda: keep(self, *said), step == "run"),
    )


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("step", STEPS)
def test_whoever_comes_next_goes_on(
    ledger: Path, monkeypatch: pytest.MonkeyPatch, step: str, when: str
) -> None:
    def session(holdout: Holdout) -> list[Any]:
        holdout.attach("m4", by_model("m4"))
        return [holdout.ask(question).number for question in ("avg(m4)", ASKED)]

    with monkeypatch.context() as patch:
        crashing(patch, step, when)
        with opened(ledger.parent) as holdout, pytest.raises(Crash):
            session(holdout)
    named, kept = step in STEPS[1:] or when == "after", kinds_in(ledger).count("values/1") == 2
    with opened(ledger.parent) as holdout:
        assert [column.name for column in holdout.columns] == ["m3", "m4"][: 1 + named]
        if named and not kept:
            assert str(holdout.columns[-1]).endswith("its values are not there yet")
            assert "1 whose values are not there yet" in columns_finding(ledger).detail
            with pytest.raises(
                InvalidArgument, match=r"'m4' was attached, and its values .* again"
            ):
                holdout.ask("avg(m4)")
            with pytest.raises(InvalidArgument, match="has no values yet"):
                holdout.promote("m4")
            of_it = holdfast.computed(lambda rows: rows["m4"], columns=["m4"], bounds=(0, 1))
            with pytest.raises(InvalidArgument, match="'m4' was attached, and its values"):
                holdout.attach("m5", of_it)
            assert holdout.ask(ASKED).status == "answered"
            assert holdout.budget.asked == 1
        assert sorted(session(holdout)) == [1, 2]
        assert [column.ready for column in holdout.columns] == [True, True]
        assert kinds(holdout).count("attach/1") == kinds(holdout).count("values/1") == 2
    assert all(finding.fine for finding in audit(ledger))


def test_whoever_has_no_function_finishes_what_was_asked(
    ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        crashing(patch, "reserve/2", "after")
        with opened(ledger.parent) as holdout, pytest.raises(Crash):
            holdout.ask(ASKED)
    with opened(ledger.parent) as holdout:
        assert holdout.ask("avg(label)").number == 2
        assert holdout.ask(ASKED).status == "repeated"


def test_a_crash_leaves_who_it_is_and_not_what(
    ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever finishes it says the same of it; nothing was told of values that were lost."""
    with monkeypatch.context() as patch:
        crashing(patch, "file", "after")
        with opened(ledger.parent) as holdout, pytest.raises(Crash):
            holdout.attach("m4", by_model("m4"))
    with opened(ledger.parent, mechanism=None) as holdout:
        with pytest.raises(InvalidArgument, match="taken"):
            holdout.attach("m4", by_model("m5"))
        wider = holdfast.computed(model, columns=["x"], bounds=(0, 2), digest="m4")
        with pytest.raises(InvalidArgument, match="bounds is"):
            holdout.attach("m4", wider)
        alias = holdout.attach("m6", np.ones(N), digest="m4", bounds=(0, 1))
        assert (alias.column, alias.ready) == ("m4", True)
        assert holdout.check("avg(m4)", guess=1.0).status == "confirmed"


KILLED = """
import os, signal, sys
import polars as pl
import holdfast
from holdfast.ledger.column_files import ColumnStore
from holdfast.ledger.store import Store

folder, steps, milliseconds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
left = [steps or 10**9]

def step():
    left[0] -= 1
    if left[0] < 0:
        os.kill(os.getpid(), signal.SIGKILL)

def counted(function):
    def counting(*said, **more):
        step()
        found = function(*said, **more)
        step()
        return found
    return counting

for place, name in ((Store, "append"), (ColumnStore, "write"), (os, "fsync"), (os, "replace")):
    setattr(place, name, counted(getattr(place, name)))
with holdfast.open(pl.read_parquet(folder + "/t.parquet"), ledger=folder + "/t.ledger") as holdout:
    signal.setitimer(signal.ITIMER_REAL, milliseconds / 1000)  # nobody handles it: it kills
    for name in (f"n{place}" for place in range(20)):
        model = holdfast.computed(
            lambda rows: rows["x"] / 400, columns=["x"], bounds=(0, 1), digest=name
        )
        holdout.attach(name, model)
        holdout.ask(f"avg({name})")
"""
# Steps before and after which a process is killed: one of 16 for a column and a question.
POINTS = [(1 + 7 * place, 0) for place in range(3)]
# HOLDFAST_KILLS=200 kills so many more at any time at all.
POINTS += [(0, 1 + 13 * place % 97) for place in range(int(os.environ.get("HOLDFAST_KILLS", "1")))]


@pytest.mark.parametrize(("steps", "milliseconds"), POINTS)
def test_a_process_killed_anywhere_leaves_a_ledger_that_goes_on(
    ledger: Path, steps: int, milliseconds: int
) -> None:
    """Between file, attach, values, reserve and settle."""
    TABLE.write_parquet(ledger.parent / "t.parquet")
    words = [sys.executable, "-c", KILLED, str(ledger.parent), str(steps), str(milliseconds)]
    done = subprocess.run(words, check=False, capture_output=True)
    assert done.returncode == -(signal.SIGKILL if steps else signal.SIGALRM), done.stderr
    with opened(ledger.parent) as holdout:
        names = [column.name for column in holdout.columns[1:]] or ["n0"]
        for name in names:
            again = holdfast.computed(
                lambda rows: rows["x"] / 400, columns=["x"], bounds=(0, 1), digest=name
            )
            assert holdout.attach(name, again).ready
        numbers = [holdout.ask(f"avg({name})").number for name in names]
        assert numbers == list(range(1, len(names) + 1))
        assert kinds(holdout).count("values/1") == 1 + len(names)
        assert holdout.budget.asked == len(names)
    assert all(finding.fine for finding in audit(ledger))


def test_two_that_attach_the_same_at_once_write_one_entry(
    ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(ledger.parent) as one, opened(ledger.parent) as other:
        tell = Desk.tell
        due: list[Callable[[], Any]] = []

        def late(self: Desk, compose: Any) -> None:
            if self is desk_of(one) and due:
                due.pop(0)()
            tell(self, compose)

        monkeypatch.setattr(Desk, "tell", late)
        due.append(lambda: other.attach("m4", by_model("m4")))
        assert one.attach("m4", by_model("m4")) == other.columns[-1]
        due += [lambda: None, lambda: other.attach("m6", by_model("m5"))]
        assert one.attach("m5", by_model("m5")).ready
        assert other.columns[-1].column == "m5"
        assert kinds(one).count("values/1") == 3
        due.append(lambda: other.attach("m7", by_model("m7")))
        with pytest.raises(InvalidArgument, match="another one"):
            one.attach("m7", by_model("m8"))
    assert all(finding.fine for finding in audit(ledger))


def test_a_checkpoint_keeps_values_and_promotions(
    ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CHECKPOINT_EVERY, 2)
    with opened(ledger.parent) as holdout:
        holdout.attach("same", by_model())
        holdout.promote("same", why="the first")
        for place in range(3):
            holdout.ask(f"avg(m3 > 0.{place + 1})")
    with opened(ledger.parent) as holdout:
        assert store_of(holdout).checkpoint() is not None
        assert [(each.column, each.ready) for each in holdout.columns] == [("m3", True)] * 2
        assert holdout.incumbent == "same"
        assert holdout.ask("avg(same > 0.1)").status == "repeated"
        assert len(holdout.ledger) == 3
    assert all(finding.fine for finding in audit(ledger))


def test_entries_that_could_not_be_written_are_tampering(ledger: Path, tmp_path: Path) -> None:
    with opened(ledger.parent) as holdout:
        holdout.attach("v7", LABEL)
        attached = transcript_of(holdout).attached.columns
        kept = attached["m3"].kept
        assert kept is not None
        new = attached["m3"].body() | {"name": "new", "column": "new", "digest": "new"}
    promoted = {
        "kind": "promote/1",
        "name": "m3",
        "column": "m3",
        "why": None,
        "by": None,
        "at": "",
    }
    forged: list[Row] = [
        kept.body("m3"),
        kept.body("v7"),
        kept.body("nothing"),
        new | {"origin": "guessed"},
        new | {"origin": "submitted", "digest": None},
        new | {"digest": ""},
        new | {"digest": "sha256:1f"},
        promoted | {"name": "nothing"},
        promoted | {"column": "v7"},
    ]
    for place, body in enumerate(forged):
        copy = copied(ledger, tmp_path / str(place))
        with opened(copy.parent) as holdout, pytest.raises(LedgerTampered, match="entry 5"):
            write_entry(holdout, body)
        assert [finding.fine for finding in audit(copy)] == [False]


def test_a_question_about_values_that_were_not_there_is_found(
    ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        crashing(patch, "values/1", "before")
        with opened(ledger.parent) as holdout, pytest.raises(Crash):
            holdout.attach("m4", by_model("m4"))
    with opened(ledger.parent) as holdout:
        values = desk_of(holdout).protected.values(holdout.columns[0])
        monkeypatch.setattr(ColumnStore, "values", lambda *_: values)
        holdout.ask("avg(m4)")
    found = {finding.what: finding for finding in audit(ledger)}
    assert not found["intervals"].fine
    assert "about a column that had no values" in found["intervals"].detail


def test_a_ledger_in_a_database_keeps_them_too(tmp_path: Path) -> None:
    where, said = server().ledger(), dict[str, Any](secret=tmp_path / "secret")
    declared = dict[str, Any](key="id", tolerance=0.3, described="off")
    with holdfast.open(TABLE, ledger=where, **said, **declared) as holdout:
        holdout.attach("m3", by_model())
        holdout.promote("m3")
        home = store_of(holdout).home
    with holdfast.open(TABLE, ledger=where, **said) as holdout:
        assert holdout.ask(ASKED).status == "answered"
        assert (holdout.incumbent, holdout.columns[0].ready) == ("m3", True)
    assert all(finding.fine for finding in audit(home))


# What was promoted --------------------------------------------------------------------------------


def test_nothing_is_the_incumbent_before_it_is_promoted(holdout: Holdout) -> None:
    assert holdout.incumbent is None


def test_the_incumbent_is_what_was_promoted_last(holdout: Holdout) -> None:
    holdout.attach("m3", by_model())
    first = holdout.promote("label", asked_by="ann")  # a column of the table may be the first
    assert (first.name, first.by) == ("label", "ann")
    holdout.promote("m3", why="shown to be better")
    assert holdout.incumbent == "m3"
    before = kinds(holdout)
    again = holdout.promote("m3", why="once more")
    assert (again.why, kinds(holdout)) == ("shown to be better", before)
    assert before.count("promote/1") == 2
    assert "Incumbent: m3, promoted" in holdout.explain()
    with pytest.raises(InvalidArgument, match=r"promote names 'm33'.*did you mean 'm3'"):
        holdout.promote("m33")
    assert all(finding.fine for finding in audit(store_of(holdout).home))


def test_a_promotion_needs_no_rows(ledger: Path) -> None:
    with holdfast.open(ledger=ledger) as holdout:
        assert holdout.promote("m3").column == "m3"
