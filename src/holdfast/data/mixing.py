"""A fast, fixed mixing of 64-bit words: the same numbers on every machine and in every version."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["mixed"]


def mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Each word through a bijection in which every input bit affects every output bit.

    The finaliser of SplitMix64 (Steele, Lea and Flood 2014); arithmetic is modulo 2^64.
    """
    import numpy as np

    words = words ^ (words >> np.uint64(30))
    words *= np.uint64(0xBF58476D1CE4E5B9)
    words ^= words >> np.uint64(27)
    words *= np.uint64(0x94D049BB133111EB)
    words ^= words >> np.uint64(31)
    return words
