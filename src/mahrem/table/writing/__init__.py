"""Tables out of the house: files, files written part by part, databases; whole or not at all.

Outside use what is listed here. It stands above ``reading``, whose way to databases it shares, and below
nothing of ``mahrem.table``.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.table.writing._databases import write_database as write_database
    from mahrem.table.writing._files import exported_names as exported_names
    from mahrem.table.writing._files import refuse_unwritable as refuse_unwritable
    from mahrem.table.writing._files import write_parts as write_parts
    from mahrem.table.writing._files import write_pieces as write_pieces
    from mahrem.table.writing._files import write_table as write_table
else:
    __getattr__, __dir__, __all__ = offered(__name__)
