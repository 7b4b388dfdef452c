"""Sweeps: methods and figures tried side by side on one table, and what each loses and gives away.

A :class:`Sweep` says what is tried, :func:`compare` tries it and keeps what is done. ``exploring`` judges
its candidates as it does.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.pipeline.comparing._compare import candidate_verdict as candidate_verdict
    from mahrem.pipeline.comparing._compare import compare as compare
    from mahrem.pipeline.comparing._comparison import Comparison as Comparison
    from mahrem.pipeline.comparing._sweep import Sweep as Sweep
else:
    __getattr__, __dir__, __all__ = offered(__name__)
