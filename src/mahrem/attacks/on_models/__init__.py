"""Attacks on models and on rows that models made up: who was in the training, what does a class look like?

They take anything with ``predict_proba``, rows it was trained on and rows it never saw; :class:`OneRunAudit`
bounds epsilon from below. ``against`` tries an attack on a :class:`ModelTarget` or a :class:`RowsTarget`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.attacks.on_models._attribute_inference import AttributeFinding, AttributeInference
    from mahrem.attacks.on_models._audit_finding import AuditFinding, audit_finding
    from mahrem.attacks.on_models._audited_bound import AuditedBound, audited_epsilon, guess_chance
    from mahrem.attacks.on_models._examples import (
        Examples,
        Says,
        log_odds,
        refuse_mixed,
        refuse_shared_rows,
        true_chances,
    )
    from mahrem.attacks.on_models._few_shadows import FewShadows, shrunk_ratios
    from mahrem.attacks.on_models._lira import Lira, likelihood_ratios
    from mahrem.attacks.on_models._loss_threshold import LossThreshold
    from mahrem.attacks.on_models._membership_finding import (
        ModelFinding,
        area_under_curve,
        chance_rates,
        membership_finding,
    )
    from mahrem.attacks.on_models._model_inversion import InversionFinding, ModelInversion, invert
    from mahrem.attacks.on_models._one_run_audit import OneRunAudit
    from mahrem.attacks.on_models._shadow_attack import ShadowAttack
    from mahrem.attacks.on_models._shadow_models import Shadows, train_shadows
    from mahrem.attacks.on_models._synthetic_membership import SyntheticMembership
    from mahrem.attacks.on_models._synthetic_tables import SyntheticTables
    from mahrem.attacks.on_models._target import Attributes, AuditRecords, ModelTarget, RowsTarget
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "AttributeFinding",
    "AttributeInference",
    "Attributes",
    "AuditFinding",
    "AuditRecords",
    "AuditedBound",
    "Examples",
    "FewShadows",
    "InversionFinding",
    "Lira",
    "LossThreshold",
    "ModelFinding",
    "ModelInversion",
    "ModelTarget",
    "OneRunAudit",
    "RowsTarget",
    "Says",
    "ShadowAttack",
    "Shadows",
    "SyntheticMembership",
    "SyntheticTables",
    "area_under_curve",
    "audit_finding",
    "audited_epsilon",
    "chance_rates",
    "guess_chance",
    "invert",
    "likelihood_ratios",
    "log_odds",
    "membership_finding",
    "refuse_mixed",
    "refuse_shared_rows",
    "shrunk_ratios",
    "train_shadows",
    "true_chances",
]
