"""Theorems of the papers and the field on which no promise rests; loaded by name."""
