"""Columns of every kind that a frame can hold, with the values at which formats and arithmetic break."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import polars as pl

LARGEST = 1.7976931348623157e308
UTC = dt.UTC
_CLOCKS = [  # put back, put forward, a day left out, seconds off
    dt.datetime(2022, 10, 30, 0, 30, tzinfo=UTC),
    dt.datetime(2022, 10, 30, 1, 30, tzinfo=UTC),
    dt.datetime(2018, 11, 4, 3, 0, tzinfo=UTC),
    dt.datetime(2011, 12, 30, 10, 0, tzinfo=UTC),
    dt.datetime(1880, 1, 1, tzinfo=UTC),
    dt.datetime(2023, 4, 27, 22, 0, tzinfo=UTC),
]
_at = dt.datetime.fromisoformat  # on a clock without a zone
_ZONES = (
    "UTC",
    "Europe/Istanbul",
    "America/Sao_Paulo",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "Africa/Cairo",
)
_YEAR_ONE = -719_162  # days before 1970
_TOO_LATE = 2_932_897

KINDS: dict[str, tuple[pl.DataType | type[pl.DataType], Sequence[Any]]] = {
    **{
        f"int{bits}": (getattr(pl, f"Int{bits}"), [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1, 0, -1, 7])
        for bits in (8, 16, 32, 64)
    },
    **{
        f"uint{bits}": (getattr(pl, f"UInt{bits}"), [2**bits - 1, 2**bits - 2, 0, 1, 7])
        for bits in (8, 16, 32, 64)
    },
    "integers that floats blur": (pl.Int64, [2**53, 2**53 + 1, -(2**53) - 1, 2**53 - 1, 5]),
    "int128": (pl.Int128, ["85070591730234615865843651857942052864", "-1", "0", "7"]),
    "the outermost floats": (pl.Float64, [LARGEST, -LARGEST, 1.7e308, -1.7e308, 1e300, 0.5]),
    "the smallest floats": (pl.Float64, [5e-324, -5e-324, 1e-323, 2.2250738585072014e-308, 0.0, -0.0, 1.0]),
    "large whole floats": (pl.Float64, [1e19, 1e19 + 4096, 2.0**63, 2.0**64, 1e22, -1e19, 3.0]),
    "near floats": (
        pl.Float64,
        [0.1, 0.1 + 1.4e-17, 0.1 + 2.8e-17, 0.1 + 0.2, 0.3, 1234567.123456789, 1234567.1234567893],
    ),
    "not a number": (pl.Float64, [float("nan"), 1.0, 2.0, 3.5]),
    "infinite": (pl.Float64, [float("inf"), float("-inf"), 2.0, 3.5]),
    "float32": (pl.Float32, [3.4028235e38, -3.4028235e38, 1e-45, 0.1, 0.10000001, -0.0, 16777216.0]),
    "long decimals": (pl.Decimal(38, 0), [Decimal(10**37), Decimal(-(10**37)), Decimal(0), Decimal(5)]),
    "decimals": (pl.Decimal(10, 2), [Decimal("99999999.99"), Decimal("-99999999.99"), Decimal("0.01")]),
    "fine decimals": (
        pl.Decimal(38, 20),
        [Decimal("1.10000000000000000001"), Decimal("1.1"), Decimal("1e-20")],
    ),
    "days of the first years": (
        pl.Date,
        [dt.date(1, 1, 1), dt.date(3, 2, 1), dt.date(9, 12, 31), dt.date(5, 5, 5)],
    ),
    "early days": (
        pl.Date,
        [dt.date(9, 12, 31), dt.date(10, 1, 1), dt.date(999, 12, 31), dt.date(1000, 1, 1)],
    ),
    "the last days": (
        pl.Date,
        [dt.date(9999, 12, 31), dt.date(9999, 1, 1), dt.date(9990, 1, 1), dt.date(2024, 2, 29)],
    ),
    "days beyond the calendar": (pl.Date, [_YEAR_ONE - 1, _YEAR_ONE - 80_000, _TOO_LATE, 0, 4_000_000]),
    "the first moments": (
        pl.Datetime("us"),
        [_at("0001-01-01T00:00:00"), _at("0009-12-31T23:59:59"), _at("0005-06-07T08:00:00")],
    ),
    "the last moments": (
        pl.Datetime("us"),
        [_at("9999-12-31T23:59:59"), _at("9999-01-01T00:00:00"), _at("2024-02-29T00:00:00")],
    ),
    "milliseconds": (
        pl.Datetime("ms"),
        [_at("2024-01-01T00:00:00.001000"), _at("1969-12-31T23:59:59.999000"), _at("2024-01-02T00:00:00")],
    ),
    "nanoseconds": (pl.Datetime("ns"), [1, 2, 1_700_000_000_123_456_789, 1_700_000_000_123_456_788, -1]),
    "whole microseconds": (pl.Datetime("ns"), [1000, 2000, 1_700_000_000_123_456_000, -1000]),
    **{f"moments in {zone}": (pl.Datetime("us", zone), _CLOCKS) for zone in _ZONES},
    "midnights in a zone": (
        pl.Datetime("us", "Europe/Istanbul"),
        [dt.datetime(2022, 10, day, 21, tzinfo=UTC) for day in range(1, 6)],
    ),
    "the first moments of a zone": (
        pl.Datetime("us", "Europe/Istanbul"),
        [
            dt.datetime(1, 1, 2, tzinfo=UTC),
            dt.datetime(5, 1, 2, tzinfo=UTC),
            dt.datetime(9999, 12, 30, tzinfo=UTC),
        ],
    ),
    "times of day": (
        pl.Time,
        [dt.time(0), dt.time(23, 59, 59, 999_999), dt.time(12, 30), dt.time(0, 0, 0, 1)],
    ),
    **{
        f"durations in {unit}": (
            pl.Duration(unit),
            [dt.timedelta(0), dt.timedelta(days=-1), dt.timedelta(hours=5), dt.timedelta(days=40_000)],
        )
        for unit in ("ms", "us", "ns")
    },
    "booleans": (pl.Boolean, [True, False]),
    "categories": (pl.Categorical(), ["flu", "gout", "a,b", "*"]),
    "enumerations": (pl.Enum(["low", "mid", "high"]), ["low", "mid", "high"]),
    "bytes": (pl.Binary, [b"a", b"\x00\xff", b""]),
    "lists": (pl.List(pl.Int64), [[1], [2, 3], []]),
    "arrays": (pl.Array(pl.Int64, 2), [[1, 2], [3, 4]]),
    "structs": (pl.Struct({"a": pl.Int64}), [{"a": 1}, {"a": 2}]),
    "nothing": (pl.Null, [None]),
    "codes of mixed length": (pl.String, ["06100", "06100 ", "0", " 0610", "061001", "34000", "07", "0610*"]),
    "words": (
        pl.String,
        [
            "flu",
            "flu ",
            "",
            "NaN",
            "null",
            "NA",
            "*",
            "[1, 2]",
            "{a}",
            '"q"',
            "a,b",
            "line\nbreak",
            "cr\rx",
            "crlf\r\ny",
            "ünal",
            "tab\tx",
            " ",
            "  ",
            "😀",
            "'=1",
            "=1+1",
            "-x",
            "-06",
            "\ufeffx",
        ],
    ),
    "numbers as text": (pl.String, ["1", "1.0", "-0", "1e5", " 7 ", "+5", "0.10"]),
    "numbers that are none": (pl.String, ["1", "1e400", "inf", "NaN", "0x10"]),
    "large numbers as text": (pl.String, ["9007199254740993", "18446744073709551616", "1", "1e19", "1e308"]),
    "days as text": (pl.String, ["0001-01-01", "0009-12-31", "9999-12-31", "2024-02-29", "31.12.2024"]),
    "moments as text": (
        pl.String,
        ["2022-10-01T09:30:00+03:00", "2022-10-01T09:30:00Z", "2022-10-01T00:00:00-11:30"],
    ),
    "moments with and without zones": (pl.String, ["2022-10-01T09:30:00Z", "2022-10-01 09:30", "2022-10-02"]),
    "control characters": (pl.String, ["a\x00b", "a\x01b", "\x1f", "\x7f", "ok"]),
}


def awkward_column(kind: str, picks: Sequence[int | None], name: str = "q") -> pl.Series:
    """Make a column of a kind: each pick takes one of its values, None is missing."""
    dtype, values = KINDS[kind]
    picked = [None if pick is None else values[pick % len(values)] for pick in picks]
    if dtype == pl.Int128:
        return pl.Series(name, picked, dtype=pl.String).cast(pl.Int128)
    if dtype == pl.Float32:
        return pl.Series(name, picked, dtype=pl.Float64).cast(pl.Float32)
    if dtype == pl.Date and isinstance(values[0], int):
        return pl.Series(name, picked, dtype=pl.Int32).cast(pl.Date)
    if isinstance(dtype, pl.Datetime) and isinstance(values[0], int):
        return pl.Series(name, picked, dtype=pl.Int64).cast(dtype)
    if isinstance(dtype, pl.Datetime) and dtype.time_zone is not None:
        return pl.Series(name, picked, dtype=pl.Datetime("us", "UTC")).dt.convert_time_zone(dtype.time_zone)
    return pl.Series(name, picked, dtype=dtype, strict=False)
