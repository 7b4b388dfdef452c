"""Kernels on arrays: cuts, selection, group reductions, sketches of rows.

They are Python functions, built ahead of time into the wheel (``_kernel`` says how they come). They release
the interpreter's lock; work is spread over threads by running them on independent segments.
"""

from __future__ import annotations

__all__: list[str] = []  # each room of kernels offers its own
