"""A challenge with 2,000 hidden labels, two honest teams, and somebody who submits noise.

The boosting attacker knows nothing. It submits coins from many accounts, turns each so that it fits
the score it was shown, and lets all of them vote: on a board that shows exact scores the vote
climbs past the honest teams, and on fresh labels it is a coin. A board that gives a new rank only
when the labels show it tells the attacker nothing to turn coins by. Run it, with a picture:
python -m examples.challenge challenge.svg
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

import holdfast
from holdfast.holdout.charts import drawing_library, save

Answers: TypeAlias = NDArray[np.bool_]
# What the attacker is told of a submission: whether to keep it, or to turn it around.
Feedback: TypeAlias = Callable[[str, Answers], bool]

ITEMS, FRESH, SUBMISSIONS = 2_000, 20_000, 400
BASELINE, GAIN, CHANGED = 0.54, 0.06, 0.10  # ada changes some answers of the host's, mostly rightly


@dataclass
class Challenge:
    """Labels that are scored, and fresh ones that nobody sees before the end."""

    hidden: Answers
    fresh: Answers

    @classmethod
    def drawn(cls, items: int, seed: int) -> Challenge:
        rng = np.random.default_rng(seed)
        return cls(rng.random(items) < 0.5, rng.random(FRESH) < 0.5)

    def score(self, said: Answers) -> float:
        """What a plain board shows."""
        return float(np.mean(said == self.hidden))

    def honest(self, seed: int) -> dict[str, Answers]:
        """The host's baseline, and a team that improves on it."""
        rng = np.random.default_rng([seed, 2])
        right = rng.random(len(self.hidden)) < BASELINE
        won, lost = (CHANGED + GAIN) / 2 / (1 - BASELINE), (CHANGED - GAIN) / 2 / BASELINE
        luck = rng.random(len(right))
        improved = np.where(right, luck >= lost, luck < won)
        teams = {"host": right, "ada": improved}
        return {team: np.where(each, self.hidden, ~self.hidden) for team, each in teams.items()}


@dataclass
class Climb:
    """Where the attacker's vote has come to, submission by submission."""

    seen: list[float] = field(default_factory=list)  # on the hidden labels
    true: list[float] = field(default_factory=list)  # on fresh ones
    vote: Answers = field(default_factory=lambda: np.zeros(0, dtype=bool))


def boosted(challenge: Challenge, submissions: int, seed: int, fits: Feedback) -> Climb:
    """Coins that are turned by what the board says of them, and their vote."""
    rng = np.random.default_rng([seed, 1])  # not the draws that the labels are
    votes, fresh_votes = np.zeros(len(challenge.hidden)), np.zeros(FRESH)
    climb = Climb()
    for number in range(submissions):
        coin, fresh_coin = rng.random(len(votes)) < 0.5, rng.random(FRESH) < 0.5
        turned = 1 if fits(f"account{number}", coin) else -1
        votes += turned * np.where(coin, 1, -1)
        fresh_votes += turned * np.where(fresh_coin, 1, -1)
        climb.vote = votes > 0
        climb.seen.append(challenge.score(climb.vote))
        climb.true.append(float(np.mean((fresh_votes > 0) == challenge.fresh)))
    return climb


@dataclass
class Story:
    """Both boards after the same attack."""

    plain: Climb
    held: Climb
    leader: str
    end: holdfast.evals.Standings


def session(items: int = ITEMS, submissions: int = SUBMISSIONS, seed: int = 0) -> Story:
    """The attack on a plain board and on Holdfast's, told as two tables."""
    challenge = Challenge.drawn(items, seed)
    teams = challenge.honest(seed)
    plain = boosted(challenge, submissions, seed, lambda _, coin: challenge.score(coin) > 0.5)
    scores = {team: challenge.score(said) for team, said in teams.items()}
    print(f"{submissions:,} submissions of noise, {items:,} hidden labels\n\nA plain board:")
    for team, score in sorted(
        {**scores, "attacker": plain.seen[-1]}.items(), key=lambda row: -row[1]
    ):
        print(f"  {score:.3f}  {team}")
    print(f"  on fresh labels the attacker has {plain.true[-1]:.3f}\n\nHoldfast's:")
    labels = pl.DataFrame({"item": range(items), "label": challenge.hidden})
    with (
        tempfile.TemporaryDirectory() as folder,
        holdfast.Leaderboard(labels, key="item", ledger=Path(folder) / "board.ledger") as board,
    ):
        for team, said in teams.items():
            board.submit(said, team=team)

        def leads(account: str, coin: Answers) -> bool:
            return board.submit(coin, team=account).leads

        held = boosted(challenge, submissions, seed, leads)
        board.submit(held.vote, team="attacker")
        leader = next(row.team for row in board.standings() if row.leads)
        end = board.final()
    for row in [row for row in end if not row.team.startswith("account")]:
        print(f"  rank {row.rank}: {row.team:<9} {row.value:.3f} {row.interval}")
    return Story(plain, held, leader, end)


def picture(story: Story) -> Any:
    """The attacker's vote on both boards, beside what it is worth."""
    alt = drawing_library()
    shown = {
        "a plain board shows": story.plain.seen,
        "the same on fresh labels": story.plain.true,
        "Holdfast's board: what the vote scores": story.held.seen,
    }
    points = [
        {"submissions": place, "score": score, "who": who}
        for who, scores in shown.items()
        for place, score in enumerate(scores, start=1)
    ]
    lines = (
        alt.Chart(alt.Data(values=points))
        .mark_line(strokeWidth=2)
        .encode(
            x=alt.X("submissions:Q", title="submissions of noise"),
            y=alt.Y("score:Q", title="accuracy of the attacker's vote").scale(zero=False),
            color=alt.Color("who:N", title=None)
            .scale(domain=list(shown), range=["#d62728", "#808080", "#0b6e4f"])
            .legend(orient="top-left", labelLimit=320),
        )
    )
    ada = {"score": BASELINE + GAIN, "who": "ada, who is honest"}
    honest = alt.Chart(alt.Data(values=[ada]))
    rule = honest.mark_rule(strokeDash=[5, 3]).encode(y="score:Q")
    name = honest.mark_text(align="right", dy=-7, x=596).encode(y="score:Q", text="who:N")
    return alt.layer(lines, rule, name).properties(width=600, height=320)


if __name__ == "__main__":
    found = session()
    for file in sys.argv[1:]:
        save(picture(found), file)
