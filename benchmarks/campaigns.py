"""Campaigns: what may not break, tried very often, and how often it held.

`make campaigns-long`; `--only NAME ...`, `--scale .1`, `--write` for the page docs/reliability.md.
Every outcome is kept in a file of results as it comes, and `--resume` goes on from there. Every
campaign is a test of the suite with a larger count.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import psycopg

from benchmarks.engines import Spark
from holdfast.errors import InvalidQuestion, LedgerTampered
from holdfast.question.row import RowValue
from holdfast.statistics.bind import bind
from holdfast.statistics.entry import Table
from tests.data.engines import duckdb_connection, samples_of
from tests.data.test_postgres_ddl import random_sequences
from tests.holdout.tables import copied, made, opened, table
from tests.ledger.durable_calls import compiled, run
from tests.ledger.reading import rows_of
from tests.ledger.test_tampering import flipped, flips
from tests.postgres import server
from tests.question.test_hostile import FRAME, SCHEMA, fuzzed
from tests.spark import spark_sample
from tests.statistics.zoo import parts_of
from tests.theory.leakage.test_claim_worlds import CHARGES, WORLDS, Analyst
from tests.theory.tiny_levels import CASES, LEVELS, SIZES, miss_probability

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reliability.md"
RESULTS = ROOT / ".cache" / "campaigns.json"
START, END = "<!-- campaigns -->\n", "<!-- end of campaigns -->\n"
_TOGETHER = 100  # conditions of one scan


@dataclass(frozen=True)
class Outcome:
    """How often something was tried, and what broke."""

    tried: int
    broken: Sequence[str] = ()
    seconds: float = 0.0

    def cells(self, name: str) -> str:
        """A line of the table."""
        held = self.tried - len(self.broken)
        return f"| {name} | {self.tried:,} | {held:,} | {len(self.broken):,} | {self.seconds:.0f} |"


def _durable(what: str, trials: int, folder: Path) -> Outcome:
    library = compiled(folder)
    if library is None:
        raise SystemExit("The shim is for Linux and needs a C compiler. Install cc.")
    found = run(what, library, folder, trials, 2031)
    return Outcome(found["tried"], found["broken"])


def kills(trials: int, folder: Path) -> Outcome:
    """Processes killed, or calls failed, at durable system calls of a session."""
    return _durable("calls", trials, folder)


def power_cuts(trials: int, folder: Path) -> Outcome:
    """Sessions cut off at a random durable call, unsynced writes kept, lost, mixed or torn."""
    return _durable("cuts", trials, folder)


def lying_disks(trials: int, folder: Path) -> Outcome:
    """The twin: a disk that forgets what it said was written; it holds if that is noticed."""
    found = _durable("lies", trials, folder)
    return Outcome(trials, () if found.broken else ["no answer was missed"])


def corruptions(trials: int, folder: Path) -> Outcome:
    """Flipped bits in every file of a ledger, found or without effect."""
    (folder / "live").mkdir()
    live = made(folder / "live")
    with opened(live.parent, table()) as holdout:
        for text in ("avg(late)", "avg(x > 20)", "avg(x > 50)"):
            holdout.ask(text)
        start = copied(live, folder / "start")  # as a crash leaves it, with its log
    whole = rows_of(copied(start, folder / "whole"))
    files = sorted(each.name for each in start.parent.iterdir() if each.is_file())
    broken = []
    for place, name in enumerate(files):
        count = len(range(place, trials, len(files)))
        for at, mask in flips(start.parent / name, count, place):
            ledger = copied(start, folder / "flipped")
            flipped(ledger.parent / name, at, mask)
            try:
                if rows_of(ledger) != whole:
                    broken.append(f"{name}: bit {mask} of byte {at}: other entries")
            except LedgerTampered:
                pass
            except Exception as error:
                broken.append(f"{name}: bit {mask} of byte {at}: {error!r}")
            shutil.rmtree(ledger.parent)
    return Outcome(trials, broken)


def texts(trials: int, folder: Path) -> Outcome:
    """Random texts: refused in one sentence, or the same integers on every engine."""
    chance, broken = random.Random(2031), list[str]()
    rows: dict[RowValue, str] = {}
    for _ in range(trials):
        text = fuzzed(chance)
        try:
            question = bind(text, Table(SCHEMA))
            if bind(question.text, Table(SCHEMA)) != question:
                broken.append(f"{text!r} is another question when it is read again")
            rows |= {part.row: text for part in parts_of(question) if part.row is not None}
        except InvalidQuestion:
            pass
        except Exception as error:
            broken.append(f"{text!r}: {error!r}")
    with closing(duckdb_connection()) as connection:
        samples = samples_of(FRAME, folder / "table.parquet", connection)
        if Spark().missing() is None:
            samples.append(spark_sample(FRAME))
        distinct = list(rows)
        for start in range(0, len(distinct), _TOGETHER):
            asked = distinct[start : start + _TOGETHER]
            first, *others = (sample.moments(asked) for sample in samples)
            broken += [
                f"{rows[row]!r} differs"
                for place, row in enumerate(asked)
                if any(other[place] != first[place] for other in others)
            ]
    return Outcome(trials, broken)


def definitions(trials: int, _: Path) -> Outcome:
    """Random sequences of ALTER, ATTACH and the like: the same bits as before, or a refusal."""
    with server().database() as name:
        url = server().url(name)
        with closing(psycopg.connect(url, autocommit=True)) as connection:
            try:
                random_sequences(url, connection, trials)
            except AssertionError as error:
                return Outcome(trials, [str(error)])
    return Outcome(trials)


def worlds(_: int, __: Path) -> Outcome:
    """The best analyst of every exact world, of 1 to 3 rounds: failures of at most beta."""
    broken = [
        f"{name}, {rounds} rounds"
        for name, rules in WORLDS.items()
        for rounds in (1, 2, 3)
        if Analyst(rules).failures(rounds) > rules.beta * rules.N
    ]
    return Outcome(3 * len(WORLDS), broken)


def world_twins(_: int, __: Path) -> Outcome:
    """The twin: each charge left out in each world; it holds if the analyst breaks the promise."""
    broken = [
        f"{name} without {charge}"
        for name, rules in WORLDS.items()
        for charge, moves in CHARGES.items()
        if Analyst(replace(rules, moves=moves, forgets=charge)).failures(3) <= rules.beta * rules.N
    ]
    return Outcome(len(WORLDS) * len(CHARGES), broken)


def _tiny(trials: int, factor: float) -> list[tuple[str, bool]]:
    trials = max(trials, 60)  # fewer could refute nothing
    return [
        (f"{name} at n = {n}, {level:g}", estimate.refutes)
        for name, case in CASES.items()
        for n in SIZES
        for level in LEVELS
        if (estimate := miss_probability(case, n, level, trials, n, factor)).missed or factor < 1
    ]


def tiny_levels(trials: int, _: Path) -> Outcome:
    """Correlation, covariance, AUC, contrast at 1e-6 to 1e-12, by importance sampling."""
    found = _tiny(trials, 1.0)
    return Outcome(len(found), [what for what, refuted in found if refuted])


def tiny_twins(trials: int, _: Path) -> Outcome:
    """The twin: intervals of half the width; it holds if they are seen to miss too often."""
    found = [each for each in _tiny(trials, 0.5) if "n = 200," not in each[0]]
    return Outcome(len(found), [what for what, refuted in found if not refuted])


CAMPAIGNS: Mapping[str, tuple[Callable[[int, Path], Outcome], int]] = {
    "kills at system calls": (kills, 10_000),
    "power cuts": (power_cuts, 10_000),
    "disks that lie (twin)": (lying_disks, 50),
    "corruptions of every file": (corruptions, 10_000),
    "texts on all engines": (texts, 100_000),
    "sequences of definitions": (definitions, 300),
    "exact worlds": (worlds, 1),
    "exact worlds, a charge left out (twin)": (world_twins, 1),
    "tiny levels": (tiny_levels, 400),
    "tiny levels, half the width (twin)": (tiny_twins, 400),
}


def outcome_of(name: str, scale: float) -> Outcome:
    """A campaign, at a scale, with its seconds."""
    campaign, count = CAMPAIGNS[name]
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        outcome = campaign(max(1, math.ceil(scale * count)), Path(folder))
    return replace(outcome, seconds=time.monotonic() - began)


def report(outcomes: Mapping[str, Outcome]) -> str:
    """The table."""
    head = "| campaign | tried | held | broken | seconds |\n|---|---:|---:|---:|---:|\n"
    return head + "".join(f"{each.cells(name)}\n" for name, each in outcomes.items())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", default=list(CAMPAIGNS), choices=CAMPAIGNS)
    parser.add_argument("--scale", type=float, default=1.0, help="of all counts")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--results", type=Path, default=RESULTS, help="a file of outcomes")
    parser.add_argument("--resume", action="store_true", help="what the file holds is not run")
    parser.add_argument("--write", action="store_true", help="into docs/reliability.md")
    options = parser.parse_args()
    file: Path = options.results
    file.parent.mkdir(parents=True, exist_ok=True)
    outcomes: dict[str, Outcome] = {}
    if options.resume and file.exists():
        kept = json.loads(file.read_text(encoding="utf-8"))
        outcomes = {name: Outcome(**each) for name, each in kept.items()}
    with ProcessPoolExecutor(options.jobs, max_tasks_per_child=1) as pool:
        left = [name for name in options.only if name not in outcomes]
        running = {pool.submit(outcome_of, name, options.scale): name for name in left}
        for each in as_completed(running):  # written at once, so that no cut loses it
            name = running[each]
            outcomes[name] = each.result()
            print(outcomes[name].cells(name), flush=True)
            known = {name: asdict(each) for name, each in outcomes.items()}
            file.write_text(json.dumps(known, indent=1), encoding="utf-8")
    outcomes = {name: outcomes[name] for name in CAMPAIGNS if name in outcomes}
    print(report(outcomes), end="")
    if options.write:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(START)
        text = f"{before}{START}{report(outcomes)}{END}{rest.partition(END)[2]}"
        PAGE.write_text(text, encoding="utf-8")
    broken = [f"{name}: {what}" for name, each in outcomes.items() for what in each.broken]
    if broken:
        raise SystemExit("\n".join(broken[:50]))


if __name__ == "__main__":
    main()
