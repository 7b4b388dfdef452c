"""Hierarchies in ARX's CSV form: one row per leaf, its ancestors bottom-up, the last of them ``*``."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl

from mahrem.errors import InvalidInput
from mahrem.types import Integers

__all__ = ["Hierarchy", "read_hierarchy"]

ROOT = "*"


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """A tree over the values of one column.

    Leaves are numbered so that the leaves under any node are neighbours; level 0 holds the leaves
    themselves, the last level the root.

    Guarantees:
        - The leaves under a node are neighbours: the node two leaves share covers all leaves between them.
        - ``from_rows(tree.rows())`` is the same tree.

    References:
        Prasser et al.: Flexible data anonymization using ARX, 2020 (its hierarchy files).

    Example:
        >>> tree = Hierarchy.from_rows([["cold", "lung"], ["flu", "lung"], ["gout", "joint"]])
        >>> tree.leaves, tree.levels
        (3, 3)
        >>> [row for row in tree.rows()][2]
        ('gout', 'joint', '*')
    """

    labels: tuple[tuple[str, ...], ...] = field(repr=False)  # per level: the label of each node
    nodes: Integers = field(repr=False)  # (levels, leaves): node of each leaf at each level

    @classmethod
    def from_rows(cls, rows: Iterable[Sequence[str]], *, name: str = "hierarchy") -> Hierarchy:
        """Build a tree from one row per leaf, bottom-up; short rows and a missing root are filled up.

        Args:
            rows: The leaf, then its ancestors; rows may differ in length.
            name: What errors call the tree (a file, a column).
        """
        paths = _unique_leaves(
            _even([[cell.strip() for cell in row] for row in rows if any(map(str.strip, row))]), name
        )
        if not paths:
            raise InvalidInput(f"{name} is empty: it needs one row per value, its ancestors after it")
        columns = list(zip(*paths, strict=True))
        _check_parents(columns, name)
        numbered = [_number(column) for column in columns]
        order = np.lexsort(np.array([codes for _, codes in numbered]))  # the root is the first key
        return cls(*_renumber(columns, order))

    @property
    def leaves(self) -> int:
        """How many values the tree knows."""
        return int(self.nodes.shape[1])

    @property
    def levels(self) -> int:
        """How many levels there are, leaves and root included."""
        return int(self.nodes.shape[0])

    @property
    def leaf_counts(self) -> tuple[Integers, ...]:
        """For each level, how many leaves lie under each node."""
        return tuple(np.bincount(level).astype(np.int64) for level in self.nodes)

    def codes(self, series: pl.Series) -> Integers:
        """Give the leaf of each value, -1 where it is missing; a value the tree does not know is an error."""
        text = series.cast(pl.String).str.strip_chars()
        lookup = pl.DataFrame(
            {"leaf": pl.Series(self.labels[0], dtype=pl.String), "code": np.arange(self.leaves)}
        )
        distinct = text.unique().drop_nulls()
        known = distinct.to_frame("leaf").join(lookup, on="leaf", how="left")
        strange = known.filter(pl.col("code").is_null())["leaf"]
        if len(strange):
            count = int(text.is_in(strange.implode()).sum())
            raise InvalidInput(
                f"column={series.name!r}: {count} of {len(text) - text.null_count()} values "
                f"({len(strange)} distinct) are not in its hierarchy; add them as rows of it"
            )
        if len(known) == 0:
            return np.full(len(text), -1)
        codes = text.replace_strict(known["leaf"], known["code"], return_dtype=pl.Int64)
        return codes.fill_null(-1).to_numpy()

    def lowest_common(self, low: Integers, high: Integers) -> tuple[Integers, Integers]:
        """Give level and node of the lowest ancestor each pair of leaves shares.

        Args:
            low: ``(c,)`` one leaf of each pair.
            high: ``(c,)`` the other.
        """
        shared = self.nodes[:, low] == self.nodes[:, high]
        level = shared.argmax(axis=0)  # the root is always shared
        return level, self.nodes[level, low]

    def rows(self) -> list[tuple[str, ...]]:
        """Give the tree back as rows: the leaf, then its ancestors up to the root."""
        columns = [
            [names[node] for node in level] for names, level in zip(self.labels, self.nodes, strict=True)
        ]
        return list(zip(*columns, strict=True))

    def write(self, path: str | Path) -> None:
        """Write the tree as ARX reads it: no header, ``;`` between cells, ``"`` around those that need it."""
        with Path(path).open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, delimiter=";", lineterminator="\n").writerows(self.rows())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Hierarchy):
            return NotImplemented
        return self.labels == other.labels and np.array_equal(self.nodes, other.nodes)

    def __hash__(self) -> int:
        return hash(self.labels)


def read_hierarchy(
    path: str | Path, *, delimiter: str | None = None, encoding: str = "utf-8-sig"
) -> Hierarchy:
    """Read a hierarchy in ARX's CSV form: no header, one row per leaf, ancestors bottom-up.

    Args:
        path: The file.
        delimiter: What stands between cells; without it ``;`` if the first line has one, else ``,``.
        encoding: The file's encoding.
    """
    name = f"hierarchy={str(path)!r}"
    try:
        text = Path(path).read_text(encoding=encoding)
    except OSError as error:
        raise InvalidInput(f"{name} cannot be read: {error.strerror}") from error
    except (UnicodeDecodeError, LookupError) as error:
        raise InvalidInput(f"{name} is not text in encoding={encoding!r}") from error
    if delimiter is None:
        first = next((line for line in text.splitlines() if line.strip()), "")
        delimiter = ";" if ";" in first else ","
    try:
        rows = [
            row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True) if row
        ]
    except csv.Error as error:
        raise InvalidInput(f"{name} is not CSV: a quote is not closed or stands in a wrong place") from error
    return Hierarchy.from_rows(rows, name=name)


def _even(rows: list[list[str]]) -> list[tuple[str, ...]]:
    """Make all rows equally long: the last label is repeated upwards, and the root ends every row."""
    longest = max(map(len, rows), default=0)
    rootless = any(len(row) == longest and row[-1] != ROOT for row in rows)
    return [_lengthen(row, max(longest + rootless, 2)) for row in rows]


def _lengthen(row: list[str], width: int) -> tuple[str, ...]:
    if len(row) == width and row[-1] == ROOT:
        return tuple(row)
    path = list(row)
    while len(path) > 1 and path[-1] == ROOT:
        path.pop()
    return (*path, *[path[-1]] * (width - 1 - len(path)), ROOT)


def _unique_leaves(paths: list[tuple[str, ...]], name: str) -> list[tuple[str, ...]]:
    known: dict[str, tuple[str, ...]] = {}
    clashes = sum(known.setdefault(path[0], path) != path for path in paths)
    if clashes:
        raise InvalidInput(
            f"{name}: {clashes} rows repeat a value with other ancestors; each value needs one row"
        )
    return list(known.values())


def _check_parents(columns: list[tuple[str, ...]], name: str) -> None:
    for level, (children, parents) in enumerate(pairwise(columns[1:]), start=1):
        known: dict[str, str] = {}
        rows = zip(children, parents, strict=True)
        split = {child for child, parent in rows if known.setdefault(child, parent) != parent}
        if split:
            raise InvalidInput(
                f"{name}: {len(split)} labels of level {level} have two parents at level {level + 1}; "
                "give each label one parent"
            )


def _number(labels: Sequence[str]) -> tuple[tuple[str, ...], Integers]:
    """Number labels by first appearance."""
    known: dict[str, int] = {}
    codes = np.array([known.setdefault(label, len(known)) for label in labels], np.int64)
    return tuple(known), codes


def _renumber(
    columns: list[tuple[str, ...]], order: Integers
) -> tuple[tuple[tuple[str, ...], ...], Integers]:
    numbered = [_number([column[leaf] for leaf in order]) for column in columns]
    return tuple(labels for labels, _ in numbered), np.stack([codes for _, codes in numbered])
