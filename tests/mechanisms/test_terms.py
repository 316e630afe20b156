"""The one record of what was declared, and what may be left open before."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, strategies as st

from holdfast.data.design import NO_DESIGN
from holdfast.data.sampling import Independent, Sampling, clustered, declared, m_dependent
from holdfast.errors import InvalidArgument
from holdfast.mechanisms.terms import WHOLE_RANGE, Declarations, Terms
from tests.mechanisms.fake import ARMS, independent

SAMPLINGS: list[Sampling] = [
    Independent(),
    clustered("unit", sizes="fixed", size=2.5),
    clustered("unit", largest=12),
    m_dependent(3),
    declared(sigma=0.01),
    declared(sigma=0.01, b=0.2),
]


@st.composite
def all_terms(draw: st.DrawFn) -> Terms:
    questions = draw(st.none() | st.integers(1, 10**12))
    sampling = draw(st.sampled_from(SAMPLINGS))
    designs = [NO_DESIGN] if sampling == clustered("unit", largest=12) else [NO_DESIGN, ARMS]
    return Terms(
        rows=draw(st.integers(1, 10**12)),
        tolerance=draw(st.none() | st.floats(0, 0.5, exclude_min=True, exclude_max=True)),
        confidence_level=draw(st.floats(0, 1, exclude_min=True, exclude_max=True)),
        questions=questions,
        sampling=sampling,
        design=draw(st.sampled_from(designs)),
        surprises=None if questions is None else draw(st.none() | st.integers(0, questions)),
        assumes=draw(st.none() | st.just("values hardly vary")),
    )


@given(all_terms())
def test_terms_are_written_and_read(terms: Terms) -> None:
    body = json.loads(json.dumps({"kind": "open/3", **terms.to_dict()}))
    assert Terms.from_dict(body) == terms
    assert terms.promises is (terms.tolerance is not None)
    assert terms.half_width == (terms.tolerance or WHOLE_RANGE)


LATER = ("randomised", "rules", "looked_up")  # ledgers that were opened before do not speak of them


@pytest.mark.parametrize("name", [each for each in independent(10).to_dict() if each not in LATER])
def test_no_declaration_may_be_missing(name: str) -> None:
    body = independent(10).to_dict()
    del body[name]
    with pytest.raises(KeyError, match=name):
        Terms.from_dict(body)


def test_a_design_is_of_units_whose_sizes_were_decided() -> None:
    """How many rows a group has is public as if it had been: so are the sizes in it."""
    decided = replace(independent(900), sampling=clustered("unit", sizes="fixed", size=2.5))
    assert replace(decided, design=ARMS).given_sizes
    with pytest.raises(InvalidArgument, match=r"say sizes='fixed' in place of largest="):
        replace(independent(900), sampling=clustered("unit", largest=12), design=ARMS)


def test_what_a_promise_rests_on_is_said() -> None:
    terms = replace(independent(900), design=ARMS, assumes="values hardly vary")
    assert terms.assumption == (
        "independent rows, given the design columns as they are in these rows, values hardly vary"
    )
    assert terms.width == "+-30 % of each column's range"
    assert replace(terms, tolerance=None).width == "no half-width is promised"


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"rows": 0}, "rows is 0"),
        ({"tolerance": 0.0}, "tolerance is 0.0"),
        ({"confidence_level": 1.0}, "confidence_level is 1.0"),
        ({"questions": 0}, "questions is 0"),
        ({"surprises": 11}, "more surprises than questions"),
        ({"surprises": 1, "questions": None}, "questions is not declared"),
    ],
)
def test_terms_that_make_no_sense(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidArgument, match=said):
        replace(independent(100), **changed)


def test_what_is_left_open_gets_its_default_or_is_planned() -> None:
    terms = Declarations().terms(100, Independent(), NO_DESIGN)
    assert terms == Terms(
        100, None, 0.95, None, Independent(), described="exact", described_share=0.4
    )
    said = Declarations(0.1, 20.0, 3.0, 0.9, design=("arm",))  # type: ignore[arg-type]
    assert (said.questions, said.surprises) == (20, 3)
    assert isinstance(said.questions, int)
    terms = said.terms(900, m_dependent(2), ARMS, "off")
    assert terms == Terms(900, 0.1, 0.9, 20, m_dependent(2), ARMS, 3)


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        ({"tolerance": 0.0}, "tolerance is 0.0"),
        ({"questions": 2.5}, "questions is 2.5"),
        ({"surprises": -1}, "surprises is -1"),
        ({"confidence_level": 0.05}, "did you mean 0.95"),
    ],
)
def test_each_declaration_is_checked(declared: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidArgument, match=said):
        Declarations(**declared)


def described(**changed: Any) -> Terms:
    """Terms of a hundred questions, with a share for described ones and one for a reveal."""
    usual: dict[str, Any] = {"described": "exact", "described_share": 0.5, "reveal_share": 0.25}
    return replace(independent(1_000, questions=100), **{**usual, **changed})


OF_TERMS: dict[str, tuple[tuple[Any, ...], tuple[Any, ...]]] = {
    "rows": ((0, -1, 1.5), (1, 10**12)),
    "tolerance": ((0.0, -0.1, math.nan), (1e-9, 0.4)),
    "confidence_level": ((0.0, 1.0, math.nan), (1e-9, 0.999)),
    "questions": ((0, -1, 1.5), (1, 10**12)),
    "surprises": ((-1, 101, 0.5), (0, 100)),
    "candidates": ((0, -1, 1.5), (1, 10**6)),
    "described_share": ((-0.1, 1.1, math.nan), (0.1, 0.75)),
    "reveal_share": ((-0.1, 0.51, math.nan), (0.0, 0.5)),
}
OF_DECLARATIONS: dict[str, tuple[tuple[Any, ...], tuple[Any, ...]]] = {
    "tolerance": ((0.0, -0.1, math.nan), (1e-9, 0.4, None)),
    "questions": ((0, -1, 1.5), (1, 10**12, None)),
    "surprises": ((-1, 0.5), (0, 10**12, None)),
    "confidence_level": ((0.0, 1.0, math.nan), (0.999, None)),
    "described": (("some", 1), ("off", "exact", "rounded", None)),
    "described_share": ((-0.1, 1.1, math.nan), (0.0, 1.0, None)),
    "key": (("", 3), ("id", None)),
    "candidates": ((0, -1, 1.5), (1, None)),
    "public": (("x", (3,)), (("x", "y"), None)),
    "randomised": (("dice",), ("coins", "shuffled", None)),
    "arm": (("", 3), ("arm", None)),
    "within": (("x", (3,)), (("x",), None)),
}


@pytest.mark.parametrize("name", OF_TERMS)
def test_terms_are_refused_from_their_edges_on(name: str) -> None:
    refused, accepted = OF_TERMS[name]
    for value in accepted:
        assert getattr(described(**{name: value}), name) == value
    for value in refused:
        with pytest.raises(InvalidArgument, match=r"\S"):
            described(**{name: value})


@pytest.mark.parametrize("name", OF_DECLARATIONS)
def test_declarations_are_refused_from_their_edges_on(name: str) -> None:
    refused, accepted = OF_DECLARATIONS[name]
    for value in accepted:
        assert getattr(Declarations(**{name: value}), name) == value
    for value in refused:
        with pytest.raises(InvalidArgument, match=r"\S"):
            Declarations(**{name: value})
