"""No number of the theory comes out differently unless the changelog says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from holdfast.theory.base.theorem import registry
from tests.theory import released_numbers
from tests.theory.released_numbers import REWRITE, differences, flat, points, recorded, same

PARTS = 8
NAMES = list(recorded())


@pytest.mark.parametrize("part", range(PARTS))
def test_every_number_is_as_it_was_released(part: int) -> None:
    found = differences(NAMES[part::PARTS])
    assert not found, "\n".join([REWRITE, *found])


def test_every_theorem_has_numbers_in_the_record() -> None:
    record = recorded()
    missing = [name for name in registry() if not record.get(name)]
    assert not missing, REWRITE
    few = [name for name in points() if name not in record]
    assert not few, REWRITE


def test_a_number_that_moves_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of the record's numbers, moved by less than a tenth of a millionth."""
    record = recorded()
    name = "clopper_pearson_upper"
    point = next(point for point, result in record[name].items() if isinstance(result[0], float))
    record[name][point][0] *= 1.0 + 1e-8
    monkeypatch.setattr(released_numbers, "RECORD", tmp_path / "record.json")
    (tmp_path / "record.json").write_text(json.dumps(record), "utf-8")
    assert len(differences([name])) == 1


def test_results_are_the_same_to_the_digits_that_libraries_agree_on() -> None:
    def said(value: object) -> list[object]:
        return list(flat(value))

    assert same(said((0.1, None, "a")), said((0.1 * (1 + 1e-12), None, "a")))
    assert not same(said(0.1), said(0.1 * (1 + 1e-8)))
    assert not same(said((0.1, 0.2)), said((0.1,)))
    assert not same(said(True), said(False))
    assert not same(said("refused"), said(0.1))
