"""The report as JSON that every reader takes: no NaN, no infinity, keys in the order given."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

__all__ = ["to_json"]


def to_json(report: Mapping[str, Any]) -> str:
    """Write a report as JSON text.

    Guarantees:
        - Standard JSON: a number that is not finite becomes null.
        - Keys keep their order; equal reports give equal text.

    Example:
        >>> print(to_json({"holds": True, "reached": float("inf")}))
        {
          "holds": true,
          "reached": null
        }
    """
    return json.dumps(_clean(report), indent=2, ensure_ascii=False, allow_nan=False)


def _clean(value: Any) -> Any:
    match value:
        case np.generic() | np.ndarray():
            return _clean(value.tolist())
        case float():
            return value if math.isfinite(value) else None
        case Mapping():
            return {str(key): _clean(entry) for key, entry in value.items()}
        case list() | tuple():
            return [_clean(entry) for entry in value]
        case None | bool() | int() | str():
            return value
        case _:
            return str(value)
