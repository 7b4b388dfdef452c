"""Membership with few shadow models: rows lend each other strength, as a CPU's budget needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mahrem.attacks.on_models._shadow_attack import MANY, ShadowAttack, moments
from mahrem.attacks.on_models._shadow_models import Shadows
from mahrem.types import Floats


@dataclass(frozen=True, kw_only=True)
class FewShadows(ShadowAttack):
    """LiRA with shrunken fits: a Student likelihood ratio with priors learnt over all rows.

    With two or four shadows the mean and variance of one row are hardly known. Here the gain by membership is
    a line over the confidence without it, fitted over all rows, and a row's own gain and variance are drawn
    to it (normal and inverse gamma priors by moments). What is not known widens the tails instead of being
    taken as fact. Chosen over RMIA because it needs no second population and no comparison of all pairs.

    Its settings are those of :class:`ShadowAttack`; 4 shadows are often enough.

    References:
        In the spirit of, and not the same as, Bayesian variance for likelihood-ratio attacks (BaVarIA, arXiv
        2603.11799); Zarifzadeh, Liu, Shokri: Low-cost high-power membership inference attacks, 2024 (RMIA).
    """

    shadows: int = 4
    name: ClassVar[str] = "few shadows"
    suits: ClassVar[range] = range(1, MANY)

    def score(self, confidences: Floats, shadows: Shadows) -> Floats:
        """See :func:`shrunk_ratios`."""
        return shrunk_ratios(confidences, shadows)


def shrunk_ratios(confidences: Floats, shadows: Shadows) -> Floats:
    """Give each row's log likelihood ratio with shrunken means and variances.

    Example:
        >>> half = np.array([[True, True], [False, False]])
        >>> both = Shadows(confidences=np.array([[4.0, 5.0], [1.0, 2.0]]), inside=half)
        >>> bool(shrunk_ratios(np.array([4.0, 2.0]), both)[0] > shrunk_ratios(np.array([4.0, 2.0]), both)[1])
        True
    """
    out, out_count, out_squares = moments(shadows.confidences, ~shadows.inside)
    if not shadows.inside.any():
        scale, _ = _variance(out_squares, out_count - 1)
        return np.asarray((confidences - out) / np.sqrt(scale * (1 + 1 / out_count)))
    inside, in_count, in_squares = moments(shadows.confidences, shadows.inside)
    scale, freedom = _variance(in_squares + out_squares, in_count + out_count - 2)
    slope, start = (
        np.polyfit(out, inside - out, 1) if np.ptp(out) > 0 else (0.0, float((inside - out).mean()))
    )
    gain = start + slope * out
    noise = scale * (1 / in_count + 1 / out_count)
    between = max(0.0, float(np.mean((inside - out - gain) ** 2 - noise)))
    gain = gain + between / (between + noise) * (inside - out - gain)
    doubt = between * noise / (between + noise)
    base = scale * (1 + 1 / out_count)
    return np.asarray(
        _log_student(confidences - out - gain, base + doubt, freedom)
        - _log_student(confidences - out, base, freedom)
    )


def _variance(squares: Floats, free: Floats) -> tuple[Floats, Floats]:
    """Give each row's variance drawn to that of all rows, and the degrees of freedom that are then known."""
    whole = float(squares.sum() / free.sum()) if free.sum() > 0 else 1.0
    whole = max(whole, 1e-6)
    known = free > 0
    prior = 4.0
    if known.any():
        rows = squares[known] / free[known] / whole
        excess = float(np.var(rows) - np.mean(2 / free[known]))  # what chance alone does not explain
        prior = min(100.0, 4 + 2 / max(excess, 0.02))
    return np.asarray((prior * whole + squares) / (prior + free)), np.asarray(prior + free)


def _log_student(off: Floats, scale: Floats, freedom: Floats) -> Floats:
    return np.asarray(-np.log(scale) / 2 - (freedom + 1) / 2 * np.log1p(off**2 / (scale * freedom)))
