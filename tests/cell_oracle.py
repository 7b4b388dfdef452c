"""A second, slow reading of published cells, sharing no code with mahrem: is a value inside what is shown?"""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import polars as pl

NANOSECONDS = {"ms": 1_000_000, "us": 1000, "ns": 1}
DAY = 86_400 * 10**9
BEYOND = Fraction(10) ** 400
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_MOMENT = re.compile(
    r"([+-]?\d{4,6})-(\d\d)-(\d\d)"
    r"(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(Z|[+-]\d\d(?::?\d\d(?::?\d\d)?)?)?)?"
)
_DOTTED = re.compile(r"(\d\d?)\.(\d\d?)\.(\d{4})")
_MEMBER = re.compile(r' *(?:"((?:[^"]|"")*)"|([^,{}"]*?)) *(,|\}$)', re.DOTALL)


def _days(year: int, month: int, day: int) -> int:
    """Days since 1970 in the calendar as it is now, for any year."""
    year -= month <= 2
    era, rest = divmod(year, 400)
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146_097 + rest * 365 + rest // 4 - rest // 100 + of_year - 719_468


def moment(text: str) -> tuple[int, int] | None:
    """The first and the last nanosecond since 1970 that a day or moment stands for."""
    if dotted := _DOTTED.fullmatch(text):
        day, month, year = map(int, dotted.groups())
        first = _days(year, month, day) * DAY
        return first, first + DAY - 1
    found = _MOMENT.fullmatch(text)
    if not found:
        return None
    year, month, day, hour, minute, second, part, offset = found.groups()
    first = _days(int(year), int(month), int(day)) * DAY
    if hour is None:
        return first, first + DAY - 1
    first += ((int(hour) * 60 + int(minute)) * 60 + int(second or 0)) * 10**9 + int(
        (part or "0").ljust(9, "0")
    )
    if offset and offset != "Z":
        digits = offset.replace(":", "")[1:].ljust(6, "0")
        away = (int(digits[:2]) * 60 + int(digits[2:4])) * 60 + int(digits[4:])
        first -= (away if offset[0] == "+" else -away) * 10**9
    return first, first


def number(text: str) -> Fraction | None:
    text = text.strip()
    if text in {"inf", "+inf", "-inf"}:
        return -BEYOND if text[0] == "-" else BEYOND
    return Fraction(text) if _NUMBER.fullmatch(text) else None


class Column:
    """The values of a column, to be looked for in cells."""

    def __init__(self, values: pl.Series) -> None:
        kind = values.dtype
        self.floats, self.singles = kind.is_float(), kind == pl.Float32
        self.ticks: list[int | None] | None = None
        if kind == pl.Date:
            self.ticks = [None if day is None else day * DAY for day in values.to_physical().to_list()]
        elif isinstance(kind, pl.Datetime):
            unit = NANOSECONDS[kind.time_unit]
            self.ticks = [None if tick is None else tick * unit for tick in values.to_physical().to_list()]
        self.held = values.to_list() if self.ticks is None else self.ticks
        if isinstance(kind, pl.Duration):
            self.held = values.dt.to_string("iso").to_list()
        elif isinstance(kind, pl.Categorical | pl.Enum | pl.Boolean | pl.Time):
            self.held = values.cast(pl.String).to_list()

    def missing(self, row: int) -> bool:
        value = self.held[row]
        return value is None or value == "" or value != value  # noqa: PLR0124 - not a number

    def inside(self, cell: str | None, row: int) -> bool:
        """Say whether the value of a row is in the set that a cell stands for."""
        if cell == "*":
            return True
        if cell is None or cell == "":
            return self.missing(row)
        if cell[0] == "{" and (members := _members(cell)) is not None:
            return any(self.missing(row) if one is None else self._is(one, row) for one in members)
        if self.missing(row):
            return False
        if ends := re.fullmatch(r"\[([^,\[\]]+), ([^,\[\]]+)\]", cell):
            held = self._between(ends[1], ends[2], row)
            if held is not None:
                return held
        if quoted := re.fullmatch(r'"((?:[^"]|"")*)"(\**)', cell, re.DOTALL):
            bare = quoted[1].replace('""', '"')
            return self._begins(bare, len(quoted[2]), row) if quoted[2] else self._is(bare, row)
        if cell[-1] == "*":
            bare = cell.rstrip("*")
            return self._begins(bare, len(cell) - len(bare), row)
        return self._is(cell, row)

    def _between(self, low: str, high: str, row: int) -> bool | None:
        """Look at a range; None if it is none."""
        first, last = moment(low), moment(high)
        if first and last:
            tick = self._tick(row)
            return tick is not None and first[0] <= tick <= last[1]
        ends, value = (number(low), number(high)), self._number(row)
        if ends[0] is None or ends[1] is None:
            return None
        if self.floats or isinstance(self.held[row], str):  # both are floats: 0.3 is what reads as 0.3
            ends = tuple(end if abs(end) == BEYOND else Fraction(float(end)) for end in ends)
        return value is not None and ends[0] <= value <= ends[1]

    def _begins(self, beginning: str, stars: int, row: int) -> bool:
        text = self.held[row]
        return isinstance(text, str) and text.startswith(beginning) and len(text) <= len(beginning) + stars

    def _is(self, text: str, row: int) -> bool:
        value = self.held[row]
        if self.missing(row):
            return False
        if text == value or text == str(value):
            return True
        tick, shown = self._tick(row), moment(text)
        if tick is not None and shown:
            return shown[0] <= tick <= shown[1]
        wanted, own = number(text), self._number(row)
        if wanted is None or own is None:
            return False
        if self.singles and float(np.float32(float(wanted))) == value:
            return True
        return wanted == own or (not isinstance(value, int) and float(wanted) == float(own))

    def _tick(self, row: int) -> int | None:
        if self.ticks is not None:
            return self.ticks[row]
        value = self.held[row]
        found = moment(value.strip()) if isinstance(value, str) else None
        return None if found is None else found[0]

    def _number(self, row: int) -> Fraction | None:
        value = self.held[row]
        if isinstance(value, str):
            read = number(value)
            return None if read is None or abs(read) == BEYOND else Fraction(float(read))
        return Fraction(value) if isinstance(value, int | float | Decimal) and self.ticks is None else None


def _members(cell: str) -> list[str | None] | None:
    members: list[str | None] = []
    place = 1
    while found := _MEMBER.match(cell, place):
        members.append(found[2] or None if found[1] is None else found[1].replace('""', '"'))
        place = found.end()
        if found[3] == "}":
            return members
    return None
