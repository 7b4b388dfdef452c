"""Sort the rows of a batch into the classes of a recipe."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from mahrem.matching._matching import Matching, match
from mahrem.matching._published import People, Published
from mahrem.release import Recipe
from mahrem.table import Axis, Cells, Hierarchy, Moments, Numbers, read_ranges
from mahrem.table.cells import all_whole
from mahrem.types import Floats, Integers, Labels
from mahrem.verify import SUPPRESSED, published_classes


def assign(
    recipe: Recipe, batch: pl.DataFrame, hierarchies: Mapping[str, Hierarchy], only: Labels | None = None
) -> tuple[Labels, pl.DataFrame]:
    """Give each row the narrowest class of the recipe whose cells hold all of its values.

    Args:
        recipe: Of an earlier release.
        batch: ``(n, d)`` the quasi-identifiers of later rows, as text that compares with cells.
        hierarchies: What labels in cells mean.
        only: The classes to choose from; all if None. Full-domain recipes have no choice.

    Returns:
        The class of each row, -1 where no class holds it, and what each class shows.

    Guarantees:
        - Every value of a row lies in the cell its class shows.
        - Rows equal in every column share a class.
    """
    quasi = list(recipe.cells)
    of_row, sizes = published_classes(batch, quasi)
    first = np.zeros(len(sizes), np.int64)
    first[of_row[::-1]] = np.arange(batch.height)[::-1]
    distinct = batch[first]  # rows that are alike are looked up once
    if recipe.classes is None:
        codes = np.column_stack([_narrowest(recipe, distinct, name, hierarchies) for name in quasi])
        inside = (codes >= 0).all(axis=1)
        distinct_codes, inverse = np.unique(codes[inside], axis=0, return_inverse=True)
        labels = np.full(len(codes), -1, np.int64)
        labels[inside] = inverse.reshape(-1)
        return labels[of_row], _shown(recipe, distinct_codes)
    shown = _shown(recipe, recipe.classes)
    matching = _matching(shown, distinct, hierarchies)
    return _first_fitting(matching, _widths(matching), only)[of_row], shown


def _shown(recipe: Recipe, classes: Integers) -> pl.DataFrame:
    texts = [
        pl.Series(name, cells, dtype=pl.String).gather(classes[:, place])
        for place, (name, cells) in enumerate(recipe.cells.items())
    ]
    return pl.DataFrame(texts)


def _narrowest(
    recipe: Recipe, distinct: pl.DataFrame, name: str, hierarchies: Mapping[str, Hierarchy]
) -> Integers:
    cells = pl.DataFrame({name: pl.Series(recipe.cells[name], dtype=pl.String)})
    matching = _matching(cells, distinct.select(name), hierarchies)
    return _first_fitting(matching, _widths(matching))


def _matching(cells: pl.DataFrame, rows: pl.DataFrame, hierarchies: Mapping[str, Hierarchy]) -> Matching:
    none = np.zeros(0, np.int64)
    ones = np.ones(cells.height, np.int64)
    quasi = tuple(cells.columns)
    published = Published(cells[:0], quasi, (), cells, none, ones, hierarchies)
    return match(published, People(rows, quasi))


def _widths(matching: Matching) -> Floats:
    """Measure classes: over the columns, the product of the shares of different values their cells hold."""
    widths = np.zeros(len(matching.sizes))
    for column in matching.columns:
        held = np.array([column.fitting(cell).sum() for cell in range(len(column.cells))], np.float64)
        widths += np.log(np.maximum(held, 0.5))[column.of_class]
    return widths


def _first_fitting(matching: Matching, widths: Floats, only: Labels | None = None) -> Integers:
    order = np.argsort(widths, kind="stable")
    if only is not None:
        order = order[np.isin(order, only)]
    codes = matching.codes
    labels = np.full(len(codes), -1, np.int64)
    for part, fits in matching.masks(codes):
        ranked = fits[:, order]
        labels[part] = np.where(ranked.any(axis=1), order[ranked.argmax(axis=1)], -1)
    return labels


def recipe_cells(text: pl.Series, axis: Axis) -> Cells:
    """Make cells of what classes show in a column of a batch."""
    low = high = None
    if isinstance(axis.domain, Numbers | Moments):
        low, high = (_typed(end, axis.domain) for end in read_ranges(text))
    hidden = (text == SUPPRESSED).fill_null(value=False).to_numpy()
    return Cells(text=text.alias("text"), low=low, high=high, suppressed=hidden)


def _typed(ends: Floats, domain: Numbers | Moments) -> pl.Series:
    series = pl.Series(ends).fill_nan(None)
    if isinstance(domain, Moments):
        return domain.typed(series)
    return series.cast(pl.Int64) if all_whole(ends[~np.isnan(ends)]) else series
