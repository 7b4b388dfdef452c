"""The verbs: what a person does with mahrem. They only arrange what the rooms below know.

Its rooms: ``releasing``, which the others use, ``masking``, ``comparing``, ``exploring``, ``modelling`` and
``auditing``. Verbs and what they give are offered here, specs of their settings by the rooms.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.attacks import RedTeam as RedTeam
    from mahrem.pipeline._query import query as query
    from mahrem.pipeline.auditing import Audit as Audit
    from mahrem.pipeline.auditing import attack as attack
    from mahrem.pipeline.auditing import attack_model as attack_model
    from mahrem.pipeline.auditing import attack_synthetic as attack_synthetic
    from mahrem.pipeline.auditing import audit as audit
    from mahrem.pipeline.auditing import is_model as is_model
    from mahrem.pipeline.comparing import Comparison as Comparison
    from mahrem.pipeline.comparing import compare as compare
    from mahrem.pipeline.exploring import Explorer as Explorer
    from mahrem.pipeline.exploring import GeneralisationLattice as GeneralisationLattice
    from mahrem.pipeline.exploring import Inspection as Inspection
    from mahrem.pipeline.exploring import NodeVerdict as NodeVerdict
    from mahrem.pipeline.exploring import check_hierarchy as check_hierarchy
    from mahrem.pipeline.exploring import column_decisions as column_decisions
    from mahrem.pipeline.exploring import inspect as inspect
    from mahrem.pipeline.exploring import lattice as lattice
    from mahrem.pipeline.exploring import make_hierarchy as make_hierarchy
    from mahrem.pipeline.exploring import portray as portray
    from mahrem.pipeline.masking import MaskedRelease as MaskedRelease
    from mahrem.pipeline.masking import SurveyRisk as SurveyRisk
    from mahrem.pipeline.masking import generalize as generalize
    from mahrem.pipeline.masking import perturb as perturb
    from mahrem.pipeline.masking import risk as risk
    from mahrem.pipeline.masking import suppress as suppress
    from mahrem.pipeline.modelling import SyntheticRelease as SyntheticRelease
    from mahrem.pipeline.modelling import TrainedModel as TrainedModel
    from mahrem.pipeline.modelling import load_model as load_model
    from mahrem.pipeline.modelling import synthesize as synthesize
    from mahrem.pipeline.modelling import train as train
    from mahrem.pipeline.releasing import Anonymizer as Anonymizer
    from mahrem.pipeline.releasing import Release as Release
    from mahrem.pipeline.releasing import anonymize as anonymize
    from mahrem.pipeline.releasing import apply as apply
    from mahrem.pipeline.releasing import dry_run as dry_run
    from mahrem.pipeline.releasing import explain as explain
    from mahrem.pipeline.releasing import redraw as redraw
    from mahrem.pipeline.releasing import redraw_two as redraw_two
else:
    __getattr__, __dir__, __all__ = offered(__name__)
