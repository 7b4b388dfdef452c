"""Sort rows into classes: methods that cut, halve or cluster, and the judge of what may stand.

A method is a frozen dataclass of its settings that is called with points and an :class:`Admits`; what comes
out is a :class:`Partition`, a label for every row. Which classes may stand is not a method's business:
:class:`Admission` asks the privacy models, for all candidates at once.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.partition._choice import LIGHT as LIGHT
    from mahrem.partition._choice import QUADRATIC_ROWS as QUADRATIC_ROWS
    from mahrem.partition._choice import MethodEvidence as MethodEvidence
    from mahrem.partition._choice import choose_method as choose_method
    from mahrem.partition._choice import suits_size as suits_size
    from mahrem.partition._entries import METHODS as METHODS
    from mahrem.partition._entries import Method as Method
    from mahrem.partition._entries import MethodName as MethodName
    from mahrem.partition._entries import build_method as build_method
    from mahrem.partition._partition import Admits as Admits
    from mahrem.partition._partition import Levels as Levels
    from mahrem.partition._partition import Partition as Partition
    from mahrem.partition._partition import Partitioner as Partitioner
    from mahrem.partition.clustering import KAnonyMeans as KAnonyMeans
    from mahrem.partition.clustering import KAnonyMeansStar as KAnonyMeansStar
    from mahrem.partition.clustering import Mdav as Mdav
    from mahrem.partition.clustering import MdavPlus as MdavPlus
    from mahrem.partition.clustering import MdavStar as MdavStar
    from mahrem.partition.clustering import OnaStar as OnaStar
    from mahrem.partition.clustering import VariableMdav as VariableMdav
    from mahrem.partition.cutting import Canon as Canon
    from mahrem.partition.cutting import Jittered as Jittered
    from mahrem.partition.cutting import KeepFrequent as KeepFrequent
    from mahrem.partition.cutting import Mondrian as Mondrian
    from mahrem.partition.cutting import UtilityAware as UtilityAware
    from mahrem.partition.hiding import LocalSuppression as LocalSuppression
    from mahrem.partition.judging import Admission as Admission
    from mahrem.partition.lattice import BottomUp as BottomUp
    from mahrem.partition.lattice import Datafly as Datafly
    from mahrem.partition.lattice import Flash as Flash
    from mahrem.partition.lattice import Incognito as Incognito
    from mahrem.partition.lattice import LocalRecoding as LocalRecoding
    from mahrem.partition.lattice import MinGen as MinGen
    from mahrem.partition.lattice import Ola as Ola
    from mahrem.partition.lattice import TopDown as TopDown
    from mahrem.partition.mosaic import Mosaic as Mosaic
    from mahrem.partition.mosaic import Repaired as Repaired
else:
    __getattr__, __dir__, __all__ = offered(__name__)
