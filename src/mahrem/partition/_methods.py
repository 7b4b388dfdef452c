"""The methods by the names a person says, and how their settings reach them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any

from mahrem import check
from mahrem.errors import InvalidParameter
from mahrem.partition._partition import Partitioner
from mahrem.table import Hierarchy

__all__ = ["FULL_DOMAIN", "METHODS", "build_method"]


class _Factories(Mapping[str, Callable[..., Partitioner]]):
    """Factories by name, each loaded when it is asked for: listing the methods loads none."""

    def __init__(self, homes: Mapping[str, str]) -> None:
        self._homes = homes

    def __getitem__(self, name: str) -> Callable[..., Partitioner]:
        home, _, factory = self._homes[name].partition(":")
        found: Callable[..., Partitioner] = getattr(import_module(f"mahrem.partition.{home}"), factory)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._homes)

    def __len__(self) -> int:
        return len(self._homes)


# A factory takes its settings by keyword and gives a partitioner; a new method is one line here.
METHODS: Mapping[str, Callable[..., Partitioner]] = _Factories(
    {
        "mondrian": "_mondrian:Mondrian",
        "optimised-mondrian": "_keep_frequent:optimised_mondrian",
        "canon": "_canon:by_kinds",
        "u-mondrian": "_utility_aware:u_mondrian",
        "u-canon": "_utility_aware:u_canon",
        "mdav": "_mdav:Mdav",
        "mdav+": "_mdav:MdavPlus",
        "v-mdav": "_variable_mdav:VariableMdav",
        "mdav*": "_variable_mdav:MdavStar",
        "ona*": "_ona:OnaStar",
        "kanonymeans": "_k_anonymeans:KAnonyMeans",
        "kanonymeans*": "_evolve:KAnonyMeansStar",
        "mosaic": "_mosaic:Mosaic",
        "datafly": "_datafly:Datafly",
        "bottom-up": "_bottom_up:BottomUp",
        "top-down": "_top_down:TopDown",
        "incognito": "_incognito:Incognito",
        "ola": "_ola:Ola",
        "flash": "_flash:Flash",
        "mingen": "_mingen:MinGen",
    }
)

# Methods that lift whole columns to a level of their hierarchies: every column needs one.
FULL_DOMAIN = frozenset({"datafly", "bottom-up", "top-down", "incognito", "ola", "flash", "mingen"})


def build_method(
    name: str,
    *,
    strict: bool = True,
    seed: int | None = None,
    categorical: tuple[int, ...] = (),
    hierarchies: tuple[Hierarchy | None, ...] = (),
    suppression_limit: float = 0.0,
    options: Mapping[str, Any] | None = None,
) -> Partitioner:
    """Make a method from what a policy says.

    Args:
        name: One of :data:`METHODS`.
        strict: Keep equal values together, for methods that cut.
        seed: For methods that draw.
        categorical: Columns of the points that are categories without an order, for methods with distances.
        hierarchies: One for each column of the points or None, for methods that know trees.
        suppression_limit: Share of the rows that may be suppressed, for methods that do so.
        options: The method's own settings by name.

    Raises:
        InvalidParameter: If the method does not exist or has no such setting.

    Example:
        >>> build_method("mondrian", strict=False)
        Mondrian(strict=False, cut='median')
    """
    factory = METHODS[check.one_of(tuple(METHODS), method=name)]
    known = inspect.signature(factory).parameters
    common = {
        "strict": strict,
        "seed": seed,
        "categorical": categorical,
        "hierarchies": hierarchies,
        "suppression_limit": suppression_limit,
    }
    settings = {key: value for key, value in common.items() if key in known}
    own = dict(options or {})
    check.unknown_keys(own, tuple(key for key in known if key not in common), where=f"option of {name}")
    for key, value in own.items():
        if known[key].annotation in {bool, "bool"} and not isinstance(value, bool):
            raise InvalidParameter(f"option {key}={value!r} of {name} must be true or false")
    try:
        return factory(**settings, **own)
    except TypeError as error:
        raise InvalidParameter(f"options of {name}: {error}") from error
