"""Hierarchies in ARX's CSV form: one row per leaf, its ancestors bottom-up, the last of them ``*``."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl

from mahrem.errors import InvalidInput
from mahrem.table._staged import appearing
from mahrem.table.cells import write_labels
from mahrem.types import Integers

ROOT = "*"
_PLAIN_NUMBER = r"^[+-]?(0|[1-9][0-9]*)([.][0-9]*)?$"  # 007 is a code, 1e3 may be one


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
        paths = _unique_leaves(_even([list(row) for row in rows if any(map(str.strip, row))]), name)
        if not paths:
            raise InvalidInput(f"{name} is empty: it needs one row per value, its ancestors after it")
        columns = list(zip(*paths, strict=True))
        _check_parents(columns, name)
        shown = write_labels(pl.Series(columns[0], dtype=pl.String)).to_list()
        _refuse_cycles([shown, *columns[1:]], name)  # the value 0** is not the beginning 0**
        return cls.from_columns([pl.Series(column, dtype=pl.String) for column in columns])

    @classmethod
    def from_columns(cls, columns: Sequence[pl.Series]) -> Hierarchy:
        """Build a tree from what every leaf is called at each level; for builders, who know that it is one.

        Args:
            columns: Text, one entry per leaf: the leaves, all different, then their ancestors, the root last.
        """
        return cls.from_nodes(columns[0], [_number(column) for column in columns[1:-1]])

    @classmethod
    def from_nodes(cls, leaves: pl.Series, levels: Sequence[tuple[pl.Series, Integers]]) -> Hierarchy:
        """Build a tree from numbered nodes; the root is added.

        Args:
            leaves: Text, all different, at least one.
            levels: Bottom-up, without leaves and root: the labels of the nodes and the node of each leaf.
        """
        count = len(leaves)
        root = (pl.Series([ROOT]), np.zeros(count, np.int64))
        numbered = [(leaves, np.arange(count)), *((names, _by_appearance(at)) for names, at in levels), root]
        raw = [np.arange(count), *(at for _, at in levels), root[1]]
        order = np.lexsort(np.array([codes for _, codes in numbered]))  # the root is the first key
        labels, nodes = [], []
        for (names, _), codes in zip(numbered, raw, strict=True):
            sorted_codes = codes[order]
            begins = np.concatenate([[True], sorted_codes[1:] != sorted_codes[:-1]])
            labels.append(tuple(names.gather(sorted_codes[begins]).to_list()))
            nodes.append(np.cumsum(begins) - 1)
        return cls(tuple(labels), np.stack(nodes))

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
        """Give the leaf of each value, -1 where it is missing; a value the tree does not know is an error.

        Where a value is no leaf as it stands, blanks around it do not count, and ``34.0`` finds the leaf
        ``34``.
        """
        text = series.cast(pl.String)
        known = self.find(text.unique().drop_nulls())
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

    def find(self, distinct: pl.Series) -> pl.DataFrame:
        """Look different values up: columns ``leaf`` (the value) and ``code``, null where it is unknown."""
        lookup = pl.DataFrame({"leaf": pl.Series(self.labels[0], dtype=pl.String)}).with_row_index("code")
        known = distinct.to_frame("leaf").join(lookup, on="leaf", how="left")
        bare = pl.col("leaf").str.strip_chars()
        for reading in (bare, _plain_number(bare)):
            if known["code"].null_count() == 0:
                break
            leaves = lookup.select("code", read=reading).drop_nulls().unique("read", keep="first")
            again = known.with_columns(read=reading).join(leaves, on="read", how="left", suffix="_read")
            known = again.select("leaf", code=pl.coalesce("code", "code_read"))
        return known

    def cells(self, level: int) -> pl.Series:
        """Give what the nodes of a level are published as.

        A leaf is written like any value; a node is its label, so that ``[20, 29]`` reads as a range. A leaf
        that stands for itself at a higher level is still a value.
        """
        labels = pl.Series("cell", self.labels[level], dtype=pl.String)
        quoted = write_labels(labels)
        if level == 0:
            return quoted
        first = np.unique(self.nodes[level], return_index=True)[1]
        alone = np.bincount(self.nodes[level]) == 1
        itself = pl.Series(alone) & (labels == pl.Series(self.labels[0], dtype=pl.String).gather(first))
        return quoted.zip_with(itself | (labels == ""), labels)

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

    def text(self) -> str:
        """Give the tree as the text of a file in ARX's form."""
        file = io.StringIO(newline="")
        returns = any("\r" in label for labels in self.labels for label in labels)  # not quoted by itself
        form: Literal[0, 1] = csv.QUOTE_ALL if returns else csv.QUOTE_MINIMAL
        csv.writer(file, delimiter=";", lineterminator="\n", quoting=form).writerows(self.rows())
        return file.getvalue()

    def write(self, path: str | Path) -> None:
        """Write the tree as ARX reads it: no header, ``;`` between cells, ``"`` around those that need it.

        The file appears whole or not at all, and only its owner can read it: leaves are values of the data.
        """
        with appearing(Path(path)) as stream:
            rest = memoryview(self.text().encode("utf-8"))
            while rest:  # a raw file may take less than it is given
                rest = rest[stream.write(rest) :]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Hierarchy):
            return NotImplemented
        return self.labels == other.labels and np.array_equal(self.nodes, other.nodes)

    def __hash__(self) -> int:
        return hash(self.labels)


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


def _refuse_cycles(columns: Sequence[Sequence[str]], name: str) -> None:
    """Refuse rows in which climbing from a label can lead back to it.

    A label is the same wherever it stands, in whatever row and level: ``a;x;y;*`` and ``b;y;x;*`` together
    make ``x`` its own ancestor. A label repeated from one level to the next is a branch that ends early, and
    no cycle.

    Args:
        columns: For each level, the label of every leaf; the leaves themselves as they are published.
        name: What errors call the tree.
    """
    inner = {label for column in columns[1:] for label in set(column)}
    parents: dict[str, set[str]] = {}
    for level, (children, ancestors) in enumerate(pairwise(columns)):
        for child, parent in set(zip(children, ancestors, strict=True)):
            # A leaf that stands nowhere else can be nobody's ancestor.
            if child == parent or (level == 0 and child not in inner):
                continue
            parents.setdefault(child, set()).add(parent)
    try:
        TopologicalSorter(parents).prepare()
    except CycleError as error:
        raise InvalidInput(
            f"{name}: {len(error.args[1]) - 1} labels stand in a circle, each an ancestor of the next; "
            "climbing from a label must never lead back to it"
        ) from None


def _number(labels: pl.Series) -> tuple[pl.Series, Integers]:
    """Number labels by first appearance."""
    names = labels.unique(maintain_order=True)
    codes = labels.replace_strict(names, pl.Series(np.arange(len(names))), return_dtype=pl.Int64)
    return names, codes.to_numpy()


def _by_appearance(codes: Integers) -> Integers:
    """Number codes anew, by first appearance."""
    first = np.full(int(codes.max()) + 1, len(codes))
    np.minimum.at(first, codes, np.arange(len(codes)))
    rank = np.empty_like(first)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first))
    return rank[codes]


def _plain_number(text: pl.Expr) -> pl.Expr:
    return pl.when(text.str.contains(_PLAIN_NUMBER)).then(text).cast(pl.Float64, strict=False)
