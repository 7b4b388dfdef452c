"""Checks on parameters, one sentence each: ``name=value``, what must hold, a hint."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, TypeVar

from mahrem.errors import ColumnNotFound, InvalidParameter, MissingExtra, shorten

Choice = TypeVar("Choice", bound=str)


def whole(**named: object) -> int:
    """Give back the one named value if it is a whole number."""
    ((name, value),) = named.items()
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidParameter(f"{name}={value!r} must be a whole number")
    return value


def whole_at_least(low: int, **named: object) -> None:
    """Refuse the one named value unless it is a whole number not below ``low``."""
    ((name, value),) = named.items()
    at_least(low, **{name: whole(**{name: value})})


def at_least(low: float, /, **named: float) -> float:
    """Give back the one named value if it is a number not below ``low``."""
    ((name, value),) = named.items()
    number = finite(**{name: value})
    if number < low:
        raise InvalidParameter(f"{name}={value!r} must be at least {low}")
    return value


def above_zero(**named: object) -> float:
    """Give back the one named value if it is a finite number above zero."""
    ((name, value),) = named.items()
    number = finite(**{name: value})
    if number <= 0:
        raise InvalidParameter(f"{name}={value!r} must be above 0")
    return number


MOST_EPSILON = 1e6  # above it nobody is hidden, and the sums of accounting end
LEAST_EPSILON = 1e-9  # below it noise is so wide that floats end, and nothing is left to be seen


def promised(**named: object) -> float:
    """Give back the one named epsilon if noise can be drawn for it."""
    ((name, value),) = named.items()
    number = above_zero(**named)
    if number < LEAST_EPSILON:
        raise InvalidParameter(
            f"{name}={value!r} must be at least {LEAST_EPSILON:g}: anything less gives nothing but noise"
        )
    if number > MOST_EPSILON:
        raise InvalidParameter(f"{name}={value!r} must be at most {MOST_EPSILON:g}: more hides nobody")
    return number


def between(low: float, high: float, /, **named: float) -> float:
    """Give back the one named value if it lies in ``[low, high]``."""
    ((name, value),) = named.items()
    number = finite(**{name: value})
    if not low <= number <= high:
        raise InvalidParameter(f"{name}={value!r} must lie between {low} and {high}")
    return value


def finite(**named: object) -> float:
    """Give back the one named value if it is a finite number."""
    ((name, value),) = named.items()
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InvalidParameter(f"{name}={value!r} must be a finite number")
    return float(value)


def one_of(choices: Iterable[Choice], **named: str) -> Choice:
    """Give back the one named value if it is among ``choices``."""
    ((name, value),) = named.items()
    for choice in choices:
        if value == choice:
            return choice
    raise InvalidParameter(f"{name}={value!r} must be one of {', '.join(choices)}")


def column_name(**named: object) -> str:
    """Give a column's name as text, as sources do: a frame may call its columns 0, 1, 2."""
    ((key, value),) = named.items()
    if isinstance(value, str):
        return str(value)
    if not _is_label(value):
        raise InvalidParameter(f"{key} must be a name, not {type(value).__name__}")
    return str(value)


def column_names(**named: object) -> tuple[str, ...]:
    """Give one name or a list of names as text, none of them twice."""
    ((key, value),) = named.items()
    values = value.tolist() if hasattr(value, "tolist") else value  # what numpy and pandas list names in
    listed = values if isinstance(values, Sequence) and not isinstance(values, str | bytes) else (values,)
    if not all(_is_label(one) for one in listed):
        raise InvalidParameter(f"{key} must be a name or a list of names, not {type(value).__name__}")
    return tuple(dict.fromkeys(str(one) for one in listed))


def by_column(given: Mapping[Any, object], *, where: str) -> dict[str, Any]:
    """Give a mapping with its names as text; two that are then the same are refused."""
    by_name: dict[str, object] = {}
    for label, value in given.items():
        name = column_name(**{where: label})
        if name in by_name:
            raise InvalidParameter(
                f"{where} names column={name!r} twice, as text and not as text; leave one out"
            )
        by_name[name] = value
    return by_name


def _is_label(value: object) -> bool:
    return isinstance(value, Hashable) and not (
        value is None or isinstance(value, bytes | type | AbstractSet)
    )


def columns_exist(names: Iterable[str], columns: Sequence[str]) -> None:
    """Refuse a name that the table does not have."""
    known = set(columns)
    for name in names:
        if name not in known:
            raise ColumnNotFound(name, columns)


def extra(name: str, *, needed_for: str) -> MissingExtra:
    """Make the error for an optional part that is not installed."""
    return MissingExtra(
        f"extra={name!r} is needed for {needed_for}; get it with: pip install 'mahrem[{name}]'"
    )


def unknown_keys(given: Iterable[str], known: Sequence[str], *, where: str) -> None:
    """Refuse keys nobody reads: a misspelt promise must not be dropped in silence."""
    strange = [key for key in given if key not in known]
    if strange:
        raise InvalidParameter(f"{where}={strange[0]!r} is not known; the keys are {shorten(known, 40)}")


def under_one_name(given: Mapping[str, object], word: str, name: str) -> dict[str, Any]:
    """Give what was said, with ``word`` as another word for ``name``; both at once are refused."""
    if word in given and name in given:
        raise InvalidParameter(f"{name} and {word} were both given; they mean the same")
    return {name if key == word else key: value for key, value in given.items()}
