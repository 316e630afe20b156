"""Studies of Optuna: its samplers choose among declared candidates, the holdout tells the winner.

A sampler looks at cross-validated scores, and when the study is done `candidates.winner()` tells
the best of all trials on the holdout; or, with `tell="all"`, it looks at exact scores of the
holdout. What it may choose is the declared space and nothing between, so that the interval of the
best is true whichever sampler looked, and however often.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from holdfast import require
from holdfast.errors import InvalidArgument, Refused
from holdfast.sklearn.candidates import HoldoutObjective, Tried

with require.installed("studies of Optuna", "optuna"):
    import optuna

__all__ = ["objective"]

_PLAIN = (bool, int, float, str, type(None))


def objective(candidates: HoldoutObjective) -> Callable[[optuna.Trial], float]:
    """The function that a study maximises: `study.optimize(objective(candidates), n_trials=300)`.

    Numbers in order are suggested by their places, so that a sampler knows which are close. A trial
    has `params`, `status`, `low`, `high` and `receipt` as attributes. A candidate that cannot be
    fitted is pruned; when the ledger refuses, the study stops with what it has, and the trial says
    why as `refused`. The winner, with its estimator and interval, is `candidates.winner()`; where
    all scores are told, `candidates.best`.
    """
    mappings = [
        [_Axis.of(name, mapping[name]) for name in sorted(mapping)]
        for mapping in candidates.places.mappings
    ]

    def scored(trial: optuna.Trial) -> float:
        _require_maximised(trial.study)
        params = _suggested(trial, mappings)
        trial.set_user_attr("params", {name: _plainly(value) for name, value in params.items()})
        try:
            attempt = candidates.attempt(params)
        except Refused as refusal:
            trial.set_user_attr("refused", str(refusal))
            trial.study.stop()
            raise optuna.TrialPruned(str(refusal)) from refusal
        _tell(trial, attempt)
        if attempt.score is None:
            raise optuna.TrialPruned(attempt.error or candidates.without_score)
        return attempt.score

    return scored


@dataclass(frozen=True, slots=True)
class _Axis:
    """The values of a parameter, and whether they are numbers in order, or plain choices."""

    name: str
    values: Sequence[Any]
    ordered: bool
    plain: bool

    @classmethod
    def of(cls, name: str, values: Sequence[Any]) -> _Axis:
        if isinstance(values, range):
            return cls(name, values, ordered=True, plain=True)
        numbers = all(type(each) in (int, float) for each in values)
        rising = numbers and all(a < b for a, b in pairwise(values))
        falling = numbers and all(a > b for a, b in pairwise(values))
        plain = all(isinstance(each, _PLAIN) for each in values)
        return cls(name, values, ordered=rising or falling, plain=plain)

    def suggested(self, trial: optuna.Trial, before: str) -> Any:
        """A value of it; `before` keeps parameters of several mappings apart."""
        name, last = before + self.name, len(self.values) - 1
        if not last:
            return self.values[0]
        if self.ordered:
            return self.values[trial.suggest_int(f"{name} (place)", 0, last)]
        if self.plain:
            return trial.suggest_categorical(name, list(self.values))
        return self.values[trial.suggest_categorical(f"{name} (place)", list(range(last + 1)))]


def _suggested(trial: optuna.Trial, mappings: Sequence[Sequence[_Axis]]) -> dict[str, Any]:
    """A configuration of the space."""
    if len(mappings) == 1:
        which, before = 0, ""
    else:
        which = trial.suggest_categorical("mapping", list(range(len(mappings))))
        before = f"{which}: "
    return {axis.name: axis.suggested(trial, before) for axis in mappings[which]}


def _require_maximised(study: optuna.Study) -> None:
    if [each.name for each in study.directions] != ["MAXIMIZE"]:
        raise InvalidArgument(
            "the study does not maximise one score, and of every score here more is better; make "
            "it with optuna.create_study(direction='maximize')."
        )


def _tell(trial: optuna.Trial, attempt: Tried) -> None:
    """What the ledger said, as attributes of the trial, which must be plain."""
    trial.set_user_attr("status", attempt.status)
    if attempt.answer is not None:
        low, high = attempt.answer.interval
        facts: Mapping[str, Any] = {"low": low, "high": high, "receipt": attempt.answer.receipt}
        for name, value in facts.items():
            trial.set_user_attr(name, value)


def _plainly(value: Any) -> Any:
    return value if isinstance(value, _PLAIN) else repr(value)
