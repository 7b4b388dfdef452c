"""Rows of one table shared out among clients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from mahrem import check
from mahrem.errors import ColumnNotFound
from mahrem.federated.runs._dirichlet import dirichlet_rows
from mahrem.federated.runs._sharing import SPLITS
from mahrem.types import Integers


def rows_apart(
    whole: pl.DataFrame, count: int, seed: int | Sequence[int]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Give the other rows, and so many drawn ones, which the seed and the number of rows find again."""
    shuffled = np.random.default_rng(seed).permutation(whole.height)
    return whole[np.sort(shuffled[count:])], whole[np.sort(shuffled[:count])]


def split_table(
    frame: pl.DataFrame,
    target: str,
    *,
    clients: int,
    split: str = "iid",
    by: str | None = None,
    alpha: float = 0.5,
    seed: int = 0,
) -> dict[str, pl.DataFrame]:
    """Share a table's rows among clients.

    Args:
        frame: The table.
        target: The column to predict.
        clients: How many; not used with ``by``.
        split: ``iid`` at random; ``skewed`` sorted by class, so that most clients know few classes;
            ``dirichlet`` in between, see :func:`dirichlet_rows`.
        by: A column: one client for each of its values, which is then no longer learnt from.
        alpha: How even a ``dirichlet`` split is.
        seed: Of the random order.

    Guarantees:
        - Each row has one client.

    Example:
        >>> rows = pl.DataFrame({"house": ["a", "b", "a"], "x": ["1", "2", "3"], "y": ["n", "y", "y"]})
        >>> {name: part.height for name, part in split_table(rows, "y", clients=0, by="house").items()}
        {'client-1': 2, 'client-2': 1}
    """
    if by is not None:
        if by not in frame.columns:
            raise ColumnNotFound(by, frame.columns)
        parts = frame.partition_by(by, maintain_order=True, include_key=False)
    else:
        check.at_least(1, clients=check.whole(clients=clients))
        check.one_of(SPLITS, split=split)
        labels = frame[target].cast(pl.String).fill_null("")
        if split == "dirichlet":
            codes = labels.rank("dense").cast(pl.Int64).to_numpy()
            places = dirichlet_rows(codes, clients, alpha, seed=seed)
        else:
            skew = labels.to_list() if split == "skewed" else None
            places = split_rows(frame.height, clients, seed=seed, skew=skew)
        parts = [frame[rows] for rows in places]
    width = len(str(len(parts)))
    return {f"client-{number:0{width}d}": part for number, part in enumerate(parts, 1)}


def split_rows(
    rows: int, clients: int, *, seed: int = 0, skew: Sequence[Any] | None = None
) -> list[Integers]:
    """Share rows among clients: at random, or sorted by a value so that every client is different.

    Args:
        rows: How many rows there are.
        clients: How many clients.
        seed: Of the random order.
        skew: ``(rows,)`` what to sort by before cutting; None for a random split.

    Guarantees:
        - Each row has one client; sizes differ by at most one.
    """
    order = np.random.default_rng(seed).permutation(rows)
    if skew is not None:
        order = order[np.argsort(np.asarray(skew)[order], kind="stable")]
    return [np.sort(part) for part in np.array_split(order, clients)]
