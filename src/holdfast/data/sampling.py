"""How the rows came about: the one assumption behind every promise, printed with each of them.

`"independent"`, `clustered("patient_id", largest=12)`, `m_dependent(7)`, `dependency_graph(4)`,
`markov_chain(0.8)` or `declared(...)`. A value turns a number of rows into the concentration of a
mean: of [0, 1] values (`profile`), or of values without a range, of which a scale is declared
(`unbounded`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import lru_cache
from typing import Any, Literal

from holdfast import require
from holdfast.data.sample import Sample
from holdfast.data.values import cluster_sizes
from holdfast.errors import InvalidArgument, InvalidQuestion
from holdfast.question.declaring import Scale
from holdfast.theory.base.concentration import (
    BoundedMean,
    Concentration,
    DeclaredTail,
    SubExponential,
    SubGaussian,
)
from holdfast.theory.base.dependence import (
    MOST_ROWS_IN_A_UNIT,
    GraphMean,
    MarkovMean,
    MDependentMean,
    PooledUnits,
)
from holdfast.theory.base.gamma import (
    PolynomialTail,
    SubWeibull,
    TailTable,
    gamma_from_text,
    gamma_text,
)
from holdfast.theory.base.safeside import round_up
from holdfast.theory.base.unbounded import UnboundedMean, UnboundedUnits, scaled_tail

# How a statistic concentrates, declared by whoever asks: families that a ledger can keep.
#
# `sub_gaussian(sigma)` and `sub_exponential(sigma, b)` (`question.columns`), `sub_weibull(scale,
# shape)`, `polynomial_tail(order, moment)` and `tail_table([(deviation, log tail), ...])` are
# what `gamma=` takes, of a statistic and of a sampling.


def sub_weibull(scale: float, shape: float) -> SubWeibull:
    """P[deviation > a] <= 2 exp(-(a/scale)^shape): shape 2 is sub-Gaussian, below 1 heavy."""
    return SubWeibull(require.positive("scale", scale), require.positive("shape", shape))


def polynomial_tail(order: float, moment: float) -> PolynomialTail:
    """(E |deviation|^order)^(1/order) <= moment, and nothing else is known."""
    return PolynomialTail(require.at_least("order", order, 1), require.positive("moment", moment))


def tail_table(points: Sequence[tuple[float, float]]) -> TailTable:
    """Points (a, l): P[deviation > a] <= e^l, a rising and l falling."""
    return TailTable(tuple(require.items("points", points, "pairs (deviation, log tail)")))


def gamma_of(profile_or_tail: Any) -> Concentration:
    """A concentration from what may say one; refused where a ledger could not keep it."""
    match profile_or_tail:
        case Scale(sigma, b):
            return scaled_tail(sigma, b)
        case list() | tuple():
            return tail_table(profile_or_tail)
    if not hasattr(profile_or_tail, "log_tail") or not hasattr(profile_or_tail, "radius"):
        raise InvalidArgument(
            f"gamma is {repr(profile_or_tail)[:60]}; it must be a family such as "
            "holdfast.tails.sub_gaussian(0.01) or holdfast.tails.sub_weibull(0.1, 0.5), "
            "or a table of (radius, log tail)."
        )
    gamma_text(profile_or_tail)
    profile: Concentration = profile_or_tail
    return profile


GIVEN_SIZES = "given the sizes of the units"
_COINS = 0.98  # the share of heads of n coins is this over sqrt(n) off in 5 % of all cases


@dataclass(frozen=True, slots=True)
class Independent:
    """Rows drawn independently of each other."""

    def profile(self, rows: int) -> Concentration:
        return _of_independent(rows)

    def unbounded(self, rows: int, scale: Scale) -> Concentration:
        return UnboundedMean(rows, scale.sigma, scale.b)

    def __str__(self) -> str:
        return "independent rows"


# Every question of a table has the same.
_of_independent = lru_cache(maxsize=128, typed=True)(BoundedMean)


@dataclass(frozen=True, slots=True)
class Clustered:
    """Rows in units that are independent of each other; inside a unit anything goes.

    With `largest`, the most rows a unit can have, sizes are part of what was drawn; `units` is how
    many units there are. With `sizes="fixed"` they were decided, and everything is said given them;
    `size` is then what a mean concentrates by: the sum of squared sizes over the sum of sizes.
    `differences="within"` declares that differences of groups are those inside units.
    """

    column: str
    largest: int | None = None
    sizes: Literal["fixed"] | None = None
    size: float | None = None
    units: int | None = None
    differences: Literal["within"] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.column, str) or not self.column:
            raise InvalidArgument(
                f"column is {self.column!r}; it must be the name of the column that says which "
                "unit a row belongs to."
            )
        if (self.largest is None) == (self.sizes is None):
            raise InvalidArgument(_one_of_two(self.column, neither=self.largest is None))
        if self.largest is not None:
            require.integer_between("largest", self.largest, 1, MOST_ROWS_IN_A_UNIT)
            _require_left_out("size", self.size, "largest")
        else:
            require.one_of("sizes", ["fixed"], self.sizes)
            _require_left_out("units", self.units, "sizes='fixed'")
        if self.size is not None:
            require.at_least("size", self.size, 1)
        if self.units is not None:
            require.positive_integer("units", self.units)
        if self.differences is not None:
            require.one_of("differences", ["within"], self.differences)
            if self.largest is None or self.largest < 2:
                raise InvalidArgument(
                    "differences='within' is about units with rows of both groups, of which the "
                    "greatest size is declared: give largest=, 2 or more."
                )

    @property
    def given_sizes(self) -> bool:
        """Whether all that is said is given the sizes of the units."""
        return self.largest is None

    @property
    def rows_in_a_unit(self) -> float:
        """The most rows of a unit, or what stands for the sizes that were decided."""
        if self.largest is not None:
            return float(self.largest)
        if self.size is None:
            raise InvalidArgument(
                f"clustered({self.column!r}, sizes='fixed') has no size; to plan without data say "
                f"how many rows a unit has: clustered({self.column!r}, sizes='fixed', size=12)."
            )
        return self.size

    def profile(self, rows: int) -> Concentration:
        if self.largest is not None:
            return PooledUnits(rows, self.units, self.largest)
        return SubGaussian(0.5 * min(1.0, math.sqrt(self.rows_in_a_unit / rows)))

    def unbounded(self, rows: int, scale: Scale) -> Concentration:
        if self.largest is not None:
            return PooledUnits(rows, self.units, self.largest, scale.sigma, scale.b)
        size = min(float(rows), self.rows_in_a_unit)
        # Of decided sizes only sum m_u^2 is kept, and no unit is larger than its root.
        largest = min(float(rows), round_up(math.sqrt(size * rows)))
        squares = min(float(rows * rows), max(float(rows), round_up(size * rows)))
        return UnboundedUnits(rows, squares, largest, scale.sigma, scale.b)

    def __str__(self) -> str:
        if self.largest is not None:
            size, many = f" of at most {self.largest:,} rows", self.units
        else:
            size, many = "" if self.size is None else f" of {self.size:g} rows", None
        count = "" if many is None else f"{many:,} "
        sizes = f", {GIVEN_SIZES}" if self.given_sizes else ""
        within = ", differences that say so within units" if self.differences else ""
        return (
            f"{count}independent units{size} (column {self.column!r}), any dependence inside a "
            f"unit{sizes}{within}"
        )


def _one_of_two(column: str, *, neither: bool) -> str:
    """The sentence about the two ways to speak of sizes, of which one must be chosen."""
    fault = "nothing of the sizes of units" if neither else "both largest= and sizes="
    return (
        f"clustered({column!r}) says {fault}; say either largest=12 (no unit can have more than 12 "
        "rows, and sizes may go with the values), or sizes='fixed' (somebody decided them, as in "
        "a panel, and every promise is given the sizes of the units). On the command line: "
        "clustered:COLUMN:12 or clustered:COLUMN:fixed."
    )


def _require_left_out(name: str, value: object, beside: str) -> None:
    if value is not None:
        raise InvalidArgument(
            f"{name} is {value!r}, and {beside} is given, by which nothing rests on it; leave "
            f"{name} out."
        )


@dataclass(frozen=True, slots=True)
class MDependent:
    """Rows in order, independent when further than m apart."""

    m: int

    def __post_init__(self) -> None:
        require.integer_at_least("m", self.m, 0)

    def profile(self, rows: int) -> Concentration:
        return MDependentMean(rows, self.m)

    def unbounded(self, rows: int, scale: Scale) -> Concentration:
        return UnboundedMean(rows, scale.sigma, scale.b, min(rows, self.m + 1))

    def __str__(self) -> str:
        return f"rows in order, independent when more than {self.m} apart"


@dataclass(frozen=True, slots=True)
class DependencyGraph:
    """Rows of which each is independent of all others but at most `degree` neighbours."""

    degree: int

    def __post_init__(self) -> None:
        require.integer_at_least("degree", self.degree, 0)

    def profile(self, rows: int) -> Concentration:
        return GraphMean(self._within(rows), self.degree)

    def unbounded(self, rows: int, scale: Scale) -> Concentration:
        return UnboundedMean(self._within(rows), scale.sigma, scale.b, self.degree + 1)

    def _within(self, rows: int) -> int:
        if self.degree >= rows:
            raise InvalidArgument(
                f"degree is {self.degree:,}, and a row of {rows:,} has at most {rows - 1:,} "
                "neighbours; declare how many rows each one depends on at most."
            )
        return rows

    def __str__(self) -> str:
        return f"each row independent of all others but at most {self.degree:,}"


@dataclass(frozen=True, slots=True)
class MarkovChain:
    """Rows in order, a Markov chain that forgets: see `theory.base.dependence.MarkovMean`."""

    contraction: float

    def __post_init__(self) -> None:
        require.between("contraction", self.contraction, 0.0, 1.0, open_high=True)

    def profile(self, rows: int) -> Concentration:
        return MarkovMean(rows, self.contraction)

    def unbounded(self, rows: int, scale: Scale) -> Concentration:  # noqa: ARG002
        raise InvalidQuestion(
            "No theorem here covers means without a range of the rows of a Markov chain; give it "
            "bounds=, or ask for a statistic whose own concentration is declared (gamma=)."
        )

    def __str__(self) -> str:
        return f"a Markov chain of contraction {self.contraction:g} in total variation"


@dataclass(frozen=True, slots=True)
class Declared:
    """A concentration that the user states: nothing else is assumed of the rows."""

    concentration: Concentration

    def profile(self, rows: int) -> Concentration:  # noqa: ARG002 - about these rows
        return self.concentration

    def unbounded(self, rows: int, scale: Scale) -> Concentration:  # noqa: ARG002
        raise InvalidQuestion(
            "The declared concentration is about means of values in a range, and this one has "
            "none; open the ledger with another sampling, or ask for a statistic whose own "
            "concentration is declared."
        )

    def __str__(self) -> str:
        return f"declared concentration {self.concentration}"


Sampling = Independent | Clustered | MDependent | DependencyGraph | MarkovChain | Declared


@lru_cache(maxsize=256)  # it is the same for all questions of a ledger
def profile_of_rows(sampling: Sampling, rows: int) -> Concentration:
    """The concentration of a mean of so many rows."""
    return sampling.profile(rows)


def clustered(
    column: str,
    *,
    largest: int | None = None,
    sizes: Literal["fixed"] | None = None,
    size: float | None = None,
    units: int | None = None,
    differences: Literal["within"] | None = None,
) -> Clustered:
    """Rows come in independent units, named by `column`; any dependence inside a unit.

    `largest` is how many rows a unit can have at most, known before the rows are. Nothing is
    assumed of the sizes: large units may be the ill ones. A table with a larger unit is refused.

    `sizes="fixed"` instead: the sizes of the units were decided, as in a panel. Every promise is
    then given the sizes of the units, and false where sizes go with values.

    `differences="within"`, beside `largest`: differences and effects of groups that share no row
    are the average over units of the difference of the unit's own means, each unit weighed by its
    smaller group. Where most units have rows of both groups it is far narrower than the difference
    of the groups' means over all rows, and another number.

    To plan without data, `units` is how many there are (with `largest`; else all are taken to be
    full), or `size` how many rows each has (with `sizes="fixed"`; for unequal units, the sum of
    squared sizes over the sum of sizes). When a table is opened both are counted.
    """
    return Clustered(column, largest, sizes, size, units, differences)


def m_dependent(m: int) -> MDependent:
    """Rows in their order of time or place, independent when more than `m` apart."""
    return MDependent(require.integer_at_least("m", m, 0))


def dependency_graph(degree: int) -> DependencyGraph:
    """Each row is independent of all others together but at most `degree` neighbours.

    For instance pairs of `n` people of whom each is in at most k pairs: degree 2 (k - 1).
    """
    return DependencyGraph(require.integer_at_least("degree", degree, 0))


def markov_chain(contraction: float) -> MarkovChain:
    """Rows in their order are a Markov chain: `contraction` is the most that the laws of the next
    row, given two values of this one, can differ in total variation."""
    return MarkovChain(require.between("contraction", contraction, 0.0, 1.0, open_high=True))


def declared(
    *,
    sigma: float | None = None,
    b: float | None = None,
    gamma: Any = None,
    log_tail: Callable[[float], float] | None = None,
    largest: float = 1.0,
) -> Declared:
    """State the concentration of every mean of values in [0, 1] yourself.

    Either a sub-Gaussian scale `sigma` (with `b`, a sub-exponential one), or `gamma`: a family
    such as `holdfast.tails.sub_weibull(...)` or a table of (radius, log tail). To plan with,
    `log_tail(a)` will do, an upper bound on ln P[|sample value - truth| > a] for deviations up
    to `largest`; no ledger can keep it.
    """
    ways = [sigma is not None, gamma is not None, log_tail is not None]
    if ways.count(True) != 1 or (b is not None and sigma is None):
        raise InvalidArgument(
            "declared() takes sigma=, or sigma= and b=, or gamma=, or log_tail=, and nothing else."
        )
    if gamma is not None:
        return Declared(gamma_of(gamma))
    if log_tail is not None:
        return Declared(DeclaredTail(log_tail, largest))
    scale = require.positive("sigma", sigma)
    if b is None:
        return Declared(SubGaussian(scale))
    return Declared(SubExponential(scale, require.positive("b", b)))


def planned_sampling(sampling: Sampling) -> str:
    """The option of `holdfast plan` that says how the rows came about; none if independently."""
    match sampling:
        case Clustered(largest=int(largest)):
            how = f"clustered:{largest}"
        case Clustered():
            how = f"clustered:{sampling.rows_in_a_unit:g}:fixed"
        case MDependent(m):
            how = f"m-dependent:{m}"
        case DependencyGraph(degree):
            how = f"dependency-graph:{degree}"
        case MarkovChain(contraction):
            how = f"markov-chain:{contraction:g}"
        case _:
            return ""
    return f" --sampling {how}"


def sampling_of(value: str | Sampling) -> Sampling:
    """A sampling value from what a user may write."""
    if isinstance(value, Sampling):
        return value
    if isinstance(value, str) and value == "independent":
        return Independent()
    raise InvalidArgument(
        f"sampling is {value!r}; it must be 'independent', holdfast.clustered(column, "
        "largest=...), holdfast.m_dependent(m), holdfast.dependency_graph(degree), "
        "holdfast.markov_chain(contraction) or holdfast.declared(...)."
    )


def measured(sampling: Sampling, sample: Sample) -> Sampling:
    """The assumption for the units as they are in a table; any other stays as it is.

    What was declared to plan with is not believed. Of sizes that were decided it is their squares;
    of others no more than how many units there are, and that none is larger than declared.
    """
    if isinstance(sampling, Declared):
        _require_possible(sampling, sample.n)
    if not isinstance(sampling, Clustered):
        return sampling
    sizes = cluster_sizes(sample, sampling.column)
    if sampling.largest is None:
        squares = sum(size * size for size in sizes)
        return replace(sampling, size=squares / sum(sizes))
    if sizes[0] > sampling.largest:
        raise InvalidArgument(
            f"largest is {sampling.largest:,}, and a unit of column {sampling.column!r} has more "
            "rows (missing values are one unit); declare how many rows a unit can have at most, "
            "from what is known without these rows."
        )
    return replace(sampling, units=len(sizes))


def _require_possible(sampling: Declared, rows: int) -> None:
    """Refuse a concentration of all means that not even independent fair coins have.

    It was meant for one column: to believe it of every condition would make false intervals.
    """
    gamma_text(sampling.concentration)  # what a ledger cannot keep is refused for that
    radius = sampling.concentration.radius(math.log(0.05))
    if radius < 0.9 * min(0.5, _COINS / math.sqrt(rows)):
        raise InvalidArgument(
            f"sampling declares that every mean of values in [0, 1] is within {radius:.3g} of the "
            f"truth with probability 95 %, and the share of heads among {rows:,} fair coins is "
            f"not; declare it for the column it is about: schema={{'x': "
            "holdfast.tails.sub_gaussian(sigma)}, or mean(x, sigma = ...)."
        )


# What ledgers call them: a name's meaning never changes.
_KINDS: Mapping[str, type[Any]] = {
    "clustered": Clustered,
    "dependency_graph": DependencyGraph,
    "independent": Independent,
    "m_dependent": MDependent,
    "markov_chain": MarkovChain,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}


def sampling_to_dict(sampling: Sampling) -> dict[str, Any]:
    """The assumption as plain values, for the ledger."""
    if isinstance(sampling, Declared):
        return {"kind": "declared", "gamma": gamma_text(sampling.concentration)}
    facts = asdict(sampling)
    if facts.get("differences", "") is None:  # what ledgers of before did not say
        del facts["differences"]
    return {"kind": _NAMES[type(sampling)], **facts}


def sampling_from_dict(body: Mapping[str, Any]) -> Sampling:
    """The assumption that `sampling_to_dict` wrote."""
    try:
        if body["kind"] == "declared":
            return Declared(gamma_from_text(body["gamma"]))
        kind = _KINDS[body["kind"]]
        known = [
            each.name for each in fields(kind) if each.name != "differences" or each.name in body
        ]
        design: Sampling = kind(**{name: body[name] for name in known})
    except (LookupError, TypeError) as error:
        raise InvalidArgument(
            f"the ledger names a sampling that this version does not know: {body}."
        ) from error
    return design
