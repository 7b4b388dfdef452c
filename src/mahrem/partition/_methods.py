"""The methods by the names a person says, and how their settings reach them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from mahrem import check
from mahrem.errors import InvalidParameter
from mahrem.partition._bottom_up import BottomUp
from mahrem.partition._canon import by_kinds
from mahrem.partition._datafly import Datafly
from mahrem.partition._evolve import KAnonyMeansStar
from mahrem.partition._flash import Flash
from mahrem.partition._incognito import Incognito
from mahrem.partition._k_anonymeans import KAnonyMeans
from mahrem.partition._keep_frequent import optimised_mondrian
from mahrem.partition._mdav import Mdav, MdavPlus
from mahrem.partition._mingen import MinGen
from mahrem.partition._mondrian import Mondrian
from mahrem.partition._mosaic import Mosaic
from mahrem.partition._ola import Ola
from mahrem.partition._ona import OnaStar
from mahrem.partition._partition import Partitioner
from mahrem.partition._top_down import TopDown
from mahrem.partition._utility_aware import u_canon, u_mondrian
from mahrem.partition._variable_mdav import MdavStar, VariableMdav
from mahrem.table import Hierarchy

__all__ = ["FULL_DOMAIN", "METHODS", "build_method"]

# A factory takes its settings by keyword and gives a partitioner; a new method is one line here.
METHODS: Mapping[str, Callable[..., Partitioner]] = {
    "mondrian": Mondrian,
    "optimised-mondrian": optimised_mondrian,
    "canon": by_kinds,
    "u-mondrian": u_mondrian,
    "u-canon": u_canon,
    "mdav": Mdav,
    "mdav+": MdavPlus,
    "v-mdav": VariableMdav,
    "mdav*": MdavStar,
    "ona*": OnaStar,
    "kanonymeans": KAnonyMeans,
    "kanonymeans*": KAnonyMeansStar,
    "mosaic": Mosaic,
    "datafly": Datafly,
    "bottom-up": BottomUp,
    "top-down": TopDown,
    "incognito": Incognito,
    "ola": Ola,
    "flash": Flash,
    "mingen": MinGen,
}

# Methods that lift whole columns to a level of their hierarchies: every column needs one.
FULL_DOMAIN = frozenset(name for name, factory in METHODS.items() if getattr(factory, "whole_table", False))


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
