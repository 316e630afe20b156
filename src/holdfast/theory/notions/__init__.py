"""DP and TV stability, the arrows between notions, and what they say of the population."""
