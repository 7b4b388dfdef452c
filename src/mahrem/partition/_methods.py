"""How the settings of a policy reach a method."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mahrem import check
from mahrem.errors import InvalidParameter
from mahrem.partition._entries import METHODS
from mahrem.partition._partition import Partitioner
from mahrem.table import Hierarchy

if TYPE_CHECKING:
    from mahrem.partition._cell_costs import ColumnCosts


def build_method(
    name: str,
    *,
    strict: bool = True,
    seed: int | None = None,
    categorical: tuple[int, ...] = (),
    hierarchies: tuple[Hierarchy | None, ...] = (),
    suppression_limit: float = 0.0,
    cells: tuple[ColumnCosts, ...] = (),
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
        cells: What published cells cost in each column, for methods that lower it.
        options: The method's own settings by name.

    Raises:
        InvalidParameter: If the method does not exist or has no such setting.

    Example:
        >>> build_method("mondrian", strict=False)
        Mondrian(strict=False, cut='median')
    """
    factory = METHODS[check.one_of(METHODS, method=name)].load()
    known = inspect.signature(factory).parameters
    common = {
        "strict": strict,
        "seed": seed,
        "categorical": categorical,
        "hierarchies": hierarchies,
        "suppression_limit": suppression_limit,
        "cells": cells,
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
