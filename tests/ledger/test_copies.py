"""Two copies of a ledger: no difference of their answers is free of noise, and no average gains.

The copies have one secret and one table, as a backup that was put back has. The sabotage twin
addresses the noise by the question's number alone, as it once was.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from hashlib import sha256
from pathlib import Path

import polars as pl
import pytest

import holdfast
from holdfast.ledger.entries import Asked, Request, noise_of_batch
from holdfast.mechanisms.mechanism import Offer
from holdfast.mechanisms.noise import Grid, Noise
from tests.holdout.tables import Crash, copied, crash, made, noise_by_number, opened, table, watch
from tests.ledger.reading import folded, rows_of

LEVELS = range(-20, 60, 10)
ABOVE = [f"avg(x > {level})" for level in LEVELS]
BELOW = [f"avg(x <= {level})" for level in LEVELS]
NEAR = 1e-3  # a two-hundredth of the half-range of the noise


@pytest.fixture
def copies(tmp_path: Path) -> tuple[Path, Path]:
    (tmp_path / "one").mkdir()
    ledger = made(tmp_path / "one", questions=50, tolerance=0.3)
    return ledger, copied(ledger, tmp_path / "two")


def answered(ledger: Path, questions: Sequence[str], tolerance: float = 0.3) -> list[Fraction]:
    """The answers as fractions of the range, before they are cut to it."""
    with opened(ledger.parent, table()) as holdout:
        for question in questions:
            holdout.ask(question, why=f"asked of {ledger.parent.name}", tolerance=tolerance)
    bodies = [json.loads(text) for _, text, _ in rows_of(ledger)]
    return [
        Fraction(settled["symbols"][0], reserved["items"][0]["offer"]["grid"]["cells"])
        for reserved, settled in zip(bodies[1::2], bodies[2::2], strict=True)
    ]


def exact() -> list[Fraction]:
    x = table()["x"]
    return [Fraction(int((x > level).sum()), len(x)) for level in LEVELS]


def close(estimates: Sequence[Fraction]) -> int:
    """How many estimates of the sample's own values are far better than noise allows."""
    return sum(abs(found - true) < NEAR for found, true in zip(estimates, exact(), strict=True))


def from_complements(copies: tuple[Path, Path]) -> list[Fraction]:
    """(q + e) - (1 - q + e') is 2q - 1 if e = e'."""
    one, two = copies
    return [
        (above - below + 1) / 2
        for above, below in zip(answered(one, ABOVE), answered(two, BELOW), strict=True)
    ]


def from_tolerances(copies: tuple[Path, Path]) -> list[Fraction]:
    """q + e and q + s e, s the ratio of the noises' ranges, if the noise is the same draw."""
    one, two = copies
    narrow, wide = answered(one, ABOVE, 0.25), answered(two, ABOVE, 0.4)
    reaches = []
    for ledger in copies:
        offers = [json.loads(text)["items"][0]["offer"] for _, text, _ in rows_of(ledger)[1::2]]
        reaches.append(
            [Fraction(offer["grid"]["reach"], offer["grid"]["cells"]) for offer in offers]
        )
    return [
        (a * wider - b * narrower) / (wider - narrower)
        for a, b, narrower, wider in zip(narrow, wide, *reaches, strict=True)
    ]


ATTACKS = [from_complements, from_tolerances]


@pytest.mark.parametrize("attack", ATTACKS)
def test_two_copies_do_not_cancel_the_noise(
    copies: tuple[Path, Path], attack: Callable[[tuple[Path, Path]], list[Fraction]]
) -> None:
    assert close(attack(copies)) <= 1  # by accident


@pytest.mark.parametrize("attack", ATTACKS)
def test_noise_by_number_alone_is_cancelled_exactly(
    copies: tuple[Path, Path],
    attack: Callable[[tuple[Path, Path]], list[Fraction]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    noise_by_number(monkeypatch)
    assert close(attack(copies)) == len(ABOVE)


def test_the_very_same_question_has_the_very_same_answer_in_every_copy(
    copies: tuple[Path, Path],
) -> None:
    """At other times and for other reasons, after the same number of questions: no average."""
    one, two = copies
    assert answered(one, ABOVE) == answered(two, ABOVE)


def test_the_rest_of_a_batch_and_of_the_history_do_not_matter(copies: tuple[Path, Path]) -> None:
    for ledger, before, beside in zip(copies, ("avg(late)", "avg(x > 1)"), BELOW[:2], strict=True):
        with opened(ledger.parent, table()) as holdout:
            holdout.ask(before)
            holdout.ask_many([ABOVE[0], beside])
    one, two = (folded(ledger).by_question[ABOVE[0]] for ledger in copies)
    assert one.value == two.value
    assert one.receipt != two.receipt


def test_the_address_is_the_one_that_was_recorded() -> None:
    """A crashed entry is finished by another version with the same noise: this never changes."""
    offer = Offer(7, "avg(b)", 0.25, Grid(16, 4, 4), 0.5, -3.0, -9.5, 0.125)
    said = (
        '{"law":"bounded noise/1","nonce":null,"offer":{"bits":null,"claim":null,"extra":null,'
        '"grid":{"cells":16,"reach":4,"scale":4},"guess":null,"log_p":-9.5,"log_share":-3.0,'
        '"number":7,"prior":null,"profile":null,"question":"avg(b)","radius":0.125,'
        '"tolerance":0.25,"variance":null,"worst_charge":0.5},"table":"f"}'
    )
    noise = noise_of_batch(
        b"s", "f", "bounded noise/1", [Asked(offer, 0.0, 1.0, Request("avg(b)", 0.0, 1.0))]
    )
    assert noise(7) == Noise(b"s", f"holdfast noise/2 {sha256(said.encode()).hexdigest()}")
    shared = b'{"law":"bounded noise/1","shared":0,"table":"f"}'
    assert noise(0) == Noise(b"s", f"holdfast noise/2 {sha256(shared).hexdigest()}")


def above(level: float, turned: bool, frame: pl.DataFrame) -> pl.Series:
    return (frame["x"] > level) != turned


def of_functions(copies: tuple[Path, Path]) -> list[Fraction]:
    """A function and its complement under one name, which is all that the ledger knows of it."""
    found = []
    for ledger, turned in zip(copies, (False, True), strict=True):
        with opened(ledger.parent, table()) as holdout:
            for level in LEVELS:
                chosen = holdfast.row_function(
                    partial(above, level, turned),
                    columns=["x"],
                    bounds=(0.0, 1.0),
                    name=f"above {level}",
                    version="1",
                )
                holdout.ask(holdfast.mean(chosen), tolerance=0.3)
        bodies = [json.loads(text) for _, text, _ in rows_of(ledger)]
        found.append(
            [
                Fraction(settled["symbols"][0], reserved["items"][0]["offer"]["grid"]["cells"])
                for reserved, settled in zip(bodies[1::2], bodies[2::2], strict=True)
            ]
        )
    return [(above - below + 1) / 2 for above, below in zip(*found, strict=True)]


def test_two_functions_of_one_name_do_not_share_their_noise(
    copies: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert close(of_functions(copies)) <= 1


def test_without_a_nonce_they_would(
    copies: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.holdout.batch.is_named", lambda _: False)
    assert close(of_functions(copies)) == len(LEVELS)


def test_an_unfinished_question_is_finished_with_the_same_noise(copies: tuple[Path, Path]) -> None:
    one, two = copies
    whole = answered(one, ABOVE[:3])
    with opened(two.parent, table()) as holdout:
        for question in ABOVE[:2]:
            holdout.ask(question)
        watch(holdout, crash)
        with pytest.raises(Crash):
            holdout.ask(ABOVE[2], why="this process dies")
    assert folded(two).pending is not None
    assert answered(two, ABOVE[2:3]) == whole
