"""Sweeps: methods and figures tried side by side on one table, and what each loses and gives away.

A :class:`Sweep` says what is tried, :func:`compare` tries it and keeps what is done. ``exploring`` judges
its candidates as it does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.pipeline.comparing._compare import candidate_verdict, compare
    from mahrem.pipeline.comparing._comparison import Comparison
    from mahrem.pipeline.comparing._sweep import Sweep
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "Comparison",
    "Sweep",
    "candidate_verdict",
    "compare",
]
