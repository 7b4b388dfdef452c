"""Sets that may be frequent: checked, brought into one numbering, and joined to larger ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from mahrem.arrays.mining import ItemMatrix, join_sets
from mahrem.errors import InvalidInput
from mahrem.types import Codes, Floats, Integers

AHEAD = 2_000  # sets of larger sizes that are counted in the same round
HOPE = 0.5  # of the support; sizes that would reach less than this, were cells independent, can wait


def check_sets(sets: Any, place: Integers, columns: int, longest: int) -> None:
    """Refuse sets of items or columns that are not there, empty and too long ones, and one column twice.

    Args:
        sets: ``(m, width)`` numbers of items, -1 where a set is shorter.
        place: ``(items,)`` the column of each item.
        columns: How many columns there are.
        longest: The most items of a set.
    """
    if sets.dtype.kind != "i" or place.dtype.kind != "i" or place.ndim != 1:
        raise InvalidInput("sets or columns that are no whole numbers")
    if sets.ndim != 2 or (sets.size and not -1 <= int(sets.min()) <= int(sets.max()) < len(place)):
        raise InvalidInput("sets name items that are not listed")
    if len(place) and not 0 <= int(place.min()) <= int(place.max()) < columns:
        raise InvalidInput("items name columns that are not there")
    if sets.shape[1] > longest or (sets.size and int(sets[:, 0].min()) < 0):
        raise InvalidInput("a set is empty or longer than was asked for")
    if sets.shape[1] > 1:
        ordered = np.sort(np.append(place, -1)[sets], axis=1)
        if ((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)).any():
            raise InvalidInput("a set names a column twice")


def union(
    parts: Sequence[tuple[Integers, list[tuple[int, str]]]], pairs: list[tuple[int, str]]
) -> ItemMatrix:
    """Give all clients' sets in one numbering, each once, by size and then by items."""
    number = {pair: item for item, pair in enumerate(pairs)}
    width = max((sets.shape[1] for sets, _ in parts), default=0)
    if width == 0:
        return np.empty((0, 0), np.int32)
    if width == 1:  # single items: those that somebody named
        named_by_all = {named[item] for sets, named in parts for item in sets.ravel().tolist()}
        return np.array(sorted(map(number.__getitem__, named_by_all)), np.int32)[:, None]
    mapped = []
    for sets, named in parts:
        table = np.array([*(number[pair] for pair in named), -1], np.int32)
        held = np.full((len(sets), width), -1, np.int32)
        held[:, : sets.shape[1]] = table[sets]
        held = np.where(held < 0, len(pairs), held)
        held.sort(axis=1)  # a client may have its columns in another order
        mapped.append(np.where(held == len(pairs), -1, held).astype(np.int32))
    whole = np.unique(np.concatenate(mapped), axis=0)
    order = np.lexsort((*whole.T[::-1], (whole >= 0).sum(axis=1)))
    return np.ascontiguousarray(whole[order])


@dataclass(frozen=True)
class Outlook:
    """How far it is worth looking ahead: counts that nobody needs cost time and tell of people.

    Args:
        place: ``(items,)`` the column of each item.
        shares: ``(items,)`` the share of all rows that show it.
        support: The share that a frequent set has.
        longest: The most items of a set.
    """

    place: Codes = field(repr=False)
    shares: Floats = field(repr=False)
    support: float
    longest: int

    @cached_property
    def _best(self) -> Floats:
        """The largest share of sets of one, two ... items, were columns independent of each other."""
        by_column = np.zeros(int(self.place.max(initial=-1)) + 1)
        np.maximum.at(by_column, self.place, self.shares)
        return np.cumprod(np.sort(by_column)[::-1], dtype=np.float64)

    def hopes(self, known: int, size: int) -> bool:
        """Say whether sets of so many items may well be frequent, where frequent ones of ``known`` items are.

        Once pairs are frequent, cells go together, and independence says nothing.
        """
        likely = size <= len(self._best) and bool(self._best[size - 1] >= HOPE * self.support)
        return known > 1 or likely


def next_levels(frequent: ItemMatrix, outlook: Outlook) -> ItemMatrix:
    """Join the longest frequent sets, and the joined ones again while they are few and likely enough."""
    sizes = (frequent >= 0).sum(axis=1)
    size = int(sizes.max(initial=0))
    level = np.ascontiguousarray(frequent[sizes == frequent.shape[1], :size])
    levels: list[ItemMatrix] = []
    total, known = 0, size
    while len(level) > 1 and size < outlook.longest and (not levels or outlook.hopes(known, size + 1)):
        level = join_sets(level, outlook.place)
        size += 1
        if len(level) == 0 or (levels and total + len(level) > max(AHEAD, 2 * total)):
            break
        total += len(level)
        levels.append(level)
    width = max((held.shape[1] for held in levels), default=0)
    padded = [np.pad(held, ((0, 0), (0, width - held.shape[1])), constant_values=-1) for held in levels]
    return np.concatenate(padded) if padded else np.empty((0, 0), np.int32)
