"""Rooms whose doors open when somebody comes: a name is loaded when it is first used.

A room lists what it offers once, as imports that type checkers read; :func:`offered` reads the same lines
when the room is imported, and loads the module behind a name when the name is asked for. So a verb costs
what it uses.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["TYPE_CHECKING", "offered"]  # what a room needs to say what it offers


def offered(room: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Give a room's ``__getattr__``, ``__dir__`` and ``__all__``, from what it imports for type checkers.

    Each name is imported as itself (``Ledger as Ledger``): this tells them that it is meant for others.
    """
    homes = {shown: (home, name) for shown, home, name in _imports(room)}
    module = sys.modules[room]

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        home, inner = homes[name]
        value = getattr(import_module(home), inner)
        setattr(module, name, value)  # asked once
        return value

    return get, lambda: sorted({*vars(module), *homes}), sorted(homes)


def _imports(room: str) -> Iterator[tuple[str, str, str]]:
    """Give the shown name, the module and the name there of every import that only type checkers follow."""
    loader: Any = sys.modules[room].__spec__.loader  # type: ignore[union-attr]
    source = loader.get_source(room)
    if source is None:
        raise ImportError(f"{room} needs its source file beside it; only its compiled form is there")
    for node in ast.parse(source).body:
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            for line in node.body:
                if isinstance(line, ast.ImportFrom) and line.module and line.module.startswith("mahrem"):
                    for alias in line.names:
                        yield alias.asname or alias.name, line.module, alias.name
