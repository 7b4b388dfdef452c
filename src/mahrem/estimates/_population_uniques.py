"""How many people stand alone in the population, and which estimator to believe."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Final

from mahrem.estimates._pitman import pitman_uniques
from mahrem.estimates._slide_negative_binomial import snb_uniques
from mahrem.estimates._zayatz import size_histogram, zayatz_uniques
from mahrem.types import Sizes

_SMALL_SAMPLE: Final = 0.1


@dataclass(frozen=True, kw_only=True)
class PopulationUniques:
    """People estimated to stand alone in the population; None where an estimator has no answer."""

    population: int
    fraction: float  # share of the population that is in the table
    sample: float  # share of the table's rows that stand alone in it
    pitman: float | None
    zayatz: float | None
    snb: float | None
    uniques: float  # by the estimator chosen
    share: float  # the same over the population
    chosen: str  # pitman, zayatz, snb; "none" without sample uniques, "census" when everybody is in

    def as_dict(self) -> dict[str, float | str | None]:
        """Give what goes into JSON."""
        return asdict(self)


def population_uniques(sizes: Sizes, population: int) -> PopulationUniques:
    """Estimate population uniqueness with three estimators and choose by Dankar's decision rule.

    Up to a tenth of the population in the table: Pitman. Above: the smaller of Zayatz and the slide negative
    binomial. Where the chosen one has no answer, Zayatz, as in ARX. Without sample uniques the answer is 0
    whatever the estimators say. ARX reports an estimate that does not exist as 0; here it is None.

    Args:
        sizes: ``(c,)`` rows in each class of the table.
        population: How many people there are, at least as many as rows.

    Raises:
        InvalidParameter: If the population is smaller than the table.

    References:
        Dankar, El Emam, Neisa, Roffey: Estimating the re-identification risk of clinical data sets, 2012.

    Example:
        >>> import numpy as np
        >>> uniques = population_uniques(np.array([1] * 8 + [2] * 3 + [3, 5, 9]), 1000)
        >>> uniques.chosen, uniques.sample
        ('pitman', 0.258...)
    """
    size, times, rows = size_histogram(sizes, population)
    alone = int(times[0]) if rows and size[0] == 1 else 0
    fraction = rows / population if population else 0.0
    if not alone or rows == population:
        estimates = [float(alone)] * 3
        chosen = "census" if alone else "none"
        best = float(alone)
    else:
        estimates = [
            estimate(sizes, population) for estimate in (pitman_uniques, zayatz_uniques, snb_uniques)
        ]
        chosen, best = _choose(estimates, fraction)
    pitman, zayatz, snb = (None if math.isnan(value) else value for value in estimates)
    return PopulationUniques(
        population=population,
        fraction=fraction,
        sample=alone / rows if rows else 0.0,
        pitman=pitman,
        zayatz=zayatz,
        snb=snb,
        uniques=best,
        share=best / population if population else 0.0,
        chosen=chosen,
    )


def _choose(estimates: list[float], fraction: float) -> tuple[str, float]:
    pitman, zayatz, snb = estimates
    if fraction <= _SMALL_SAMPLE:
        return ("zayatz", zayatz) if math.isnan(pitman) else ("pitman", pitman)
    return ("snb", snb) if snb <= zayatz else ("zayatz", zayatz)  # NaN is below nothing
