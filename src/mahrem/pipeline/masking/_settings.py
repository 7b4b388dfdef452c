"""What may be said to verbs that hide cells, change values or measure a table's risk, each setting once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mahrem import check
from mahrem.errors import InvalidParameter
from mahrem.readers import Reader, column, number, whole
from mahrem.release.decisions import release_settings
from mahrem.settings import Setting, setting, text

READINGS = ("exact", "match")  # what a hidden cell is taken for: a value of its own, or any value
_ROLES = ("quasi", "sensitive", "identifier", "insensitive", "rest", "accept", "region")
SHARED: Mapping[
    str, tuple[str, ...]
] = {  # settings of a release that a verb honours, beside how rows are read
    "suppress": (*_ROLES, "weights", "format"),
    "perturb": (*_ROLES, "format"),
    "generalize": ("hierarchy", "weights", "format"),
    "risk": ("quasi",),
}
_READING = ("null", "delimiter", "encoding", "decimal", "header", "names", "skip_rows", "query", "table")


def masking_settings() -> Mapping[str, Setting]:
    """Give the settings of a release that these verbs take too: roles, reading, what columns are worth."""
    known = release_settings()
    return {name: known[name] for name in (*SHARED["suppress"], *_READING)}


def level_settings() -> Mapping[str, Setting]:
    """Give the settings of a release that private levels take too: hierarchies, worth of columns, reading."""
    known = release_settings()
    return {name: known[name] for name in (*SHARED["generalize"], *_READING)}


def _key_sets(name: str, value: object) -> tuple[tuple[tuple[str, ...], int], ...]:
    """Read columns and their k from ``{"age,sex": 5}`` or from texts ``"age,sex=5"``."""
    if not isinstance(value, Mapping) and (isinstance(value, str) or not isinstance(value, Sequence)):
        raise InvalidParameter(f"{name} must be columns and their k, such as {{'age,sex': 5}}")
    pairs = value.items() if isinstance(value, Mapping) else (_split(str(each)) for each in value)
    read = []
    for columns, count in pairs:
        names = tuple(dict.fromkeys(part.strip() for part in str(columns).split(",") if part.strip()))
        if not names:
            raise InvalidParameter("sets: a key set must name at least one column, such as 'age,sex=5'")
        read.append((names, int(check.at_least(1, sets=check.whole(sets=count)))))
    return tuple(read)


def _split(typed: str) -> tuple[str, int]:
    names, sign, count = typed.rpartition("=")
    if not sign or not count.strip().isdigit():
        raise InvalidParameter(f"sets={typed!r} must be columns and their k, such as 'age,sex=5'")
    return names, int(count)


def _steps(name: str, value: object) -> tuple[tuple[str, str | Mapping[str, object]], ...]:
    """Read columns and what is done to them, in their order."""
    if isinstance(value, Mapping):
        pairs = tuple((str(columns), step) for columns, step in value.items())
    elif isinstance(value, str) or not isinstance(value, Sequence):
        raise InvalidParameter(f"{name} must say what to change, such as {{'income': 'noise'}}")
    else:
        parts = [str(each).partition("=") for each in value]
        if any(not sign for _, sign, _ in parts):
            raise InvalidParameter("steps are COLUMNS=METHOD, such as 'income=noise:share=0.2'")
        pairs = tuple((columns, step) for columns, _, step in parts)
    return pairs


_SETS = Reader(read=_key_sets, takes="Mapping[str, int] | Sequence[str]", repeats=True, by_line=True)
_STEPS = Reader(read=_steps, takes="Mapping[str, Any] | Sequence[str]", repeats=True, by_line=True)


@dataclass(frozen=True, kw_only=True)
class SuppressionSettings:
    """Which combinations must be frequent, and what a hidden cell counts as."""

    k: int | None = setting(read=whole.within(1), group="promises", metavar="N")
    sets: tuple[tuple[tuple[str, ...], int], ...] = setting(
        (), read=_SETS, group="promises", spelling="--set", metavar="A,B=N"
    )
    reading: str = setting("exact", read=text, group="promises", metavar="KIND", choices=lambda: READINGS)


@dataclass(frozen=True, kw_only=True)
class PerturbationSettings:
    """What is done to which columns."""

    steps: tuple[tuple[str, str | Mapping[str, Any]], ...] = setting(
        (), read=_STEPS, group="method", spelling="--step", metavar="COLS=METHOD[:NAME=VALUE,...]"
    )
    seed: int | None = setting(read=whole, group="method", metavar="N", private=True)


@dataclass(frozen=True, kw_only=True)
class GeneralisationSettings:
    """How a budget is split between choosing levels and showing rows, and how many rows are sampled."""

    beta: float | None = setting(read=number.within(0, 1), group="method", metavar="0..1")
    share: float = setting(0.1, read=number.within(0, 1), group="method", metavar="0..1")


@dataclass(frozen=True, kw_only=True)
class RiskSettings:
    """What is known of the population, and how far special uniques are looked for."""

    weight: str | None = setting(read=column, group="population", metavar="COL")
    household: str | None = setting(read=column, group="population", metavar="COL")
    fraction: float | None = setting(read=number.within(0, 1), group="population", metavar="0..1")
    largest: int | None = setting(read=whole, group="population", metavar="N")


MASKING: Mapping[str, type] = {
    "suppress": SuppressionSettings,
    "perturb": PerturbationSettings,
    "generalize": GeneralisationSettings,
    "risk": RiskSettings,
}
