"""Tables into the house: frames of other libraries, files of all kinds, databases, Arrow streams.

Outside use :func:`open_source` and what else is listed here; nothing but a :class:`Source` leaves this room.
It stands above ``cells`` and beside ``columns``, and decides nothing about roles or kinds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.table.reading._asking import Database, asking
    from mahrem.table.reading._csv import open_csv
    from mahrem.table.reading._databases import (
        connection_reason,
        postgresql_driver,
        quoted,
        read_alone,
        refuse_wide_role,
    )
    from mahrem.table.reading._frames import (
        PolarsSource,
        as_polars,
        hold,
        is_spark_frame,
        open_polars,
        pruned,
        texts_of,
    )
    from mahrem.table.reading._landing import land_database
    from mahrem.table.reading._numbered import NumberedTable
    from mahrem.table.reading._reading import (
        CONTROL,
        NESTED,
        ColumnSource,
        Reading,
        RecordReading,
        Source,
        name_columns,
        number_tokens,
    )
    from mahrem.table.reading._records import TextRecords
    from mahrem.table.reading._slices import ParquetSlices, TextSlices, scan_slices, scan_sparingly
    from mahrem.table.reading._source import is_duckdb, is_postgresql, open_records, open_source
    from mahrem.table.reading._spelling import LOOKED_AT, PlainTexts, Spelling, may_be_respelled, plain_texts
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "CONTROL",
    "LOOKED_AT",
    "NESTED",
    "ColumnSource",
    "Database",
    "NumberedTable",
    "ParquetSlices",
    "PlainTexts",
    "PolarsSource",
    "Reading",
    "RecordReading",
    "Source",
    "Spelling",
    "TextRecords",
    "TextSlices",
    "as_polars",
    "asking",
    "connection_reason",
    "hold",
    "is_duckdb",
    "is_postgresql",
    "is_spark_frame",
    "land_database",
    "may_be_respelled",
    "name_columns",
    "number_tokens",
    "open_csv",
    "open_polars",
    "open_records",
    "open_source",
    "plain_texts",
    "postgresql_driver",
    "pruned",
    "quoted",
    "read_alone",
    "refuse_wide_role",
    "scan_slices",
    "scan_sparingly",
    "texts_of",
]
