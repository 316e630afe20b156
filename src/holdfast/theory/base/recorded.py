"""Concentrations as plain text and back: what a ledger keeps of them, all families alike."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from holdfast.errors import InvalidArgument
from holdfast.theory.base.concentration import (
    BinomialMean,
    BoundedDifferences,
    BoundedMean,
    Concentration,
    SubExponential,
    SubGaussian,
    TwoSampleU,
)
from holdfast.theory.base.dependence import (
    ClusteredDifferences,
    ClusteredRows,
    GraphMean,
    MarkovMean,
    MDependentMean,
)
from holdfast.theory.base.gamma import (
    CatoniMean,
    MedianOfMeans,
    PolynomialTail,
    SubWeibull,
    TailTable,
)
from holdfast.theory.base.unbounded import (
    InUnits,
    Narrower,
    UnboundedMean,
    UnboundedUnits,
    Windowed,
)

__all__ = ["gamma_from_text", "gamma_text"]

# What ledgers call them: a name's meaning never changes.
_FAMILIES: Mapping[str, type[Any]] = {
    "binomial": BinomialMean,
    "bounded differences": BoundedDifferences,
    "bounded mean": BoundedMean,
    "catoni": CatoniMean,
    "clustered differences": ClusteredDifferences,
    "clustered rows": ClusteredRows,
    "dependency graph": GraphMean,
    "in units": InUnits,
    "m-dependent": MDependentMean,
    "markov chain": MarkovMean,
    "median of means": MedianOfMeans,
    "narrower": Narrower,
    "polynomial": PolynomialTail,
    "sub-exponential": SubExponential,
    "sub-gaussian": SubGaussian,
    "sub-weibull": SubWeibull,
    "table": TailTable,
    "two-sample": TwoSampleU,
    "unbounded mean": UnboundedMean,
    "unbounded units": UnboundedUnits,
    "windowed": Windowed,
}
_NAMES = {family: name for name, family in _FAMILIES.items()}
_TEXT = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)


def gamma_text(profile: Concentration) -> str:
    """The one text of a concentration; refused for a function of the user's own."""
    return _TEXT.encode(_plain(profile))


def gamma_from_text(text: str) -> Concentration:
    """The concentration that a text says."""
    try:
        return _made(json.loads(text))
    except (LookupError, RecursionError, TypeError, ValueError) as error:
        raise InvalidArgument(
            f"gamma is {text[:60]!r}, which says no concentration that this version knows."
        ) from error


def _plain(profile: Any) -> dict[str, Any]:
    name = _NAMES.get(type(profile))
    if name is None:
        raise InvalidArgument(
            "a log_tail function cannot be written in a ledger, which must explain every interval "
            "by itself; declare sigma=, sigma= and b=, a family such as holdfast.sub_weibull(...), "
            "or a table of (radius, log tail) with holdfast.tail_table([...])."
        )
    facts = {each.name: getattr(profile, each.name) for each in fields(profile)}
    return {
        "family": name,
        **{key: _plain(fact) if is_dataclass(fact) else fact for key, fact in facts.items()},
    }


def _made(body: Any) -> Concentration:
    family = _FAMILIES[body["family"]]
    facts = {each.name: body[each.name] for each in fields(family)}
    found: Concentration = family(
        **{key: _made(fact) if isinstance(fact, dict) else fact for key, fact in facts.items()}
    )
    return found
