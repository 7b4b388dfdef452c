"""People as a release tells of them: each anywhere in the cells of a row, nobody at their own place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
import polars as pl

from mahrem.matching._matching import ColumnMatch, Matching, column_match, leaves_under
from mahrem.matching._published import People, Published
from mahrem.table import Exact, Members, MissingCell, Prefix, read_cell, read_ranges
from mahrem.types import Floats, Integers, Mask
from mahrem.verify import SUPPRESSED

if TYPE_CHECKING:
    from mahrem.table import Hierarchy

_UNREAD = "\0"  # what a person has whose cell nobody can read: nothing that others have


def stand_ins(release: Published, *, plain: Sequence[str] = (), unread: int = 0, seed: int = 0) -> People:
    """Draw a person for every row that shows something: anybody of whom the row could be.

    Attacks that are measured on them tell what a release gives away, and nothing of where in their cells the
    people of the original are. A number is drawn evenly between the ends of its cell, and known as far as
    ends of other cells tell it from others; a word is one of those that the release names.

    Args:
        release: The published table.
        plain: Columns beside the sensitive ones that people are known by as they were published.
        unread: Rows with a cell that nobody could read against real people: told along.
        seed: Of the draw.

    Guarantees:
        - They depend on the published table, its hierarchies and the seed alone.
        - Every person fits the class they were drawn for.

    Example:
        >>> from mahrem.matching import match, read_published
        >>> shown = pl.DataFrame({"age": ["[20, 30]", "[20, 30]", "[40, 50]"]})
        >>> release = read_published(shown, quasi=["age"])
        >>> match(release, stand_ins(release)).fits(np.array([[0]])).tolist()
        [[True, False]]
    """
    shown = np.flatnonzero(release.labels >= 0)
    rng = np.random.default_rng(seed)
    groups = release.labels[shown]
    columns = tuple(
        _drawn(release.cells[name], release.hierarchies.get(name), groups, rng) for name in release.quasi
    )
    texts = [
        column.values.gather(column.of_person).alias(name)
        for name, column in zip(release.quasi, columns, strict=True)
    ]
    others = release.frame[shown].select([*release.sensitive, *plain])
    owners = None if release.people is None else release.people[shown]
    people = People(pl.DataFrame([*texts, *others.get_columns()]), release.quasi, owners)
    people.matched[release] = Matching(columns, release.sizes, unread)
    return people


def _drawn(
    cells: pl.Series, tree: Hierarchy | None, groups: Integers, rng: np.random.Generator
) -> ColumnMatch:
    """Draw a value for each row out of the cell of its class."""
    shown = cells.unique(maintain_order=True)
    bare = column_match(cells, _named(shown, tree), tree)
    ends = np.where(bare.words < 0, np.stack([bare.low, bare.high]), np.nan)  # a node may look like a range
    stretches = _Stretches.between(*ends)
    cell = bare.of_class[groups]
    low, high = ends[:, cell]
    if stretches.many:  # a cell that shows nothing may be any number
        hidden = _stars(shown)[cell]
        low = np.where(hidden, stretches.ends[0], low)
        high = np.where(hidden, stretches.ends[-1], high)
    share = rng.random(len(groups))
    with np.errstate(invalid="ignore"):  # of a range without any end nothing is known either way
        of_person = stretches.around(low * (1.0 - share) + high * share)
    of_person = np.where(low < high, of_person, -1)
    _draw_named(of_person, cell, bare, stretches.many, share)
    return _with_numbers(bare, stretches, of_person)


@dataclass(frozen=True)
class _Stretches:
    """The stretches between neighbouring ends of ranges: no cell tells the numbers of one apart."""

    ends: Floats  # ascending; one more than there are stretches

    @classmethod
    def between(cls, low: Floats, high: Floats) -> Self:
        wide = low < high
        return cls(np.unique(np.concatenate([low[wide], high[wide]])))

    @property
    def many(self) -> int:
        return max(len(self.ends) - 1, 0)

    @property
    def middles(self) -> Floats:
        return np.asarray(self.ends[:-1] / 2 + self.ends[1:] / 2)

    def around(self, numbers: Floats) -> Integers:
        """Say in which stretch each number lies."""
        return np.clip(np.searchsorted(self.ends, numbers, side="right") - 1, 0, max(self.many - 1, 0))


def _draw_named(of_person: Integers, cell: Integers, bare: ColumnMatch, first: int, share: Floats) -> None:
    """Fill in the people whose cells are no ranges: each has one of the values that the cell covers."""
    rows = np.flatnonzero(of_person < 0)
    rows = rows[np.argsort(cell[rows], kind="stable")]
    starts = np.flatnonzero(np.diff(cell[rows], prepend=-1))
    for part in np.split(rows, starts[1:]) if len(rows) else []:
        covered = np.flatnonzero(bare.fitting(int(cell[part[0]])))
        chosen = (share[part] * len(covered)).astype(np.int64)
        of_person[part] = first + (covered[chosen] if len(covered) else len(bare.values))


def _with_numbers(bare: ColumnMatch, stretches: _Stretches, of_person: Integers) -> ColumnMatch:
    """Put numbers before the named values, and one behind for cells that nobody can read."""
    everything = _stars(bare.cells)[bare.words >= 0]
    dumb = ~bare.covers.any(axis=1)
    covers = [np.tile(everything[:, None], (1, stretches.many)), bare.covers, (dumb | everything)[:, None]]
    numbers = pl.Series(stretches.middles, dtype=pl.Float64).cast(pl.String)
    return ColumnMatch(
        values=pl.concat([numbers, bare.values.rename(""), pl.Series([_UNREAD])]),
        of_person=of_person,
        cells=bare.cells,
        of_class=bare.of_class,
        at=np.concatenate([stretches.middles, bare.at, [np.nan]]),
        low=bare.low,
        high=bare.high,
        words=bare.words,
        covers=np.concatenate(covers, axis=1),
    )


def _stars(cells: pl.Series) -> Mask:
    return (cells == SUPPRESSED).fill_null(value=False).to_numpy()


def _named(shown: pl.Series, tree: Hierarchy | None) -> pl.Series:
    """Give the values that cells name; a beginning stands for a value of its own, a star for any."""
    low, high = read_ranges(shown)
    single, wide = low == high, low < high
    nodes = np.zeros(len(shown), np.bool_) if tree is None else np.isin(shown.to_numpy(), _labels(tree))
    named: dict[str | None, None] = dict.fromkeys(shown.filter(pl.Series(single & ~nodes)).to_list())
    for text in shown.filter(pl.Series(~(single | wide) | nodes)).to_list():
        leaves = [] if tree is None or text is None else leaves_under(text, tree)
        match read_cell(text):
            case _ if leaves:
                named |= dict.fromkeys(leaves)
            case Members(members):
                named |= dict.fromkeys(members)
            case Prefix(beginning):
                named[f"{beginning}\0"] = None
            case Exact(word):
                named[word] = None
            case MissingCell():
                named[None] = None
            case _:
                pass
    return pl.Series(list(named), dtype=pl.String)


def _labels(tree: Hierarchy) -> list[str]:
    return sorted({label for level in tree.labels for label in level})
