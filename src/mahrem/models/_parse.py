"""Privacy models from settings, as options and policy files spell them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from mahrem import check
from mahrem.errors import InvalidParameter, spelled
from mahrem.models._entries import MODELS, ModelEntry, model_families, model_settings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mahrem.models._counts import PrivacyModel

_PAIR: Final = re.compile(r"\s*([A-Za-z_][\w-]*)\s*=\s*([^\s,=:][^,=:]*?)\s*")
_QUOTED: Final = re.compile(r'"((?:[^"]|"")*)"\s*(?:(:)(.*))?')
_WHOLE: Final = re.compile(r"[+-]?\d+")


def models_from_settings(
    settings: Mapping[str, object], *, where: str, k: int | None = None
) -> tuple[PrivacyModel, ...]:
    """Build the models that the settings of one sensitive column ask for.

    Args:
        settings: Any of :func:`model_settings`; None stands for a key that is not there. A kind without the
            figure it qualifies is refused, as is an unknown key: a promise must not be dropped in silence.
        where: What to call the place in an error, such as ``sensitive.disease``.
        k: The k of the release; ``alpha`` needs it.

    Raises:
        InvalidParameter: If a key is unknown, missing its partner, or out of range.

    Example:
        >>> models_from_settings({"l": 3, "t": 0.2, "t_kind": "ordered"}, where="sensitive.cost")
        (DistinctDiversity(l=3), OrderedCloseness(t=0.2))
    """
    check.unknown_keys(settings, tuple(model_settings()), where=where)
    chosen = {key: value for key, value in settings.items() if value is not None}
    models: list[PrivacyModel] = []
    for figure, entries in model_families().items():
        qualifiers = [f"{figure}_kind", *(known.name for entry in entries for known in entry.needs)]
        if figure in chosen:
            models.append(_model(_entry_of_kind(figure, entries, chosen), chosen, where, k))
            continue
        for qualifier in qualifiers:
            if qualifier in chosen:
                raise InvalidParameter(
                    f"{where}: {qualifier}={chosen[qualifier]!r} needs {figure}; say {figure} too"
                )
    return tuple(models)


def models_of_risk(
    figures: Mapping[str, object], *, fraction: float | None, kind: str | None = None
) -> tuple[PrivacyModel, ...]:
    """Build the models about risk that settings of a release ask for.

    Args:
        figures: Those of the release by the name of their settings; None for what was not said.
        fraction: The share of the population that is in the table, where known.
        kind: The estimator of population uniqueness.

    Raises:
        InvalidParameter: If one needs the fraction, or a kind is said without its figure.

    Example:
        >>> models_of_risk({"k_map": 5, "average_risk": None}, fraction=0.1)
        (KMap(k=5, fraction=0.1),)
    """
    models: list[PrivacyModel] = []
    for entry in MODELS.values():
        figure = figures.get(entry.figure.name) if entry.fraction else None
        if figure is None:
            continue
        if entry.fraction == "must" and fraction is None:
            counted = entry.figure.name == "k_map"
            or_everybody = f", or everybody: {spelled('population', 'FILE')}" if counted else ""
            raise InvalidParameter(
                f"{entry.figure.name} needs the share of the population that is in the table: "
                f"{spelled('fraction', 0.1)}{or_everybody}"
            )
        more: list[object] = [fraction] if entry.fraction != "never" and fraction is not None else []
        if entry.name == "population-uniqueness" and kind is not None:
            more.append(kind)
        models.append(model_of_risk(entry.name, figure, *more))
    if kind is not None and figures.get("population_uniqueness") is None:
        raise InvalidParameter(
            f"population_uniqueness_kind={kind!r} needs population_uniqueness; say population_uniqueness too"
        )
    return tuple(models)


def model_of_risk(name: str, figure: object, *more: object) -> PrivacyModel:
    """Build one model about risk of the figures that a setting gives.

    Example:
        >>> model_of_risk("no-attack", (300.0, 4.0)).gain
        300.0
    """
    figures = figure if isinstance(figure, tuple | list) else (figure,)
    return MODELS[name].load()(*figures, *more)


def _entry_of_kind(figure: str, entries: Sequence[ModelEntry], given: Mapping[str, Any]) -> ModelEntry:
    kinds = {entry.kind: entry for entry in entries if entry.kind is not None}
    if not kinds:
        return entries[0]
    name = f"{figure}_kind"
    return kinds[check.one_of(tuple(kinds), **{name: given.get(name, next(iter(kinds)))})]


def _model(entry: ModelEntry, given: Mapping[str, object], where: str, k: int | None) -> PrivacyModel:
    """Build the model of an entry; what only other models with its figure need is refused."""
    figure, kind = entry.figure.name, f"{entry.figure.name}_kind"
    arguments = {entry.keyword or figure: given[figure]}
    for needed in entry.needs:
        if needed.name not in given:
            raise InvalidParameter(
                f"{where}: {kind}={entry.kind!r} needs {needed.name}; say {needed.name} too"
            )
        arguments[needed.name] = given[needed.name]
    for other in model_families()[figure]:
        for needed in other.needs:
            if needed not in entry.needs and needed.name in given:
                raise InvalidParameter(
                    f"{where}: {needed.name}={given[needed.name]!r} needs {kind}={other.kind!r}; "
                    f"say it, or leave {needed.name} out"
                )
    if entry.takes_k:
        if k is None:
            raise InvalidParameter(f"{where}: {figure}={given[figure]!r} needs k; say k too")
        arguments["k"] = k
    return entry.load()(**arguments)


def parse_sensitive(text: str) -> tuple[str, dict[str, int | float | str]]:
    """Read ``column`` or ``column:key=value,key=value``.

    Names may hold colons: only what follows the last one is read as settings, and only if it holds an ``=``.
    A name in double quotes ends where they do.

    Raises:
        InvalidParameter: If the settings are not pairs, or one is said twice.

    Example:
        >>> parse_sensitive("disease:l=3,t=0.2")
        ('disease', {'l': 3, 't': 0.2})
        >>> parse_sensitive("icd:main")
        ('icd:main', {})
        >>> parse_sensitive('"income, net":l=3')
        ('income, net', {'l': 3})
    """
    quoted = _QUOTED.fullmatch(text)
    if quoted is not None:
        column, colon, tail = quoted[1].replace('""', '"'), quoted[2] or "", quoted[3] or ""
    else:
        column, colon, tail = text.rpartition(":")
    if not colon or "=" not in tail:
        return text if quoted is None else column, {}
    settings: dict[str, int | float | str] = {}
    for part in tail.split(","):
        pair = _PAIR.fullmatch(part)
        if pair is None or not column:
            raise InvalidParameter(
                f"sensitive={text!r} must read column:key=value,key=value, as in disease:l=3,t=0.2"
            )
        key = pair[1].replace("-", "_")
        if key in settings:
            raise InvalidParameter(f"sensitive={text!r} must say {key} once")
        settings[key] = _number(pair[2])
    return column, settings


def _number(text: str) -> int | float | str:
    """Read a number where there is one."""
    if _WHOLE.fullmatch(text):
        return int(text)
    try:
        return float(text)
    except ValueError:
        return text
