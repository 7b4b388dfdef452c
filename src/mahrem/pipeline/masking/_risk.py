"""Risk of a table as it is: individual, global, of households, by a model, and special uniques."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import polars as pl
from numpy.typing import NDArray

from mahrem import check
from mahrem.errors import InvalidInput, InvalidParameter, in_our_words, spelled
from mahrem.metrics.surveys import (
    IndividualRisk,
    ModelRisk,
    household_risk,
    individual_risk,
    model_risk,
    suda,
)
from mahrem.pipeline.masking._masked import open_masked
from mahrem.pipeline.masking._settings import RiskSettings
from mahrem.settings import split_settings
from mahrem.table.cells import as_text, numbers_of_text
from mahrem.types import Floats

if TYPE_CHECKING:
    from mahrem.pipeline.masking._keywords import RiskKeywords

_SUDA_SECONDS = 60.0
_THRESHOLD = 0.05


@dataclass(frozen=True, kw_only=True)
class SurveyRisk:
    """What somebody who knows the quasi-identifiers may do; about the table itself, so not for publication.

    Attributes:
        columns: The quasi-identifiers.
        individual: The risk of every record.
        household: The chance that anybody of a record's household is found, where households were named.
        model: What a log-linear model expects, where the sampled share is known.
        suda: The SUDA score of every record.
        dis: The same as chances of being alone in the population.
        contributions: Per cent of all scores that come with each column.
        complete: False: time was up, and scores are lower bounds.
    """

    columns: tuple[str, ...]
    individual: IndividualRisk = field(repr=False)
    household: Floats | None = field(repr=False)
    model: ModelRisk | None
    suda: Floats = field(repr=False)
    dis: Floats = field(repr=False)
    contributions: Mapping[str, float]
    complete: bool

    @property
    def records(self) -> pl.DataFrame:
        """Every record with its figures, in the order of the table: for those who may see it."""
        own = self.individual
        columns = {"frequency": own.frequency, "population": own.population, "risk": own.risk}
        columns |= {} if self.household is None else {"household_risk": self.household}
        return pl.DataFrame({**columns, "suda": self.suda, "dis": self.dis})

    def as_dict(self) -> dict[str, Any]:
        """Give the figures of the whole table."""
        own = self.individual
        figures: dict[str, object] = {
            "columns": list(self.columns),
            "records": len(own.risk),
            "violates": {f"{k}-anonymity": own.below(k) for k in (2, 3, 5)},
            "expected_reidentifications": own.expected,
            "global_risk": own.share,
            "highest_risk": float(own.risk.max(initial=0.0)),
            f"records_above_{_THRESHOLD:g}": int((own.risk > _THRESHOLD).sum()),
        }
        if self.household is not None:
            figures["household_risk"] = {
                "expected": float(self.household.sum()),
                "mean": float(self.household.mean()) if len(self.household) else 0.0,
            }
        if self.model is not None:
            figures["model"] = {
                "uniques": self.model.uniques,
                "population_uniques": self.model.population_uniques,
                "matches": self.model.matches,
                "pairs": self.model.pairs,
            }
        figures["suda"] = {
            "records_with_a_score": int((self.suda > 0).sum()),
            "highest_dis": float(self.dis.max(initial=0.0)),
            "contributions": dict(self.contributions),
            "complete": self.complete,
        }
        return figures


@in_our_words
def risk(source: object, **settings: Unpack[RiskKeywords]) -> SurveyRisk:
    """Measure how well people in a table could be found by its quasi-identifiers.

    Args:
        source: A frame, a file or a database.
        **settings: Every name of :class:`~mahrem.pipeline.masking.RiskKeywords`.
            ``weight``: the column of sampling weights, how many people each record stands for.
            ``household``: the column that names households.
            ``fraction``: share of the population that is in the table; with weights it follows from them.
            ``largest``: the largest sets of columns in which special uniques are looked for; all if None.
            Further ``quasi`` and how the source is read; other columns are not looked at.

    Example:
        >>> import polars as pl
        >>> people = pl.DataFrame({"sex": ["f", "f", "m"], "weight": [60.0, 50.0, 17.0]})
        >>> found = risk(people, quasi=["sex"], weight="weight")
        >>> round(found.individual.expected, 4)
        0.2114
    """
    asked, rest = split_settings(RiskSettings, settings)
    weight, household = asked.weight, asked.household
    if not rest.get("quasi"):
        raise InvalidParameter(f"quasi=() must name what somebody may know: {spelled('quasi', ['A', 'B'])}")
    for name in ("sensitive", "identifier", "insensitive", "rest", "accept", "weights", "format"):
        if rest.get(name):
            raise InvalidParameter(f"{name} says nothing about risk; leave it out")
    opened = open_masked(source, {**rest, "rest": "insensitive"}, to_publish=False)
    table, quasi = opened.table, opened.policy.quasi
    named = [name for name in (weight, household) if name is not None]
    check.columns_exist(named, table.columns)
    if set(named) & set(quasi):
        raise InvalidParameter("weight and household must not be quasi-identifiers")
    if table.height == 0:
        raise InvalidInput("source has no rows")
    codes = np.column_stack([_codes(table[name]) for name in quasi])
    weights = None if weight is None else _numbers(table[weight])
    own = individual_risk(codes, weights)
    share = _share(asked.fraction, weights, table.height)
    houses = None if household is None else _codes(table[household])
    scored = suda(codes, fraction=share or 0.01, most=asked.largest, seconds=_SUDA_SECONDS)
    return SurveyRisk(
        columns=tuple(quasi),
        individual=own,
        household=None if houses is None else household_risk(own.risk, houses),
        model=None if share is None else _model(codes, share),
        suda=scored.scores,
        dis=scored.dis,
        contributions=dict(zip(quasi, scored.contributions.tolist(), strict=True)),
        complete=scored.complete,
    )


def _codes(series: pl.Series) -> NDArray[np.int64]:
    return (as_text(series).rank("dense").cast(pl.Int64) - 1).fill_null(-1).to_numpy()


def _numbers(series: pl.Series) -> Floats:
    numbers = numbers_of_text(series) if series.dtype == pl.String else series
    try:
        return numbers.cast(pl.Float64).fill_null(np.nan).to_numpy()
    except pl.exceptions.PolarsError:
        raise InvalidParameter(f"weight={series.name!r} must be a column of numbers") from None


def _share(fraction: float | None, weights: Floats | None, rows: int) -> float | None:
    """Give the share of the population in the table; None where nobody knows, or everybody is in it."""
    if fraction is not None:
        check.between(0, 1, fraction=fraction)
        if fraction in {0.0, 1.0}:
            raise InvalidParameter(f"fraction={fraction!r} must be above 0 and below 1")
        return fraction
    if weights is None:
        return None
    share = rows / float(weights.sum())
    return share if 0 < share < 1 else None


def _model(codes: NDArray[np.int64], share: float) -> ModelRisk:
    try:
        return model_risk(codes, share)
    except InvalidParameter:  # too many combinations: columns alone must do
        return model_risk(codes, share, pairs=False)
