"""`holdfast.EvalGate`: candidates of a loop, compared item by item on one set that stays true.

Scores are made with the answers, so that they are computed columns of the holdout: known by a name
or a digest, never by their content. Who is shown to be better is better; who is not may be, too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, Unpack

from holdfast import require
from holdfast.data.attached import ScoreBounds, declared_bounds
from holdfast.did_you_mean import checks_arguments, without_attribute
from holdfast.errors import InvalidArgument
from holdfast.evals.compare import read_run
from holdfast.evals.item_scores import ItemId, ItemScores
from holdfast.evals.submission import (
    ERRORS,
    ErrorScale,
    HowToRead,
    Submission,
    scoring_in,
    submission_of,
)
from holdfast.evals.verdict import Verdict
from holdfast.holdout.forecast import DevFiles
from holdfast.mechanisms.claims import GATES
from holdfast.question.bounds import Range
from holdfast.question.expression import ValueKind, identifier, numeral, text_of
from holdfast.question.parse import parse_row
from holdfast.statistics.metrics import UNIT, cap_of_errors
from holdfast.theory.leakage.forecasts import DevResult, dev_rows_wanted

if TYPE_CHECKING:
    from holdfast.holdout.answer import Answer
    from holdfast.holdout.holdout import Holdout
    from holdfast.ledger.attachments import AttachedColumn
    from holdfast.ledger.entries import Recorded

_LISTED = 8
_LONGEST_IDENTITY = 150
_COMPARED = ("format", "task", "filter", "scorer", "items")  # of how scores were made
_Scales = ScoreBounds | str | Mapping[str, ScoreBounds | str]
_Scale = Range | ErrorScale | None


class EvalGate:
    """Items that candidates are scored on, and a ledger that counts every look at them.

    A score is right or wrong, 1 or 0, unless `score` is the range of graded ones, "mse" or "mae"
    where scores are errors (predictions minus labels, each capped; less is better), or what those
    of each scorer are, by its name. `candidates` may be compared at most; their number is declared,
    and sets what a comparison can show. Columns of the items that those who make candidates know,
    such as a text, are `public`; where nothing of them is in the table, the key is. `task` is what
    the items are called together: it tells bare ids from those of another task.
    """

    @checks_arguments("EvalGate")
    def __init__(
        self,
        items: Any,
        *,
        key: str,
        score: _Scales = bool,
        ledger: str | Path,
        candidates: int = 100,
        confidence_level: float = 0.95,
        public: Sequence[str] | None = None,
        task: str | None = None,
    ) -> None:
        from holdfast.holdout.open import open as open_holdout

        self._scales = _scales_of(score)
        self._unmatched: dict[str, int] = {}  # by column, of what was submitted here
        self.holdout = open_holdout(
            items,
            ledger=ledger,
            key=key,
            candidates=candidates,
            confidence_level=confidence_level,
            public=public,
            task=task,
            described="off",  # all of the failure probability is for comparisons
        )

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> None:
            raise without_attribute("an EvalGate", self, name)

    @classmethod
    def over(cls, holdout: Holdout, score: _Scales = bool) -> Self:
        """The gate of a holdout that is open already."""
        gate = cls.__new__(cls)
        gate._scales, gate._unmatched, gate.holdout = _scales_of(score), {}, holdout
        return gate

    @property
    def key(self) -> str:
        """The column that names the items."""
        key = self.holdout.opening.terms.key
        if key is None:
            raise InvalidArgument(
                f"{self.holdout.name!r} was opened without a key, so that no scores can be "
                "submitted for its items; open a ledger with key= (--key)."
            )
        return key

    @property
    def incumbent(self) -> str | None:
        """Whom candidates are compared with; None before anybody was promoted."""
        return self._promoted(1)

    def _promoted(self, last: int) -> str | None:
        """Whom the last promotion, or one before it, made the incumbent."""
        names = [each.name for each in self.holdout.promotions]
        if len(names) < last:
            return None
        return names[-last].removesuffix(_suffix(next(iter(self._scales))))

    def opponent_of(self, candidate: str) -> str:
        """Whom a candidate must be shown against to be promoted.

        That is the incumbent; of the incumbent itself, the one that it was shown against: a job
        that is tried again is told the verdict by which it was promoted.
        """
        return self.opponent(self._promoted(2) if candidate == self.incumbent else None)

    @checks_arguments("submit")
    def submit(
        self,
        name: str,
        scores: Any = None,
        digest: str | None = None,
        *,
        dev: Any = None,
        asked_by: str | None = None,
        **how: Unpack[HowToRead],
    ) -> None:
        """The scores of a candidate: a mapping, a Series, a table, or the file of a log.

        With several scorers it is a mapping from their names to such scores, or a log with all of
        them. A candidate is known by `digest`, else by what its log calls the run, else by `name`,
        and by the task, format, filter and scorer of its log; it is written once. What is submitted
        again under a digest or run is not looked at, and what has the same name and the same scores
        is the same. Items without a score are refused, or count as wrong: `missing="wrong"`.

        `dev` are its scores by item on other items, in any of these forms: where the incumbent has
        such scores too, they forecast the comparison, and a good forecast shows more. None of those
        items may be protected. They may come in parts, and before `scores` (see `next_items`). Of
        errors the first submission needs them: the 0.99-quantile of their sizes is the cap of all.
        """
        require.text("name", name)
        if dev is not None:
            self._keep_dev(name, dev, how)
        if scores is None:
            if dev is None:
                raise InvalidArgument(f"{name!r} comes without scores; give scores, or dev=.")
            return
        submissions: dict[str | None, Submission] = {}
        for scorer in self._scales:
            reading = how if scorer is None else how | HowToRead(score=scorer)
            scored = self._of_scorer(scores, scorer)
            scale = self._with_cap(name, scorer) or UNIT
            submissions[scorer] = submission_of(
                scored, self.holdout.rows, self.key, scale, **reading
            )
        for submitted in submissions.values():
            self._require_task(name, submitted.scoring.get("task"))
        for scorer, submitted in submissions.items():
            self._attach(name, scorer, submitted, digest, asked_by)

    @checks_arguments("compare")
    def compare(
        self,
        candidate: str,
        incumbent: str | None = None,
        min_gain: float = 0.0,
        *,
        no_worse_than: float | None = None,
        score: str | None = None,
        where: str | None = None,
        differing: float | None = None,
        expect: float | None = None,
        skip_below: float | None = None,
        grades: bool = False,
        why: str | None = None,
        asked_by: str | None = None,
        request_key: str | None = None,
    ) -> Verdict:
        """Is the candidate better than the incumbent, by more than `min_gain`? One counted look.

        With `no_worse_than` it is to be shown that it is not worse by so much. Once that is shown,
        "better" needs more than before, as after every promotion (`levels`); asked first, it costs
        almost nothing if it is not shown. What different tasks, formats, filters or scorers made
        is not compared. `score` names the scorer (default: the first), `where` takes only items
        like these, a category, say, and `differing` guesses in which share of the items both
        differ: a good guess may show more.

        It is forecast by the development scores of both, of all items, and by `expect`, how likely
        you think it is to be shown. With `skip_below` (0.02, say) one whose forecast is lower is
        not tried: it costs nothing, and is none of the candidates.

        With `grades` *shown* comes with an adjusted p (`Verdict.adjusted`), the largest so far, for
        up to 1.9 nats more.
        """
        margin, scorer = _margin(min_gain, no_worse_than), self._scorer(score)
        against = self.opponent(incumbent, scorer)
        column, opponent_column = self._column(candidate, scorer), self._column(against, scorer)
        if column.column == opponent_column.column:
            raise InvalidArgument(
                f"{candidate!r} is the run already stored as {against!r}; compare another run."
            )
        _require_same_scoring(candidate, column.scoring, against, opponent_column.scoring)
        scale = self._scale(scorer)
        for name, submitted in ((candidate, column), (against, opponent_column)):
            if isinstance(scale, ErrorScale) and ERRORS not in (submitted.scoring or {}):
                raise InvalidArgument(
                    f"errors are compared here, and {name!r} was submitted with scores of which "
                    "more is better; submit its errors under another name."
                )
        question, least = _claim(
            column.name, opponent_column.name, scale, margin, self._condition(where)
        )
        development = self._development(scorer)
        dev = None if where is not None else development.result(column.name, opponent_column.name)
        forecast: dict[str, Any] = {} if expect is None else {"expect": expect}
        if dev is not None:
            forecast["dev"] = (dev.better, dev.worse, dev.rows)
        if forecast and skip_below is not None:
            forecast["skip_below"] = skip_below
        answer = self.holdout.gate(
            question,
            at_least=least,
            differing=differing,
            **forecast,
            grades=grades,
            why=why or f"{candidate} against {against}",
            asked_by=asked_by,
            request_key=request_key,
        )
        return Verdict(
            candidate=candidate,
            incumbent=against,
            scorer=scorer,
            where=where,
            min_gain=margin,
            # an earlier answer to the same question may show it, too
            shown=answer.recorded.status == "shown" or answer.interval.low > least,
            looks=answer.left.account.gates,
            left=answer.left.candidates_left,
            receipt=answer.receipt,
            unmatched=self._unmatched.get(column.name, 0),
            question=answer.question,
            together=answer.left.together,
            repeated=answer.repeated,
            follows=answer.is_free and not answer.repeated,
            holds_for="items like these" if self._is_of_population(answer) else "these items",
            tried=answer.recorded.status != "not tried",
            forecast=answer.forecast,
            level=answer.level,
            adjusted=answer.adjusted,
            next_gain=None if dev is None else self._next_gain(scorer, dev.differing),
            metric=scale.words if isinstance(scale, ErrorScale) else None,
        )

    def next_items(self, name: str, *, score: str | None = None) -> list[ItemId]:
        """The development items that a candidate is to be run on next; none: run no more of them.

        They are items that the incumbent has development scores of: first a quarter, then half,
        then all, as long as the candidate does well enough. Looks at development items are free.
        One that does not is stopped: the ledger lists it as not tried, so that later forecasts know
        of it, and its protected items need not be run.
        """
        scorer = self._scorer(score)
        column, opponent = name + _suffix(scorer), self.opponent(None, scorer) + _suffix(scorer)
        development = self._development(scorer)
        items = development.wanted(column, opponent)
        result = development.result(column, opponent)
        if not items and result is not None and result.rows < len(development.of(opponent)):
            text = f"difference({identifier(column)}, {identifier(opponent)})"
            self.holdout.development.stop(text, result)
        return items

    def _development(self, scorer: str | None) -> _Development:
        return _Development(self.holdout.development, self._scale(scorer))

    def _keep_dev(self, name: str, dev: Any, how: HowToRead) -> None:
        for scorer in self._scales:
            reading = how if scorer is None else how | HowToRead(score=scorer)
            scores = self._of_scorer(dev, scorer)
            self._development(scorer).keep(name + _suffix(scorer), scores, self.key, **reading)

    @property
    def score_range(self) -> tuple[float, float]:
        """Where the scores of a file may be."""
        return _readable(self._scale(next(iter(self._scales))))

    @property
    def metric(self) -> str | None:
        """What is compared where scores are errors, with their cap; None where more is better."""
        scale = self._scale(next(iter(self._scales)))
        known = isinstance(scale, ErrorScale) and scale.cap is not None
        return scale.words if isinstance(scale, ErrorScale) and known else None

    def _scale(self, scorer: str | None) -> _Scale:
        """What scores are: errors where some were submitted, else as it was declared."""
        suffix = _suffix(scorer)
        recorded = (
            ErrorScale.recorded(each.scoring)
            for each in self.holdout.columns
            if each.name.endswith(suffix)
        )
        return next((each for each in recorded if each is not None), self._scales[scorer])

    def _with_cap(self, name: str, scorer: str | None) -> _Scale:
        """What scores are; of the first errors the cap is that of their development items."""
        scale = self._scale(scorer)
        if not isinstance(scale, ErrorScale) or scale.cap is not None:
            return scale
        errors = self._development(scorer).of(name + _suffix(scorer))
        if not errors:
            raise InvalidArgument(
                f"{name!r} is the first whose errors are submitted, and errors have no range: "
                "they are capped at the 0.99-quantile of its errors on other items. Give those by "
                "item: dev= (--dev FILE)."
            )
        return replace(scale, cap=cap_of_errors(errors.values()))

    def _next_gain(self, scorer: str | None, differing: float) -> float | None:
        """The gain that the next comparison shows 4 times in 5 without a forecast, if scores are
        right or wrong and as many of them differ."""
        if self._scale(scorer) is not None:
            return None
        gate = self.holdout.budget.next_gate(min(1.0, differing))
        return None if gate is None else gate.gain

    def _is_of_population(self, answer: Answer) -> bool:
        """Whether an answer is about the population that the items are drawn from."""
        terms, looks = self.holdout.opening.terms, answer.parts or (answer.recorded,)
        if not terms.independent:
            return not (terms.public or terms.design.columns)
        return all(look.alike for look in looks)

    @property
    def levels(self) -> tuple[float, float]:
        """At which level the next comparison is decided, and the one after it, if it is shown."""
        budget = self.holdout.budget
        levels = GATES.levels(budget.terms, budget.account)
        return next(levels), next(levels)

    def require_comparable(self, candidate: str, scores: ItemScores, against: str) -> None:
        """Refuse scores that were made otherwise than a submission, before they are submitted."""
        scoring = scoring_in(scores, self.holdout.rows)
        scoring.pop("items", None)  # what is stored of them is keyed
        _require_same_scoring(candidate, scoring, against, self._column(against, None).scoring)

    def opponent(self, name: str | None = None, score: str | None = None) -> str:
        """Whom a candidate would be compared with: this submission, or the incumbent."""
        opponent = self.incumbent if name is None else name
        if opponent is not None and not isinstance(opponent, str):
            raise InvalidArgument(
                f"incumbent is {opponent!r}; it must be the name of a submission, and what is to "
                "be gained is min_gain=."
            )
        if opponent is None:
            raise InvalidArgument(
                "there is no incumbent to compare with; name a submission to compare with, or make "
                "one the incumbent: gate.promote(name) (--first)."
            )
        self._column(opponent, self._scorer(score))
        return opponent

    def promote_if_better(
        self,
        candidate: str,
        min_gain: float = 0.0,
        *,
        score: str | None = None,
        differing: float | None = None,
        expect: float | None = None,
        skip_below: float | None = None,
        grades: bool = False,
    ) -> Verdict:
        """Compare a candidate with the incumbent, and put it in its place if it is shown."""
        verdict = self.compare(
            candidate,
            self.opponent_of(candidate),
            min_gain,
            score=score,
            differing=differing,
            expect=expect,
            skip_below=skip_below,
            grades=grades,
        )
        if verdict.promote:
            self.promote_shown(verdict)
        return verdict

    def promote_shown(self, verdict: Verdict, *, asked_by: str | None = None) -> None:
        """Put a candidate in the place of the one that it was shown against.

        Refused if another one took that place meanwhile.
        """
        scorer = next(iter(self._scales))
        self.holdout.promote(
            self._column(verdict.candidate, scorer).name,
            why=f"{verdict.claim}, receipt {verdict.receipt[:12]}",
            asked_by=asked_by,
            instead_of=self._column(verdict.incumbent, scorer).name,
        )

    def promote(self, name: str, why: str | None = None, *, asked_by: str | None = None) -> None:
        """Make a submission the incumbent, whatever was shown: to begin with, or by decision."""
        column = self._column(name, next(iter(self._scales)))
        self.holdout.promote(column.name, why=why, asked_by=asked_by)

    def history(self) -> list[Recorded]:
        """The lines of the ledger that are comparisons, in order."""
        return [line for line in self.holdout.ledger if line.request.verb == "gate"]

    def __repr__(self) -> str:
        looks, by = len(self.history()), self.incumbent or "nobody"
        return f"EvalGate over {self.holdout!r} · {looks:,} compared · incumbent: {by}"

    def _condition(self, where: str | None) -> str | None:
        """The condition in its normal form: it can be nothing else than one."""
        if where is None:
            return None
        condition = parse_row(where, self.holdout.schema, bounded=False)
        if condition.kind is not ValueKind.BOOLEAN:
            raise InvalidArgument(
                f"where is {where!r}, a {condition.kind} and no condition; write which items are "
                "meant: category = 'math'."
            )
        return text_of(condition)

    def _scorer(self, score: str | None) -> str | None:
        if score is None:
            return next(iter(self._scales))
        if score not in self._scales:
            raise InvalidArgument(
                f"score is {score!r}, and the gate has {_named(self._scales)}; choose one of them."
            )
        return score

    def _of_scorer(self, scores: Any, scorer: str | None) -> Any:
        """Scores of one scorer; a log has all of them."""
        if scorer is None or not isinstance(scores, Mapping):
            return scores
        if scorer not in scores:
            raise InvalidArgument(
                f"there are no scores of {scorer!r}, and the gate has {_named(self._scales)}; give "
                "a mapping from each of them to its scores."
            )
        return scores[scorer]

    def _require_task(self, name: str, task: str | None) -> None:
        """Refuse the log of another task: with bare ids its items would be taken for ours."""
        own = self.holdout.opening.task
        if own is not None and task is not None and task != own:
            raise InvalidArgument(
                f"{name!r} has the task {task!r}, and the items of {self.holdout.name!r} are those "
                f"of {own!r}; give the log of that task."
            )

    def _attach(
        self,
        name: str,
        scorer: str | None,
        submitted: Submission,
        digest: str | None,
        asked_by: str | None,
    ) -> None:
        column, run = name + _suffix(scorer), digest or submitted.run
        # What is declared to be made by others is not compared with what has its name.
        declared = {} if digest is None else {"digest": digest}
        self.holdout.attach(
            column,
            submitted.values,
            bounds=self._bounds(scorer, submitted),
            missing=submitted.missing,
            digest=None if run is None else _identity(run, submitted.scoring) + _suffix(scorer),
            scoring={**submitted.scoring, **declared},
            asked_by=asked_by,
        )
        self._unmatched[column] = submitted.unmatched

    def _bounds(self, scorer: str | None, submitted: Submission) -> ScoreBounds:
        """Where what is attached may be: of errors, up to their cap."""
        scale = ErrorScale.recorded(submitted.scoring) or self._scales[scorer]
        return (scale.bounds if isinstance(scale, ErrorScale) else scale) or bool

    def _column(self, name: str, scorer: str | None) -> AttachedColumn:
        wanted = name + _suffix(scorer)
        columns = {each.name: each for each in self.holdout.columns}
        if wanted not in columns:
            names = [repr(each) for each in columns]
            some = ", ".join(names[-_LISTED:]) or "nothing"
            more = f" and {len(names) - _LISTED:,} before" if len(names) > _LISTED else ""
            raise InvalidArgument(
                f"{name!r} was not submitted here; there is {some}{more}. Submit its scores first."
            )
        return columns[wanted]


def _scales_of(score: _Scales) -> Mapping[str | None, _Scale]:
    """What the scores of every scorer are by its name, of one without a name by None: a range,
    errors, or None for those that say right or wrong."""
    if not isinstance(score, Mapping):
        return {None: _declared(score)}
    if not score:
        raise InvalidArgument("score names no scorer; give the range of each, or one range.")
    return {require.text("score", name): _declared(scale) for name, scale in score.items()}


def _declared(score: ScoreBounds | str) -> _Scale:
    if not isinstance(score, str):
        return declared_bounds(score, "score")
    scale = ErrorScale.meant(score)
    if scale is None:
        raise InvalidArgument(
            f"score is {score!r}, which is no mean of errors; choose mse or mae, or give the range "
            "of graded scores."
        )
    return scale


def _readable(scale: _Scale) -> Range:
    """Where the scores of a file may be."""
    return scale.readable if isinstance(scale, ErrorScale) else scale or UNIT


def _identity(run: str, scoring: Mapping[str, str]) -> str:
    """Identity of a submission: its digest or run, and how it was scored."""
    text = ":".join([run, *(value for name, value in scoring.items() if name != "items")])
    return text if len(text) <= _LONGEST_IDENTITY else sha256(text.encode()).hexdigest()


def _require_same_scoring(
    candidate: str,
    scoring: Mapping[str, str] | None,
    against: str,
    opponent_scoring: Mapping[str, str] | None,
) -> None:
    """Refuse to compare what was made in different ways, as far as both say how."""
    mine_all, theirs_all = scoring or {}, opponent_scoring or {}
    for name in _COMPARED:
        mine, theirs = mine_all.get(name), theirs_all.get(name)
        if mine is None or theirs is None or mine == theirs:
            continue
        if name == "items":
            difference = f"{candidate!r} and {against!r} are about different items, by their hashes"
        else:
            difference = f"{candidate!r} has the {name} {mine!r}, and {against!r} has {theirs!r}"
        raise InvalidArgument(
            f"{difference}; compare submissions of one task, format, filter and scorer (--score, "
            "--filter)."
        )


def _suffix(scorer: str | None) -> str:
    """Suffix of a column's name for its scorer."""
    return "" if scorer is None else f":{scorer}"


def _named(ranges: Mapping[str | None, _Scale]) -> str:
    return ", ".join("one scorer without a name" if each is None else repr(each) for each in ranges)


def _margin(min_gain: float, no_worse_than: float | None) -> float:
    gain = require.non_negative("min_gain", min_gain)
    if no_worse_than is None:
        return gain
    if gain:
        raise InvalidArgument(
            f"min_gain is {gain:g} and no_worse_than is {no_worse_than:g}; ask for one of them."
        )
    return -require.positive("no_worse_than", no_worse_than)


def _claim(
    column: str, opponent: str, scale: _Scale, margin: float, where: str | None
) -> tuple[str, float]:
    """The question, and what its answer has to be above.

    The average gain of some items is above the margin if and only if, over all items, the average
    is above 0 of what those gain beyond it. A score that is missing is the lowest there is.
    """
    if isinstance(scale, ErrorScale):  # the smaller loss is the better one
        first, second = scale.text(opponent), scale.text(column)
        gain = f"{first} - {second}"
    else:
        first, second = identifier(column), identifier(opponent)
        lowest = "false" if scale is None else numeral(scale.low)
        gain = f"coalesce({first}, {lowest}) - coalesce({second}, {lowest})"
    if where is None:
        return f"difference({first}, {second})", margin
    beyond = f" - ({numeral(margin)})" if margin else ""
    return f"avg(case when {where} then {gain}{beyond} else 0 end)", 0.0


@dataclass(frozen=True, slots=True)
class _Development:
    """Development scores of submissions by the names of their columns, beside the ledger.

    They are of other items than the protected ones and forecast comparisons. No promise rests on
    them: if they are lost, there is no forecast. They must say nothing of protected items, so that
    items with a protected id are refused.
    """

    files: DevFiles
    scale: _Scale

    def keep(self, column: str, given: Any, key: str, **how: Unpack[HowToRead]) -> None:
        """Keep scores of a submission beside those that it has; the newest of an item counts."""
        run = read_run(
            "dev",
            given,
            score=how.get("score"),
            key=key,
            bounds=_readable(self.scale),
            filter=how.get("filter"),
            format=how.get("format"),
            partial=how.get("partial", False),
        )
        if not run.keyed:
            raise InvalidArgument(
                f"dev has {len(run.scores):,} scores without items, so that nobody can tell "
                "whether they are of protected ones; give them by item: a mapping, a table or a "
                "file."
            )
        scores = run.scores.by_item()
        self.files.require_other_items(scores)
        content = json.dumps(list({**self.of(column), **scores}.items()))
        self.files.keep(_dev_file(column), content.encode())

    def of(self, column: str) -> dict[ItemId, float]:
        """The scores that are kept of a submission; none if there are none, or they are damaged."""
        content = self.files.content(_dev_file(column))
        try:
            pairs = [] if content is None else json.loads(content)
            return {item: float(score) for item, score in pairs}
        except (TypeError, ValueError):
            return {}

    def result(self, column: str, opponent: str) -> DevResult | None:
        """The counts of a submission against another one, on items that both have."""
        mine, theirs = self.of(column), self.of(opponent)
        better = self._gain
        gains = [better(mine[item], theirs[item]) for item in mine if item in theirs]
        if not gains:
            return None
        return DevResult(
            sum(each > 0 for each in gains), sum(each < 0 for each in gains), len(gains)
        )

    def _gain(self, mine: float, theirs: float) -> float:
        """How much better the score of an item is."""
        scale = self.scale
        if isinstance(scale, ErrorScale):
            return scale.loss(theirs) - scale.loss(mine)
        return mine - theirs

    def wanted(self, column: str, opponent: str) -> list[ItemId]:
        """The items to run next, of those of an opponent: in an order that says nothing of them."""
        mine, theirs = self.of(column), self.of(opponent)
        if not theirs:
            return []
        many = dev_rows_wanted(self.result(column, opponent), len(theirs))
        left = sorted((item for item in theirs if item not in mine), key=_shuffled)
        return left[: max(0, many - (len(theirs) - len(left)))]


def _dev_file(column: str) -> str:
    return f"dev-{sha256(column.encode()).hexdigest()}.scores"


def _shuffled(item: ItemId) -> bytes:
    return sha256(str(item).encode()).digest()
