"""Methods that cluster: MDAV and its kin, ONA, and k-anonymous means.

They gather rows around centres and merge what is refused. All of them take numbers and columns without an
order, and grow with the square of the rows.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.partition.clustering._evolve import KAnonyMeansStar as KAnonyMeansStar
    from mahrem.partition.clustering._k_anonymeans import KAnonyMeans as KAnonyMeans
    from mahrem.partition.clustering._mdav import Mdav as Mdav
    from mahrem.partition.clustering._mdav import MdavPlus as MdavPlus
    from mahrem.partition.clustering._ona import OnaStar as OnaStar
    from mahrem.partition.clustering._variable_mdav import MdavStar as MdavStar
    from mahrem.partition.clustering._variable_mdav import VariableMdav as VariableMdav
else:
    __getattr__, __dir__, __all__ = offered(__name__)
