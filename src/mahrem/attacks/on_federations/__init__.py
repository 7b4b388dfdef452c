"""Attacks on federations: what clients' updates tell (:class:`UpdateMembership`, :class:`GradientInversion`).

And what hostile clients reach (:class:`Misled`). They look at what somebody in the middle sees, so whoever
runs a federation or simulates one calls them.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.attacks.on_federations._gradient_inversion import GradientInversion as GradientInversion
    from mahrem.attacks.on_federations._gradient_inversion import rows_behind as rows_behind
    from mahrem.attacks.on_federations._misled import Misled as Misled
    from mahrem.attacks.on_federations._update_membership import UpdateMembership as UpdateMembership
else:
    __getattr__, __dir__, __all__ = offered(__name__)
