"""Theorems from text give what their functions give, and say what is wrong with a text."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from holdfast.errors import InvalidArgument
from holdfast.theory.base.concentration import SubGaussian
from holdfast.theory.base.theorem import registry
from holdfast.theory.evaluating import evaluated
from tests.cli.run import holdfast
from tests.theory.tables import GOLDEN

REGISTRY = registry()
# What takes arrays of row values or functions is not typed at a terminal; what takes long is not
# computed a second time here.
NOT_TYPED = ("_by_bets", "bounded_mean", "bet_lower", "auc_block", "lower_odds", "least_capital")
SLOW = ("median_noise", "private_laplace", "declared_variance", "variance_line", "literal_accuracy")


def typed(value: Any) -> str | None:
    """As somebody types it; None if nobody does."""
    if isinstance(value, list | tuple):
        parts = [typed(part) for part in value]
        return None if None in parts else f"[{', '.join(map(str, parts))}]"
    if type(value).__name__ in {*REGISTRY, "TypicalStability"} or isinstance(
        value, bool | int | float
    ):
        return repr(value).replace("True", "true").replace("False", "false")
    return value if isinstance(value, str) else None


ROWS = {
    row.theorem: row
    for row in reversed(GOLDEN)
    if not any(part in row.theorem for part in NOT_TYPED + SLOW)
    and all(typed(value) is not None for value in row.inputs.values())
}


def test_nearly_all_theorems_can_be_typed() -> None:
    assert len(ROWS) > 0.8 * len(REGISTRY)


@pytest.mark.parametrize("name", sorted(ROWS))
def test_a_theorem_from_text_is_the_theorem(name: str) -> None:
    inputs = ROWS[name].inputs
    found = evaluated(REGISTRY[name], [f"{key}={typed(value)}" for key, value in inputs.items()])
    assert repr(found.value) == repr(REGISTRY[name].function(**inputs))
    assert found.lines()
    json.dumps(found.to_dict(), allow_nan=False)


def test_probabilities_stand_for_their_logarithms() -> None:
    entry = REGISTRY["near_independence"]
    found = evaluated(entry, ["p=1e-9", "eta=1", "tau=0", "nu=1e-3"])
    assert found.arguments["log_tau"] == -math.inf
    assert found.value == entry.function(math.log(1e-9), 1, -math.inf, math.log(1e-3))
    assert found.to_dict()["arguments"]["log_tau"] == "-inf"
    levels = evaluated(REGISTRY["leakage_log_failure"], ["log_charges=[1]", "ps=[1e-3]"])
    assert levels.value == REGISTRY["leakage_log_failure"].function([1], [math.log(1e-3)])


def test_lists_and_records_are_lists_and_records_in_json() -> None:
    words = ["prior=[0.5,0.5]", "forecasts=[[0.1,0.2]]", "symbols=[1]"]
    lists = evaluated(REGISTRY["forecast_weights"], words).to_dict()
    assert lists["arguments"] == {"prior": [0.5, 0.5], "forecasts": [[0.1, 0.2]], "symbols": [1]}
    assert lists["value"] == [pytest.approx(0.15)]
    words = ["n1=10", "i=3", "n2=10", "j=4", "log_p=-2"]
    record = evaluated(REGISTRY["coin_effect_interval"], words)
    assert record.to_dict()["value"] == {"low": record.value.low, "high": record.value.high}


def test_a_concentration_is_asked_for_a_radius_or_a_tail() -> None:
    entry = REGISTRY["SubGaussian"]
    assert evaluated(entry, ["sigma=1"]).value == SubGaussian(1.0)
    # golden.json, section 2
    assert evaluated(entry, ["sigma=1", "p=0.05"]).value == pytest.approx(2.716203031481239)
    tail = evaluated(entry, ["sigma=1", "radius=2.716203031481239"]).value
    assert tail == pytest.approx(math.log(0.05))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["n=10", "k=1"], "needs s"),
        (["n=10", "k=1", "s=1", "z=2"], "no argument 'z'"),
        (["n=10", "k=1", "s"], "write name=value"),
        (["n=10", "k=1", "s=__import__('os')"], "must be a number"),
        (["n=10", "k=1", "s=open(1)"], "must be a number"),
        (["n=10", "k=1", "s=1+1"], "must be a number"),
        (["n=10", "k=1", "s=[1]"], "s is"),
        (["n=0", "k=1", "s=1"], "n is 0"),
        (["n=10", "k=1", "s=PureDP(-1)"], "epsilon is -1"),
    ],
)
def test_a_bad_text_is_one_sentence(words: list[str], said: str) -> None:
    with pytest.raises(InvalidArgument, match=r"gaussian_tv|must be") as caught:
        evaluated(REGISTRY["gaussian_tv"], words)
    assert said in str(caught.value)


def test_a_probability_is_one() -> None:
    for text in ("nu=2", "nu=-1", "nu=word"):
        with pytest.raises(InvalidArgument, match="probability"):
            evaluated(REGISTRY["pure_composition"], ["k=2", "eta=1", "tau_prime=.1", text])


def test_as_a_command() -> None:
    words = ("theorems", "pure_composition", "k=100", "eta=0.01", "nu=1e-20", "tau_prime=1e-10")
    said = holdfast(*words)
    assert said.returncode == 0, said.stderr
    assert "eta = 2.06599" in said.stdout
    assert "(e to it: 0.005)" in said.stdout
    told = json.loads(holdfast(*words, "--json").stdout)
    assert told["value"]["eta"] == pytest.approx(2.0659926)
    assert holdfast("theorems", "pure_compositio", "k=1").returncode == 2
