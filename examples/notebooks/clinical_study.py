# ruff: noqa: B018, E402, E501
# mypy: ignore-errors
# %% [markdown]
# # A clinical study
#
# A trial is over. Its data will be asked for years: by the statisticians who wrote the protocol, by colleagues with subgroups in mind, by
# reviewers. Each new look is suggested by earlier results, patients were seen several times, and somebody will want to know which of the findings were planned.
#
# This page opens such a study so that **all answers hold together with probability 95 %**, the planned ones and those that nobody planned, and
# ends with a certificate that an outsider can verify without seeing a patient.
#
# ## The data
#
# 4,000 patients, one to three visits each; at each visit a patient is well or not. Visits of one patient resemble each other. The treatment works,
# less so in older patients. (The numbers are made up, so that the truth is known.)

# %%
import numpy as np
import polars as pl

import holdfast

PATIENTS = 4_000
rng = np.random.default_rng(2)
visits = rng.integers(1, 4, PATIENTS)
arm = rng.choice(["drug", "placebo"], PATIENTS)
age = rng.integers(30, 85, PATIENTS)
site = rng.choice(["Bonn", "Lyon", "Oslo"], PATIENTS, p=[0.5, 0.3, 0.2])
chance = rng.beta(2, 2, PATIENTS) * 0.5 + 0.15
chance += np.where(arm == "drug", np.where(age < 65, 0.16, 0.06), 0)
patient = np.repeat(np.arange(PATIENTS), visits)
study = pl.DataFrame(
    {
        "patient": patient,
        "arm": arm[patient],
        "site": site[patient],
        "age": age[patient],
        "well": rng.random(len(patient)) < chance[patient],
    }
)
f"{study.height:,} visits of {PATIENTS:,} patients"

# %% [markdown]
# ## Declare, before anybody looks
#
# Two calls to the first result: `open` and `ask`. What a protocol says is said when the study is opened:
#
# - **Clusters.** Visits of a patient are not independent. `clustered("patient", largest=3)` says so; nothing is assumed about what happens inside a patient,
#   nor of how often one comes: those who are ill may come more often. Arms and sites need no declaration: an answer tells how many visits it is about.
# - **The plan.** The protocol's list, as `planned`: its questions have narrower intervals. Everything else can still be asked.

# %%
primary = "difference(avg(well) where arm = 'drug', avg(well) where arm = 'placebo')"
young, old = (
    f"difference(avg(well) where arm = 'drug' and {ages}, avg(well) where arm = 'placebo' and {ages})"
    for ages in ("age < 65", "age >= 65")
)
ds = holdfast.open(
    study,
    name="trial",
    sampling=holdfast.clustered("patient", largest=3),
    schema={
        "age": (18, 100),
        "arm": {"values": ["drug", "placebo"]},
        "site": {"values": ["Bonn", "Lyon", "Oslo"]},
    },
    planned=[primary, young, old],
)
ds.schema

# %% [markdown]
# ## The planned analysis
#
# The primary endpoint: how many more visits are good ones with the drug?

# %%
ds.ask(primary, why="protocol, primary endpoint", asked_by="statistician")

# %% [markdown]
# The drug works. And the two subgroups of the protocol?

# %%
print(ds.ask(young, why="protocol, secondary", asked_by="statistician"))
print(ds.ask(old, why="protocol, secondary", asked_by="statistician"))

# %% [markdown]
# For patients below 65 an effect is shown; for older ones nothing can be said either way. Note what this does *not* say: that the two differ. Their intervals
# overlap.
#
# ## Questions that nobody planned
#
# A reviewer wants to see the sites:

# %%
ds.ask("avg(well) by site, arm", why="asked by a reviewer", asked_by="reviewer")

# %% [markdown]
# And somebody looks for the ages at which the drug does most, having seen all of the above:

# %%
middle = "difference(avg(well) where arm = 'drug' and age < 50, avg(well) where arm = 'placebo' and age < 50)"
ds.ask(middle, why="after the subgroups", asked_by="colleague")

# %% [markdown]
# Its interval is wider than that of a planned question of this size, since it is one of many that could have been asked. It is true all the same:
# nobody has to say, or to believe, that it was planned.
#
# ## How wide is that?
#
# What a statistician would report today for *one* planned look: the difference with a robust (sandwich) error for clusters, which is what GEE with
# independent working correlation gives. And the same with Bonferroni for ten planned looks. Neither is true for the questions of the reviewer and the
# colleague, who had seen results; and if visits are taken for independent, none of them is true.

# %%
from math import sqrt
from statistics import NormalDist


def robust_error(rows):
    """The sandwich error of the difference between the arms."""
    squared = 0.0
    for name in ("drug", "placebo"):
        group = rows.filter(pl.col("arm") == name)
        excess = group.with_columns(x=pl.col("well") - group["well"].mean())
        sums = excess.group_by("patient").agg(pl.col("x").sum())["x"].to_numpy()
        squared += float(sums @ sums) / group.height**2
    return sqrt(squared)


subgroups = {
    primary: ("all patients", pl.lit(True)),
    young: ("below 65", pl.col("age") < 65),
    old: ("65 and above", pl.col("age") >= 65),
    middle: ("below 50, not planned", pl.col("age") < 50),
}
lines = []
for question, (name, inside) in subgroups.items():
    error = robust_error(study.filter(inside))
    one, ten = (NormalDist().inv_cdf(1 - 0.025 / looks) * error for looks in (1, 10))
    ours = ds.ask(question).half_width
    lines.append({"drug - placebo": name, "here": ours, "one look": one, "ten planned": ten})
pl.DataFrame(lines)

# %% [markdown]
# Two and a half times the width of one look, or 1.7 times that of ten planned ones, and more for what nobody planned, is the price of being allowed everything
# afterwards, with no assumption about the visits of a patient. Who needs the primary endpoint alone, once, should not pay it: that is
# [one look](../mechanisms/one-look.md), and then the data is spent.
#
# ## The certificate
#
# Two files for those who were not there. The page is to read and print: what was promised and assumed, who asked what and why, every answer, and what is
# *not* promised. The other is the same for a machine.

# %%
ds.certificate("trial.html")
ds.certificate("trial.json")
ds.ledger.to_polars().select("number", "asked_by", "why", "value", "low", "high")

# %% [markdown]
# On any other machine, with neither patients nor ledger, `holdfast audit trial.json` derives every interval again from the certificate alone:

# %%
from pathlib import Path

from holdfast.certificate.checking import audit_certificate

[(point.what, point.fine) for point in audit_certificate(Path("trial.json"))]

# %% [markdown]
# ## Next
#
# - How to declare other kinds of dependence: [Rows that depend on each other](../how-to/dependent-rows.md).
# - Exact values of a last list, and then the end: [the last look](../searching.md#the-last-look).
# - What outsiders can and cannot see in it: [The certificate](../certificate.md).
