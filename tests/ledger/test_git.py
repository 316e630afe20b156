"""A ledger in a branch: races, kills, rewritten branches, refused pushes, and what it may touch."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import holdfast
from holdfast.errors import InvalidArgument, LedgerTampered, LedgerUnavailable
from holdfast.holdout.holdout import Holdout
from holdfast.ledger.audit import audit
from holdfast.ledger.backend import LedgerHome
from holdfast.ledger.backup import move
from holdfast.ledger.git import GitHome
from holdfast.ledger.secret import decrypted, encrypted
from holdfast.ledger.store import home_of
from holdfast.ledger.witness import Witness
from tests.holdout.tables import BOUNDS, LATE, table
from tests.ledger.homes import bare_repository
from tests.ledger.reading import folded

run = subprocess.run  # as it is, whatever is done to it here
DECLARED: dict[str, Any] = {
    "tolerance": 0.3,
    "questions": 200,
    "schema": BOUNDS,
    "described": "off",
}


def git(*words: str, cwd: Path) -> str:
    done = run(["git", *words], cwd=cwd, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for those who died."""
    monkeypatch.setattr("holdfast.ledger.git.GRACE", 0.0)


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    return bare_repository(tmp_path)


def clone(remote: Path, name: str) -> LedgerHome:
    """The ledger as another machine knows it: with the same secret, and no other file in common."""
    folder = remote.parent / name
    folder.mkdir(exist_ok=True)
    (folder / "secret").write_bytes(b"s" * 32)
    return home_of(f"git:{remote}/ledger", folder / "secret")


@contextmanager
def opened(home: LedgerHome, data: Any = None, **declared: Any) -> Iterator[Holdout]:
    rows = table() if data is None else data
    with holdfast.open(rows, ledger=home, **declared) as holdout:  # type: ignore[arg-type]
        yield holdout


@pytest.fixture(scope="module")
def new(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository of a ledger that was asked nothing yet: never to be changed, only copied."""
    remote = bare_repository(tmp_path_factory.mktemp("new"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("holdfast.ledger.store.secrets.token_bytes", lambda size: b"s" * size)
        with opened(clone(remote, "first"), **DECLARED):
            pass
    return remote


@pytest.fixture(scope="module")
def finished(new: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository of a ledger with one answer, likewise."""
    remote = Path(shutil.copytree(new, tmp_path_factory.mktemp("finished") / "remote.git"))
    with opened(clone(remote, "first")) as holdout:
        holdout.ask(LATE)
    return remote


@pytest.fixture
def ledger(new: Path, tmp_path: Path) -> Path:
    """A copy of the ledger that was asked nothing yet."""
    return Path(shutil.copytree(new, tmp_path / "remote.git"))


def require_in_order(home: LedgerHome) -> None:
    assert [finding for finding in audit(home) if not finding.fine] == []


# Races -------------------------------------------------------------------------------------------


def race(ledger: Path, clones: int, questions: int) -> list[list[tuple[Any, ...]]]:
    """What every clone was shown, each of which asks the questions at the same time as all."""
    shown: list[list[tuple[Any, ...]]] = [[] for _ in range(clones)]
    start = threading.Barrier(clones)

    def ask(place: int) -> None:
        with opened(clone(ledger, f"clone {place}"), timeout=600) as holdout:
            start.wait()
            for number in range(questions):
                answer = holdout.ask(f"avg(x > {10 * (place % 25) + number})")
                shown[place].append((answer.question, answer.value, answer.receipt))

    racers = [threading.Thread(target=ask, args=(place,)) for place in range(clones)]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join()
    return shown


def require_all_counted(
    ledger: Path, shown: list[list[tuple[Any, ...]]], questions: int, distinct: int
) -> None:
    """Everything that was shown is in the ledger, once, and charged after all before it."""
    assert {len(each) for each in shown} == {questions}
    home = clone(ledger, "last")
    require_in_order(home)
    transcript = folded(home)
    told = {(look.question, look.value, look.receipt) for look in transcript.answers}
    assert {answer for each in shown for answer in each} == told
    assert len(transcript.answers) == len(told) == distinct * questions
    leaked = [look.leaked for look in transcript.answers]
    assert leaked == sorted(set(leaked))


def test_racing_clones_are_shown_what_the_ledger_has(ledger: Path) -> None:
    require_all_counted(ledger, race(ledger, clones=5, questions=1), 1, distinct=5)


@pytest.mark.campaign
@pytest.mark.parametrize("grace", [0.0, 10.0])
def test_fifty_racing_clones(ledger: Path, monkeypatch: pytest.MonkeyPatch, grace: float) -> None:
    """Two of them always ask the same, and are told the same."""
    monkeypatch.setattr("holdfast.ledger.git.GRACE", grace)
    require_all_counted(ledger, race(ledger, clones=50, questions=2), 2, distinct=25)


def by_force(words: Any, **how: Any) -> Any:
    """Git, where a push is no compare-and-swap: it puts its own commit over that of others."""
    unsafe = ["--force" if word.startswith("--force-with-lease") else word for word in words]
    return run(unsafe, **how)


def test_without_compare_and_swap_a_race_would_lose_answers(
    ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same in a row: both read the ledger, and one writes before the other does."""
    git("config", "receive.denyNonFastForwards", "false", cwd=ledger)
    monkeypatch.setattr(subprocess, "run", by_force)
    with opened(clone(ledger, "one")) as one, opened(clone(ledger, "two")) as two:
        overtaken_by(two, monkeypatch, lambda: one.ask("avg(x > 1)"), git_runs=by_force)
        two.ask("avg(x > 2)")
        with pytest.raises(LedgerTampered, match="was rewritten"):
            one.ask("avg(x > 3)")


def overtaken_by(
    _: Holdout,
    monkeypatch: pytest.MonkeyPatch,
    other: Callable[[], Any],
    git_runs: Callable[..., Any] = run,
) -> None:
    """Let something else happen between the next fetch and the push that follows it."""
    waiting = [True]

    def overtaking(words: Any, **how: Any) -> Any:
        if "push" in words and waiting:
            waiting.clear()
            other()
        return git_runs(words, **how)

    monkeypatch.setattr(subprocess, "run", overtaking)


def test_who_is_overtaken_begins_again(ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the reservation: nothing was computed yet. The level is that of the later look."""
    with opened(clone(ledger, "one")) as one, opened(clone(ledger, "two")) as two:
        before: list[holdfast.Answer] = []
        overtaken_by(two, monkeypatch, lambda: before.append(one.ask("avg(x > 1)")))
        answer = two.ask("avg(x > 2)")
        assert (before[0].number, answer.number) == (1, 2)
        assert [line.receipt for line in one.ledger] == [before[0].receipt, answer.receipt]


def test_who_is_overtaken_at_the_answer_shows_that_of_the_ledger(
    ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another machine takes the reservation for that of a job that died, and finishes it."""
    with opened(clone(ledger, "one")) as one, opened(clone(ledger, "two")) as two:
        pushes = [0]

        def between(words: Any, **how: Any) -> Any:
            pushes[0] += "push" in words
            if "push" in words and pushes[0] == 2:  # after the reservation, before the answer
                one.ask("avg(x > 1)")
            return run(words, **how)

        monkeypatch.setattr(subprocess, "run", between)
        answer = two.ask("avg(x > 2)")
        first, second = one.ledger
        assert (first.question, first.receipt) == (answer.question, answer.receipt)
        assert first.value == answer.value
        assert second.question == "avg(x > 1)"
    require_in_order(clone(ledger, "last"))
    assert len(folded(clone(ledger, "last")).answers) == 2


def test_what_another_machine_reserved_is_left_to_it_for_a_while(
    ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second job comes between the reservation and the answer, and waits for the first one."""
    order: list[str] = []
    reserved, waiting = threading.Event(), threading.Event()
    monkeypatch.setattr("holdfast.ledger.git.GRACE", 60.0)
    with opened(clone(ledger, "one")) as one, opened(clone(ledger, "two")) as two:

        def second() -> None:
            reserved.wait()
            two.ask("avg(x > 2)")
            order.append("two")

        other = threading.Thread(target=second)
        pushes = [0]

        def slowly(words: Any, **how: Any) -> Any:
            pushes[0] += "push" in words
            if "push" in words and pushes[0] == 2:
                reserved.set()
                waiting.wait()
            elif "fetch" in words and reserved.is_set():
                waiting.set()  # the second one has seen the reservation
            return run(words, **how)

        monkeypatch.setattr(subprocess, "run", slowly)
        other.start()
        one.ask("avg(x > 1)")
        order.append("one")
        other.join()
        assert [line.question for line in one.ledger] == ["avg(x > 1)", "avg(x > 2)"]
    assert order == ["one", "two"]
    assert pushes[0] == 4  # none of them was in vain


# Kills -------------------------------------------------------------------------------------------


class Killed(BaseException):
    """The end of a process, as nothing in it can notice."""


def struck(at: int, word: str, *, after: bool) -> Callable[..., Any]:
    """Git, where the process is killed at some command of a kind, before it or after it."""
    seen = [0]

    def runs(words: Any, **how: Any) -> Any:
        seen[0] += word in words
        mine = word in words and seen[0] == at
        if mine and not after:
            raise Killed
        done = run(words, **how)
        if mine:
            raise Killed
        return done

    return runs


def ask_once_more(ledger: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[int, bool]:
    """Ask where a process was killed: how many entries there were, and whether it was answered."""
    monkeypatch.setattr(subprocess, "run", run)
    before = folded(clone(ledger, "looking"))
    found = [look.value for look in before.answers]
    with opened(clone(ledger, "next")) as holdout:
        answer = holdout.ask(LATE)
        (line,) = holdout.ledger  # it was paid for once
    assert (answer.value, answer.receipt) == (line.value, line.receipt)
    assert found in ([], [answer.value])
    return before.count, bool(found)


@pytest.mark.parametrize(
    ("word", "at", "after", "entries", "answered"),
    [
        ("fetch", 3, True, 1, False),  # all was read, under the lock
        ("push", 1, False, 1, False),  # nothing is reserved
        ("push", 1, True, 2, False),  # reserved, and nothing computed
        ("push", 2, False, 2, False),  # computed, and not pushed
        ("push", 2, True, 3, True),  # pushed, and not shown
    ],
)
def test_a_kill_costs_nothing_twice_and_shows_nothing(
    ledger: Path,
    monkeypatch: pytest.MonkeyPatch,
    word: str,
    at: int,
    after: bool,
    entries: int,
    answered: bool,
) -> None:
    monkeypatch.setattr(subprocess, "run", struck(at, word, after=after))
    with pytest.raises(Killed), opened(clone(ledger, "killed")) as holdout:
        holdout.ask(LATE)
    assert ask_once_more(ledger, monkeypatch) == (entries, answered)


def kills_at_every_command(
    ledger: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    after: bool,
    call: Callable[[LedgerHome], Any],
    again: Callable[[Path], Any],
) -> int:
    """Strike a call at every command of git, until it comes through; how many there are."""
    for at in range(1, 200):
        copy = Path(shutil.copytree(ledger, ledger.parent / f"{after} {at}" / "remote.git"))
        monkeypatch.setattr(subprocess, "run", struck(at, "git", after=after))
        try:
            call(clone(copy, "killed"))
        except Killed:
            monkeypatch.setattr(subprocess, "run", run)
            again(copy)
            require_in_order(clone(copy, "last"))
        else:
            return at - 1
    raise AssertionError("the call never comes through")


@pytest.mark.campaign
@pytest.mark.parametrize("after", [False, True])
def test_kills_at_every_command_of_an_answer(
    ledger: Path, monkeypatch: pytest.MonkeyPatch, after: bool
) -> None:
    def ask(home: LedgerHome) -> None:
        with opened(home) as holdout:
            holdout.ask(LATE)

    again = partial(ask_once_more, monkeypatch=monkeypatch)
    assert kills_at_every_command(ledger, monkeypatch, after=after, call=ask, again=again) > 10


@pytest.mark.campaign
@pytest.mark.parametrize("after", [False, True])
def test_kills_at_every_command_of_a_promotion(
    remote: Path, monkeypatch: pytest.MonkeyPatch, after: bool
) -> None:
    """Submitted, compared and promoted: tried again it comes to the same, for one look."""
    items = pl.DataFrame({"item": [*scores(0)]})
    monkeypatch.setattr("holdfast.ledger.store.secrets.token_bytes", lambda size: b"s" * size)
    gate = holdfast.EvalGate(items, key="item", ledger=clone(remote, "one"))  # type: ignore[arg-type]
    gate.submit("main", scores(50))
    gate.promote("main")

    def promote(home: LedgerHome) -> None:
        own = holdfast.EvalGate(items, key="item", ledger=home)  # type: ignore[arg-type]
        with own.holdout:
            own.submit("v7", scores(150))
            verdict = own.promote_if_better("v7")
            assert (verdict.promote, verdict.looks, own.incumbent) == (True, 1, "v7")
            assert [line.question for line in own.history()] == ["difference(v7, main)"]

    def again(copy: Path) -> None:
        promote(clone(copy, "next"))

    found = kills_at_every_command(remote, monkeypatch, after=after, call=promote, again=again)
    assert found > 20


# Branches that are not what was written ----------------------------------------------------------


def test_a_branch_put_back_is_noticed_by_who_saw_more(ledger: Path) -> None:
    first = git("rev-parse", "ledger", cwd=ledger)
    with opened(clone(ledger, "one")) as holdout:
        holdout.ask(LATE)
        git("update-ref", "refs/heads/ledger", first, cwd=ledger)
        with pytest.raises(LedgerTampered, match=r"was rewritten.* 3 entries"):
            holdout.ask("avg(x > 1)")
    with pytest.raises(LedgerTampered, match="entry 3 had been written"):
        opened(clone(ledger, "one")).__enter__()


def test_a_branch_that_is_gone_is_no_new_ledger(ledger: Path) -> None:
    with opened(clone(ledger, "one")) as holdout:
        git("update-ref", "-d", "refs/heads/ledger", cwd=ledger)
        with pytest.raises(LedgerTampered, match="is gone"):
            holdout.ask(LATE)
    assert git("for-each-ref", cwd=ledger) == ""


def rewritten(ledger: Path, change: Callable[[bytes], bytes]) -> None:
    """The text of the branch, changed by somebody who may push."""
    text = run(["git", "show", "ledger:ledger.txt"], cwd=ledger, capture_output=True, check=True)
    changed = change(text.stdout)
    stream = b"commit refs/heads/ledger\ncommitter a <a@b> now\ndata 0\nfrom refs/heads/ledger^0\n"
    stream += b"M 100644 inline ledger.txt\ndata %d\n%s\n" % (len(changed), changed)
    words = ["git", "fast-import", "--quiet", "--date-format=now"]
    run(words, cwd=ledger, input=stream, check=True)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda text: text.replace(b'"questions":200', b'"questions":9'), "entry 1 .* not follow"),
        (lambda text: b"".join(text.splitlines(keepends=True)[:2]), "entry 3 had been written"),
        (lambda text: text.replace(text.splitlines()[-1], b'seal "x"'), "its seal is of"),
        (lambda text: text + b"entry x\n", "line 8 of ledger.txt .* none that was written"),
        (lambda text: text + b'filed ["a", {}, 1, 1, 1, 1]\n', "line 8"),
        (lambda text: text + b"filed [1, 2]\n", "line 8"),
        (lambda text: text[:-5], " is cut"),
    ],
)
def test_a_branch_rewritten_by_hand_is_found(
    finished: Path, tmp_path: Path, change: Callable[[bytes], bytes], words: str
) -> None:
    remote = Path(shutil.copytree(finished, tmp_path / "remote.git"))
    home = clone(remote, "one")
    Witness(home.beside("newest")).note(3, "a" * 64)
    rewritten(remote, change)
    with pytest.raises(LedgerTampered, match=words):
        folded(home)


# Remotes that do not take what is pushed ---------------------------------------------------------


def test_a_refused_push_is_one_sentence_and_nothing_is_shown(ledger: Path) -> None:
    hook = ledger / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'branch is protected' >&2\nexit 1\n")
    hook.chmod(0o755)
    with opened(clone(ledger, "one")) as holdout:
        refused = pytest.raises(LedgerUnavailable, match=r"refused \(remote: branch is protected\)")
        with refused as told:
            holdout.ask(LATE)
        assert "nothing was written or shown" in str(told.value)
        assert len(holdout.ledger) == 0
        hook.unlink()
        assert holdout.ask(LATE).number == 1


def test_a_remote_out_of_reach(ledger: Path) -> None:
    with opened(clone(ledger, "one")) as holdout:
        ledger.rename(ledger.with_name("elsewhere.git"))
        with pytest.raises(LedgerUnavailable, match=r"cannot be reached .*; nothing was shown"):
            holdout.ask(LATE)


def test_a_push_that_came_through_and_seemed_not_to(
    ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection broke after the remote had taken it: it is not written twice."""

    def broken(words: Any, **how: Any) -> Any:
        done = run(words, **how)
        if "push" in words:
            done.returncode, done.stderr = 128, b"fatal: the remote end hung up unexpectedly"
        return done

    monkeypatch.setattr(subprocess, "run", broken)
    with opened(clone(ledger, "one")) as holdout:
        assert holdout.ask(LATE).number == 1
    monkeypatch.setattr(subprocess, "run", run)
    require_in_order(clone(ledger, "last"))
    assert folded(clone(ledger, "last")).count == 3


# What it reads of the user's repository, and what it never touches --------------------------------


def everything(folder: Path) -> dict[str, str]:
    """Every file of a folder, by its content."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path): sha256(path.read_bytes()).hexdigest() for path in files}


def test_the_repository_of_the_user_is_only_read(
    ledger: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a hook of it, where variables point to its index; by the name of its remote."""
    work = tmp_path / "work"
    git("init", "--quiet", str(work), cwd=tmp_path)
    git("remote", "add", "upstream", "../remote.git", cwd=work)
    (work / "deep").mkdir()
    (work / "deep" / "staged.txt").write_text("staged")
    git("add", ".", cwd=work)
    hook = work / ".git" / "hooks" / "pre-push"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    before = everything(work)
    monkeypatch.chdir(work / "deep")
    monkeypatch.setenv("GIT_DIR", str(work / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(work))
    monkeypatch.setenv("GIT_INDEX_FILE", str(work / ".git" / "index"))
    monkeypatch.setenv("HOLDFAST_SECRET", (b"s" * 32).hex())
    monkeypatch.setenv("HOLDFAST_STATE", str(tmp_path / "state"))
    with opened(home_of("git:upstream/ledger")) as holdout:
        holdout.ask(LATE)
    assert everything(work) == before
    assert len(folded(clone(ledger, "last")).answers) == 1


def test_settings_that_reach_the_remote_are_taken_along_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A header that is sent twice is refused by servers; a token is in no message."""
    work = tmp_path / "work"
    git("init", "--quiet", str(work), cwd=tmp_path)
    git("remote", "add", "origin", "https://user:token@example.invalid/r.git", cwd=work)
    git("config", "http.https://example.invalid/.extraheader", "AUTHORIZATION: basic x", cwd=work)
    monkeypatch.chdir(work)
    home = home_of("git:origin/ledger", tmp_path / "secret")
    assert isinstance(home, GitHome)
    settings = home.remote.environment(tmp_path)
    values = [value for name, value in settings.items() if name.startswith("GIT_CONFIG_VALUE")]
    assert values.count("AUTHORIZATION: basic x") == 1
    assert "token" not in f"{home} {home!r} {home.remote.url}"
    assert settings["GIT_DIR"] == str(tmp_path)


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("git:", "names no branch of a remote"),
        ("git:origin", "names no branch of a remote"),
        ("git:origin/", "names no branch of a remote"),
        ("git:nowhere/ledger", "no remote 'nowhere' in the repository here"),
        ("git:https://user:word@example.invalid/r.git/ledger", "holds a user or password"),
    ],
)
def test_addresses_that_are_none(
    address: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidArgument, match=words):
        home_of(address, tmp_path / "secret")


def test_a_branch_may_have_slashes(remote: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_SECRET", "ab" * 32)
    home = home_of(f"git:{remote}/holdfast/bench")
    assert isinstance(home, GitHome)
    assert (home.remote.name, home.branch, home.stem) == (str(remote), "holdfast/bench", "bench")
    assert home.secret == b"\xab" * 32


def test_a_branch_of_something_else_is_no_ledger(ledger: Path) -> None:
    stream = b"commit refs/heads/main\ncommitter a <a@b> now\ndata 0\n"
    stream += b"M 100644 inline readme\ndata 0\n\n"
    run(
        ["git", "fast-import", "--quiet", "--date-format=now"], cwd=ledger, input=stream, check=True
    )
    home = home_of(f"git:{ledger}/main", ledger.parent / "secret")
    with pytest.raises(InvalidArgument, match=r"holds no ledger .* a branch of the ledger's own"):
        opened(home).__enter__()


def test_without_git_or_secret_it_says_so(ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOLDFAST_SECRET", raising=False)
    for there in ("ledger", "other"):
        with pytest.raises(LedgerUnavailable, match="HOLDFAST_SECRET is not set"):
            opened(home_of(f"git:{ledger}/{there}")).__enter__()
    with pytest.raises(InvalidArgument, match="is a secret itself"):
        home_of(ledger.parent / "t.ledger", "ab" * 32)
    monkeypatch.setenv("PATH", str(ledger))
    with pytest.raises(LedgerUnavailable, match=r"no command git here; install git 2\.31"):
        home_of(f"git:{ledger}/ledger")


# Columns, which only who has the secret can read --------------------------------------------------


def scores(right: int) -> dict[str, bool]:
    return {f"q{place:03}": place < right for place in range(200)}


def test_scores_in_a_branch_are_encrypted(remote: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By one gate and a second machine; their length says nothing of them either."""
    monkeypatch.setattr("holdfast.ledger.store.secrets.token_bytes", lambda size: b"s" * size)
    items = pl.DataFrame({"item": [*scores(0)]})
    gate = holdfast.EvalGate(items, key="item", ledger=clone(remote, "one"))  # type: ignore[arg-type]
    for name, right in {"main": 0, "all": 200}.items():
        gate.submit(name, scores(right))
    gate.promote("main")
    other = holdfast.EvalGate(items, key="item", ledger=clone(remote, "two"))  # type: ignore[arg-type]
    assert other.promote_if_better("all").promote
    assert gate.incumbent == "all"
    listed = git("ls-tree", "-r", "-l", "ledger", "columns/", cwd=remote).splitlines()
    assert len({line.split()[3] for line in listed}) == 1
    for line in listed:
        blob = ["git", "cat-file", "blob", line.split()[2]]
        content = run(blob, cwd=remote, capture_output=True, check=True).stdout
        assert b"q00" not in content
        assert b"ARROW" not in content


def test_an_encrypted_file_is_read_by_its_name_and_secret_alone() -> None:
    content = np.random.default_rng(1).bytes(1000)
    file = encrypted(b"s" * 32, "a.column", content)
    assert file == encrypted(b"s" * 32, "a.column", content)
    assert len(file) == len(content) + 32
    assert decrypted(b"s" * 32, "a.column", file, "it") == content
    changed = bytearray(file)
    changed[40] ^= 1
    for secret, name, other in [
        (b"t" * 32, "a.column", file),
        (b"s" * 32, "b.column", file),
        (b"s" * 32, "a.column", bytes(changed)),
        (b"s" * 32, "a.column", file[:-1]),
        (b"s" * 32, "a.column", b""),
    ]:
        with pytest.raises(LedgerTampered, match="'it' is not what was kept there"):
            decrypted(secret, name, other, "it")
    assert decrypted(b"s" * 32, "e", encrypted(b"s" * 32, "e", b""), "it") == b""


def test_a_ledger_moves_into_a_branch_and_back(remote: Path, tmp_path: Path) -> None:
    secret = tmp_path / "t.ledger-secret"
    with opened(home_of(tmp_path / "t.ledger"), **DECLARED) as holdout:
        answer = holdout.ask(LATE)
    there = home_of(f"git:{remote}/ledger", secret)
    assert move(tmp_path / "t.ledger", there) == 3
    with opened(there) as holdout:
        assert holdout.ask(LATE).receipt == answer.receipt
        holdout.ask("avg(x > 1)")
    with pytest.raises(LedgerUnavailable, match="was moved to 'git:"):
        opened(home_of(tmp_path / "t.ledger")).__enter__()
    assert os.path.exists(secret)
    assert move(there, tmp_path / "back.ledger") == 5
    with pytest.raises(LedgerUnavailable, match="was moved to"):
        opened(there).__enter__()
