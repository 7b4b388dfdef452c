"""Published cells: the grammar in which they are written and read back, and the text of values behind them.

Writers, metrics and the verifier share it; outside use what is listed here, and the families ``alone`` (what
a cell says by itself), ``formulas`` (what spreadsheets would run) and ``zones`` (clocks). It stands lowest in
``mahrem.table`` and knows text, numbers and moments, but no column, no hierarchy and no file.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.table.cells._grammar import SUPPRESSED as SUPPRESSED
    from mahrem.table.cells._grammar import Cell as Cell
    from mahrem.table.cells._grammar import Cells as Cells
    from mahrem.table.cells._grammar import Exact as Exact
    from mahrem.table.cells._grammar import Members as Members
    from mahrem.table.cells._grammar import MissingCell as MissingCell
    from mahrem.table.cells._grammar import Prefix as Prefix
    from mahrem.table.cells._grammar import Range as Range
    from mahrem.table.cells._grammar import Suppressed as Suppressed
    from mahrem.table.cells._grammar import read_cell as read_cell
    from mahrem.table.cells._grammar import read_ranges as read_ranges
    from mahrem.table.cells._grammar import write_labels as write_labels
    from mahrem.table.cells._grammar import write_members as write_members
    from mahrem.table.cells._grammar import write_prefixes as write_prefixes
    from mahrem.table.cells._grammar import write_ranges as write_ranges
    from mahrem.table.cells._grammar import write_set as write_set
    from mahrem.table.cells._grouped_numbers import CURRENCY as CURRENCY
    from mahrem.table.cells._grouped_numbers import THOUSANDS as THOUSANDS
    from mahrem.table.cells._grouped_numbers import number_signs as number_signs
    from mahrem.table.cells._grouped_numbers import plain_numbers as plain_numbers
    from mahrem.table.cells._number_grid import EXACT as EXACT
    from mahrem.table.cells._number_grid import NumberGrid as NumberGrid
    from mahrem.table.cells._number_grid import all_whole as all_whole
    from mahrem.table.cells._number_grid import finite as finite
    from mahrem.table.cells._text import as_text as as_text
    from mahrem.table.cells._text import mixes_zones as mixes_zones
    from mahrem.table.cells._text import moments_of_text as moments_of_text
    from mahrem.table.cells._text import numbers_of_text as numbers_of_text
    from mahrem.table.cells._text import text_where_needed as text_where_needed
    from mahrem.table.cells._text import whole_numbers as whole_numbers
    from mahrem.table.cells._text import with_point as with_point
    from mahrem.table.cells._usual_dates import dates_of_format as dates_of_format
    from mahrem.table.cells._usual_dates import is_date_format as is_date_format
    from mahrem.table.cells._usual_dates import look_like_dates as look_like_dates
    from mahrem.table.cells._usual_dates import usual_dates as usual_dates
else:
    __getattr__, __dir__, __all__ = offered(__name__)
