# ruff: noqa: E402, E501
# mypy: ignore-errors
# %% [markdown]
# # Run a challenge
#
# You host a challenge: teams predict hidden labels, and a board ranks them. Teams submit again and again, so the board's scores become
# something to fit. In the end the first place may belong to whoever submitted most.
#
# On this page a board is attacked, twice by the same attacker: once as boards are usually run, and once with `holdfast.Leaderboard`, which gives **a new rank
# only when the labels show it**. With probability 95 % all its ranks and intervals are true together, whoever submits, how often, and from
# how many accounts.
#
# ## The labels, and who takes part
#
# 2,000 items with a label that only the host knows; and 20,000 more that nobody sees before the end, to judge by. The host has a baseline. Ada
# improves on it. The attacker knows nothing at all: it submits coins.

# %%
import numpy as np
import polars as pl

import holdfast

ITEMS, FRESH, COINS = 2_000, 20_000, 400
rng = np.random.default_rng(9)
label, fresh_label = rng.random(ITEMS) < 0.5, rng.random(FRESH) < 0.5

right = rng.random(ITEMS) < 0.54
improved = np.where(rng.random(ITEMS) < 0.18, rng.random(ITEMS) < 0.95, right)
teams = {"host": np.where(right, label, ~label), "ada": np.where(improved, label, ~label)}

coins = rng.random((COINS, ITEMS)) < 0.5
fresh_coins = rng.random((COINS, FRESH)) < 0.5

# %% [markdown]
# ## The attack
#
# A coin that scored more than one half is kept, and a coin that scored less is turned around. Then all of them vote. Each of the steps is what an honest
# team does, too: keep what helped, turn what hurt, combine.


# %%
def vote(which, turned):
    """What the coins say together, each turned by what the board said of it."""
    return (np.where(which, 1, -1) * turned[:, None]).sum(axis=0) > 0


def score(said):
    return float(np.mean(said == label))


# %% [markdown]
# ## A plain board
#
# It shows every score.

# %%
turned = np.array([1 if score(coin) > 0.5 else -1 for coin in coins])
attack = vote(coins, turned)
plain = {**{team: score(said) for team, said in teams.items()}, "attacker": score(attack)}
pl.DataFrame({"team": list(plain), "score shown": list(plain.values())}).sort(
    "score shown", descending=True
)

# %% [markdown]
# The attacker leads. And what is its vote worth on labels that were not asked?

# %%
float(np.mean(vote(fresh_coins, turned) == fresh_label))

# %% [markdown]
# ## The same on a board that holds
#
# The host puts the labels into a ledger. A submission is compared with the leader, item by item, and the board says whether it is *shown* to be
# better. That is all a team is told, and *not shown* tells almost nothing.

# %%
labels = pl.DataFrame({"item": range(ITEMS), "label": label})
board = holdfast.Leaderboard(labels, key="item", ledger="challenge.ledger")
print(board.submit(teams["host"], team="host", name="baseline"))
print(board.submit(teams["ada"], team="ada"))

# %%
some = coins[:50]
leads = [board.submit(coin, team=f"account {i}").leads for i, coin in enumerate(some)]
print(f"{sum(leads)} of {len(some)} coins were shown to be better than the leader")
print(board.submit(vote(some, np.where(leads, 1, -1)), team="attacker"))

# %% [markdown]
# Fifty accounts, and fifty times the same answer: there is nothing to turn a coin by. Many accounts do not help either: there is one ledger for all of them, and the same predictions are one submission whoever sends them.
#
# With all 400 coins (`python -m examples.challenge challenge.svg`) the attack looks like this, coin by coin:
#
# ![The attacker's vote on a plain board climbs past the honest team, and on fresh labels it is a coin](../challenge.svg)
#
# ## The end
#
# When the challenge is over, one last look shows every exact score at once, each with an interval that is true together with all the others.

# %%
end = [row for row in board.final() if not row.team.startswith("account")]
pl.DataFrame(
    {
        "rank": [row.rank for row in end],
        "team": [row.team for row in end],
        "score": [row.value for row in end],
        "low": [row.low for row in end],
        "high": [row.high for row in end],
    }
)

# %% [markdown]
# ## How wide is that?
#
# Beside the board's interval: the usual one, for a single submission that is scored once, and Bonferroni's for a list of submissions that were all fixed
# before the first was scored. Both are false on a board that shows scores while teams go on submitting.

# %%
from statistics import NormalDist

looks = len(some) + 3
rows = []
for row in end:
    error = (row.value * (1 - row.value) / ITEMS) ** 0.5
    one, fixed = (NormalDist().inv_cdf(1 - 0.025 / k) * error for k in (1, looks))
    rows.append(
        {
            "team": row.team,
            "the board": (row.high - row.low) / 2,
            "one look": one,
            f"Bonferroni, {looks} fixed": fixed,
        }
    )
board.close()
pl.DataFrame(rows)

# %% [markdown]
# 2.4 times the usual interval, and 1.4 times Bonferroni's. With 2,000 labels it takes a gain of a few hundredths to get a new rank:
# smaller differences are ties, and are shown as ties. Who wants to rank by the third digit needs more labels, whatever the board prints
# ([how many](../leaderboards.md#how-wide-it-is)).
#
# ## Next
#
# - Claims of scores, other metrics, pages to show, and the command line: [Leaderboards](../leaderboards.md).
# - In this process whoever runs the board can read the labels. Behind [a service](../service.md#leaderboards) nobody else can.
