"""One question, one text: spellings meet, and a ledger's text reads as the same statistic."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import polars as pl
import pytest

import holdfast
from holdfast.data.design import ANY_GROUP
from holdfast.errors import InvalidArgument, InvalidQuestion, NotBounded
from holdfast.statistics.bind import bind, read_question, recorded_statistic
from holdfast.statistics.call import histogram
from holdfast.statistics.derived import described_parts, is_derived
from holdfast.statistics.entry import Table, TableCall
from holdfast.statistics.labelled import labelled
from holdfast.statistics.mean import GroupMean, Mean
from holdfast.statistics.whole import TableFunction, statistic
from tests.statistics.zoo import CASES, COMPLETE, QUANTILES, SCHEMA, parts_of, public, table

FRAME = table(200)
PUBLIC = public(FRAME, schema=COMPLETE)
UNPLANNED = public(FRAME, [], schema=COMPLETE)
WITH_MISSING = public(FRAME)
EITHER = pytest.mark.parametrize("at", [PUBLIC, WITH_MISSING], ids=["complete", "with missing"])
EVERY = [case.question for case in CASES] + [text for text, *_ in QUANTILES]


@EITHER
@pytest.mark.parametrize("question", EVERY)
def test_a_canonical_text_reads_as_itself(question: str, at: Table) -> None:
    bound = bind(question, at)
    again = bind(bound.text, at)
    assert again.text == bound.text
    assert (again.low, again.high) == (bound.low, bound.high)
    assert [part.text for part in parts_of(again)] == [part.text for part in parts_of(bound)]


@EITHER
@pytest.mark.parametrize("question", EVERY)
def test_every_part_can_be_measured_again_from_the_text_in_a_ledger(
    question: str, at: Table
) -> None:
    for part in parts_of(bind(question, at)):
        again = recorded_statistic(part.text, at)
        assert again.text == part.text
        assert (again.low, again.high, again.row) == (part.low, part.high, part.row)
        assert type(again) is type(part)
        assert again.rows(200) == part.rows(200)


SOME_Y = replace(COMPLETE, never_null={"y": False})  # every row has a z, and not every one a y
ANY_GROUPS = [Table(schema, ANY_GROUP) for schema in (COMPLETE, SCHEMA, SOME_Y)]


def require_rows_in_texts(question: str, at: Table) -> None:
    bound = bind(question, at)
    for part in described_parts(bound) if is_derived(bound) else ():
        again = bind(part.text, at)
        assert getattr(again, "inside", None) == getattr(part, "inside", None), part.text


@pytest.mark.parametrize("at", ANY_GROUPS, ids=["complete", "with missing", "some y"])
@pytest.mark.parametrize("question", [*EVERY, "correlation(y, z)", "slope(z, y)"])
def test_the_text_of_a_part_says_of_which_rows_it_is(question: str, at: Table) -> None:
    """Else what is of the rows with another value, too, is answered for all, or taken for that."""
    require_rows_in_texts(question, at)


def test_so_it_does_where_the_rows_with_a_value_are_public() -> None:
    for question in ("covariance(y, z)", "correlation(y, z)", "slope(z, y)"):
        require_rows_in_texts(question, public(FRAME, ["y"], schema=SOME_Y))


# Spellings whose normal form was once another text than that of its own reading.
TRICKY = [
    "avg(not (k > k))",
    "avg(clip(case when not (k > k) then 1 else k end, 0, 3))",
    "difference(not (k > k), new)",
    "covariance(clip(coalesce(new, old), 0, 1), x)",
    "avg(coalesce((coalesce(new, old)), 0) * (new or old))",
    # Bounds that were not applied to x, because a clip of the whole names its own.
    "avg(clip(least(greatest(x, 0.5), 200), -9999, 9999))",
    "avg(clip(least(greatest(x, 0.5), 200), 0, 300))",
    "variance(clip(case when abs(x) < 500 then least(abs(x), 500) else 0 end, -1e6, 1e6))",
    "brier(least(greatest(x, 0), 1), y)",
    "log_loss(least(greatest(x, 0), 1), y)",
    "quantile(clip(least(greatest(x, 0.5), 200), -9999, 9999), 0.5)",
]


@EITHER
@pytest.mark.parametrize("question", TRICKY)
def test_a_tricky_text_reads_as_itself_and_is_measured_again(question: str, at: Table) -> None:
    """Else an honest ledger fails its audit, and a crash gives its question up."""
    test_a_canonical_text_reads_as_itself(question, at)
    for part in parts_of(bind(question, at)):
        again = recorded_statistic(part.text, at)
        assert again.text == part.text
        assert again == part or (again.row, again.low, again.high) == (
            part.row,
            part.low,
            part.high,
        )


def test_a_clip_that_changes_nothing_still_says_whose_bounds_apply() -> None:
    wide, wider, bounded = (
        bind(text, PUBLIC).text
        for text in (
            "avg(clip(least(greatest(x, 0.5), 200), -9999, 9999))",
            "avg(clip(least(greatest(x, 0.5), 200), 0, 300))",
            "avg(least(greatest(x, 0.5), 200))",  # x itself is cut to what was declared for it
        )
    )
    assert wide == wider == "avg(clip(least(greatest(x, 0.5), 200), 0.5, 200))"
    assert bounded == "avg(least(greatest(clip(x, -60, 180), 0.5), 200))"
    # What shows no column as it is has nothing to say.
    assert bind("avg(clip(new + old, -5, 5))", PUBLIC).text == "avg(new + old)"
    assert bind("avg(clip(clip(x, 0, 1) + new, -5, 5))", PUBLIC).text == "avg(clip(x, 0, 1) + new)"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("correlation(x, z)", "correlation(clip(z, -20, -3), x)"),
        ("covariance(x, z)", "COVARIANCE(z, x)"),
        ("avg(new) where 'A' = arm", "mean(new) where arm = 'A'"),
        ("avg(x) where not (k <= 4)", "avg(x) where 4 < k"),
        ("proportion(new)", "avg(new)"),
        ("median(k)", "quantile(k, 0.5, 1)"),
        ("median(clip(k, 0, 20))", "quantile(k, 0.50)"),
        ("accuracy(new, y)", "avg(y = new)"),
        ("difference(x, z)", "avg(coalesce(x, 0) - coalesce(z, -3))"),
        ("difference(new, old)", "difference(new = true, old)"),
        ("log_loss(p, y)", "log_loss(p, y, 0.01)"),
        ("log_loss(p, y)", "avg(log_loss(clip(p, 0, 1), y))"),
        ("auc(p, y)", "auc(p, y = true)"),
        ("f1(new, y)", "f1(new = true, y)"),
        ("avg(z, variance <= 9)", "avg(z, VARIANCE<=9.0)"),
        ("(avg(new))", "avg(new)"),
    ],
)
def test_spellings_of_one_question(one: str, other: str) -> None:
    assert bind(one, PUBLIC).text == bind(other, PUBLIC).text


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (holdfast.mean("x", where="arm = 'A'"), "avg(x) where arm = 'A'"),
        (holdfast.mean("z", variance=9), "avg(z, variance <= 9)"),
        (holdfast.proportion("new"), "avg(new)"),
        (holdfast.sum("z", population=10), "sum(z, 10)"),
        (holdfast.count("new", population=10, where="y"), "count(new, 10) where y"),
        (holdfast.variance("z"), "variance(z)"),
        (holdfast.std("x", bounds=(0, 5)), "std(clip(x, 0, 5))"),
        (holdfast.covariance("z", "x"), "covariance(x, z)"),
        (holdfast.correlation("z", "x", where="y"), "correlation(x, z) where y"),
        (holdfast.quantile("x", 0.9, step=2), "quantile(x, 0.9, 2)"),
        (holdfast.median("k"), "median(k)"),
        (holdfast.difference("new", "old"), "difference(new, old)"),
        (
            holdfast.difference(
                holdfast.mean("x", where="arm = 'A'"), holdfast.mean("x", where="k > 1")
            ),
            "difference(avg(x) where arm = 'A', avg(x) where k > 1)",
        ),
        (holdfast.auc("p", "y"), "auc(p, y)"),
        (holdfast.accuracy("new", "y"), "accuracy(new, y)"),
        (holdfast.error("new", "y", where="k > 1"), "error(new, y) where k > 1"),
        (holdfast.log_loss("p", "y", floor=0.05), "log_loss(p, y, 0.05)"),
        (holdfast.brier("p", "y"), "brier(p, y)"),
        (holdfast.f1("new", "y"), "f1(new, y)"),
    ],
)
def test_python_and_text_name_the_same_statistic(made: Any, text: str) -> None:
    assert bind(made, PUBLIC).text == bind(text, PUBLIC).text


def test_different_questions_have_different_texts() -> None:
    texts = [bind(question, WITH_MISSING).text for question in EVERY]
    assert len(set(texts)) == len(texts)
    few = [
        "avg(x)",
        "avg(x, variance <= 9)",
        "avg(x, variance <= 10)",
        "avg(x) where y",
        "quantile(x, 0.5, 1)",
        "quantile(x, 0.5, 2)",
        "quantile(x, 0.6, 1)",
        "log_loss(p, y)",
        "log_loss(p, y, 0.02)",
        "log_loss(p, not y)",
        "sum(x, 10)",
        "sum(x, 11)",
    ]
    assert len({bind(question, PUBLIC).text for question in few}) == len(few)


def test_a_function_of_the_table_is_known_by_all_that_was_declared() -> None:
    def made(**declared: Any) -> TableFunction:
        facts: dict[str, Any] = {"columns": ["x"], "bounds": (0, 2), "name": "f"}
        return statistic(lambda _: 1.0, **(facts | declared))

    every = [
        made(change=0.1),
        made(change=0.2),
        made(sigma=0.1),
        made(sigma=0.1, b=0.5),
        made(change=0.1, version="2"),
        made(change=0.1, bounds=(0, 3)),
        made(change=0.1, columns=["x", "k"]),
        made(change=0.1, name='tricky" in [0, 1], change 9'),
    ]
    assert len({each.text for each in every}) == len(every)
    for each in every:
        again = recorded_statistic(each.text, PUBLIC)
        assert isinstance(again, TableFunction)
        assert (again.bounds, again.change, again.gamma) == (each.bounds, each.change, each.gamma)
    for wrong in ({}, {"change": 1.0, "sigma": 1.0}, {"b": 1.0}, {"change": 0.0}, {"sigma": -1.0}):
        with pytest.raises(InvalidArgument):
            made(**wrong)


def test_means_of_polars_expressions_are_read_back() -> None:
    by_polars = bind(holdfast.mean(pl.col("x").abs(), bounds=(0, 5), variance=2.0), PUBLIC)
    assert recorded_statistic(by_polars.text, PUBLIC) == by_polars


def test_means_of_functions_are_read_back_but_for_their_values() -> None:
    function = holdfast.row_function(
        lambda frame: frame["x"], columns=["x"], bounds=(-1, 1), name="g", version="1"
    )
    question = bind(holdfast.mean(function, variance=0.5), PUBLIC)
    again = recorded_statistic(question.text, PUBLIC)
    assert isinstance(again, Mean)
    assert again.text == question.text
    assert (again.low, again.high) == (question.low, question.high)
    with pytest.raises(InvalidQuestion, match="is left"):
        again.row.source.values(FRAME)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "text", ["avg(15 < x)", "std(x)", "quantile(x, 0.5, 1)", "avg(gone > 1)", "statistic", ""]
)
def test_what_no_ledger_would_write_is_not_read_back(text: str) -> None:
    with pytest.raises(InvalidQuestion):
        recorded_statistic(text, PUBLIC)


# What cannot be asked ----------------------------------------------------------------------------

REFUSED = [
    ("avrage(x)", "did you mean avg"),
    ("maximum(x)", "cannot be estimated from some; ask for a quantile"),
    ("sqrt_of_sum(x)", "is not a statistic; there are accuracy, auc"),
    ("corr(x, z)", "did you mean correlation"),
    ("percentile(x, 0.5)", "did you mean quantile"),
    ("regr_slope(x, z)", "did you mean slope"),
    ("avg(x, z)", "avg takes 1 argument, and 2 were given"),
    ("difference(avg(x, z), avg(z))", "Each mean of a difference takes 1 argument"),
    ("avg()", "argument of the question is missing"),
    ("avg(x,)", "argument of the question is missing"),
    ("correlation(x)", "correlation takes 2 arguments, and 1 was given"),
    ("quantile(x)", "quantile takes 2 or 3 arguments"),
    ("quantile(x, 1.5)", "level is 1.5"),
    ("quantile(x, 0)", "level is 0"),
    ("quantile(x, half)", "level is 'half'; it must be a number"),
    ("quantile(x, 0.5, 0)", "step is 0"),
    ("quantile(x, 0.5, 1e-300)", "step is 1e-300"),
    ("quantile(clip(x, 3, 3), 0.5)", "is always 3; it needs no quantile"),
    ("sum(x, 0)", "population is 0"),
    ("sum(x, 1.5)", "population is 1.5"),
    ("sum(x, 1e300)", "population is"),
    ("sum(x, 9007199254740993)", "population is"),  # as a double, another number
    ("count(x, 10)", "count needs a condition"),
    ("avg(x) where z + 1", "A condition is needed"),
    ("avg(x) where", "After where comes a condition"),
    ("avg(x) where false", "holds for no row"),
    ("avg(x) where arm = 'Z'", "No row of the design has arm = 'Z'"),
    ("avg(x, variance <= -1) ", "variance is -1"),
    ("avg(x, variance <= 1) where y", "without where"),
    ("variance(x) where k > 3", "must be about design columns here, and k > 3 is not"),
    ("quantile(x, 0.5) where k > 3", "must be about design columns"),
    ("sum(x, 10) where k > 3", "must be about design columns"),
    ("auc(p, new)", "declare its columns with design="),
    ("auc(p, y or true)", "of one class"),
    ("auc(p, y is null and y)", "of one class"),
    ("auc(arm, y)", "an AUC needs a number"),
    ("auc(p, arm)", "A condition is needed, and arm is text"),
    ("auc(p, y) where arm = 'A'", "it has no where"),
    ("f1(new, y) where arm = 'A'", "it has no where"),
    ("log_loss(p, y) where arm = 'A'", "it has no where"),
    ("avg(log_loss(p, y)) where arm = 'A'", "A log loss is asked of all rows"),
    ("avg(log_loss(p, y), variance <= 1)", "A log loss is asked of all rows"),
    ("log_loss(p, y, 0)", "floor is 0"),
    ("log_loss(p, y, 0.7)", "floor is 0.7"),
    ("accuracy(new, arm)", "mixes"),
    ("difference(avg(x), rest)", "The rest is that of a group"),
    ("effect(x, arm)", "the values of arm are not declared"),
    ("effect(x, k)", "An effect compares two arms, and k has 21 values"),
    ("difference(avg(x), z)", "two values of the same rows, or of two means"),
    ("difference(std(x), std(z))", "no function 'std'"),
    ("histogram(x, 0, 1)", "many answers; ask for them by themselves"),
    ("avg(x) extra", "write it like avg"),
    ("avg(x", "not closed"),
    ("", "empty|write it like avg|question"),
]


@pytest.mark.parametrize(("question", "words"), REFUSED)
def test_what_cannot_be_asked_gets_one_clear_sentence(question: str, words: str) -> None:
    with pytest.raises(InvalidQuestion, match=words) as refusal:
        bind(question, PUBLIC)
    assert len(str(refusal.value)) < 260
    assert str(refusal.value).endswith((".", "?"))


def test_unbounded_columns_are_refused_in_every_statistic() -> None:
    free = type(PUBLIC)(type(PUBLIC.schema)(PUBLIC.schema.types))
    for name in ("variance(x)", "correlation(x, z)", "difference(x, z)"):
        with pytest.raises(NotBounded, match="No bounds are declared"):
            bind(name, free)
    assert bind("brier(p, y)", free).high == 1.0  # probabilities are cut to [0, 1]
    assert bind("log_loss(p, y)", free).high == pytest.approx(-math.log(0.01))


@pytest.mark.parametrize(
    "edges", [[0.0], [], [0.0, 0.0], [0.0, 2.0, 1.0], [3.0, 1.0], [0.0, "b"], [0.0, math.inf]]
)
def test_edges_of_a_histogram_are_in_order(edges: list[Any]) -> None:
    with pytest.raises((InvalidQuestion, InvalidArgument), match="edge"):
        labelled(TableCall("histogram", ("x", *edges)), PUBLIC, lambda _: [])


@pytest.mark.parametrize("edges", [10, "0, 10", None])
def test_the_number_of_bins_is_no_edges(edges: Any) -> None:
    with pytest.raises(InvalidArgument, match="the ends of all bins"):
        histogram("x", edges)


def test_tables_of_answers_by_text() -> None:
    call = read_question("histogram(x, -5, 0, 2.5)")
    assert isinstance(call, TableCall)
    assert [label for label, _ in labelled(call, PUBLIC, lambda _: []).members] == [
        "[-5, 0)",
        "[0, 2.5]",
    ]
    with pytest.raises(InvalidQuestion, match="has no group"):
        labelled(holdfast.mean("x", by="arm"), PUBLIC, lambda _: [])


def test_groups_that_doubles_cannot_tell_apart_are_refused() -> None:
    """Rows of 2^53 and of 2^53 + 1 would be one group, under two names."""
    by_site = holdfast.mean("x", by="site")
    with pytest.raises(InvalidQuestion, match=r"has the group 9007199254740993.*as text"):
        labelled(by_site, UNPLANNED, lambda _: [(3,), (2**53 + 1,)])
    assert len(labelled(by_site, UNPLANNED, lambda _: [(2,), (-(2**53),), (2**53,)]).members) == 3


def test_functions_of_python_have_no_groups_and_no_moments() -> None:
    function = holdfast.row_function(
        lambda frame: frame["x"], columns=["x"], bounds=(-1, 1), name="g", version="1"
    )
    for question in (
        holdfast.mean(function, where="arm = 'A'"),
        holdfast.mean(function, where="k > 3"),
        holdfast.variance(function),
        holdfast.quantile(function, 0.5),
        holdfast.difference(function, "x"),
    ):
        with pytest.raises(InvalidQuestion, match="need a row expression"):
            bind(question, PUBLIC)
    with pytest.raises(InvalidArgument, match="without by="):
        holdfast.mean("x", by="arm", variance=3)  # type: ignore[call-overload]
    with pytest.raises(InvalidArgument, match="better"):
        holdfast.difference("new", "old", better="more")  # type: ignore[call-overload]


def test_a_design_makes_groups_public_and_nothing_else_does() -> None:
    assert isinstance(bind("avg(x) where arm = 'A'", PUBLIC), GroupMean)
    assert not isinstance(bind("avg(x) where arm = 'A'", UNPLANNED), GroupMean)
    assert not isinstance(bind("avg(x) where arm = 'A' and k > 1", PUBLIC), GroupMean)
    with pytest.raises(InvalidQuestion, match="declare its columns with design="):
        bind("auc(p, y)", UNPLANNED)


def test_columns_whose_names_look_like_statistics() -> None:
    at = type(PUBLIC)(type(PUBLIC.schema)({"log_loss_a": PUBLIC.schema.types["x"]}))
    assert bind("avg(log_loss_a > 1)", at).text == "avg(log_loss_a > 1)"
