"""The question builder: every statistic has an example, clicks make texts, texts are read back."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings, strategies as st

import holdfast
from holdfast.question.parse import reads_alike
from holdfast.service.builder import Builder, Predicate, PublicColumn
from holdfast.statistics.registry import STATISTICS
from tests.service.serving import DECLARED, ROWS, table

COLUMNS = (
    PublicColumn("item", "integer", key=True),
    PublicColumn("delay", "float", (-60.0, 180.0)),
    PublicColumn("distance", "float", (0.0, 5_000.0)),
    PublicColumn("late", "boolean"),
    PublicColumn("origin", "text", values=("EWR", "JFK", "O'Hare")),
    PublicColumn("the day", "date"),
    PublicColumn("hour", "integer", (0.0, 23.0)),
)
BUILDER = Builder(COLUMNS, 1_000)


@pytest.fixture(scope="module")
def holdout() -> holdfast.Holdout:
    data = table().with_columns(distance=table()["x"] * 2)
    schema = {**DECLARED["schema"], "distance": (-120.0, 360.0)}
    return holdfast.open(data, name="bench", **{**DECLARED, "schema": schema})


def builder_of(holdout: holdfast.Holdout) -> Builder:
    schema = holdout.schema
    columns = [
        PublicColumn(
            name, str(kind), schema.bounds.get(name), tuple(map(str, schema.values.get(name, ())))
        )
        for name, kind in schema.types.items()
    ]
    return Builder(columns, ROWS)


@pytest.mark.parametrize("name", sorted(STATISTICS.keys() - {"catoni"}))
def test_every_statistic_has_an_example_that_is_priced(
    holdout: holdfast.Holdout, name: str
) -> None:
    builder = builder_of(holdout)
    example = next(each["example"] for each in builder.examples if each["name"] == name)
    cost = holdout.cost(example)
    assert cost.questions >= 1
    draft = builder.read(example)
    assert draft is not None
    assert draft.text == example


@pytest.mark.parametrize(
    ("text", "pick", "after"),
    [
        ("", "choose share", "avg(late)"),
        ("median(delay)", "choose share", "avg(delay > 60)"),
        ("", "choose average", "avg(delay)"),
        ("avg(late)", "choose share", "avg(late)"),
        ("avg(delay > 15)", "choose median", "median(delay)"),
        ("mean(delay > 15)", "column slot 0: distance", "avg(distance > 2500)"),
        ("avg(delay)", "column slot 0: hour", "avg(hour)"),
        ("avg(delay)", "column slot 0: item", "avg(delay)"),
        ("avg(delay > 15)", "column slot 0: origin", "avg(origin = 'EWR')"),
        ("avg(late)", "filter origin", "avg(late) where origin = 'EWR'"),
        ("avg(late) where delay > 3", "filter late", "avg(late) where delay > 3 and late"),
        ("avg(late) where delay > 3 and hour < 5", "drop 0", "avg(late) where hour < 5"),
        ("avg(late)", "by origin", "avg(late) by origin"),
        ("avg(late) by origin", "by origin", "avg(late)"),
        ("avg(late) by origin, hour", "by late", "avg(late) by hour, late"),
        ("avg(late) where origin = 'JFK'", "choose std", "std(delay) where origin = 'JFK'"),
        ("avg(late)", "example quantile", "quantile(delay, 0.9)"),
        (
            "difference(avg(delay) where late, avg(delay) where not late)",
            "column slot 1: origin",
            "difference(avg(delay) where origin = 'EWR', avg(delay) where origin = 'JFK')",
        ),
        ("no question (", "by origin", "no question ("),
        ("avg(late)", "column slot 9: delay", "avg(late)"),
        ("avg(late)", "<script>", "avg(late)"),
    ],
)
def test_a_click_makes_another_text(text: str, pick: str, after: str) -> None:
    assert BUILDER.after_click(text, pick) == after


@pytest.mark.parametrize(
    "text",
    [
        "avg(delay, variance <= 0.2)",
        "(avg(delay))",
        "quantile(delay, 0.5, 0.1)",
        "catoni(delay, 3)",
        "avg(delay",
    ],
)
def test_what_cannot_be_put_together_again_is_left_as_it_is(text: str) -> None:
    """Fields that say less than a text must not be asked in its place."""
    fields = {"slot 0 operator": "<", "slot 0 value": "5", "where 0 value": "false"}
    assert BUILDER.with_fields(text, fields) == text
    assert BUILDER.read(text) is None
    assert BUILDER.after_click(text, "by origin") == text


@pytest.mark.parametrize(
    "text",
    [
        "avg(delay > 15) where origin = 'JFK' or late",
        "AVG( delay>15 ) where (late or hour < 3) and not late",
        "proportion(late)",
        'avg("late") where "the day" >= \'2020-01-01\'',
        "avg(delay) where hour between 3 and 5",
        "median(delay * 2)",
        "difference(avg(delay) where late, rest)",
    ],
)
def test_a_text_that_is_not_changed_reads_as_before(text: str) -> None:
    draft = BUILDER.read(text)
    assert draft is not None
    before = re.sub(r"^\w+", draft.text.partition("(")[0], text)
    assert reads_alike(draft.text, before)
    if "=" not in text and ">" not in text:  # nothing there is a comparison that fields can change
        fields = {"slot 0 value": "5", "slot 1 value": "7", "slot 0 operator": "<"}
        assert reads_alike(BUILDER.with_fields(text, fields), before)


def test_fields_change_what_they_were_made_from() -> None:
    text = "avg(delay > 15) where origin = 'JFK' and not late"
    fields = {
        "slot 0 operator": "<",
        "slot 0 value": " -5.5 ",
        "where 0 value": "O'Hare",
        "where 1 value": "true",
    }
    after = "avg(delay < -5.5) where origin = 'O''Hare' and late"
    assert BUILDER.with_fields(text, fields) == after
    for refused in ("", "5; drop", "1 or 1"):  # a number is a number, and nothing else
        assert BUILDER.with_fields(text, {"slot 0 value": refused}) == text
    assert BUILDER.with_fields("quantile(delay, 0.9)", {"slot 1 value": "0.5"}) == (
        "quantile(delay, 0.5)"
    )
    groups = BUILDER.example("difference")
    assert "avg(delay > 60)" in BUILDER.with_fields(groups, {"slot 0 operator": ">"})


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(["origin", "delay", "the day"]),
    st.sampled_from([">", ">=", "<", "<=", "=", "!="]),
    st.one_of(st.text("aO'\" -;)(é", max_size=8), st.integers(-999, 999).map(str)),
)
def test_a_condition_is_read_back_as_it_was_written(column: str, operator: str, value: str) -> None:
    is_number = value.lstrip("-").isdigit()
    if column == "delay" and not is_number:
        return
    condition = Predicate(column, operator, value)
    assert BUILDER.condition(condition.text(BUILDER.columns)) == condition


@pytest.mark.parametrize(
    ("text", "caret", "words"),
    [
        ("me", None, ["median"]),
        ("avg(de", None, ["delay"]),
        ("avg(de) where late", 6, ["delay"]),
        ("avg(late) wh", None, ["where"]),
        ("avg(late) by o", None, ["origin"]),
        ("avg(late) where origin = 'J", None, ["JFK"]),
        ("avg(late) where origin = 'O", None, ["O'Hare"]),
        ("avg(late) where th", None, ["the day"]),
        ("avg(late)", None, []),
        ("", None, []),
    ],
)
def test_completion_goes_on_from_the_caret(text: str, caret: int | None, words: list[str]) -> None:
    completions = BUILDER.completions(text, caret)
    assert [each.word for each in completions] == words
    for each in completions:
        assert BUILDER.after_click(text, f"complete {each.word}", caret) == each.text


def test_completed_texts_can_be_read() -> None:
    (value,) = BUILDER.completions("avg(late) where origin = 'O")
    assert value.text == "avg(late) where origin = 'O''Hare'"
    (column,) = BUILDER.completions("avg(late) where th")
    assert column.text == 'avg(late) where "the day"'
    (middle,) = BUILDER.completions("avg(de > 3) where late", 6)
    assert middle.text == "avg(delay > 3) where late"


PIECES = ["avg(", "difference(", "delay", "origin", '"the day"', "'JFK", "'", "15", "é", "\x00"]
PIECES += [" where ", " and ", " by ", "not ", "case when ", " end", " = ", ">", "-", "--"]
PIECES += ["(", ")", ",", ";"]


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.sampled_from(PIECES), max_size=12).map("".join) | st.text(max_size=30),
    st.sampled_from(["choose", "example", "column", "drop", "by", "filter", "complete", ""]),
    st.text("slot where 0²9: delayorigin", max_size=20) | st.sampled_from(["slot 0: delay", "0"]),
    st.integers(0, 99),
)
def test_whatever_is_sent_nothing_breaks(text: str, verb: str, rest: str, caret: int) -> None:
    BUILDER.controls(text)
    BUILDER.completions(text, caret)
    after = BUILDER.after_click(text, f"{verb} {rest}", caret)
    fields = {f"{rest} value": text, "slot 0 value": text, "where 0 operator": text}
    BUILDER.controls(BUILDER.with_fields(after, fields))


def test_numbers_with_declared_values_are_offered_as_groups() -> None:
    column = {"name": "dose", "type": "float", "bounds": None, "values": [0.5, 1.0, 2.0]}
    (dose,) = PublicColumn.all_of({"columns": [column], "key": None})
    assert dose.about == "float: 0.5, 1, 2"
    assert dose.has_groups
    by = Builder([dose], ROWS).completions("avg(dose > 1) by do")
    assert [each.text for each in by] == ["avg(dose > 1) by dose"]
