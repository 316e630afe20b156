"""What a plan says: each mechanism's number, the best one marked; text, HTML, dict and chart."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from holdfast.data.sampling import Independent, Sampling
from holdfast.theory.planning import MOST_QUESTIONS, Kind, KnownRows
from holdfast.wording import percent, plural

if TYPE_CHECKING:
    import altair

__all__ = ["Option", "Plan", "Solved", "show"]

Solved = Literal["half_width", "questions", "rows"]
_HEADINGS: dict[Solved, str] = {
    "half_width": "half-width",
    "questions": "questions",
    "rows": "rows needed",
}


@dataclass(frozen=True, slots=True)
class Option:
    """One mechanism's answer to a plan; the number solved for is None where it cannot be done."""

    name: str
    kind: Kind
    theorem: str
    half_width: float | None
    questions: int | None
    rows: int | None
    note: str = ""

    @property
    def possible(self) -> bool:
        return None not in (self.half_width, self.questions, self.rows)

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "kind": self.kind,
            "theorem": self.theorem,
            "half_width": self.half_width,
            "questions": self.questions,
            "rows": self.rows,
            "note": self.note,
        }


@dataclass(frozen=True, slots=True)
class Plan:
    """What each mechanism reaches, the recommended one marked. Text, HTML, dict and chart."""

    solved_for: Solved
    rows: int | None
    questions: int | None
    tolerance: float | None
    surprises: int | None
    confidence_level: float
    sampling: Sampling
    options: tuple[Option, ...]
    recommended: Option
    reason: str

    def __getitem__(self, name: str) -> Option:
        """The option of this name, e.g. plan["median noise"]."""
        for option in self.options:
            if option.name == name:
                return option
        known = ", ".join(repr(option.name) for option in self.options)
        raise KeyError(f"no mechanism {name!r} in this plan; there are {known}")

    @property
    def half_width(self) -> float | None:
        """The recommended mechanism's half-width."""
        return self.recommended.half_width

    @property
    def request(self) -> str:
        """What was asked for, in words."""
        known = []
        if self.rows is not None:
            known.append(f"{self.rows:,} rows")
        if self.questions is not None:
            known.append(plural(self.questions, "question"))
        if self.tolerance is not None:
            known.append(f"half-width {self.tolerance:g}")
        if self.surprises is not None:
            known.append(f"at most {plural(self.surprises, 'surprise')}")
        return ", ".join(known)

    @property
    def promise(self) -> str:
        """What holds together, and what it rests on."""
        return (
            f"simultaneous {percent(self.confidence_level)}: all intervals together, each question "
            f"chosen after seeing the earlier answers; {self.sampling}; a mean of values in [0, 1]"
        )

    @property
    def log_beta(self) -> float:
        """The natural logarithm of the failure probability."""
        return math.log1p(-self.confidence_level)

    @property
    def known_rows(self) -> KnownRows:
        """What is assumed of the rows, as the theory takes it."""
        return KnownRows(self.sampling.profile, isinstance(self.sampling, Independent))

    def cells(self) -> list[tuple[str, str, str]]:
        """(mark and name, the number solved for, note) for each option."""
        table = []
        for option in self.options:
            mark = "* " if option is self.recommended else "  "
            number: float | int | None = getattr(option, self.solved_for)
            shown = "-" if number is None else show(number)
            table.append((mark + option.name, shown, option.note))
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
            f"<p><b>Plan:</b> {html.escape(self.request)}<br><small>{html.escape(self.promise)}"
            "</small></p><table><thead><tr><th style='text-align:left'>mechanism</th>"
            f"<th>{_HEADINGS[self.solved_for]}</th><th></th></tr></thead><tbody>{body}</tbody></table>"
            f"<p>{html.escape(self.reason)}</p>"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "solved_for": self.solved_for,
            "rows": self.rows,
            "questions": self.questions,
            "tolerance": self.tolerance,
            "surprises": self.surprises,
            "confidence_level": self.confidence_level,
            "sampling": str(self.sampling),
            "simultaneous": True,
            "recommended": self.recommended.name,
            "reason": self.reason,
            "options": [option.to_dict() for option in self.options],
        }

    def chart(self, path: str | None = None) -> altair.LayerChart:
        """Half-width against questions, a line for each mechanism; saved if a path is given."""
        from holdfast.holdout.charts import plan_chart, save

        picture = plan_chart(self)
        if path is not None:
            save(picture, path)
        return picture


def show(number: float) -> str:
    """Whole numbers with separators; half-widths with four digits, rounded up."""
    if isinstance(number, int):
        return "10^12 or more" if number >= MOST_QUESTIONS else f"{number:,}"
    digits = 4 - math.ceil(math.log10(number))
    return f"{math.ceil(number * 10**digits - 1e-9) / 10**digits:.{max(digits, 4)}f}"
