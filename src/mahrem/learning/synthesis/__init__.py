"""Synthetic tables, series and pictures with differential privacy; no row belongs to a person.

A schema of public facts says what may be published; a synthesiser (marginals, or a network) is fitted once,
paid from a ledger, and drawn from for free. Here too: how good a synthetic table is against the real one.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.learning.synthesis._adversarial import Adversarial as Adversarial
    from mahrem.learning.synthesis._closest_records import closest_distances as closest_distances
    from mahrem.learning.synthesis._coarse_groups import coarse_groups as coarse_groups
    from mahrem.learning.synthesis._declare_domain import declare_domain as declare_domain
    from mahrem.learning.synthesis._drawings import CellsAsked as CellsAsked
    from mahrem.learning.synthesis._entries import SYNTHESISERS as SYNTHESISERS
    from mahrem.learning.synthesis._entries import SynthesisMethod as SynthesisMethod
    from mahrem.learning.synthesis._generators import Generator as Generator
    from mahrem.learning.synthesis._generators import GeneratorExamples as GeneratorExamples
    from mahrem.learning.synthesis._keywords import SynthesisKeywords as SynthesisKeywords
    from mahrem.learning.synthesis._likelihoods import CellLikelihood as CellLikelihood
    from mahrem.learning.synthesis._marginals import Marginals as Marginals
    from mahrem.learning.synthesis._marginals_fit import MarginalsFit as MarginalsFit
    from mahrem.learning.synthesis._network_tables import NetworkTables as NetworkTables
    from mahrem.learning.synthesis._recurrent import Recurrent as Recurrent
    from mahrem.learning.synthesis._settings import SynthesisSettings as SynthesisSettings
    from mahrem.learning.synthesis._synthesisers import FittedSynthesiser as FittedSynthesiser
    from mahrem.learning.synthesis._synthesisers import Synthesiser as Synthesiser
    from mahrem.learning.synthesis._synthesisers import make_synthesiser as make_synthesiser
    from mahrem.learning.synthesis._synthetic_domain import DeclaredDomain as DeclaredDomain
    from mahrem.learning.synthesis._synthetic_domain import DomainColumn as DomainColumn
    from mahrem.learning.synthesis._synthetic_images import NetworkImages as NetworkImages
    from mahrem.learning.synthesis._synthetic_images import NetworkImagesFit as NetworkImagesFit
    from mahrem.learning.synthesis._synthetic_quality import SyntheticQuality as SyntheticQuality
    from mahrem.learning.synthesis._synthetic_quality import synthetic_quality as synthetic_quality
    from mahrem.learning.synthesis._synthetic_schema import SyntheticSchema as SyntheticSchema
    from mahrem.learning.synthesis._synthetic_sides import COMPARED_ROWS as COMPARED_ROWS
    from mahrem.learning.synthesis._synthetic_sides import refuse_overlap as refuse_overlap
    from mahrem.learning.synthesis._table_synthesiser import SynthesisPlan as SynthesisPlan
    from mahrem.learning.synthesis._table_synthesiser import TableSynthesiser as TableSynthesiser
    from mahrem.learning.synthesis._variational import Variational as Variational
else:
    __getattr__, __dir__, __all__ = offered(__name__)
