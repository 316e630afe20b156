"""The laboratory: populations whose truth is known, analysts who attack, and exact verdicts.

A population draws a table and knows the truth of every question about it. A holder answers
questions about one table. An analyst sees answers only. A trial lets an analyst loose on a holder
and compares every interval with the truth.
"""
