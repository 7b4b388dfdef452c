"""Compiled kernels on arrays: cuts, selection, group reductions.

Kernels are cached and release the interpreter's lock; work is spread over threads by running them on
independent segments. The modules are loaded when a name is first used, so that importing a room above
does not load Numba. Numba's cache looks at one file at a time: after editing a kernel, empty the cache.
``python -m mahrem.arrays`` fills it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mahrem.arrays._groups import class_extremes, triplets
    from mahrem.arrays._grow import grow
    from mahrem.arrays._layout import Split
    from mahrem.arrays._rounds import Rounds
    from mahrem.arrays._shuffle import shuffled
    from mahrem.arrays._threads import available_threads, in_threads

__all__ = [
    "Rounds",
    "Split",
    "available_threads",
    "class_extremes",
    "grow",
    "in_threads",
    "shuffled",
    "triplets",
]

_HOMES = {
    "Rounds": "_rounds",
    "Split": "_layout",
    "available_threads": "_threads",
    "class_extremes": "_groups",
    "grow": "_grow",
    "in_threads": "_threads",
    "shuffled": "_shuffle",
    "triplets": "_groups",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
