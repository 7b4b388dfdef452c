"""Tables into the house: frames of other libraries, files of all kinds, databases, Arrow streams.

Outside use :func:`open_source` and what else is listed here; nothing but a :class:`Source` leaves this room.
It stands above ``cells`` and beside ``columns``, and decides nothing about roles or kinds.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.table.reading._asking import Database as Database
    from mahrem.table.reading._asking import asking as asking
    from mahrem.table.reading._csv import open_csv as open_csv
    from mahrem.table.reading._databases import connection_reason as connection_reason
    from mahrem.table.reading._databases import postgresql_driver as postgresql_driver
    from mahrem.table.reading._databases import quoted as quoted
    from mahrem.table.reading._databases import read_alone as read_alone
    from mahrem.table.reading._databases import refuse_wide_role as refuse_wide_role
    from mahrem.table.reading._frames import PolarsSource as PolarsSource
    from mahrem.table.reading._frames import as_polars as as_polars
    from mahrem.table.reading._frames import hold as hold
    from mahrem.table.reading._frames import is_spark_frame as is_spark_frame
    from mahrem.table.reading._frames import open_polars as open_polars
    from mahrem.table.reading._frames import pruned as pruned
    from mahrem.table.reading._frames import texts_of as texts_of
    from mahrem.table.reading._landing import land_database as land_database
    from mahrem.table.reading._numbered import NumberedTable as NumberedTable
    from mahrem.table.reading._reading import CONTROL as CONTROL
    from mahrem.table.reading._reading import NESTED as NESTED
    from mahrem.table.reading._reading import ColumnSource as ColumnSource
    from mahrem.table.reading._reading import Reading as Reading
    from mahrem.table.reading._reading import RecordReading as RecordReading
    from mahrem.table.reading._reading import Source as Source
    from mahrem.table.reading._reading import name_columns as name_columns
    from mahrem.table.reading._reading import number_tokens as number_tokens
    from mahrem.table.reading._records import TextRecords as TextRecords
    from mahrem.table.reading._slices import ParquetSlices as ParquetSlices
    from mahrem.table.reading._slices import TextSlices as TextSlices
    from mahrem.table.reading._slices import scan_slices as scan_slices
    from mahrem.table.reading._slices import scan_sparingly as scan_sparingly
    from mahrem.table.reading._source import is_duckdb as is_duckdb
    from mahrem.table.reading._source import is_postgresql as is_postgresql
    from mahrem.table.reading._source import open_records as open_records
    from mahrem.table.reading._source import open_source as open_source
    from mahrem.table.reading._spelling import LOOKED_AT as LOOKED_AT
    from mahrem.table.reading._spelling import PlainTexts as PlainTexts
    from mahrem.table.reading._spelling import Spelling as Spelling
    from mahrem.table.reading._spelling import may_be_respelled as may_be_respelled
    from mahrem.table.reading._spelling import plain_texts as plain_texts
else:
    __getattr__, __dir__, __all__ = offered(__name__)
