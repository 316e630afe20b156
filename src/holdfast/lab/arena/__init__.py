"""Trials, verdicts and campaigns: analysts let loose on holders, judged exactly."""
