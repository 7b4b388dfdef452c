"""What changed numbers keep and give away: distances, intervals, means, covariances, eigenvalues, slopes."""

from __future__ import annotations

import numpy as np

from mahrem import check
from mahrem.errors import InvalidParameter
from mahrem.types import Floats

_BLOCK = 2**22


def linked_share(before: Floats, after: Floats, *, most: int = 2000) -> float:
    """Share of records whose own changed record is the nearest to them. Smaller is safer.

    Range: from 0 to 1; one over the rows is what guessing gives. Distances are in standard deviations;
    who has several nearest ones counts by the chance of picking the own one.

    Args:
        before: ``(n, d)`` numbers.
        after: The same rows, changed.
        most: So many records are tried at most, spread over the table.

    References:
        Domingo-Ferrer, Torra: A quantitative comparison of disclosure control methods for microdata, 2001.

    Example:
        >>> values = np.array([[0.0], [1.0], [5.0]])
        >>> linked_share(values, values), linked_share(values, values[::-1])
        (1.0, 0.3333333333333333)
    """
    old, new = _scaled(before, after)
    if len(old) == 0:
        return 0.0
    tried = np.unique(np.linspace(0, len(old) - 1, min(most, len(old))).astype(np.int64))
    hits = 0.0
    step = max(1, _BLOCK // max(1, new.size))
    for begin in range(0, len(tried), step):
        rows = tried[begin : begin + step]
        far = ((old[rows, None, :] - new[None, :, :]) ** 2).sum(axis=2)
        least = far.min(axis=1)
        own = far[np.arange(len(rows)), rows] <= least + 1e-12
        alike = (far <= least[:, None] + 1e-12).sum(axis=1)
        hits += float((own / alike).sum())
    return hits / len(tried)


def interval_share(before: Floats, after: Floats, *, width: float = 0.05) -> float:
    """Share of records whose values all lie within an interval around the changed ones. Smaller is safer.

    Range: from 0 to 1. An interval reaches ``width`` standard deviations to both sides.

    References:
        Pagliuca, Seri: Some results of individual ranking method on the system of enterprise accounts, 1999.

    Example:
        >>> interval_share(np.array([[0.0], [2.0]]), np.array([[0.0], [0.0]]))
        0.5
    """
    check.between(0, 100, width=width)
    old, new = _scaled(before, after)
    return float((np.abs(old - new) <= width + 1e-12).all(axis=1).mean()) if len(old) else 0.0


def il1s(before: Floats, after: Floats) -> float:
    """IL1s: mean distance of old and new values, in ``sqrt(2)`` standard deviations. Smaller is better.

    Range: from 0.

    References:
        Mateo-Sanz, Sebé, Domingo-Ferrer: Outlier protection in continuous microdata masking, 2004.

    Example:
        >>> round(il1s(np.array([[0.0], [2.0]]), np.array([[0.0], [4.0]])), 4)
        0.5
    """
    old, new = _scaled(before, after)
    return float((np.abs(old - new) / np.sqrt(2)).mean()) if old.size else 0.0


def eigenvalue_change(before: Floats, after: Floats) -> float:
    """Mean relative change of the eigenvalues of the covariance of standardised numbers. Smaller is better.

    Range: from 0.

    References:
        Templ, Meindl: Robust statistics meets SDC, 2008; the difference in eigenvalues there.

    Example:
        >>> values = np.array([[0.0, 1.0], [2.0, 0.0], [1.0, 3.0]])
        >>> eigenvalue_change(values, values)
        0.0
    """
    old, new = _scaled(before, after)
    if len(old) < 2:
        return 0.0
    first, second = (
        np.sort(np.linalg.eigvalsh(np.atleast_2d(np.cov(part, rowvar=False)))) for part in (old, new)
    )
    large = first > 1e-9
    return float((np.abs(first - second)[large] / first[large]).mean()) if large.any() else 0.0


def moment_changes(before: Floats, after: Floats) -> tuple[float, float]:
    """Largest change of a mean and of a covariance, in standard deviations. Smaller is better.

    Example:
        >>> values = np.array([[0.0], [2.0]])
        >>> moment_changes(values, values + 1)[0] > 0
        True
    """
    old, new = _scaled(before, after)
    if len(old) < 2:
        return 0.0, 0.0
    means = np.abs(old.mean(axis=0) - new.mean(axis=0)).max(initial=0.0)
    covariances = np.abs(
        np.atleast_2d(np.cov(old, rowvar=False)) - np.atleast_2d(np.cov(new, rowvar=False))
    ).max(initial=0.0)
    return float(means), float(covariances)


def slope_change(before: Floats, after: Floats) -> float:
    """Largest change of a coefficient when each column is regressed on the others. Smaller is better.

    Range: from 0; columns are standardised, so that coefficients compare.

    Example:
        >>> values = np.array([[0.0, 1.0], [2.0, 0.0], [1.0, 3.0]])
        >>> slope_change(values, values)
        0.0
    """
    old, new = _scaled(before, after)
    if old.shape[1] < 2 or len(old) <= old.shape[1]:
        return 0.0
    return float(np.abs(_slopes(old) - _slopes(new)).max())


def _slopes(values: Floats) -> Floats:
    slopes = []
    for target in range(values.shape[1]):
        others = np.delete(values, target, axis=1)
        design = np.column_stack([np.ones(len(values)), others])
        slopes.append(np.linalg.lstsq(design, values[:, target], rcond=None)[0][1:])
    return np.concatenate(slopes)


def _scaled(before: Floats, after: Floats) -> tuple[Floats, Floats]:
    """Give both in standard deviations of the numbers before."""
    old, new = np.asarray(before, np.float64), np.asarray(after, np.float64)
    if old.shape != new.shape or old.ndim != 2:
        raise InvalidParameter(f"before={old.shape} and after={new.shape} must be tables of the same rows")
    spread = old.std(axis=0, ddof=1) if len(old) > 1 else np.ones(old.shape[1])
    spread = np.where(spread > 0, spread, 1.0)
    return old / spread, new / spread
