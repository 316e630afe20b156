"""What REST replies with: the shape of every reply, as OpenAPI describes it.

A field that may be left out has a default. Replies are written from the records themselves and are
not read again by these models: tests compare them with what is described.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated, Any, Literal, TypeAlias, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, create_model

from holdfast.boards.standings import Standing
from holdfast.ledger.attachments import Origin, TurnedAway
from holdfast.ledger.view import LINE_COLUMNS
from holdfast.mechanisms.terms import Terms
from holdfast.planner.table import Option
from holdfast.service.tokens import Token


def _record(
    name: str,
    meaning: str,
    source: type,
    only: Collection[str] = (),
    base: type[BaseModel] = BaseModel,
    **other: Any,
) -> Any:
    """The reply that a record is told as: its fields, or `only` some, and `other` ones."""
    own: dict[str, Any] = {
        field: (kind, ...)
        for field, kind in get_type_hints(source).items()
        if field in (only or get_type_hints(source))
    }
    shape = {"__doc__": meaning, "__base__": base, "__module__": __name__, **own, **other}
    return create_model(name, **shape)


_Text: TypeAlias = Annotated[str, Field(description="The same for people.")]
_Details: TypeAlias = Annotated[
    dict[str, Any] | None, Field(description="With `details`: what it is made of.")
]
_Question: TypeAlias = Annotated[str, Field(description="The question as the ledger knows it.")]
_Value: TypeAlias = Annotated[float | None, Field(description="None where nothing is said.")]
_Low: TypeAlias = Annotated[
    float | None, Field(description="None where nothing bounds it from below.")
]
_High: TypeAlias = Annotated[
    float | None, Field(description="None where nothing bounds it from above.")
]
_Bits: TypeAlias = Annotated[
    float | None, Field(description="How long a text question is; None for others.")
]
_QuestionsLeft: TypeAlias = Annotated[
    int, Field(description="Without a description or a guess, at the tolerance.")
]
_SurprisesLeft: TypeAlias = Annotated[
    int, Field(description="Guesses that may be refuted in a row.")
]
_Level: TypeAlias = Annotated[float, Field(description="That all intervals are true together.")]
_Simultaneous: TypeAlias = Annotated[
    bool, Field(description="Whether all intervals ever given are true together.")
]
_Assumes: TypeAlias = Annotated[str, Field(description="What the intervals rest on.")]
_Promise: TypeAlias = Annotated[str, Field(description="What holds, and what it rests on.")]


class AnswerFields(BaseModel):
    """What every answer says."""

    number: int | None = Field(description="Its line of the ledger; None for a part of something.")
    question: _Question
    status: str = Field(
        description="answered, confirmed, not confirmed, shown, not shown, repeated, "
        "says nothing, or no promise."
    )
    value: _Value
    low: _Low
    high: _High
    half_width: float | None = Field(description="Half of high - low.")
    bits: _Bits
    n: int = Field(description="How many rows it is about, at least.")
    n_most: int = Field(description="How many rows it is about, at most.")
    missing: int = Field(description="How many rows were left out for want of a value, at least.")
    missing_most: int = Field(description="How many were left out, at most.")
    confidence_level: _Level
    simultaneous: _Simultaneous
    guess: float | None = Field(description="What was guessed, or claimed as a bound.")
    bound: float | None = Field(description="Of a claim on one side: what it is beyond.")
    why: str | None = Field(description="Why it was asked, as was said.")
    cost: float = Field(description="What it cost, in nats; 0 for a repeat.")
    forecast: float | None = Field(description="How likely the claim was said to be made good.")
    level: float | None = Field(description="The level at which such a gate was decided.")
    adjusted: float | None = Field(description="The adjusted p of a gate shown with a grade.")
    receipt: str = Field(description="The hash of the ledger's entry: keep it to prove the answer.")
    assumes: _Assumes
    rows: int = Field(description="How many are protected.")
    verdict: str | None = Field(description="Of a difference with `better`: what it says.")
    questions_left: _QuestionsLeft
    surprises_left: _SurprisesLeft


class AnswerReply(AnswerFields):
    """One answer, in the statistic's own unit."""

    text: _Text
    details: _Details = None


class GroupAnswer(AnswerFields):
    """The answer of one group; its values of the columns `by` are fields of their names."""

    model_config = ConfigDict(extra="allow")


class TableReply(BaseModel):
    """Answers for groups."""

    question: _Question
    by: list[str] = Field(description="The columns that make the groups.")
    groups: list[GroupAnswer]
    details: list[dict[str, Any]] | None = None


class ThresholdShare(BaseModel):
    """The share of rows up to a threshold."""

    threshold: float
    share: float | None = Field(description="The share of rows at most that large.")
    low: float
    high: float


class DistributionReply(BaseModel):
    """Answers for thresholds, which make a distribution."""

    question: _Question
    value: str = Field(description="The value that is distributed so.")
    thresholds: list[ThresholdShare]
    details: list[dict[str, Any]] | None = None


AnyReply: TypeAlias = AnswerReply | TableReply | DistributionReply


class BatchReply(BaseModel):
    """Answers to questions that were chosen together, in their order."""

    answers: list[AnswerReply]


class CostReply(BaseModel):
    """What a question would cost. Free to know, and nothing of the data."""

    question: _Question
    half_width: float | None = Field(description="None where it follows from answers to come.")
    tolerance: float | None = Field(description="The same as a part of the range.")
    bits: _Bits
    least: float = Field(description="Nats, if every guess is confirmed.")
    most: float | None = Field(description="Nats at worst; None: all that is left.")
    questions: int = Field(description="How many questions it takes at most.")
    questions_left: int = Field(description="About later columns or functions, now.")
    questions_left_if_confirmed: int = Field(description="At best.")
    questions_left_after: int = Field(description="At worst.")
    repeated: bool = Field(description="Asked before, so that it is free.")
    closes: bool = Field(description="Whether it ends asks and checks for good.")
    candidates: str | None = Field(description="Of gates: how many are left, in words.")
    unbounded: bool = Field(description="Whether its value has no declared range.")
    follows: list[int] = Field(description="Lines of the ledger that it follows from, for free.")
    text: _Text


class ClosedReply(BaseModel):
    """When and why a ledger was closed or retired."""

    at: str = Field(description="When, in UTC.")
    why: str = Field(description="The reason, in words.")
    retired: bool = Field(description="Whether text questions are ended, too.")
    successor: str | None = Field(description="What is to be asked instead.")


class _Budget(BaseModel):
    described: int = Field(description="Text questions answered; there is no limit.")
    asked: int = Field(description="Other questions answered.")
    questions_left: _QuestionsLeft
    checks: int = Field(description="Guesses that were checked.")
    surprises: int = Field(description="Guesses that were not confirmed.")
    surprises_left: _SurprisesLeft
    gates: int = Field(description="Gates that were tried.")
    shown: int = Field(description="Gates that were shown.")
    candidates_left: int | None = Field(description="Of gates: how many are left.")
    next_gate: dict[str, Any] | None = Field(description="The gain that it can show, and how.")
    simultaneous: _Simultaneous
    nats: float = Field(description="What has leaked.")
    closed: ClosedReply | None = Field(
        description="Where nothing new is asked any more: since when, and why."
    )
    promise: _Promise
    assumes: _Assumes
    why: str | None = Field(description="Why the mechanism was chosen.")
    searches: list[dict[str, Any]] = Field(description="Searches that were opened.")
    privacy: dict[str, Any] | None = Field(description="Of private ledgers: epsilon, delta, ...")
    text: _Text
    details: _Details = None


BudgetReply = _record(
    "BudgetReply",
    "What is left, and what is promised.",
    Terms,
    ("rows", "questions", "candidates", "tolerance", "confidence_level", "described_share"),
    _Budget,
)


class DatasetColumn(BaseModel):
    """A column that questions may name."""

    name: str
    type: str = Field(description="boolean, integer, float, text, date, datetime or other.")
    bounds: tuple[float, float] | None = Field(description="The declared range.")
    values: list[str | int | float | bool] | None = Field(description="The declared values.")
    scale: dict[str, float] | None = Field(description="How its tails fall, as declared.")
    attached: bool = Field(description="Whether it arrived later, by the key.")
    design: bool = Field(description="Whether its groups are public.")


class _Dataset(BaseModel):
    name: str
    opened: str = Field(description="When, in UTC.")
    columns: list[DatasetColumn] = Field(description="What questions may name.")
    aliases: dict[str, str] = Field(description="Other names of columns.")
    design: list[str] = Field(description="Columns whose groups are public.")
    mechanism: str = Field(description="What answers questions without a description.")
    answered_by: str = Field(description="The same in a sentence.")
    promise: _Promise
    assumes: _Assumes
    remaining: str = Field(description="What is left, in words.")
    closed: ClosedReply | None
    details: _Details = None


DatasetReply = _record(
    "DatasetReply",
    "A data set as far as it is public.",
    Terms,
    ("rows", "key", "public", "described", "described_share", "tolerance"),
    _Dataset,
)


class ListedDataset(BaseModel):
    """A data set, and what is left of it."""

    name: str
    rows: int | None = Field(description="None where the ledger cannot be read.")
    remaining: str = Field(description="What is left, in words.")


class DatasetsReply(BaseModel):
    """The data sets that a token is for."""

    datasets: list[ListedDataset]


_LINE_TYPES: Mapping[str, Any] = {
    "Int64": int | None,
    "Float64": float | None,
    "String": str | None,
    "Boolean": bool | None,
}
LineReply: Any = create_model(
    "LineReply",
    __doc__="One line of the ledger; a viewer is not told who asked.",
    __module__=__name__,
    **{  # type: ignore[call-overload]
        name: (_LINE_TYPES[kind], None if name == "asked_by" else ...)
        for name, kind in LINE_COLUMNS.items()
        if name != "request_key"
    },
)


class LedgerReply(BaseModel):
    """A page of the ledger."""

    lines: list[LineReply]
    next: int | None = Field(description="The `after` of the next page; None for the last one.")
    together: str = Field(description="How sure all intervals are together.")
    details: _Details = None


_Option = _record("PlanOption", "What one mechanism would give.", Option)


class _Plan(BaseModel):
    solved_for: str = Field(description="Which of the three was not given.")
    rows: int | None
    confidence_level: _Level
    sampling: str = Field(description="How rows came about.")
    simultaneous: _Simultaneous
    recommended: str = Field(description="The mechanism to take.")
    reason: str
    options: list[_Option]  # type: ignore[valid-type]
    text: _Text


PlanReply = _record(
    "PlanReply",
    "What so many rows could give, by every mechanism.",
    Terms,
    ("questions", "tolerance", "surprises", "described", "described_share"),
    _Plan,
)


class ColumnReply(BaseModel):
    """A column that was attached; its digest is for whoever brought it, and for the custodian."""

    name: str
    column: str = Field(description="What the same column was called first.")
    origin: Origin = Field(description="How its values came about.")
    digest: str | None = Field(None, description="What it is known by.")
    type: str
    bounds: tuple[float, float] | None
    at: str = Field(description="When, in UTC.")
    by: str | None = Field(None, description="Who brought it; not for viewers.")
    keyless: bool
    scoring: dict[str, str] | None = Field(None, description="How it was scored.")
    ready: bool = Field(description="Whether its values are there.")


class ColumnsReply(BaseModel):
    """The columns that were attached."""

    columns: list[ColumnReply]


class AuditFinding(BaseModel):
    """What an audit says of one thing."""

    what: str
    fine: bool
    detail: str


class AuditReply(BaseModel):
    """An audit: every interval derived again from the ledger alone."""

    fine: bool
    data_compared: bool = Field(description="Whether the rows could be compared, too.")
    findings: list[AuditFinding]


class KeyReply(BaseModel):
    """With what certificates of this service are signed."""

    key: str = Field(description="The public key.")
    person: str
    organisation: str


TokenReply = _record("TokenReply", "A token, without its secret.", Token)
_Spent = (int, Field(description="How many questions count against its cap."))
_TokenSpent = _record("TokenSpent", "A token and what it spent.", Token, spent=_Spent)
GrantedReply = _record(
    "GrantedReply",
    "A token with its text, which is shown this once.",
    Token,
    token=(str, Field(description="hf_ID_SECRET.")),
)
MeReply = _record(
    "MeReply",
    "Who the token says you are.",
    Token,
    spent=_Spent,
    left=(int | None, Field(description="What is left of its cap.")),
)


class TokensReply(BaseModel):
    """Every token that was made."""

    tokens: list[_TokenSpent]  # type: ignore[valid-type]


StandingReply = _record(
    "StandingReply",
    "Where a submission stands; `also` are those of other teams with the same content.",
    Standing,
    interval=(str, Field(description="Both ends in words.")),
    told=(str, Field(description="The status, and whether a claim was wrong.")),
)
_TurnedAway = _record("TurnedAwayReply", "A submission that was not taken.", TurnedAway)


class BoardReply(BaseModel):
    """The standings; a viewer is not told whose submissions they are."""

    metric: str
    more_is_better: bool
    items: int
    together: str = Field(description="How sure all intervals are together.")
    holds_for: str
    final: bool
    standings: list[StandingReply]  # type: ignore[valid-type]
    invalid: list[_TurnedAway]  # type: ignore[valid-type]


class StatusReply(BaseModel):
    """Whether the service is up, or ready."""

    status: Literal["up", "ready"]


def file_reply(*kinds: str) -> dict[int | str, dict[str, Any]]:
    """What OpenAPI says of an operation that replies with a file of one of these kinds."""
    shapes = {"application/json": {"type": "object", "additionalProperties": True}}
    content = {kind: {"schema": shapes.get(kind, {"type": "string"})} for kind in kinds}
    return {200: {"description": "The file.", "content": content}}
