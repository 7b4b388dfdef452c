"""Files of each format: how they are opened, written and read back, one module each.

An entry of :data:`mahrem.table.FORMATS` names its module, which is loaded when a file of that format is at
hand. Outside use what formats may be able to do beyond opening and writing, listed here. It stands above
``reading``, whose sources it gives.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.table._formats import LabelledFiles as LabelledFiles
    from mahrem.table._formats import NumberedCells as NumberedCells
    from mahrem.table._formats import NumberedFiles as NumberedFiles
    from mahrem.table._formats import RecordFiles as RecordFiles
    from mahrem.table._formats import SlicedFiles as SlicedFiles
else:
    __getattr__, __dir__, __all__ = offered(__name__)
