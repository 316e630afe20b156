"""Parameters of commands, derived from the records of the verbs and of what is declared."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import wraps
from inspect import Parameter, signature
from typing import Annotated, Any, Literal, ParamSpec, get_type_hints

import typer

from holdfast.cli.commands import read_bounds, read_number
from holdfast.errors import InvalidArgument
from holdfast.holdout.options import VerbOption, fields_of

_P = ParamSpec("_P")
_TABS = ("tab", "\\t")  # which nobody can type as it is


def with_options(
    *records: type, only: Collection[str] = ()
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of records, or `only` some; it gets those that are said, read."""
    kinds = {name: kind for name, kind in fields_of(*records).items() if not only or name in only}

    def derived(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def run(*arguments: Any, **words: Any) -> None:
            for name, (kind, _) in kinds.items():
                value = words.pop(name)
                if value not in (None, False, []):
                    words[name] = _reader(name, kind)(name, value)
            command(*arguments, **words)

        options = [
            Parameter(
                name,
                Parameter.KEYWORD_ONLY,
                default=False if kind is bool else None,
                annotation=Annotated[_TYPED.get(kind, (kind,))[0], typer_option(name, option)],
            )
            for name, (kind, option) in kinds.items()
        ]
        return with_parameters(run, command, options)

    return derived


def typer_option(name: str, option: VerbOption) -> Any:
    """An option as the command line shows it."""
    flag = option.flag or f"--{name.replace('_', '-')}"
    return typer.Option(flag, metavar=option.metavar, help=option.help)


def with_parameters(
    run: Callable[_P, None], command: Callable[..., None], more: Sequence[Parameter]
) -> Callable[_P, None]:
    """Show a command with the parameters that another function has, and with `more`."""
    signature_before, hints = signature(command), get_type_hints(command, include_extras=True)
    own = [
        each.replace(annotation=hints[name])
        for name, each in signature_before.parameters.items()
        if each.kind is not Parameter.VAR_KEYWORD
    ]
    parameters = [
        each.replace(kind=Parameter.KEYWORD_ONLY) if each.default is not Parameter.empty else each
        for each in own
    ]
    first = [each for each in parameters if each.kind is not Parameter.KEYWORD_ONLY]
    rest = [each for each in parameters if each.kind is Parameter.KEYWORD_ONLY]
    in_order = [*first, *more, *rest] if len(more) > 1 else [*first, *rest, *more]
    run.__annotations__ = {each.name: each.annotation for each in in_order}
    run.__signature__ = signature_before.replace(parameters=in_order)  # type: ignore[attr-defined]
    return run


def _as_it_is(_: str, value: Any) -> Any:
    return value


def _expected(name: str, value: str) -> Any:
    return value if value == "training" else read_number(name, value)


def _bounds(_: str, value: tuple[str, str]) -> Any:
    return read_bounds(value)


# How the value of an option is typed, where that is not by its own type, and how it is read.
_TYPED: Mapping[Any, tuple[Any, Callable[[str, Any], Any]]] = {
    Any: (str | None, _as_it_is),
    float | None: (str | None, read_number),
    float | Literal["training"] | None: (str | None, _expected),
    int | None: (str | None, read_number),
    tuple[float, float] | None: (tuple[str, str] | None, _bounds),
    Sequence[str] | None: (list[str] | None, _as_it_is),
    str | Sequence[str] | None: (list[str] | None, _as_it_is),
    Mapping[str, Any] | None: (list[str] | None, _as_it_is),
}


def _reader(name: str, kind: Any) -> Callable[[str, Any], Any]:
    """How an option is read: some by their names, others by their types."""
    match name:
        case "sampling":
            return lambda _, text: sampling_of_text(text)
        case "separator":
            return lambda _, text: "\t" if text in _TABS else text
        case "options":
            from holdfast.cli.catalogues import options_of_text

            return lambda _, texts: options_of_text(texts)
        case "dev":
            return lambda _, text: _counts_of_text(text)
    return _TYPED.get(kind, (kind, _as_it_is))[1]


def _counts_of_text(text: str) -> tuple[int, ...] | str:
    """`40,10,1000` as counts; anything else is a file."""
    parts = text.split(",")
    return tuple(map(int, parts)) if all(each.strip().isdigit() for each in parts) else text


def sampling_of_text(text: str) -> Any:
    """`independent`, `clustered:COLUMN:LARGEST`, `clustered:COLUMN:fixed`, `m-dependent:M`, ...

    `clustered:COLUMN:LARGEST:within`: differences of groups are those inside units.

    To plan, a number stands for the column: `clustered:LARGEST`, `clustered:SIZE:fixed`.
    """
    from holdfast.data import sampling

    by_number = {
        "m-dependent": sampling.m_dependent,
        "dependency-graph": sampling.dependency_graph,
        "markov-chain": sampling.markov_chain,
    }
    kind, _, argument = text.partition(":")
    kind = kind.replace("_", "-")
    if kind == "independent" and not argument:
        return kind
    if kind == "clustered" and argument:
        return _clustered(argument)
    if kind == "declared" and argument:
        return _declared(argument)
    if kind in by_number and argument:
        return by_number[kind](read_number("sampling", argument))  # type: ignore[arg-type]
    raise InvalidArgument(
        f"sampling is {text!r}; it must be independent, clustered:COLUMN:LARGEST or "
        "clustered:COLUMN:fixed (to plan, clustered:LARGEST or clustered:SIZE:fixed; "
        "clustered:COLUMN:LARGEST:within for differences of groups inside units), "
        "m-dependent:M, dependency-graph:DEGREE, markov-chain:CONTRACTION or declared:SIGMA (also "
        "a family, as a ledger writes it)."
    )


def _clustered(argument: str) -> Any:
    from holdfast.data.sampling import clustered

    if argument.isdigit():
        return clustered("unit", largest=int(argument))
    name, _, sizes = argument.rpartition(":")
    if sizes == "within":
        name, _, sizes = name.rpartition(":")
        if name and sizes.isdigit():
            return clustered(name, largest=int(sizes), differences="within")
    if name and sizes.isdigit():
        return clustered(name, largest=int(sizes))
    if name.replace(".", "").isdigit() and sizes == "fixed":
        return clustered("unit", sizes="fixed", size=float(name))
    if name and sizes == "fixed":
        return clustered(name, sizes="fixed")
    return clustered(argument)


def _declared(argument: str) -> Any:
    from holdfast.data.sampling import declared
    from holdfast.theory.base.gamma import gamma_from_text

    if argument.startswith("{"):
        return declared(gamma=gamma_from_text(argument))
    return declared(sigma=read_number("sampling", argument))
