"""Published cells: the grammar in which they are written and read back, and the text of values behind them.

Writers, metrics and the verifier share it; outside use what is listed here, and the families ``alone`` (what
a cell says by itself), ``formulas`` (what spreadsheets would run) and ``zones`` (clocks). It stands lowest in
``mahrem.table`` and knows text, numbers and moments, but no column, no hierarchy and no file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.table.cells._grammar import (
        SUPPRESSED,
        Cell,
        Cells,
        Exact,
        Members,
        MissingCell,
        Prefix,
        Range,
        Suppressed,
        read_cell,
        read_ranges,
        write_labels,
        write_members,
        write_prefixes,
        write_ranges,
        write_set,
    )
    from mahrem.table.cells._grouped_numbers import CURRENCY, THOUSANDS, number_signs, plain_numbers
    from mahrem.table.cells._number_grid import EXACT, NumberGrid, all_whole, finite
    from mahrem.table.cells._text import (
        as_text,
        mixes_zones,
        moments_of_text,
        numbers_of_text,
        text_where_needed,
        whole_numbers,
        with_point,
    )
    from mahrem.table.cells._usual_dates import dates_of_format, is_date_format, look_like_dates, usual_dates
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "CURRENCY",
    "EXACT",
    "SUPPRESSED",
    "THOUSANDS",
    "Cell",
    "Cells",
    "Exact",
    "Members",
    "MissingCell",
    "NumberGrid",
    "Prefix",
    "Range",
    "Suppressed",
    "all_whole",
    "as_text",
    "dates_of_format",
    "finite",
    "is_date_format",
    "look_like_dates",
    "mixes_zones",
    "moments_of_text",
    "number_signs",
    "numbers_of_text",
    "plain_numbers",
    "read_cell",
    "read_ranges",
    "text_where_needed",
    "usual_dates",
    "whole_numbers",
    "with_point",
    "write_labels",
    "write_members",
    "write_prefixes",
    "write_ranges",
    "write_set",
]
