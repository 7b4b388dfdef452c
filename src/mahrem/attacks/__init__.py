"""The red team: attack what is to be published before somebody else does.

``ATTACKS`` has one entry per attack; :func:`red_team` tries all that fit a target and gives a
:class:`Finding` each: how often it succeeded, how often it would have without the release, and an exact
confidence interval. Findings hold figures, never a person and never a value. Its rooms: ``on_releases``,
``on_models`` (and rows that models made up) and ``on_federations``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.attacks._entries import ATTACKS, AttackEntry, AttackTarget
    from mahrem.attacks._finding import Finding, counted_finding, not_done
    from mahrem.attacks._interval import binomial_tail, clopper_pearson
    from mahrem.attacks._red_team import RedTeam, disclosed_findings, red_team
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "ATTACKS",
    "AttackEntry",
    "AttackTarget",
    "Finding",
    "RedTeam",
    "binomial_tail",
    "clopper_pearson",
    "counted_finding",
    "disclosed_findings",
    "not_done",
    "red_team",
]
