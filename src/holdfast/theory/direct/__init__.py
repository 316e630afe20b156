"""Direct intervals: classical finite-sample intervals of exact sample values, at any tiny level.

One file for each family of statistics. Rows are fixed questions' rows (section 11.1): what is
promised holds for a statistic chosen before the sample, at the level e^{log_p} that its description
leaves it. Every choice (bets, grids, split of the level) is a function of log_p, declarations and
the number of rows or units, never of values; each end is rounded outwards.
"""
