"""Three attackers: who knows that a person is in (prosecutor), who does not (journalist), who wants many."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace

import numpy as np

from mahrem import check
from mahrem.errors import InvalidParameter
from mahrem.types import Floats, Integers, Mask, Sizes

_TERMS = 60  # of a series whose terms at least halve
_RECURRENCE = 1_000  # sizes up to which the recurrence is run


@dataclass(frozen=True, kw_only=True)
class Risk:
    """Risk of being found, over all published rows; the names are the keys of every JSON."""

    at_risk: float  # share of rows whose risk is above the threshold, R_a
    highest: float  # R_b
    average: float  # R_c
    threshold: float

    def as_dict(self) -> dict[str, float]:
        """Give what goes into JSON."""
        return asdict(self)


def prosecutor_risk(sizes: Sizes, *, threshold: float = 0.2) -> Risk:
    """Risk from somebody who knows that the person is in the table: one over the class's size.

    Range: every figure from 0 (nothing published) to 1. Smaller is safer.

    Args:
        sizes: ``(c,)`` rows in each published class.
        threshold: A row is at risk when its risk is above this.

    References:
        El Emam: Guide to the de-identification of personal health information, 2013; as in ARX.

    Example:
        >>> prosecutor_risk(np.array([6, 2]))
        Risk(at_risk=0.25, highest=0.5, average=0.25, threshold=0.2)
    """
    check.between(0, 1, threshold=threshold)
    (shown,) = _shown(sizes)
    return _summary(shown, 1.0 / shown, threshold)


def journalist_risk(
    sizes: Sizes,
    *,
    population: Sizes | None = None,
    fraction: float | None = None,
    threshold: float = 0.2,
) -> Risk:
    """Risk from somebody who only knows that the person is in the population.

    With a population table the risk of a row is one over the people of the population whom its class fits,
    and the average is the larger of ``classes / people`` and the mean risk of rows, as in El Emam and ARX.
    With only a sampling fraction the risk of a row is :func:`expected_risks` and the average their mean:
    ARX has no such estimate and takes the sample for the population.

    Args:
        sizes: ``(c,)`` rows in each published class.
        population: ``(c,)`` people of the population in each of these classes.
        fraction: Share of the population that is in the table, where there is no population table.
        threshold: A row is at risk when its risk is above this.

    Raises:
        InvalidParameter: If not exactly one of ``population`` and ``fraction`` is given, or a class has fewer
            people in the population than rows.

    References:
        El Emam, Dankar: Protecting privacy using k-anonymity, 2008.

    Example:
        >>> journalist_risk(np.array([2, 1]), population=np.array([10, 4]))
        Risk(at_risk=0.333..., highest=0.25, average=0.15, threshold=0.2)
    """
    check.between(0, 1, threshold=threshold)
    if (population is None) == (fraction is None):
        raise InvalidParameter("population and fraction: give exactly one of them")
    if population is None or fraction is not None:
        (shown,) = _shown(sizes)
        return _summary(shown, expected_risks(shown, float(fraction or 0.0)), threshold)
    shown, people = _shown(sizes, population)
    risk = _summary(shown, 1.0 / people, threshold)
    by_class = len(shown) / float(people.sum()) if len(shown) else 0.0
    return replace(risk, average=max(risk.average, by_class))


def marketer_risk(sizes: Sizes, *, population: Sizes | None = None, fraction: float | None = None) -> float:
    """Share of rows that somebody expects to find who matches all of them at once. Smaller is safer.

    Range: from 0 to 1: the mean over rows of one over the people their class fits. Without a population it is
    the prosecutor's average, classes over rows. Never above the journalist's average.

    Args:
        sizes: ``(c,)`` rows in each published class.
        population: ``(c,)`` people of the population in each of these classes.
        fraction: Share of the population that is in the table, where there is no population table.

    References:
        Dankar, El Emam: A method for evaluating marketer re-identification risk, 2010.

    Example:
        >>> marketer_risk(np.array([2, 1]), population=np.array([10, 4]))
        0.15
    """
    if population is not None and fraction is not None:
        raise InvalidParameter("population and fraction: give at most one of them")
    if fraction is not None:
        (shown,) = _shown(sizes)
        return _summary(shown, expected_risks(shown, fraction), 1.0).average
    shown, people = _shown(sizes, sizes if population is None else population)
    return _summary(shown, 1.0 / people, 1.0).average


def expected_risks(sizes: Sizes, fraction: float) -> Floats:
    """Give for each class the expected value of one over its people in the population, ``(c,)``.

    A class of f rows is a sample in which everybody is with chance ``fraction``; how many people there are
    then is negative binomial, and the expectation is ``∫ v^(f-1) / (1 + a v) dv`` over [0, 1] with
    ``a = 1/fraction - 1``. It is the individual risk of mu-Argus and sdcMicro with equal weights.

    Args:
        sizes: ``(c,)`` rows in each class, at least 1.
        fraction: Share of the population that is in the table, above 0 and at most 1.

    References:
        Benedetti, Franconi: Statistical and technological solutions for controlled data dissemination, 1998.

    Example:
        >>> expected_risks(np.array([1, 2]), 0.5).round(6).tolist()
        [0.693147, 0.306853]
        >>> expected_risks(np.array([1, 4]), 1.0).tolist()
        [1.0, 0.25]
    """
    check.between(0, 1, fraction=fraction)
    if fraction == 0.0:
        raise InvalidParameter("fraction=0.0 must be above 0")
    distinct, place = np.unique(np.asarray(sizes, np.int64), return_inverse=True)
    if len(distinct) and distinct[0] < 1:
        raise InvalidParameter("sizes must be at least 1: there is nobody in an empty class")
    risks = _by_series(distinct, fraction)
    if fraction < 0.5:
        small = distinct <= _RECURRENCE
        risks[small] = _by_recurrence(fraction, int(distinct[small].max(initial=1)))[distinct[small] - 1]
    return np.asarray(risks[place])


def _by_series(sizes: Integers, fraction: float) -> Floats:
    """Add up ``(p/f) Σ q^j j! / ((f+1) … (f+j))``: quick where q is at most one half or f is large."""
    term = fraction / sizes
    total = term.copy()
    for place in range(1, _TERMS):
        term = term * ((1.0 - fraction) * place / (sizes + place))
        total += term
    return np.asarray(total)


def _by_recurrence(fraction: float, most: int) -> Floats:
    """Climb from one row to ``most``: errors shrink on the way because ``a`` is above 1."""
    ratio = 1.0 / fraction - 1.0
    risks = np.empty(most)
    risks[0] = math.log1p(ratio) / ratio
    for size in range(1, most):
        risks[size] = (1.0 / size - risks[size - 1]) / ratio
    return risks


def _summary(sizes: Integers, risks: Floats, threshold: float) -> Risk:
    rows = int(sizes.sum())
    if not rows:
        return Risk(at_risk=0.0, highest=0.0, average=0.0, threshold=threshold)
    above: Mask = risks > threshold
    return Risk(
        at_risk=int(sizes[above].sum()) / rows,
        highest=float(risks.max()),
        average=float(sizes @ risks) / rows,
        threshold=threshold,
    )


def _shown(sizes: Sizes, *others: Sizes) -> list[Integers]:
    """Leave out classes without rows; what is said of the others must be possible."""
    exact = np.asarray(sizes, dtype=np.int64)
    kept = exact > 0
    counts = [exact[kept]]
    for other in others:
        people = np.asarray(other, dtype=np.int64)
        if people.shape != exact.shape:
            raise InvalidParameter(f"population={people.size} must be as many as the classes, {exact.size}")
        short = int(np.count_nonzero(people < exact))
        if short:
            raise InvalidParameter(
                f"population: {short} classes have fewer people in it than rows; the population must hold "
                "everybody in the table"
            )
        counts.append(people[kept])
    return counts
