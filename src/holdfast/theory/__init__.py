"""Mathematics: floats in, floats out; no data, no randomness, no clock; useful alone.

Greek letters and the papers' own symbols live here and nowhere else. Functions that can meet tiny
probabilities take natural logarithms of them (`log_beta`, `log_p`). Bounds are rounded to the safe
side. Each result is a small function decorated with `theorem.theorem`, which records its source.
"""
