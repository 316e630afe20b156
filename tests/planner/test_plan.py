"""The planner: the published figures, the three inverses, words, and bad requests."""

from __future__ import annotations

import math

import pytest

import holdfast
from holdfast.errors import HoldfastError, InvalidArgument, ToleranceTooTight
from holdfast.mechanisms.catalogue import CATALOGUE, methods
from holdfast.planner.table import show
from holdfast.theory.base.concentration import BoundedMean, SubGaussian
from holdfast.theory.leakage import equal_width
from holdfast.theory.planning import MOST_QUESTIONS, KnownRows, Method, check_method

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
    assert {name for name, method in METHODS.items() if method.kind != "reference"} <= {*CATALOGUE}


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


@pytest.mark.parametrize("method", [*methods(), check_method(3)], ids=lambda m: m.name)
@pytest.mark.parametrize(("rows", "tolerance"), [(500, 0.3), (20_000, 0.05), (10**6, 0.11)])
def test_the_three_inverses_agree(method: Method, rows: int, tolerance: float) -> None:
    counted = method.questions(INDEPENDENT, rows, tolerance, LOG_05)
    if counted is None or counted == MOST_QUESTIONS:
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
            f"guess and check, {f:,} surprise{'' if f == 1 else 's'}"
        ].half_width
        for f in (0, 1, 10, 100)
    ]
    assert None not in widths
    assert widths == sorted(widths)  # type: ignore[type-var]
    assert widths[0] < 0.25 * holdfast.plan(rows=10**5, questions=1_000)["bounded noise"].half_width  # type: ignore[operator]


def test_the_recommended_one_is_the_best_that_needs_no_guess() -> None:
    few, many = holdfast.plan(rows=10**5, questions=50), holdfast.plan(rows=10**5, questions=5_000)
    assert few.recommended.name == "bounded noise"
    assert many.recommended.name == "median noise"
    for plan in (few, many):
        assert plan.reason.startswith(plan.recommended.name)
        assert "If you can guess first" in plan.reason


def test_dependent_rows_leave_only_what_is_proved_for_them() -> None:
    for sampling in (
        holdfast.clustered("patient_id", size=12),
        holdfast.m_dependent(7),
        holdfast.declared(sigma=0.01),
    ):
        plan = holdfast.plan(rows=50_000, questions=50, sampling=sampling)
        assert plan.recommended.name == "bounded noise"
        assert plan["median noise"].half_width is None
        assert plan["median noise"].note == "needs independent rows"
        assert str(sampling) in str(plan)


def test_clusters_of_one_row_are_independent_rows() -> None:
    ours = holdfast.plan(rows=9_000, questions=50, sampling=holdfast.clustered("id", size=1))
    plain = holdfast.plan(rows=9_000, questions=50)
    assert ours["bounded noise"].half_width == pytest.approx(plain["bounded noise"].half_width)


def test_a_declared_tail_can_be_planned_with() -> None:
    tail = holdfast.declared(log_tail=lambda a: min(0.0, math.log(2) - 2 * 10_000 * a * a))
    ours = holdfast.plan(rows=10_000, questions=50, sampling=tail)["bounded noise"].half_width
    plain = holdfast.plan(rows=10_000, questions=50)["bounded noise"].half_width
    assert ours == pytest.approx(plain, rel=1e-4)


def test_a_plan_reads_well() -> None:
    plan = holdfast.plan(rows=163_673, questions=500)
    text = str(plan)
    assert text.startswith("Plan: 163,673 rows, 500 questions")
    assert "simultaneous 95 %" in text
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
    ({"rows": 100}, "two of rows, questions and tolerance"),
    ({}, "two of rows, questions and tolerance"),
    ({"rows": 100, "questions": 5, "sampling": holdfast.clustered("id")}, "has no size"),
    ({"questions": 5, "tolerance": 0.1, "sampling": holdfast.declared(sigma=0.1)}, "give rows"),
]


@pytest.mark.parametrize(("request_", "words"), BAD)
def test_bad_requests_get_one_sentence(request_: dict[str, object], words: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        holdfast.plan(**request_)  # type: ignore[arg-type]
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
def test_impossible_requests_say_what_is_possible(request_: dict[str, float]) -> None:
    with pytest.raises(ToleranceTooTight) as caught:
        holdfast.plan(**request_)  # type: ignore[arg-type]
    text = str(caught.value)
    assert "Possible:" in text
    assert "with" in text.split("Possible:")[1]


def test_all_three_given_says_what_fits() -> None:
    plan = holdfast.plan(rows=163_673, questions=500, tolerance=0.06)
    assert plan["bounded noise"].note == "fits"
    assert plan["sample splitting"].note == "too wide"
