"""`python -m benchmarks.forecasts`: what checks cost with a forecast, written into docs/holdout.md.

Somebody guesses shares by training rows and checks them, one after another, at a half-width that is
named. Nats are those of the symbols: what is not confirmed is answered, at a charge of its own.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from holdfast.theory.base.intervals import Interval
from holdfast.theory.leakage.claim_levels import share_claim_holds, surprise_prior
from holdfast.theory.leakage.forecasts import (
    CHECK_PRIOR,
    Mixture,
    TrainedGuess,
    check_forecasters,
    forecast,
)

PAGE = Path(__file__).resolve().parent.parent / "docs" / "holdout.md"
START = "<!-- Made by `python -m benchmarks.forecasts --write` -->\n"
END = "<!-- End of the forecasts -->\n"
BETA, LEAST = 0.05, 300  # rows of a group


@dataclass(frozen=True, slots=True)
class Setting:
    """How many rows are protected, how many others there are, what is checked of them."""

    rows: int = 5_000
    training_rows: int = 5_000
    checks: int = 45
    half_width: float = 0.03


@dataclass(frozen=True, slots=True)
class Share:
    """A share that is checked: of how many rows, how often it is seen there, and what is guessed.

    `training` is what is said to be seen in so many training rows.
    """

    n: int
    seen: int
    guess: float
    training: TrainedGuess


def shares(setting: Setting, rng: np.random.Generator, *, grouped: bool) -> Iterator[Share]:
    """Shares of the whole table, or of groups of 300 rows to all of them."""
    for _ in range(setting.checks):
        part = LEAST / setting.rows if grouped else 1.0
        part = math.exp(rng.uniform(math.log(part), 0.0))
        rate, n, m = (
            rng.uniform(0.05, 0.95),
            *(max(1, round(part * each)) for each in (setting.rows, setting.training_rows)),
        )
        mean = float(rng.binomial(m, rate)) / m
        said = TrainedGuess(mean, setting.half_width, mean, mean * (1.0 - mean), m)
        yield Share(n, int(rng.binomial(n, rate)), mean, said)


def _misled(share: Share) -> TrainedGuess:
    """Training rows of something else, that speak against what is right."""
    other = share.training
    return TrainedGuess(other.guess, other.tolerance, 1.0 - other.mean, other.variance, other.rows)


RULES: Mapping[str, Callable[[Share], TrainedGuess | None]] = {
    "no forecast": lambda _: None,
    "training rows": lambda share: share.training,
    "misleading ones": _misled,
}


@dataclass(slots=True)
class Checked:
    """Checks one after another: how many were confirmed, and the nats of their symbols."""

    mixture: Mixture = field(default_factory=lambda: Mixture.opened(CHECK_PRIOR))
    nats: float = 0.0
    made: int = 0
    confirmed: int = 0

    def put(self, share: Share, training: TrainedGuess | None) -> bool:
        """Whether a share is confirmed to be about what is guessed of it."""
        base = 1.0 - surprise_prior(self.made, self.made - self.confirmed)
        members = check_forecasters(base, share.n, training)
        entered = forecast(self.mixture, members, math.log(BETA) - self.nats)
        # Base alone is awake where there is no forecast, and its weight is not rounded.
        weight = base if training is None else entered.weight
        guess, t = share.guess, share.training.tolerance
        ends = Interval(
            guess - t if guess > t else -math.inf, guess + t if guess < 1.0 - t else math.inf
        )
        level = math.log(BETA) + math.log(weight) - self.nats
        claimed = share_claim_holds(share.n, share.seen, ends, level, alike=True)
        self.nats -= math.log(weight) if claimed else math.log1p(-weight)
        self.mixture = self.mixture.after(entered.members, claimed=claimed)
        self.made, self.confirmed = self.made + 1, self.confirmed + claimed
        return claimed


def session(rule: str, setting: Setting, seed: int, *, grouped: bool) -> Checked:
    """All checks of a setting, by one rule."""
    rng, checked = np.random.default_rng([seed, grouped]), Checked()
    for share in shares(setting, rng, grouped=grouped):
        checked.put(share, RULES[rule](share))
    return checked


# Values that are worth nothing, of which training rows choose the one that they speak for most.
TRIES, GUESSES, FEW = 200, 10, 400
SHARED = (0.0, 0.1, 0.5, 1.0)


def is_deceived(rule: str, shared: float, seed: int) -> bool:
    """Whether a false guess is confirmed, where so many of the training rows are protected."""
    rng, checked, common = np.random.default_rng(seed), Checked(), round(shared * FEW)
    for _ in range(GUESSES):
        both = rng.binomial(common, 0.5, TRIES)
        training = both + rng.binomial(FEW - common, 0.5, TRIES)
        best = int(training.argmax())
        seen = int(both[best] + rng.binomial(FEW - common, 0.5))
        mean = float(training[best]) / FEW
        said = TrainedGuess(0.8001, 0.3, mean, mean * (1.0 - mean), FEW)  # 1/2 is just outside
        share = Share(FEW, seen, said.guess, said)
        if checked.put(share, RULES[rule](share)):
            return True
    return False


def shared_table(sessions: int, seed: int) -> str:
    """Sessions in which something false is confirmed, by how many rows are shared."""
    lines = [
        "| training rows that are protected | "
        + " | ".join(f"{each:.0%}" for each in SHARED)
        + " |",
        "|---|" + "---:|" * len(SHARED),
    ]
    for rule in ("no forecast", "training rows"):
        found = [
            sum(is_deceived(rule, shared, seed + each) for each in range(sessions)) / sessions
            for shared in SHARED
        ]
        lines.append(f"| {rule} | " + " | ".join(f"{each:.2f}" for each in found) + " |")
    return "\n".join(lines)


def table(sessions: int, seed: int, setting: Setting) -> str:
    """Confirmed and nats of each rule, in either world."""
    lines = [
        "| checked are shares of | " + " | ".join(RULES) + " |",
        "|---|" + "---:|" * len(RULES),
    ]
    for name, grouped in (("the whole table", False), (f"groups of {LEAST} rows and more", True)):
        cells = []
        for rule in RULES:
            found = [
                session(rule, setting, seed + each, grouped=grouped) for each in range(sessions)
            ]
            confirmed = sum(each.confirmed for each in found) / sessions
            nats = sum(each.nats for each in found) / sessions
            cells.append(f"{confirmed:.1f}, {nats:.1f} nats")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def section(sessions: int, seed: int, setting: Setting) -> str:
    """The table with what it says, as docs/holdout.md has it."""
    return (
        f"{setting.checks} guesses by {setting.training_rows:,} training rows, checked within "
        f"+-{setting.half_width:g} on {setting.rows:,}, one after another: how many are confirmed, "
        f"and the nats of their symbols ({sessions} sessions).\n\n"
        f"{table(sessions, seed, setting)}\n\n"
        f"What training rows must not share with the protected ones. Of {TRIES} values that are 1 "
        f"with 1/2 the one that {FEW} training\nrows speak for most is guessed to be 1 more often, "
        f"{GUESSES} times: sessions in which that is confirmed (beta = {BETA:g}).\n\n"
        f"{shared_table(4 * sessions, seed)}\n"
    )


def written(page: str, text: str) -> str:
    """The page with this section between its marks."""
    before, _, rest = page.partition(START)
    _, _, after = rest.partition(END)
    return f"{before}{START}{text}{END}{after}"


def main() -> None:
    parser = argparse.ArgumentParser(description="What checks cost with a forecast.")
    parser.add_argument("--sessions", type=int, default=100)
    parser.add_argument("--write", action="store_true", help="into docs/holdout.md")
    parser.add_argument("--seed", type=int, default=27)
    arguments = parser.parse_args()
    text = section(arguments.sessions, arguments.seed, Setting())
    print(text)
    if arguments.write:
        PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), text), encoding="utf-8")


if __name__ == "__main__":
    main()
