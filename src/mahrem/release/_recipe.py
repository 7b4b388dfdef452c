"""A saved recipe: what is needed to recode a later batch like an earlier release, and nothing more."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from mahrem.entries import own_version
from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.release.decisions import Policy
from mahrem.release.folders import check_hashes, is_release, named_folder
from mahrem.table import Kind
from mahrem.types import Integers

if TYPE_CHECKING:
    from mahrem.table import Hierarchy

RECIPE = "release.recipe"
BY_RECIPE = "recipe"  # the method a release names that was made with one
FORM = 1


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
            "mahrem": own_version(),
            "policy": self.policy,
            "published": self.published,
            "pseudonyms": self.pseudonyms,
            "columns": columns,
        }
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        classes = "null" if self.classes is None else _written(self.classes)
        return f'{text[:-1]},"classes":{classes}}}\n'


def _written(classes: Integers) -> str:
    """Write classes as JSON, many times faster than through lists."""
    if not classes.size:
        return json.dumps(classes.tolist())
    lines = pl.DataFrame(np.ascontiguousarray(classes)).write_csv(include_header=False)
    return "[[" + lines.rstrip("\n").replace("\n", "],[") + "]]"


def read_recipe(path: str | Path) -> Recipe:
    """Read a recipe from a release folder, which is compared with its hashes first, or from a file."""
    given = named_folder(path) or Path(path)
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
    from mahrem.table import Hierarchy

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
