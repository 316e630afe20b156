"""`holdfast.compare`: two runs, item by item, in one look, without ledger or declarations."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from holdfast import require
from holdfast.did_you_mean import checks_arguments
from holdfast.errors import InvalidArgument
from holdfast.evals.comparison import ComparedRun, Comparison, PairedDifference, item_list
from holdfast.evals.formats import EvalLog, Scored
from holdfast.evals.item_scores import ItemId, ItemScores, Wanted, item_scores
from holdfast.evals.score_table import Frame, log_of_rows
from holdfast.evals.submission import read
from holdfast.question.declaring import bounds_pair
from holdfast.statistics.metrics import UNIT
from holdfast.theory.base.intervals import Interval
from holdfast.wording import plural

_MOST_CATEGORIES = 100
_OTHER_SCALE = 5.0  # times as large: the largest of another scale
_POWER = 0.8
_POWER_DEVIATIONS = 0.8416212335729143  # of the normal law: 80 % are below
_SAME = ("task", "filter", "scorer")  # what two runs that are compared have in common


class RunScores(NamedTuple):
    """One of two runs, read: its name for people, its scores, and whether its items have keys."""

    name: str
    scores: ItemScores
    keyed: bool = True


@checks_arguments("compare")
def compare(
    a: Any,
    b: Any,
    *,
    score: str | Sequence[str] | None = None,
    key: str | None = None,
    by: Any = None,
    bounds: tuple[float, float] | None = None,
    confidence_level: float = 0.95,
    filter: str | None = None,
    format: str | None = None,
    partial: bool = False,
) -> Comparison:
    """Is B better than A? Paired item by item, exact, in one look.

    `a` and `b` are logs or files of scores (paths), mappings from items to scores, tables with a
    column of items, Series, or sequences of scores of the same items in the same order. `score`
    names the scorer or column where there are several (a pair, if it has another name in B), `key`
    the column of items, and `by` a column or field with categories (or categories by item, or in
    order). Scores are right or wrong (1 or 0), or graded in [0, 1], else in `bounds`. Items without
    a score count as wrong; items of one run alone are left out; both are said.
    """
    level = require.confidence_level(confidence_level)
    names = score_names(score)
    if a is b and names[0] == names[1]:
        raise _same_run("A and B are the same scores")
    runs = [
        read_run(
            letter,
            given,
            score=name,
            key=key,
            by=by if isinstance(by, str) else None,
            bounds=bounds,
            filter=filter,
            format=format,
            partial=partial,
        )
        for letter, given, name in zip("AB", (a, b), names, strict=True)
    ]
    return compare_runs(
        *runs, by=by, bounds=bounds, confidence_level=level, named_scores=names[0] != names[1]
    )


def compare_runs(
    a: RunScores,
    b: RunScores,
    *,
    by: Any = None,
    bounds: tuple[float, float] | None = None,
    confidence_level: float = 0.95,
    named_scores: bool = False,
) -> Comparison:
    """The comparison of two runs that are read; `named_scores` if each has a scorer of its own."""
    _require_two_runs(a, b)
    _require_same_scoring(a, b, named_scores=named_scores)
    before, after = _scores_by_key(a, b)
    paired = [item for item in before if item in after]
    if not paired:
        raise InvalidArgument(
            f"no item of A is in B: A ({a.name}) has {item_list(list(before))}, and B ({b.name}) "
            f"has {item_list(list(after))}; name the column of items that both have: key= (--key)."
        )
    pairs = [(before[item], after[item]) for item in paired]
    graded = _are_graded(a, b, pairs, bounds)
    range_ = UNIT if bounds is None else bounds_pair(bounds)
    statistics = _Statistics((float(range_[0]), float(range_[1])), graded, confidence_level)
    overall = statistics.difference(pairs)
    categories = _categories(a, b, by, paired)
    parts = _by_category(statistics, categories, pairs)
    return Comparison(
        a=_run(a, [item for item in before if item not in after]),
        b=_run(b, [item for item in after if item not in before]),
        overall=overall,
        confidence_level=confidence_level,
        graded=graded,
        bounds=statistics.bounds,
        detectable=statistics.detectable(pairs, overall),
        by=None if by is None else by if isinstance(by, str) else "category",
        categories=parts,
        uncategorised=sum(each is None for each in categories) if by is not None else 0,
        warning=_two_scales(pairs) if graded else None,
    )


# Reading: whatever holds scores becomes `ItemScores`.


def read_run(
    letter: str,
    given: Any,
    *,
    score: str | None = None,
    key: str | None = None,
    by: str | None = None,
    bounds: tuple[float, float] | None = None,
    filter: str | None = None,
    format: str | None = None,
    partial: bool = False,
) -> RunScores:
    """One of two runs; `letter` says which, where it has no name of its own."""
    range_ = UNIT if bounds is None else bounds
    if isinstance(given, ItemScores):
        return RunScores(given.run or letter, given)
    if isinstance(given, str | os.PathLike):
        # Of a run that was cut off, what it did not reach is no wrong answer.
        missing = "refuse" if partial else "wrong"
        scores = read(
            given,
            format,
            score,
            filter,
            key=key,
            by=by,
            epochs="all",
            bounds=range_,
            partial=partial,
            missing=missing,
        )
        return RunScores(str(given), scores)
    low, high = bounds_pair(range_)
    wanted = Wanted(score, filter, None, (low, high), partial, True, every_try=True)
    log, keyed = _log_of(letter, given, Frame(letter, key, by))
    if not log.lines:
        raise InvalidArgument(f"{letter} has no scores; give some for every item.")
    return RunScores(letter, item_scores(log, wanted, "jsonl", letter), keyed)


def _log_of(letter: str, source: Any, frame: Frame) -> tuple[EvalLog, bool]:
    """Scores in memory, and whether their items have keys or are known by their order."""
    if isinstance(source, Mapping):
        return _listed(source.keys(), source.values()), True
    if hasattr(source, "columns"):
        return log_of_rows(frame, _rows(source)), True
    index = getattr(source, "index", None)
    if hasattr(index, "tolist"):  # a Series of pandas, whose missing values are of many kinds
        values = source.astype(object).where(source.notna(), None).tolist()
        if not source.index.is_unique:
            twice = list(dict.fromkeys(source.index[source.index.duplicated()].tolist()))
            raise InvalidArgument(
                f"{letter} has {item_list(twice)} more than once; give every item one score."
            )
        ordered = source.index.equals(type(source)(values).index)
        return _listed(source.index.tolist(), values), not ordered
    values = source.tolist() if hasattr(source, "tolist") else source
    values = values.to_list() if hasattr(values, "to_list") else values
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise InvalidArgument(
            f"{letter} is {type(source).__name__}; give the path of a log or file of scores, a "
            "mapping from items to scores, a table, a column of one, or a sequence of scores."
        )
    values = list(values)
    return _listed(range(len(values)), values), False


def _listed(items: Iterable[Any], values: Iterable[Any]) -> EvalLog:
    return EvalLog(
        [
            Scored(_plain(item), {"score": _plain(value)})
            for item, value in zip(items, values, strict=True)
        ]
    )


def _plain(value: Any) -> Any:
    """A scalar of numpy as Python's own."""
    return value.item() if hasattr(value, "item") and not hasattr(value, "__len__") else value


def _rows(frame: Any) -> list[dict[str, Any]]:
    """The rows of a table of Polars, pandas or Arrow."""
    for method in ("to_dicts", "to_pylist"):
        if hasattr(frame, method):
            return list(getattr(frame, method)())
    if hasattr(frame, "notna"):
        rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
        return [{str(name): _plain(value) for name, value in row.items()} for row in rows]
    raise InvalidArgument(
        f"a table is {type(frame).__name__}; give one of Polars, pandas or Arrow, or a file."
    )


def score_names(score: str | Sequence[str] | None) -> tuple[str | None, str | None]:
    """The scorers of A and of B."""
    if score is None or isinstance(score, str):
        return score, score
    names = require.texts("score", score)
    if not 1 <= len(names) <= 2:
        raise InvalidArgument(
            f"score names {plural(len(names), 'scorer')}; give one for both runs, or one for each."
        )
    return names[0], names[-1]


# Pairing.


def _require_two_runs(a: RunScores, b: RunScores) -> None:
    same_scorer = (a.scores.scorer, a.scores.filter) == (b.scores.scorer, b.scores.filter)
    if not same_scorer:
        return
    files = [Path(run.name) for run in (a, b)]
    if all(file.exists() for file in files) and files[0].samefile(files[1]):
        raise _same_run(f"A and B are one file, {a.name!r}")
    if a.scores.run is not None and a.scores.run == b.scores.run:
        raise _same_run(f"A ({a.name}) and B ({b.name}) are one run, {a.scores.run!r}")


def _same_run(fact: str) -> InvalidArgument:
    return InvalidArgument(
        f"{fact}; give two runs, or two columns of one: score=(OLD, NEW) (--score OLD --score NEW)."
    )


def _require_same_scoring(a: RunScores, b: RunScores, *, named_scores: bool) -> None:
    """Refuse runs of different tasks or scorers, as far as both say."""
    for name in _SAME:
        mine, theirs = getattr(a.scores, name), getattr(b.scores, name)
        chosen = named_scores and name in ("filter", "scorer")
        if mine is None or theirs is None or mine == theirs or chosen:
            continue
        advice = {
            "task": "compare two runs of one task.",
            "filter": "choose one filter for both: filter= (--filter).",
            "scorer": f"choose one scorer for both, score= (--score), or name both: "
            f"score=({mine!r}, {theirs!r}) (--score {mine} --score {theirs}).",
        }[name]
        raise InvalidArgument(
            f"A ({a.name}) has the {name} {mine!r}, and B ({b.name}) has {theirs!r}; {advice}"
        )
    ours, others = a.scores.digests, b.scores.digests
    other = [item for item, digest in ours.items() if others.get(item, digest) != digest]
    if other:
        raise InvalidArgument(
            f"the content of {item_list(other)} is another one in A than in B, by their hashes; "
            "run both on the same version of the data set."
        )


def _scores_by_key(a: RunScores, b: RunScores) -> tuple[dict[ItemId, float], dict[ItemId, float]]:
    """The scores of both by item; ids that are numbers in one and text in the other are text."""
    before, after = a.scores.by_item(), b.scores.by_item()
    if a.keyed != b.keyed or (not a.keyed and len(before) != len(after)):
        how = [
            f"{plural(len(run.scores), 'score')} {'by item' if run.keyed else 'in order'}"
            for run in (a, b)
        ]
        raise InvalidArgument(
            f"A has {how[0]}, and B has {how[1]}; give both by item (a mapping, a file or a table "
            "with a column of items), or as many of both in the same order."
        )
    if {type(item) for item in before} != {type(item) for item in after}:
        return (
            {str(item): score for item, score in before.items()},
            {str(item): score for item, score in after.items()},
        )
    return before, after


def _are_graded(
    a: RunScores,
    b: RunScores,
    pairs: Sequence[tuple[float, float]],
    bounds: tuple[float, float] | None,
) -> bool:
    """Whether scores are more than right or wrong; refused where those of one run alone are."""
    if bounds is not None:
        return True
    both = [not set(scores) <= {0.0, 1.0} for scores in zip(*pairs, strict=True)]
    averaged = max(a.scores.epochs, b.scores.epochs) > 1
    if both[0] != both[1] and not averaged:
        plain, fine = ("B", "A") if both[0] else ("A", "B")
        raise InvalidArgument(
            f"the scores of {plain} are right or wrong, 1 or 0, and those of {fine} are graded; "
            "score both in the same way, or say that both are graded: bounds=(0, 1) (--bounds 0 1)."
        )
    return any(both)


def _two_scales(pairs: Sequence[tuple[float, float]]) -> str | None:
    """Warning of runs that are scored on two scales, such as 0 to 1 and 0 to 100."""
    before, after = (max(map(abs, scores)) for scores in zip(*pairs, strict=True))
    fewer, more = sorted((before, after))
    if fewer == 0.0 or more < _OTHER_SCALE * fewer:
        return None
    return (
        f"Are these two scales? No score of A is beyond {before:.4g}, and of B none beyond "
        f"{after:.4g}: score both on the same one, or the difference means nothing."
    )


def _run(run: RunScores, unpaired: Sequence[ItemId]) -> ComparedRun:
    scores = run.scores
    missing = () if scores.partial else scores.missing
    scorer = scores.scorer if run.keyed else None
    return ComparedRun(run.name, scorer, scores.epochs, missing, tuple(unpaired))


# Categories.


def _categories(a: RunScores, b: RunScores, by: Any, paired: Sequence[ItemId]) -> list[str | None]:
    """The category of every item that is compared; None where it has none."""
    if by is None:
        return []
    if isinstance(by, str):
        by_run = [{str(k): v for k, v in run.scores.categories.items()} for run in (a, b)]
        pairs = [(by_run[0].get(str(item)), by_run[1].get(str(item))) for item in paired]
        other = [
            item
            for item, (one, two) in zip(paired, pairs, strict=True)
            if one is not None and two is not None and one != two
        ]
        if other:
            raise InvalidArgument(
                f"the {by!r} of {item_list(other)} is another one in A than in B; give both the "
                "same."
            )
        labels = [two if one is None else one for one, two in pairs]
        if not any(each is not None for each in labels):
            raise InvalidArgument(
                f"no item has a field {by!r} in A ({a.name}) or B ({b.name}); name a column of the "
                "files, a key of the samples' metadata or of the docs."
            )
    elif isinstance(by, Mapping):
        labels = [by.get(item) for item in paired]
    else:
        labels = [_plain(each) for each in by]
        if len(labels) != len(paired) or a.keyed:
            raise InvalidArgument(
                f"by has {plural(len(labels), 'category', 'categories')} in order, for "
                f"{plural(len(paired), 'item')}; give the name of a column, categories by item, or "
                "one for each score of two sequences."
            )
    return [None if each is None else str(each) for each in labels]


def _by_category(
    statistics: _Statistics,
    categories: Sequence[str | None],
    pairs: Sequence[tuple[float, float]],
) -> tuple[PairedDifference, ...]:
    names = sorted({each for each in categories if each is not None})
    if len(names) > _MOST_CATEGORIES:
        raise InvalidArgument(
            f"by has {len(names):,} categories, and at most {_MOST_CATEGORIES} are compared; "
            "choose a column with fewer."
        )
    return tuple(
        statistics.difference(
            [pair for pair, each in zip(pairs, categories, strict=True) if each == name],
            name,
            len(names),
        )
        for name in names
    )


# Statistics.


class _Statistics(NamedTuple):
    """What is computed of pairs of scores, in one way for all of them and for every category."""

    bounds: tuple[float, float]
    graded: bool
    confidence_level: float

    @property
    def width(self) -> float:
        return self.bounds[1] - self.bounds[0]

    def difference(
        self, pairs: Sequence[tuple[float, float]], category: str | None = None, together: int = 1
    ) -> PairedDifference:
        """B less A; with others `together` at the level divided by their number."""
        n = len(pairs)
        wins = sum(after > before for before, after in pairs)
        losses = sum(after < before for before, after in pairs)
        log_p = math.log((1.0 - self.confidence_level) / together)
        interval, p = (
            self._by_bets(pairs, log_p) if self.graded else self._exact(n, wins, losses, log_p)
        )
        mean_a, mean_b = (math.fsum(run) / n for run in zip(*pairs, strict=True))
        return PairedDifference(
            items=n,
            mean_a=mean_a,
            mean_b=mean_b,
            difference=math.fsum(after - before for before, after in pairs) / n,
            interval=interval,
            p=min(1.0, p * together),
            wins=wins,
            losses=losses,
            ties=n - wins - losses,
            verdict=self._verdict(interval, wins - losses, p, log_p),
            largest=self.width,
            category=category,
        )

    def _exact(self, n: int, wins: int, losses: int, log_p: float) -> tuple[Interval, float]:
        from holdfast.theory.direct.paired import paired_score_interval, sign_test_log_p

        tail = sign_test_log_p(max(wins, losses), min(wins, losses))
        return paired_score_interval(n, wins, losses, log_p), min(1.0, 2.0 * math.exp(tail))

    def _verdict(self, interval: Interval, lead: int, p: float, log_p: float) -> str:
        """What the interval shows of B; one that ends at 0 is beyond it if the sign test is."""
        from holdfast.theory.direct.paired import TEST_SHARE

        edge = not self.graded and p <= TEST_SHARE * math.exp(log_p)
        if interval.low > 0.0 or (edge and lead > 0 and interval.low == 0.0):
            return "better"
        if interval.high < 0.0 or (edge and lead < 0 and interval.high == 0.0):
            return "worse"
        return "cannot tell"

    def _by_bets(
        self, pairs: Sequence[tuple[float, float]], log_p: float
    ) -> tuple[Interval, float]:
        import numpy as np

        from holdfast.theory.base.safeside import level_share, round_down, round_up
        from holdfast.theory.direct.bounded_mean import above_half_log_p, bounded_mean_interval

        gains = np.array([(after - before) / self.width for before, after in pairs])
        values, times = np.unique(0.5 + 0.5 * gains, return_counts=True)
        values = np.clip(values, 0.0, 1.0)
        half = bounded_mean_interval(values, log_p, times)
        low, high = (self.width * (2.0 * end - 1.0) for end in half)
        interval = Interval(max(-self.width, round_down(low)), min(self.width, round_up(high)))
        run = level_share(log_p)
        tails = (above_half_log_p(each, run, times) for each in (values, 1.0 - values))
        return interval, min(1.0, 2.0 * math.exp(min(tails)))

    def detectable(self, pairs: Sequence[tuple[float, float]], overall: PairedDifference) -> float:
        """About which gain would be shown four times in five, with as much difference as here."""
        n = len(pairs)
        if not self.graded:
            from holdfast.theory.direct.paired import detectable_gain

            run = math.log((1.0 - self.confidence_level) / 2.0)
            differing = (overall.wins + overall.losses) / n
            return self.width * detectable_gain(n, differing, run, _POWER)
        low, high = overall.interval
        square = math.fsum((after - before - overall.difference) ** 2 for before, after in pairs)
        spread = math.sqrt(square / n)
        return min(self.width, (high - low) / 2.0 + _POWER_DEVIATIONS * spread / math.sqrt(n))
