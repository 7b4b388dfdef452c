"""The red team: attack a release before somebody else does.

An attack is a frozen dataclass of settings, called with a release (any published table) and, where it is our
own data, the original. It gives a :class:`Finding`: how often it succeeded, how often it would have without
the release, and an exact confidence interval. Findings hold figures, never a person and never a value.

Attacks on models (:class:`LossThreshold`, :class:`Lira`, :class:`FewShadows`, :class:`AttributeInference`,
:class:`ModelInversion`) take anything with ``predict_proba``; :class:`OneRunAudit` bounds epsilon from below.
Attacks on federations look at what clients send (:class:`UpdateMembership`, :class:`GradientInversion`) or at
what hostile ones reach (:class:`Misled`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.attacks._attribute_inference import AttributeFinding, AttributeInference
    from mahrem.attacks._audit_finding import AuditFinding, audit_finding
    from mahrem.attacks._background import PopulationPriors, RuledOut
    from mahrem.attacks._composition import Composition
    from mahrem.attacks._downcoding import Downcoding
    from mahrem.attacks._examples import Examples, log_odds, refuse_mixed, refuse_shared_rows, true_chances
    from mahrem.attacks._few_shadows import FewShadows, shrunk_ratios
    from mahrem.attacks._finding import Finding, not_done
    from mahrem.attacks._gradient_inversion import GradientInversion, rows_behind
    from mahrem.attacks._homogeneity import Homogeneity
    from mahrem.attacks._inference import Inference
    from mahrem.attacks._interval import binomial_tail, clopper_pearson
    from mahrem.attacks._linkage import Linkage
    from mahrem.attacks._lira import Lira, likelihood_ratios
    from mahrem.attacks._loss_threshold import LossThreshold
    from mahrem.attacks._matching import Matching, fit_of, match
    from mahrem.attacks._membership import Membership
    from mahrem.attacks._membership_finding import (
        ModelFinding,
        area_under_curve,
        chance_rates,
        membership_finding,
    )
    from mahrem.attacks._minimality import Minimality
    from mahrem.attacks._misled import Misled
    from mahrem.attacks._model_inversion import InversionFinding, ModelInversion, invert
    from mahrem.attacks._one_run_audit import AuditedBound, OneRunAudit, audited_epsilon, guess_chance
    from mahrem.attacks._order import Order, row_numbers
    from mahrem.attacks._red_team import red_team
    from mahrem.attacks._release import People, Published, read_people, read_published
    from mahrem.attacks._shadow_attack import ShadowAttack
    from mahrem.attacks._shadow_models import Shadows, train_shadows
    from mahrem.attacks._similarity import Similarity
    from mahrem.attacks._singling_out import SinglingOut
    from mahrem.attacks._skewness import Skewness
    from mahrem.attacks._synthetic_membership import SyntheticMembership
    from mahrem.attacks._update_membership import UpdateMembership
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "AttributeFinding",
    "AttributeInference",
    "AuditFinding",
    "AuditedBound",
    "Composition",
    "Downcoding",
    "Examples",
    "FewShadows",
    "Finding",
    "GradientInversion",
    "Homogeneity",
    "Inference",
    "InversionFinding",
    "Linkage",
    "Lira",
    "LossThreshold",
    "Matching",
    "Membership",
    "Minimality",
    "Misled",
    "ModelFinding",
    "ModelInversion",
    "OneRunAudit",
    "Order",
    "People",
    "PopulationPriors",
    "Published",
    "RuledOut",
    "ShadowAttack",
    "Shadows",
    "Similarity",
    "SinglingOut",
    "Skewness",
    "SyntheticMembership",
    "UpdateMembership",
    "area_under_curve",
    "audit_finding",
    "audited_epsilon",
    "binomial_tail",
    "chance_rates",
    "clopper_pearson",
    "fit_of",
    "guess_chance",
    "invert",
    "likelihood_ratios",
    "log_odds",
    "match",
    "membership_finding",
    "not_done",
    "read_people",
    "read_published",
    "red_team",
    "refuse_mixed",
    "refuse_shared_rows",
    "row_numbers",
    "rows_behind",
    "shrunk_ratios",
    "train_shadows",
    "true_chances",
]
