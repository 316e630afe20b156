"""Mechanisms under a transfer theorem, as a ledger would open them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest

from holdfast.data.sampling import Independent
from holdfast.mechanisms.catalogue import CATALOGUE, claiming
from holdfast.mechanisms.claims import CHECKS, Claims
from holdfast.mechanisms.terms import Terms
from holdfast.mechanisms.transfer import LimitedClaims, Transfer

NATS = 10.0  # set aside for claims
NAMES = ["median noise", "gaussian"]
every_law = pytest.mark.parametrize("name", NAMES)


def wanted(rows: int, questions: int | None, tolerance: float | None, beta: float) -> Terms:
    return Terms(rows, tolerance, 1 - beta, questions, Independent())


@cache
def opened(
    name: str,
    rows: int = 5_000,
    questions: int | None = 50,
    tolerance: float | None = None,
    beta: float = 0.05,
    **options: Any,
) -> tuple[Terms, Transfer]:
    """Terms and mechanism as a ledger would keep them: through JSON."""
    wish = wanted(rows, questions, tolerance, beta)
    planned = CATALOGUE[name].plan(wish, options)
    terms = planned.terms(wish)
    parameters: Mapping[str, Any] = json.loads(json.dumps(planned.parameters))
    mechanism = CATALOGUE[name].build(terms, parameters)
    assert isinstance(mechanism, Transfer)
    return terms, mechanism


def mixed(
    name: str,
    rows: int = 5_000,
    questions: int | None = 40,
    beta: float = 0.05,
    claims: Claims = CHECKS,
    **options: Any,
) -> tuple[Terms, Transfer, LimitedClaims]:
    """The same with claims beside it."""
    options = {"leakage_nats": NATS, **options}
    tolerance = 0.3 if questions is None else None
    terms, transfer = opened(name, rows, questions, tolerance, beta, **options)
    recorded = CATALOGUE[name].plan(wanted(rows, questions, tolerance, beta), options)
    checker = claiming({"name": name, "parameters": recorded.parameters}, terms, claims)
    assert isinstance(checker, LimitedClaims)
    return terms, transfer, checker
