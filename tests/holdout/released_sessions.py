"""Record of released sessions: what a ledger keeps, and what was answered, in scripted sessions.

A detector of changes, as that of numbers is (tests/theory/released_numbers.py): written by this
software (`python -m tests.holdout.released_sessions`), so that it says nothing about who is right.
Secret, tables and questions are the same every time, and noise is a function of the number of a
question. Of every entry, answer, price and budget a digest is kept, numbers to nine digits.
"""

from __future__ import annotations

import hashlib
import json
import math
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import holdfast
from holdfast.errors import HoldfastError
from holdfast.holdout.holdout import Holdout
from holdfast.ledger.audit import audit
from holdfast.ledger.store import Store
from holdfast.ledger.transcript import Transcript
from holdfast.mechanisms.catalogue import CATALOGUE
from tests.holdout import candidates
from tests.holdout.tables import BOUNDS, noise_by_number, same_secret, table
from tests.ledger.reading import rows_of
from tests.mechanisms import offered, sessions
from tests.seam import transcript_of
from tests.statistics import ruled, zoo

RECORD = Path(__file__).with_name("released_sessions.json")
DIGITS = 9
REWRITE = (
    "A session comes out differently. If that is meant, enter it under *Guarantees changed* in "
    "CHANGELOG.md and run `python -m tests.holdout.released_sessions`."
)
# The time, what depends on the last digits of numbers, and sentences for people.
UNREAD = ("at", "receipt", "fingerprint", "promise", "assumes", "why")

Lines = Iterator[tuple[str, str]]


def plain(value: Any) -> Any:
    """A JSON value with its numbers to nine digits."""
    match value:
        case bool() | None:
            return value
        case int() | float():
            return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else str(value)
        case Mapping():
            return {str(key): plain(each) for key, each in value.items() if key not in UNREAD}
        case list() | tuple():
            return [plain(each) for each in value]
        case _:
            return str(value)


def line(label: str, value: Any) -> tuple[str, str]:
    """A label and everything that is kept of a value."""
    return label, json.dumps(plain(value), sort_keys=True)


def told(label: str, call: Callable[[], Any]) -> Lines:
    """An answer, several, a price or a refusal."""
    try:
        found = call()
    except HoldfastError as error:
        yield line(label, type(error).__name__)
        return
    if hasattr(found, "to_dicts"):  # a table of groups
        yield line(label, found.to_dicts())
        return
    for each in found if isinstance(found, list) else [found]:
        yield line(label, each.to_dict())


def asked(holdout: Holdout, verb: str, question: Any, *arguments: Any, **options: Any) -> Lines:
    """What a question costs, and its answer."""
    if verb != "cost":
        price: dict[str, Any] = {"gate": True} if verb == "gate" else {}
        price |= {name: value for name, value in options.items() if name != "why"}
        guess = {"guess": arguments[0]} if arguments else {}
        yield from told(
            f"cost of {verb} {question}", lambda: holdout.cost(question, **price, **guess)
        )
    yield from told(
        f"{verb} {question}", lambda: getattr(holdout, verb)(question, *arguments, **options)
    )


def ending(holdout: Holdout, ledger: Path) -> Lines:
    """The budget, and all entries; what was folded as it was made here is what they say."""
    with closing(Store.open(ledger)) as store:
        read, folded = Transcript.resumed(store), transcript_of(holdout)
        assert list(read.answers) == list(folded.answers)
        assert list(read.lines) == list(folded.lines)
        assert read.account == folded.account
    yield line("budget", holdout.budget.to_dict())
    for number, (_, text, _) in enumerate(rows_of(ledger), start=1):
        body = json.loads(text)
        yield line(f"entry {number} {body['kind']}", body)
    yield line("audit", [finding.fine for finding in audit(ledger)])


# Sessions -----------------------------------------------------------------------------------------

ZOO = {name: tuple(bounds) for name, bounds in zoo.BOUNDS.items()}
VALUES = {"arm": ["A", "B", "C"], "site": [0, 1, 2, 3]}


def described(folder: Path) -> Lines:
    """Every statistic as a text question."""
    ledger = folder / "t.ledger"
    with holdfast.open(
        zoo.table(), ledger=ledger, questions=50, tolerance=0.2, schema=ZOO | VALUES
    ) as holdout:
        for text in [*zoo.TEXTS, *zoo.ALSO, "avg(z) by arm"]:
            yield from asked(holdout, "ask", text)
        yield from ending(holdout, ledger)


def rounded(folder: Path) -> Lines:
    """Text questions of rows that depend on each other, rounded."""
    ledger = folder / "t.ledger"
    with holdfast.open(
        zoo.table(600, complete=True),
        ledger=ledger,
        questions=50,
        tolerance=0.3,
        schema=ZOO | VALUES,
        sampling=holdfast.m_dependent(2),
    ) as holdout:
        for text in zoo.TEXTS[::2]:
            yield from asked(holdout, "ask", text)
        yield from ending(holdout, ledger)


def on_the_ledger(folder: Path) -> Lines:
    """Every statistic on the ledger, with noise."""
    ledger = folder / "t.ledger"
    with holdfast.open(
        zoo.table(3_000),
        ledger=ledger,
        questions=200,
        tolerance=0.3,
        schema=ZOO | VALUES,
        described="off",
    ) as holdout:
        for text in [*zoo.TEXTS, *zoo.ALSO, "avg(z) by arm"]:
            yield from asked(holdout, "ask", text)
        yield from ending(holdout, ledger)


def checked(folder: Path) -> Lines:
    """Checks of both sides and of one, gates, repeats, and what follows from them."""
    ledger = folder / "t.ledger"
    with holdfast.open(
        zoo.table(5_000),
        ledger=ledger,
        questions=100,
        tolerance=0.1,
        schema=ZOO | VALUES,
        candidates=20,
        surprises=5,
    ) as holdout:
        for text, guess in (
            ("avg(x)", 21.0),
            ("avg(new)", 0.5),
            ("avg(k > 4)", 0.9),
            ("avg(z)", -11.0),
            ("avg(x + 0.0001)", 20.0),
            ("avg(z + 0.0001)", -19.0),
        ):
            yield from asked(holdout, "check", text, guess)
            yield from asked(holdout, "check", text, guess, tolerance=0.2)
        for text, options in (
            ("avg(new)", {"at_least": 0.3}),
            ("avg(new)", {"at_most": 0.3}),
            ("difference(new = y, old = y)", {"at_least": 0.0}),
            ("avg(p) where arm = 'A'", {"at_least": 0.2}),
            ("avg(x)", {"at_most": 90.0}),
        ):
            yield from asked(holdout, "check", text, **options)
            yield from asked(holdout, "gate", text, **options)
        yield from asked(holdout, "ask", "avg(x)")
        yield from asked(holdout, "check", "avg(x)", 22.0)
        yield from ending(holdout, ledger)


def _catalogue(name: str) -> Callable[[Path], Lines]:
    def session(folder: Path) -> Lines:
        ledger = folder / "m.ledger"
        declared = {"questions": 20, **sessions.OPENED.get(name, {})}
        with holdfast.open(
            sessions.TABLE,
            ledger=ledger,
            mechanism=name,
            schema=BOUNDS,
            described="off",
            **declared,
        ) as holdout:
            questions = sessions.questions_of(name)
            if name in sessions.TOGETHER:
                yield from told("together", lambda: holdout.ask_many(questions))
            for question in questions:
                yield from asked(holdout, "ask", question)
            yield from asked(holdout, "check", "avg(x > 50)", 0.2)
            yield from asked(holdout, "check", "avg(x > 51)", 0.9)
            yield from asked(holdout, "gate", "avg(x > 5)", at_least=0.1)
            yield from told("vector", lambda: holdout.ask_many(["avg(x > 6)", "avg(x > 7)"]))
            yield from told("reveal", lambda: [holdout.end.reveal("avg(x > 9)")])
            yield from ending(holdout, ledger)

    return session


def gated(folder: Path) -> Lines:
    """Gates with forecasts and grades, of attached columns."""
    ledger, rows = folder / "t.ledger", pl.DataFrame({"item": range(candidates.ROWS)})
    gains, even = candidates.GAINS, candidates.EVEN
    with holdfast.open(
        rows, name="t", ledger=ledger, key="item", candidates=100, described="off"
    ) as holdout:
        for name, values in candidates.scores().items():
            holdout.attach(name, values, bounds=bool, digest=name)
        yield from asked(holdout, "gate", even, at_least=0, dev=(40, 10, 1_000))
        yield from asked(holdout, "gate", even, at_least=0, grades=True)
        yield from asked(holdout, "gate", even, at_least=0.01, grades=True, dev=(25, 25, 1_000))
        yield from asked(holdout, "gate", gains, at_least=0.001, dev=(40, 10, 1_000))
        yield from asked(holdout, "gate", gains, at_least=0, grades=True, dev=(60, 5, 1_000))
        yield from asked(holdout, "gate", gains, at_least=0.002)
        yield from asked(holdout, "gate", gains, at_least=0.003, grades=True)
        yield from asked(holdout, "check", "avg(gains)", 0.9)
        yield from ending(holdout, ledger)


def searched(folder: Path) -> Lines:
    """A search of many members, their scores, and a last look."""
    rng = np.random.default_rng(21)
    label, x = rng.random(1_000) < 0.5, rng.random(1_000)
    rows = pl.DataFrame({"id": np.arange(1_000), "label": label, "x": x})

    def right_in(share: float) -> Any:
        return np.where(np.arange(1_000) < round(share * 1_000), label, ~label)

    for described_ in ("exact", "rounded"):
        ledger = folder / f"{described_}.ledger"
        with holdfast.open(
            rows,
            ledger=ledger,
            key="id",
            tolerance=0.1,
            questions=40,
            described=described_,
            schema={"x": (0, 1)},
        ) as holdout:
            yield from asked(holdout, "ask", "avg(x)")
            search = holdout.search("model", size=10**6, question="avg(model = label)")
            for member, share in ((3, 0.8), (77, 0.6), (999_999, 0.51)):
                yield from told(f"score {member}", partial(search.score, member, right_in(share)))
            losses = holdout.search(
                "loss", {"depth": [1, 2, 3]}, question="avg(loss)", bounds=(0.0, 1.0), share=0.25
            )
            yield from told("score", partial(losses.score, {"depth": 2}, np.abs(x - 0.5)))
            yield from asked(holdout, "check", "avg(label)", 0.5)
            yield from told("final", lambda: list(holdout.final(["avg(x > 0.123)", "avg(label)"])))
            yield from asked(holdout, "ask", "avg(x > 0.9)")
            yield from ending(holdout, ledger)


def sampled(folder: Path) -> Lines:
    """Rows in units, in one after another, and in a trial."""
    rows = table(2_000).with_columns(
        arm=pl.Series(np.where(np.arange(2_000) % 3 == 0, "new", "old"))
    )
    ways: tuple[tuple[str, dict[str, Any]], ...] = (
        ("units", {"sampling": holdfast.clustered("unit", largest=4)}),
        ("dependent", {"sampling": holdfast.m_dependent(3)}),
        ("coins", {"randomised": "coins", "arm": "arm"}),
        ("shuffled", {"randomised": "shuffled", "arm": "arm"}),
        ("planned", {"planned": ["effect(late, arm)"], "schema": BOUNDS | {"arm": ["new", "old"]}}),
        ("no range", {"schema": {}, "sampling": holdfast.clustered("unit", largest=4)}),
    )
    for name, declared in ways:
        ledger = folder / f"{name}.ledger"
        try:
            facts = {"questions": 30, "tolerance": 0.2, "schema": BOUNDS, **declared}
            holdout = holdfast.open(rows, ledger=ledger, **facts)
        except HoldfastError as error:
            yield line(f"open {name}", type(error).__name__)
            continue
        with holdout:
            for text in (
                "avg(late)",
                "avg(x)",
                "avg(x) where late",
                "effect(late, arm)",
                "avg(x) by arm",
                "median(x)",
                "difference(avg(x) where late, rest)",
                "variance(x)",
            ):
                yield from asked(holdout, "ask", text)
                yield from asked(holdout, "ask", text, tolerance=0.4)
            yield from asked(holdout, "check", "avg(late)", 0.25)
            yield from asked(holdout, "gate", "avg(late)", at_least=0.05)
            yield from told("declare", lambda: holdout.declare(planned=["avg(x > 44)"], share=0.3))  # noqa: B023
            yield from asked(holdout, "ask", "avg(x > 44)")
            yield from ending(holdout, ledger)


def _without_a_table(facts: Callable[[], offered.Facts]) -> Callable[[Path], Lines]:
    """Facts about public numbers, a line for each group of them."""

    def session(_: Path) -> Lines:
        for label, group in groupby(facts(), key=lambda fact: fact[0].partition(";")[0]):
            yield line(label, list(group))

    return session


SESSIONS: Mapping[str, Callable[[Path], Lines]] = {
    "plans": _without_a_table(offered.plans),
    "offers": _without_a_table(offered.offers),
    "claims": _without_a_table(offered.claims),
    "rules": _without_a_table(ruled.rules),
    "what follows": _without_a_table(ruled.joins),
    "described": described,
    "rounded": rounded,
    "on the ledger": on_the_ledger,
    "checked": checked,
    "gated": gated,
    "searched": searched,
    "sampled": sampled,
} | {name: _catalogue(name) for name in CATALOGUE}


# The record ---------------------------------------------------------------------------------------


def lines_of(name: str, folder: Path) -> list[tuple[str, str]]:
    """A session as it comes out now."""
    with pytest.MonkeyPatch.context() as patched, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        same_secret(patched)
        noise_by_number(patched)
        return list(SESSIONS[name](folder))


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def recorded() -> dict[str, list[str]]:
    """The record as it was written: for each line of a session its label and a digest."""
    found: dict[str, list[str]] = json.loads(RECORD.read_text("utf-8"))
    return found


def differences(name: str, folder: Path) -> list[str]:
    """The lines of a session that come out differently than they were recorded."""
    was = recorded()[name]
    now = lines_of(name, folder)
    found = [
        f"{name}, {label}: {text}"
        for (label, text), before in zip(now, was, strict=False)
        if f"{label} {digest(text)}" != before
    ]
    if len(now) != len(was):
        found.append(f"{name}: {len(was)} lines became {len(now)}")
    return found


def write() -> None:
    """The record, anew."""
    found = {}
    for name in SESSIONS:
        with tempfile.TemporaryDirectory() as folder:
            found[name] = [
                f"{label} {digest(text)}" for label, text in lines_of(name, Path(folder))
            ]
    RECORD.write_text(json.dumps(found, indent=0) + "\n", "utf-8")


if __name__ == "__main__":
    write()
