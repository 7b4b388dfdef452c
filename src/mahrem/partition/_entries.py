"""The methods: names, where each lives, what is known before it runs. A new method is one entry here."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast

from mahrem import check
from mahrem.entries import Entries, Entry
from mahrem.errors import InvalidParameter

if TYPE_CHECKING:
    from mahrem.partition._partition import Partitioner
    from mahrem.partition.judging import ColumnCosts
    from mahrem.table import Hierarchy

LARGE = 200_000  # rows up to which mosaic repairs classes under their promises, cell by cell


@dataclass(frozen=True, kw_only=True)
class Method(Entry):
    """A way to sort rows into classes.

    ``rows_a_second`` was measured at k=5 with default settings: on 1,000,000 x 5 uniform points for
    ``n log n``, on 10,000 rows of Adult for ``n²``, where seconds grow with the square of the rows. Two cores
    that others used as well: an order of magnitude to plan with, not a benchmark.
    """

    growth: Literal["n log n", "n²", "lattice"]  # lattice: by its nodes more than by the rows
    rows_a_second: float
    thorough: int = 0  # rows up to which it does more than it could with larger tables
    thorough_rows_a_second: float = 1.0  # on Adult, with a promise about values
    hides: bool = False  # a class shows a value if it shares it, else nothing: cells have no width
    full_domain: bool = False  # lifts whole columns to a level of their hierarchies: every column needs one
    on_spark: bool = False  # also on a cluster, without the whole table in one place
    usual: bool = False  # what a page offers first

    def load(self) -> Callable[..., Partitioner]:
        """Import the factory: it takes its settings by keyword and gives a partitioner."""
        return cast("Callable[..., Partitioner]", super().load())

    def takes(self, option: str) -> bool:
        """Say whether it has such an option."""
        return option in inspect.signature(self.load()).parameters

    def seconds(self, rows: int) -> float:
        """Give about how long a table of so many rows takes."""
        alone = rows / (self.thorough_rows_a_second if rows <= self.thorough else self.rows_a_second)
        return alone * rows / 10_000 if self.growth == "n²" else alone


def _cuts(
    name: str, home: str, rows_a_second: float, *, on_spark: bool = True, usual: bool = False
) -> Method:
    return Method(
        name=name,
        home=f"mahrem.partition.cutting.{home}",
        growth="n log n",
        rows_a_second=rows_a_second,
        on_spark=on_spark,
        usual=usual,
    )


def _clusters(name: str, home: str, rows_a_second: float) -> Method:
    return Method(
        name=name, home=f"mahrem.partition.clustering.{home}", growth="n²", rows_a_second=rows_a_second
    )


def _lifts(name: str, home: str, rows_a_second: float) -> Method:
    home = f"mahrem.partition.lattice.{home}"
    return Method(name=name, home=home, growth="lattice", rows_a_second=rows_a_second, full_domain=True)


# Written by scripts/keywords.py: the names below, for type checkers.
MethodName = Literal[
    "mondrian",
    "optimised-mondrian",
    "canon",
    "u-mondrian",
    "u-canon",
    "mosaic",
    "local-suppression",
    "mdav",
    "mdav+",
    "v-mdav",
    "mdav*",
    "ona*",
    "kanonymeans",
    "kanonymeans*",
    "datafly",
    "bottom-up",
    "top-down",
    "incognito",
    "ola",
    "flash",
    "mingen",
    "auto",
]
METHODS: Entries[Method] = Entries(
    "mahrem.methods",
    Method,
    (
        _cuts("mondrian", "_mondrian:Mondrian", 3.3e6, usual=True),
        _cuts("optimised-mondrian", "_keep_frequent:optimised_mondrian", 4.0e5, on_spark=False, usual=True),
        _cuts("canon", "_canon:by_kinds", 2.4e6, usual=True),
        _cuts("u-mondrian", "_utility_aware:u_mondrian", 1.6e6),
        _cuts("u-canon", "_utility_aware:u_canon", 9.5e5),
        Method(
            name="mosaic",
            home="mahrem.partition.mosaic._mosaic:Mosaic",
            growth="n log n",
            rows_a_second=4.9e5,
            thorough=LARGE,
            thorough_rows_a_second=5e3,
            on_spark=True,
            usual=True,
        ),
        Method(
            name="local-suppression",
            home="mahrem.partition.hiding._local_suppression:LocalSuppression",
            growth="n log n",
            rows_a_second=1e6,
            hides=True,
        ),
        _clusters("mdav", "_mdav:Mdav", 1.7e5),
        _clusters("mdav+", "_mdav:MdavPlus", 1.9e5),
        _clusters("v-mdav", "_variable_mdav:VariableMdav", 7.6e4),
        _clusters("mdav*", "_variable_mdav:MdavStar", 1.5e5),
        _clusters("ona*", "_ona:OnaStar", 3.3e3),
        _clusters("kanonymeans", "_k_anonymeans:KAnonyMeans", 8.5e3),
        _clusters("kanonymeans*", "_evolve:KAnonyMeansStar", 90.0),  # from 4 evaluations; 30 are the default
        _lifts("datafly", "_datafly:Datafly", 1e6),
        _lifts("bottom-up", "_bottom_up:BottomUp", 1e6),
        _lifts("top-down", "_top_down:TopDown", 1e6),
        _lifts("incognito", "_incognito:Incognito", 1e5),
        _lifts("ola", "_ola:Ola", 1e5),
        _lifts("flash", "_flash:Flash", 1e5),
        _lifts("mingen", "_mingen:MinGen", 1e5),
    ),
)


def build_method(
    name: str,
    *,
    strict: bool = True,
    seed: int | None = None,
    categorical: tuple[int, ...] = (),
    hierarchies: tuple[Hierarchy | None, ...] = (),
    suppression_limit: float = 0.0,
    cells: tuple[ColumnCosts, ...] = (),
    options: Mapping[str, object] | None = None,
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
