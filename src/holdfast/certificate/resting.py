"""Which theorems a ledger's answers rest on: found from the entries, named as the registry does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from holdfast.described.gridded import Gridded
from holdfast.described.means import Contrast, GroupMeanRule, MeanRule, PairedRule
from holdfast.described.rounded import RoundedGroupMean, RoundedMean
from holdfast.described.rule import Rule
from holdfast.described.shares import GroupShare, Overlap, Share
from holdfast.ledger.entries import Recorded
from holdfast.ledger.informed import is_keyless
from holdfast.ledger.transcript import Transcript
from holdfast.mechanisms.catalogue import kind_of
from holdfast.mechanisms.profile import profile_of
from holdfast.mechanisms.showing import by_sign_test
from holdfast.statistics.derived import Conditional, Difference, Total
from holdfast.statistics.entry import Bound
from holdfast.statistics.moments import Correlation, Covariance, Variance
from holdfast.statistics.quantile import Quantile
from holdfast.statistics.recorded import asked_again, recorded_statistic
from holdfast.statistics.scores import F1Score
from holdfast.theory.base.theorem import SOURCES, registry

__all__ = ["Support", "supports_of"]

_GRIDDED: Mapping[str, tuple[str, ...]] = {
    "quantile": ("quantile_ranks",),
    "spread": ("variance_by_bets",),
    "covariance": ("covariance_by_bets",),
    "correlation": ("correlation_by_bets",),
    "auc": ("auc_block_interval",),
    "units": ("unit_mean_interval",),
    "m-dependent rows": ("m_dependent_mean_interval",),
    "units in both groups": ("unit_mean_interval", "difference_interval"),
    "unlike groups": ("difference_interval",),
}
_JOINED: Mapping[type[Bound], tuple[str, ...]] = {
    Conditional: ("conditional_mean_interval",),
    Total: ("total_interval",),
    Difference: ("difference_interval",),
    Variance: ("variance_interval", "std_interval"),
    Covariance: ("covariance_interval",),
    Correlation: ("correlation_interval",),
    Quantile: ("quantile_interval",),
    F1Score: ("ratio_interval",),
}
# For people who have only the certificate; the place names the publication.
_SOURCES = {
    "Holdfast": "Holdfast's own theorem, proved in its documentation",
    "Literature": "published",
}
_CLAIMED = ("confirmed", "not confirmed", "shown", "not shown")


@dataclass(frozen=True, slots=True)
class Support:
    """A theorem, in the registry's words, and how many looks and lines rest on it."""

    name: str
    place: str
    statement: str
    source: str
    answers: int

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


def supports_of(transcript: Transcript) -> list[Support]:
    """The theorems behind everything that was answered, those that most rest on first."""
    counted = Counter(_named(transcript))
    known = registry()
    return [
        Support(
            name,
            known[name].place,
            known[name].statement,
            _SOURCES.get(known[name].source, SOURCES[known[name].source]),
            count,
        )
        for name, count in sorted(counted.items(), key=lambda each: (-each[1], each[0]))
        if name in known
    ]


def _named(transcript: Transcript) -> Iterator[str]:
    """The names behind each look, and behind each line that follows from looks; with repeats."""
    for look in transcript.answers:
        if look.status != "no promise":
            yield from dict.fromkeys(_of_look(look, transcript))
    for line in transcript.lines:
        if line.look is None:
            yield from _of_whole(line, transcript)


def _of_look(look: Recorded, transcript: Transcript) -> Iterator[str]:
    if look.rule is not None:
        yield "described_log_level"
        yield from _of_rule(look.rule)
        return
    if look.status in _CLAIMED:
        yield "claim_log_level"
    else:
        promised = kind_of(transcript.opening.mechanism["name"]).theorem
        yield from () if promised is None else (promised,)
    statistic = recorded_statistic(look.question, transcript.table)
    alike = transcript.terms.alike_for(keyless=is_keyless(transcript, statistic))
    if by_sign_test(statistic, look.claim, alike=alike):
        yield "sign_test_log_p"
        return
    yield type(profile_of(statistic, transcript.terms, alike=alike)).__name__
    if look.variance is not None:
        yield "Bernstein"


def _of_rule(rule: Rule) -> Iterator[str]:
    """The theorem by which a described answer has its interval."""
    match rule:
        case Share(alike=False):
            yield "independent_clopper_pearson_upper"
        case Share() | GroupShare():
            yield "clopper_pearson"
        case Overlap():
            yield "f1_interval"
        case MeanRule() | GroupMeanRule():
            yield "bounded_mean_interval"
        case Contrast(disjoint=True):
            yield "group_difference_lower"
        case Contrast():
            yield from ("bounded_mean_interval", "difference_interval")
        case PairedRule(alike=True):
            yield from ("paired_difference_lower", "exact_paired_lower")
        case PairedRule():
            yield "paired_difference_lower"
        case RoundedMean() | RoundedGroupMean():
            yield from ("BoundedMean", "rounded_half_width")
        case Gridded(by=by):
            yield from _GRIDDED.get(by, ())
    if getattr(rule, "log_free", None):
        yield "cdf_band_lower"


def _of_whole(line: Recorded, transcript: Transcript) -> tuple[str, ...]:
    """The theorem by which a line follows from its looks."""
    return _JOINED.get(type(asked_again(line.question, transcript.table)), ())
