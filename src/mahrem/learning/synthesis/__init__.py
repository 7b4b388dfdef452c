"""Synthetic tables, series and pictures with differential privacy; no row belongs to a person.

A schema of public facts says what may be published; a synthesiser (marginals, or a network) is fitted once,
paid from a ledger, and drawn from for free. Here too: how good a synthetic table is against the real one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.learning.synthesis._adversarial import Adversarial
    from mahrem.learning.synthesis._closest_records import closest_distances
    from mahrem.learning.synthesis._coarse_groups import coarse_groups
    from mahrem.learning.synthesis._declare_domain import declare_domain
    from mahrem.learning.synthesis._drawings import CellsAsked
    from mahrem.learning.synthesis._entries import SYNTHESISERS, SynthesisMethod
    from mahrem.learning.synthesis._generators import Generator, GeneratorExamples
    from mahrem.learning.synthesis._keywords import SynthesisKeywords
    from mahrem.learning.synthesis._likelihoods import CellLikelihood
    from mahrem.learning.synthesis._marginals import Marginals
    from mahrem.learning.synthesis._marginals_fit import MarginalsFit
    from mahrem.learning.synthesis._network_tables import NetworkTables
    from mahrem.learning.synthesis._recurrent import Recurrent
    from mahrem.learning.synthesis._settings import SynthesisSettings
    from mahrem.learning.synthesis._synthesisers import FittedSynthesiser, Synthesiser, make_synthesiser
    from mahrem.learning.synthesis._synthetic_domain import DeclaredDomain, DomainColumn
    from mahrem.learning.synthesis._synthetic_images import NetworkImages, NetworkImagesFit
    from mahrem.learning.synthesis._synthetic_quality import SyntheticQuality, synthetic_quality
    from mahrem.learning.synthesis._synthetic_schema import SyntheticSchema
    from mahrem.learning.synthesis._synthetic_sides import COMPARED_ROWS, refuse_overlap
    from mahrem.learning.synthesis._variational import Variational
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "COMPARED_ROWS",
    "SYNTHESISERS",
    "Adversarial",
    "CellLikelihood",
    "CellsAsked",
    "DeclaredDomain",
    "DomainColumn",
    "FittedSynthesiser",
    "Generator",
    "GeneratorExamples",
    "Marginals",
    "MarginalsFit",
    "NetworkImages",
    "NetworkImagesFit",
    "NetworkTables",
    "Recurrent",
    "SynthesisKeywords",
    "SynthesisMethod",
    "SynthesisSettings",
    "Synthesiser",
    "SyntheticQuality",
    "SyntheticSchema",
    "Variational",
    "closest_distances",
    "coarse_groups",
    "declare_domain",
    "make_synthesiser",
    "refuse_overlap",
    "synthetic_quality",
]
