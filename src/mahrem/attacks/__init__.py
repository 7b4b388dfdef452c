"""The red team: attack what is to be published before somebody else does.

``ATTACKS`` has one entry per attack; :func:`red_team` tries all that fit a target and gives a
:class:`Finding` each: how often it succeeded, how often it would have without the release, and an exact
confidence interval. Findings hold figures, never a person and never a value. Its rooms: ``on_releases``,
``on_models`` (and rows that models made up) and ``on_federations``.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.attacks._entries import ATTACKS as ATTACKS
    from mahrem.attacks._entries import AttackEntry as AttackEntry
    from mahrem.attacks._entries import AttackTarget as AttackTarget
    from mahrem.attacks._finding import Finding as Finding
    from mahrem.attacks._finding import counted_finding as counted_finding
    from mahrem.attacks._finding import not_done as not_done
    from mahrem.attacks._interval import binomial_tail as binomial_tail
    from mahrem.attacks._interval import clopper_pearson as clopper_pearson
    from mahrem.attacks._red_team import RedTeam as RedTeam
    from mahrem.attacks._red_team import disclosed_findings as disclosed_findings
    from mahrem.attacks._red_team import red_team as red_team
else:
    __getattr__, __dir__, __all__ = offered(__name__)
