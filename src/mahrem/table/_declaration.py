"""What is declared about a column without looking at it: bounds, values, what an empty cell counts as.

One declaration serves everybody who may not look at rows: a privacy ledger keeps it as a public fact,
encoders and synthesisers derive their shapes from it, and the columns a federation agrees on are held to its
rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from mahrem import check
from mahrem.errors import InvalidParameter
from mahrem.typed import number, pairs

MOST_CATEGORIES = 10_000
LARGEST = 1e50  # far from where products of floats overflow


@dataclass(frozen=True, kw_only=True)
class ColumnDeclaration:
    """What is publicly known of one column.

    Args:
        lower: Values below count as this; infinities too. With ``upper``, or neither.
        upper: Values above count as this.
        missing: What an empty cell, a NaN or a text that is no number counts as. None leaves such rows out of
            every figure about this column.
        categories: The values there may be, in their order; rows with another value are in no group.
        origin: ``declared`` by somebody, or ``found`` privately and paid for.

    Guarantees:
        - ``ColumnDeclaration.from_dict(declaration.as_dict()) == declaration``.

    Example:
        >>> ColumnDeclaration(lower=0, upper=120, missing=40).kind
        'number'
    """

    lower: float | None = None
    upper: float | None = None
    missing: float | None = None
    categories: tuple[str, ...] | None = None
    origin: str = "declared"

    def __post_init__(self) -> None:
        if (self.lower is None) != (self.upper is None):
            raise InvalidParameter("bounds need both ends: lower and upper")
        if self.lower is not None and self.upper is not None:
            low, high = check.finite(lower=self.lower), check.finite(upper=self.upper)
            if not low < high:
                raise InvalidParameter(f"lower={low:g} must be below upper={high:g}")
            if max(abs(low), abs(high)) > LARGEST or high - low < 1 / LARGEST:
                raise InvalidParameter(f"bounds {low:g}:{high:g} must lie within {LARGEST:g} and apart")
            object.__setattr__(self, "lower", float(low))
            object.__setattr__(self, "upper", float(high))
        if self.missing is not None:
            if self.lower is None or self.upper is None:
                raise InvalidParameter(f"missing={self.missing!r} needs bounds")
            check.between(self.lower, self.upper, missing=self.missing)
            object.__setattr__(self, "missing", float(self.missing))
        if self.categories is not None:
            object.__setattr__(self, "categories", _categories(self.categories))

    @property
    def bounded(self) -> bool:
        """Whether numbers of this column have public bounds."""
        return self.lower is not None

    @property
    def kind(self) -> Literal["category", "number"] | None:
        """How its cells are read: as one of the declared values, by the bounds, or not at all."""
        if self.categories is not None:
            return "category"
        return "number" if self.bounded else None

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain data."""
        return {
            "lower": self.lower,
            "upper": self.upper,
            "missing": self.missing,
            "categories": None if self.categories is None else list(self.categories),
            "origin": self.origin,
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> ColumnDeclaration:
        """Read what :meth:`as_dict` gave."""
        return cls(**plain)


def _categories(values: Sequence[object]) -> tuple[str, ...]:
    if isinstance(values, str):
        raise InvalidParameter(f"categories={values!r} must be a list of values")
    names = tuple(str(value) for value in values)
    if not names or len(set(names)) != len(names) or "" in names or any("\0" in name for name in names):
        raise InvalidParameter("categories must be different, not empty, without NUL, and at least one")
    if len(names) > MOST_CATEGORIES:
        raise InvalidParameter(f"categories: {len(names)} were given; {MOST_CATEGORIES} is the most")
    return names


def read_declarations(
    columns: Mapping[Any, ColumnDeclaration | Mapping[str, object]],
) -> dict[str, ColumnDeclaration]:
    """Read declarations as a caller, a body of JSON or a TOML file says them; refusals name the column.

    Example:
        >>> read_declarations({"cost": {"lower": 0, "upper": 9000}})["cost"].upper
        9000.0
    """
    return {name: _read(name, given) for name, given in check.by_column(columns, where="columns").items()}


def _read(column: str, given: ColumnDeclaration | Mapping[str, Any]) -> ColumnDeclaration:
    if isinstance(given, ColumnDeclaration):
        return given
    check.unknown_keys(given, ("lower", "upper", "missing", "categories"), where=f"columns.{column}")
    try:
        return ColumnDeclaration(**given)
    except InvalidParameter as error:
        raise InvalidParameter(f"column={column!r}: {error}") from None


def typed_declarations(
    bounds: Iterable[str] = (), missing: Iterable[str] = (), categories: Iterable[str] = ()
) -> dict[str, dict[str, Any]]:
    """Turn texts of a command line into what :func:`read_declarations` takes.

    Example:
        >>> typed_declarations(bounds=["cost=0:100"], categories=["sex=f,m"])
        {'cost': {'lower': 0.0, 'upper': 100.0}, 'sex': {'categories': ['f', 'm']}}
    """
    columns: dict[str, dict[str, object]] = {}
    for column, text in pairs("bounds", bounds, "like cost=0:10000").items():
        low, mark, high = text.partition(":")
        if not mark:
            raise InvalidParameter(f"bounds='{column}={text}' must read COL=LOW:HIGH")
        columns.setdefault(column, {}).update(lower=number("bounds", low), upper=number("bounds", high))
    for column, text in pairs("missing", missing, "like cost=0").items():
        columns.setdefault(column, {})["missing"] = number("missing", text)
    for column, text in pairs("categories", categories, "like sex=f,m").items():
        columns.setdefault(column, {})["categories"] = [part.strip() for part in text.split(",")]
    return columns
