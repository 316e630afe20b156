"""`holdfast.connect`: a holdout that is served elsewhere, with the verbs of a local one.

It answers with the same `Answer`, and raises the same errors. Every call has a key of its own: if
the answer is lost on its way, the call is made again and told the same, without a second charge.
"""

from __future__ import annotations

import math
import secrets
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self, Unpack, overload
from urllib.parse import quote

from holdfast import require
from holdfast.boards.standings import Standing, Standings
from holdfast.errors import InvalidArgument
from holdfast.holdout.answer import Answer
from holdfast.holdout.budget import Budget, QuestionKind
from holdfast.holdout.groups import Distribution, Groups
from holdfast.holdout.options import AskSent, BatchSent, CheckSent, CostSent, GateSent
from holdfast.holdout.price import Cost
from holdfast.ledger.attachments import AttachedColumn
from holdfast.ledger.entries import Recorded, Request
from holdfast.ledger.view import LedgerView
from holdfast.mechanisms.catalogue import built, claiming
from holdfast.mechanisms.claims import CHECKS
from holdfast.mechanisms.described import recorded_rule, rule_from
from holdfast.mechanisms.forecast_gates import FORECAST_GATES
from holdfast.mechanisms.mechanism import interval_between, plain_interval
from holdfast.mechanisms.terms import Account, Terms
from holdfast.question.bounds import Range
from holdfast.question.columns import Schema
from holdfast.question.declaring import Scale
from holdfast.question.expression import ColumnType
from holdfast.service.sending import Sender
from holdfast.statistics.bind import TABLES, Question, bind, question_of
from holdfast.statistics.entry import By, Call, Table, TableCall
from holdfast.statistics.mean import KnownVariance

# The leaderboard of a data set that is served elsewhere: standings, submissions, and the end.


@dataclass(frozen=True, slots=True)
class ServedBoard:
    """A board that a service holds; who submits is who the token says."""

    sender: Sender
    path: str

    def standings(self) -> Standings:
        """Everybody's rank, as far as it was shown; free."""
        return Standings.from_dict(self.sender.get(self.path))

    def submit(
        self,
        predictions: Mapping[Any, Any] | Iterable[Any] | str | Path,
        *,
        name: str | None = None,
        claim: float | None = None,
        key: str | None = None,
        value: str | None = None,
    ) -> Standing:
        """A prediction for every item: a mapping, a list in the order of keys, or a file.

        `key` and `value` name the columns of a file. It is known by its content, so that it can be
        sent again; `claim` is what you take its score to be.
        """
        fields: dict[str, Any] = {"name": name, "claim": claim}
        if isinstance(predictions, str | Path):
            file = require.file("predictions", predictions)
            fields |= {"key": key, "value": value}
            sent = self.sender.upload(f"{self.path}/file", fields, file, secrets.token_hex(16))
            return Standing.from_dict(sent)
        if not (key is value is None):
            raise InvalidArgument("key and value name columns of a file; leave them out here.")
        if isinstance(predictions, Mapping):
            fields |= {"keys": list(predictions.keys()), "values": list(predictions.values())}
        else:
            fields["values"] = require.items("predictions", predictions, "a mapping or a list")
        return Standing.from_dict(self.sender.post(self.path, fields, secrets.token_hex(16)))

    def final(self) -> Standings:
        """The last look: exact scores of all; nothing is submitted after it. For custodians."""
        ended = self.sender.post(f"{self.path}/final", {}, secrets.token_hex(16))
        return Standings.from_dict(ended)


# Answers and budgets as they are carried over the wire, so that they are the same on both sides.
#
# Everything here is a function of the public transcript: what was declared, what was spent, and
# what was answered.


_INTERVALS = ("interval", "range", "revealed")
_PAIRS = ("symbols", "claim", "rows", "missing", "forecast")


class Promised:
    """What was declared of a ledger: with an account, it is a budget."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        self.terms = Terms.from_dict(body["terms"])
        self._why = body["mechanism"].get("why")
        self._mechanism = built(body["mechanism"], self.terms)
        self._checker = claiming(body["mechanism"], self.terms, CHECKS)

    def budget(self, account: Mapping[str, Any], kinds: Sequence[QuestionKind]) -> Budget:
        """What is left on an account for questions of these kinds."""
        spent = Account.from_dict(account)
        budget = Budget(self.terms, spent, self._mechanism, self._checker, self._why)
        return budget.for_more_of(kinds)


def carried_recorded(recorded: Recorded) -> dict[str, Any]:
    """A line of the ledger, or a look, as plain values; without the key of its call."""
    plain = {name: getattr(recorded, name) for name in recorded.__slots__}
    return {
        **plain,
        **{name: list(plain_interval(plain[name]).values()) for name in _INTERVALS},
        "request": {**recorded.request.body(), "key": None},
        "variance": None if recorded.variance is None else asdict(recorded.variance),
        "rule": None if recorded.rule is None else recorded_rule(recorded.rule),
    }


def recorded_from(body: Mapping[str, Any]) -> Recorded:
    """The line that was carried."""
    variance, rule = body["variance"], body["rule"]
    pairs = {name: None if body[name] is None else tuple(body[name]) for name in _PAIRS}
    values = {
        **{name: body[name] for name in Recorded.__slots__},
        **{name: interval_between(*body[name]) for name in _INTERVALS},
        **pairs,
        "parts": tuple(body["parts"]),
        "request": Request.read(body["request"]),
        "variance": None if variance is None else KnownVariance(**variance),
        "rule": None if rule is None else rule_from(rule),
    }
    return Recorded(**values)


def carried_budget(budget: Budget) -> dict[str, Any]:
    """What a budget is made of, beside what was declared.

    What forecasts of gates remember is long, and no budget depends on it.
    """
    account = budget.account.to_dict()
    account["memory"].pop(FORECAST_GATES.name, None)
    return {"account": account, "kinds": list(budget.kinds)}


def carried_answer(answer: Answer) -> dict[str, Any]:
    """What an answer is made of, beside what it says."""
    return {
        "recorded": carried_recorded(answer.recorded),
        "parts": [carried_recorded(part) for part in answer.parts],
        "repeated": answer.repeated,
        "better": answer.better,
        "name": answer.name,
        **carried_budget(answer.left),
    }


def answer_from(body: Mapping[str, Any], promised: Promised) -> Answer:
    """The answer that was carried."""
    answer = Answer(
        recorded_from(body["recorded"]),
        promised.budget(body["account"], body["kinds"]),
        repeated=body["repeated"],
        parts=[recorded_from(part) for part in body["parts"]],
    )
    return answer.judged(body["better"]).called(body["name"])


_PAGE = 1_000
_LONG = 100_000  # values that are sent as a file


def connect(
    url: str, *, token: str, name: str | None = None, timeout: float = 60.0, retries: int = 5
) -> ServedHoldout:
    """The holdout `name` of a service, or the only one that the token is for.

    A call that cannot be delivered, or finds the ledger busy, is made again `retries` times.
    """
    sender = Sender(
        require.text("url", url),
        require.text("token", token),
        require.positive("timeout", timeout),
        require.integer_at_least("retries", retries, 0),
    )
    try:
        return ServedHoldout(sender, require.text("name", name or _only_one(sender)))
    except BaseException:
        sender.close()
        raise


def _only_one(sender: Sender) -> str:
    names = [each["name"] for each in sender.get("/datasets")["datasets"]]
    if len(names) != 1:
        raise InvalidArgument(
            f"the token is for {len(names)} data sets ({', '.join(names)}); say which: name=."
        )
    return str(names[0])


class ServedHoldout:
    """Protected rows that are somewhere else. Made by `holdfast.connect`."""

    def __init__(self, sender: Sender, name: str) -> None:
        self.name = name
        self._sender = sender
        self._path = f"/datasets/{quote(name, safe='')}"
        self._promised = Promised(self._facts["details"])

    @property
    def rows(self) -> int:
        """How many rows are protected."""
        return self._promised.terms.rows

    @property
    def schema(self) -> Schema:
        """The columns, their types and what was declared of them."""
        return _schema(self._facts)

    @property
    def budget(self) -> Budget:
        """What is left, after everything that anybody has asked."""
        reply = self._sender.get(f"{self._path}/budget", details=True)
        details = reply["details"]
        return self._promised.budget(details["account"], details["kinds"])

    @property
    def ledger(self) -> LedgerView:
        """Everything that was asked and answered so far; its parts are under it."""
        pages = list(self._pages())
        lines = [recorded_from(each) for page in pages for each in page["details"]["lines"]]
        looks = {each["look"]: each for page in pages for each in page["details"]["looks"]}
        together = pages[-1]["together"]
        return LedgerView(
            tuple(lines),
            tuple(map(recorded_from, looks.values())),
            together,
            self.rows,
            self.schema,
        )

    @property
    def columns(self) -> list[AttachedColumn]:
        """The columns that were attached; the digest of others' columns is not told."""
        bodies = self._sender.get(f"{self._path}/columns")["columns"]
        return [AttachedColumn.read({"digest": "", "by": None, **each}) for each in bodies]

    def attach(
        self,
        name: str,
        values: Mapping[Any, Any] | Iterable[Any] | str | Path,
        *,
        key: str | None = None,
        value: str | None = None,
        bounds: tuple[float, float] | None = None,
        missing: str = "refuse",
    ) -> AttachedColumn:
        """Values that arrive later, made without protected columns, as a column of questions.

        `values` is a mapping from keys to values, a list in the order of keys, or a CSV, Parquet or
        JSONL file with a column of keys (`key`) and one of values (`value`).
        """
        if isinstance(values, str | Path):
            file = require.file("values", values)
            low, high = (None, None) if bounds is None else bounds
            fields: dict[str, Any] = {"name": name, "key": key, "value": value, "missing": missing}
            fields |= {"low": low, "high": high}
            sent = self._sender.upload(f"{self._path}/columns/file", fields, file, self._key())
            return AttachedColumn.read(sent)
        if not (key is value is None):
            raise InvalidArgument("key and value name columns of a file; leave them out here.")
        body: dict[str, Any] = {"name": name, "missing": missing, "bounds": bounds}
        if isinstance(values, Mapping) and len(values) > _LONG:
            return self._attach_as_file(name, values, bounds, missing)
        if isinstance(values, Mapping):
            body |= {"keys": list(values.keys()), "values": _without_nan(values.values())}
        else:
            body["values"] = _without_nan(require.items("values", values, "a mapping or a list"))
        return AttachedColumn.read(self._sender.post(f"{self._path}/columns", body, self._key()))

    def _attach_as_file(
        self,
        name: str,
        values: Mapping[Any, Any],
        bounds: tuple[float, float] | None,
        missing: str,
    ) -> AttachedColumn:
        """The same in a file: JSON so long would keep everybody else waiting."""
        import polars as pl

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "values.parquet"
            columns = {"key": list(values.keys()), "value": _without_nan(values.values())}
            pl.DataFrame(columns, strict=False).write_parquet(path)
            return self.attach(name, path, key="key", value="value", bounds=bounds, missing=missing)

    @require.takes(CostSent)
    def cost(
        self,
        question: Question | TableCall,
        guess: float | None = None,
        *,
        by: By | None = None,
        gate: bool = False,
        **options: Unpack[CostSent],
    ) -> Cost:
        """What a question would cost now, or with `gate` to gate it. Free."""
        body = self._body(question, options, by, guess=guess, gate=gate or None)
        return Cost.from_dict(self._sender.post(f"{self._path}/cost", body, self._key()))

    @overload
    def ask(self, question: Question, *, by: None = None, **options: Unpack[AskSent]) -> Answer: ...
    @overload
    def ask(self, question: Question, *, by: By, **options: Unpack[AskSent]) -> Groups: ...
    @overload
    def ask(self, question: TableCall, **options: Unpack[AskSent]) -> Groups: ...
    @require.takes(AskSent)
    def ask(
        self, question: Question | TableCall, *, by: By | None = None, **options: Unpack[AskSent]
    ) -> Answer | Groups | Distribution:
        """The value of a question. A question is text, or a statistic of texts.

        What takes more than one question of what all share, as a table does, is refused with its
        price, unless `accept_cost` is as much. Who asks is whom the token says.
        """
        body = self._body(question, options, by)
        return self._put("ask", body, options.get("request_key"))

    @require.takes(BatchSent)
    def ask_many(self, questions: Iterable[Question], **options: Unpack[BatchSent]) -> list[Answer]:
        """Questions chosen together: one scan, one shared leakage, cheaper than one by one."""
        return self._put_many(questions, options)

    @overload
    def check(
        self,
        question: Question,
        guess: float | None = None,
        *,
        by: None = None,
        **options: Unpack[CheckSent],
    ) -> Answer: ...
    @overload
    def check(
        self,
        question: Question,
        guess: float | None = None,
        *,
        by: By,
        **options: Unpack[CheckSent],
    ) -> Groups: ...
    @overload
    def check(
        self, question: TableCall, guess: float | None = None, **options: Unpack[CheckSent]
    ) -> Groups: ...
    @require.takes(CheckSent)
    def check(
        self,
        question: Question | TableCall,
        guess: float | None = None,
        *,
        by: By | None = None,
        **options: Unpack[CheckSent],
    ) -> Answer | Groups | Distribution:
        """Is it about `guess`? Almost free when confirmed. A guess that is sent is a number."""
        body = self._body(question, options, by, guess=guess)
        return self._put("check", body, options.get("request_key"))

    @require.takes(GateSent)
    def gate(self, question: Question, **options: Unpack[GateSent]) -> Answer:
        """Is it shown to be more than `at_least`, or less than `at_most`? A "no" leaves it open."""
        answer = self._put("gate", self._body(question, options), options.get("request_key"))
        if not isinstance(answer, Answer):
            raise TypeError("a gate has one answer")
        return answer

    @require.takes(BatchSent)
    def check_many(
        self, questions: Iterable[Question], guesses: Sequence[float], **options: Unpack[BatchSent]
    ) -> list[Answer]:
        """Checks chosen together; `guesses` are as many numbers."""
        return self._put_many(questions, options, guesses=list(guesses))

    @property
    def board(self) -> ServedBoard:
        """Its leaderboard, if it is one."""
        return ServedBoard(self._sender, f"{self._path}/board")

    def audit(self) -> dict[str, Any]:
        """What an audit finds there: the chain, every interval, the data. For custodians."""
        return self._sender.get(f"{self._path}/audit")

    def certificate(self, output: str | Path) -> Path:
        """Write what was promised and answered to an .html, .pdf or .json file. For custodians."""
        path = require.file("output", output)
        form = path.suffix.lower().removeprefix(".")
        if form not in ("html", "json", "pdf"):
            raise InvalidArgument(
                f"output is {str(path)!r}; its name must end in .html, .pdf or .json."
            )
        if form == "pdf":
            from holdfast.certificate.page import pdf_of

            path.write_bytes(pdf_of(self._sender.text(f"{self._path}/certificate", form="html")))
        else:
            path.write_text(self._sender.text(f"{self._path}/certificate", form=form), "utf-8")
        return path

    def close(self) -> None:
        """Let go of the connection."""
        self._sender.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"ServedHoldout {self.name!r}: {self.rows:,} rows at {self._sender.url}"

    @property
    def _facts(self) -> dict[str, Any]:
        return self._sender.get(self._path, details=True)

    def _key(self, key: str | None = None) -> str:
        """The name of a call as a header can have it."""
        return secrets.token_hex(16) if key is None else quote(require.text("request_key", key))

    def _put(
        self, verb: str, body: dict[str, Any], key: str | None
    ) -> Answer | Groups | Distribution:
        reply = self._sender.post(f"{self._path}/{verb}", body, self._key(key), details=True)
        details = reply["details"]
        if isinstance(details, dict):
            return answer_from(details, self._promised)
        answers = [(_label(each["label"]), answer_from(each, self._promised)) for each in details]
        if "groups" in reply:
            return Groups(tuple(reply["by"]), tuple(answers), question=reply["question"])
        thresholds = tuple((float(label), answer) for label, answer in answers)
        return Distribution(reply["value"], thresholds, question=reply["question"])

    def _put_many(
        self, questions: Iterable[Question], options: BatchSent, **more: Any
    ) -> list[Answer]:
        texts = [self._sent(question)["question"] for question in questions]
        if not texts:
            return []
        body = {**_without_key(options), "questions": texts, **more}
        key = self._key(options.get("request_key"))
        reply = self._sender.post(f"{self._path}/batch", body, key, details=True)
        return [answer_from(each["details"], self._promised) for each in reply["answers"]]

    def _pages(self) -> Iterator[dict[str, Any]]:
        after: int | None = 0
        while after is not None:
            path = f"{self._path}/ledger"
            page = self._sender.get(path, details=True, limit=_PAGE, after=after)
            after = page["next"]
            yield page

    def _body(
        self,
        question: Question | TableCall,
        options: Mapping[str, object],
        by: By | None = None,
        **more: Any,
    ) -> dict[str, Any]:
        """A call as it is sent: the question in words, with its options beside it."""
        body: dict[str, Any] = {**_without_key(options), **more}
        if isinstance(question, str):
            columns = [by] if isinstance(by, str) else by
            return {"question": question, **body, "by": None if columns is None else list(columns)}
        wording = {name: body.pop(name, None) for name in ("where", "bounds", "better")}
        if by is not None or any(value is not None for value in wording.values()):
            question = question_of(question, by=by, **wording)
        return {**body, **self._sent(question)}

    def _sent(self, question: Question | TableCall) -> dict[str, Any]:
        """The question as it is sent: its text is that of the statistic, met with the columns."""
        match question:
            case str():
                return {"question": question}
            case TableCall(by=by) if by:
                call = Call(question.name, question.arguments, question.where, question.bounds)
                return {"question": self._text(call), "by": list(by)}
            case TableCall(name=name, arguments=arguments) if name in TABLES:
                if not all(isinstance(each, str | int | float) for each in arguments):
                    raise _not_text(name)
                body = {"question": f"{name}({', '.join(map(str, arguments))})"}
                where = question.where
                if where is not None and not isinstance(where, str):
                    raise _not_text(name)
                return {**body, "where": where, "bounds": question.bounds}
            case Call():
                return {"question": self._text(question), "better": question.better}
        raise _not_text(type(question).__name__)

    def _text(self, call: Call) -> str:
        return bind(call, Table(self.schema, self._promised.terms.design)).text


def _without_key(options: Mapping[str, object]) -> dict[str, object]:
    """Options as a body has them: the key of a call is a header."""
    return {name: value for name, value in options.items() if name != "request_key"}


def _schema(facts: Mapping[str, Any]) -> Schema:
    columns = facts["columns"]
    return Schema(
        {each["name"]: ColumnType(each["type"]) for each in columns},
        {each["name"]: Range(*each["bounds"]) for each in columns if each["bounds"]},
        {each["name"]: tuple(each["values"]) for each in columns if each["values"]},
        scales={each["name"]: Scale(**each["scale"]) for each in columns if each["scale"]},
        aliases=facts["aliases"],
    )


def _without_nan(values: Iterable[Any]) -> list[Any]:
    """Values with null where they are missing: JSON has no NaN."""
    return [None if isinstance(each, float) and math.isnan(each) else each for each in values]


def _label(label: Any) -> Any:
    """The label of a group of two columns is a pair; JSON has lists."""
    return tuple(label) if isinstance(label, list) else label


def _not_text(name: str) -> InvalidArgument:
    return InvalidArgument(
        f"the question is a {name} that is not text; Python functions and expressions are never "
        "sent. Ask by text, or open the data itself."
    )
