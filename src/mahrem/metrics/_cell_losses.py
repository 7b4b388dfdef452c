"""What published cells lose, judged by what they say alone: one definition for everybody who measures."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from mahrem.errors import InvalidInput
from mahrem.table import Cells, Members, Prefix, read_cell, read_ranges
from mahrem.table.cells import SUPPRESSED
from mahrem.types import Floats, Integers, Mask

if TYPE_CHECKING:
    from mahrem.table import Hierarchy


_PLAIN_SET = r'^\{[^{}"]*\}$'
_PLAIN_BEGINNING = r'^[^\[{"*][^*]*\*+$'


@dataclass(frozen=True)
class CellLosses:
    """For each cell of a column, what it loses."""

    ncp: Floats = field(repr=False)  # (c,) normalised certainty penalty, in [0, 1]
    iloss: Floats = field(repr=False)  # (c,) (leaves - 1) / domain; of ranges the share of the domain
    exact: Mask = field(repr=False)  # (c,) the cell says one value, or that it is missing


def cell_losses(cells: Cells, hierarchy: Hierarchy | None = None) -> CellLosses:
    """Measure what the classes show in one column.

    Of cells that are points but stand for more (centroids), what they stand for counts.

    Args:
        cells: What each class shows.
        hierarchy: The tree that was given for the column, if its cells are nodes of it.

    Guarantees:
        - The same as :func:`text_losses` of the texts, to the last bit: nothing but published cells counts.
    """
    shown = cells.behind or cells
    if hierarchy is None and shown.low is not None and shown.high is not None:
        low, high = (_numbers(end) for end in (shown.low, shown.high))
        return _of_ranges(low, high, shown.suppressed)
    return text_losses(shown.text, hierarchy)


def text_losses(cells: pl.Series, hierarchy: Hierarchy | None = None, *, name: str = "") -> CellLosses:
    """Measure published cells of one column as text; equal cells may occur more than once.

    The domain of a column is what its own cells span: of numbers and dates from the lowest end to the
    highest, of words all that are named. An open end reaches as far as the farthest end that is not open. Of
    a beginning the hidden share of its characters counts; a label that is no range or set counts as exact. In
    a column with a hierarchy a cell counts by the leaves under it, and the tree is the domain.

    Raises:
        InvalidInput: If a cell is no node of the hierarchy.
    """
    distinct = cells.unique(maintain_order=True)
    losses = _of_nodes(distinct, hierarchy, name) if hierarchy is not None else _of_texts(distinct)
    if len(distinct) == len(cells):
        return losses
    place = cells.to_frame("cell").join(
        distinct.to_frame("cell").with_row_index("place"),
        on="cell",
        how="left",
        nulls_equal=True,
        maintain_order="left",
    )["place"]
    at = place.to_numpy()
    return CellLosses(losses.ncp[at], losses.iloss[at], losses.exact[at])


def _of_texts(cells: pl.Series) -> CellLosses:
    low, high = read_ranges(cells)
    hidden = (cells == SUPPRESSED).fill_null(value=False).to_numpy()
    ranged = ~np.isnan(low)
    losses = _of_ranges(low, high, hidden)
    empty = (cells == "").fill_null(value=True).to_numpy()
    words = np.flatnonzero(~ranged & ~hidden & ~empty)
    if len(words):
        covered, share, named = _of_words(cells.gather(words))
        losses.ncp[words] = np.where(covered > 1, covered / max(named, 1), share)
        losses.iloss[words] = np.where(covered > 1, (covered - 1) / max(named, 1), share)
        losses.exact[words] = (covered == 1) & (share == 0)
    return losses


def _of_ranges(low: Floats, high: Floats, hidden: Mask) -> CellLosses:
    """Measure ranges over what all of them span."""
    begin, end = placed_ends(low, high)
    share = np.minimum(end - begin, 1.0)
    ncp = np.where(hidden, 1.0, np.where(np.isnan(low), 0.0, share))
    return CellLosses(ncp, ncp.copy(), ~hidden & (np.isnan(low) | ((low == high) & np.isfinite(low))))


def placed_ends(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Give where ranges begin and end within what all of them span, 0 to 1; an open end as far as any other.

    Halves are subtracted so that no difference overflows.

    Example:
        >>> placed_ends(np.array([10.0, 20.0]), np.array([15.0, np.inf]))
        (array([0., 1.]), array([0.5, 1. ]))
    """
    ends = np.concatenate([low, high])
    finite = ends[np.isfinite(ends)]
    first, last = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)
    span = last / 2 - first / 2
    if span <= 0:
        return np.where(np.isnan(low), np.nan, 0.0), np.where(np.isnan(high), np.nan, 0.0)
    begin, end = ((np.clip(each, first, last) / 2 - first / 2) / span for each in (low, high))
    return begin, end


def _of_words(cells: pl.Series) -> tuple[Integers, Floats, int]:
    """Give for each text how many values it names and which share of its characters it hides; all named."""
    covered = np.ones(len(cells), np.int64)
    share = np.zeros(len(cells))
    text = pl.col("cell")
    looked = cells.to_frame("cell").select(
        text.str.contains(_PLAIN_SET).alias("set"),
        text.str.contains(_PLAIN_BEGINNING).alias("beginning"),
        text.str.contains(r'^[\[{"]|\*$').not_().alias("plain"),
        text.str.len_chars().alias("length"),
        text.str.strip_chars_end(SUPPRESSED).str.len_chars().alias("kept"),
    )
    sets, beginnings, plain = (looked[name] for name in ("set", "beginning", "plain"))
    members = cells.filter(sets).str.slice(1).str.strip_suffix("}").str.split(", ")
    covered[sets.to_numpy()] = members.list.len().to_numpy()
    lengths, kept = looked["length"].to_numpy().astype(np.float64), looked["kept"].to_numpy()
    share = np.where(beginnings.to_numpy(), 1 - kept / np.maximum(lengths, 1), share)
    named = pl.concat([members.explode(), cells.filter(plain)]).unique()
    others: set[str] = set()
    for place in np.flatnonzero(~(sets | beginnings | plain).to_numpy()).tolist():
        match read_cell(cells[place]):  # quoted ones, which are few
            case Members(values):
                covered[place] = len(values)
                others |= {"" if member is None else member or '""' for member in values}
            case Prefix(beginning, length):
                share[place] = 1 - len(beginning) / length
            case cell:
                others.add(getattr(cell, "text", cells[place]) or '""')
    return covered, share, len(set(named) | others) if others else len(named)


def _of_nodes(cells: pl.Series, hierarchy: Hierarchy, name: str) -> CellLosses:
    """Count the leaves under each cell; of nodes that are called alike the widest counts. Missing is none."""
    texts = cells.str.strip_chars()
    shown = [hierarchy.cells(level) for level in range(hierarchy.levels)]
    nodes = pl.DataFrame({"cell": pl.concat(shown), "covered": np.concatenate(hierarchy.leaf_counts)})
    widest = nodes.group_by("cell").agg(pl.col("covered").max())
    leaf_counts = texts.to_frame("cell").join(widest, on="cell", how="left", maintain_order="left")["covered"]
    hidden = (texts == SUPPRESSED).fill_null(value=False)
    unknown = texts.filter(leaf_counts.is_null() & ~hidden).drop_nulls().unique()
    values = hierarchy.find(unknown)  # 34.0 is leaf 34
    unread = texts.is_in(values.filter(pl.col("code").is_null())["leaf"].implode()).fill_null(value=False)
    if unread.any():
        raise InvalidInput(
            f"hierarchy.{name}: {int(unread.sum())} different cells are no node of it; "
            "give the hierarchy the table was published with"
        )
    leaf = pl.Series(np.where(texts.is_null().to_numpy(), 0, 1))
    covered = leaf_counts.fill_null(leaf).to_numpy()
    starred = hidden.to_numpy()  # even where the tree has one leaf only
    return CellLosses(
        np.where(starred, 1.0, np.where(covered > 1, covered / hierarchy.leaves, 0.0)),
        np.where(starred, 1.0, np.maximum(covered - 1, 0) / hierarchy.leaves),
        (covered <= 1) & ~starred,
    )


def _numbers(ends: pl.Series) -> Floats:
    """Give typed ends as numbers, NaN where there is none."""
    return ends.to_physical().cast(pl.Float64).fill_null(np.nan).to_numpy()
