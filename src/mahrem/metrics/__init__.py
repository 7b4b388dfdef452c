"""Utility and risk of a release, as plain functions of arrays.

Each says its range and direction in its first lines, is named after its source, and where sources disagree
the rivals have names of their own (``gcp`` and ``gcp_sum``, ``mean_class_size`` and ``c_avg``).
:func:`measure` takes all figures of utility at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.estimates import (
        expected_classes,
        expected_risks,
        journalist_risk,
        k_map,
        k_map_rows,
        marketer_risk,
        pitman_parameters,
        pitman_uniques,
        population_uniques,
        prosecutor_risk,
        snb_uniques,
        zayatz_uniques,
    )
    from mahrem.metrics._cell_losses import CellLosses, cell_losses, placed_ends, text_losses
    from mahrem.metrics._classes import (
        average_risk,
        c_avg,
        discernibility,
        highest_risk,
        mean_class_size,
        share_at_risk,
        unique_share,
    )
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
    from mahrem.metrics._guessing import (
        Guesses,
        box_shrinks,
        guess_within_classes,
        rarest_common,
        take_first,
    )
    from mahrem.metrics._individual_risk import IndividualRisk, household_risk, individual_risk
    from mahrem.metrics._information_loss import information_loss, standardised
    from mahrem.metrics._loss import distortion, gcp, gcp_sum, iloss
    from mahrem.metrics._model_risk import ModelRisk, model_risk
    from mahrem.metrics._perturbed import (
        eigenvalue_change,
        il1s,
        interval_share,
        linked_share,
        moment_changes,
        slope_change,
    )
    from mahrem.metrics._published import published_loss
    from mahrem.metrics._suda import suda
    from mahrem.metrics._unique_columns import unique_columns
    from mahrem.metrics._utility import PublishedRows, measure
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "METRICS",
    "CellLosses",
    "Cover",
    "EntropyLoss",
    "Guesses",
    "IndividualRisk",
    "Metric",
    "MetricFacts",
    "ModelRisk",
    "PublishedRows",
    "average_risk",
    "box_shrinks",
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
    "eigenvalue_change",
    "entropy_coefficient",
    "entropy_loss",
    "entropy_loss_cells",
    "expected_classes",
    "expected_risks",
    "gcp",
    "gcp_sum",
    "guess_within_classes",
    "highest_risk",
    "household_risk",
    "il1s",
    "iloss",
    "individual_risk",
    "information_loss",
    "interval_share",
    "journalist_risk",
    "k_map",
    "k_map_rows",
    "linked_share",
    "marketer_risk",
    "mean_class_size",
    "measure",
    "measure_entropy",
    "model_risk",
    "moment_changes",
    "pitman_parameters",
    "pitman_uniques",
    "placed_ends",
    "population_uniques",
    "prosecutor_risk",
    "published_loss",
    "rarest_common",
    "share_at_risk",
    "slope_change",
    "snb_uniques",
    "standardised",
    "suda",
    "take_figures",
    "take_first",
    "text_losses",
    "unique_columns",
    "unique_share",
    "zayatz_uniques",
]
