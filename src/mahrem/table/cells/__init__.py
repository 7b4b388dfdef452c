"""Published cells: the grammar in which they are written and read back, and the text of values behind them.

Writers, metrics and the verifier share it; outside use what is listed here. It stands lowest in
``mahrem.table`` and knows text, numbers and moments, but no column, no hierarchy and no file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.table.cells._alone import (
        day_alone,
        number_alone,
        number_of,
        part_of_width,
        place_alone,
        plain_alone,
        text_alone,
        texts_of_objects,
    )
    from mahrem.table.cells._formulas import (
        DISARMED,
        FORMULA,
        neutralise_formulas,
        neutralise_names,
        restore_cells,
        restore_formulas,
        restored_cells,
    )
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
    from mahrem.table.cells._zones import (
        CALENDAR_STEPS,
        calendar,
        named_zone,
        on_this_clock,
        wall_clock,
        within_calendar,
        zone_of_offset,
    )
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "CALENDAR_STEPS",
    "CURRENCY",
    "DISARMED",
    "EXACT",
    "FORMULA",
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
    "calendar",
    "dates_of_format",
    "day_alone",
    "finite",
    "is_date_format",
    "look_like_dates",
    "mixes_zones",
    "moments_of_text",
    "named_zone",
    "neutralise_formulas",
    "neutralise_names",
    "number_alone",
    "number_of",
    "number_signs",
    "numbers_of_text",
    "on_this_clock",
    "part_of_width",
    "place_alone",
    "plain_alone",
    "plain_numbers",
    "read_cell",
    "read_ranges",
    "restore_cells",
    "restore_formulas",
    "restored_cells",
    "text_alone",
    "text_where_needed",
    "texts_of_objects",
    "usual_dates",
    "wall_clock",
    "whole_numbers",
    "with_point",
    "within_calendar",
    "write_labels",
    "write_members",
    "write_prefixes",
    "write_ranges",
    "write_set",
    "zone_of_offset",
]
