"""`python -m benchmarks.acceptors`: which rule keeps the gains of a loop, and which is fooled.

A loop offers candidates one after another, each compared with the incumbent on n protected rows and
perhaps on n' development rows; a rule promotes some. *Kept* is the sum of the true gains that were
promoted, *false* the share of loops in which a candidate was promoted that gains nothing. Each
candidate has fresh pairs, which flatters every rule alike; validity does not depend on them. In
`vote` one set of rows serves all: the verdicts on random columns are voted into one that is as
empty and looks good. With `--write` the tables are put into docs/gates.md; `--quick` takes a fifth
of the loops.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from holdfast.theory.direct.paired import sign_test_log_p
from holdfast.theory.leakage.claim_levels import claim_log_level
from holdfast.theory.leakage.forecasts import (
    GATE_PRIOR,
    SKIP_BELOW,
    DevPosterior,
    DevResult,
    Forecast,
    Mixture,
    dev_rows_wanted,
    forecast,
    gate_forecasters,
)
from holdfast.theory.leakage.gates import declared_gate_prior
from holdfast.theory.leakage.nats import confirmed_log_charge, surprise_log_charge

Gains = NDArray[np.float64]
Counts = NDArray[np.int64]

BETA = 0.05
DIFFERING = 0.05  # the share of rows on which a candidate and the incumbent differ
OVERFITTED = 2.25  # standard errors by which a development set is hill-climbed
VOTE_ROWS, VOTE_BETA = 200, 0.5
VERDICTS = (1, 3, 10, 99)
PAGE = Path(__file__).resolve().parent.parent / "docs" / "gates.md"
START = "<!-- Made by `python -m benchmarks.acceptors --write` -->\n"
END = "<!-- End of the acceptors -->\n"


@dataclass(frozen=True)
class Setting:
    """The sizes of a loop."""

    rows: int = 1_000
    dev_rows: int = 1_000
    candidates: int = 100
    beta: float = BETA


@dataclass(frozen=True)
class Round:
    """One loop: the true gains, and b and c of each candidate on protected and development rows."""

    setting: Setting
    gains: Gains
    counts: Counts
    dev: Counts

    def log_ps(self) -> Gains:
        return np.array([sign_test_log_p(int(b), int(c)) for b, c in self.counts])

    def results(self) -> list[DevResult]:
        """All development rows of each candidate."""
        return [DevResult(int(b), int(c), self.setting.dev_rows) for b, c in self.dev]


# --- Loops ---------------------------------------------------------------------------------------


def one_in_ten(rng: np.random.Generator, k: int) -> Gains:
    gains = np.zeros(k)
    gains[rng.permutation(k)[: max(1, k // 10)]] = 0.03
    return gains


def none_gains(_rng: np.random.Generator, k: int) -> Gains:
    return np.zeros(k)


def all_gain(_rng: np.random.Generator, k: int) -> Gains:
    return np.full(k, 0.03)


def hill_climbing(rng: np.random.Generator, k: int) -> Gains:
    return np.clip(rng.normal(-0.01, 0.018, k), -DIFFERING, DIFFERING)


def draw_counts(rng: np.random.Generator, rows: int, gains: Gains) -> Counts:
    better, worse = (DIFFERING + gains) / 2, (DIFFERING - gains) / 2
    shares = np.stack([better, worse, 1.0 - better - worse], axis=1)
    return np.asarray(rng.multinomial(rows, shares)[:, :2], dtype=np.int64)


def honest(rng: np.random.Generator, rows: int, gains: Gains) -> Counts:
    return draw_counts(rng, rows, gains)


def overfitted(rng: np.random.Generator, rows: int, gains: Gains) -> Counts:
    moved = round(0.5 * OVERFITTED * math.sqrt(rows * DIFFERING))
    counts = draw_counts(rng, rows, gains)
    moved_of = np.minimum(moved, counts[:, 1])
    return np.stack([counts[:, 0] + 2 * moved - moved_of, counts[:, 1] - moved_of], axis=1)


def random_dev(rng: np.random.Generator, rows: int, gains: Gains) -> Counts:
    return draw_counts(rng, rows, np.zeros_like(gains))


def reversed_dev(rng: np.random.Generator, rows: int, gains: Gains) -> Counts:
    return draw_counts(rng, rows, -gains)


LoopSource = tuple[
    Callable[[np.random.Generator, int], Gains],
    Callable[[np.random.Generator, int, Gains], Counts],
]
LOOPS: Mapping[str, LoopSource] = {
    "benign": (one_in_ten, honest),
    "null": (none_gains, honest),
    "hill-climbing": (hill_climbing, honest),
    "all gain": (all_gain, honest),
    "overfitted dev": (one_in_ten, overfitted),
    "random dev": (one_in_ten, random_dev),
    "reversed dev": (one_in_ten, reversed_dev),
}


def draw_loop(loop: str, setting: Setting, rng: np.random.Generator) -> Round:
    gains_of, dev_of = LOOPS[loop]
    gains = gains_of(rng, setting.candidates)
    counts = draw_counts(rng, setting.rows, gains)
    return Round(setting, gains, counts, dev_of(rng, setting.dev_rows, gains))


# --- Rules: which candidates are promoted --------------------------------------------------------

Promoted = NDArray[np.bool_]


def best_score(loop: Round) -> Promoted:
    return np.asarray(loop.counts[:, 0] > loop.counts[:, 1])


def each_by_itself(loop: Round) -> Promoted:
    return np.asarray(loop.log_ps() <= math.log(loop.setting.beta))


def bonferroni(loop: Round) -> Promoted:
    return np.asarray(loop.log_ps() <= math.log(loop.setting.beta / loop.setting.candidates))


def e_process(loop: Round) -> Promoted:
    """For each decision by itself: bets on every share from 1/2 to 1, mixed, against 1/beta."""
    b, c = loop.counts[:, 0], loop.counts[:, 1]
    above = special.betaincc(b + 1.0, c + 1.0, 0.5)
    log_e = (b + c + 1) * math.log(2.0) + special.betaln(b + 1.0, c + 1.0) + np.log(above)
    return np.asarray(log_e >= -math.log(loop.setting.beta))


def without_dev(loop: Round) -> Promoted:
    """Section 11.4's gates."""
    return _gates(loop, None).promoted


def with_dev(loop: Round) -> Promoted:
    """Gates forecast by development rows, Theorem F."""
    return _gates(loop, loop.results()).promoted


def with_skip(loop: Round) -> Promoted:
    """The same, and what development rows speak against is not tried."""
    return _gates(loop, loop.results(), skip_below=SKIP_BELOW).promoted


def dev_first(loop: Round) -> Promoted:
    """The same, with looks at a quarter and a half of the development rows (section 13.7)."""
    return with_stops(loop).promoted


class GateRun(NamedTuple):
    """What was promoted, and how many development and protected rows it took."""

    promoted: Promoted
    dev_rows: int
    rows: int


def with_stops(loop: Round) -> GateRun:
    """Candidates that are stopped on development rows are not tried."""
    return _gates(loop, [stop_result(loop, place) for place in range(len(loop.gains))], SKIP_BELOW)


def stop_result(loop: Round, place: int) -> DevResult:
    """The counts where a candidate is stopped, or through; its rows come in an order of its own."""
    b, c = map(int, loop.dev[place])
    total = loop.setting.dev_rows
    rng = np.random.default_rng([b, c, place])
    order = rng.permutation(np.repeat([1, -1, 0], [b, c, total - b - c]))
    result: DevResult | None = None
    while True:
        rows = dev_rows_wanted(result, total)
        if result is not None and rows == result.rows:
            return result
        seen = order[:rows]
        result = DevResult(int((seen > 0).sum()), int((seen < 0).sum()), rows)


def _gates(loop: Round, results: Sequence[DevResult] | None, skip_below: float = 0.0) -> GateRun:
    setting, log_ps = loop.setting, loop.log_ps()
    mixture, posterior = Mixture.opened(GATE_PRIOR), DevPosterior()
    promoted = np.zeros(setting.candidates, dtype=bool)
    log_beta, nats, passed, gates = math.log(setting.beta), 0.0, 0, 0
    for place in range(setting.candidates):
        base = declared_gate_prior(passed, setting.candidates)
        entered = Forecast(base, (base, None, None, None))
        if results is not None:
            result = results[place]
            posterior = posterior.after(result)
            if result.rows < setting.dev_rows:
                continue
            members = gate_forecasters(
                base, setting.rows, posterior, result, candidates=setting.candidates
            )
            entered = forecast(mixture, members, log_beta - nats)
            if entered.weight < skip_below:
                continue
        gates += 1
        symbol = bool(log_ps[place] <= claim_log_level(log_beta, entered.weight, nats))
        nats += (
            surprise_log_charge(entered.weight, 0.0)
            if symbol
            else confirmed_log_charge(entered.weight)
        )
        mixture = mixture.after(entered.members, claimed=symbol)
        promoted[place], passed = symbol, passed + symbol
    dev_rows = sum(result.rows for result in results or ())
    return GateRun(promoted, dev_rows, gates * setting.rows)


RULES: Mapping[str, Callable[[Round], Promoted]] = {
    "best score": best_score,
    "p < .05": each_by_itself,
    "Bonferroni (McNemar)": bonferroni,
    "e-process each": e_process,
    "gate": without_dev,
    "gate, dev": with_dev,
    "gate, dev, skip": with_skip,
    "gate, dev first": dev_first,
}


@dataclass(frozen=True)
class Outcome:
    """What a rule did in so many loops."""

    gain: float
    false_loops: int
    loops: int

    def __str__(self) -> str:
        return f"{self.gain:.3f}/{self.false_loops / self.loops:.3f}"


def outcomes(
    loop: str, rules: Sequence[str], loops: int, seed: int, setting: Setting | None = None
) -> dict[str, Outcome]:
    """Every rule on the same loops."""
    setting = setting or Setting()
    gains, false = dict.fromkeys(rules, 0.0), dict.fromkeys(rules, 0)
    for number in range(loops):
        offered = draw_loop(loop, setting, np.random.default_rng([seed, number]))
        for rule in rules:
            promoted = RULES[rule](offered)
            gains[rule] += float(offered.gains[promoted].sum())
            false[rule] += bool((offered.gains[promoted] <= 0.0).any())
    return {rule: Outcome(gains[rule] / loops, false[rule], loops) for rule in rules}


# --- The vote of verdicts ------------------------------------------------------------------------


def vote_log_p(verdicts: int, rng: np.random.Generator, rows: int = VOTE_ROWS) -> float:
    """ln p of a vote of so many columns, each with the sign that its verdict suggests.

    All are worth nothing. A verdict is a true claim: *better than -margin*, at the margin that half
    of such columns show.
    """
    agree = rng.integers(0, 2, size=(verdicts, rows), dtype=np.int8) * 2 - 1
    signs = np.where(agree.sum(axis=1, dtype=np.int64) >= 0, 1, -1)
    votes = (signs[:, None] * agree).sum(axis=0, dtype=np.int64)
    ties = rng.integers(0, 2, size=rows) * 2 - 1
    right = int((np.where(votes == 0, ties, votes) > 0).sum())
    return sign_test_log_p(right, rows - right)


def broken_votes(
    verdicts: int, loops: int, seed: int, beta: float = VOTE_BETA
) -> dict[str, Outcome]:
    """How often the vote is promoted: by Bonferroni, and by gates whose verdicts are charged.

    Each verdict is forecast 1/2, which is cheapest, and the vote itself .99.
    """
    log_beta = math.log(beta)
    level = log_beta - math.log(verdicts + 1)
    charged = claim_log_level(log_beta, 0.99, verdicts * math.log(2.0))
    broken = {"Bonferroni (McNemar)": 0, "a gate": 0}
    for number in range(loops):
        log_p = vote_log_p(verdicts, np.random.default_rng([seed, verdicts, number]))
        broken["Bonferroni (McNemar)"] += log_p <= level
        broken["a gate"] += log_p <= charged
    return {rule: Outcome(0.0, times, loops) for rule, times in broken.items()}


def rows_run(loop: str, loops: int, seed: int, setting: Setting) -> tuple[float, float]:
    """Development and protected rows a candidate, with stops."""
    runs = [
        with_stops(draw_loop(loop, setting, np.random.default_rng([seed, number])))
        for number in range(loops)
    ]
    many = loops * setting.candidates
    return sum(each.dev_rows for each in runs) / many, sum(each.rows for each in runs) / many


def table(loops: int, seed: int, setting: Setting) -> str:
    """Kept and false of every rule in every loop, as Markdown."""
    lines = [
        "| loop | " + " | ".join(RULES) + " |",
        "|---|" + "---:|" * len(RULES),
    ]
    for loop in LOOPS:
        results = outcomes(loop, list(RULES), loops, seed, setting)
        lines.append(f"| {loop} | " + " | ".join(str(results[rule]) for rule in RULES) + " |")
    return "\n".join(lines)


def vote_table(loops: int, seed: int) -> str:
    """How often the vote of verdicts is promoted by either rule, as Markdown."""
    broken = {verdicts: broken_votes(verdicts, loops, seed) for verdicts in VERDICTS}
    rules = list(broken[VERDICTS[0]])
    lines = [
        "| verdicts | " + " | ".join(map(str, VERDICTS)) + " |",
        "|---|" + "---:|" * len(VERDICTS),
    ]
    for rule in rules:
        shares = [f"{broken[each][rule].false_loops / loops:.2f}" for each in VERDICTS]
        lines.append(f"| {rule} | " + " | ".join(shares) + " |")
    return "\n".join(lines)


# --- Two hundred models on many rows -------------------------------------------------------------

MODELS = Setting(rows=50_000, dev_rows=50_000, candidates=200)
# So that Bonferroni for 200 shows about 27 of them.
_MODEL_GAINS = (-0.0051, 0.0077)


def models_shown(loops: int, seed: int, dev_rows: int = MODELS.dev_rows) -> dict[str, float]:
    """How many of 200 models are shown to be better than the incumbent, on average; none falsely.

    Their true gains are normal, and most are worse; the development rows are training scores, of
    rows that the models were not fitted on.
    """
    setting = Setting(MODELS.rows, dev_rows, MODELS.candidates)
    rules = ("Bonferroni (McNemar)", "gate", "gate, dev")
    shown = dict.fromkeys(rules, 0)
    for number in range(loops):
        rng = np.random.default_rng([seed, number])
        gains = np.clip(rng.normal(*_MODEL_GAINS, setting.candidates), -DIFFERING, DIFFERING)
        counts, dev = (draw_counts(rng, n, gains) for n in (setting.rows, dev_rows))
        offered = Round(setting, gains, counts, dev)
        for rule in rules:
            shown[rule] += int((RULES[rule](offered) & (gains > 0.0)).sum())
    return {rule: count / loops for rule, count in shown.items()}


def section(loops: int, seed: int, setting: Setting) -> str:
    """Both tables with what they say, as docs/gates.md has them."""
    runs = {loop: rows_run(loop, loops, seed, setting) for loop in ("benign", "null")}
    items = "; ".join(
        f"{loop}: {dev_rows:.0f} development and {rows:.0f} protected rows"
        for loop, (dev_rows, rows) in runs.items()
    )
    run = f"{items}, of {setting.dev_rows:,} and {setting.rows:,}"
    return f"""{table(loops, seed, setting)}

In {loops} loops. Rows run for a candidate, dev first: {run}.

Bonferroni's column is right where the {setting.candidates} candidates are fixed beforehand, or made
without a look at verdicts. It breaks where they are not: columns that are worth nothing are gated
at a margin that half of them pass, and the vote of these verdicts, worth nothing too, is promoted
(beta = {VOTE_BETA:g}, {VOTE_ROWS} rows) with

{vote_table(loops, seed)}

{_models_text(max(1, loops // 5), seed)}
"""


def _models_text(loops: int, seed: int) -> str:
    few, many = (models_shown(loops, seed, rows) for rows in (MODELS.rows // 5, MODELS.rows))
    fixed, alone, short, long = (
        f"{each:.1f}" for each in (*list(many.values())[:2], few["gate, dev"], many["gate, dev"])
    )
    return (
        f"{MODELS.candidates} models on {MODELS.rows:,} rows, one after another, of which "
        f"Bonferroni would show {fixed} to be better than\nthe incumbent: gates show {alone} "
        f"without a forecast, {short} with scores on {MODELS.rows // 5:,} other rows and {long} "
        f"with {MODELS.rows:,}."
    )


def written(page: str, text: str) -> str:
    """The page with these tables between its marks."""
    before, _, rest = page.partition(START)
    _, _, after = rest.partition(END)
    return f"{before}{START}{text}{END}{after}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Which rule keeps the gains of a loop.")
    parser.add_argument("--loops", type=int, default=100)
    parser.add_argument("--quick", action="store_true", help="a fifth of the loops")
    parser.add_argument("--write", action="store_true", help="into docs/gates.md")
    parser.add_argument("--rows", type=int, default=1_000)
    parser.add_argument("--dev-rows", type=int, default=1_000)
    parser.add_argument("--candidates", type=int, default=100)
    parser.add_argument("--seed", type=int, default=27)
    arguments = parser.parse_args()
    setting = Setting(arguments.rows, arguments.dev_rows, arguments.candidates)
    loops = max(1, arguments.loops // 5) if arguments.quick else arguments.loops
    text = section(loops, arguments.seed, setting)
    print(text)
    if arguments.write:
        PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), text), encoding="utf-8")


if __name__ == "__main__":
    main()
