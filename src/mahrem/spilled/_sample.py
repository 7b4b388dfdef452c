"""Some rows of a table that does not fit, drawn without holding the others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from mahrem.spilled._bound import MemoryBound, needed_in_memory, rows_that_fit, usual_bound
from mahrem.table import Source, open_source
from mahrem.table.reading import PolarsSource


def sample_that_fits(opened: Source, memory: int | None, seed: int | None) -> Source | None:
    """Draw rows of a table that does not fit into memory; None where all of it fits, or cannot be read so.

    Args:
        opened: The table.
        memory: Bytes to stay below; None: half of what is free.
        seed: Of the draw.

    Guarantees:
        - Every row has the same chance; rows keep their order; the same seed draws the same ones.
        - No more than a batch beside the rows that are drawn is held.
    """
    if not isinstance(opened, PolarsSource) or not opened.in_batches():
        return None
    names = opened.columns
    most = usual_bound() if memory is None else memory
    if needed_in_memory(opened.rows, len(names)) <= most:
        return None
    wanted = min(opened.rows, rows_that_fit(most, len(names)))
    rng, left = np.random.default_rng(seed), opened.rows
    drawn = []
    for batch in opened.batches(names, MemoryBound(most, left, len(names), 0).batch, untouched=True):
        among = min(batch.height, left)
        some = int(rng.hypergeometric(wanted, left - wanted, among))  # how many of all fall to this batch
        drawn.append(batch[np.sort(rng.choice(among, some, replace=False))])
        wanted, left = wanted - some, left - among
    plain = type(opened.reading)(decimal=opened.reading.decimal, null=opened.reading.null)
    return open_source(pl.concat(drawn), replace(plain, spelling=opened.reading.spelling))
