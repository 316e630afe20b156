"""Text from someone who wishes us no good: refused in one sentence, or harmless."""

from __future__ import annotations

import random
import time
from datetime import date

import polars as pl
import pytest

from holdfast.data.polars import PolarsSample
from holdfast.errors import InvalidQuestion
from holdfast.question import GRID, ColumnType, Schema
from holdfast.question.expression import MAX_SIZE
from holdfast.question.safe_text import MAX_DEPTH, MAX_LENGTH, MAX_NESTING, MAX_TOKENS
from holdfast.statistics.bind import bind, require_written
from holdfast.statistics.call import mean
from holdfast.statistics.entry import Table
from tests.statistics.asked import asked
from tests.statistics.zoo import parts_of

FRAME = pl.DataFrame(
    {
        "x": [1.5, None, float("nan"), float("inf"), -1e308, 49.0],
        "k": [1, -(2**63), 2**63 - 1, None, 0, 49],
        "name": ["a", None, "", "it's", "%_\\", "é"],
        "flag": [True, None, False, True, None, False],
        "day": [date(2013, 1, 31), None, date(1970, 1, 1), date.min, date.max, None],
    }
)
SAMPLE = PolarsSample(FRAME)
SCHEMA = Schema(SAMPLE.types).declare({"x": (-10, 10)})

STATEMENTS = [
    "avg(x); DROP TABLE t",
    "avg(x);",
    ";",
    "avg(x); SELECT 1",
    "DROP TABLE t",
    "SELECT avg(x) FROM t",
    "avg(x) FROM t",
    "avg(x) FROM read_csv('/etc/passwd')",
    "avg(x) WHERE",
    "avg(x) WHERE flag WHERE flag",
    "avg(x) WHERE flag,",
    "avg(x) WHERE , flag",
    "avg(x) WHERE flag FROM t",
    "avg(x) WHERE flag AS flag",
    "avg(x) WHERE avg(x) > 1",
    "avg(x) WHERE flag; drop table x",
    "avg(x) GROUP BY name",
    "avg(x) ORDER BY 1",
    "avg(x) LIMIT 1",
    "avg(x) HAVING true",
    "avg(x) UNION SELECT 1",
    "avg(x) INTO OUTFILE '/tmp/x'",
    "avg(x) FROM t JOIN u ON true",
    "WITH q AS (SELECT 1) SELECT 1",
    "INSERT INTO t VALUES (1)",
    "UPDATE t SET x = 1",
    "DELETE FROM t",
    "CREATE TABLE t (x int)",
    "ATTACH '/tmp/x.db'",
    "COPY t TO '/tmp/x'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "PRAGMA database_list",
    "SET threads = 1",
    "EXPLAIN SELECT 1",
    "DESCRIBE t",
    "CALL f()",
    "GRANT ALL ON t TO u",
    "BEGIN TRANSACTION",
    "VALUES (1)",
    "EXECUTE IMMEDIATE 'x'",
]
SUBQUERIES = [
    "avg((SELECT max(x) FROM t))",
    "avg(x > (SELECT 1))",
    "avg(x IN (SELECT 1))",
    "avg(EXISTS (SELECT 1))",
    "avg(x > ALL (SELECT 1))",
    "avg(x = ANY (ARRAY[1]))",
    "avg(CASE WHEN (SELECT true) THEN 1 ELSE 0 END)",
    "avg((VALUES (1)))",
    "avg(x IN (TABLE t))",
]
FUNCTIONS = [
    "avg(read_text('/etc/passwd') = 'x')",
    "avg(length(read_blob('/etc/passwd')))",
    "avg(getenv('HOME') = 'x')",
    "avg(current_setting('x') = 'x')",
    "avg(pg_sleep(10))",
    "avg(load_extension('x'))",
    "avg(query('SELECT 1'))",
    "avg(eval('1'))",
    "avg(__import__('os').system('true'))",
    "avg(now() > day)",
    "avg(current_date > day)",
    "avg(current_user = 'x')",
    "avg(random() > 0.5)",
    "avg(uuid() = 'x')",
    "avg(nextval('s'))",
    "avg(row_number() > 3)",
    "avg(regexp_matches(name, '(a+)+$'))",
    "avg(repeat(name, 1000000000) = 'x')",
    "avg(sqrt(x))",
    "avg(power(x, 1000))",
    "avg(round(x))",
    "avg(exp(100 * x))",
    "avg(ln(x))",
    "avg(log(x + 20))",
    "avg(hash(name))",
    "avg(json_extract(name, '$.a') = 1)",
    "avg(cast(name as int))",
    "avg(name::double)",
    "avg(try_cast(name as int) > 1)",
    "avg(cast(x as varchar) = '1')",
    "avg(cast(x as int) > 1)",
    "avg(cast(x as decimal(38, 10)))",
    "avg(cast('x' as date) > day)",
    "avg(clip(x))",
    "avg(clip(x, 0))",
    "avg(clip(x, 0, 1, 2))",
    "avg(clip(x, 0, k))",
    "avg(clip(x, 1, 0))",
    "avg(clip(x, 'a', 'b'))",
    "avg(weekday())",
    "avg(abs())",
    "avg(coalesce())",
    "avg(least())",
]
AGGREGATES = [
    "avg(avg(x))",
    "avg(x) > 1",
    "avg(x) + avg(k)",
    "1 + avg(x)",
    "sum(x)",
    "max(x)",
    "min(x)",
    "count(*)",
    "count(x)",
    "avg(count(x))",
    "avg(x > max(x))",
    "median(x, 1, 2, 3)",
    "median(avg(x))",
    "quantile(x)",
    "quantile(x, 2)",
    "histogram(x, 1)",
    "histogram(x, 2, 1)",
    "difference(x)",
    "difference(avg(x) where flag, x)",
    "correlation(x, name)",
    "sum(x, -1)",
    "count(x, 10)",
    "auc(x, flag)",
    "nonsense(x)",
    "stddev(x)",
    "string_agg(name, ',')",
    "list(name)",
    "avg(DISTINCT x)",
    "avg(x ORDER BY x)",
    "avg(x) FILTER (WHERE flag)",
    "avg(x) OVER ()",
    "avg(x) OVER (PARTITION BY name)",
    "avg(lag(x) OVER ())",
    "avg(sum(x) OVER ())",
    "avg(x, k)",
    "avg()",
    "avg(*)",
    "avg(t.*)",
    "avg(x) AS y",
    "avg(x) y",
    "avg(x), avg(k)",
    "x > 1",
    "avg",
    "avg x > 1",
]
SYNTAX = [
    "",
    "   ",
    "--",
    "avg(x) -- comment",
    "avg(x /* comment */)",
    "avg(/*+ hint */ x)",
    "# avg(x)",
    "avg(x",
    "avg x)",
    "avg(x))",
    "avg(x > )",
    "avg(> 1)",
    "avg(x > 'a)",
    'avg("x > 1)',
    "avg(`x` > 1)",
    "avg([x] > 1)",
    "avg(x[1] > 1)",
    "avg({x: 1})",
    "avg({{ x }})",
    "avg(x -> 'a')",
    "avg(x ->> 'a' = 'b')",
    "avg(lambda x: x)",
    "avg(x => 1)",
    "avg(x := 1)",
    "avg($1 > 1)",
    "avg(? > 1)",
    "avg(:x > 1)",
    "avg(@x > 1)",
    "avg(@@version = 'x')",
    "avg(%(x)s > 1)",
    "avg(x % 2 = 0)",
    "avg(x ^ 2)",
    "avg(x ** 2)",
    "avg(x // 2)",
    "avg(k & 1)",
    "avg(k | 1)",
    "avg(k << 64)",
    "avg(~k)",
    "avg(x || name = 'a')",
    "avg(name || name = 'aa')",
    "avg(x <=> 1)",
    "avg(x IS DISTINCT FROM 1)",
    "avg(name ILIKE 'a%')",
    "avg(name SIMILAR TO 'a')",
    "avg(name ~ 'a')",
    "avg(name RLIKE 'a')",
    "avg(name GLOB 'a*')",
    "avg(name LIKE 'a' ESCAPE 'b')",
    "avg(name LIKE name)",
    "avg(name LIKE ANY ('a', 'b'))",
    "avg(x BETWEEN SYMMETRIC 1 AND 2)",
    "avg(x BETWEEN 1)",
    "avg(x IN ())",
    "avg(x IN k)",
    "avg(x IN UNNEST([1]))",
    "avg(x IS 3)",
    "avg(x = NULL)",
    "avg(NULL)",
    "avg(x IN (1, NULL))",
    "avg(CASE END)",
    "avg(CASE WHEN flag THEN NULL END)",
    "avg(CASE WHEN flag THEN 1 ELSE 'a' END)",
    "avg(INTERVAL '1' DAY)",
    "avg(day + 1)",
    "avg(day - day)",
    "avg(day AT TIME ZONE 'UTC')",
    "avg(DATE '2013-02-30' = day)",
    "avg(DATE 'infinity' > day)",
    "avg(TIMESTAMP '2013-01-01 25:00:00' > day)",
    "avg(extract(century FROM day))",
    "avg(extract(dow FROM day))",
    "avg(extract(epoch FROM day))",
    "avg(extract('year' FROM name))",
    "avg(t.x > 1)",
    "avg(main.t.x > 1)",
    "avg(information_schema.tables)",
    "avg(x COLLATE nocase)",
    "avg(N'a' = name)",
    "avg(X'ff' = name)",
    "avg(E'\\\\x41' = name)",
    "avg('a' 'b' = name)",
    "avg(ROW(1) = ROW(1))",
    "avg((x, k) = (1, 2))",
    "avg(NOT)",
    "avg(AND)",
    "avg(x AND 1)",
    "avg(flag XOR flag)",
    "avg(x > 1 AND)",
    "avg(name)",
    "avg(day)",
    "avg(name > 1)",
    "avg(flag > name)",
    "avg(unknown > 1)",
    "avg(rowid > 1)",
    "avg(3)",
    "avg(true)",
    "avg(1 / 0)",
    "avg(k)",
    "avg(length(name))",
    "avg(x / k)",
    "avg(x + k)",
    "avg(NaN)",
    "avg(Infinity)",
    "avg(0x1F > x)",
    "avg(1_000 > x)",
]
SIZES = [
    f"avg({'(' * (MAX_NESTING + 1)}x{')' * (MAX_NESTING + 1)} > 1)",
    f"avg({'(' * 3000}x{')' * 3000} > 1)",
    "avg(" + "abs(" * 400 + "x" + ")" * 400 + ")",
    "avg(" + "case when flag then " * 50 + "1" + " end" * 50 + ")",
    "avg(" + "not " * 2000 + "flag)",
    "avg(" + "- " * 2000 + "x)",
    "avg(" + "+" * 2000 + "x)",
    "avg(" + " = ".join(["flag"] * (MAX_DEPTH + 50)) + ")",
    "avg(flag" + " is null" * (MAX_DEPTH + 50) + ")",
    "avg(" + " + ".join(["x"] * (MAX_SIZE // 4)) + ")",
    "(" * 10_000 + "avg(x > 1)" + ")" * 10_000,
    "(" * 10_000,
    "avg(" + "x" * 250 + " > 1)",
    'avg("' + "x" * 250 + '" > 1)',
    "x" * 250 + "(x)",
    "avg(x > 1) where " + "flag or " * MAX_TOKENS + "flag",
    "avg(" + "coalesce(" * 400 + "x" + ", 1)" * 400 + ")",
    "avg(" + "nullif(" * 15 + "x" + ", 1)" * 15 + " > 1)",
    "avg(" + "(" * 14 + "x" + " between 0 and 1)" * 14 + ")",
    "avg(k in (" + ", ".join(str(each) for each in range(MAX_TOKENS)) + "))",
    "avg(x > " + "9" * 5000 + ")",
    "avg(x > 1e999999)",
    "avg(x > 1e400)",
    "avg(clip(x, -1e400, 1))",
    "avg(clip(x, -1.7e308, 1.7e308))",
    "avg(clip(x, 0, 1e-320))",
    "avg(name = '" + "a" * MAX_LENGTH + "')",
    "avg(name like '" + "_%" * 150 + "')",
    "avg(" + " " * MAX_LENGTH + "x > 1)",
]
UNICODE = [
    "avg(x\u202e > 1)",
    "avg(x\u200b > 1)",
    "avg(x > 1)\u0000",
    "avg(x > 1\u0007)",
    "avg(name = '\ud800')",
    "avg(name = 'a\u2028b')",
    "avg(name = '\u200d')",
    "avg(\u0445 > 1)",  # a Cyrillic letter that looks like x
    "avg(\uff58 > 1)",  # a full-width x
    "avg(x \uff1e 1)",
    "avg(x \u2265 1)",
    "avg(x \u2212 1 > 0)",
    "avg(x > \u0661)",  # an Arabic digit
    "avg(x > ½)",
    "avg(x > \u2460)",
    "\u202eavg(x > 1)",
    "avg\uff08x > 1\uff09",
    "avg(x > 1)\ufeff",
    "avg(\u2018a\u2019 = name)",
    "avg(\U000e0078 > 1)",
    "avg(x̂ > 1)",
]
HOSTILE = [*STATEMENTS, *SUBQUERIES, *FUNCTIONS, *AGGREGATES, *SYNTAX, *SIZES, *UNICODE]


def test_there_are_enough_of_them() -> None:
    assert len(set(HOSTILE)) == len(HOSTILE) >= 100


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: ascii(text[:30]))
def test_hostile_text_is_refused_in_one_sentence(text: str) -> None:
    started = time.perf_counter()
    with pytest.raises(InvalidQuestion) as raised:
        asked(text, SCHEMA)
    said = str(raised.value)
    assert said.endswith((".", "?"))
    assert "\n" not in said
    assert len(said) < 400
    assert said.isprintable()
    assert time.perf_counter() - started < 2


def test_what_is_not_text_is_refused() -> None:
    for wrong in (None, 3, b"avg(x)", ["avg(x)"], object()):
        with pytest.raises(InvalidQuestion):
            asked(wrong, SCHEMA)  # type: ignore[arg-type]
        with pytest.raises(InvalidQuestion):
            asked(mean(wrong), SCHEMA)  # type: ignore[call-overload]


PIECES = """
x k name flag day unknown avg ( ) ( ) , > < >= <= = != + - * / . 1 2.5 0 1e308 49 'a' 'it''s'
'%' '_' '2013-01-31' and or not in between is null true false like case when then else end
clip( abs( least( greatest( coalesce( lower( upper( length( year( weekday( cast( as double
ln( exp( sqrt( log(
extract( from ; -- /* */ " ' ` [ ] { } $ @ ? : :: | & ^ % ~ ! # \\ select over filter
"""
WORDS = PIECES.split()
SEEDS = [
    "x > 15",
    "case when x > 1 and flag then x / k else abs(x) end",
    "clip(x / (k - 49), -5, 5)",
    "name in ('a', 'it''s') or lower(name) like '%a_'",
    "coalesce(x, k) between 1 and 49 and day >= '1970-01-01'",
    "least(x, k, 3) * (flag + 1) - weekday(day)",
    "clip(length(name) * 1e308 * 10 - k / 0, 0, 9)",
    "not (x is null or nullif(k, 49) != 1)",
]


def fuzzed(chance: random.Random) -> str:
    """Random unicode, random words, or a good question with something changed."""
    kind = chance.random()
    if kind < 0.2:
        return "".join(chr(chance.choice([chance.randrange(0x80), chance.randrange(0x11000)]))
                       for _ in range(chance.randrange(40)))  # fmt: skip
    if kind < 0.4:
        inside = " ".join(chance.choice(WORDS) for _ in range(chance.randrange(1, 12)))
        return f"avg({inside})"
    words = chance.choice(SEEDS).replace("(", " ( ").replace(")", " ) ").replace(",", " , ").split()
    for _ in range(chance.randrange(4)):
        place = chance.randrange(len(words))
        change = chance.randrange(4)
        if change == 0:
            words[place] = chance.choice(WORDS)
        elif change == 1:
            words.insert(place, chance.choice(WORDS))
        elif change == 2 and len(words) > 1:
            del words[place]
        else:
            words[place] = chance.choice(SEEDS)
    inside = " ".join(words)
    if chance.random() < 0.02:  # the same many times over
        inside = chance.choice([" + ", " * ", " / ", " and ", " or ", " = ", ", "]).join(
            [inside] * chance.randrange(2, 60)
        )
        inside = chance.choice([inside, f"greatest({inside})", f"coalesce({inside})"])
    return f"avg({inside})" if chance.random() < 0.5 else f"avg(clip({inside}, -3, 9))"


@pytest.mark.parametrize("many", [1_000, pytest.param(10_000, marks=pytest.mark.campaign)])
def test_fuzzed_questions(many: int) -> None:
    chance = random.Random(20130131)
    understood = []
    for _ in range(many):
        text = fuzzed(chance)
        try:
            question = bind(text, Table(SCHEMA))
            parts = parts_of(question)
            for part in parts:
                require_written(part, Table(SCHEMA))
        except InvalidQuestion as refusal:
            said = str(refusal)
            assert said.endswith((".", "?"))
            assert "\n" not in said
        else:
            assert bind(question.text, Table(SCHEMA)) == question
            understood += [part.row for part in parts if part.row is not None]
    assert len(understood) > many / 10  # the fuzzing reaches the meaning, not only the gates
    distinct = list(dict.fromkeys(understood))
    for start in range(0, len(distinct), 200):
        rows = distinct[start : start + 200]
        assert all(0 <= total <= FRAME.height * GRID for total in SAMPLE.sums(rows))


def test_refusals_name_near_columns_and_say_how_to_bound() -> None:
    schema = Schema({"arr_delay": ColumnType.FLOAT, "dep_delay": ColumnType.FLOAT})
    with pytest.raises(InvalidQuestion, match=r"did you mean 'arr_delay'"):
        asked("avg(ar_delay > 15)", schema)
    with pytest.raises(InvalidQuestion, match=r"its columns are 'arr_delay', 'dep_delay'"):
        asked("avg(zzz > 15)", schema)
