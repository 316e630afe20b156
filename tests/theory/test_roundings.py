"""Rounding to the safe side is a law over the registry: a place turned round is found.

Every theorem's golden inputs, and a few calls of what no theorem calls, are run with one rounding
at a time made large (tests/theory/roundings.py). Bounds may only rise, budgets, levels and lower
ends may only fall.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from holdfast.theory.base import safeside
from tests.theory.rounding_cases import cases, is_either
from tests.theory.roundings import ROOT, Site, examine, places_met, sites

REPOSITORY = Path(__file__).parents[2]
ROOMS = ("theory/", "papers/theorems/")


def test_every_rounding_of_a_theorem_is_to_the_safe_side() -> None:
    faults, found = examine(cases(rows=2), 1, ROOMS)
    assert not faults
    unseen = [str(site) for site in sites(*ROOMS) if site not in found and not is_either(site)]
    assert not unseen, "no case sees these: add one to rounding_cases.py, or say why in EITHER"


@pytest.mark.campaign
def test_every_rounding_is_to_the_safe_side_in_everything_that_calls_it() -> None:
    faults, _ = examine(cases(rows=10**9), 10**9, ROOMS)
    assert not faults


_TURNED = {
    "round_up": "round_down",
    "round_down": "round_up",
    "log_up": "log_down",
    "log_down": "log_up",
    "float_above": "float_below",
    "float_below": "float_above",
}


def turned(source: str, site: Site) -> str:
    """The source of a file with one rounding turned round."""
    lines = source.splitlines(keepends=True)
    before, call = lines[site.line - 1][: site.column], lines[site.line - 1][site.column :]
    if site.name in _TURNED:
        call = call.replace(site.name, "_turned", 1)
        lines.append(f"from {safeside.__name__} import {_TURNED[site.name]} as _turned\n")
    elif site.name == "ulp":
        call = call.replace("math.ulp(", "-math.ulp(", 1)
    else:
        call = call.replace("math.nextafter(", "(lambda x, y: math.nextafter(x, 2 * x - y))(", 1)
    lines[site.line - 1] = before + call
    return "".join(lines)


_LOOK = """
from tests.theory.rounding_cases import cases
from tests.theory.roundings import examine
every = cases(2)
print(examine([every[place] for place in {places}], 9, {path!r}, {line})[0])
"""


@pytest.mark.campaign
def test_a_rounding_that_is_turned_round_in_the_source_is_found(tmp_path: Path) -> None:
    """Six places drawn by lot, each turned round in a copy of the package."""
    copy = tmp_path / "holdfast"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns("__pycache__"))
    settings = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{REPOSITORY}"}
    met = list(places_met(cases(2)))
    able = [site for site in sites(*ROOMS) if not is_either(site)]
    for site in Random(25).sample(able, 6):
        kept = (copy / site.path).read_text("utf-8")
        (copy / site.path).write_text(turned(kept, site), "utf-8")
        places = [place for place, here in enumerate(met) if site in here]
        looked = subprocess.run(
            [sys.executable, "-c", _LOOK.format(places=places, path=site.path, line=site.line)],
            env=settings,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
        (copy / site.path).write_text(kept, "utf-8")
        assert site.path in looked.stdout, f"{site}: turned round, and nobody saw it"
