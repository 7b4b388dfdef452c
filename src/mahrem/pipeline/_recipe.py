"""A saved recipe: what is needed to recode a later batch like an earlier release, and nothing more."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.partition import Levels
from mahrem.pipeline._draft import Draft
from mahrem.pipeline._parallel import in_parallel
from mahrem.release import Policy, check_hashes, is_release
from mahrem.table import Axis, Hierarchy, Kind, Leaves
from mahrem.types import Integers, Mask

__all__ = ["BY_RECIPE", "RECIPE", "Recipe", "read_recipe", "recipe_of"]

RECIPE = "release.recipe"
BY_RECIPE = "recipe"  # the method a release names that was made with one
FORM = 1
SMALLEST_NAMED = 3  # a value of a hierarchy is never named for fewer people, whatever k is
_LEARNT = ("automatic", "rho", "smoothing", "minimum_count")


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """The cells of a release, class by class or column by column, and what their labels mean.

    ``classes`` holds, for each class, the place of its cell in every column; None for full-domain releases,
    where each column is recoded on its own.
    """

    policy: Mapping[str, Any]  # as published
    kinds: Mapping[str, Kind]  # of quasi-identifiers and sensitive columns
    cells: Mapping[str, tuple[str | None, ...]] = field(repr=False)  # distinct cells of each column
    classes: Integers | None = field(repr=False)  # (c, d)
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict, repr=False)
    published: tuple[str, ...] = ()  # columns of the source that were published
    pseudonyms: tuple[str, ...] = ()

    def text(self) -> str:
        """Give the recipe as the text of its file."""
        columns = {
            name: {"kind": str(kind)}
            | ({"cells": list(self.cells[name])} if name in self.cells else {})
            | ({"hierarchy": self.hierarchies[name].rows()} if name in self.hierarchies else {})
            for name, kind in self.kinds.items()
        }
        content = {
            "recipe": FORM,
            "mahrem": version("mahrem"),
            "policy": self.policy,
            "published": self.published,
            "pseudonyms": self.pseudonyms,
            "columns": columns,
        }
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        classes = "null" if self.classes is None else _written(self.classes)
        return f'{text[:-1]},"classes":{classes}}}\n'


def recipe_of(draft: Draft) -> Recipe | None:
    """Give the recipe of a draft; None where its cells do not say which values they stand for.

    Guarantees:
        - Every cell is one that the release shows, and classes come in the order of their cells.
        - A value of a quasi-identifier's hierarchy is named only if at least k people have it (and never
          fewer than three).
    """
    policy, prepared = draft.policy, draft.prepared
    if (
        policy.cells not in {"text", "pairs"}
        or policy.delta_presence is not None
        or draft.method == BY_RECIPE
    ):
        return None
    shown = np.flatnonzero(draft.sizes > 0)
    levels = isinstance(draft.partition.how, Levels)
    cells, codes = _coded({name: cells.text[shown] for name, cells in draft.cells.items()})
    hierarchies = {
        axis.name: tree for axis in prepared.axes if (tree := _named_leaves(draft, axis)) is not None
    }
    for name in prepared.values:
        tree = prepared.columns[name].hierarchy
        if tree is not None:
            present = prepared.source.take([name]).to_series().cast(pl.String).unique().drop_nulls().to_list()
            hierarchies[name] = _only(tree, np.isin(np.array(tree.labels[0], object), present))
    return Recipe(
        policy={key: value for key, value in policy.public().items() if key not in _LEARNT},
        kinds={name: column.kind for name, column in prepared.columns.items()},
        cells=cells,
        classes=None if levels else codes,
        hierarchies=hierarchies,
        published=tuple(name for name in prepared.source.columns if name not in prepared.leave_out),
        pseudonyms=tuple(policy.pseudonym),
    )


def _coded(texts: Mapping[str, pl.Series]) -> tuple[dict[str, tuple[str | None, ...]], Integers]:
    """Give the distinct cells of each column, and the distinct classes as places in them."""

    def code(series: pl.Series) -> tuple[pl.Series, pl.Series]:
        own = series.unique().sort(nulls_last=True)
        named = own.drop_nulls()
        return own, series.cast(pl.Enum(named)).to_physical().cast(pl.Int64).fill_null(len(named))

    coded = in_parallel(code, list(texts.values()))
    classes = pl.DataFrame(
        [codes.alias(name) for name, (_, codes) in zip(texts, coded, strict=True)]
    ).unique()
    cells = {name: tuple(own.to_list()) for name, (own, _) in zip(texts, coded, strict=True)}
    return cells, classes.sort(classes.columns).to_numpy().reshape(-1, len(cells))


def _written(classes: Integers) -> str:
    """Write classes as JSON, many times faster than through lists."""
    if not classes.size:
        return json.dumps(classes.tolist())
    lines = pl.DataFrame(np.ascontiguousarray(classes)).write_csv(include_header=False)
    return "[[" + lines.rstrip("\n").replace("\n", "],[") + "]]"


def _named_leaves(draft: Draft, axis: Axis) -> Hierarchy | None:
    """Give the part of a column's hierarchy that may be told; trees made of ranges explain themselves."""
    prepared = draft.prepared
    if not isinstance(axis.domain, Leaves):
        return None
    if prepared.columns[axis.name].hierarchy is None and prepared.automatic is None:
        return None
    tree = axis.domain.hierarchy
    part = slice(0, prepared.taking_part)
    labels = draft.partition.labels[part]
    at = axis.positions[part]
    rows = np.flatnonzero((labels >= 0) & ~np.isnan(at))
    leaf = at[rows].astype(np.int64)
    if prepared.subjects is not None:
        pairs = np.unique(np.column_stack([leaf, prepared.subjects[rows]]), axis=0)
        leaf = pairs[pairs[:, 1] >= 0, 0]
    people = np.bincount(leaf, minlength=tree.leaves)
    return _only(tree, people >= max(draft.policy.k or 1, SMALLEST_NAMED))


def _only(tree: Hierarchy, leaves: Mask) -> Hierarchy:
    rows = tree.rows()
    return Hierarchy.from_rows([rows[place] for place in np.flatnonzero(leaves)])


def read_recipe(path: str | Path) -> Recipe:
    """Read a recipe from a release folder, which is compared with its hashes first, or from a file."""
    given = Path(path)
    folder = given if given.is_dir() else given.parent
    if given.is_dir() or (is_release(folder) and given.name == RECIPE):
        check_hashes(folder)
    file = given / RECIPE if given.is_dir() else given
    if not file.is_file():
        raise InvalidInput(
            f"recipe={given.name!r}: there is no {RECIPE}; releases with cells as text or pairs have one"
            if given.is_dir()
            else f"recipe={given.name!r} does not exist"
        )
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidInput(f"recipe={file.name!r} cannot be read: {type(error).__name__}") from error
    if not isinstance(content, dict) or content.get("recipe") != FORM:
        raise InvalidInput(f"recipe={file.name!r} is no recipe of this version of mahrem")
    try:
        return _from(content)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        if isinstance(error, InvalidParameter | InvalidInput):
            raise
        raise InvalidInput(f"recipe={file.name!r} is damaged: {type(error).__name__}") from error


def _from(content: Mapping[str, Any]) -> Recipe:
    columns = content["columns"]
    cells = {name: tuple(column["cells"]) for name, column in columns.items() if "cells" in column}
    quasi = tuple(Policy.of(content["policy"]).quasi)
    if set(quasi) != set(cells):
        raise KeyError("cells")
    classes = content["classes"]
    if classes is not None:
        classes = np.array(classes, np.int64).reshape(len(classes), len(cells))
        if len(classes) and (classes.min() < 0 or (classes.max(axis=0) >= [*map(len, cells.values())]).any()):
            raise IndexError("classes")
    return Recipe(
        policy=content["policy"],
        kinds={name: Kind(column["kind"]) for name, column in columns.items()},
        cells=cells,
        classes=classes,
        hierarchies={
            name: Hierarchy.from_rows(column["hierarchy"])
            for name, column in columns.items()
            if column.get("hierarchy")
        },
        published=tuple(content["published"]),
        pseudonyms=tuple(content["pseudonyms"]),
    )
