"""Addressed noise: in its range, the same for the same address, fresh for another, and uniform."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b

import numpy as np
import pytest
from hypothesis import given, strategies as st

from holdfast.mechanisms.noise import Noise
from tests.seam import NOISE_BLOCKS
from tests.theory.coverage import counts_refute

DRAWS = 8_000
# Spans that do not divide 256: taking remainders of a byte prefers the smaller values.
UNEVEN = [96, 160, 192]
secrets = st.binary(min_size=32, max_size=32)


@given(secret=secrets, number=st.integers(1, 10**9), data=st.data())
def test_it_is_in_range_and_depends_on_its_address_only(
    secret: bytes, number: int, data: st.DataObject
) -> None:
    least = data.draw(st.integers(-(10**30), 10**30))
    most = least + data.draw(st.integers(0, 10**30))
    drawn = Noise(secret, str(number)).uniform(least, most)
    assert least <= drawn <= most
    assert drawn == Noise(secret, str(number)).uniform(least, most)


def test_a_single_value_is_no_choice() -> None:
    assert Noise(b"s" * 32, "1").uniform(5, 5) == 5


@given(secret=secrets, number=st.integers(1, 10**6))
def test_other_addresses_give_other_noise(secret: bytes, number: int) -> None:
    reach = 2**64
    here = Noise(secret, str(number)).uniform(-reach, reach)
    assert here != Noise(secret, str(number + 1)).uniform(-reach, reach)
    assert here != Noise(bytes([secret[0] ^ 1, *secret[1:]]), str(number)).uniform(-reach, reach)


def test_no_two_of_many_questions_share_their_noise() -> None:
    drawn = {Noise(b"s" * 32, str(number)).uniform(0, 2**80) for number in range(1, 5_001)}
    assert len(drawn) == 5_000


def test_the_stream_is_the_one_that_was_recorded() -> None:
    # A crashed entry is finished by another version with the same noise: these never change.
    # HMAC-SHA256(secret, "holdfast noise/1|7|0"), its first 11 bytes modulo 2 * 2^20 + 1.
    digest = "001866113fdc4a104403f6"
    assert Noise(bytes(range(32)), "7").uniform(-(2**20), 2**20) == (
        int(digest, 16) % (2**21 + 1) - 2**20
    )


def refuted(draw: Callable[[int], int], span: int) -> bool:
    """Whether a chi-square test at level 1e-9 refutes that `draw` is uniform on 0..span-1."""
    counts = np.bincount([draw(number) for number in range(DRAWS)], minlength=span)
    return counts_refute(counts, DRAWS / span)


def secret_of(span: int) -> bytes:
    return blake2b(str(span).encode(), digest_size=32).digest()


@pytest.mark.statistical
@pytest.mark.parametrize("span", [2, 3, 7, *UNEVEN])
def test_it_is_uniform(span: int) -> None:
    secret = secret_of(span)
    assert not refuted(lambda number: Noise(secret, str(number)).uniform(0, span - 1), span)


@pytest.mark.statistical
@pytest.mark.parametrize("span", UNEVEN)
def test_a_remainder_without_rejection_is_found(span: int) -> None:
    secret = secret_of(span)

    def one_byte_without_rejection(number: int) -> int:
        return Noise(secret, str(number)).uniform(0, 255) % span

    assert refuted(one_byte_without_rejection, span)


@pytest.mark.statistical
def test_large_spans_are_uniform_in_every_part() -> None:
    # The span of a release, and one far beyond 64 bits: sixteen equal parts of each.
    for span in (2**21 + 1, 3 * 2**100 + 7):
        secret = secret_of(span)
        assert not refuted(
            lambda number, span=span, secret=secret: (  # type: ignore[misc]
                16 * Noise(secret, str(number)).uniform(0, span - 1) // span
            ),
            16,
        )


@pytest.mark.statistical
def test_neighbours_are_independent() -> None:
    secret = secret_of(0)

    def pair(number: int) -> int:
        here, there = (Noise(secret, str(2 * number + place)).uniform(0, 7) for place in (0, 1))
        return 8 * here + there

    def repeated(number: int) -> int:  # sabotage: one noise for both
        return 9 * Noise(secret, str(2 * number)).uniform(0, 7)

    assert not refuted(pair, 64)
    assert refuted(repeated, 64)


def test_rejected_numbers_are_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    # Nine bytes are taken for a span of 7, and 2^72 is 1 more than a multiple of 7: of all numbers
    # only 2^72 - 1 is rejected. Three of them come first; then five bytes 255 and four bytes 0.
    monkeypatch.setattr(NOISE_BLOCKS, lambda _: iter([b"\xff" * 32, b"\0" * 32]))
    assert Noise(b"", "1").uniform(0, 6) == (2**40 - 1) * 2**32 % 7 == 4
