"""Described questions: one rule for each part, from a symbol that crosses the door to an interval.

Every rule is fixed by what is public before the rows are looked at: the part's level, the number of
rows and how they came about. What crosses the door is a few whole numbers, of which there are a
public number of combinations; value and interval are functions of them.
"""
