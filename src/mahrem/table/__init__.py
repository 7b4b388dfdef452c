"""Tables at the edge of the house: roles, kinds, missing values, hierarchies, readers and writers.

Its rooms, lowest first: ``cells`` (the grammar of published cells), ``hierarchies``, ``columns`` (what a
column is, and as numbers) beside ``reading``, and ``writing``. Other rooms of the house import from here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.table._declaration import ColumnDeclaration, read_declarations, typed_declarations
    from mahrem.table._formats import (
        FORMATS,
        FileFormat,
        FormatName,
        refuse_too_large,
        written_formats,
    )
    from mahrem.table._schema import EVERY, Column, Kind, Missing, Role
    from mahrem.table.cells import (
        Cells,
        Exact,
        Members,
        MissingCell,
        Prefix,
        Range,
        Suppressed,
        read_cell,
        read_ranges,
    )
    from mahrem.table.columns import (
        Axis,
        Domain,
        Leaves,
        Moments,
        Numbers,
        Values,
        Words,
        encode_quasi,
        encode_sensitive,
        read_kind,
    )
    from mahrem.table.hierarchies import Hierarchy, read_hierarchy
    from mahrem.table.reading import Reading, Source, as_polars, hold, is_spark_frame, open_source
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "EVERY",
    "FORMATS",
    "Axis",
    "Cells",
    "Column",
    "ColumnDeclaration",
    "Domain",
    "Exact",
    "FileFormat",
    "FormatName",
    "Hierarchy",
    "Kind",
    "Leaves",
    "Members",
    "Missing",
    "MissingCell",
    "Moments",
    "Numbers",
    "Prefix",
    "Range",
    "Reading",
    "Role",
    "Source",
    "Suppressed",
    "Values",
    "Words",
    "as_polars",
    "encode_quasi",
    "encode_sensitive",
    "hold",
    "is_spark_frame",
    "open_source",
    "read_cell",
    "read_declarations",
    "read_hierarchy",
    "read_kind",
    "read_ranges",
    "refuse_too_large",
    "typed_declarations",
    "written_formats",
]
