"""Python: every public name, with its signature and what it says of itself."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from docs.writers.markdown import generated, page, table
from docs.writers.signatures import class_entry, function_entry, prose

import holdfast
from holdfast import errors
from holdfast.guessers import Guesser

__all__ = ["api_page", "modules_page", "objects_page"]

_NAMESPACES = ("stats", "sampling", "tails", "evals", "sklearn", "papers", "errors")
_MODULES = (*_NAMESPACES[:-1], "guessers", "optuna", "trackers")
# The names of `holdfast` by what they are for; each is in one place.
_FUNCTIONS: Mapping[str, Sequence[str]] = {
    "Comparing": ("compare",),
    "Protecting and planning": ("open", "connect", "plan", "split", "learn_schema"),
}
_CLASSES: Mapping[str, Sequence[str]] = {
    "Holdouts and answers": ("Holdout", "Answer", "Groups", "Budget", "Plan"),
    "Gates and leaderboards": ("EvalGate", "Leaderboard"),
}
# What public names return that is no name of `holdfast` itself.
_RETURNED = {
    "Distribution": "holdout.groups",
    "Search": "holdout.search",
    "QuestionPlan": "planner.question_plan",
    "GatePlan": "planner.gate_power",
    "Cost": "holdout.price",
    "LedgerView": "ledger.view",
    "Ending": "holdout.ending",
    "Recorded": "ledger.entries",
    "ReuseCertificate": "certificate.certificate",
    "ServedHoldout": "service.client",
    "Bits": "statistics.description",
}
# Classes that people make themselves; all others are what something returns.
_MADE = frozenset(
    [
        "Ask",
        "Check",
        "Gate",
        "EvalGate",
        "Leaderboard",
        "GateDisplay",
        "StandingsDisplay",
        "AdaptiveComposition",
        "TypicalStability",
        "ReusableHoldout",
        "HoldoutSearchCV",
        "HoldoutObjective",
        "LastBest",
        "MedianMechanism",
        "MultiplicativeWeights",
        "NoisyTraining",
        "TrainingMean",
        "Cut",
    ]
)
_SHARED = {
    "at_least, at_most": "one side of a claim, in the statistic's own unit",
    "bounds": "the range of the values, (low, high): values outside count as the nearest end",
    "asked_by": "who asks, kept in the ledger",
    "by": "for each value of a column, or of two",
    "confidence_level": "the probability that all intervals are true together",
    "guess": "what you think it is: a number, other rows, or a function of them",
    "half_width": "the half-width that is wanted, in the unit of the answer",
    "key": "a column of keys: it names each row, and values are attached by it",
    "label": "the column of labels",
    "question, questions": "text such as `avg(arr_delay > 15)`, or a statistic made by a function",
    "request_key": "the idempotency key of a call: made again with it, it is told the same",
    "tolerance": "the half-width that is wanted, as a part of the statistic's range",
    "what, condition": "a row's value: a text over columns, a Polars expression or a row function",
    "where": "a condition: only among rows like these",
    "why": "a reason, kept in the ledger",
}
_TYPES = {
    "Bounds": "two numbers, or None",
    "By": "the name of a column, or of two",
    "Call, TableCall": "what the functions of a statistic return, to be asked",
    "Concentration": "how a statistic concentrates, from `holdfast.theory.base.concentration`",
    "Declaring": "`size`, `question`, `share`, `computed`, `bounds`, `train`, `code`, `why` and "
    "`asked_by`",
    "Describing": "exact, rounded or off",
    "OpenOptions": "the rarer declarations of `open`, which its text lists; `guesser`, `table`, "
    "`secret` and `timeout`",
    "Form": "oracle, pair or set",
    "Frame": "a pandas, Polars or pyarrow table",
    "HowToRead": "`format`, `score`, `filter`, `epochs`, `partial` and `missing` of `evals.read`",
    "Norm": "l2 or linf",
    "Notion": "a notion of stability, from `holdfast.theory`",
    "Question": "a text, or what a statistic's function returns",
    "Sampling": "what a function of *How rows came about* returns",
    "BatchOptions": "`why`, `asked_by`, `request_key`, `tolerance` and `half_width`",
    "ScoreBounds, Scales": "the range of scores, bool for right or wrong; or both by scorer",
    "Value": "a number computed from a sample",
    "What": "a text over columns, a Polars expression or a row function",
}

_GUESSING = {name for name in vars(Guesser) if not name.startswith("_")}
_ALIASES = {
    "Tracker": "A function that is told what was answered, as a dictionary: `name`, `question`, "
    "`status`, `receipt`, `value`, `low` and `high`."
}


def api_page() -> str:
    """Where every public name is, and the functions of `holdfast`."""
    _require_all_shelved()
    lines = [
        generated("the docstrings"),
        "# Python\n",
        "Every public name. What is asked, refused and promised is the same from "
        "[the command line](../cli.md) and over [HTTP](http.md). [Errors](errors.md) have a page "
        "of their own, and so have [the theorems](../theorems.md), the functions of "
        "`holdfast.theory`.\n",
    ]
    shelves = {**_FUNCTIONS, **_CLASSES, "What they return": tuple(_RETURNED)}
    lines += [f"**{title}**: {_links(names)}\n" for title, names in shelves.items()]
    lines += [f"**holdfast.{module}**: {_links(_public(module))}\n" for module in _MODULES]
    lines += [
        "## Namespaces\n",
        *table(
            ("namespace", "what it has"),
            [(_code(name), prose(getattr(holdfast, name)).split("\n")[0]) for name in _NAMESPACES],
        ),
        "Statistics, and how rows came about, need no namespace: `holdfast.mean` is "
        "`holdfast.stats.mean`.\n",
        "## Words that mean the same everywhere\n",
        *table(("parameter", "meaning"), [(_code(name), said) for name, said in _SHARED.items()]),
        *table(("type", "meaning"), [(_code(name), said) for name, said in _TYPES.items()]),
    ]
    return page(*lines, *_shelved(_FUNCTIONS))


def objects_page() -> str:
    """The classes of `holdfast`, and of what its functions return."""
    lines = [
        generated("the docstrings"),
        "# Python: objects\n",
        "What the functions of [Python](api.md) return, and what is made of the classes that "
        "`holdfast` has. Those that have a signature here are made by you, all others by "
        "something that returns them.\n",
        *_shelved(_CLASSES),
        "## What they return\n",
    ]
    for name, home in _RETURNED.items():
        lines += _entry(name, getattr(importlib.import_module(f"holdfast.{home}"), name))
    return page(*lines)


def modules_page() -> str:
    """The public names of modules that are imported by themselves."""
    lines = [
        generated("the docstrings"),
        "# Python: modules\n",
        "Public modules beside `holdfast` itself. They are imported by themselves, and some need "
        "an extra: `pip install 'holdfast[sklearn]'`, `[evals]`, `[optuna]`, `[mlflow]`.\n",
    ]
    for module in _MODULES:
        found = importlib.import_module(f"holdfast.{module}")
        lines += [f"## holdfast.{module}\n", f"{prose(found)}\n"]
        for name in found.__all__:
            if name not in holdfast.__all__:
                lines += _entry(name, getattr(found, name))
    return page(*lines)


def _shelved(shelves: Mapping[str, Sequence[str]]) -> list[str]:
    lines = []
    for title, names in shelves.items():
        lines.append(f"## {title}\n")
        for name in names:
            lines += _entry(name, getattr(holdfast, name))
    return lines


def _require_all_shelved() -> None:
    """Fail for a public name that the page would not have; errors have a page of their own."""
    shelves = (*_FUNCTIONS.values(), *_CLASSES.values())
    shelved = [name for names in shelves for name in names]
    public = set(holdfast.__all__) - set(errors.__all__) - {*_NAMESPACES}
    if sorted(shelved) != sorted(public):
        raise ValueError(f"say where the reference has {public.symmetric_difference(shelved)}")


def _public(module: str) -> list[str]:
    found: list[str] = importlib.import_module(f"holdfast.{module}").__all__
    return found


def _links(names: Sequence[str]) -> str:
    return " · ".join(f"[`{name}`]({_page_of(name)}#{name.lower()})" for name in names)


def _page_of(name: str) -> str:
    if any(name in names for names in _FUNCTIONS.values()):
        return ""
    own = name in holdfast.__all__ or name in _RETURNED
    return "objects.md" if own else "modules.md"


def _code(names: str) -> str:
    return ", ".join(f"`{name}`" for name in names.split(", "))


def _entry(name: str, thing: Any) -> list[str]:
    head = f"### `{name}`\n"
    if inspect.isclass(thing):
        known = _GUESSING if thing is not Guesser and vars(thing).keys() >= _GUESSING else ()
        return [head, *class_entry(name, thing, made_by_users=name in _MADE, known=known)]
    if inspect.isroutine(thing):
        return [head, *function_entry(name, thing)]
    return [head, f"{_ALIASES[name]}\n"]
