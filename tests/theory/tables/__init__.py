"""One table for each file of `holdfast.theory`: GOLDEN rows and DOMAINS. Collected here."""

from __future__ import annotations

import importlib
import pkgutil

from tests.theory.rows import Domain, Golden


def _tables() -> tuple[list[Golden], dict[str, Domain]]:
    golden: list[Golden] = []
    domains: dict[str, Domain] = {}
    for module in pkgutil.iter_modules(__path__):
        table = importlib.import_module(f"{__name__}.{module.name}")
        golden.extend(table.GOLDEN)
        twice = domains.keys() & table.DOMAINS.keys()
        if twice:
            raise RuntimeError(f"two domains for {sorted(twice)}")
        domains.update(table.DOMAINS)
    return golden, domains


GOLDEN, DOMAINS = _tables()
