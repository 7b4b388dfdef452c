"""Which classes of a node earn something, by what their cells lose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from mahrem.models import PrivacyModel
from mahrem.models.populations import Profitability
from mahrem.partition.lattice._covered_shares import CoveredShares, people_of
from mahrem.partition.lattice._lattice import Grouped, Lattice
from mahrem.types import Mask


@dataclass(frozen=True)
class NodeProfits:
    """Judges classes of nodes under promises that reckon with what cells lose."""

    models: tuple[Profitability, ...]
    shares: CoveredShares = field(repr=False)
    people: Lattice | None = field(repr=False)  # in which everybody around the table counts

    @classmethod
    def of(cls, lattice: Lattice, models: Sequence[PrivacyModel]) -> NodeProfits | None:
        """Prepare a judge; None where no promise is about cells."""
        known = tuple(model for model in models if isinstance(model, Profitability))
        if not known:
            return None
        counted = any(model.of_people for model in known)
        return cls(known, CoveredShares.of(lattice), people_of(lattice) if counted else None)

    def pays(self, grouped: Grouped) -> Mask:
        """Say which classes may stand; one without rows is not published, and may."""
        some: Mask = grouped.sizes > 0
        losses = self.shares.losses(grouped, some)
        verdicts: Mask = np.ones(len(some), np.bool_)
        for model in self.models:
            counted = model.of_people and self.people is not None
            fits = self.people.classes(grouped.levels) if counted and self.people is not None else grouped
            verdicts[some] &= model.pays(fits.sizes[some], losses)
        return verdicts
