"""Utility and risk of a release, as plain functions of arrays.

Each says its range and direction in its first lines, is named after its source, and where sources disagree
the rivals have names of their own (``gcp`` and ``gcp_sum``, ``mean_class_size`` and ``c_avg``).
:func:`measure` takes all figures of utility at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.metrics._attackers import (
        expected_risks,
        journalist_risk,
        marketer_risk,
        prosecutor_risk,
    )
    from mahrem.metrics._cell_losses import CellLosses, cell_losses, placed_ends, text_losses
    from mahrem.metrics._classes import c_avg, discernibility, mean_class_size
    from mahrem.metrics._correlation import correlation
    from mahrem.metrics._covers import Cover, cover_words, covered_values
    from mahrem.metrics._decisions import decide_by_dm, decide_by_gcp, decide_by_mean_class_size
    from mahrem.metrics._entries import METRICS, Metric, MetricFacts, take_figures
    from mahrem.metrics._entropy import (
        EntropyLoss,
        entropy_coefficient,
        entropy_loss,
        entropy_loss_cells,
        measure_entropy,
    )
    from mahrem.metrics._guessing import Guesses, guess_within_classes
    from mahrem.metrics._information_loss import information_loss, standardised
    from mahrem.metrics._k_map import k_map, k_map_rows
    from mahrem.metrics._loss import distortion, gcp, gcp_sum, iloss
    from mahrem.metrics._pitman import pitman_parameters, pitman_uniques
    from mahrem.metrics._population_uniques import population_uniques
    from mahrem.metrics._published import published_loss
    from mahrem.metrics._risk import average_risk, highest_risk, share_at_risk, unique_share
    from mahrem.metrics._slide_negative_binomial import expected_classes, snb_uniques
    from mahrem.metrics._suda import suda
    from mahrem.metrics._unique_columns import unique_columns
    from mahrem.metrics._utility import measure
    from mahrem.metrics._zayatz import zayatz_uniques
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "METRICS",
    "CellLosses",
    "Cover",
    "EntropyLoss",
    "Guesses",
    "Metric",
    "MetricFacts",
    "average_risk",
    "c_avg",
    "cell_losses",
    "correlation",
    "cover_words",
    "covered_values",
    "decide_by_dm",
    "decide_by_gcp",
    "decide_by_mean_class_size",
    "discernibility",
    "distortion",
    "entropy_coefficient",
    "entropy_loss",
    "entropy_loss_cells",
    "expected_classes",
    "expected_risks",
    "gcp",
    "gcp_sum",
    "guess_within_classes",
    "highest_risk",
    "iloss",
    "information_loss",
    "journalist_risk",
    "k_map",
    "k_map_rows",
    "marketer_risk",
    "mean_class_size",
    "measure",
    "measure_entropy",
    "pitman_parameters",
    "pitman_uniques",
    "placed_ends",
    "population_uniques",
    "prosecutor_risk",
    "published_loss",
    "share_at_risk",
    "snb_uniques",
    "standardised",
    "suda",
    "take_figures",
    "text_losses",
    "unique_columns",
    "unique_share",
    "zayatz_uniques",
]
