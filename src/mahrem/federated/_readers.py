"""Readers of settings: what a file, a command line or a caller says, refused by name if it cannot be."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mahrem import check
from mahrem.errors import InvalidParameter
from mahrem.settings import read_settings, settings_of

Read = Callable[[str, Any], Any]


def from_whole(least: int, most: int | None = None) -> Read:
    """Read whole numbers from ``least`` on, to ``most``."""

    def read(name: str, value: object) -> int:
        number = check.whole(**{name: value})
        return int(_within(least, most, name, number))

    return read


def from_number(least: float, most: float | None = None) -> Read:
    """Read numbers from ``least`` on, to ``most``."""

    def read(name: str, value: object) -> float:
        return _within(least, most, name, check.finite(**{name: value}))

    return read


def _within(least: float, most: float | None, name: str, number: float) -> float:
    named = {name: number}
    return check.at_least(least, **named) if most is None else check.between(least, most, **named)


def above_zero(name: str, value: object) -> float:
    """Read a number above 0."""
    return check.above_zero(**{name: value})


def share(name: str, value: object) -> float:
    """Read a share of something: above 0 and at most 1."""
    return _refused(name, value, "be above 0 and at most 1", 1)


def open_share(name: str, value: object) -> float:
    """Read a number between 0 and 1, both outside."""
    return _refused(name, value, "lie between 0 and 1, both outside", math.nextafter(1, 0))


def _refused(name: str, value: object, must: str, most: float) -> float:
    number = check.finite(**{name: value})
    if not 0 < number <= most:
        raise InvalidParameter(f"{name}={value!r} must {must}")
    return number


def path(_: str, value: str | Path) -> Path:
    """Read the name of a file."""
    return Path(value)


def refuse_settings(spec: object) -> None:
    """Refuse a spec one of whose settings cannot be.

    Raises:
        InvalidParameter: The first of them, by name.
    """
    kind: type = type(spec)
    known = settings_of(kind)
    read_settings(known, {name: getattr(spec, name) for name in known})
