"""Releases: a table anonymised, checked, published with its report, and applied to new rows.

One machine, a cluster and tables larger than memory go the same way; every folder is written here. Other
rooms of ``pipeline`` use what is listed; it stands lowest among them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.pipeline.releasing._anonymize import anonymize
    from mahrem.pipeline.releasing._anonymizer import Anonymizer
    from mahrem.pipeline.releasing._apply import apply
    from mahrem.pipeline.releasing._dry_run import dry_run
    from mahrem.pipeline.releasing._on_spark import explain
    from mahrem.pipeline.releasing._publish import read_back
    from mahrem.pipeline.releasing._release import Release
    from mahrem.pipeline.releasing._report import redraw, redraw_two
    from mahrem.pipeline.releasing._summary import floor_of
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "Anonymizer",
    "Release",
    "anonymize",
    "apply",
    "dry_run",
    "explain",
    "floor_of",
    "read_back",
    "redraw",
    "redraw_two",
]
