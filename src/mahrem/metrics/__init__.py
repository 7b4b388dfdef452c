"""Utility and risk of a release, as plain functions of arrays.

Each says its range and direction in its first lines, is named after its source, and where sources disagree
the rivals have names of their own (``gcp`` and ``gcp_sum``, ``mean_class_size`` and ``c_avg``).
:func:`measure` takes all figures of utility at once.
"""

from mahrem.metrics._classes import c_avg, discernibility, mean_class_size
from mahrem.metrics._decisions import decide_by_dm, decide_by_gcp, decide_by_mean_class_size
from mahrem.metrics._information_loss import information_loss, standardised
from mahrem.metrics._loss import distortion, gcp, gcp_sum, iloss
from mahrem.metrics._published import published_loss
from mahrem.metrics._risk import average_risk, highest_risk, share_at_risk, unique_share
from mahrem.metrics._utility import Utility, measure

__all__ = [
    "Utility",
    "average_risk",
    "c_avg",
    "decide_by_dm",
    "decide_by_gcp",
    "decide_by_mean_class_size",
    "discernibility",
    "distortion",
    "gcp",
    "gcp_sum",
    "highest_risk",
    "iloss",
    "information_loss",
    "mean_class_size",
    "measure",
    "published_loss",
    "share_at_risk",
    "standardised",
    "unique_share",
]
