"""How concentrated a value is, where no range is known: the scale of its deviations, declared.

`sub_gaussian(sigma)`: E exp(t (x - E x)) <= exp(t^2 sigma^2 / 2) for every t. `sub_exponential
(sigma, b)`: for |t| <= 1/b only. Said of a column, it is about each row's value; said of a
statistic, about the statistic itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.question.text import numeral

__all__ = ["Scale", "read_scale", "sub_exponential", "sub_gaussian"]

_LEAST, _MOST = 2.0**-900, 2.0**900  # a grid of doubles has room around it


@dataclass(frozen=True, slots=True)
class Scale:
    """The scale sigma of sub-Gaussian deviations; with b, of sub-exponential ones."""

    sigma: float
    b: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", _positive("sigma", self.sigma))
        if self.b is not None:
            object.__setattr__(self, "b", _positive("b", self.b))

    @property
    def longest(self) -> float:
        """The scale on which its tail falls far out."""
        return self.sigma if self.b is None else max(self.sigma, self.b)

    @property
    def text(self) -> str:
        """As a question says it."""
        more = "" if self.b is None else f", b = {numeral(self.b)}"
        return f"sigma = {numeral(self.sigma)}{more}"

    def to_dict(self) -> dict[str, float]:
        """Plain values, for the ledger."""
        return {"sigma": self.sigma} if self.b is None else {"sigma": self.sigma, "b": self.b}


def sub_gaussian(sigma: float) -> Scale:
    """Deviations that fall like a Gaussian's of standard deviation `sigma`, or faster."""
    return Scale(sigma)


def sub_exponential(sigma: float, b: float) -> Scale:
    """Deviations like a Gaussian's up to sigma^2/b, and like exp(-a/b) beyond, or faster."""
    return Scale(sigma, _positive("b", b))


def read_scale(scale: Any, label: str) -> Scale:
    """A scale from what may stand for one: itself, or named values."""
    if isinstance(scale, Scale):
        return scale
    if isinstance(scale, Mapping) and "sigma" in scale and scale.keys() <= {"sigma", "b"}:
        try:
            return Scale(**scale)
        except InvalidArgument as error:
            raise InvalidArgument(f"{label}: {error}") from None
    raise InvalidArgument(
        f"{label} must be holdfast.tails.sub_gaussian(sigma) or sub_exponential(sigma, b), or "
        f"named values such as {{'sigma': 0.4}}, not {repr(scale)[:60]}."
    )


def _positive(name: str, value: object) -> float:
    return require.between(name, require.positive(name, value), _LEAST, _MOST)
