"""Table of a plan: each mechanism's number, the best one marked; text, HTML, dict and chart."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from holdfast import require
from holdfast.data.sampling import Declared, Independent, MDependent, Sampling
from holdfast.errors import InvalidArgument
from holdfast.mechanisms.terms import Declarations, Describing, Pots
from holdfast.theory.length.levels import SEARCH_SHARE, late_log_share
from holdfast.theory.planning import MOST_QUESTIONS, Kind, KnownRows, Method
from holdfast.wording import plural, sure

if TYPE_CHECKING:
    import altair

Solved = Literal["half_width", "questions", "rows"]
_HEADINGS: dict[Solved, str] = {
    "half_width": "half-width",
    "questions": "questions",
    "rows": "rows needed",
}


@dataclass(frozen=True, slots=True)
class Option:
    """One mechanism's answer to a plan; the number solved for is None where it cannot be done.

    `at_a_tenth` is the half-width of a described condition that holds for a tenth of the rows;
    `beyond` a half-width that says nothing, since it is wider than the range.
    """

    name: str
    kind: Kind
    theorem: str
    half_width: float | None
    questions: int | None
    rows: int | None
    note: str = ""
    at_a_tenth: float | None = None
    beyond: float | None = None

    @property
    def possible(self) -> bool:
        return None not in (self.half_width, self.questions, self.rows)

    @property
    def remark(self) -> str:
        """Remark beside the number."""
        narrower = "" if self.at_a_tenth is None else f"{show(self.at_a_tenth)} at rate 0.1"
        return "; ".join(part for part in (self.note, narrower) if part)

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "kind": self.kind,
            "theorem": self.theorem,
            "half_width": self.half_width,
            "questions": self.questions,
            "rows": self.rows,
            "at_a_tenth": self.at_a_tenth,
            "beyond": None if self.beyond == math.inf else self.beyond,
            "note": self.note,
        }


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """Request for a plan: two of rows, questions and half-width, or all three."""

    rows: int | None
    declared: Declarations

    def __post_init__(self) -> None:
        declared = self.declared
        numbers = {
            "rows": self.rows,
            "questions": declared.questions,
            "tolerance": declared.tolerance,
        }
        named = [f"{name}={value:g}" for name, value in numbers.items() if value is not None]
        if len(named) < 2:
            raise InvalidArgument(
                "a plan needs two of rows, questions and tolerance, to solve for the third; given: "
                f"{', '.join(named) or 'none'}. Give two, such as rows=20_000, questions=500 "
                "(--rows 20000 --questions 500)."
            )
        if declared.tolerance is not None:
            require.tolerance(declared.tolerance)
        if declared.questions is not None:
            require.surprises(declared.surprises, declared.questions)
        self.declared.describing()
        if self.rows is None and isinstance(self.sampling, Declared):
            raise InvalidArgument(
                "a declared concentration says nothing about other numbers of rows; give rows and "
                "one of questions and tolerance."
            )

    @property
    def solved_for(self) -> Solved:
        if self.rows is None:
            return "rows"
        return "questions" if self.declared.questions is None else "half_width"

    @property
    def sampling(self) -> Sampling:
        return self.declared.sampling or Independent()

    @property
    def described(self) -> Describing:
        """How described questions are answered."""
        return self.declared.describing()[0]

    @property
    def pots(self) -> Pots:
        """The failure probability of all intervals, parted as a ledger parts it."""
        return Pots(self.declared.level, self.declared.describing()[1])

    def log_beta(self, method: Method) -> float:
        """ln of the failure probability that a method has; what is only a reference has it all."""
        if method.kind == "described":
            return self.pots.log_beta_described
        if method.kind == "together" and method.millibits is not None:
            return late_log_share(self.pots.log_beta, SEARCH_SHARE)
        if method.kind in ("promise", "together"):
            return self.pots.log_beta
        return Pots(self.declared.level, 0.0).log_beta

    @property
    def known_rows(self) -> KnownRows:
        """Assumptions about the rows, as the theory takes them."""
        return KnownRows(self.sampling.profile, isinstance(self.sampling, Independent))

    def why_not(self, method: Method) -> str | None:
        """Reason why a method has no numbers for rows that came about this way; None if it has."""
        if not method.applies(self.known_rows):
            return "needs independent rows"
        if method.millibits is not None and isinstance(self.sampling, MDependent):
            return "by bets: as wide as the rows say"
        return None

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "rows": self.rows,
            "questions": self.declared.questions,
            "tolerance": self.declared.tolerance,
            "surprises": self.declared.surprises,
            "confidence_level": self.declared.level,
            "sampling": str(self.sampling),
            "described": self.described,
            "described_share": self.pots.described_share,
        }

    def __str__(self) -> str:
        declared, facts = self.declared, []
        if self.rows is not None:
            facts.append(f"{self.rows:,} rows")
        if declared.questions is not None:
            facts.append(plural(declared.questions, "question"))
        if declared.tolerance is not None:
            facts.append(f"half-width {declared.tolerance:g}")
        if declared.surprises is not None:
            facts.append(f"at most {plural(declared.surprises, 'wrong guess', 'wrong guesses')}")
        if self.described == "off":
            facts.append("no text questions")
        return ", ".join(facts)


@dataclass(frozen=True, slots=True)
class Plan:
    """Plan: what each mechanism reaches, the recommended one marked. Text, HTML, dict and chart."""

    request: PlanRequest
    options: tuple[Option, ...]
    recommended: Option
    reason: str

    def __getitem__(self, name: str) -> Option:
        """The option of this name, e.g. plan["median noise"]."""
        for option in self.options:
            if option.name == name:
                return option
        names = ", ".join(repr(option.name) for option in self.options)
        hint = "" if self.request.described == "off" else "; with described='off' there are more"
        raise KeyError(f"no mechanism {name!r} in this plan; there are {names}{hint}")

    @property
    def half_width(self) -> float | None:
        """The recommended mechanism's half-width."""
        return self.recommended.half_width

    @property
    def solved_for(self) -> Solved:
        """Name of the number that was not given, and is each option's answer."""
        return self.request.solved_for

    @property
    def promise(self) -> str:
        """Promise: what holds together, and what it rests on."""
        return (
            f"{sure(self.request.declared.level)}, each question chosen after seeing earlier "
            f"answers; {self.request.sampling}; a mean of values in [0, 1]"
        )

    def cells(self) -> list[tuple[str, str, str]]:
        """(mark and name, the number solved for, note) for each option."""
        table = []
        for option in self.options:
            mark = "* " if option is self.recommended else "  "
            number: float | int | None = getattr(option, self.solved_for)
            if number is None and self.solved_for == "half_width":
                number = option.beyond
            cell = "-" if number is None else show(number)
            table.append((mark + option.name, cell, option.remark))
        return table

    def __str__(self) -> str:
        heading = _HEADINGS[self.solved_for]
        table = self.cells()
        names = max(len(name) for name, _, _ in table)
        numbers = max(len(heading), *(len(number) for _, number, _ in table))
        lines = [
            f"Plan: {self.request}",
            f"      {self.promise}",
            "",
            f"  {'mechanism':<{names - 2}}  {heading:>{numbers}}",
            *(
                f"{name:<{names}}  {number:>{numbers}}  {note}".rstrip()
                for name, number, note in table
            ),
            "",
            f"* {self.reason}",
        ]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        bold = " style='font-weight:bold'"
        body = "".join(
            f"<tr{bold if name.startswith('*') else ''}>"
            f"<td style='text-align:left'>{html.escape(name.strip('* '))}</td>"
            f"<td>{html.escape(number)}</td>"
            f"<td style='text-align:left'>{html.escape(note)}</td></tr>"
            for name, number, note in self.cells()
        )
        return (
            f"<p><b>Plan:</b> {html.escape(str(self.request))}<br>"
            f"<small>{html.escape(self.promise)}</small></p>"
            "<table><thead><tr><th style='text-align:left'>mechanism</th>"
            f"<th>{_HEADINGS[self.solved_for]}</th><th></th></tr></thead><tbody>{body}</tbody></table>"
            f"<p>{html.escape(self.reason)}</p>"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "solved_for": self.solved_for,
            **self.request.to_dict(),
            "simultaneous": True,
            "recommended": self.recommended.name,
            "reason": self.reason,
            "options": [option.to_dict() for option in self.options],
        }

    def chart(self, path: str | None = None, *, every: bool = False) -> altair.LayerChart:
        """Half-width against questions; saved if a path is given.

        Four lines: described, checked, asked, and the best published; with `every` all mechanisms.
        """
        from holdfast.holdout.charts import plan_chart, require_file, save

        if path is not None:
            require_file(path)  # before it is drawn, not after
        picture = plan_chart(self, every=every)
        if path is not None:
            save(picture, path)
        return picture


def show(number: float) -> str:
    """Whole numbers with separators; half-widths with four digits, rounded up."""
    if isinstance(number, int):
        return "10^12 or more" if number >= MOST_QUESTIONS else f"{number:,}"
    if number == math.inf:
        return "infinite"
    digits = 4 - math.ceil(math.log10(number))
    rounded = math.ceil(number * 10**digits - 1e-9) / 10**digits
    return f"{rounded:,.{max(digits, 0) if number > 1 else max(digits, 4)}f}"
