"""Independent uniform words, from which the laws that are not uniform are drawn exactly."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.mechanisms.noise import Noise

__all__ = ["PLACES", "WORD", "below", "words_of"]

PLACES = 64
WORD = 2**PLACES  # a word is a whole number, uniform on {0, ..., WORD - 1}


def words_of(noise: Noise) -> Iterator[int]:
    """The stream of one question; everything that it draws must come from one such iterator."""
    return noise.uniforms(0, WORD - 1)


def below(words: Iterator[int], span: int) -> int:
    """0, ..., span - 1, each equally likely, by rejection."""
    count = -(-span.bit_length() // PLACES) + 1  # one word more: a rejection is rarer than 2^-64
    limit = (1 << (PLACES * count)) // span * span
    while True:
        drawn = 0
        for _ in range(count):
            drawn = drawn << PLACES | next(words)
        if drawn < limit:
            return drawn % span
