"""Files of each format: how they are opened, written and read back, one module each.

An entry of :data:`mahrem.table.FORMATS` names its module, which is loaded when a file of that format is at
hand. Outside use what formats may be able to do beyond opening and writing, listed here. It stands above
``reading``, whose sources it gives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.table._formats import LabelledFiles, NumberedCells, NumberedFiles, RecordFiles, SlicedFiles
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = ["LabelledFiles", "NumberedCells", "NumberedFiles", "RecordFiles", "SlicedFiles"]
