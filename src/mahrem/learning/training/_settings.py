"""Everything a person says about a private training, each setting said once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mahrem import check
from mahrem.errors import InvalidParameter
from mahrem.learning.private import NOISES, OPTIMISERS
from mahrem.learning.training._entries import GRADIENTS, model_names, noise_places
from mahrem.readers import Reader, wrong_type
from mahrem.settings import number, read_settings, setting, settings_of, switch, text, whole
from mahrem.typed import listed, names, pairs, sizes, value


def _column(name: str, value: object) -> str:
    return check.column_name(**{name: value})


def _columns(name: str, value: object) -> tuple[str, ...]:
    return check.column_names(**{name: value})


def _sizes(name: str, value: object) -> tuple[int, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise wrong_type(name, value, "a list of whole numbers")
    return tuple(int(check.at_least(1, **{name: check.whole(**{name: size})})) for size in value)


SEARCHED = ("learning_rate", "clip", "optimiser", "hidden", "average", "copies", "shift", "rounds")


def _search(name: str, value: object) -> dict[str, tuple[Any, ...]]:
    """Read which settings are tried, each value as the setting itself reads it."""
    if not isinstance(value, Mapping):
        raise wrong_type(name, value, "settings and the values to try")
    check.unknown_keys(value, SEARCHED, where=name)
    if not value or not all(isinstance(tried, Sequence) and tried for tried in value.values()):
        raise InvalidParameter(f"{name} must name settings and values to try, such as learning_rate=0.1,0.3")
    known = settings_of(TrainingSettings)
    return {
        own: tuple(read_settings(known, {own: one})[own] for one in tried) for own, tried in value.items()
    }


def _typed_search(name: str, texts: Iterable[str]) -> dict[str, list[Any]]:
    search: dict[str, list[Any]] = {}
    for own, tried in pairs(name, texts, "NAME=A,B").items():
        search[own] = [sizes(own, part) if own == "hidden" else value(part) for part in listed([tried])]
    return search


def _table(_: str, value: object) -> object:
    return value


def _path(_: str, value: str | Path) -> Path:
    return Path(value)


_AMOUNT: dict[str, Any] = {"read": number, "group": "model", "metavar": "X"}
_COUNT: dict[str, Any] = {**_AMOUNT, "metavar": "N"}
_WORD: dict[str, Any] = {"read": text, "group": "model", "metavar": "NAME"}
_SIZES: dict[str, Any] = {
    "read": _sizes,
    "takes": "Sequence[int] | None",
    "typed": sizes,
    "group": "model",
}
_SWITCH: dict[str, Any] = {"read": switch, "group": "model"}


@dataclass(frozen=True, kw_only=True)
class TrainingSettings:
    """How to learn from a table with differential privacy; None leaves a setting to the model.

    ``epsilon`` is what the training may cost, and no setting: who trains must name it.
    """

    epsilon: float
    delta: float | None = setting(**_AMOUNT)
    target: str | None = setting(read=_column, takes="Hashable | None", group="model", metavar="COL")
    model: str = setting("dnn", **_WORD, choices=model_names)
    how: str = setting(GRADIENTS, **_WORD, choices=noise_places)
    features: tuple[str, ...] | None = setting(
        read=_columns,
        takes="Sequence[Hashable] | None",
        typed=names,
        repeats=True,
        group="model",
        metavar="A,B",
    )
    batch: float | None = setting(**_COUNT)
    epochs: float | None = setting(**_COUNT)
    clip: float | None = setting(**_AMOUNT)
    noise: str | None = setting(**_WORD | {"metavar": "KIND"}, choices=lambda: NOISES)
    learning_rate: float | None = setting(**_AMOUNT)
    optimiser: str | None = setting(**_WORD, choices=lambda: OPTIMISERS)
    hidden: tuple[int, ...] | None = setting(**_SIZES, metavar="64,32")
    rounds: int | None = setting(read=whole, group="model", metavar="N")
    average: float | None = setting(**_AMOUNT | {"metavar": "0..1"})
    copies: int | None = setting(read=whole, group="model", metavar="N")
    shift: int | None = setting(read=whole, group="model", metavar="PIXELS")
    warm_start: object = setting(
        read=_table, takes="object", group="model", metavar="FILE", private=True, on_page=False
    )
    search: Mapping[str, tuple[Any, ...]] | None = setting(
        read=Reader(read=_search, takes="Mapping[str, Sequence[Any]]", by_line=True),
        typed=_typed_search,
        repeats=True,
        group="model",
        metavar="NAME=A,B",
    )
    repeats: float | None = setting(**_COUNT)
    shape: tuple[int, ...] | None = setting(**_SIZES, metavar="1,28,28")
    device: str | None = setting(**_WORD, on_page=False)
    checkpoint: Path | None = setting(
        read=_path, takes="str | Path | None", group="model", metavar="FILE", private=True, on_page=False
    )
    poisson: bool = setting(True, **_SWITCH, spelling="--poisson/--no-poisson")
    accept_no_amplification: bool = setting(False, **_SWITCH)
    holdout: float = setting(0.0, **_AMOUNT | {"group": "measuring", "metavar": "0..1"})
    evaluate_epsilon: float | None = setting(**_AMOUNT | {"group": "measuring"})
    evaluate_openly: bool = setting(False, **_SWITCH | {"group": "measuring", "on_page": False})
    audit: bool = setting(False, **_SWITCH | {"group": "measuring"})
    canaries: int | None = setting(read=whole, group="measuring", metavar="N")
