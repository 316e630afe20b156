"""Late dictionaries: search spaces and last looks, by Theorem O' (see `described`).

A dictionary is opened at a public history with a part sigma of what is left of the failure
probability. It has N members, which depend on that history and on things independent of X: models
trained on other rows at N declared configurations, say. Of each member m questions are declared,
and share 15/16 of its weight 1/N; any other text about it has the weight of its length in the rest.
Without declared questions, texts have all of it. A last look is the case N = 1, sigma = 1.

Symbols: N members, m declared questions, sigma the share that is taken, s what is spent of beta.
"""

from __future__ import annotations

import math

from holdfast import require
from holdfast.theory.base.safeside import log_down
from holdfast.theory.base.theorem import theorem
from holdfast.theory.length.bits import option_millibits

__all__ = ["declared_millibits", "late_log_share", "log_kept", "undeclared_millibits"]

_DECLARED = 15  # of 16 parts of a member's weight


@theorem(
    source="Holdfast",
    place="Theorem O', search spaces",
    statement="If the m questions declared about each of N members have the weight 15/(16 N m), "
    "and all other texts about it 1/(16 N) together, the weights of a dictionary sum to at most 1.",
    domain="members >= 1, questions >= 1",
    monotone={"members": "up", "questions": "up"},
    slack="below a thousandth of a bit, and ln(16/15) nats for what may be asked besides",
)
def declared_millibits(members: int, questions: int = 1) -> int:
    """The length of a declared question about one of so many members, in thousandths of a bit."""
    N = require.positive_integer("members", members)
    m = require.positive_integer("questions", questions)
    return option_millibits(_DECLARED, 16 * N * m)


@theorem(
    source="Holdfast",
    place="Theorem O', search spaces: other texts",
    statement="A text that was not declared has, of each of N members, the weight of its own "
    "length times 1/(16 N); times 1/N where no question was declared.",
    domain="members >= 1, questions >= 0",
    monotone={"members": "up"},
    slack="below a thousandth of a bit",
)
def undeclared_millibits(members: int, questions: int) -> int:
    """What is added to the length of a text about one of so many members."""
    N = require.positive_integer("members", members)
    declared = require.integer_at_least("questions", questions, 0) > 0
    return option_millibits(1, 16 * N if declared else N)


@theorem(
    source="Holdfast",
    place="Theorem O', the share",
    statement="A dictionary may be opened with any part sigma of what is left, beta - s.",
    domain="log_left = ln(beta - s) <= 0, 0 < share <= 1",
    monotone={"log_left": "up", "share": "up"},
    slack="none",
)
def late_log_share(log_left: float, share: float) -> float:
    """ln(sigma (beta - s)), rounded down."""
    log_left = require.log_probability("log_left", log_left)
    share = require.between("share", share, 0.0, 1.0, open_low=True)
    return log_down(log_left + math.log(share)) if share < 1.0 else log_left


@theorem(
    source="Holdfast",
    place="Theorem O', what later shares keep",
    statement="If shares that are still to come sum to at most beta - s, then times 1 - sigma they "
    "and the dictionary's sigma (beta - s) do.",
    domain="log_kept <= 0 of dictionaries before, 0 < share < 1",
    monotone={"log_before": "up", "share": "down"},
    slack="none",
)
def log_kept(log_before: float, share: float) -> float:
    """ln of the factor of later shares, rounded down."""
    before = require.log_probability("log_before", log_before)
    return log_down(before + math.log1p(-require.probability("share", share)))
