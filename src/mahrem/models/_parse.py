"""Privacy models from settings, as options and policy files spell them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from mahrem import check
from mahrem.errors import InvalidParameter
from mahrem.models._alpha_k import AlphaK
from mahrem.models._beta_likeness import BasicLikeness, EnhancedLikeness
from mahrem.models._delta_disclosure import DeltaDisclosure
from mahrem.models._l_diversity import DistinctDiversity, EntropyDiversity, RecursiveDiversity
from mahrem.models._t_closeness import EqualCloseness, HierarchicalCloseness, KLCloseness, OrderedCloseness

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mahrem.models._counts import PrivacyModel

__all__ = ["BETA_KINDS", "L_KINDS", "SETTINGS", "T_KINDS", "models_from_settings", "parse_sensitive"]

L_KINDS: Final = ("distinct", "entropy", "recursive")
T_KINDS: Final = ("equal", "ordered", "hierarchical", "kl")
BETA_KINDS: Final = ("basic", "enhanced")
SETTINGS: Final = ("l", "l_kind", "c", "t", "t_kind", "alpha", "beta", "beta_kind", "delta_disclosure")

_CLOSENESS: Final[dict[str, Callable[[Any], PrivacyModel]]] = {
    "equal": EqualCloseness,
    "ordered": OrderedCloseness,
    "hierarchical": HierarchicalCloseness,
    "kl": KLCloseness,
}
_LIKENESS: Final[dict[str, Callable[[Any], PrivacyModel]]] = {
    "basic": BasicLikeness,
    "enhanced": EnhancedLikeness,
}
_PAIR: Final = re.compile(r"\s*([A-Za-z_][\w-]*)\s*=\s*([^\s,=:][^,=:]*?)\s*")
_WHOLE: Final = re.compile(r"[+-]?\d+")


def models_from_settings(
    settings: Mapping[str, Any], *, where: str, k: int | None = None
) -> tuple[PrivacyModel, ...]:
    """Build the models that the settings of one sensitive column ask for.

    Args:
        settings: Any of ``SETTINGS``; None stands for a key that is not there. A kind without the figure it
            qualifies is refused, as is an unknown key: a promise must not be dropped in silence.
        where: What to call the place in an error, such as ``sensitive.disease``.
        k: The k of the release; ``alpha`` needs it.

    Raises:
        InvalidParameter: If a key is unknown, missing its partner, or out of range.

    Example:
        >>> models_from_settings({"l": 3, "t": 0.2, "t_kind": "ordered"}, where="sensitive.cost")
        (DistinctDiversity(l=3), OrderedCloseness(t=0.2))
    """
    check.unknown_keys(settings, SETTINGS, where=where)
    given = {key: value for key, value in settings.items() if value is not None}
    for qualifier, figure in (("l_kind", "l"), ("c", "l"), ("t_kind", "t"), ("beta_kind", "beta")):
        if qualifier in given and figure not in given:
            raise InvalidParameter(
                f"{where}: {qualifier}={given[qualifier]!r} needs {figure}; say {figure} too"
            )
    models: list[PrivacyModel] = []
    if "l" in given:
        models.append(_diversity(given, where))
    if "t" in given:
        models.append(_CLOSENESS[check.one_of(T_KINDS, t_kind=given.get("t_kind", "equal"))](given["t"]))
    if "alpha" in given:
        if k is None:
            raise InvalidParameter(f"{where}: alpha={given['alpha']!r} needs k; say k too")
        models.append(AlphaK(alpha=given["alpha"], k=k))
    if "beta" in given:
        models.append(
            _LIKENESS[check.one_of(BETA_KINDS, beta_kind=given.get("beta_kind", "basic"))](given["beta"])
        )
    if "delta_disclosure" in given:
        models.append(DeltaDisclosure(given["delta_disclosure"]))
    return tuple(models)


def parse_sensitive(text: str) -> tuple[str, dict[str, int | float | str]]:
    """Read ``column`` or ``column:key=value,key=value``.

    Names may hold colons: only what follows the last one is read as settings, and only if it holds an ``=``.

    Raises:
        InvalidParameter: If the settings are not pairs, or one is said twice.

    Example:
        >>> parse_sensitive("disease:l=3,t=0.2")
        ('disease', {'l': 3, 't': 0.2})
        >>> parse_sensitive("icd:main")
        ('icd:main', {})
    """
    column, colon, tail = text.rpartition(":")
    if not colon or "=" not in tail:
        return text, {}
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


def _diversity(given: Mapping[str, Any], where: str) -> PrivacyModel:
    """Build the l-diversity that is asked for."""
    kind = check.one_of(L_KINDS, l_kind=given.get("l_kind", "distinct"))
    if kind == "recursive":
        if "c" not in given:
            raise InvalidParameter(f"{where}: l_kind='recursive' needs c; say c too, such as c=3")
        return RecursiveDiversity(c=given["c"], l=given["l"])
    if "c" in given:
        raise InvalidParameter(f"{where}: c={given['c']!r} needs l_kind='recursive'; say it, or leave c out")
    return DistinctDiversity(given["l"]) if kind == "distinct" else EntropyDiversity(given["l"])


def _number(text: str) -> int | float | str:
    """Read a number where there is one."""
    if _WHOLE.fullmatch(text):
        return int(text)
    try:
        return float(text)
    except ValueError:
        return text
