# ruff: noqa: B018, E402, E501
# mypy: ignore-errors
# %% [markdown]
# # Publish a table, and let an agent work on it
#
# An AI agent that may query a table asks hundreds of questions an hour, each because of the answers before. Sooner or later it finds something, true or not,
# and reports it with confidence. And it should not see the rows at all.
#
# On this page a custodian publishes a table of support tickets, an agent asks ten questions over the Model Context Protocol (MCP), and a colleague asks
# over HTTP. All of them share **one ledger**: with probability 95 % every interval that any of them is given is true, all together. (`pip install
# '.[serve,mcp]'` in a checkout brings the service and the protocol.)
#
# ## The custodian publishes
#
# Half of the tickets are for everybody to look at; the other half is protected.

# %%
import numpy as np
import polars as pl

import holdfast

rng = np.random.default_rng(4)
TICKETS = 40_000
channel = rng.choice(["chat", "mail", "phone"], TICKETS, p=[0.5, 0.3, 0.2])
hour = rng.integers(0, 24, TICKETS)
night = (hour < 6) & (channel == "phone")
tickets = pl.DataFrame(
    {
        "channel": channel,
        "hour": hour,
        "days": rng.exponential(np.where(channel == "mail", 3.0, 2.0)).round(2),
        "reopened": rng.random(TICKETS) < np.where(night, 0.30, 0.12),
    }
)
train, hold = holdfast.split(tickets, test_size=0.5, random_state=0)
train.write_parquet("train.parquet")
hold.write_parquet("hold.parquet")

# %% [markdown]
# What is known of the columns goes into a file, and one command protects the table in the folder of a service. Nobody will bring columns of their own
# here, so that questions may be answered exactly (`--described exact`; a service rounds by default, [why](../concepts/bits-and-nats.md#who-pays-which)):

# %%
with open("tickets.toml", "w") as file:
    file.write(
        '[bounds]\nhour = [0, 23]\ndays = [0, 20]\n\n[values]\nchannel = ["chat", "mail", "phone"]\n'
    )

# %%
# !holdfast publish hold.parquet --name tickets --schema tickets.toml --described exact --questions 100 --tolerance 0.05

# %% [markdown]
# Then tokens, for whoever may ask, each with a cap: `holdfast token create robot --role analyst --dataset tickets --questions 50`. And
# `holdfast serve served` starts the service. This page does both in its own process, so that it can be run from top to bottom without a network:

# %%
from pathlib import Path

from holdfast.agents.mounting import mount_agents
from holdfast.service.app import app_of
from holdfast.service.data_set import Service
from holdfast.service.folder import Folder

folder = Folder.create(Path("served"))
service = Service.of(folder.path, folder.settings(release_step=0.0))
tokens = {
    name: service.tokens.create(name, "analyst", dataset="tickets", questions=50).text
    for name in ("robot", "ada")
}
app = app_of(service)
mount_agents(app, service)

# %% [markdown]
# ## The agent
#
# It is given the address, its token and the training rows, and nothing else. A real agent would be a language model with these tools in its list; this
# one is a short program, so that the page is the same every time. It works as the server tells every agent to: **predict from the training rows, then
# check**; follow what was found; report intervals.

# %%
seen = pl.read_parquet("train.parquet")
found = []


async def put(client, tool, **arguments):
    """Asks or checks, and keeps the answer."""
    told = (await client.call_tool(tool, arguments)).structured_content
    found.append({"question": arguments["question"], **told["answers"][0]})
    return found[-1]


async def agent(client):
    described = (await client.call_tool("describe", {})).structured_content
    print("columns:", ", ".join(column["name"] for column in described["columns"]))
    guess = seen["reopened"].mean()
    await put(client, "check", question="avg(reopened)", guess=guess, half_width=0.015)
    shares = {}
    for name in ("chat", "mail", "phone"):
        question = f"avg(reopened) where channel = '{name}'"
        shares[name] = (await put(client, "ask", question=question))["value"]
    worst = max(shares, key=shares.get)
    print(f"most are reopened by {worst}; when?")
    for hours in ("hour < 6", "hour < 12", "hour >= 12", "hour >= 18"):
        await put(client, "ask", question=f"avg(reopened) where channel = '{worst}' and {hours}")
    await put(client, "ask", question="avg(days)")
    await put(client, "ask", question="avg(days) where channel = 'mail'")
    refused = await client.call_tool("ask", {"question": "avg(days > 9)", "half_width": 0.001})
    print("refused:", refused.structured_content["detail"])


# %% [markdown]
# The connection is that of any MCP client: an address, and the token in a header.

# %%
import asyncio

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client


def caller(name):
    """Who speaks HTTP to the service, with their token."""
    return httpx2.AsyncClient(
        transport=httpx2.ASGITransport(app),
        base_url="http://holdfast.test",
        headers={"Authorization": f"Bearer {tokens[name]}"},
    )


async def session():
    async with (
        app.router.lifespan_context(app),
        caller("robot") as http,
        Client(streamable_http_client("http://holdfast.test/mcp/", http_client=http)) as client,
    ):
        await agent(client)
        async with caller("ada") as ada:
            return await colleague(ada)


async def colleague(http):
    """Ada asks by HTTP: what the robot has asked, and something new."""
    told = []
    for question in ("avg(reopened) where channel = 'phone'", "avg(reopened) where hour < 6"):
        reply = await http.post("/api/v1/datasets/tickets/ask", json={"question": question})
        answer = reply.json()
        told.append({"question": question, "status": answer["status"], "value": answer["value"]})
    return told


told = asyncio.run(session())

# %% [markdown]
# The refusal computed nothing and cost nothing. The agent is told what is possible, in numbers, and goes on.
#
# ## Ada asks the same ledger
#
# Ada, who works beside it, asked two things, too. What the robot has asked is answered from the ledger, for nothing:

# %%
pl.DataFrame(told)

# %% [markdown]
# ## What the agent found
#
# Beside its intervals are those of one look, and Bonferroni's for ten questions that had been fixed beforehand. Both are narrower, and not true for an agent
# that chose the hours because of what it had read about the phone.

# %%
from statistics import NormalDist

z, z_ten = (NormalDist().inv_cdf(1 - 0.025 / looks) for looks in (1, 10))
lines = []
for line in found[:8]:  # the shares
    rows = line["n"] or hold.height
    error = (line["value"] * (1 - line["value"]) / rows) ** 0.5
    half = (line["high"] - line["low"]) / 2
    lines.append(
        {
            "question": line["question"],
            "value": line["value"],
            "half-width": half,
            "one look": z * error,
            "ten fixed": z_ten * error,
        }
    )
pl.DataFrame(lines)

# %% [markdown]
# Of the calls at night between 20 and 37 in a hundred are reopened, of those after noon at most 18. This was found by following answers, and it may be reported
# all the same.
#
# ## The custodian's view
#
# One ledger, whoever asked and however. The custodian sees all of it, audits it, and can take it to others as [a certificate](../certificate.md):

# %%
with holdfast.open(ledger=folder.ledger("tickets")) as ds:
    lines = ds.ledger.to_polars().select("number", "asked_by", "status", "question")
lines

# %%
# !holdfast audit served/tickets.ledger

# %% [markdown]
# ## Next
#
# - Pages for people, caps, workers, what never leaves: [The service](../service.md).
# - The configuration that an agent's host needs, and all tools: [Agents](../agents.md).
# - To look around first: `holdfast serve --demo` serves flights, from a folder that is removed afterwards.
