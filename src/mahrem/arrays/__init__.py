"""Kernels on arrays: cuts, selection, group reductions, sketches of rows.

They are Python functions, built ahead of time into the wheel (``_kernel`` says how they come). They release
the interpreter's lock; work is spread over threads by running them on independent segments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.arrays._threads import in_threads
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "in_threads",
]
