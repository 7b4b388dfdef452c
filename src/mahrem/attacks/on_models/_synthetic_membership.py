"""Membership from a release of synthetic rows: do made-up rows lie closer to those they were learnt from?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mahrem import check
from mahrem.attacks.on_models._examples import Examples, refuse_mixed
from mahrem.attacks.on_models._membership_finding import ModelFinding, membership_finding
from mahrem.attacks.on_models._target import RowsTarget
from mahrem.errors import InvalidInput
from mahrem.learning.synthesis import closest_distances
from mahrem.types import Floats

LEAST_DISTANCE = 1e-9


@dataclass(frozen=True, kw_only=True)
class SyntheticMembership:
    """Rows near a synthetic row are taken for members; with a reference, nearer than its density explains.

    Args:
        how: ``distance`` to the closest synthetic row, or ``density``: that distance against the one to the
            closest row of a reference table (an estimate of how much denser made-up rows lie there).

    References:
        Hilprecht, Harterich, Bernau: Monte Carlo and reconstruction membership inference attacks, 2019
        (distance); van Breugel, Sun, Qian, van der Schaar: Membership inference attacks against synthetic
        data through overfitting detection, 2023 (density).

    Example:
        >>> rng = np.random.default_rng(0)
        >>> members, others = rng.normal(size=(2, 200, 5))
        >>> leak = members + rng.normal(0, 0.01, members.shape)
        >>> SyntheticMembership()(leak, members, others).rate
        1.0
    """

    how: str = "distance"

    def __post_init__(self) -> None:
        check.one_of(("distance", "density"), how=self.how)

    @classmethod
    def against(cls, target: RowsTarget) -> Iterator[ModelFinding]:
        """Try it by distance and, where there is a reference, by density."""
        sides = (target.release, target.members, target.holdout)
        yield cls()(*sides).beside_promise(target.cost)
        if target.reference is not None:
            yield cls(how="density")(*sides, reference=target.reference).beside_promise(target.cost)

    def __call__(
        self, release: Floats, members: Floats, others: Floats, *, reference: Floats | None = None
    ) -> ModelFinding:
        """Attack synthetic rows; all tables are ``(n, d)`` numbers on one scale."""
        if (self.how == "density") != (reference is not None):
            raise InvalidInput(f"how={self.how!r}: a reference table goes with how='density', and only there")
        if not len(release):
            raise InvalidInput("release has no rows: there is nothing to attack")
        refuse_mixed(_unlabelled(members), _unlabelled(others))
        if reference is not None:
            refuse_mixed(_unlabelled(np.concatenate([members, others])), _unlabelled(reference))
        scores = [self._scores(rows, release, reference) for rows in (members, others)]
        return membership_finding(
            f"membership by {self.how}",
            *scores,
            meaning=(
                "Somebody who has the synthetic rows finds this share of the rows they were made from, at "
                "one false alarm in a hundred; the baseline guesses."
            ),
        )

    def _scores(self, rows: Floats, release: Floats, reference: Floats | None) -> Floats:
        near = closest_distances(rows, release)
        if reference is None:
            return np.asarray(-near)
        far = closest_distances(rows, reference)
        return np.asarray(np.log(far + LEAST_DISTANCE) - np.log(near + LEAST_DISTANCE))


def _unlabelled(rows: Floats) -> Examples:
    return Examples(rows, np.zeros(len(rows)))
