"""Attacks on models and on rows that models made up: who was in the training, what does a class look like?

They take anything with ``predict_proba``, rows it was trained on and rows it never saw; :class:`OneRunAudit`
bounds epsilon from below. ``against`` tries an attack on a :class:`ModelTarget` or a :class:`RowsTarget`.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.attacks.on_models._attribute_inference import AttributeFinding as AttributeFinding
    from mahrem.attacks.on_models._attribute_inference import AttributeInference as AttributeInference
    from mahrem.attacks.on_models._audit_finding import AuditFinding as AuditFinding
    from mahrem.attacks.on_models._audit_finding import audit_finding as audit_finding
    from mahrem.attacks.on_models._audited_bound import AuditedBound as AuditedBound
    from mahrem.attacks.on_models._audited_bound import audited_epsilon as audited_epsilon
    from mahrem.attacks.on_models._audited_bound import guess_chance as guess_chance
    from mahrem.attacks.on_models._examples import Examples as Examples
    from mahrem.attacks.on_models._examples import Says as Says
    from mahrem.attacks.on_models._examples import log_odds as log_odds
    from mahrem.attacks.on_models._examples import refuse_mixed as refuse_mixed
    from mahrem.attacks.on_models._examples import true_chances as true_chances
    from mahrem.attacks.on_models._few_shadows import FewShadows as FewShadows
    from mahrem.attacks.on_models._few_shadows import shrunk_ratios as shrunk_ratios
    from mahrem.attacks.on_models._lira import Lira as Lira
    from mahrem.attacks.on_models._lira import likelihood_ratios as likelihood_ratios
    from mahrem.attacks.on_models._loss_threshold import LossThreshold as LossThreshold
    from mahrem.attacks.on_models._membership_finding import ModelFinding as ModelFinding
    from mahrem.attacks.on_models._membership_finding import area_under_curve as area_under_curve
    from mahrem.attacks.on_models._membership_finding import chance_rates as chance_rates
    from mahrem.attacks.on_models._membership_finding import membership_finding as membership_finding
    from mahrem.attacks.on_models._model_inversion import InversionFinding as InversionFinding
    from mahrem.attacks.on_models._model_inversion import ModelInversion as ModelInversion
    from mahrem.attacks.on_models._model_inversion import invert as invert
    from mahrem.attacks.on_models._one_run_audit import OneRunAudit as OneRunAudit
    from mahrem.attacks.on_models._shadow_attack import ShadowAttack as ShadowAttack
    from mahrem.attacks.on_models._shadow_models import Shadows as Shadows
    from mahrem.attacks.on_models._shadow_models import train_shadows as train_shadows
    from mahrem.attacks.on_models._synthetic_membership import SyntheticMembership as SyntheticMembership
    from mahrem.attacks.on_models._synthetic_tables import SyntheticTables as SyntheticTables
    from mahrem.attacks.on_models._target import Attributes as Attributes
    from mahrem.attacks.on_models._target import AuditRecords as AuditRecords
    from mahrem.attacks.on_models._target import ModelTarget as ModelTarget
    from mahrem.attacks.on_models._target import RowsTarget as RowsTarget
else:
    __getattr__, __dir__, __all__ = offered(__name__)
