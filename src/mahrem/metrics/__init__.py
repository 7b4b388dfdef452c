"""Utility and risk of a release, as plain functions of arrays.

Each says its range and direction in its first lines, is named after its source, and where sources disagree
the rivals have names of their own (``gcp`` and ``gcp_sum``, ``mean_class_size`` and ``c_avg``).
:func:`measure` takes all figures of utility at once. What changed numbers keep is in ``perturbed``, the risk
of people in a sample in ``surveys``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.metrics._cell_losses import cell_losses, placed_ends
    from mahrem.metrics._classes import (
        average_risk,
        c_avg,
        class_size_bins,
        discernibility,
        highest_risk,
        mean_class_size,
        share_at_risk,
        unique_share,
    )
    from mahrem.metrics._correlation import correlation
    from mahrem.metrics._covers import Cover, cover_words
    from mahrem.metrics._entries import METRICS, Metric, MetricFacts
    from mahrem.metrics._entropy import (
        EntropyLoss,
        entropy_coefficient,
        entropy_loss,
        entropy_loss_cells,
        measure_entropy,
    )
    from mahrem.metrics._guessing import (
        Guesser,
        box_shrinks,
        guess_within_classes,
        rarest_common,
        take_first,
    )
    from mahrem.metrics._information_loss import information_loss, standardised
    from mahrem.metrics._loss import distortion, gcp, gcp_sum, iloss
    from mahrem.metrics._published import published_loss
    from mahrem.metrics._unique_columns import unique_columns
    from mahrem.metrics._utility import RowCounts, measure
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "METRICS",
    "Cover",
    "EntropyLoss",
    "Guesser",
    "Metric",
    "MetricFacts",
    "RowCounts",
    "average_risk",
    "box_shrinks",
    "c_avg",
    "cell_losses",
    "class_size_bins",
    "correlation",
    "cover_words",
    "discernibility",
    "distortion",
    "entropy_coefficient",
    "entropy_loss",
    "entropy_loss_cells",
    "gcp",
    "gcp_sum",
    "guess_within_classes",
    "highest_risk",
    "iloss",
    "information_loss",
    "mean_class_size",
    "measure",
    "measure_entropy",
    "placed_ends",
    "published_loss",
    "rarest_common",
    "share_at_risk",
    "standardised",
    "take_first",
    "unique_columns",
    "unique_share",
]
