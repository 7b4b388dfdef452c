"""Tables at the edge of the house: roles, kinds, missing values, hierarchies, readers and writers.

Its rooms, lowest first: ``cells`` (the grammar of published cells), ``hierarchies``, ``columns`` (what a
column is, and as numbers) beside ``reading``, and ``writing``. Other rooms of the house import from here.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.table._declaration import ColumnDeclaration as ColumnDeclaration
    from mahrem.table._declaration import read_declarations as read_declarations
    from mahrem.table._declaration import typed_declarations as typed_declarations
    from mahrem.table._formats import FORMATS as FORMATS
    from mahrem.table._formats import FileFormat as FileFormat
    from mahrem.table._formats import FormatName as FormatName
    from mahrem.table._formats import refuse_too_large as refuse_too_large
    from mahrem.table._formats import written_formats as written_formats
    from mahrem.table._schema import EVERY as EVERY
    from mahrem.table._schema import Column as Column
    from mahrem.table._schema import Kind as Kind
    from mahrem.table._schema import Missing as Missing
    from mahrem.table._schema import Role as Role
    from mahrem.table.cells import Cells as Cells
    from mahrem.table.cells import Exact as Exact
    from mahrem.table.cells import Members as Members
    from mahrem.table.cells import MissingCell as MissingCell
    from mahrem.table.cells import Prefix as Prefix
    from mahrem.table.cells import Range as Range
    from mahrem.table.cells import Suppressed as Suppressed
    from mahrem.table.cells import read_cell as read_cell
    from mahrem.table.cells import read_ranges as read_ranges
    from mahrem.table.columns import Axis as Axis
    from mahrem.table.columns import Domain as Domain
    from mahrem.table.columns import Leaves as Leaves
    from mahrem.table.columns import Moments as Moments
    from mahrem.table.columns import Numbers as Numbers
    from mahrem.table.columns import Values as Values
    from mahrem.table.columns import Words as Words
    from mahrem.table.columns import encode_quasi as encode_quasi
    from mahrem.table.columns import encode_sensitive as encode_sensitive
    from mahrem.table.columns import read_kind as read_kind
    from mahrem.table.hierarchies import Hierarchy as Hierarchy
    from mahrem.table.hierarchies import read_hierarchy as read_hierarchy
    from mahrem.table.reading import Reading as Reading
    from mahrem.table.reading import Source as Source
    from mahrem.table.reading import as_polars as as_polars
    from mahrem.table.reading import hold as hold
    from mahrem.table.reading import is_spark_frame as is_spark_frame
    from mahrem.table.reading import open_source as open_source
else:
    __getattr__, __dir__, __all__ = offered(__name__)
