"""Options of the verbs and of `open`: the one record from which every surface derives its own.

Python and the client take the options as keyword arguments, REST as fields of a body, MCP as
arguments of a tool, the command line as `--options`. `by` is a column and `asked_by` a person;
`key` is a column of keys and `request_key` the idempotency key of a call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import (
    Annotated,
    Any,
    Literal,
    TypedDict,
    get_origin,
    get_type_hints,
)


@dataclass(frozen=True, slots=True)
class VerbOption:
    """What an option is for; `metavar` stands for its value in `--help`."""

    help: str
    metavar: str | None = None
    longest: int | None = None  # characters of a text
    flag: str | None = None  # on the command line, where it is not spelled as in Python


class _Restricting(TypedDict, total=False):
    where: Annotated[
        str | None, VerbOption("Only among rows like these: \"origin = 'JFK'\".", "CONDITION")
    ]
    bounds: Annotated[
        tuple[float, float] | None,
        VerbOption("The range of the value; it is cut to it.", "LOW HIGH"),
    ]


class _Judging(TypedDict, total=False):
    better: Annotated[
        Literal["higher", "lower"] | None,
        VerbOption("Of a difference: say whether the first is better, worse, or cannot tell."),
    ]


class _Claiming(TypedDict, total=False):
    at_most: Annotated[float | None, VerbOption("One side, instead of a guess: at most this.", "X")]
    at_least: Annotated[
        float | None, VerbOption("One side, instead of a guess: at least this.", "X")
    ]


class _Expecting(TypedDict, total=False):
    expect: Annotated[
        float | None,
        VerbOption(
            "How likely you think a check is to be confirmed, or a gate to be shown, such as 0.3. "
            "A good number shows more; a bad one costs a little, and promises nothing wrongly.",
            "P",
        ),
    ]


class _ExpectingOrTraining(TypedDict, total=False):
    expect: Annotated[
        float | Literal["training"] | None,
        VerbOption(
            "How likely you think a check is to be confirmed, such as 0.9; or `training`: as rows "
            "have it of which none may be protected. A good number spares a lot; a bad one costs a "
            "little, and promises nothing wrongly.",
            "P or training",
        ),
    ]


class _Grading(TypedDict, total=False):
    grades: Annotated[
        bool,
        VerbOption(
            "Of a gate: tell with `shown` how strongly, as the largest adjusted p so far. It "
            "costs a little more."
        ),
    ]


class _DevCounts(TypedDict, total=False):
    dev: Annotated[
        Sequence[int] | None,
        VerbOption(
            "Of a gate of a difference: on how many other rows the first was better, on how many "
            "worse, and of how many, such as [40, 10, 1000]. None of them may be protected.",
            "BETTER,WORSE,ROWS",
        ),
    ]


class _DevGiven(TypedDict, total=False):
    dev: Annotated[
        Any,
        VerbOption(
            "Of a gate of a difference: on how many other rows the first was better, on how many "
            "worse, and of how many, such as 40,10,1000; of a file of scores: a file with those of "
            "the candidate on other items. None of them may be protected.",
            "COUNTS or FILE",
        ),
    ]
    skip_below: Annotated[
        float | None,
        VerbOption(
            "Do not try what is forecast to be shown less likely than this, such as 0.02: nothing "
            "is charged.",
            "P",
        ),
    ]


class _Width(TypedDict, total=False):
    tolerance: Annotated[
        float | None,
        VerbOption("Another half-width than the declared one, as a part of the range: 0.025.", "X"),
    ]
    half_width: Annotated[
        float | None, VerbOption("The same in the unit of the answer: 6, of minutes.", "X")
    ]


class _Keeping(TypedDict, total=False):
    why: Annotated[str | None, VerbOption("Why you ask; kept in the ledger.", "TEXT", 1_000)]
    request_key: Annotated[
        str | None,
        VerbOption("A name for this call: made again with it, it is told the same.", "KEY", 200),
    ]


class _Signing(TypedDict, total=False):
    asked_by: Annotated[str | None, VerbOption("Who asks; kept in the ledger.", "WHO")]


class _Differing(TypedDict, total=False):
    differing: Annotated[
        float | None, VerbOption("The share of rows that you think differ; known if public.", "X")
    ]


class AcceptOption(TypedDict, total=False):
    """What a service asks to be accepted where many share what a call takes from."""

    accept_cost: Annotated[
        int | None,
        VerbOption("Of a service: the most questions it may take, where that is not one.", "N"),
    ]


# What a service takes with each verb: who asks is whom the token says.


class AskSent(_Restricting, _Judging, _Width, _Keeping, AcceptOption):
    """Options of an ask that is sent to a service."""


class CheckSent(_Restricting, _Judging, _Claiming, _Expecting, _Width, _Keeping, AcceptOption):
    """Options of a check that is sent to a service."""


class GateSent(_Restricting, _Claiming, _Expecting, _Grading, _DevCounts, _Keeping):
    """Options of a gate that is sent to a service."""


class BatchSent(_Width, _Keeping, AcceptOption):
    """Options of several questions that are sent to a service together."""


class CostSent(_Restricting, _Judging, _Claiming, _Expecting, _Grading, _DevCounts, _Width):
    """Options of what a question that is sent to a service would cost."""


# The same where the rows are.


class AskOptions(_Restricting, _Judging, _Width, _Keeping, _Signing, total=False):
    """Options of an ask."""

    discover: Annotated[
        bool,
        VerbOption(
            "Find the groups in the protected rows. This ends asks and checks for good; text "
            "questions stay."
        ),
    ]
    top: Annotated[int | None, VerbOption("Of discovered groups, the K largest.", "K")]


class CheckOptions(
    _Restricting, _Judging, _Claiming, _ExpectingOrTraining, _Width, _Keeping, _Differing, _Signing
):
    """Options of a check."""


class CostOptions(
    _Restricting, _Judging, _Claiming, _ExpectingOrTraining, _Grading, _DevCounts, _Width
):
    """Options of what a question would cost."""


class GateOptions(
    _Restricting, _Claiming, _Expecting, _Grading, _DevGiven, _Keeping, _Differing, _Signing
):
    """Options of a gate."""


class BatchOptions(_Width, _Keeping, _Signing):
    """Options of several questions that are put together."""


# What verbs take beside their options, as the surfaces outside Python have it.


class QuestionField(TypedDict):
    """The question of a verb."""

    question: Annotated[
        str,
        VerbOption(
            'A statistic, such as "avg(arr_delay > 15)", "median(distance)" or "auc(score, late)".',
            "QUESTION",
        ),
    ]


class QuestionFields(QuestionField, total=False):
    """The question of a verb that answers for groups, too."""

    by: Annotated[
        str | Sequence[str] | None,
        VerbOption(
            "For each value of a column that is declared, or known from other rows, or of two "
            'columns; "avg(x) by origin, month" says the same.',
            "COLUMN",
        ),
    ]


class GuessField(TypedDict, total=False):
    """What is guessed of a question."""

    guess: Annotated[float | None, VerbOption("What you think it is, in its own unit.", "X")]


# What is declared with a new ledger: `open`, `holdfast init`, `publish` and `plan` take it.


class _Promising(TypedDict, total=False):
    questions: Annotated[int | None, VerbOption("How many will be asked; left out: no limit.", "N")]
    tolerance: Annotated[
        float | None, VerbOption("Promised half-width, as a part of the range: 0.025.", "X")
    ]
    confidence_level: Annotated[
        float | None,
        VerbOption("Probability that all intervals are true together (default 0.95).", "X"),
    ]
    sampling: Annotated[
        Any,
        VerbOption(
            "How the rows came about: independent, clustered:COLUMN:LARGEST (rows of a unit, at "
            "most; with :within differences of groups are those inside units) or "
            "clustered:COLUMN:fixed (unit sizes were decided), m-dependent:M, "
            "dependency-graph:DEGREE, markov-chain:CONTRACTION or declared:SIGMA; to plan, "
            "clustered:LARGEST or clustered:SIZE:fixed.",
            "HOW",
        ),
    ]


class _Declaring(TypedDict, total=False):
    schema: Annotated[
        Any,
        VerbOption(
            "A TOML file with the bounds, scales, values and weights of columns, and favourites.",
            "FILE",
        ),
    ]
    outcomes: Annotated[
        Sequence[str] | None,
        VerbOption(
            'What is measured, such as "arr_delay > 15": its averages and differences by segments '
            "are cheap. Repeat for several.",
            "VALUE",
            flag="--outcome",
        ),
    ]
    segments: Annotated[
        Sequence[str] | None,
        VerbOption(
            'What it is cut by: a column with declared values, a condition such as "hour > 12", or '
            'a number with cuts such as "hour at 6, 12, 18". Repeat for several.',
            "CUT",
            flag="--segment",
        ),
    ]
    planned: Annotated[
        Sequence[str] | None,
        VerbOption(
            'A question that was planned, such as "effect(well, arm) by site". Repeat for several.',
            "QUESTION",
        ),
    ]


class _Learning(TypedDict, total=False):
    train: Annotated[
        Any,
        VerbOption("Other rows: ranges and values of columns are learnt from them.", "FILE"),
    ]
    split: Annotated[
        float | None,
        VerbOption("Part of the rows of the table to put aside and to learn from: 0.5.", "X"),
    ]


class PromiseOptions(_Promising, _Declaring, _Learning):
    """What is promised, and of which rows: parameters of `open` by themselves."""


class CorrectionOptions(_Declaring, total=False):
    """What is declared after a ledger was opened, as `open` takes it, and with which share."""

    share: Annotated[
        float | None,
        VerbOption(
            "The part of what is left of the failure probability that it takes: 0.1. Outcomes, "
            "segments and planned questions need one.",
            "X",
        ),
    ]
    why: Annotated[str | None, VerbOption("Kept in the ledger.", "TEXT")]
    asked_by: Annotated[str | None, VerbOption("Who declares it; kept in the ledger.", "WHO")]


class TableFormOptions(TypedDict, total=False):
    """How a table is written: what separates cells, what is missing, flags."""

    separator: Annotated[
        str | None,
        VerbOption("Of CSV: what stands between cells, such as ; or tab.", "C"),
    ]
    null: Annotated[
        str | Sequence[str] | None,
        VerbOption(
            "Of CSV: a text that stands for a missing value, such as NA. Repeat for several.",
            "TEXT",
        ),
    ]
    flags: Annotated[
        Sequence[str] | None,
        VerbOption(
            "A column of 0 and 1 that is a condition: no and yes. Repeat for several.",
            "COLUMN",
            flag="--flag",
        ),
    ]

    decimal: Annotated[
        Literal[".", ","] | None, VerbOption("Of CSV: the decimal sign of numbers, such as ,.")
    ]
    thousands: Annotated[
        str | None, VerbOption("Of CSV: what stands between thousands in numbers.", "C")
    ]
    date_format: Annotated[
        str | None, VerbOption("Of CSV: how dates are written, such as %d.%m.%Y.", "FORMAT")
    ]


class DeclareOptions(TableFormOptions, total=False):
    """What else may be declared, once, when a ledger is made; `open` says more of each."""

    surprises: Annotated[int | None, VerbOption("Wrong guesses expected, of those questions.", "N")]
    candidates: Annotated[
        int | None, VerbOption("How many will be gated, at most; left out: no limit.", "N")
    ]
    design: Annotated[
        Sequence[str] | None,
        VerbOption(
            "A column that somebody decided (arm, site, category, label); it becomes public. "
            "Repeat for several.",
            "COLUMN",
        ),
    ]
    randomised: Annotated[
        Literal["coins", "shuffled"] | None,
        VerbOption(
            "How the arms of a trial were drawn: by a fair coin for each row, or shuffled within "
            "strata; its effects are those in these rows."
        ),
    ]
    arm: Annotated[
        str | None, VerbOption("Of a randomised trial: the column with its two arms.", "COLUMN")
    ]
    within: Annotated[
        Sequence[str] | None,
        VerbOption(
            "Of arms that were shuffled: a column of the strata, such as site. Repeat for several.",
            "COLUMN",
        ),
    ]
    described: Annotated[
        Literal["exact", "rounded", "off"] | None,
        VerbOption("How questions are answered that are text over the table's columns."),
    ]
    described_share: Annotated[
        float | None,
        VerbOption("The part of the failure probability that is for them (default 0.4).", "X"),
    ]
    key: Annotated[
        str | None,
        VerbOption(
            "A public column that names each row, so that columns can be attached later.", "COLUMN"
        ),
    ]
    public: Annotated[
        Sequence[str] | None,
        VerbOption(
            "A column that people know: the promise is for these items. Repeat for several.",
            "COLUMN",
        ),
    ]
    task: Annotated[
        str | None,
        VerbOption(
            "What the rows are called together; it tells bare ids from those of another task.",
            "NAME",
        ),
    ]
    mechanism: Annotated[
        str | None, VerbOption("How it answers: a name of `holdfast mechanisms`.", "NAME")
    ]
    options: Annotated[
        Mapping[str, Any] | None,
        VerbOption("An option of the mechanism. Repeat for several.", "KEY=VALUE", flag="--option"),
    ]
    private: Annotated[bool, VerbOption("Everything released is differentially private.")]


class OpenOptions(DeclareOptions, total=False):
    """What `open` takes beside its parameters: declarations, and how this process opens it."""

    guesser: Any
    table: str | None
    secret: str | Path | None
    timeout: float


def fields_of(*records: type) -> dict[str, tuple[Any, VerbOption]]:
    """The options of some records by name: the type of each, and what it is for."""
    hints = [get_type_hints(record, include_extras=True) for record in records]
    return {
        name: (hint.__origin__, hint.__metadata__[0])
        for each in hints
        for name, hint in each.items()
        if get_origin(hint) is Annotated
    }
