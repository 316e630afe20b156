"""kill -9 at every step and at any time: the ledger verifies, charges enough, and goes on."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.ledger.entries import Recorded
from holdfast.ledger.store import Store
from holdfast.ledger.transcript import Transcript
from tests.holdout.tables import copied
from tests.ledger.children import (
    BATCHES,
    POINTS,
    ask_batch,
    create,
    delivered_before,
    next_batch,
    play,
    points_of,
    resumed,
    run,
)
from tests.ledger.reading import folded

KILLS = 10


def timeless(answers: Sequence[Recorded]) -> list[Recorded]:
    """What was answered, without when (and so without the hash)."""
    return [replace(each, at="", receipt="") for each in answers]


def require_as_if_nothing_had_happened(found: Transcript, uninterrupted: Transcript) -> None:
    answers = timeless(found.answers)
    assert answers == timeless(uninterrupted.answers)[: len(answers)]
    assert [each.number for each in answers] == list(range(1, len(answers) + 1))
    assert found.pending is None
    assert found.abandoned == []
    assert found.account.looks == len(answers)
    following = uninterrupted.answers[len(answers)]
    assert found.account.nats == following.leaked


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new ledger; every other here is a copy of it, with the same secret."""
    path = tmp_path_factory.mktemp("start") / "t.ledger"
    create(path, described=True)
    return path


@pytest.fixture(scope="module")
def at_points(start: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    folder = tmp_path_factory.mktemp("points")
    copied(start, folder / "warm")
    for batch in BATCHES:
        for point in points_of(batch):
            copied(start, folder / point / str(batch))
    return folder, run("points", folder)


@pytest.fixture(scope="module")
def short_run(start: Path, tmp_path_factory: pytest.TempPathFactory) -> Transcript:
    path = copied(start, tmp_path_factory.mktemp("short") / "run")
    with resumed(path) as holdout:
        play(holdout, 8)
    return folded(path)


@pytest.mark.parametrize(
    ("point", "batch"), [(point, batch) for batch in BATCHES for point in points_of(batch)]
)
def test_a_process_killed_at_a_point(
    at_points: tuple[Path, dict[str, str]], short_run: Transcript, point: str, batch: int
) -> None:
    folder, ends = at_points
    assert ends[f"{point}/{batch}"] == "killed"
    path = folder / point / str(batch) / "t.ledger"
    left = folded(path)
    reserved = POINTS.index(point) >= POINTS.index("before witness of reserve")
    settled = POINTS.index(point) >= POINTS.index("before witness of settle")
    told = batch == 4  # in one commit with what settles it
    assert left.count == 1 + 2 * batch + reserved + settled * (1 + told)
    assert (left.pending is not None) == (reserved and not settled)
    # Before anybody finishes it, it is charged for what may have been learnt.
    looks = left.committed.looks
    assert left.committed.nats >= short_run.answers[looks].leaked
    with resumed(path) as holdout:
        assert holdout.budget.account.looks == looks
        while next_batch(holdout) < 6:
            ask_batch(holdout, next_batch(holdout))
    require_as_if_nothing_had_happened(folded(path), short_run)
    with closing(Store.open(path)) as store:
        assert Transcript.resumed(store).answers == folded(path).answers


@pytest.mark.parametrize("batch", [1, 3, 4])
def test_the_question_that_was_being_asked_is_a_repeat_afterwards(
    at_points: tuple[Path, dict[str, str]], short_run: Transcript, tmp_path: Path, batch: int
) -> None:
    folder, _ = at_points
    path = copied(folder / "after data" / str(batch) / "t.ledger", tmp_path / "again")
    with resumed(path) as holdout:  # unfinished still, or finished by a test before
        (answer,) = ask_batch(holdout, batch)
    assert answer.status == "repeated"
    assert answer.cost == 0
    assert answer.value == short_run.by_question[answer.question].value


@pytest.mark.parametrize("ledgers", [4, pytest.param(20, marks=pytest.mark.campaign)])
def test_random_kills(start: Path, tmp_path: Path, ledgers: int) -> None:
    """Ten of each ledger: two hundred in the campaign."""
    paths = [copied(start, tmp_path / str(number)) for number in range(ledgers)]
    copied(start, tmp_path / "warm")
    ends = run("random", tmp_path, ledgers, KILLS, 2026)
    assert list(ends.values()) == ["killed"] * (ledgers * KILLS)
    lefts = [folded(path) for path in paths]
    longest = max(left.committed.looks for left in lefts) + 3  # no batch is without one
    uninterrupted = copied(start, tmp_path / "uninterrupted")
    with resumed(uninterrupted) as holdout:
        play(holdout, longest)
    truth = folded(uninterrupted)
    delivered = sum(delivered_before(kill) for kill in range(KILLS))
    for path, left in zip(paths, lefts, strict=True):
        assert left.committed.nats >= truth.answers[left.committed.looks].leaked
        with resumed(path) as holdout:
            ask_batch(holdout, next_batch(holdout))
        found = folded(path)
        require_as_if_nothing_had_happened(found, truth)
        # Nobody was ever told something that the ledger does not hold.
        receipts = {each.number: each.receipt for each in found.answers}
        lines = path.with_name("log").read_text().splitlines()
        assert all(receipts[int(line.split()[0])] == line.split()[1] for line in lines)
        assert len(lines) >= delivered
