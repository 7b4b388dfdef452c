"""Every figure of what a release keeps and what it gives away; risk is told by sizes of classes alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from mahrem import check
from mahrem.disclosed import Figure, Why, disclose, of_crowd, published
from mahrem.errors import InvalidParameter
from mahrem.metrics import RowCounts, average_risk, highest_risk, measure_losses, share_at_risk, unique_share
from mahrem.report import ColumnSet, ReportRisk, ReportSingling
from mahrem.types import Floats, Integers, Sizes

if TYPE_CHECKING:
    from mahrem.drafts._crowd import Crowd
    from mahrem.drafts._draft import Draft
    from mahrem.release.decisions import Policy
    from mahrem.table import Hierarchy
    from mahrem.verify import Verdict


RISK_THRESHOLD = 0.2  # a class below five rows: the customary line of the field
_UNIQUE_SHARE = 0.05  # a set of columns that singles out fewer is not named
_MOST_ROWS = 100_000  # of a table that sets of columns are counted on
_SECONDS = 0.5
_NOT_PLAIN = r"[\[\]{}*]"  # cells that are more than one value


def risk_of(
    sizes: Sizes,
    *,
    threshold: float = RISK_THRESHOLD,
    fraction: float | None = None,
    population: Sizes | None = None,
    everybody: int | None = None,
    why: Why = Why.PUBLISHED,
) -> ReportRisk:
    """Give the risk of a table whose classes have these sizes; the first five figures are the prosecutor's.

    Args:
        sizes: ``(c,)`` rows (or people, where it is known who is who) in each published class.
        threshold: A row is at risk when its risk is above this.
        fraction: Share of the population that is in the table.
        population: ``(c,)`` people of the population whom each class fits; wins over ``fraction``.
        everybody: How many people the population has.
        why: Why these figures may be shown.
    """
    if population is None:  # figures are sums: the order of classes must not change their last digit
        sizes = np.sort(np.asarray(sizes, np.int64))
    rows = int(np.asarray(sizes, np.int64).sum())
    known: dict[str, object] = {}
    if population is not None:
        from mahrem.estimates import journalist_risk, k_map, marketer_risk

        journalist = journalist_risk(sizes, population=population, threshold=threshold)
        known = {"journalist": _as_here(journalist.as_dict()), "k_map": k_map(sizes, population)}
        marketer = marketer_risk(sizes, population=population)
    elif fraction is not None:
        from mahrem.estimates import journalist_risk, marketer_risk

        journalist = journalist_risk(sizes, fraction=fraction, threshold=threshold)
        known = {"journalist": _as_here(journalist.as_dict())}
        marketer = marketer_risk(sizes, fraction=fraction)
        everybody = max(rows, round(rows / fraction))
    else:
        marketer = average_risk(sizes)  # as it is where the table is all there is
    if everybody is not None:
        from mahrem.estimates import population_uniques

        known["population_uniques"] = population_uniques(sizes, everybody).as_dict()
    return ReportRisk(
        highest=Figure(highest_risk(sizes), why),
        average=Figure(average_risk(sizes), why),
        share_at_risk=Figure(share_at_risk(sizes, threshold), why),
        unique_share=Figure(unique_share(sizes), why),
        threshold=published(threshold),
        marketer=Figure(marketer, why),
        **disclose(known, why),
    )


def _as_here(figures: Mapping[str, float]) -> dict[str, float]:
    """Name the share above the threshold as every report does."""
    return {
        "highest": figures["highest"],
        "average": figures["average"],
        "share_at_risk": figures["at_risk"],
        "threshold": figures["threshold"],
    }


def utility_of(draft: Draft, verdict: Verdict) -> tuple[dict[str, float], dict[str, dict[str, float]]]:
    """Measure what a draft publishes, in all and per column; k counts people where it was told so."""
    published_rows = RowCounts(
        rows=draft.prepared.rows,
        suppressed=verdict.suppressed,
        classes=len(verdict.sizes),
        people=verdict.people,
    )
    return measure_losses(
        draft.losses, published_rows, k=draft.policy.k or 1, weights=draft.policy.weights or None
    )


def hides_whose(policy: Policy) -> bool:
    """Say whether people are counted by a column that nobody sees: what counts them is told in crowds."""
    return policy.subject is not None and policy.subject not in policy.pseudonym


def as_told(verdict: Verdict, policy: Policy, floor: int) -> Verdict:
    """Give of a verdict what may be told beside the table."""
    return verdict.in_crowds(floor, policy.k or 1) if hides_whose(policy) else verdict


def risk_before(sizes: Sizes, floor: int, *, whose: bool = False) -> ReportRisk | None:
    """Give the risk of the original as far as it is one of a crowd; None for fewer than ``floor`` rows.

    Shares stand for multiples of ``floor`` people; one of fewer is hidden, and ``below`` says the line. So do
    all people together where ``whose`` rows they are is hidden.

    Example:
        >>> risk_before(np.array([1, 1, 98]), floor=5).as_dict()
        {'average': 0.05, 'share_at_risk': None, 'unique_share': None, 'threshold': 0.2, \
'marketer': 0.05, 'below': 0.05}
    """
    rows = int(sizes.sum())
    if rows < floor:
        return None
    rows = rows // floor * floor if whose else rows
    risk = risk_of(sizes, why=Why.CROWD)

    def rounded(share: float | None) -> Figure | None:
        people = floor * round((share or 0.0) * rows / floor)
        return Figure(round(min(people / rows, 1.0), 3), Why.CROWD) if people or not share else None

    alone = rounded(risk.unique_share)  # the highest risk is that of the least crowd: told only if it is one
    return ReportRisk(
        highest=Figure(1.0, Why.CROWD) if alone else None,
        average=rounded(risk.average),
        share_at_risk=rounded(risk.share_at_risk),
        unique_share=alone,
        threshold=risk.threshold,
        marketer=rounded(risk.marketer),
        below=of_crowd(round(floor / rows, 3)),
    )


def singling_columns(crowd: Crowd, *, floor: int) -> ReportSingling:
    """Say which sets of original columns leave at least one row in twenty alone; a large table is sampled.

    In a sample more rows stand alone than in the whole table, so shares are upper bounds there; ``sampled``
    says how many rows were looked at, and ``complete`` whether all sets were.
    """
    from mahrem.metrics import unique_columns

    rows = len(crowd.labels)
    taken = min(rows, _MOST_ROWS)
    axes = (crowd if taken == rows else crowd.sample(taken)).axes
    codes = np.column_stack([_codes(axis.positions) for axis in axes])
    share = max(_UNIQUE_SHARE, floor / max(taken, 1))
    singling = ReportSingling(
        share=published(round(share, 3)), rows=published(taken), sampled=taken < rows, complete=False
    )
    if share > 1.0:  # fewer rows than may be counted
        return singling
    alone = unique_columns(codes, share=share, seconds=_SECONDS)
    order = sorted(
        range(len(alone.minimal)), key=lambda place: (-round(alone.shares[place], 2), alone.minimal[place])
    )
    sets = tuple(
        ColumnSet(
            columns=tuple(axes[column].name for column in alone.minimal[place]),
            share=of_crowd(round(floor * round(alone.shares[place] * taken / floor) / taken, 2)),
        )
        for place in order[:10]
    )
    return replace(singling, sets=sets, complete=alone.complete)


def _codes(positions: Floats) -> Integers:
    return pl.Series(positions).fill_nan(None).rank("dense").fill_null(0).to_numpy().astype(np.int64)


def people_behind(
    shown: pl.DataFrame, everyone: pl.DataFrame, hierarchies: Mapping[str, Hierarchy]
) -> tuple[Sizes, Sizes]:
    """Count for each published class its rows and the people of a population whom it fits.

    Args:
        shown: The quasi-identifiers as published.
        everyone: The same columns of the population, raw.
        hierarchies: Trees whose labels stand in cells.

    Raises:
        InvalidParameter: If a class fits fewer people than it has rows.
    """
    from mahrem.matching import People, match, read_published

    quasi = shown.columns
    check.columns_exist(quasi, everyone.columns)
    if everyone.height < shown.height:
        raise InvalidParameter(
            f"population={everyone.height} rows must be at least as many as the table's, {shown.height}"
        )
    published = read_published(shown, quasi=quasi, hierarchies=hierarchies)
    text = everyone.select(pl.col(name).cast(pl.String) for name in quasi)
    count = "_" * (max(map(len, quasi)) + 1)
    grouped = text.group_by(quasi).agg(pl.len().alias(count))
    people = _exactly(published.cells, grouped, count)
    short = np.flatnonzero(people < published.sizes)
    if len(short):
        rest = read_published(published.cells[short], quasi=quasi, hierarchies=hierarchies)
        matching = match(rest, People(grouped, tuple(quasi)))
        times = grouped[count].to_numpy()
        fitting = np.array([times[matching.members(group)].sum() for group in range(len(rest.sizes))])
        people[short] = fitting[rest.labels]
    return published.sizes, people


def _exactly(cells: pl.DataFrame, people: pl.DataFrame, count: str) -> Integers:
    """Count the people who have the very values a class shows; 0 where a cell is more than one value."""
    several = pl.any_horizontal(pl.all().str.contains(_NOT_PLAIN).fill_null(value=False))
    plain = cells.select(several.not_()).to_series().to_numpy()
    joined = cells.join(people, on=cells.columns, how="left", nulls_equal=True, maintain_order="left")
    return np.where(plain, joined[count].fill_null(0).to_numpy(), 0).astype(np.int64)
