"""Tables out of the house: files, files written part by part, databases; whole or not at all.

Outside use what is listed here. It stands above ``reading``, whose way to databases it shares, and below
nothing of ``mahrem.table``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.table.writing._databases import write_database
    from mahrem.table.writing._files import (
        exported_names,
        refuse_unwritable,
        write_parts,
        write_pieces,
        write_table,
    )
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "exported_names",
    "refuse_unwritable",
    "write_database",
    "write_parts",
    "write_pieces",
    "write_table",
]
