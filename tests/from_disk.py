"""A release of a file that is said not to fit into memory."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mahrem.pipeline.releasing._release import Destination
from mahrem.pipeline.releasing._spilled import SpilledRelease, anonymize_spilled, decided_in_batches
from mahrem.release.decisions import policy_from, reading_of
from mahrem.spilled import MemoryBound
from mahrem.table import open_source
from mahrem.table.reading import PolarsSource
from mahrem.words import Note


def from_disk(
    source: Path, output: Path, part: int, progress: Callable[[Note], None] | None = None, **said: Any
) -> SpilledRelease:
    """Release a file out of core, in parts of so many rows."""
    policy = policy_from(None, said)
    opened = open_source(source, reading_of(policy))
    assert isinstance(opened, PolarsSource)
    bound = MemoryBound(10**9, opened.rows, len(opened.columns), len(policy.quasi), part=part)
    destination = Destination(
        output=output,
        database=None,
        force=False,
        strict=False,
        html=False,
        target=None,
        began=time.perf_counter(),
        progress=progress,
    )
    policy = decided_in_batches(policy, opened, bound)
    return anonymize_spilled(source, opened, policy, destination, bound)
