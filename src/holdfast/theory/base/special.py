"""The special functions of scipy, loaded when the first of them is called.

Most commands and many questions need none, and loading them takes as long as loading numpy itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scipy.special import (
        beta,
        betainc,
        betaincc,
        betainccinv,
        betaincinv,
        betaln,
        erfcx,
        erfinv,
        gammaln,
        log_ndtr,
        logsumexp,
        ndtri_exp,
        xlog1py,
        xlogy,
    )

__all__ = [
    "beta",
    "betainc",
    "betaincc",
    "betainccinv",
    "betaincinv",
    "betaln",
    "erfcx",
    "erfinv",
    "gammaln",
    "log_ndtr",
    "logsumexp",
    "ndtri_exp",
    "xlog1py",
    "xlogy",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'holdfast.theory.base.special' has no attribute {name!r}")
    from scipy import special

    value = getattr(special, name)
    globals()[name] = value
    return value
