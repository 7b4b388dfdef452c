"""Gradient inversion: the rows themselves, out of what a client sends after one step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mahrem import check
from mahrem.attacks._finding import Finding, counted_finding
from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.types import Floats


def rows_behind(
    matrix: Floats, offset: Floats, *, agree: int = 2, tolerance: float = 0.05, most: int = 1000
) -> Floats:
    """Read rows off the change of a network's first dense layer.

    A unit's gradient is the sum over the batch of its own slope times the row, and that of its offset is the
    sum of the slopes. If one row alone moves a unit, their ratio is this row, exactly: so after a step on one
    row, by every unit; after a step on several, by units that only one of them makes active (ReLU). Ratios of
    mixed rows differ from unit to unit, so a ratio on which several units agree is taken for a row. Where no
    units agree (noise), the one row that explains all of them best is given.

    Args:
        matrix: ``(units, width)`` change of the matrix, in any unit of measure: learning rate, clipping and
            averaging cancel out.
        offset: ``(units,)`` change of the offset.
        agree: How many units must agree.
        tolerance: How far their ratios may differ in any input.
        most: At most so many rows are given, those that most units agree on first.

    Returns:
        ``(rows, width)`` rows; none where no unit moved.

    Guarantees:
        - After a step on one row that moves ``agree`` units, the row is the only one that is given.

    References:
        Zhu, Liu, Han: Deep leakage from gradients, 2019; Geiping et al.: Inverting gradients, 2020
        (proposition 3.1: a dense layer with offset gives its input away); Boenisch et al.: When the curious
        abandon honesty, 2023 (units that one row of a batch makes active).

    Example:
        >>> row, slopes = np.array([0.0, 1.0, 0.25]), np.array([0.5, -2.0, 0.0])
        >>> rows_behind(slopes[:, None] * row, slopes).tolist()
        [[0.0, 1.0, 0.25]]
    """
    check.at_least(1, agree=check.whole(agree=agree))
    if check.finite(tolerance=tolerance) <= 0:
        raise InvalidParameter(f"tolerance={tolerance!r} must be above 0")
    change, shift = np.asarray(matrix, np.float64), np.asarray(offset, np.float64)
    if change.ndim != 2 or shift.shape != change.shape[:1]:
        raise InvalidInput(f"matrix={change.shape}, offset={shift.shape}: a row of the matrix for each unit")
    moved = np.isfinite(change).all(axis=1) & np.isfinite(shift) & (shift != 0)
    change, shift = change[moved], shift[moved]
    if len(shift) == 0:
        return np.empty((0, change.shape[1]))
    ratios = change / shift[:, None]
    alike = np.stack([np.abs(ratios - ratio).max(axis=1) <= tolerance for ratio in ratios])
    left = np.ones(len(shift), dtype=np.bool_)
    claims: list[Floats] = []
    while len(claims) < most:
        crowds = (alike & left).sum(axis=1) * left
        units = alike[crowds.argmax()] & left
        if crowds.max() < agree:
            break
        claims.append(shift[units] @ change[units] / np.square(shift[units]).sum())  # by least squares
        left &= ~units
    return np.array(claims or [shift @ change / np.square(shift).sum()])


@dataclass(frozen=True, kw_only=True)
class GradientInversion:
    """Claims rows from updates (:func:`rows_behind`) and counts how many of the true ones are among them.

    Args:
        agree: How many units must agree on a row.
        tolerance: How far a claim may lie from the true row, in any input, and units from each other.

    Guarantees:
        - Nothing but updates decides what is claimed; true rows are only compared with claims.

    Details of the finding: how many rows were claimed, how many claims are right, and the median over the
    true rows of the root mean square difference from the nearest claim, beside that from other people's rows.
    Where the first is no smaller than the second, not even a part of a row was learnt.
    """

    agree: int = 2
    tolerance: float = 0.05

    def __call__(
        self, updates: Sequence[tuple[Floats, Floats]], rows: Sequence[Floats], strangers: Floats
    ) -> Finding:
        """Attack updates.

        Args:
            updates: Change of the first layer's matrix and offset, for each update.
            rows: ``(n, width)`` true rows behind each update.
            strangers: ``(m, width)`` rows of other people: the baseline claims as many of them, in turn, as
                there are true rows.
        """
        if not 0 < len(updates) == len(rows) or len(strangers) == 0:
            raise InvalidParameter(
                f"updates={len(updates)}, rows={len(rows)}, strangers={len(strangers)}: true rows for each "
                f"update are needed, and rows of other people"
            )
        others = np.asarray(strangers, np.float64)
        claims = [rows_behind(*update, agree=self.agree, tolerance=self.tolerance) for update in updates]
        guesses = [others[(place + np.arange(len(truth))) % len(others)] for place, truth in enumerate(rows)]
        successes, right, apart = self._compared(rows, claims)
        guessed, _, blind = self._compared(rows, guesses)
        trials = sum(len(truth) for truth in rows)
        return counted_finding(
            "gradient inversion",
            successes,
            trials,
            baseline=guessed / max(1, trials),
            meaning=(
                "Of the rows behind the updates this share was read off them, every input nearly right; the "
                "baseline claims as many rows of other people."
            ),
            claims=sum(len(rows) for rows in claims),
            right_claims=right,
            distance=apart,
            distance_of_strangers=blind,
        )

    def _compared(self, rows: Sequence[Floats], claims: Sequence[Floats]) -> tuple[int, int, float]:
        """Count true rows that were claimed and claims that are true; give the usual distance to a claim."""
        hit = right = 0
        apart = [np.zeros(0)]
        for truth, claimed in zip(rows, claims, strict=True):
            if len(claimed):
                worst, typical = _distances(truth, claimed)
                hit += int((worst.min(axis=1) <= self.tolerance).sum())
                right += int((worst.min(axis=0) <= self.tolerance).sum())
                apart.append(typical.min(axis=1))
        known = np.concatenate(apart)
        return hit, right, float(np.median(known)) if len(known) else 0.0


def _distances(truth: Floats, claims: Floats) -> tuple[Floats, Floats]:
    """Give the largest and the typical (root mean square) difference of each row from each claim."""
    worst, typical = np.empty((2, len(truth), len(claims)))
    for place, claim in enumerate(claims):
        apart = np.abs(np.asarray(truth, np.float64) - claim)
        worst[:, place] = apart.max(axis=1)
        typical[:, place] = np.sqrt(np.square(apart).mean(axis=1))
    return worst, typical
