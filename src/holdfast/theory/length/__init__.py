"""Described questions: what a short description is worth, and what its answer costs the ledger.

A question that can be written in few bits needs no budget: all questions of a language are promised
together, each at a level that falls with the length of its description (Theorem O). This room has
the arithmetic of lengths in thousandths of a bit, the table of the prior "words/2", the theorem,
and what described answers cost every later question that is not described.
"""
