"""`holdfast.open`: a new holdout, or an old one resumed from its ledger, here or elsewhere."""

from __future__ import annotations

import os.path
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Unpack

from holdfast import require
from holdfast.data.design import design_of
from holdfast.data.fingerprint import RowContents, fingerprint
from holdfast.data.keys import key_order
from holdfast.data.learning import implausible_scales, learnt_from
from holdfast.data.randomised import randomised_of
from holdfast.data.sample import Sample
from holdfast.data.sampling import (
    Clustered,
    Independent,
    Sampling,
    measured,
    sampling_of,
    sampling_to_dict,
)
from holdfast.data.source import AS_USUAL, KnownTable, TableForm, is_path, table_form
from holdfast.data.values import columns_with_missing
from holdfast.errors import ImplausibleScale, InvalidArgument, SecondLedger
from holdfast.guessers.guesser import guessers_of
from holdfast.holdout.batch import require_claims
from holdfast.holdout.declare import (
    ADDED_LATER,
    cost_of_declaring,
    declare_more,
    schema_learnt_from,
)
from holdfast.holdout.desk import Desk
from holdfast.holdout.guess import other_rows, require_others, training_rows
from holdfast.holdout.holdout import TIMEOUT, Holdout
from holdfast.holdout.options import OpenOptions
from holdfast.holdout.planned_width import planned_for
from holdfast.ledger.backend import LedgerHome
from holdfast.ledger.chain import canonical, now
from holdfast.ledger.index import note_columns, note_ledger, others_over, with_the_same_rows
from holdfast.ledger.opening import Opening, Rows
from holdfast.ledger.secret import keyed_print
from holdfast.ledger.store import Store, home_of
from holdfast.ledger.transcript import Transcript
from holdfast.mechanisms.bounded_noise import BOUNDED_NOISE
from holdfast.mechanisms.catalogue import AUTO, Choice, choose, claiming, kind_of
from holdfast.mechanisms.claims import CHECKS
from holdfast.mechanisms.described import DESCRIBED_ONLY
from holdfast.mechanisms.terms import Declarations, Describing, Terms
from holdfast.question.columns import Schema, no_column
from holdfast.question.declaring import listed
from holdfast.question.expression import ColumnType
from holdfast.statistics.description import Prior
from holdfast.wording import plural

# How a holdout is opened again: in another process, from the same files.


def reopening(name: str, how: Mapping[str, Any] | None) -> dict[str, Any]:
    """What is needed to open a holdout in another process; refused where that is not known."""
    if how is None:
        raise InvalidArgument(
            f"{name!r} was opened with a table in memory or a guesser of one's own, and cannot be "
            "opened again elsewhere; open it from files."
        )
    return dict(how)


def opened_again(how: dict[str, Any]) -> Holdout:
    """The holdout that was opened this way in another process."""

    return open(**how)


def by_path(how: dict[str, Any], timeout: float) -> dict[str, Any] | None:
    """The same arguments wherever they are used: files by their whole paths; None for tables."""
    stated = {name: value for name, value in how.items() if value is not None}
    if not all(isinstance(value, str | Path | float) for value in stated.values()):
        return None
    files = {"data", "secret", "train"} & stated.keys()
    whole = {name: os.path.abspath(stated[name]) for name in files if is_path(stated[name])}
    return {**stated, **whole, "timeout": timeout}


# Declarations that a ledger keeps as they are said.
_COMPARED = (
    "tolerance",
    "questions",
    "surprises",
    "candidates",
    "confidence_level",
    "described",
    "described_share",
    "key",
    "public",
)
_PRIVATE = ("private gaussian", "private laplace")  # their names; the first one is the default


@require.takes(OpenOptions, shown=False)
def open(
    data: Any = None,
    *,
    name: str | None = None,
    ledger: str | Path | None = None,
    questions: int | None = None,
    tolerance: float | None = None,
    confidence_level: float | None = None,
    sampling: str | Sampling | None = None,
    schema: Any = None,
    outcomes: Sequence[str] | None = None,
    segments: Sequence[str] | None = None,
    planned: Sequence[str] | None = None,
    train: Any = None,
    split: float | None = None,
    **declared: Unpack[OpenOptions],
) -> Holdout:
    """Protect a table: every interval given for it stays true, all together.

    `data` is a pandas, Polars or pyarrow table, a path or glob of CSV or Parquet files, a DuckDB
    relation or file (with `table`), or the address of a PostgreSQL database (with `table`). The
    `ledger` is a file (default: NAME.ledger), rows of such a database, by an address such as
    postgresql://USER@HOST/DATABASE?ledger=NAME, or a branch: git:REMOTE/BRANCH. An existing
    one is resumed, with the same data or, to look at it, with none; `secret` is the file of its
    secret, if that is elsewhere. As long as nothing was asked, it can be opened with another plan
    or other declarations of columns (see `Holdout.declare`). For a new one:

    * `tolerance`: the promised half-width as a fraction of each statistic's range (default: what
      the mechanism allows for so many `questions`, or 0.05);
    * `questions`: how many means will be asked (default: open-ended); what has several parts, such
      as a difference of groups, takes several of them: `cost` says how many of a kind are left;
    * `surprises`: how many of them, at most, you expect to be refuted guesses; it sets what checks
      cost, as `plan` says, and no promise rests on it (default: a prior that learns);
    * `candidates`: how many will be gated, at most (default: open-ended; default of `described`
      then: "rounded");
    * `confidence_level`: the probability that all intervals are true together (default 0.95);
    * `sampling`: how the rows came about (default: independent);
    * `schema`: the bounds of columns, {name: (low, high)}, and perhaps their values and weights,
      or a TOML file with all that (see docs/bits.md); nothing of it may be taken from the protected
      rows: `holdfast.learn_schema` proposes it from others;
    * `outcomes`: what is measured, such as "arr_delay > 15"; `segments`: what it is cut by,
      columns with declared values, conditions such as "hour > 12" and numbers with cuts such as
      "hour at 6, 12, 18" (see docs/bits.md); `planned`: questions such as "effect(well, arm)
      by site": all of them cost few bits;
    * `design`: columns that somebody decided (arm, site, category, label): they become public, so
      that their groups have known sizes, and every promise is for the design as it is;
    * `randomised`: how the two values of the column `arm` were drawn in a trial: "coins", a fair
      coin for each row, or "shuffled" inside each value of the columns `within`; described effects
      of the arm are then average effects in these rows, whatever else is true of them. The names
      of both arms are public;
    * `described`: how questions are answered that are text over the table's own columns: "exact"
      (default), with an interval that pays for their length, any number of them; "rounded", which
      leaves more for all others; or "off", like all others (always if `private`, and the default if
      a `mechanism` is named), with `described_share` of the failure probability (default 0.4; with
      1 nothing else is answered);
    * `key`: a public column with another value in every row, which says nothing of it, by which
      `attach` brings columns that arrive later; what is asked of submitted values is promised for
      these items (default of `described` then: "rounded");
    * `public`: columns that people know: all that is promised is for these items;
    * `task`: what the rows are called together, where they are bare ids of the items of an
      evaluation: those of another task are then no second ledger over the same table;
    * `mechanism`: how questions without a guess and without a description are answered, by its name
      in `holdfast mechanisms` (default: bounded noise), with its `options`; "auto" takes bounded or
      median noise, whichever the planner says is narrower, and says why;
    * `private`: everything released is differentially private (default mechanism then: private
      gaussian); checks are refused, and the budget shows the privacy spent;
    * `separator` and `null`: what stands between the cells of CSV files, and for a missing one
      (default: a comma, and nothing); `flags`: columns of 0 and 1 that are conditions; `decimal`
      and `thousands`: the signs in numbers of CSV files; `date_format`: how dates are written
      there, such as "%d.%m.%Y".

    A `guesser` turns every `ask` into a check of its guess: a name such as "multiplicative
    weights" (see docs/guessers.md) or a value of `holdfast.guessers`. `train` attaches other rows;
    left to themselves ("training mean"), they guess. A new ledger learns from them what was not
    declared: the values of text columns, ranges of numbers, and from these what is measured and
    cut by; it writes that down (`learnt`), and depends on neither beside that. `split`, such as
    0.5, is the part of the rows of `data` that is put aside as such rows (`train` of the holdout),
    by their content: the same in every process; the ledger has a default name then, and with
    `train`, too.
    """
    given: dict[str, Any] = dict(declared)
    if split is not None:
        split = require.between("split", split, 0.0, 1.0, open_low=True, open_high=True)
    name = None if name is None else require.text("name", name)
    secret, table, guesser = given.get("secret"), given.get("table"), given.get("guesser")
    timeout = require.between("timeout", given.get("timeout", TIMEOUT), 0.0, 1e6)
    own = {option: given.get(option) for option in Declarations.__slots__ if option in given}
    for option in ("design", "public", "within"):
        if own.get(option) is not None:
            own[option] = tuple(require.texts(option, own[option]))
    mechanism, task, options = (given.get(option) for option in ("mechanism", "task", "options"))
    families = {"outcomes": outcomes, "segments": segments, "planned": planned}
    declarations = _OpenRequest(
        name,
        Declarations(
            **own,
            questions=questions,
            tolerance=tolerance,
            confidence_level=confidence_level,
            sampling=None if sampling is None else sampling_of(sampling),
        ),
        schema,
        None if mechanism is None else require.text("mechanism", mechanism),
        {} if options is None else require.mapping("options", options),
        require.flag("private", given.get("private", False)),
        table_form(**{option: given.get(option) for option in asdict(AS_USUAL)}),
        None if task is None else require.text("task", task),
        {option: tuple(require.texts(option, each)) for option, each in families.items() if each},
        split,
    )
    guessers = guessers_of(guesser, with_training=train is not None)
    divide = None if split is None else _dividing(split, data, table, train, declarations)
    home = _home(data, name, ledger, secret, _named_by(train, declarations.form, divide))
    fresh = not home.is_there()
    made = _new_ledger(home, declarations, data, table, train, timeout, divide) if fresh else None
    store = Store.open(home)
    try:
        transcript = Transcript.resumed(store)
        rows, training = made or (None, None)
        if rows is None and data is not None:
            rows = Rows.of_ledger(store, transcript.opening, data, table)
            training = None if train is not None else rows.aside
        sample = None if rows is None else rows.sample
        differing = _differing(transcript, declarations, sample)
        _require_corrigible(home, transcript, differing, sample)
        if rows is not None:
            rows.require_protected(store, transcript.opening)
            for copy in note_ledger(home, transcript.first):
                warnings.warn(
                    f"the ledger {str(copy)!r} begins as this one, {str(home)!r}, does: one is a "
                    "copy of the other, and each counts only what is asked of it, so that neither "
                    "promise holds for what is asked of both. Go on with one, and remove the "
                    "other.",
                    SecondLedger,
                    stacklevel=3,
                )
        if training is None and train is not None:
            key = transcript.opening.terms.key
            contents = None if sample is None else RowContents(sample, key)
            training = other_rows(train, transcript.opening, store.secret, contents)
        desk = Desk(store, transcript, sample, training, timeout, guessers)
        if differing and sample is not None:
            _corrected(desk, declarations, sample, differing)
        if guesser is not None and guessers:
            require_claims(desk.transcript)
    except BaseException:
        store.close()
        raise
    again = {
        "data": data,
        "ledger": home.address,
        "secret": None if isinstance(home.secret, bytes) else secret,
        "train": train,
        "guesser": guesser,
        "table": table,
        "split": split,
    }
    return Holdout(desk, type(data).__module__.partition(".")[0], by_path(again, timeout))


def _home(
    data: Any,
    name: str | None,
    ledger: str | Path | None,
    secret: str | Path | None,
    public_name: Callable[[], str | None],
) -> LedgerHome:
    if ledger is not None:
        return home_of(ledger, secret)
    if name is None and is_path(data):
        name = Path(data).stem.strip("*") or None
    name = name or public_name()
    if name is None:
        raise InvalidArgument("open needs a name= or a ledger=: where its record is kept.")
    return home_of(require.file("name", f"{name}.ledger"), secret)


def _named_by(
    train: Any, form: TableForm, divide: Callable[[], Rows] | None
) -> Callable[[], str | None]:
    """A default name by the content of rows that are not protected: it tells of no others."""

    def name() -> str | None:
        if divide is not None:
            return divide().part_name
        if train is None:
            return None
        return f"table-{fingerprint(training_rows(train, KnownTable(form)))[:8]}"

    return name


@dataclass(frozen=True, slots=True)
class _OpenRequest:
    """What the arguments of `open` say of the ledger; what they leave out is None or empty."""

    name: str | None
    declarations: Declarations
    schema: Any
    mechanism: str | None
    options: Mapping[str, Any]
    private: bool
    form: TableForm
    task: str | None
    families: Mapping[str, tuple[str, ...]]
    split: float | None


def _dividing(
    split: float, data: Any, table: str | None, train: Any, request: _OpenRequest
) -> Callable[[], Rows]:
    """Rows that `split` leaves to protect, with those that it puts aside; read once, if at all."""
    for option, value in (("train", train), ("table", table)):
        if value is not None:
            raise InvalidArgument(
                f"split puts rows of the table aside, and {option} is given, too; leave one of "
                "both out."
            )
    if data is None:
        raise InvalidArgument("split needs the whole table, and open was given no data.")
    sampling = request.declarations.sampling
    unit = sampling.column if isinstance(sampling, Clustered) else None
    if unit is None and not isinstance(sampling, Independent | None):
        raise InvalidArgument(
            f"split puts single rows aside, and with sampling {sampling} others would depend on "
            "them; choose rows that do not, and give both parts: open(hold, train=train)."
        )
    return cache(partial(Rows.of_part, data, KnownTable(request.form), split, unit))


def _new_ledger(
    home: LedgerHome,
    request: _OpenRequest,
    data: Any,
    table: str | None,
    train: Any,
    timeout: float,
    divide: Callable[[], Rows] | None,
) -> tuple[Rows, Sample | None]:
    """Make the ledger of a table; the rows, with their fingerprint, and the training rows."""
    if data is None:
        raise InvalidArgument(
            f"there is no ledger {str(home)!r} yet, and open was given no data to make one for."
        )
    others = learnt_from(request.schema)
    if divide is None:
        training = None if train is None else training_rows(train, KnownTable(request.form))
        expected = KnownTable(request.form, {} if training is None else training.types)
        rows = Rows.of_data(data, table, expected)
        others += [] if training is None else [training]
    else:
        rows = divide()
        training = rows.aside
    contents = RowContents(rows.sample, request.declarations.key)
    for public_rows in others:
        require_others(public_rows, request.name or home.stem, rows.are, contents)
    opening = _opening(home, request, rows.sample, training, incomplete=rows.incomplete)
    opening = replace(opening, split=rows.split)
    ids = " If these are ids of another task, say which: task= (--task)."
    hint = ids if len(rows.sample.types) == 1 else ""
    doubles = others_over(rows.content, home, rows.files, request.task)
    second = {str(each): "the same table" for each in doubles}
    if request.task is None:
        second = {**with_the_same_rows(rows.columns, rows.contents, home), **second}
    for beside, reason in second.items():
        warnings.warn(
            f"the ledger {beside!r} protects {reason}: two ledgers have two budgets, and the "
            "promise of each holds only for what is asked of it alone. "
            f"{_GROWN if 'too, about' in reason else 'Use that one instead.'}"
            f"{hint}",
            SecondLedger,
            stacklevel=4,
        )
    if training is not None and opening.terms.alike_for(keyless=True):
        for contradiction in implausible_scales(training, opening.schema.scales):
            warnings.warn(contradiction, ImplausibleScale, stacklevel=4)
    Store.create(home, lambda secret: _keyed(opening, secret, rows.content).body(), timeout)
    note_columns(home, rows.columns, rows.contents)
    return rows, training


_GROWN = "Use that one, with the table as it was, or protect only the rows that are new."


def _keyed(opening: Opening, secret: bytes, content: str) -> Opening:
    return replace(opening, fingerprint=keyed_print(secret, content))


def _opening(
    home: LedgerHome,
    request: _OpenRequest,
    sample: Sample,
    training: Sample | None,
    *,
    incomplete: Sequence[str] = (),
    before: Opening | None = None,
) -> Opening:
    """The first entry of a new ledger, but for the fingerprint, which needs the secret.

    The `incomplete` columns miss values. Or another plan for one that was opened `before`, whose
    rows are not looked at again.
    """
    if sample.n < 2:
        raise InvalidArgument("the table has 1 row; a holdout needs at least 2.")
    declared = request.declarations
    schema, looked_up = (
        _with_missing(sample, incomplete, training, request)
        if before is None
        else (before.schema, before.terms.looked_up)
    )
    randomised = randomised_of(sample, declared.randomised, declared.arm, declared.within)
    if before is None:
        schema = schema if randomised is None else randomised.named_in(schema)
        schema = schema.with_family(**request.families)
    if training is not None:
        public = {
            *(declared.public or ()),
            *(() if declared.key is None else (declared.key,)),
        }
        describes = declared.describing(_describing(request))[0] != "off"
        schema = schema_learnt_from(training, schema, public, family=describes)
    Prior(schema).require_family()
    sampling = measured(declared.sampling or Independent(), sample)
    design = design_of(sample, declared.design or (), sampling)
    _require_public(sample, declared)
    wanted = declared.terms(sample.n, sampling, design, _describing(request), randomised, looked_up)
    kind, why = _choice(request, wanted)
    planned = planned_for(kind, wanted, request.options, schema)
    terms = planned.terms(wanted)
    mechanism: dict[str, Any] = {"name": kind.name, "parameters": planned.parameters}
    if request.options:
        mechanism["options"] = dict(request.options)
    if terms.surprises is not None and claiming(mechanism, terms, CHECKS) is None:
        raise InvalidArgument(
            f"surprises is {terms.surprises:,}, and {kind.name} checks no guesses: "
            f"{kind.refuses_checks} Leave surprises out, or choose another mechanism."
        )
    for fact, words in (("why", why), ("told", planned.told)):
        if words is not None:
            mechanism[fact] = words
    facts = terms, schema, mechanism, "", request.form, request.task
    opening = Opening(now(), request.name or home.stem, *facts)
    if before is not None:
        opening = replace(before, at=opening.at, terms=terms, mechanism=mechanism)
    # What cannot be read again must not be written.
    Transcript().apply([(1, canonical(opening.body()), "")])
    return opening


def _with_missing(
    sample: Sample, incomplete: Sequence[str], training: Sample | None, request: _OpenRequest
) -> tuple[Schema, tuple[int, int]]:
    """The declared schema with the columns that hold missing values, and how many of how many were
    looked up for that, which is counted: not those that were declared or are public, nor those that
    miss values in training rows.
    """
    declared = Schema(sample.types).declare(request.schema).never_null
    shared = () if training is None else sample.types.keys() & training.types.keys()
    in_training = columns_with_missing(training, sorted(shared)) if training else []
    public = (*(request.declarations.design or ()), *(request.declarations.public or ()))
    exempt = {*declared, *in_training, *public, request.declarations.key}
    searched = [name for name, kind in sample.types.items() if kind.kind and name not in exempt]
    columns = [name for name in incomplete if name in searched]
    if columns and request.private:
        raise InvalidArgument(
            f"{listed(columns)} {'has' if len(columns) == 1 else 'have'} rows without a value, and "
            "nothing of a private table is looked up; declare it: "
            f"schema={{{columns[0]!r}: {{'never_null': False}}}}."
        )
    nullable = dict.fromkeys([*incomplete, *(each for each in in_training if each not in declared)])
    looked_up = (0, 0) if request.private else (len(searched), len(columns))
    return _declared(sample.types, request.schema, nullable), looked_up


def _declared(types: Mapping[str, ColumnType], written: Any, with_missing: Iterable[str]) -> Schema:
    """The declared schema as a ledger writes it: favourites by their canonical texts.

    It says of the columns that hold missing values that they may be missing, which is public.
    Refused where one was declared never to be.
    """
    schema, nullable = Schema(types).declare(written), list(with_missing)
    wrong = [name for name in nullable if schema.never_null.get(name, False)]
    if wrong:
        raise InvalidArgument(
            f"never_null is declared for {listed(wrong)}, and the table has rows without a value "
            "there; leave that out, so that such rows are left out of what is asked."
        )
    complete = replace(schema, never_null={**schema.never_null, **dict.fromkeys(nullable, False)})
    return Schema.from_dict(Prior(complete).to_dict())


def _require_public(sample: Sample, declared: Declarations) -> None:
    """Refuse a key that does not name every row, and public columns that are none."""
    for column in declared.public or ():
        if column not in sample.types:
            raise InvalidArgument(f"public names {no_column(column, sample.types)}")
    if declared.key is not None:
        key_order(sample, declared.key)


def _choice(request: _OpenRequest, wanted: Terms) -> Choice:
    """The mechanism that was named, or the one that is chosen for what was declared."""
    name = _mechanism_name(request)
    if wanted.described_share == 1.0:
        if name not in (None, AUTO):
            raise InvalidArgument(
                f"mechanism is {name!r}, and described_share 1 leaves it nothing; leave one out."
            )
        return Choice(DESCRIBED_ONLY, None)
    if name == AUTO:
        return choose(wanted, request.options)
    kind = kind_of(name or BOUNDED_NOISE.name)
    if wanted.describes and not kind.beside_described:
        raise InvalidArgument(
            f"mechanism is {kind.name!r} and described {wanted.described!r}; {kind.name} must know "
            "all that will leak beforehand. Leave described out, or choose 'bounded noise'."
        )
    return Choice(kind, None)


def _describing(request: _OpenRequest) -> Describing:
    """How described questions are answered where nobody says: who names a mechanism gets it."""
    named = request.mechanism is not None and request.mechanism != AUTO
    if named or request.private:
        return "off"
    # What is asked of columns that come later costs less.
    later = (request.declarations.key, request.declarations.candidates)
    return "exact" if later == (None, None) else "rounded"


def _mechanism_name(request: _OpenRequest) -> str | None:
    """The mechanism that was named; a private holdout has a private one."""
    if not request.private:
        return request.mechanism
    described = request.declarations.described
    if described not in (None, "off") or request.declarations.described_share:
        raise InvalidArgument(
            "private=True with described answers: exact answers are not private. Leave one out."
        )
    if request.mechanism is None:
        return _PRIVATE[0]
    if request.mechanism == AUTO or not kind_of(request.mechanism).private:
        raise _not_private(request.mechanism)
    return request.mechanism


def _not_private(name: str) -> InvalidArgument:
    return InvalidArgument(
        f"mechanism is {name!r}, whose answers depend on single rows more than private=True allows;"
        f" use {' or '.join(map(repr, _PRIVATE[::-1]))}, or leave private out."
    )


_Differing = dict[str, tuple[object, object]]


def _differing(transcript: Transcript, request: _OpenRequest, sample: Sample | None) -> _Differing:
    """What is said otherwise than it was declared until now, as it is said and as it was."""
    schema = transcript.dictionaries.declared(transcript.opening.schema)
    opening = replace(transcript.opening, schema=schema)
    if request.private and not kind_of(opening.mechanism["name"]).private:
        raise _not_private(opening.mechanism["name"])
    compared = _comparable(opening, request, sample)
    return {
        name: (value, stored)
        for name, value, stored in compared
        if value is not None and value != stored
    }


# Corrections, as long as nothing was asked. What described questions rest on stays: which columns
# miss values was told since.


_REPLANNED = ("tolerance", "questions", "surprises", "candidates", "mechanism", "options")


def _require_corrigible(
    home: LedgerHome, transcript: Transcript, differing: _Differing, sample: Sample | None
) -> None:
    """Refuse what is said otherwise, unless it can still be corrected."""
    fixed = [name for name in differing if name not in (*_REPLANNED, *ADDED_LATER)]
    if sample is None or not transcript.is_unasked:
        fixed = list(differing)
    elif not transcript.is_untouched:
        fixed += [name for name in differing if name in _REPLANNED]
    for name in fixed:
        raise _opened_otherwise(home, transcript, name, *differing[name])


def _corrected(
    desk: Desk, request: _OpenRequest, sample: Sample, differing: Mapping[str, object]
) -> None:
    """Enter what is said otherwise: another plan, and what is declared of columns."""
    families: dict[str, Any] = dict(request.families)
    adds = bool(differing.keys() & set(ADDED_LATER))
    if adds:
        cost_of_declaring(desk, schema=request.schema, **families)  # refused before any is entered
    if differing.keys() & set(_REPLANNED):
        before = desk.opening
        planned = _opening(
            desk.store.home, _completed(request, before), sample, None, before=before
        )
        desk.plan_anew(planned)
    if adds:
        declare_more(desk, schema=request.schema, **families)


def _completed(request: _OpenRequest, opening: Opening) -> _OpenRequest:
    """Another plan, and where nothing is said of it what there was.

    A half-width may have followed from what is said otherwise now, and is then planned again.
    """
    said, terms, chosen = request.declarations, opening.terms, opening.mechanism
    randomised, before = terms.randomised, {name: getattr(terms, name) for name in _COMPARED}
    before |= {"sampling": terms.sampling, "design": terms.design.columns or None}
    if randomised is not None:
        before |= {"randomised": randomised.by, "arm": randomised.arm, "within": randomised.within}
    planning = (said.questions, said.surprises, request.mechanism, request.options or None)
    if any(each is not None for each in planning):
        before["tolerance"] = None
    now_said = {name: getattr(said, name) for name in Declarations.__slots__}
    unchanged = {name: each for name, each in before.items() if now_said[name] is None}
    mechanism, options = request.mechanism, request.options
    if mechanism is None and not request.private and terms.described_share != 1.0:
        mechanism = AUTO if "why" in chosen else chosen["name"]
        options = options or chosen.get("options", {})
    declarations = Declarations(**{**now_said, **unchanged})
    return replace(request, declarations=declarations, mechanism=mechanism, options=options)


def _opened_otherwise(
    home: LedgerHome, transcript: Transcript, name: str, value: object, stored: object
) -> InvalidArgument:
    many = transcript.account.looks
    fault = f"{name} is {value!r}, and the ledger {str(home)!r} was opened with {stored!r}"
    if name in ADDED_LATER and many:
        return InvalidArgument(
            f"{fault}, and answered {plural(many, 'question')} by that; leave it out, and add to "
            "it: declare, whose price declare_cost (holdfast declare --dry-run) says first; or use "
            "another ledger."
        )
    return InvalidArgument(f"{fault}; leave it out, or use another ledger.")


def _comparable(
    opening: Opening, request: _OpenRequest, sample: Sample | None
) -> Iterator[tuple[str, object, object]]:
    """What may be declared, as it is said now (None: it is not) and as the ledger has it."""
    declared, terms, chosen = request.declarations, opening.terms, opening.mechanism
    auto = request.mechanism == AUTO and "why" in chosen
    yield "mechanism", None if auto else request.mechanism, chosen["name"]
    yield "options", dict(request.options) or None, chosen.get("options", {})
    yield "name", request.name, opening.name
    yield "task", request.task, opening.task
    yield "split", request.split, None if opening.split is None else opening.split.part
    for option in _COMPARED:
        yield option, getattr(declared, option), getattr(terms, option)
    for option, value in asdict(request.form).items():
        stored_form = getattr(opening.form, option)
        yield option, None if value == getattr(AS_USUAL, option) else value, stored_form
    if declared.sampling is not None and sample is not None:
        sampling = measured(declared.sampling, sample)
        yield "sampling", sampling_to_dict(sampling), sampling_to_dict(terms.sampling)
    if declared.design is not None:
        yield "design", sorted(set(declared.design)), list(terms.design.columns)
    randomised = terms.randomised
    yield "randomised", declared.randomised, None if randomised is None else randomised.by
    yield "arm", declared.arm, None if randomised is None else randomised.arm
    yield "within", declared.within, () if randomised is None else randomised.within
    if request.schema is not None:
        stored = opening.schema
        nullable = [name for name, never in stored.never_null.items() if not never]
        again = _declared(stored.types, request.schema, nullable).with_family(**request.families)
        if randomised is not None and randomised.arm not in again.values:  # need not be named
            values = {name: each for name, each in stored.values.items() if name != randomised.arm}
            ends = {name: each for name, each in stored.bounds.items() if name != randomised.arm}
            arm_bounds = stored.bounds if randomised.arm in again.bounds else ends
            stored = replace(stored, values=values, bounds=arm_bounds)
        # Who declares what was learnt says the same; who leaves it out, too.
        named = {*again.values, *again.bounds}
        stored = replace(stored, learnt=tuple(each for each in stored.learnt if each not in named))
        stored = stored.without_learnt
        never_null = {name: stored.never_null.get(name, True) for name in again.never_null}
        facts = replace(stored, never_null=never_null).to_dict()
        yield from ((option, value, facts.get(option)) for option, value in again.to_dict().items())
    else:
        for option, texts in request.families.items():
            yield option, list(texts), list(getattr(opening.schema, option))
