"""Views of the catalogues: mechanisms, and the table of statistics on a page of its own words."""

from __future__ import annotations

from docs.writers.markdown import filled, generated, page, table

from holdfast.mechanisms.catalogue import CATALOGUE
from holdfast.statistics.registry import STATISTICS

__all__ = ["mechanism_page", "statistics_page"]


def mechanism_page() -> str:
    """Every mechanism of the catalogue, with its page."""
    return page(
        generated("the catalogue of mechanisms"),
        "# The mechanisms\n",
        "A holdout is opened with one of them: `holdfast.open(data, mechanism=NAME, "
        "options={...})` or `holdfast init DATA --mechanism NAME --option KEY=VALUE`. "
        "`holdfast mechanisms` prints this table, `holdfast mechanisms NAME` one of them with its "
        'options. `mechanism="auto"` chooses and says why. What is promised is always '
        "simultaneous: all intervals are true together.\n",
        *table(
            ("mechanism", "what it does", "needs", "promises"),
            [
                (
                    f"[{kind.name}]({kind.page})",
                    kind.summary,
                    kind.needs,
                    kind.promises if kind.theorem else f"*no promise*: {kind.promises}",
                )
                for kind in CATALOGUE.values()
            ],
        ),
    )


def statistics_page() -> str:
    """The page on statistics, with its table of all of them made anew."""
    rows = [(f"`{entry.form}`", entry.meaning) for entry in STATISTICS.values()]
    return filled("statistics.md", "the registry", table(("as text", "what it is"), rows)[:-1])
