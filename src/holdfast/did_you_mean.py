"""Did you mean: what to write instead of a name, a word or an argument that there is not.

The nearest of the names there are, and what SQL, pandas, scikit-learn and R call the same thing:
one registry for questions, Python and the command line.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import wraps
from typing import ParamSpec, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")
_MOST_LISTED = 8
_LONGEST_SHOWN = 40


def near_names(name: object, names: Iterable[str], most: int = 1) -> list[str]:
    """The names that are spelled nearly so, the nearest first."""
    return get_close_matches(str(name), list(names), n=most)


def did_you_mean(
    name: object, names: Iterable[str], otherwise: str = "", write: Callable[[str], str] = repr
) -> str:
    """The question that ends an error's sentence, with the nearest name; or what is said else."""
    near = near_names(name, names)
    return f"did you mean {write(near[0])}?" if near else otherwise


def _spread(entries: Mapping[str, _T]) -> dict[str, _T]:
    """A registry with a line for each of the words that share one."""
    return {word: entry for words, entry in entries.items() for word in words.split()}


# Questions: statistics, words inside a value, and what stands behind a statistic.


STATISTICS_ELSEWHERE = _spread(
    {
        "max maximum min minimum": "an extreme of all rows cannot be estimated from some; ask for "
        "a quantile, as in quantile(delay, 0.99).",
        "corr cor pearson pearsonr spearman": "did you mean correlation?",
        "percentile percentile_cont percentile_disc approx_quantile": "did you mean quantile? Its "
        "level is a part of the rows, as in quantile(delay, 0.95).",
        "p50 p75 p90 p95 p99": "a percentile is a quantile, as in quantile(delay, 0.9).",
        "iqr": "ask for quantile(delay, 0.25) and quantile(delay, 0.75).",
        "stddev stddev_pop stddev_samp stdev sd": "did you mean std?",
        "var var_pop var_samp": "did you mean variance?",
        "cov covar_pop covar_samp": "did you mean covariance?",
        "tau kendalltau": "did you mean kendall?",
        "regr_slope lm ols": "did you mean slope?",
        "t_test ttest ttest_ind anova wilcox_test": "a difference of two groups is difference("
        "avg(delay) where arm = 'a', avg(delay) where arm = 'b'); it is shown by gate.",
        "mode value_counts table": "the share of each value is told by avg(origin = 'JFK'), or "
        "histogram(delay, 0, 10, 20).",
        "nunique count_distinct unique": "how many values there are cannot be estimated from some "
        "rows; the share of one is avg(origin = 'JFK').",
        "ratio": "ask for both parts, and divide their intervals; the share of rows is avg(late).",
        "roc_auc roc_auc_score": "did you mean auc?",
        "accuracy_score": "did you mean accuracy?",
        "f1_score": "did you mean f1?",
        "root_mean_squared_error": "did you mean rmse?",
        "mean_absolute_error": "did you mean mae?",
        "mean_squared_error": "did you mean mse?",
        "share rate pct percent percentage prop prob probability": "the share of rows is "
        "avg(delay > 15).",
    }
)
_DATE_PARTS = (
    "parts of a date are year, month, day, hour, minute and weekday (Monday is 1), as in "
    "month(day) = 6."
)
_ROUNDING = "compare instead, as in x >= 2.5 and x < 3.5."
_MATCHING = "texts are compared with =, in and like, as in origin like 'J%'."
_MISSING = "a missing value (NULL, NaN) is found by: x is null."
WORDS_ELSEWHERE = _spread(
    {
        "% mod": "percents are parts, 15 % is 0.15, and a remainder must be a column of its own.",
        "round floor ceil ceiling trunc truncate int": _ROUNDING,
        "^ ** power pow square": "a power is a product: x * x.",
        "&& &": "write and.",
        "|| |": "write or.",
        "~": "write not for the opposite, and where or by for groups, as in avg(x) by origin.",
        "!": "write not.",
        "` [ ] { }": 'the name of a column stands alone, or in double quotes: "mean radius".',
        "; ,": "ask one question at a time.",
        "distinct": "every row counts; leave out distinct.",
        "star *": "name a column, as in avg(delay > 15).",
        "dot .": "a column stands alone, and what is done to it around it, as in avg(delay > 15).",
        "where": "two groups are compared by difference(avg(x) where A, avg(x) where B).",
        "in": "'in' needs a list of values in parentheses, as in origin in ('JFK', 'LGA').",
        "log10 log2": "there is ln, the natural logarithm: ln(x) / ln(10).",
        "is_nan isnan isna isnull is_na ifnull": _MISSING,
        "now current_date current_timestamp today": "a date is written '2013-01-31'.",
        "date_trunc timestamp_trunc datepart date_part quarter week day_of_week dayofweek "
        "day_of_year dayofyear to_date str_to_date strftime": _DATE_PARTS,
        "concat": "between two texts stands a comma, as in origin in ('JFK', 'LGA').",
        "left right substring substr replace trim split_part regexp_like contains "
        "starts_with startswith": _MATCHING,
        "ifelse np.where": "write case when late then 1 else 0 end.",
        "max min": "of several values of a row write greatest(a, b) or least(a, b).",
        "sum count median std variance": "one statistic stands around the whole question.",
    }
)
CLAUSES = _spread(
    {
        "select": "leave out select, and begin with the statistic, as in avg(delay).",
        ";": "leave out the semicolon.",
        "from": "leave out from: it is asked of the table that was opened.",
        "having": "leave out having: choose among the groups when they are answered.",
        "order_by order limit": "leave out order by and limit: sort the answers.",
        "as": "leave out as: why= (--why) keeps a note.",
        "over": "groups are written with by, as in avg(delay) by origin.",
        "group_by group": "write by alone, as in avg(delay) by origin.",
        "by": "write it like avg(delay) by origin, carrier, with one or two columns; of a part of "
        "a date (year, month, day, hour, minute, weekday) ask where month(day) = 6, or add a "
        "column.",
        "per for if when given filter with": "rows are chosen with where, as in avg(delay) where "
        "origin = 'JFK', and groups with by, as in avg(delay) by origin.",
        "- + / *": "two groups are compared by difference(avg(x) where A, avg(x) where B).",
        ",": "ask several one by one, or together: ask_many([...]).",
        "= ==": "whether it is about that is checked: check(question, guess={number}) (--guess "
        "{number}).",
        "> >=": "whether it is more is shown by a gate: gate(question, at_least={number}) "
        "(--at-least {number}).",
        "< <=": "whether it is less is shown by a gate: gate(question, at_most={number}) "
        "(--at-most {number}).",
        ".": "the statistic stands first, and its column in parentheses, as in avg(delay).",
    }
)


# Arguments of calls and options of commands: names that other tools have, and ours with an example.


_EXAMPLES = {  # in Python, on the command line
    "a": ("'main.csv'", ""),
    "at_least": ("0.2", "0.2"),
    "at_most": ("0.2", "0.2"),
    "b": ("'candidate.csv'", ""),
    "bounds": ("(0, 100)", "0 100"),
    "by": ("'origin'", "origin"),
    "candidates": ("100", "100"),
    "confidence_level": ("0.95", "0.95"),
    "guess": ("0.24", "0.24"),
    "half_width": ("6", "6"),
    "holdout": ("holdfast.sklearn.ReusableHoldout(X, y, ledger='models.ledger')", ""),
    "key": ("'id'", "id"),
    "ledger": ("'flights.ledger'", "flights"),
    "min_gain": ("0.01", "0.01"),
    "question": ("'avg(delay > 15)'", ""),
    "questions": ("500", "500"),
    "random_state": ("0", "0"),
    "rows": ("20_000", "20000"),
    "sampling": ("holdfast.clustered('patient', largest=12)", "clustered:patient:12"),
    "schema": ("{'delay': (-60, 180), 'origin': ['EWR', 'JFK']}", "schema.toml"),
    "score": ("'accuracy'", "accuracy"),
    "scoring": ("'accuracy'", ""),
    "test_size": ("0.2", "0.2"),
    "tolerance": ("0.025", "0.025"),
    "where": ("\"origin = 'JFK'\"", "\"origin = 'JFK'\""),
}
OPTIONS: Mapping[str, tuple[str, ...]] = _spread(
    {
        "alpha confidence conf_level ci significance confidence_level": ("confidence_level",),
        "filter condition query subset mask cond": ("where",),
        "group_by groupby per": ("by",),
        "groups group": ("by", "sampling"),
        "clusters cluster units unit": ("sampling",),
        "range ranges low high lower upper": ("bounds", "schema"),
        "bounds values": ("schema", "bounds"),
        "min minimum greater_than more_than threshold above lower_bound at_least": (
            "at_least",
            "min_gain",
            "bounds",
            "schema",
        ),
        "max maximum less_than below upper_bound": ("at_most", "bounds", "schema"),
        "expected estimate prediction value guess": ("guess",),
        "width precision margin error epsilon eps": ("half_width", "tolerance"),
        "n nrows n_rows size sample_size": ("rows",),
        "n_questions queries k": ("questions",),
        "metric metrics scorer": ("scoring", "score"),
        "train_size frac fraction": ("test_size",),
        "seed": ("random_state",),
        "file filename path db": ("ledger",),
        "o out": ("output",),
        "train_split test_split test_size": ("split", "test_size"),
    }
)
_TAKEN_BY = {  # where an option goes, for calls that do not take it
    "confidence_level": ("open", "init"),
    "schema": ("open", "init"),
    "sampling": ("open", "init"),
    "guess": ("check", "check"),
    "at_least": ("gate", "gate"),
    "at_most": ("gate", "gate"),
    "by": ("ask", "ask"),
    "where": ("ask", "ask"),
}


_MEANING = {"confidence_level", "sampling", "schema", "test_size"}  # another value than was typed


def option_meant(
    name: str, known: Iterable[str], *, typed: bool = False, values: Sequence[str] = ()
) -> str:
    """What to write for an option that a call, or as `typed` a command, does not take.

    `values` is what was typed after it, which goes to the option that was meant.
    """
    known = set(known)
    wanted = [each for each in OPTIONS.get(name, ()) if each in known and each != name]
    near = wanted or near_names(name, known)
    if near:
        return f"did you mean {option_written(near[0], typed=typed, values=values)}?"
    elsewhere = [each for each in OPTIONS.get(name, ()) if each in _TAKEN_BY]
    if elsewhere:
        verb = _TAKEN_BY[elsewhere[0]][typed]
        place = f"holdfast {verb}" if typed else f"{verb}()"
        return f"{option_written(elsewhere[0], typed=typed)} goes to {place}."
    some = sorted(known)[:_MOST_LISTED]
    return f"it takes {', '.join(option_written(each, typed=typed, bare=True) for each in some)}."


def option_written(
    name: str, *, typed: bool = False, bare: bool = False, values: Sequence[str] = ()
) -> str:
    """An option with an example of its value, or with that of `values`, unless it is `bare`."""
    example = "" if bare else _EXAMPLES.get(name, ("", ""))[typed]
    wanted = 2 if name == "bounds" else 1
    if example and name not in _MEANING and len(values) >= wanted:
        example = " ".join(f'"{each}"' if " " in each else each for each in values[:wanted])
    return f"--{name.replace('_', '-')} {example}".rstrip() if typed else f"{name}={example}"


def require_arguments(
    called: str,
    parameters: Iterable[inspect.Parameter],
    positional: Sequence[object],
    options: Mapping[str, object],
) -> None:
    """Refuse a call with what it does not take, in one sentence that says what it does."""
    everything = [each for each in parameters if each.name != "self"]
    own = [each for each in everything if each.kind is not each.VAR_KEYWORD]
    known = [each.name for each in own]
    for name in options:
        if name not in known and own == everything:
            raise TypeError(f"{called}() takes no {name}=; {option_meant(name, known)}")
    unnamed = [each.name for each in own if each.kind is not each.KEYWORD_ONLY]
    if len(positional) > len(unnamed):
        first = " and ".join(unnamed) or "nothing"
        others = [f"{each}=" for each in known if each not in unnamed][:_MOST_LISTED]
        raise TypeError(
            f"{called}() takes {first} without a name, and "
            f"{repr(positional[len(unnamed)])[:_LONGEST_SHOWN]} is one more; name it: "
            f"{', '.join(others) or 'there is no other'}."
        )
    filled = {*unnamed[: len(positional)], *options}
    for each in own:
        if each.default is each.empty and each.name not in filled:
            raise TypeError(f"{called}() needs {each.name}=; give it{_for_example(each.name)}.")


def _for_example(name: str) -> str:
    return f", such as {option_written(name)}" if name in _EXAMPLES else ""


def checks_arguments(called: str) -> Callable[[Callable[_P, _T]], Callable[_P, _T]]:
    """Give a function, or a method, an error that helps where it is called with other arguments."""

    def checking(function: Callable[_P, _T]) -> Callable[_P, _T]:
        parameters = list(inspect.signature(function).parameters.values())
        skipped = bool(parameters) and parameters[0].name == "self"

        @wraps(function)
        def checked(*given: _P.args, **options: _P.kwargs) -> _T:
            require_arguments(called, parameters, given[skipped:], options)
            return function(*given, **options)

        return checked

    return checking


# Attributes of what people hold, and commands.


_ATTRIBUTES: Mapping[str, tuple[str, ...]] = _spread(
    {
        "query sql execute run get mean avg evaluate": ("ask", "compare"),
        "head tail sample describe info dtypes shape loc iloc": ("schema", "board"),
        "gate test ask": ("compare", "gate"),
        "score predict": ("ask", "submit"),
        "add record upload append": ("submit", "attach"),
        "fit": ("ask",),
        "history log logs answers": ("ledger", "board"),
        "remaining left cost": ("budget",),
        "plot": ("chart",),
        "summary": ("explain", "board"),
    }
)
NAMES = _spread(  # of the package
    {
        "train_test_split": "holdfast.split(df, test_size=0.5)",
        "read_csv read_parquet load connect_to Dataset DataFrame": 'holdfast.open("hold.csv")',
        "ask query check mean_of": 'holdfast.open(df, name="flights").ask("avg(delay > 15)")',
        "gate": 'holdfast.EvalGate, or holdfast.open(df, name="flights").gate',
        "init create": 'holdfast.open(df, name="flights")',
        "ReusableHoldout HoldoutSearchCV": "holdfast.sklearn.ReusableHoldout",
    }
)
COMMANDS_ELSEWHERE = _spread(
    {
        "open new create protect start": "init",
        "query sql run avg mean median select": "ask",
        "test assert": "gate",
        "diff": "compare",
        "status info remaining": "budget",
        "log history show answers": "ledger",
        "plot draw": "chart",
        "verify validate": "audit",
        "submit upload add": "attach",
        "train_test_split": "split",
        "ls": "list",
    }
)


# The option of a command that its one argument too many was meant for.
EXTRA_ARGUMENTS = {
    "certificate": "--output",
    "check": "--guess",
    "gate": "--at-least",
    "init": "--name",
    "plan": "--rows",
    "split": "--test-size",
}


def without_attribute(what: str, thing: object, name: str, instead: str = "") -> AttributeError:
    """The error about an attribute that something has not, with the one that was meant."""
    names = [each for each in dir(type(thing)) if not each.startswith("_")]
    matches = [each for each in _ATTRIBUTES.get(name, ()) if each in names]
    near = matches or ([] if instead else near_names(name, names))
    hint = f"did you mean {near[0]}?" if near else instead
    return AttributeError(
        f"{what} has no {name!r}; {hint}" if hint else f"{what} has no {name!r}.",
        name=name,
        obj=thing,
    )


def number_meant(text: object) -> float | None:
    """The number that a text was meant to be: 24 % is 0.24, and 0,24 is 0.24."""
    if not isinstance(text, str):
        return None
    bare = text.strip()
    percent = bare.endswith("%")
    try:
        number = float(bare.removesuffix("%").strip().replace(",", "."))
    except ValueError:
        return None
    return number / 100 if percent else number
