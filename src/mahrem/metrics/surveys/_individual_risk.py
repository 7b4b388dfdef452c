"""Risk in samples: how likely somebody in a survey is found, given whom each record stands for."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mahrem.errors import InvalidParameter
from mahrem.metrics._subsets import distinct_rows
from mahrem.types import Floats, Integers


@dataclass(frozen=True)
class IndividualRisk:
    """The risk of every record, and of the table."""

    frequency: Integers = field(repr=False)  # (n,) records that show the same
    population: Floats = field(repr=False)  # (n,) people they stand for
    risk: Floats = field(repr=False)  # (n,) chance that the record's person is found

    @property
    def expected(self) -> float:
        """How many records are expected to be tied to their people."""
        return float(self.risk.sum())

    @property
    def share(self) -> float:
        """The same as a share of all records: the global risk."""
        return float(self.risk.mean()) if len(self.risk) else 0.0

    def below(self, k: int) -> int:
        """Count the records that fewer than k show, themselves included."""
        return int((self.frequency < k).sum())


def individual_risk(codes: Integers, weights: Floats | None = None) -> IndividualRisk:
    """Give the chance that each record is tied to its person, by sampling weights. Smaller is safer.

    Range: from 0 to 1. A record's frequency in the population is estimated by the weights of the records that
    show the same; the risk is the expected value of one over it, given the frequency in the sample.

    Args:
        codes: ``(n, d)`` whole numbers, equal where values are equal.
        weights: ``(n,)`` how many people each record stands for, above 0; none: only itself.

    Raises:
        InvalidParameter: If a weight is not a number above 0.

    Guarantees:
        - Without weights the risk is one over the frequency.
        - A record that stands for more people has no higher risk.

    References:
        Benedetti, Franconi: Statistical and technological solutions for controlled data dissemination, 1998;
        with the approximation for three and more records as sdcMicro's ``indivRisk`` uses it.

    Example:
        >>> estimate = individual_risk(np.array([[0], [0], [1]]), np.array([60.0, 50.0, 17.0]))
        >>> estimate.risk.round(4).tolist()
        [0.0171, 0.0171, 0.1771]
    """
    rows = distinct_rows(codes)
    people = np.ones(len(rows.place)) if weights is None else checked_weights(weights, len(rows.place))
    known = np.bincount(rows.place, weights=people, minlength=len(rows.times))
    frequency, population = rows.times[rows.place], known[rows.place]
    share = np.minimum(frequency / population, 1.0)
    return IndividualRisk(frequency, np.asarray(population, np.float64), _expected_inverse(frequency, share))


def checked_weights(weights: Floats, rows: int) -> Floats:
    """Refuse sampling weights that stand for nobody."""
    checked = np.asarray(weights, np.float64)
    if checked.shape != (rows,):
        raise InvalidParameter(f"weights={checked.shape} must be one for each of rows={rows}")
    if not np.isfinite(checked).all() or (checked <= 0).any():
        raise InvalidParameter("weights must be numbers above 0: every record stands for somebody")
    return checked


def _expected_inverse(frequency: Integers, share: Floats) -> Floats:
    certain = share > 1 - 1e-6  # the formulas below lose their digits there
    safe = np.where(certain, 0.5, share)
    odds, log = safe / (1 - safe), np.log(1 / safe)
    risk = np.where(frequency == 1, odds * log, odds - odds**2 * log)
    risk = np.where(frequency > 2, safe / (frequency - (1 - safe)), risk)
    return np.asarray(np.where(certain, 1.0 / frequency, np.clip(risk, 0.0, 1.0)))


def household_risk(risk: Floats, households: Integers) -> Floats:
    """Give for each record the chance that anybody of its household is found. Smaller is safer.

    Range: from 0 to 1, never below the record's own risk.

    Args:
        risk: ``(n,)`` chance that each record is found.
        households: ``(n,)`` the household of each record, 0 and up; below 0: one of its own.

    References:
        Templ: Statistical disclosure control for microdata, 2017, on hierarchical risk.

    Example:
        >>> household_risk(np.array([0.5, 0.5, 0.1]), np.array([0, 0, 1])).round(2).tolist()
        [0.75, 0.75, 0.1]
    """
    chances = np.asarray(risk, np.float64)
    if chances.shape != np.asarray(households).shape:
        raise InvalidParameter("households must be one for each record")
    own = np.asarray(households, np.int64).copy()
    alone = own < 0
    own[alone] = own.max(initial=-1) + 1 + np.arange(int(alone.sum()))
    with np.errstate(divide="ignore"):
        nobody = np.bincount(own, weights=np.log1p(-chances))
    return np.asarray(-np.expm1(nobody[own]))
