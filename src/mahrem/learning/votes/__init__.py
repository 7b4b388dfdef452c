"""Answers by private votes: teachers on disjoint rows, a student that sees only their noisy majority (PATE).

What a vote costs is said beside it: by its data, or smoothed so that the cost may be published.
Scores and votes of models that are asked in the open are made private the same way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.learning.votes._disjoint_teachers import count_votes, train_parts
    from mahrem.learning.votes._noisy_votes import ConfidentVotes, GaussianVotes, LaplaceVotes, NoisyVotes
    from mahrem.learning.votes._pate import Pate
    from mahrem.learning.votes._private_inference import PrivateVotes, RoundedScores
    from mahrem.learning.votes._vote_costs import PublishedCost, SanitisedCost, lead_costs, smooth_costs
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "ConfidentVotes",
    "GaussianVotes",
    "LaplaceVotes",
    "NoisyVotes",
    "Pate",
    "PrivateVotes",
    "PublishedCost",
    "RoundedScores",
    "SanitisedCost",
    "count_votes",
    "lead_costs",
    "smooth_costs",
    "train_parts",
]
