# ruff: noqa: B018, E402, E501
# mypy: ignore-errors
# %% [markdown]
# # Gate a loop that edits a prompt
#
# A prompt is edited a hundred times, by you or by an agent, and each variant is scored on the same 1,000 items. Whatever scores higher is kept. The
# score climbs; and part of the climb is luck, since each edit was kept *because* these items liked it. On other items it is gone.
#
# A **gate** keeps an edit only if it is *shown* to be better, and counts every look. With probability 95 % everything that it lets through in
# the whole life of the items is better, however the edits were made: by trying what looked promising, by reading earlier verdicts, or by an optimiser.
#
# Here the truth must be known, to judge the loops by. So the prompts of this page are simulated: an edit changes one answer in ten, and all but two of the
# hundred win as many items as they lose. Numbers 30 and 70 are real: each gets 6 % more items right.

# %%
import numpy as np

ITEMS, VARIANTS, CHANGED = 1_000, 100, 0.10
GAINS = {30: 0.06, 70: 0.06}


def edited(right, truth, gain, rng):
    """Which items a variant gets right, given those of the prompt that was edited."""
    won, lost = (CHANGED + gain) / 2 / (1 - truth), (CHANGED - gain) / 2 / truth
    luck = rng.random(len(right))
    return np.where(right, luck >= lost, luck < won)


def loop(keep):
    """A hundred edits, each of the prompt kept last: what is believed, and what is true."""
    rng = np.random.default_rng(7)
    right, truth, story = rng.random(ITEMS) < 0.6, 0.6, []
    for number in range(1, VARIANTS + 1):
        gain = GAINS.get(number, 0.0)
        candidate = edited(right, truth, gain, rng)
        kept = keep(f"variant {number}", candidate, right)
        if kept:
            right, truth = candidate, truth + gain
        story.append(
            {
                "variant": number,
                "kept": kept,
                "gain": gain,
                "believed": float(right.mean()),
                "true": truth,
            }
        )
    return story


# %% [markdown]
# ## One edit, one look
#
# Is an edit better? For a single look, no ledger is needed; the same for two files is `holdfast compare main.csv edit.csv`.

# %%
import holdfast

rng = np.random.default_rng(28)
main = rng.random(ITEMS) < 0.6
holdfast.compare(main, edited(main, 0.6, 0.06, rng))

# %% [markdown]
# ## Two loops that people write
#
# The first keeps what scores higher. The second is careful: it keeps an edit only if a paired test says p < 0.05, the same test for each of them.

# %%
from scipy.stats import binomtest


def scores_higher(_, candidate, incumbent):
    return bool(candidate.sum() > incumbent.sum())


def is_significant(_, candidate, incumbent):
    won, lost = int((candidate & ~incumbent).sum()), int((incumbent & ~candidate).sum())
    return bool(binomtest(won, won + lost, alternative="greater").pvalue < 0.05)


higher, careful = loop(scores_higher), loop(is_significant)

# %% [markdown]
# ## The gate
#
# `EvalGate` has the items, a ledger, and the number of candidates that there will be at most. Scores are submitted by name, and the verdict is all that
# comes back. The ledger remembers: a name that was submitted is refused a second time, so play this page in an empty folder.

# %%
import polars as pl

items = pl.DataFrame({"item": [f"q{place:04}" for place in range(ITEMS)]})
gate = holdfast.EvalGate(items, key="item", ledger="prompts.ledger", candidates=VARIANTS)


def is_shown(name, candidate, incumbent):
    if gate.incumbent is None:  # the first prompt, by decision
        gate.submit("main", incumbent)
        gate.promote("main")
    gate.submit(name, candidate)
    return gate.promote_if_better(name).promote


gated = loop(is_shown)
[line.why for line in gate.history() if line.status == "shown"]

# %% [markdown]
# ## What became of them
#
# All three loops saw the same luck. *Believed* is the share of the 1,000 items that the kept prompt gets right; *true* is its share of all items there are.

# %%
stories = {
    "keep what scores higher": higher,
    "p < 0.05, each edit": careful,
    "EvalGate": gated,
}
pl.DataFrame(
    {
        "rule": rule,
        "kept": sum(step["kept"] for step in story),
        "of them noise": sum(step["kept"] and not step["gain"] for step in story),
        "believed": f"{story[-1]['believed']:.3f}",
        "true": f"{story[-1]['true']:.3f}",
    }
    for rule, story in stories.items()
)

# %% What each loop believes of its prompt, edit by edit, and what is true of it
import altair as alt

points = [
    {"rule": rule, "edit": step["variant"], "which": which, "share": step[which]}
    for rule, story in stories.items()
    for step in story
    for which in ("believed", "true")
]
lines = alt.Chart(alt.Data(values=points)).mark_line(interpolate="step-after")
lines.encode(
    x=alt.X("edit:Q", title="edits tried"),
    y=alt.Y("share:Q", title="share of items that are right").scale(zero=False),
    color=alt.Color("which:N", title=None).scale(
        domain=["believed", "true"], range=["#d62728", "#1f77b4"]
    ),
    column=alt.Column("rule:N", title=None, sort=list(stories)),
).properties(width=200, height=220)

# %% [markdown]
# ## What the gate can show, before you begin
#
# A gate proves; it does not find. How large must a gain be? That follows from public numbers: the items, the candidates, and in how many items a
# variant differs from the one that it edits. (`holdfast plan --gate --rows 1000 --candidates 100 --disagreement 0.1 --described off` prints the same.)

# %%
public = {"rows": ITEMS, "disagreement": CHANGED, "described": "off"}
plan = holdfast.plan(candidates=VARIANTS, **public)
plan

# %% [markdown]
# Beside the two rules that people know: *one look* is the paired test at 5 %, for one candidate that was fixed beforehand; *Bonferroni* is the same at
# 0.05 %, for a hundred that were all fixed beforehand. Neither is true of edits that follow verdicts.

# %%
one = holdfast.plan(candidates=1, **public)
rules = {
    "one look": one["Bonferroni, candidates fixed beforehand"],
    "Bonferroni, 100 candidates": plan["Bonferroni, candidates fixed beforehand"],
    "EvalGate, at first": plan["at first"],
    "EvalGate, the 100th, none promoted": plan["the last, none promoted"],
    "EvalGate, after 3 promotions": plan["after 3 promotions"],
}
pl.DataFrame(
    {
        "rule": rule,
        "smallest difference shown": f"{step.smallest_difference:.3f}",
        "gain shown in 80 %": f"{step.gain:.3f}",
        "true of edits that follow verdicts": "yes" if "EvalGate" in rule else "no",
    }
    for rule, step in rules.items()
)

# %% [markdown]
# A failed candidate costs almost nothing: after ninety-nine of them the hundredth candidate needs hardly more than the first. A *promotion* costs more, since it tells more
# about the items, and after ten of them it takes a large gain to get through. Then it is time for fresh items.
#
# ## In continuous integration
#
# The same from the command line, for logs of [six evaluation tools](../evaluation.md#logs-of-other-tools) or plain tables. Here is one for the prompt in
# use, and one for each of two pull requests:

# %%
rng = np.random.default_rng(1)
main = rng.random(ITEMS) < 0.6
cases = pl.DataFrame({"item": [f"case-{place:04}" for place in range(ITEMS)]})
cases.write_csv("items.csv")
cases.with_columns(score=main).write_csv("main.csv")
cases.with_columns(score=edited(main, 0.6, 0.06, rng)).write_csv("candidate.csv")
cases.with_columns(score=edited(main, 0.6, 0.0, rng)).write_csv("other.csv")

# %% [markdown]
# Once, where the items are kept:

# %%
# !holdfast init items.csv --name bench --key item --candidates 100 --described off
# !holdfast gate bench main.csv --as main --first

# %% [markdown]
# And for each pull request, with the commit as the candidate's name. The exit code decides whether the job passes: 0 is *promote*, 5 is *not shown*.

# %%
# !holdfast gate bench candidate.csv --as 3f2c1ab --digest 3f2c1ab --against main
# !holdfast gate bench other.csv --as 9d04e77 --digest 9d04e77 --against main

# %% [markdown]
# [`examples/github-actions-gate.yml`](../../examples/github-actions-gate.yml) is a whole workflow for GitHub Actions. Its one step that matters:
#
# ```yaml
#       - name: Is it shown not to be worse?
#         run: |
#           holdfast gate "$LEDGER" candidate.eval --data items.csv --as "$CANDIDATE" --digest "$CANDIDATE" \
#             --no-worse-than 0.02 --json-file gate.json --summary "$GITHUB_STEP_SUMMARY"
# ```
#
# The ledger stays where jobs cannot reset it, here a [branch of the repository](../evaluation.md#in-ci-without-a-disk). One that begins anew with every job
# counts nothing.
#
# ## What it does not do
#
# - It does not find improvements, and below some 500 items it shows only large ones. Four points are much to ask of an edit; if yours gain one, you need
#   twenty times the items, or `--no-worse-than`, which asks for less.
# - *Not shown* is not *worse*. The edit may be kept for other reasons, as long as nobody calls it better.
# - Its word is about items like these. If the items are published and the prompts are written for them, declare it with `public=`.
# - Re-use in good faith often inflates little, as the second loop shows: of 98 useless edits it kept one. A gate is for where that has to be known.
#
# **Next**: [Gates for evaluation loops](../evaluation.md), [Gates](../gates.md), [a leaderboard](../leaderboards.md) for many hands.
