"""Promises about all classes together: no single class shows whether they hold."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mahrem import check
from mahrem.estimates import population_uniques
from mahrem.models._counts import Counts, PrivacyModel
from mahrem.models.populations._sampled import chances, check_fraction
from mahrem.types import Levels, Mask, Sizes

ESTIMATORS = ("dankar", "pitman", "zayatz", "snb")


@dataclass(frozen=True)
class TableModel(PrivacyModel):
    """A promise that the sizes of all published classes keep together, or do not."""

    of_table: ClassVar[bool] = True
    compares: ClassVar[bool] = True
    rising: ClassVar[bool] = False
    monotone: ClassVar[bool] = False

    @abstractmethod
    def figure(self, sizes: Sizes) -> float:
        """Give the figure of the whole table."""

    def level(self, counts: Counts) -> Levels:
        """Give the figure of the whole table, the same for every class."""
        return np.full(counts.groups, self.figure(counts.sizes[counts.sizes > 0]))

    def admits(self, levels: Levels, counts: Counts) -> Mask:  # noqa: ARG002
        """Say of all classes alike whether they may stand together."""
        return levels <= self.wanted + 1e-12


@dataclass(frozen=True)
class AverageRisk(TableModel):
    """Average risk: classes over rows, the mean chance that a prosecutor finds a row.

    Guarantees:
        - The level is the mean over rows of one over the size of their class.
        - Classes that are put together never raise it.

    References:
        El Emam, Dankar: Protecting privacy using k-anonymity, 2008; R_c there, as in ARX.

    Example:
        >>> import numpy as np
        >>> from mahrem.models import counts_of
        >>> counts = counts_of(np.array([0, 0, 0, 1]), np.zeros(4, np.int64), classes=2, size=1)
        >>> AverageRisk(0.5).level(counts), AverageRisk(0.4).holds(counts)
        (array([0.5, 0.5]), array([False, False]))
    """

    risk: float
    name: ClassVar[str] = "average-risk"
    monotone: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check.between(0, 1, average_risk=self.risk)
        check.above_zero(average_risk=self.risk)

    @property
    def wanted(self) -> float:
        """The largest mean chance."""
        return self.risk

    def figure(self, sizes: Sizes) -> float:
        """Divide classes by rows."""
        return len(sizes) / int(sizes.sum()) if len(sizes) else 0.0


@dataclass(frozen=True)
class MarketerRisk(TableModel):
    """The marketer's risk: the share of rows somebody expects to find who matches all of them at once.

    Guarantees:
        - The level is the mean over rows of the journalist's chance in their class.
        - Classes that are put together never raise it.

    References:
        Dankar, El Emam: A method for evaluating marketer re-identification risk, 2010.

    Example:
        >>> import numpy as np
        >>> from mahrem.models import counts_of
        >>> counts = counts_of(np.array([0, 0, 1]), np.zeros(3, np.int64), classes=2, size=1)
        >>> MarketerRisk(0.5, fraction=1.0).level(counts).round(3)
        array([0.667, 0.667])
    """

    risk: float
    fraction: float = 1.0
    name: ClassVar[str] = "marketer-risk"
    monotone: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check.between(0, 1, marketer_risk=self.risk)
        check.above_zero(marketer_risk=self.risk)
        check_fraction(self.fraction)

    @property
    def wanted(self) -> float:
        """The largest share of rows."""
        return self.risk

    def figure(self, sizes: Sizes) -> float:
        """Take the mean chance over rows."""
        rows = int(sizes.sum())
        return float(sizes @ chances(sizes, self.fraction)) / rows if rows else 0.0


@dataclass(frozen=True)
class SampleUniqueness(TableModel):
    """Sample uniqueness: the share of published rows that stand alone.

    Guarantees:
        - The level is the rows in classes of one over all published rows.
        - Classes that are put together never raise it.

    References:
        ARX; El Emam, Dankar: Protecting privacy using k-anonymity, 2008.

    Example:
        >>> import numpy as np
        >>> from mahrem.models import counts_of
        >>> counts = counts_of(np.array([0, 0, 0, 1]), np.zeros(4, np.int64), classes=2, size=1)
        >>> SampleUniqueness(0.25).level(counts), SampleUniqueness(0.2).holds(counts)
        (array([0.25, 0.25]), array([False, False]))
    """

    share: float
    name: ClassVar[str] = "sample-uniqueness"
    monotone: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check.between(0, 1, sample_uniqueness=self.share)

    @property
    def wanted(self) -> float:
        """The largest share of rows."""
        return self.share

    def figure(self, sizes: Sizes) -> float:
        """Count classes of one row."""
        rows = int(sizes.sum())
        return int(np.count_nonzero(sizes == 1)) / rows if rows else 0.0


@dataclass(frozen=True)
class PopulationUniqueness(TableModel):
    """Population uniqueness: the share of people thought to stand alone in the population.

    ``kind`` is an estimator: ``pitman``, ``zayatz``, ``snb``, or ``dankar``, which chooses among them. Where
    the one that was asked for has no answer, the promise does not hold, unless nobody stands alone in the
    table.

    Guarantees:
        - The level is the estimate over the population, 0 where nobody stands alone in the table and infinity
          where there is no estimate.

    References:
        Dankar, El Emam, Neisa, Roffey: Estimating the re-identification risk of clinical data sets, 2012.

    Example:
        >>> import numpy as np
        >>> from mahrem.models import counts_of
        >>> counts = counts_of(np.array([0, 0, 1, 1]), np.zeros(4, np.int64), classes=2, size=1)
        >>> PopulationUniqueness(0.01, fraction=0.1).level(counts)
        array([0., 0.])
    """

    share: float
    fraction: float
    kind: str = "dankar"
    name: ClassVar[str] = "population-uniqueness"

    def __post_init__(self) -> None:
        check.between(0, 1, population_uniqueness=self.share)
        check_fraction(self.fraction)
        check.one_of(ESTIMATORS, population_uniqueness_kind=self.kind)

    @property
    def wanted(self) -> float:
        """The largest share of people."""
        return self.share

    def figure(self, sizes: Sizes) -> float:
        """Estimate the share of people who stand alone."""
        rows = int(sizes.sum())
        if not (sizes == 1).any():
            return 0.0
        people = max(rows, round(rows / self.fraction))
        estimate = population_uniques(sizes, people)
        if self.kind == "dankar":
            return estimate.share if np.isfinite(estimate.share) else float("inf")
        alone = getattr(estimate, self.kind)
        return float("inf") if alone is None else float(alone) / people
