"""Base of the theory: concentration, intervals, rounding to the safe side."""
