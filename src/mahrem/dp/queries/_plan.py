"""What a plan is: what to add up or select, with which noise, at which cost; public facts alone."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from mahrem.dp._tally import TallyPlan, Term
from mahrem.dp.accounting import Composed, Event, Repeated
from mahrem.dp.noise import IntegerNoise, PermuteAndFlip, SmoothLaplace
from mahrem.dp.queries._query import Query
from mahrem.dp.queries._settings import QuerySettings
from mahrem.types import Integers


@dataclass(frozen=True)
class NoisyTerm:
    """One term of a query: totals are divided by ``2**bits``, rounded, and noised."""

    term: Term
    noise: IntegerNoise
    bits: int

    @property
    def worth(self) -> float:
        """What one step of the noisy total is worth."""
        return self.term.unit * (1 << self.bits)

    def error(self, miss: float) -> float:
        """Bound the error of a total, but for probability ``miss``; rounding included."""
        return (self.noise.half_width(miss) + (0.5 if self.bits else 0.0)) * self.worth


@dataclass(frozen=True)
class Addition:
    """Noisy totals.

    Attributes:
        parts: The terms.
        together: One noise for all of them: a row adds 1 to them together, so the whole is paid for once.
    """

    parts: tuple[NoisyTerm, ...]
    together: bool = False

    @property
    def event(self) -> Event:
        """What it costs."""
        if self.together:
            return self.parts[0].noise.event
        return Composed(tuple(part.noise.event for part in self.parts))

    def miss(self, confidence: float) -> float:
        """Give the chance that one total may be further off than it says."""
        return (1 - confidence) / (1 if self.together else len(self.parts))

    def noisy(self, totals: Integers) -> list[list[float]]:
        """Add the noise to true totals, ``(*shape, terms)``; gives what they are worth, for each term."""
        coarse = []
        for number, part in enumerate(self.parts):
            half = (1 << part.bits) >> 1
            coarse.append([(int(total) + half) >> part.bits for total in totals[..., number].ravel()])
        if self.together:
            drawn = iter(self.parts[0].noise([total for one in coarse for total in one]))
            noisy = [[next(drawn) for _ in one] for one in coarse]
        else:
            noisy = [part.noise(one) for part, one in zip(self.parts, coarse, strict=True)]
        return [[value * part.worth for value in one] for part, one in zip(self.parts, noisy, strict=True)]


@dataclass(frozen=True)
class Selection:
    """Points of a grid, one per level and group."""

    levels: tuple[Fraction, ...]
    mechanisms: tuple[PermuteAndFlip, ...]

    @property
    def event(self) -> Event:
        """What it costs."""
        each = self.mechanisms[0].event
        return each if len(self.levels) == 1 else Repeated(each, len(self.levels))


@dataclass(frozen=True)
class Smooth:
    """A median by smooth sensitivity."""

    mechanism: SmoothLaplace

    @property
    def event(self) -> Event:
        """What it costs."""
        return self.mechanism.event


@dataclass(frozen=True, kw_only=True)
class QueryPlan:
    """Everything about an answer that can be known before the data is touched."""

    query: Query
    tally: TallyPlan
    work: Addition | Selection | Smooth
    settings: QuerySettings
    mechanism: str
    public_rows: int | None  # divide by this instead of a noisy count

    @property
    def event(self) -> Event:
        """What it costs."""
        return self.work.event
