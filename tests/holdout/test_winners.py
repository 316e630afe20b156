"""Searches that tell only their winner, on a ledger: one symbol, a few nats, nothing else."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import holdfast
from holdfast.errors import InvalidArgument, InvalidQuestion
from holdfast.holdout.holdout import Holdout
from holdfast.holdout.search import Search
from holdfast.ledger.audit import audit
from holdfast.ledger.store import Store
from holdfast.theory.base.intervals import clopper_pearson
from tests.ledger.forging import forged
from tests.ledger.reading import rows_of
from tests.seam import CHECKPOINT_EVERY, transcript_of

N = 600
LABEL = np.random.default_rng(21).random(N) < 0.5
TABLE = pl.DataFrame({"id": np.arange(N), "label": LABEL, "x": np.linspace(0, 1, N)})
ACCURACY = "avg(model = label)"


def opened(folder: Path, **said: Any) -> Holdout:
    said = {"key": "id", "tolerance": 0.1, "described": "off", "schema": {"x": (0, 1)}, **said}
    return holdfast.open(TABLE, ledger=folder / "t.ledger", **said)


@pytest.fixture
def holdout(tmp_path: Path) -> Iterator[Holdout]:
    with opened(tmp_path) as found:
        yield found


def right_in(rows: int, label: Any = LABEL) -> Any:
    """Predictions that are right in so many rows."""
    return np.where(np.arange(len(label)) < rows, label, ~label)


def digest(name: str, place: int) -> str:
    return f"sha256:{name} {place}"


def searched(holdout: Holdout, name: str, counts: Sequence[int], label: Any = LABEL) -> Search:
    """A search whose candidates are right in so many rows."""
    search = holdout.search(name, size=len(counts), question=f"avg({name} = label)", tell="winner")
    for place, rows in enumerate(counts):
        search.bring(place, right_in(rows, label), digest=digest(name, place))
    return search


def cv_of(counts: Sequence[int], rows: int = N) -> list[tuple[int, float]]:
    return [(place, each / rows) for place, each in enumerate(counts)]


def test_the_best_is_told_with_a_true_cell(holdout: Holdout) -> None:
    search = searched(holdout, "model", [540, 580, 575])
    answer = search.winner(cv=cv_of([540, 575, 580]), cv_rows=1_200, why="the final one")
    assert search.place_of(answer) == 1
    low, high = answer.interval
    assert low < 580 / N < high
    assert answer.recorded.member == "model[1]"
    assert "model[1]" in str(answer)
    assert answer.recorded.charge < 4
    assert "Theorem S: model[1] is told" in holdout.explain()
    named = {each["name"] for each in holdout.certificate().statement["theorems"]}
    assert named == {"symbol_log_level", "cell_log_weight", "winner_interval"}
    again = search.winner()
    assert (again.status, again.interval) == ("repeated", answer.interval)
    assert search.score(1).status == "repeated"
    assert transcript_of(holdout).account.leakage.log_beta_spent == -math.inf


def test_one_more_score_is_a_claim_of_its_own(holdout: Holdout, tmp_path: Path) -> None:
    search = searched(holdout, "model", [540, 580, 575])
    leaked = search.winner().recorded.charge
    second = search.score(2)
    assert second.interval.low < 575 / N < second.interval.high
    assert second.question == 'avg("model[2]" = label)'
    assert transcript_of(holdout).account.nats >= leaked + second.recorded.charge
    assert search.score(2).status == "repeated"
    assert [look.member for look in search.scores] == ["model[1]", "model[2]"]
    assert holdout.ask('avg("model[2]" = label)').status == "repeated"
    assert all(finding.fine for finding in audit(tmp_path / "t.ledger"))


def test_a_second_and_a_third_search_are_still_useful(holdout: Holdout) -> None:
    """The figures of section 13.2: the winner is of CV rank 2, 1, 2, cells of one sd."""
    sizes, ranks, tried = (16, 4, 4), (2, 1, 2), 0
    ratios = []
    for number, (size, rank) in enumerate(zip(sizes, ranks, strict=True)):
        counts = [570] * size
        counts[0] = 586
        best = 586 / N
        scores = [best + (0.001 if place < rank else -0.01) for place in range(size)]
        scores[0] = best
        search = searched(holdout, f"model{number}", counts)
        answer = search.winner(cv=list(enumerate(scores)), cv_rows=1_200)
        tried += size
        usual = clopper_pearson(N, 586, math.log(0.05 / tried / 2))
        ratios.append(2 * answer.half_width / (usual.high - usual.low))
        assert search.place_of(answer) == 0
    assert ratios[0] < 1.2
    assert ratios[1] < 1.4
    assert ratios[2] < 1.65


def test_nothing_of_the_other_candidates_is_anywhere(tmp_path: Path) -> None:
    rows = 50_000
    label = np.random.default_rng(3).random(rows) < 0.5
    table = pl.DataFrame({"id": np.arange(rows), "label": label})
    counts = [41_237, 43_911, 42_753]
    with holdfast.open(table, ledger=tmp_path / "t.ledger", key="id", described="off") as holdout:
        search = searched(holdout, "model", counts, label)
        answer = search.winner(cv=cv_of([42_000, 43_000, 43_500], rows), cv_rows=10_000)
        told = [repr(answer), holdout.explain(), str(holdout.ledger.to_polars().to_dicts())]
    entries = [text for _, text, _ in rows_of(tmp_path / "t.ledger")]
    (settled,) = (json.loads(text) for text in entries if '"settle/2"' in text)
    ((place, low),) = settled["symbols"]
    assert place == 1
    assert low < counts[1]
    for each in counts:  # not even that of the best, exactly
        shares = (str(each), f"{each:,}", str(each / rows), str(each / rows)[1:])
        assert not any(share in text for share in shares for text in (*entries, *told))


def test_a_name_means_one_search_and_a_winner_is_told_once(holdout: Holdout) -> None:
    search = searched(holdout, "model", [540, 580, 575])
    answer = search.winner()
    more = holdout.search("other", size=9, question="avg(other = label)", tell="winner")
    with pytest.raises(InvalidArgument, match="has no candidates yet"):
        more.winner()
    more.bring(0, right_in(500), digest=digest("other", 0))
    more.winner()
    with pytest.raises(InvalidArgument, match=r"'other\[1\]' was not among its candidates"):
        more.bring(1, right_in(599), digest=digest("other", 1))
    with pytest.raises(InvalidArgument, match="other declarations"):
        holdout.search("model", size=3, question=ACCURACY)
    assert holdout.search("model").winner().interval == answer.interval


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        ({"share": 0.5}, "takes none of the failure probability"),
        ({"question": None}, "compares by one"),
        ({"question": [ACCURACY, "avg(model)"]}, "compares by one"),
        ({"question": "avg(model)", "bounds": (0, 1)}, "is no share of all rows"),
        ({"question": "avg(label)"}, "is about no column of it"),
        ({"tell": "best"}, "tell is 'best'"),
    ],
)
def test_what_cannot_be_declared(holdout: Holdout, declared: dict[str, Any], said: str) -> None:
    wanted = {"size": 3, "question": ACCURACY, "tell": "winner", **declared}
    with pytest.raises((InvalidArgument, InvalidQuestion), match=said):
        holdout.search("model", **wanted)
    assert not transcript_of(holdout).dictionaries.named


def test_values_for_single_keys_and_rows_that_are_not_alike_are_refused(
    holdout: Holdout, tmp_path: Path
) -> None:
    search = holdout.search("model", size=2, question=ACCURACY, tell="winner")
    with pytest.raises(InvalidArgument, match="one program makes of all rows alike"):
        search.bring(0, right_in(580))
    search.bring(0, right_in(580), digest="sha256:0")
    with pytest.raises(InvalidArgument, match="give both, or neither"):
        search.winner(cv=[(0, 0.9)])
    other = tmp_path / "design"
    other.mkdir()
    designed = opened(other, design=["label"])
    apart = searched(designed, "model", [580, 570])
    with pytest.raises(InvalidArgument, match="rows are not alike here"):
        apart.winner()
    assert transcript_of(designed).account.nats == 0
    designed.close()
    all_told = holdout.search("every", size=2, question="avg(every = label)")
    with pytest.raises(InvalidArgument, match="was opened to tell all scores"):
        all_told.winner()
    with pytest.raises(InvalidArgument, match="tells only its winner"):
        search.cost()


def test_what_it_would_take_is_no_share(holdout: Holdout) -> None:
    cost = holdout.search_cost("model", size=16, question=ACCURACY, tell="winner")
    assert (cost.level, cost.half_width) == (0.0, None)
    assert cost.questions_left[0] == cost.questions_left[1]


def _extra(change: Callable[[dict[str, Any]], None]) -> Callable[[list[dict[str, Any]]], None]:
    def changed(bodies: list[dict[str, Any]]) -> None:
        (reserved,) = (body for body in bodies if body["kind"] == "reserve/2")
        change(reserved["items"][0]["offer"])

    return changed


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda offer: offer["extra"].update(log_left=-0.1), "way of answering"),
        (lambda offer: offer["extra"].update(rows=601), "way of answering"),
        (lambda offer: offer.update(worst_charge=0.5), "charge"),
        (lambda offer: offer.update(prior=0.5), "prior"),
        (lambda offer: offer["extra"]["members"].reverse(), "cannot be read"),
        (lambda offer: offer["extra"]["members"].__setitem__(2, "model[7]"), "cannot be read"),
        (lambda offer: offer["extra"]["members"].__setitem__(2, "label"), "cannot be read"),
        (lambda offer: offer["extra"].update(cv=[0.9]), "index out of range"),
        (lambda offer: offer.update(question="winner(avg(x = label))"), "cannot be read|range"),
    ],
)
def test_an_audit_makes_the_offer_again(
    holdout: Holdout, tmp_path: Path, change: Callable[[dict[str, Any]], None], said: str
) -> None:
    search = searched(holdout, "model", [540, 580, 575])
    search.winner(cv=cv_of([540, 575, 580]), cv_rows=1_200)
    assert all(finding.fine for finding in audit(tmp_path / "t.ledger"))
    holdout.close()
    assert re.search(said, "".join(forged(tmp_path / "t.ledger", _extra(change))))


def test_a_checkpoint_keeps_the_winner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CHECKPOINT_EVERY, 2)
    with opened(tmp_path) as holdout:
        told = searched(holdout, "model", [540, 580, 575]).winner()
        searched(holdout, "other", [540, 541]).winner()
        nats = transcript_of(holdout).account.nats
    with opened(tmp_path) as holdout:
        again = holdout.search("model").winner()
        assert (again.status, again.interval) == ("repeated", told.interval)
        assert again.recorded.member == "model[1]"
        assert transcript_of(holdout).account.nats == nats
    assert all(finding.fine for finding in audit(tmp_path / "t.ledger"))


class _Crash(BaseException):
    """A process that dies."""


def test_a_crash_at_every_commit_ends_with_the_same_symbol(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before and after each commit; what is finished by another process is the same."""
    append, symbols, crashed_at = Store.append, set(), 0
    for crash in count():
        folder = tmp_path / str(crash)
        folder.mkdir()
        commits = count()

        def dying(*arguments: Any, crash: int = crash, commits: Any = commits) -> Any:
            place = next(commits)
            if place == crash // 2 and crash % 2 == 0:
                raise _Crash
            written = append(*arguments)
            if place == crash // 2:
                raise _Crash
            return written

        def played(folder: Path = folder) -> tuple[Any, float]:
            with opened(folder) as holdout:
                search = searched(holdout, "model", [540, 580, 575])
                answer = search.winner(cv=cv_of([540, 575, 580]), cv_rows=1_200)
                return answer.recorded.symbols, transcript_of(holdout).account.nats

        with opened(folder):
            pass
        monkeypatch.setattr(Store, "append", dying)
        try:
            played()
            is_done = True
        except _Crash:
            is_done, crashed_at = False, crash
        monkeypatch.setattr(Store, "append", append)
        symbols.add(played())
        assert all(finding.fine for finding in audit(folder / "t.ledger"))
        if is_done:
            break
    assert len(symbols) == 1
    assert crashed_at >= 2 * 5  # an opening, columns with their values, a reservation, an answer
