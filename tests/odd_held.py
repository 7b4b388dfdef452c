"""Everything that hangs on an object, as plain data: what a pickle, a ``repr`` or a debugger would show.

Neighbour tests compare it where every mechanism gave out the same: a row, a count or a gradient that a fitted
model keeps without noise then differs.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from mahrem.dp import Ledger

CLOCKS = {"seconds", "seconds_", "time", "started"}  # they differ from run to run, whatever the rows are
_PLAIN = (type(None), bool, int, float, complex, str, bytes, np.generic)
_SHOWN = (np.ndarray, pl.DataFrame, pl.Series, pd.DataFrame, pd.Series)
_NAMED = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, Ledger)


def held(thing: Any, above: tuple[int, ...] = ()) -> Any:
    """Give what hangs on an object; functions, classes and ledgers by name alone."""
    if isinstance(thing, (*_PLAIN, *_SHOWN)):
        return thing
    if isinstance(thing, _NAMED):
        return getattr(thing, "__name__", type(thing).__name__)
    if id(thing) in above:
        return "itself"
    inside = (*above, id(thing))
    if type(thing).__module__.startswith("torch") and hasattr(thing, "detach"):
        return thing.detach().cpu().numpy()
    if hasattr(thing, "state_dict"):
        return held(dict(thing.state_dict()), inside)
    if isinstance(thing, Mapping):
        return {str(key): held(value, inside) for key, value in thing.items()}
    if isinstance(thing, list | tuple | set | frozenset):
        ordered = sorted(thing, key=str) if isinstance(thing, set | frozenset) else thing
        return [held(one, inside) for one in ordered]
    slots = {name for kind in type(thing).__mro__ for name in getattr(kind, "__slots__", ())}
    kept = {name: getattr(thing, name) for name in slots if hasattr(thing, name)}
    kept |= getattr(thing, "__dict__", {})
    return {"kind": type(thing).__name__} | {
        name: held(value, inside) for name, value in kept.items() if name not in CLOCKS
    }
