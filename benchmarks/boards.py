"""`python -m benchmarks.boards`: how wide a leaderboard's numbers are, into docs/leaderboards.md.

Accuracy 0.8. What a claim that is confirmed gives after so many submissions, none of which was
shown to be better and no claim of which was refuted; the smallest observed gain over the leader
that is shown then, of submissions that differ on 5 % of the items; the interval at the end of a
board that looked at nothing before; and, beside them, the usual interval of one look, and what
asking for every score would have.
"""

from __future__ import annotations

import math
import tempfile
import warnings
from pathlib import Path

import numpy as np
import polars as pl

import holdfast
from holdfast.theory.base.safeside import smallest_integer
from holdfast.theory.leakage.claim_levels import claim_log_level
from holdfast.theory.leakage.gates import gate_shows, open_gate_prior

PAGE = Path(__file__).resolve().parent.parent / "docs" / "leaderboards.md"
START = "<!-- Made by `python -m benchmarks.boards` -->\n"
END = "<!-- End of the widths -->\n"
SIZES = ((1_000, 100), (1_000, 1_000), (10_000, 100), (10_000, 1_000))
SCORE, DIFFERING, BETA = 0.8, 0.05, 0.05
MOST_CLAIMED = math.log(2)  # what all confirmed claims leak, however many


def leaked(submissions: int) -> float:
    """Nats after so many submissions, none shown to be better, every claim confirmed."""
    gates = -sum(math.log1p(-open_gate_prior(0, made)) for made in range(submissions))
    return gates + MOST_CLAIMED


def asked(items: int, submissions: int) -> float:
    """The half-width of every score, if each is asked for; NaN where it would say nothing."""
    try:
        plan = holdfast.plan(rows=items, questions=submissions, described="off")
    except holdfast.errors.ToleranceTooTight:
        return math.nan
    return plan.half_width or math.nan


def smallest_gain(items: int, submissions: int) -> float:
    """The smallest observed gain that is shown of the last submission."""
    prior = open_gate_prior(0, submissions)
    log_p = claim_log_level(math.log(BETA), prior, leaked(submissions))
    differ = round(DIFFERING * items)

    def shown(more: int) -> bool:
        won = (differ + more) // 2
        return gate_shows(items, won, differ - won, log_p, second_moment=DIFFERING)

    found = smallest_integer(shown, most=differ)
    return math.nan if found is None else found / items


def at_the_end(items: int, submissions: int) -> tuple[float, float]:
    """Half-widths of a claim at first, and of the exact score at the end of a blind board."""
    rng = np.random.default_rng(items)
    label = rng.random(items) < 0.5
    table = pl.DataFrame({"item": range(items), "label": label})
    right = np.arange(items) < SCORE * items
    with (
        tempfile.TemporaryDirectory() as folder,
        holdfast.Leaderboard(
            table, key="item", ledger=f"{folder}/board.ledger", public=False
        ) as board,
    ):
        for number in range(submissions):
            said = np.where(rng.permutation(right), label, ~label)
            board.submit(said, team=f"t{number}")
        claim = board.claim_half_width(SCORE)
        ends = [(row.low or 0.0, row.high or 1.0) for row in board.final()]
    return claim, max(high - low for low, high in ends) / 2


def lines() -> list[str]:
    """The table, a line for each number."""
    rows: dict[str, list[str]] = {}

    def tell(name: str, value: float) -> None:
        shown = "nothing" if math.isnan(value) else f"{math.ceil(value * 1e4 - 1e-6) / 1e4:.4f}"
        rows.setdefault(name, []).append(shown)

    for items, submissions in SIZES:
        error = math.sqrt(SCORE * (1 - SCORE) / items)
        tell("one look: a usual 95 % interval, not true together", 1.96 * error)
        tell("asking for every score, with noise", asked(items, submissions))
        claim, end = at_the_end(items, submissions)
        tell("a claim that is confirmed, at first", claim)
        tell(
            "the smallest gain over the leader that is shown, the last",
            smallest_gain(items, submissions),
        )
        tell("the end: every score, all true together", end)
    head = " | ".join(f"{items:,} labels, {many:,} submissions" for items, many in SIZES)
    return [
        f"| half-width, or gain | {head} |\n",
        "|---|" + "---:|" * len(SIZES) + "\n",
        *(f"| {name} | {' | '.join(cells)} |\n" for name, cells in rows.items()),
    ]


def main() -> None:
    """Write the table into the page."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = "".join(lines())
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(START)
    PAGE.write_text(f"{before}{START}{made}{END}{rest.partition(END)[2]}", encoding="utf-8")


if __name__ == "__main__":
    main()
