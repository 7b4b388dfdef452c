"""Cells that change what others infer from a column: one of each kind that has surprised somebody.

Numbers and days come in the spellings of other programs and alphabets; objects come that no column holds.
"""

from __future__ import annotations

import datetime as dt
import enum
import math
import uuid
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd


class Rank(enum.IntEnum):
    """A whole number with a name."""

    THIRD = 3


class Ward(enum.StrEnum):
    """A word with a name."""

    THREE = "3"


ANYWHERE: tuple[object, ...] = (
    None,
    math.nan,
    pd.NA,
    pd.NaT,
    "",
    "   ",
    "\x00",
    "a\x00b",
    "\ufeff3",
    "\u202e3",
    "a\u0301",
    "\u200b",
    "x" * 100_000,
    "1" * 5_000,
    "NULL",
    "#N/A",
    "\ud800",
    b"3",
    b"\xff\xfe",
    bytearray(b"3"),
    [],
    [1, [2, None]],
    {"a": 1},
    {1, 2},
    (),
    np.array([1, 2]),
    object(),
    uuid.UUID(int=3),
    pd.Interval(1, 3),
    pd.Period("2024-01"),
    pd.Timedelta(3, "D"),
    dt.time(3),
    dt.timedelta(hours=3),
    Ellipsis,
    NotImplemented,
    type,
)
NUMBERS: tuple[object, ...] = (
    -0.0,
    "-0",
    5e-324,
    2.0**-1074,
    1e308,
    -1e308,
    math.inf,
    -math.inf,
    10**30,
    10**400,
    10**5_000,
    -(10**400),
    True,
    np.bool_(False),
    np.int8(3),
    np.uint64(2**64 - 1),
    np.float16(2.5),
    np.longdouble("0.1"),
    np.complex128(3),
    np.complex128(3 + 4j),
    np.str_("3"),
    np.datetime64("NaT"),
    Rank.THIRD,
    Ward.THREE,
    Decimal("3E0"),
    Decimal("1E+2"),
    Decimal("-0"),
    Decimal("3.0000"),
    Decimal("NaN"),
    Decimal("sNaN"),
    Decimal("Infinity"),
    Decimal("1e999999"),
    Decimal("1e-999999"),
    Decimal("1" * 45),
    Fraction(7, 2),
    Fraction(10**400),
    "3",
    "3.0",
    " 3",
    "3\u00a0",
    "+3",
    "3.",
    ".5",
    "3e0",
    "1_000",
    "1 000",
    "1'000",
    "1\u202f000",
    "1.234,5",
    "1,234.5",
    "2,5",
    "0x3",
    "\uff13",  # full-width
    "\u0663",  # Arabic
    "\u00bd",
    "\u22123",  # the minus sign of printers
    "inf",
    "-Infinity",
    "nan",
    "NaN",
    "1e999",
    "1e-999",
    "3%",
    "$3",
    "TRUE",
    45293,
    45293.5,
)
DAYS: tuple[object, ...] = (
    "unknown",
    "2024-01-02",
    " 2024-01-02 ",
    "2024-1-2",
    "20240102",
    "02.01.2024",
    "1/2/2024",
    "2024-W01-2",
    "2024-02-30",
    "0000-00-00",
    "2024-01-02T24:00:00",
    "2024-01-02T00:00:00Z",
    "2024-01-02 13:05:00.000001",
    "\uff12\uff10\uff12\uff14-01-02",
    dt.date(1, 1, 1),
    dt.date(9999, 12, 31),
    dt.datetime(2024, 1, 2),  # noqa: DTZ001 - as spreadsheets have them
    dt.datetime(2024, 1, 2, 13, 5),  # noqa: DTZ001 - the same
    dt.datetime(2024, 1, 2, 13, 5, tzinfo=dt.UTC),
    dt.datetime(2024, 1, 2, tzinfo=ZoneInfo("Europe/Istanbul")),
    dt.datetime(2024, 1, 2, tzinfo=dt.timezone(dt.timedelta(hours=5, minutes=45))),
    pd.Timestamp("2024-01-02"),
    pd.Timestamp("2024-01-02 00:00:00.000000001"),
    pd.Timestamp("2024-01-02", tz="Asia/Kathmandu"),
    np.datetime64("2024-01-02"),
    np.datetime64("2024-01-02T00:00:00.000000001"),
    np.datetime64("2024"),
    45293,
    45293.0,
    1704153600,
    Decimal(45293),
    True,
)
WORDS: tuple[object, ...] = (
    3,
    2.5,
    True,
    np.str_("a"),
    "A",
    " a ",
    "a;b,c\t|",
    'say "a"',
    '"open',
    '"a",b',
    'a"',
    '""',
    "it''s",
    "two\nlines",
    "two\rlines",
    "two\r\nlines",
    "\u00fc\u20ac\U0001f600",
    "=1+1",
    "'a",
    "\\N",
    "\x1a",
    "\x85",
    dt.date(2024, 1, 1),
)
HOURS: tuple[object, ...] = (
    "08:00",
    "8:00",
    "8 am",
    "08:00:00.000001",
    "T08:00:00Z",
    dt.time(8, 0, 0, 1),
    dt.time(8, tzinfo=dt.UTC),
    dt.time(8, tzinfo=ZoneInfo("Europe/Istanbul")),
    dt.datetime(2024, 1, 2, 8),  # noqa: DTZ001 - as spreadsheets have them
    pd.Timestamp("2024-01-02 08:00", tz="Asia/Kathmandu"),
    np.timedelta64(8, "h"),
    1 / 3,
    8,
)
ODD_CELLS: Mapping[str, tuple[object, ...]] = {
    "ward": (*ANYWHERE, *NUMBERS),
    "cost": (*ANYWHERE, *NUMBERS),
    "stay": (*ANYWHERE, *NUMBERS, 7.5, "7 days"),
    "admitted": (*ANYWHERE, *DAYS),
    "smoker": (*ANYWHERE, "yes", 1, 0.0, "True", "FALSE", "t", "1", np.bool_(True)),
    "group": (*ANYWHERE, *WORDS),
    "hour": (*ANYWHERE, *HOURS),
    "note": (*ANYWHERE, *NUMBERS[:8], *DAYS[-8:], *WORDS),
    "who": (*ANYWHERE, *NUMBERS),
}
