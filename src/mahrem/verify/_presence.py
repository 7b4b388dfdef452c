"""How many people of a public table a published class could mean: what delta-presence and k-map ask."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from mahrem.errors import InvalidParameter
from mahrem.models import DeltaPresence, Outcome, Promise
from mahrem.models.populations import PeopleEnough
from mahrem.table import Exact, Hierarchy, Members, MissingCell, Prefix, Suppressed, read_cell, read_ranges
from mahrem.table.cells import Cell
from mahrem.types import Floats, Integers, Mask, Sizes

if TYPE_CHECKING:
    from mahrem.verify._verify import Claims

_TOLERANCE = 1e-9
_BLOCK = 1 << 24  # pairs of class and person compared at a time: bounds memory, not the result

Inside = Callable[[slice], Mask]  # classes of the block x people: does the cell hold the person's value


@dataclass(frozen=True)
class Presence:
    """How likely each person of a public table is in a published one, and how many a class could mean."""

    chance: Floats = field(repr=False)  # (people,)
    fits: Mask = field(repr=False)  # (people,) some class shows a cell other than * and fits
    sizes: Sizes = field(repr=False)  # (classes,) rows; the last is that of rows that show nothing
    people: Sizes = field(repr=False)  # (classes,) whom each fits


def presence(
    part: pl.DataFrame,
    labels: Integers,
    sizes: Sizes,
    population: pl.DataFrame,
    claims: Claims,
    suppressed: int,
) -> Presence:
    """Say for each person of a public table how likely they are among the rows of a published one.

    A class of m rows whose cells fit f people holds each of them with chance m / f; where the cells of
    several classes fit one person, the chances add up, so that overlapping cells cannot make presence look
    smaller than it is.

    Rows that show ``*`` in every quasi-identifier, ``suppressed`` ones that show nothing at all among them,
    are of the people who fit no other class: whoever fits one would be in it. Each of these has the same
    chance. Only if there are more such rows than people are the others of everybody else.

    Compares every class with every person, so the cost is their product: overlapping cells cannot be sorted.
    """
    quasi = claims.quasi
    first = np.zeros(len(sizes), np.int64)
    first[labels] = np.arange(len(labels))
    shown = part.select(quasi)[first].with_columns(pl.col(pl.Categorical).cast(pl.String))
    stars = shown.select(
        pl.all_horizontal((pl.col(name).cast(pl.String) == "*").fill_null(value=False) for name in quasi)
    )
    starred = stars.to_series().to_numpy()
    hidden = suppressed + int(sizes[starred].sum())
    shown, sizes = shown.filter(pl.Series(~starred)), sizes[~starred]
    inside = [
        _inside(shown[name].cast(pl.String), population[name].cast(pl.String), claims.trees.get(name))
        for name in quasi
    ]
    chance, fitted = np.zeros(population.height), np.zeros(population.height, np.bool_)
    people = np.zeros(len(sizes), np.int64)
    step = max(1, _BLOCK // max(population.height, 1))
    for start in range(0, len(sizes), step):
        block = slice(start, min(start + step, len(sizes)))
        fits = inside[0](block)
        for column in inside[1:]:
            fits &= column(block)
        people[block] = fits.sum(axis=1)
        chance += (sizes[block] / np.maximum(people[block], 1)) @ fits
        fitted |= fits.any(axis=0)
    rest = int(np.count_nonzero(~fitted))
    chance[~fitted] += min(hidden, rest) / max(rest, 1)
    chance[fitted] += max(0, hidden - rest) / max(population.height - rest, 1)
    return Presence(chance, fitted, np.append(sizes, hidden), np.append(people, rest))


def judge_presence(promise: Promise, presence: Presence) -> Outcome:
    """Judge a promise about a population.

    Raises:
        InvalidParameter: If the promise is about something else.
    """
    model = promise.model
    if isinstance(model, PeopleEnough):
        return _judge_people(model, presence)
    if isinstance(model, DeltaPresence):
        return _judge_chances(model, presence)
    raise InvalidParameter(f"model={model.name!r} is not about a population")


def _judge_people(model: PeopleEnough, presence: Presence) -> Outcome:
    """Judge how many people every class fits, rows that show nothing being one, of whoever fits no other."""
    some = presence.sizes > 0
    sizes, people = presence.sizes[some], presence.people[some]
    few = people < model.people
    return Outcome(
        model=model.name,
        column=None,
        wanted=model.wanted,
        reached=float(people.min()) if len(people) else None,
        holds=not few.any(),
        violating_classes=int(np.count_nonzero(few)),
        violating_rows=int(sizes[few].sum()),
    )


def _judge_chances(model: DeltaPresence, presence: Presence) -> Outcome:
    """Judge delta-presence on everyone in the population; what is counted as violating is people.

    The model says what is asked for whoever fits no class that is shown.
    """
    chance = presence.chance
    low = np.where(presence.fits, model.low, model.unshown.low)
    outside = (chance < low - _TOLERANCE) | (chance > model.high + _TOLERANCE)
    return Outcome(
        model=model.name,
        column=None,
        wanted=model.wanted,
        reached=float(chance.max()) if len(chance) else None,
        holds=not outside.any(),
        violating_classes=0,
        violating_rows=int(outside.sum()),
    )


def _inside(cells: pl.Series, values: pl.Series, tree: Hierarchy | None) -> Inside:
    low, high = read_ranges(cells)
    at, _ = read_ranges(values)
    ranged = np.isfinite(low) | np.isfinite(high)
    if tree is not None:  # its labels may look like numbers
        labels = pl.concat([tree.cells(level) for level in range(tree.levels)])
        ranged &= ~cells.is_in(labels.implode()).fill_null(value=False).to_numpy()
    distinct = values.unique(maintain_order=True)
    value_at = _codes(values, distinct)
    words = cells.filter(pl.Series(~ranged)).unique(maintain_order=True)
    word_at = _codes(cells, words)
    covers = np.zeros((len(words), len(distinct)), np.bool_)
    for number, word in enumerate(words):
        covers[number] = _covers(read_cell(word), distinct)
    if tree is not None:
        covers |= _below(tree, words, distinct)

    def block(part: slice) -> Mask:
        fits = (low[part, None] <= at) & (at <= high[part, None])
        by_word = np.flatnonzero(~ranged[part])
        fits[by_word] = covers[word_at[part][by_word]][:, value_at]
        return fits

    return block


def _below(tree: Hierarchy, words: pl.Series, values: pl.Series) -> Mask:
    """Say which values lie below the node that a cell names, at whatever level there is one."""
    text = values.str.strip_chars()
    known = tree.find(text.drop_nulls().unique())
    leaf = text.replace_strict(known["leaf"], known["code"], default=None, return_dtype=pl.Int64)
    place = np.flatnonzero(leaf.is_not_null().to_numpy())
    below: Mask = np.zeros((len(words), len(values)), np.bool_)
    for level in range(tree.levels):
        shown = tree.cells(level).gather(tree.nodes[level][leaf.drop_nulls().to_numpy()])
        at = _codes(shown, words)
        below[at[at >= 0], place[at >= 0]] = True
    return below


def _codes(series: pl.Series, distinct: pl.Series) -> Integers:
    lookup = pl.DataFrame({"value": distinct, "code": np.arange(len(distinct))})
    joined = pl.DataFrame({"value": series}).join(
        lookup, on="value", how="left", nulls_equal=True, maintain_order="left"
    )
    return joined["code"].fill_null(-1).to_numpy()


def _covers(cell: Cell, values: pl.Series) -> Mask:
    match cell:
        case Suppressed():
            return np.ones(len(values), np.bool_)
        case MissingCell():
            return values.is_null().to_numpy()
        case Prefix(beginning):
            return values.str.starts_with(beginning).fill_null(value=False).to_numpy()
        case Members(members):
            return values.is_in(list(members), nulls_equal=True).to_numpy()
        case Exact(text):
            return (values == text).fill_null(value=False).to_numpy()
    raise InvalidParameter("population must be given with cells that are ranges, sets, prefixes or values")
