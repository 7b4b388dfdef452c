"""Answers by private votes: teachers on disjoint rows, a student that sees only their noisy majority (PATE).

What a vote costs is said beside it: by its data, or smoothed so that the cost may be published.
Scores and votes of models that are asked in the open are made private the same way.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.learning.votes._disjoint_teachers import count_votes as count_votes
    from mahrem.learning.votes._disjoint_teachers import train_parts as train_parts
    from mahrem.learning.votes._noisy_votes import ConfidentVotes as ConfidentVotes
    from mahrem.learning.votes._noisy_votes import GaussianVotes as GaussianVotes
    from mahrem.learning.votes._noisy_votes import LaplaceVotes as LaplaceVotes
    from mahrem.learning.votes._noisy_votes import NoisyVotes as NoisyVotes
    from mahrem.learning.votes._pate import Pate as Pate
    from mahrem.learning.votes._private_inference import PrivateVotes as PrivateVotes
    from mahrem.learning.votes._private_inference import RoundedScores as RoundedScores
    from mahrem.learning.votes._vote_costs import PublishedCost as PublishedCost
    from mahrem.learning.votes._vote_costs import SanitisedCost as SanitisedCost
    from mahrem.learning.votes._vote_costs import lead_costs as lead_costs
    from mahrem.learning.votes._vote_costs import smooth_costs as smooth_costs
else:
    __getattr__, __dir__, __all__ = offered(__name__)
