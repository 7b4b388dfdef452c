"""Utility and risk of a release, as plain functions of arrays.

Each says its range and direction in its first lines, is named after its source, and where sources disagree
the rivals have names of their own (``gcp`` and ``gcp_sum``, ``mean_class_size`` and ``c_avg``).
:func:`measure` takes all figures of utility at once. What changed numbers keep is in ``perturbed``, the risk
of people in a sample in ``surveys``.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.metrics._cell_losses import cell_losses as cell_losses
    from mahrem.metrics._cell_losses import placed_ends as placed_ends
    from mahrem.metrics._classes import average_risk as average_risk
    from mahrem.metrics._classes import c_avg as c_avg
    from mahrem.metrics._classes import class_size_bins as class_size_bins
    from mahrem.metrics._classes import discernibility as discernibility
    from mahrem.metrics._classes import highest_risk as highest_risk
    from mahrem.metrics._classes import mean_class_size as mean_class_size
    from mahrem.metrics._classes import share_at_risk as share_at_risk
    from mahrem.metrics._classes import unique_share as unique_share
    from mahrem.metrics._correlation import correlation as correlation
    from mahrem.metrics._covers import Cover as Cover
    from mahrem.metrics._covers import cover_words as cover_words
    from mahrem.metrics._entries import METRICS as METRICS
    from mahrem.metrics._entries import Metric as Metric
    from mahrem.metrics._entries import MetricFacts as MetricFacts
    from mahrem.metrics._entropy import EntropyLoss as EntropyLoss
    from mahrem.metrics._entropy import entropy_coefficient as entropy_coefficient
    from mahrem.metrics._entropy import entropy_loss as entropy_loss
    from mahrem.metrics._entropy import entropy_loss_cells as entropy_loss_cells
    from mahrem.metrics._entropy import measure_entropy as measure_entropy
    from mahrem.metrics._guessing import Guesser as Guesser
    from mahrem.metrics._guessing import box_shrinks as box_shrinks
    from mahrem.metrics._guessing import guess_within_classes as guess_within_classes
    from mahrem.metrics._guessing import rarest_common as rarest_common
    from mahrem.metrics._guessing import take_first as take_first
    from mahrem.metrics._information_loss import information_loss as information_loss
    from mahrem.metrics._information_loss import standardised as standardised
    from mahrem.metrics._loss import distortion as distortion
    from mahrem.metrics._loss import gcp as gcp
    from mahrem.metrics._loss import gcp_sum as gcp_sum
    from mahrem.metrics._loss import iloss as iloss
    from mahrem.metrics._published import published_loss as published_loss
    from mahrem.metrics._unique_columns import unique_columns as unique_columns
    from mahrem.metrics._utility import ClassLosses as ClassLosses
    from mahrem.metrics._utility import RowCounts as RowCounts
    from mahrem.metrics._utility import class_losses as class_losses
    from mahrem.metrics._utility import measure as measure
    from mahrem.metrics._utility import measure_losses as measure_losses
else:
    __getattr__, __dir__, __all__ = offered(__name__)
