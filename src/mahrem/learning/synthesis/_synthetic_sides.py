"""Tables that are compared with each other, each read by the declared domain."""

from __future__ import annotations

import numpy as np

from mahrem.errors import InvalidInput
from mahrem.learning.synthesis._synthetic_domain import DeclaredDomain
from mahrem.types import Floats, Integers

COMPARED_ROWS = 20  # at least, of each table
OVERLAP = 0.05  # more rows of a hold-out in the training table than chance explains


class ComparedTable:
    """One table, read by the declared domain."""

    def __init__(self, domain: DeclaredDomain, table: object) -> None:
        self.domain = domain
        self.numbers = domain.numbers(table)
        codes = [column.places(self.numbers[column.name]) for column in domain.columns]
        self.codes: Integers = np.stack(codes, axis=1)
        if len(self.codes) < COMPARED_ROWS:
            raise InvalidInput(
                f"rows={len(self.codes)}: at least {COMPARED_ROWS} are needed to compare tables"
            )

    def features(self, without: str | None = None) -> tuple[Floats, int]:
        """Give rows as numbers, those to scale first, and how many these are."""
        amounts, shares = [], []
        for place, column in enumerate(self.domain.columns):
            if column.name == without:
                continue
            if column.kind == "category":
                shares.append((self.codes[:, place, None] == np.arange(column.values)).astype(np.float64))
                continue
            numbers = self.numbers[column.name]
            low, high = column.edges[0], column.edges[-1]
            gone = np.isnan(numbers)
            amounts.append((np.where(gone, (low + high) / 2, numbers) - low)[:, None] / (high - low))
            if column.gaps:
                shares.append(gone[:, None].astype(np.float64))
        return np.hstack([*amounts, *shares]), len(amounts)


def refuse_overlap(real: object, holdout: object, domain: DeclaredDomain) -> None:
    """Refuse a hold-out that shares more rows with the training table than chance explains."""
    refuse_shared(ComparedTable(domain, real), ComparedTable(domain, holdout))


def refuse_shared(real: ComparedTable, holdout: ComparedTable) -> None:
    """Compare how many rows of the hold-out are in the training table with how many rows there are twins."""
    known, times = np.unique(real.codes, axis=0, return_counts=True)
    twins = float(times[times > 1].sum() / times.sum())
    whole = np.concatenate([known, holdout.codes])
    _, where = np.unique(whole, axis=0, return_inverse=True)
    shared = np.isin(where.ravel()[len(known) :], where.ravel()[: len(known)])
    if shared.mean() > twins + OVERLAP:
        raise InvalidInput(
            f"holdout: {int(shared.sum())} of its {len(shared)} rows are in the training table, far more "
            f"than equal rows there explain; give rows that the synthesiser never saw"
        )
