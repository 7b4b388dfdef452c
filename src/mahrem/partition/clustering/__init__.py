"""Methods that cluster: MDAV and its kin, ONA, and k-anonymous means.

They gather rows around centres and merge what is refused. All of them take numbers and columns without an
order, and grow with the square of the rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.partition.clustering._evolve import KAnonyMeansStar
    from mahrem.partition.clustering._k_anonymeans import KAnonyMeans
    from mahrem.partition.clustering._mdav import Mdav, MdavPlus
    from mahrem.partition.clustering._ona import OnaStar
    from mahrem.partition.clustering._variable_mdav import MdavStar, VariableMdav
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "KAnonyMeans",
    "KAnonyMeansStar",
    "Mdav",
    "MdavPlus",
    "MdavStar",
    "OnaStar",
    "VariableMdav",
]
