"""Facts as frozen dataclasses that are written to JSON and read from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields
from functools import cache
from types import UnionType
from typing import Any, Self, get_args, get_origin, get_type_hints

__all__ = ["Facts", "always"]


class Facts:
    """What dataclasses of figures have in common: JSON in the order of their fields.

    Guarantees:
        - A field that may be missing is not written while it is None; one that is ``always()`` there is.
        - What JSON has beyond the fields is not read.
    """

    def as_dict(self) -> dict[str, Any]:
        """Give what goes into JSON."""
        return {
            known.name: _written(value)
            for known in fields(self)  # type: ignore[arg-type]
            if (value := getattr(self, known.name)) is not None
            or known.default is not None
            or "always" in known.metadata
        }

    @classmethod
    def read(cls, content: Mapping[str, Any]) -> Self:
        """Read what :meth:`as_dict` wrote, or as much of it as there is."""
        kinds = _kinds(cls)  # type: ignore[arg-type] # mypy: a class of Self is not hashable
        return cls(**{name: _read(kinds[name], content[name]) for name in kinds if name in content})


def always() -> Any:
    """Give a field that is written even where there is no figure."""
    return field(default=None, metadata={"always": True})


@cache
def _kinds(facts: type) -> dict[str, Any]:
    hints = get_type_hints(facts)
    return {known.name: hints[known.name] for known in fields(facts)}


def _read(kind: Any, value: Any) -> Any:
    if value is None:
        return None
    if isinstance(kind, UnionType):
        kind = get_args(kind)[0]
    inner = get_args(kind)
    if isinstance(kind, type) and issubclass(kind, Facts):
        return kind.read(value)
    if get_origin(kind) is tuple:
        return tuple(_read(inner[0], entry) for entry in value)
    if get_origin(kind) is Mapping:
        return {key: _read(inner[1], entry) for key, entry in value.items()}
    return value


def _written(value: Any) -> Any:
    if isinstance(value, Facts):
        return value.as_dict()
    if isinstance(value, Mapping):
        return {key: _written(entry) for key, entry in value.items()}
    return [_written(entry) for entry in value] if isinstance(value, tuple | list) else value
