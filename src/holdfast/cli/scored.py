"""`holdfast gate NAME FILE`: the scores of a candidate in a file, instead of a question."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast import require
from holdfast.cli.commands import show_json
from holdfast.cli.ledgers import SCORE_SUFFIXES
from holdfast.errors import InvalidArgument
from holdfast.holdout.options import VerbOption, fields_of
from holdfast.wording import plural

if TYPE_CHECKING:
    from holdfast.evals.gate import EvalGate
    from holdfast.evals.item_scores import ItemScores
    from holdfast.holdout.holdout import Holdout

# Options of a comparison.
_COMPARED = (
    "where",
    "differing",
    "expect",
    "skip_below",
    "grades",
    "why",
    "asked_by",
    "request_key",
)


@dataclass(frozen=True, slots=True)
class FileOfScores:
    """A file of scores, with what the command line says of it."""

    file: str
    against: Annotated[
        str | None,
        VerbOption("Of a file: compare with this one, not the incumbent.", "NAME"),
    ] = None
    min_gain: Annotated[
        float | None,
        VerbOption("Of a file: show that it is better by more than this.", "X"),
    ] = None
    no_worse_than: Annotated[
        float | None,
        VerbOption(
            "Of a file: show that it is not worse by this much. Ask for better first: once this is "
            "shown, better needs more (--dry-run says how much).",
            "X",
        ),
    ] = None
    called: Annotated[
        str | None,
        VerbOption("Of a file: what to call it (default: its run).", "NAME", flag="--as"),
    ] = None
    digest: Annotated[str | None, VerbOption("Of a file: of what made the scores.", "D")] = None
    score: Annotated[
        str | None, VerbOption("Of a file with several scorers: this one.", "NAME")
    ] = None
    filter: Annotated[
        str | None, VerbOption("Of a file with several filters or prompts: this one.", "NAME")
    ] = None
    format: Annotated[
        str | None, VerbOption("Of a file: its format, if it is not found.", "NAME")
    ] = None
    epochs: Annotated[int | None, VerbOption("Of a file: tries of each item, averaged.", "N")] = (
        None
    )
    missing: Annotated[
        str,
        VerbOption("Of a file: items without a score: refuse (the default), or wrong.", "HOW"),
    ] = "refuse"
    partial: Annotated[
        bool, VerbOption("Of a file: take what there is of a run that broke off.")
    ] = False
    first: Annotated[bool, VerbOption("Of a file: make it the incumbent; compare nothing.")] = False
    errors: Annotated[
        str | None,
        VerbOption(
            "Of the first file: its scores are errors, predictions minus labels, by item; compare "
            "their mean square (mse) or size (mae), each capped as those of --dev FILE say.",
            "LOSS",
        ),
    ] = None
    promote_if_shown: Annotated[
        bool, VerbOption("Of a file: if it is shown, it is the incumbent from now on.")
    ] = False
    json_file: Annotated[
        str | None, VerbOption("Of a file: write the verdict there as JSON.", "FILE")
    ] = None
    summary: Annotated[
        str | None, VerbOption("Of a file: add the verdict there as a Markdown table.", "FILE")
    ] = None

    @classmethod
    def of(cls, file: str, options: dict[str, Any]) -> FileOfScores:
        """What the options of a command say of a file, which is taken out of them."""
        return cls(file, **{name: options.pop(name) for name in fields_of(cls) if name in options})

    @property
    def is_file(self) -> bool:
        """Whether there is such a file; else it is a question."""
        try:
            return Path(self.file).is_file()
        except (OSError, ValueError):  # too long for a name, say
            return False

    def require_nothing(self) -> None:
        """Refuse what is said of a file, where there is none."""
        if self != FileOfScores(self.file):
            raise InvalidArgument(
                f"there is no file {self.file[:100]!r}, and --against and others like it are for "
                "files of scores; give one, or a question with --at-least."
            )

    def require_question(self) -> None:
        """Refuse the name of a file that is not there: no question is written so."""
        if Path(self.file).suffix in SCORE_SUFFIXES:
            raise InvalidArgument(
                f"there is no file {self.file[:100]!r}; give the path of a file of scores, or a "
                'question: holdfast gate NAME "avg(late)" --at-least 0.2'
            )

    def read(self, key: str, bounds: tuple[float, float]) -> ItemScores:
        """The scores of the file."""
        from holdfast.evals import read

        return read(
            self.file,
            self.format,
            self.score,
            self.filter,
            key=key,
            epochs=self.epochs,
            bounds=bounds,
            partial=self.partial,
            missing=self.missing,
        )

    def name(self, scores: ItemScores) -> str:
        """What the candidate is called: never after what it holds."""
        name = self.called or scores.run
        if name is None:
            raise InvalidArgument(
                f"the file {self.file!r} does not say which run it is from; name the candidate as "
                f"no other one is named: --as {Path(self.file).stem or 'NAME'}."
            )
        return name

    @property
    def scale(self) -> str | None:
        """The mean of errors that is compared, where the file has errors; the first one says it."""
        if self.errors is not None and not self.first:
            raise InvalidArgument(
                f"--errors is {self.errors!r}, and what is compared is the same for all that "
                "follow the first; say it with --first, and leave it out here."
            )
        return self.errors

    @property
    def margin(self) -> dict[str, Any]:
        """What is to be shown."""
        return {"min_gain": self.min_gain or 0.0, "no_worse_than": self.no_worse_than}


def gate_scores(
    ledger: str,
    holdout: Holdout,
    source: FileOfScores,
    options: Mapping[str, Any],
    *,
    dry_run: bool,
    verbose: bool,
    as_json: bool,
) -> bool:
    """Submit the scores of a file and compare them; whether the candidate is to be promoted."""
    from holdfast.evals.gate import EvalGate

    bounds = options.get("bounds")
    gate = EvalGate.over(holdout, source.scale or bounds or bool)
    for option in ("json_file", "summary"):
        _require_writable(option, getattr(source, option))
    margin, against = source.margin, None if source.first else gate.opponent(source.against)
    if source.promote_if_shown:
        _require_promotable(source, against, gate.incumbent, options.get("where"))
    scores = source.read(gate.key, gate.score_range)
    name = source.name(scores)
    if source.promote_if_shown:
        against = gate.opponent_of(name)
    if against is not None:
        gate.require_comparable(name, scores, against)
    if dry_run:
        _rehearse(gate, name, scores, none_worse=margin["no_worse_than"] is not None)
        return True
    why, asked_by = options.get("why"), options.get("asked_by")
    gate.submit(
        name,
        scores,
        source.digest,
        dev=_dev_file(options.get("dev")),
        asked_by=asked_by,
        missing=source.missing,
        score=source.score,
        filter=source.filter,
        format=source.format,
        partial=source.partial,
    )
    if source.first:
        gate.promote(name, why=why or "the first", asked_by=asked_by)
        later = "" if gate.metric is None else f" Others will be compared in {gate.metric}."
        typer.echo(f"{name} is the incumbent; nothing was compared.{later}")
        typer.echo(f"\nNext: holdfast gate {quote(ledger)} FILE")
        return True
    compared = {each: options[each] for each in _COMPARED if each in options}
    verdict = gate.compare(name, against, **compared, **margin)
    is_promoted = source.promote_if_shown and verdict.promote
    if is_promoted:
        gate.promote_shown(verdict, asked_by=asked_by)
    if source.json_file is not None:
        text = json.dumps(verdict.to_dict(), indent=2, ensure_ascii=False)
        Path(source.json_file).write_text(f"{text}\n", encoding="utf-8")
    if source.summary is not None:
        with Path(source.summary).open("a", encoding="utf-8") as page:
            page.write(verdict.to_markdown())
    if as_json:
        show_json(verdict.to_dict())
        return verdict.promote
    promote = f"holdfast promote {quote(ledger)} {quote(name)}"
    promotes = verdict.promote and not is_promoted
    promoted = f"\n{name} is the incumbent." if is_promoted else ""
    details = f"\n  {verdict.details}" if verbose else ""
    typer.echo(f"{verdict}{details}{promoted}")
    typer.echo(f"\nNext: {promote if promotes else f'holdfast ledger {quote(ledger)}'}")
    return verdict.promote


def _require_promotable(
    source: FileOfScores, against: str | None, incumbent: str | None, where: str | None
) -> None:
    """Refuse to promote what would not be shown against the incumbent, on all items."""
    if source.first:
        raise InvalidArgument("--first promotes without a look; leave out --promote-if-shown.")
    if where is not None:
        raise InvalidArgument(
            f"--where {where!r} compares some items only, which promotes nobody; leave it out, or "
            "leave out --promote-if-shown."
        )
    if against != incumbent:
        raise InvalidArgument(
            f"--against {against!r} is not the incumbent, which is {incumbent!r}; leave it out, or "
            "leave out --promote-if-shown."
        )


def _dev_file(dev: Any) -> str | None:
    """The file with the candidate's scores on other items."""
    if dev is None or isinstance(dev, str):
        return dev
    raise InvalidArgument(
        f"--dev is {','.join(map(str, dev))}, and a file of scores is compared; give a file with "
        "the candidate's scores on other items, by item."
    )


def _rehearse(gate: EvalGate, name: str, scores: ItemScores, *, none_worse: bool) -> None:
    """What would be done; nothing is."""
    typer.echo(
        f"It would submit {plural(len(scores), 'score')} of {scores.scorer!r} as {name!r}, and "
        f"compare them: one candidate, with {gate.holdout.budget.more_candidates} now."
    )
    level, later = gate.levels
    typer.echo(
        f"It is decided at level {level:.2g}, and if it is shown, the next one at {later:.2g}: "
        "what is shown makes every later gain harder to show."
    )
    if none_worse:
        typer.echo(
            "To show that it is better, too, ask for that first, without --no-worse-than: if it is "
            "not shown, it costs one candidate and almost nothing else."
        )
    typer.echo("\nNext: the same without --dry-run.")


def _require_writable(option: str, file: str | None) -> None:
    """Refuse a file that cannot be written, before anything is submitted."""
    if file is None:
        return
    try:
        require.file(option, file).open("a", encoding="utf-8").close()
    except OSError as error:
        raise InvalidArgument(
            f"the file {file!r} cannot be written ({error.strerror}); name another one. Nothing "
            "was submitted."
        ) from None
