"""What people type after an option or into a field of a form, read."""

from __future__ import annotations

import re
from collections.abc import Iterable

from mahrem.errors import InvalidParameter

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "ki": 2**10, "mi": 2**20, "gi": 2**30}


_PART = re.compile(r'\s*(?:"((?:[^"]|"")*)"\s*(?=,|$)|([^,]*))(?:,|$)')
_QUOTED = re.compile(r'"((?:[^"]|"")*)"(.*)', re.DOTALL)


def listed(texts: Iterable[str] | None) -> list[str]:
    """Read ``a,b`` and repeated options alike; in double quotes a part may hold commas and outer blanks.

    Example:
        >>> listed(['age, "income, net"', "zip"])
        ['age', 'income, net', 'zip']
    """
    parts = [match for text in texts or () for match in _PART.finditer(text)]
    read = [part[2].strip() if part[1] is None else part[1].replace('""', '"') for part in parts]
    return [part for part in read if part]


def names(_: str, texts: Iterable[str]) -> list[str]:
    """Read names of columns."""
    return listed(texts)


def pair(option: str, text: str, form: str = "NAME=VALUE") -> tuple[str, str]:
    """Read ``NAME=VALUE``; ``form`` says how it must read, if it does not. A name may stand in quotes."""
    match = _QUOTED.fullmatch(text)
    if match is not None and match[2].lstrip().startswith("="):
        name, mark, given = match[1].replace('""', '"'), "=", match[2].lstrip()[1:]
    else:
        name, mark, given = text.partition("=")
    if not mark or not name or not given:
        raise InvalidParameter(f"{option}={text!r} must read {form}")
    return name, given


def pairs(option: str, texts: Iterable[str] | None, form: str = "NAME=VALUE") -> dict[str, str]:
    """Read an option that is repeated with ``NAME=VALUE``."""
    return dict(pair(option, text, form) for text in texts or ())


def number(option: str, text: str) -> float:
    """Read a number."""
    try:
        return float(text)
    except ValueError:
        raise InvalidParameter(f"{option}={text!r} must be a number") from None


def sizes(option: str, text: str) -> list[int]:
    """Read whole numbers: ``64,32`` or ``28x28``."""
    try:
        return [int(part) for part in text.replace("x", ",").split(",")]
    except ValueError:
        raise InvalidParameter(f"{option}={text!r} must be whole numbers, separated by commas") from None


def value(text: str) -> float | str:
    """Read true or false, a whole number, a number, or leave the text as it is."""
    if text.lower() in {"true", "false"}:
        return text.lower() == "true"
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text


def numbers(option: str, texts: Iterable[str]) -> dict[str, float]:
    """Read an option that is repeated with ``NAME=NUMBER``."""
    return {name: number(option, text) for name, text in pairs(option, texts).items()}


def values(option: str, texts: Iterable[str]) -> dict[str, float | str]:
    """Read an option that is repeated with ``NAME=VALUE``, each value as what it looks like."""
    return {name: value(text) for name, text in pairs(option, texts).items()}


def size(name: str, text: str) -> int:
    """Read a size such as 512MB or 4GiB as bytes."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmg]i?)?b?", text.strip().lower())
    if match is None:
        raise InvalidParameter(f"{name}={text!r} must be a size such as 512MB or 4GB")
    return int(float(match[1]) * _UNITS[match[2] or ""])
