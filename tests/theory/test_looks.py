"""No search begins elsewhere, or looks more often, than it did."""

from __future__ import annotations

from tests.theory.looks import calls, recorded, same, searches


def test_searches_are_as_they_were_recorded() -> None:
    present, differing = dict(calls()), []
    for name, was in recorded().items():
        now = searches(present[name])
        if len(was) != len(now) or not all(map(same, was, now)):
            differing.append(f"{name}: {was} became {now}")
    assert not differing, "\n".join(["Is it meant? `python -m tests.theory.looks`", *differing])


def test_a_look_more_is_one_and_three_are_found() -> None:
    was = ("first_kept", [0.5, 0.0], 12)
    assert same(was, ("first_kept", [0.5, 0.0], 13))
    assert not same(was, ("first_kept", [0.5, 0.0], 15))
    assert not same(was, ("first_kept", [0.5, 0.001], 12))
    assert not same(was, ("last_rejected", [0.5, 0.0], 12))
