"""The planner: the published figures, the three inverses, words, and bad requests."""

from __future__ import annotations

import math
from typing import Any

import pytest
from scipy.stats import beta

import holdfast
from holdfast.data.design import NO_DESIGN
from holdfast.data.sampling import Independent
from holdfast.errors import HoldfastError, InvalidArgument, ToleranceTooTight
from holdfast.mechanisms.catalogue import CATALOGUE, choose, methods
from holdfast.mechanisms.terms import Declarations, Describing
from holdfast.papers.theorems.accuracy import literal_accuracy
from holdfast.papers.theorems.median_parameters import log_public_tree, median_mechanism_width
from holdfast.planner.plan import best_of
from holdfast.planner.table import show
from holdfast.theory.base.concentration import BoundedMean, SubGaussian
from holdfast.theory.leakage import equal_width
from holdfast.theory.leakage.equal_width import rounds_half_width
from holdfast.theory.planning import (
    MOST_QUESTIONS,
    KnownRows,
    Method,
    check_method,
    described_method,
    listed_method,
    rounds_method,
)

# Half-widths of docs/theory.md, section 5: (rows, questions) -> bounded, Gaussian, median noise.
WIDTHS: dict[tuple[int, int], tuple[float | None, float | None, float | None]] = {
    (10**4, 10): (0.0308, 0.0482, None),
    (10**4, 100): (0.0745, 0.0942, 0.0851),
    (10**4, 1000): (0.206, 0.1807, 0.1534),
    (10**5, 100): (0.0236, 0.0297, 0.0268),
    (10**5, 1000): (0.0653, 0.0566, 0.0482),
    (10**5, 10_000): (0.196, 0.1065, 0.0866),
    (10**6, 1000): (0.0206, 0.0179, 0.0152),
    (10**6, 10_000): (0.0619, 0.0336, 0.0273),
    (10**6, 100_000): (None, 0.0625, 0.0486),
}
METHODS = {method.name: method for method in methods()}
INDEPENDENT = KnownRows(BoundedMean)
LOG_05 = math.log(0.05)
NAMES = ("bounded noise", "gaussian", "median noise")

# The largest number of questions at half-width .05 and .1, published methods and ours.
COUNTS: dict[str, dict[int, tuple[float, float]]] = {
    "bounded noise": {10**4: (37, 199), 10**5: (559, 2_478), 10**6: (6_440, 26_672)},
    "gaussian": {
        10**4: (11, 123),
        10**5: (638, 7_936),
        10**6: (43_648, 577_536),
        10**7: (3.3e6, 4.5e7),
    },
    "median noise": {10**4: (10, 189), 10**5: (1_156, 17_592), 10**6: (111_385, 1_766_945)},
}


def test_a_mechanism_has_one_name_in_planner_and_catalogue() -> None:
    own = {name for name, each in METHODS.items() if each.kind not in ("reference", "domain")}
    assert own <= {*CATALOGUE}


@pytest.mark.parametrize(("rows", "questions"), WIDTHS)
def test_half_widths_of_the_theory_page(rows: int, questions: int) -> None:
    for name, published in zip(NAMES, WIDTHS[rows, questions], strict=True):
        if published is not None:
            width = METHODS[name].half_width(INDEPENDENT, rows, questions, LOG_05)
            assert width is not None
            assert width <= 1.01 * published, name
            assert width >= 0.97 * published, f"{name} is narrower than the theory page: say why"


@pytest.mark.parametrize(
    ("name", "rows"), [(name, rows) for name, row in COUNTS.items() for rows in row]
)
def test_question_counts_reach_the_published_figures(name: str, rows: int) -> None:
    for tolerance, published in zip((0.05, 0.1), COUNTS[name][rows], strict=True):
        counted = METHODS[name].questions(INDEPENDENT, rows, tolerance, LOG_05)
        assert counted is not None
        floor = published * (0.98 if published in (3.3e6, 4.5e7) else 0.99)  # two digits printed
        assert counted >= math.floor(floor), tolerance


def test_ten_million_questions_at_median_noise() -> None:
    counted = METHODS["median noise"].questions(INDEPENDENT, 10**7, 0.05, LOG_05)
    assert counted is not None
    assert counted >= 1.05e7  # published as 1.1e7


@pytest.mark.campaign
def test_ten_million_questions_are_as_safe_as_the_recurrence_and_close_to_it() -> None:
    k, log_beta = 10**7, math.log(0.05)
    fast = equal_width.bounded_noise_half_width(SubGaussian(1.0), k, log_beta)
    assert not _recurrence_fits(fast * (1 - 0.005), k, log_beta)
    assert _recurrence_fits(fast, k, log_beta)


def _recurrence_fits(t: float, k: int, log_beta: float) -> bool:
    """The recurrence itself, every one of its k steps, written again."""
    level = math.log(2 * k) - log_beta
    for _ in range(k - 1):
        alpha = math.sqrt(2 * level)
        if alpha >= t:
            return False
        level -= math.log1p(-alpha / t)
    return math.sqrt(2 * level) < t


@pytest.mark.parametrize(
    "method",
    [
        *(*methods(), check_method(3), rounds_method(2), rounds_method(3)),
        *(described_method(25), described_method(50, rounded=True), listed_method(1_000)),
    ],
    ids=lambda m: f"{m.name}",
)
@pytest.mark.parametrize(("rows", "tolerance"), [(500, 0.3), (20_000, 0.05), (10**6, 0.11)])
def test_the_three_inverses_agree(method: Method, rows: int, tolerance: float) -> None:
    counted = method.questions(INDEPENDENT, rows, tolerance, LOG_05)
    if counted is None:
        return
    if counted == MOST_QUESTIONS:
        width = method.half_width(INDEPENDENT, rows, counted, LOG_05)
        assert width is not None
        assert width <= tolerance * (1 + 1e-6)
        return
    width = method.half_width(INDEPENDENT, rows, counted, LOG_05)
    assert width is not None
    assert width <= tolerance * (1 + 1e-6)
    needed = method.rows(INDEPENDENT, counted, tolerance, LOG_05)
    assert needed is not None
    assert needed <= rows * (1 + 1e-3) + 1
    enough = method.half_width(INDEPENDENT, needed, counted, LOG_05)
    assert enough is not None
    assert enough <= tolerance * (1 + 1e-6)


def test_more_surprises_cost_more_and_guesses_help() -> None:
    widths = [
        holdfast.plan(rows=10**5, questions=1_000, surprises=f)[
            f"guess and check, {f:,} wrong guess{'' if f == 1 else 'es'}"
        ].half_width
        for f in (0, 1, 10, 100)
    ]
    assert None not in widths
    assert widths == sorted(widths)  # type: ignore[type-var]
    bounded = holdfast.plan(rows=10**5, questions=1_000)["bounded noise"].half_width
    assert widths[0] < 0.25 * (bounded or 0)  # type: ignore[operator]


def test_the_recommended_one_is_the_best_that_needs_no_guess() -> None:
    few, many = (holdfast.plan(rows=10**5, questions=k, described="off") for k in (50, 5_000))
    beside = holdfast.plan(rows=10**5, questions=5_000)
    assert few.recommended.name == "bounded noise"
    assert many.recommended.name == "median noise"
    assert beside.recommended.name == "bounded noise"
    assert "With described='off', median noise: +-" in beside.reason
    for plan in (few, many, beside):
        assert plan.reason.startswith(plan.recommended.name)
        assert "If you can guess first" in plan.reason


def test_dependent_rows_leave_only_what_is_proved_for_them() -> None:
    for sampling in (
        holdfast.clustered("patient_id", sizes="fixed", size=12),
        holdfast.m_dependent(7),
        holdfast.declared(sigma=0.01),
    ):
        plan = holdfast.plan(rows=50_000, questions=50, sampling=sampling)
        assert plan.recommended.name == "bounded noise"
        assert str(sampling) in str(plan)
        for tolerance in (None, 0.4):
            alone = holdfast.plan(
                rows=50_000, questions=50, sampling=sampling, described="off", tolerance=tolerance
            )
            assert alone.recommended.name == "bounded noise"
            assert alone["median noise"].half_width is None
            assert alone["median noise"].note == "needs independent rows"


def test_clusters_of_one_row_are_independent_rows() -> None:
    ours = holdfast.plan(
        rows=9_000, questions=50, sampling=holdfast.clustered("id", sizes="fixed", size=1)
    )
    plain = holdfast.plan(rows=9_000, questions=50)
    assert ours["bounded noise"].half_width == pytest.approx(plain["bounded noise"].half_width)


def test_a_declared_tail_can_be_planned_with() -> None:
    tail = holdfast.declared(log_tail=lambda a: min(0.0, math.log(2) - 2 * 10_000 * a * a))
    ours = holdfast.plan(rows=10_000, questions=50, sampling=tail)["bounded noise"].half_width
    plain = holdfast.plan(rows=10_000, questions=50)["bounded noise"].half_width
    assert ours == pytest.approx(plain, rel=1e-4)


def test_a_plan_reads_well() -> None:
    plan = holdfast.plan(rows=163_673, questions=500, described="off")
    text = str(plan)
    assert text.startswith("Plan: 163,673 rows, 500 questions, no text questions")
    assert "all answers together 95 % sure" in text
    assert "NOT valid when questions follow answers" in text
    assert sum(line.startswith("* ") for line in text.splitlines()) == 2
    page = plan._repr_html_()
    assert page.count("<tr") == len(plan.options) + 1
    assert "font-weight:bold" in page
    facts = plan.to_dict()
    assert facts["recommended"] == plan.recommended.name
    assert {option["name"] for option in facts["options"]} == {o.name for o in plan.options}
    with pytest.raises(KeyError, match="median noise"):
        plan["medium noise"]


def test_shown_half_widths_are_rounded_up() -> None:
    for number in (0.074512341, 0.1, 0.499999, 0.00012345678, 1 / 3):
        assert float(show(number)) >= number
        assert float(show(number)) <= number * 1.001


BAD = [
    ({"rows": 0, "questions": 10}, "rows is 0"),
    ({"rows": -5, "questions": 10}, "rows is -5"),
    ({"rows": 10.5, "questions": 10}, "rows is 10.5"),
    ({"rows": math.nan, "questions": 10}, "rows is nan"),
    ({"rows": math.inf, "questions": 10}, "rows is inf"),
    ({"rows": "many", "questions": 10}, "rows is 'many'"),
    ({"rows": True, "questions": 10}, "rows is True"),
    ({"rows": 10**400, "questions": 10}, "rows is 1000"),
    ({"rows": 100, "questions": 0}, "questions is 0"),
    ({"rows": 100, "questions": 10**13}, "questions is 10000000000000"),
    ({"rows": 100, "tolerance": 0.0}, "tolerance is 0.0"),
    ({"rows": 100, "tolerance": 0.5}, "tolerance is 0.5"),
    ({"rows": 100, "tolerance": math.nan}, "tolerance is nan"),
    ({"rows": 100, "questions": 5, "confidence_level": 1.0}, "confidence_level is 1.0"),
    ({"rows": 100, "questions": 5, "confidence_level": 95}, "confidence_level is 95"),
    ({"rows": 100, "questions": 5, "confidence_level": 0.05}, "did you mean 0.95?"),
    ({"rows": 100, "questions": 5, "surprises": -1}, "surprises is -1"),
    ({"rows": 100, "questions": 5, "surprises": 6}, "surprises is 6 and questions is 5"),
    ({"rows": 100, "questions": 5, "sampling": "random"}, "sampling is 'random'"),
    ({"rows": 100, "questions": 5, "described": "most"}, "described is 'most'"),
    ({"rows": 100, "questions": 5, "described": "off", "described_share": 0.4}, "nothing else"),
    ({"rows": 100, "questions": 5, "described_share": 1.5}, "described_share is 1.5"),
    ({"rows": 100}, "two of rows, questions and tolerance"),
    ({}, "two of rows, questions and tolerance"),
    (
        {"rows": 100, "questions": 5, "sampling": holdfast.clustered("id", sizes="fixed")},
        "has no size",
    ),
    ({"questions": 5, "tolerance": 0.1, "sampling": holdfast.declared(sigma=0.1)}, "give rows"),
]


@pytest.mark.parametrize(("request_", "words"), BAD)
def test_bad_requests_get_one_sentence(request_: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        holdfast.plan(**request_)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, HoldfastError)
    assert words in str(caught.value)
    assert len(str(caught.value)) < 900


@pytest.mark.parametrize(
    "request_",
    [
        {"rows": 100, "tolerance": 0.01},
        {"rows": 1_000, "questions": 500, "tolerance": 0.01},
        {"rows": 10, "questions": 1_000},
    ],
)
def test_impossible_requests_say_what_is_possible(request_: dict[str, Any]) -> None:
    with pytest.raises(ToleranceTooTight) as caught:
        holdfast.plan(**request_)
    text = str(caught.value)
    assert "Possible:" in text
    assert "with" in text.split("Possible:")[1]


def test_all_three_given_says_what_fits() -> None:
    plan = holdfast.plan(rows=163_673, questions=500, tolerance=0.06, described="off")
    assert plan["bounded noise"].note == "fits"
    assert plan["sample splitting"].note == "too wide"


# Described questions ---------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.4, 0.1])
@pytest.mark.parametrize("rows", [1_000, 50_000])
def test_described_rows_are_hoeffdings_at_the_level_of_their_bits(rows: int, share: float) -> None:
    plan = holdfast.plan(rows=rows, questions=10, described_share=share)
    for bits in (15, 25, 35, 50):
        expected = math.sqrt((bits * math.log(2) + math.log(2 / (0.05 * share))) / (2 * rows))
        assert plan[f"described, {bits} bits"].half_width == pytest.approx(expected, rel=1e-9)
    for size in (1_000, 1_000_000):
        # Half of what the ledger has, of it 15/16 for declared questions; half of that for bets.
        level = 0.05 * (1 - share) / 2 * 15 / 16 / size / 2
        expected = math.sqrt(math.log(2 / level) / (2 * rows)) * (1 + 1 / 512)
        found = plan[f"one of {size:,} declared"].half_width
        assert found == pytest.approx(expected, rel=1e-4)  # thousandths of a bit, rounded up
        assert (found or 0) >= expected


def test_a_described_condition_at_a_tenth_is_clopper_pearsons() -> None:
    option = holdfast.plan(rows=2_000, questions=10)["described, 25 bits"]
    side = 0.02 * 2.0**-25 / 2
    low, high = beta.ppf(side, 200, 1_801), beta.isf(side, 201, 1_800)
    assert option.at_a_tenth == pytest.approx((high - low) / 2, rel=1e-9)
    assert "at rate 0.1" in option.remark
    assert option.to_dict()["at_a_tenth"] == option.at_a_tenth


def test_how_many_described_questions_there_are_does_not_matter() -> None:
    few, many = (holdfast.plan(rows=5_000, questions=k) for k in (10, 500))
    assert few["described, 25 bits"].half_width == many["described, 25 bits"].half_width
    assert (few["bounded noise"].half_width or 0) < (many["bounded noise"].half_width or 0)
    counted = holdfast.plan(rows=5_000, tolerance=0.05)
    assert counted["described, 25 bits"].questions == MOST_QUESTIONS
    assert counted["described, 50 bits"].questions is None


def test_rounded_answers_are_wider_by_a_quarter() -> None:
    exact, rounded = (
        holdfast.plan(rows=5_000, questions=10, described=how)["described, 25 bits"].half_width
        for how in ("exact", "rounded")
    )
    assert rounded == pytest.approx(1.25 * (exact or 0), rel=1e-6)


def test_rounds_have_the_figures_of_the_theory_page() -> None:
    """(1,000, 100): .236 one by one, .140 and .171 in 2 and 3 rounds, the last without noise.

    The rows of a plan are for means of numbers too, of which bets have half of the level.
    """
    plan = holdfast.plan(rows=1_000, questions=100, described="off")
    assert plan["bounded noise"].half_width == pytest.approx(0.236, abs=1e-3)
    for rounds, figure in ((2, 0.140), (3, 0.171)):
        width = rounds_half_width(BoundedMean(1_000), 100, rounds, math.log(0.05))
        assert width == pytest.approx(figure, abs=1e-3)
        planned = plan[f"{rounds} rounds, the last exact"].half_width or 0.0
        assert width < planned < 1.02 * width
    assert plan["2 rounds, the last exact"].kind == "together"
    assert plan.recommended.name == "bounded noise"  # what nothing keeps is not recommended


@pytest.mark.parametrize(
    "given",
    [
        *({"rows": n, "questions": k} for n in (10_000, 10**6) for k in (10, 1_000, 10**5)),
        *({"rows": n, "tolerance": t} for n in (10_000, 10**6) for t in (0.05, 0.2)),
        *({"questions": k, "tolerance": t} for k in (100, 10**5) for t in (0.01, 0.2)),
        {"rows": 100_000, "questions": 1_000, "sampling": holdfast.m_dependent(2)},
    ],
    ids=str,
)
def test_what_is_recommended_is_not_beaten_by_what_was_published(given: dict[str, Any]) -> None:
    plan = holdfast.plan(**given)
    best = plan.recommended
    assert best in plan.options
    assert f"* {best.name}" in str(plan)
    for option in plan.options:
        if option.kind == "reference" and option.possible and best.kind == "promise":
            assert best_of([best, option], plan.solved_for) is best


def test_what_is_published_leads_to_a_ledger_in_which_nothing_is_described() -> None:
    plan = holdfast.plan(rows=10**6, questions=10**5)
    alone = holdfast.plan(rows=10**6, questions=10**5, described="off")["median noise"]
    assert plan.recommended.name == "median noise, nothing described"
    assert plan.recommended.half_width == alone.half_width
    assert "open it with mechanism='median noise'" in str(plan)
    assert "With described='off'" not in plan.reason


def test_what_must_know_all_leaks_beforehand_is_planned_alone() -> None:
    plan = holdfast.plan(rows=20_000, questions=100)
    with pytest.raises(KeyError, match="described='off'"):
        plan["median noise"]
    one_look = plan["one look"].half_width
    assert (
        one_look
        == holdfast.plan(rows=20_000, questions=100, described="off")["one look"].half_width
    )


def test_where_no_mechanism_can_described_questions_are_left() -> None:
    for declared in ({"questions": 10_000}, {"questions": 10, "described_share": 1.0}):
        plan = holdfast.plan(rows=1_000, **declared)
        assert plan.recommended.name == "described, 50 bits"
        assert "no limit on questions" in plan.reason
    with pytest.raises(ToleranceTooTight):
        holdfast.plan(rows=1_000, questions=10_000, described="off")


@pytest.mark.parametrize("rows", [500, 5_000, 10**6])
@pytest.mark.parametrize("questions", [1, 10, 300])
@pytest.mark.parametrize("described", ["exact", "off"])
def test_auto_is_what_is_recommended(rows: int, questions: int, described: Describing) -> None:
    said = Declarations(questions=questions, described=described)
    try:
        plan = holdfast.plan(rows=rows, questions=questions, described=described)
    except ToleranceTooTight:
        return
    if plan.recommended.kind == "promise":
        wanted = said.terms(rows, Independent(), NO_DESIGN)
        assert choose(wanted, {}).kind.name == plan.recommended.name


@pytest.mark.parametrize("noise", ["Laplace", "Gaussian"])
def test_theorem_6_1_is_a_row_for_rows_of_any_kind(noise: str) -> None:
    """In scales of the worst mean it is golden (tests/theory/tables/accuracy.py)."""
    unit = {"Laplace": (869.7265, 29.949314), "Gaussian": (9814.6167, 122.12499)}[noise]
    sampling = holdfast.m_dependent(3)
    plan = holdfast.plan(rows=4 * 10**10, questions=1, sampling=sampling, described="off")
    for form, scales in zip(("published", "repaired"), unit, strict=True):
        option = plan[f"Bassily & Freund, {noise} ({form})"]
        assert option.kind == "reference"
        assert option.half_width == pytest.approx(scales * 0.5e-5, rel=0.01)
    repaired = f"Bassily & Freund, {noise} (repaired)"
    needed = holdfast.plan(questions=2, tolerance=0.1)[repaired].rows
    assert needed is not None
    for rows, fits in ((needed, True), (needed - 1, False)):
        found = holdfast.plan(rows=rows, questions=2, tolerance=0.1)[repaired].half_width
        assert found is not None
        assert (found <= 0.1) is fits


def test_what_is_wider_than_the_range_is_a_number_with_its_reason() -> None:
    """Never a dash alone: the half-width, or that of one question."""
    table = holdfast.plan(rows=2_000, questions=100, described="off")
    row = table["Bassily & Freund, Laplace (published)"]
    assert (row.half_width, row.possible, row.note) == (None, False, "wider than the range")
    accuracy = literal_accuracy(100, LOG_05, BoundedMean(2_000))
    assert row.beyond == pytest.approx(accuracy.half_width, rel=1e-6)
    asked = holdfast.plan(rows=2_000, tolerance=0.05, described="off")
    for each in (table, asked, holdfast.plan(questions=20, tolerance=0.05)):
        assert all(number != "-" or note for _, number, note in each.cells())
    one = literal_accuracy(1, LOG_05, BoundedMean(2_000)).half_width
    assert asked["Bassily & Freund, Laplace (published)"].note == f"not one: +-{show(one)}"


@pytest.mark.parametrize("values", [pytest.param(16, marks=pytest.mark.campaign), 256])
def test_theorem_2_of_the_lecture_is_a_row_of_independent_rows(values: int) -> None:
    name = f"Median mechanism, {values} values"
    row = holdfast.plan(rows=60_000, questions=40)[name]
    width = median_mechanism_width(60_000, 40, values, LOG_05)
    assert (row.kind, row.note) == ("domain", "questions over so few values alone")
    assert row.half_width == pytest.approx(width)
    few = holdfast.plan(rows=200, questions=100)[name]
    assert few.beyond is not None
    assert few.half_width is None
    assert few.note == "questions over so few values alone; wider than the range"
    assert few.beyond > 0.5
    dependent = holdfast.plan(rows=60_000, questions=40, sampling=holdfast.m_dependent(3))[name]
    assert (dependent.possible, dependent.note) == (False, "needs independent rows")
    most = holdfast.plan(rows=10**15, questions=10**12)[name].half_width
    assert most is not None
    assert most < 0.01  # and in a time that does not grow with the number of mistakes


@pytest.mark.parametrize("m", [30, 900, 1_500, 2_000])
@pytest.mark.parametrize("cells", [1, 5, 50])
def test_a_public_tree_that_is_not_summed_is_bounded(m: int, cells: int) -> None:
    exact = log_public_tree(2_000, m, cells)
    bound = log_public_tree(2_000, m, cells, summed=0)
    assert exact * (1 - 1e-10) <= bound
    if m < 1_000:
        assert bound <= 1.02 * exact + math.log(m + 1)
