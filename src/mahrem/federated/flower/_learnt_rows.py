"""The rows that a table was learnt from, as keyed hashes, and who is told apart by several such tables."""

from __future__ import annotations

import hashlib
import hmac
import io
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from mahrem.files import private_key
from mahrem.types import Integers

Hashes = NDArray[np.uint64]
Counted = tuple[Hashes, Integers]  # different values, sorted, and how many rows have each
FEW_CHANGED = 20  # people; results before and after as many joined or left speak of all of them together
COMBINED, PAIRED = 6, 40  # tables of which every union and difference is tried, and those of each two
AT_ONCE = 256  # combinations that are compared at once
_ROWS = ""  # names the hashes of whole rows; no column is called so
_PURPOSE = b"mahrem-rows-1"


@dataclass(frozen=True)
class LearntRows:
    """A table as keyed hashes: of whole rows, and of the cells of each column by themselves.

    Guarantees:
        - The order of rows does not matter, and without the key nothing can be guessed.
        - Which cells stand in one row is in none of them but that of the whole row.
    """

    columns: Mapping[str, Counted] = field(repr=False)  # whole rows under the empty name

    @classmethod
    def of(cls, frame: pl.DataFrame) -> LearntRows:
        """Make them of a table, with this user's key; equal cells are those that are written alike."""
        key = private_key()
        texts = frame.select(pl.all().cast(pl.String))
        whole = texts.select(pl.concat_str(_framed(name) for name in sorted(texts.columns)).alias(_ROWS))
        series = [*texts.select(_framed(name) for name in texts.columns).get_columns(), whole[_ROWS]]
        return cls(
            {
                one.name: _counted(one, hmac.digest(key, _PURPOSE + one.name.encode(), "sha256"))
                for one in series
            }
        )

    @property
    def names(self) -> frozenset[str]:
        """The columns."""
        return frozenset(self.columns) - {_ROWS}

    @cached_property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self.columns[_ROWS][1].sum())

    def digest(self) -> str:
        """Give what tells these rows from others."""
        digest = hashlib.sha256()
        for name in sorted(self.columns):
            digest.update(name.encode() + b"\0" + b"".join(part.tobytes() for part in self.columns[name]))
        return digest.hexdigest()[:32]

    def resembles(self, other: LearntRows) -> bool:
        """Say whether these are likely the same people, by rows that are alone of their kind in each table.

        Half of them, and no fewer than twenty: tables of few different rows are alike everywhere.
        """
        mine, theirs = (one.columns[_ROWS][0][one.columns[_ROWS][1] == 1] for one in (self, other))
        shared = len(np.intersect1d(mine, theirs, assume_unique=True))
        return self.names == other.names and 2 * shared >= max(2 * FEW_CHANGED, min(len(mine), len(theirs)))

    def to_bytes(self) -> bytes:
        """Give what :meth:`read` reads."""
        names = sorted(self.columns)
        parts: dict[str, Any] = {
            f"{place}-{part}": self.columns[name][part] for place, name in enumerate(names) for part in (0, 1)
        }
        whole = io.BytesIO()
        np.savez_compressed(whole, names=np.array(names, np.str_), **parts)
        return whole.getvalue()

    @classmethod
    def read(cls, content: bytes) -> LearntRows:
        """Read what :meth:`to_bytes` gave."""
        with np.load(io.BytesIO(content), allow_pickle=False) as parts:
            names = parts["names"].tolist()
            return cls({name: (parts[f"{place}-0"], parts[f"{place}-1"]) for place, name in enumerate(names)})


def least_told_apart(now: LearntRows, before: Sequence[LearntRows]) -> int | None:
    """Give the size of the smallest group of people that a table tells apart, and those before it did not.

    What a run tells of a table is a sum over its rows, ``f(t) = sum of f(row)``. Whoever has the results of
    several runs can make ``a1 f(t1) + a2 f(t2) + …`` of them, for any numbers ``a``. People who are in the
    same of all tables are a group, and all of a group have the same number before them: the ``a`` of the
    tables that they are in, added up. So **each such combination is one of groups as a whole**, however many
    tables are in it: if all groups are large, it speaks of as many people as the smallest has, or more.

    Rows that are written alike may be of two people, one in each of two tables, who then look like one in
    both. So combinations are tried, too: unions and differences of up to six tables (of two, if there are
    more, of one from forty on), and the one with the least squares. What is between the nearest and the table
    is such a group. A table that is one of the others again, or some of them together, tells nothing new.

    That is about sums over rows of the same columns. Tables of other columns are compared by each column that
    both have; so are those of nearly as many rows, since a column that is written anew makes other rows of
    all. What is not seen: rows that exchange cells while columns are compared by themselves, and people of
    whom somebody knows from elsewhere.

    Args:
        now: The table that is about to be learnt from.
        before: Those that were.

    Returns:
        How many people; None where nobody is told apart who was not before.
    """
    alike = [other for other in before if other.names == now.names]
    others = [other for other in before if other.names != now.names]
    anew = [other for other in alike if abs(now.rows - other.rows) < FEW_CHANGED]
    sizes = [_least_new_group([other.columns[_ROWS] for other in alike], now.columns[_ROWS])]
    for name in now.names:
        known = [other.columns[name] for other in (*anew, *others) if name in other.names]
        sizes.append(_least_new_group(known, now.columns[name]))
    return min((size for size in sizes if size is not None), default=None)


def _least_new_group(before: Sequence[Counted], now: Counted) -> int | None:
    """Give the size of the smallest group that a table makes out of those of the others.

    Example:
        >>> def rows(*values: int) -> Counted:
        ...     return np.array(values, np.uint64), np.ones(len(values), np.int64)
        >>> _least_new_group([rows(1, 2, 3)], rows(1, 2, 3)), _least_new_group([rows(1, 2)], rows(2, 3, 4))
        (None, 1)
        >>> _least_new_group([rows(1, 2, 3), rows(4, 5, 6)], rows(1, 2, 3, 4, 5, 6, 7, 8))
        2
    """
    if not before:
        return None
    (many, values), total = _side_by_side([*before, now]), int(now[1].sum())
    apart = _apart(many, values)
    if any(size == 0 and min(numbers) >= 0 for numbers, size in apart):
        return None
    halves: dict[bytes, list[int]] = {}
    for pattern, size in _groups(many, values).items():
        halves.setdefault(pattern[:-1], [0, 0])[pattern[-1]] = size
    new = [size for pair in halves.values() if all(pair) for size in pair]  # was one group before
    new += [halves.get(bytes(len(before)), [0, 0])[1]]  # in none of the others
    new += [size for _, size in apart]
    return min((size for size in new if 0 < size != total), default=None)


def _apart(many: Integers, values: Integers) -> list[tuple[tuple[float, ...], int]]:
    """Give combinations of all tables but the last, and how many rows are between each and the last."""
    known, own = many[:, :-1].astype(np.float64), many[:, -1]
    weighed = known.T * values
    fitted = np.rint(np.linalg.lstsq(weighed @ known, weighed @ own, rcond=None)[0])
    tables = known.shape[1]
    tried = [fitted] if fitted.any() else []
    most = tables if tables <= COMBINED else 2 if tables <= PAIRED else 1
    for size in range(1, most + 1):
        for chosen in itertools.combinations(range(tables), size):
            numbers = np.zeros((2**size, tables))
            numbers[:, chosen] = list(itertools.product((-1, 1), repeat=size))
            tried += list(numbers)
    sizes: list[float] = []
    for at in range(0, len(tried), AT_ONCE):
        sizes += (np.abs(own - np.array(tried[at : at + AT_ONCE]) @ known.T) @ values).tolist()
    return [(tuple(numbers.tolist()), round(size)) for numbers, size in zip(tried, sizes, strict=True)]


def _groups(many: Integers, values: Integers) -> dict[bytes, int]:
    """Give how many people are in the same of all tables, by a byte for each table.

    Args:
        many: ``(kinds, tables)`` how many rows of a table have a value of a kind. The first of them is one
            person in all tables that have one or more, the second in those of two or more, and so on.
        values: ``(kinds,)`` how many values are of each kind.
    """
    sizes: dict[bytes, int] = {}
    levels = np.sort(many, axis=1)
    steps = np.diff(levels, axis=1, prepend=0)
    for place in range(many.shape[1]):
        there = steps[:, place] > 0
        patterns = (many[there] >= levels[there, place, None]).astype(np.uint8)
        different, number = np.unique(patterns, axis=0, return_inverse=True)
        added = np.bincount(
            number.ravel(), weights=steps[there, place] * values[there], minlength=len(different)
        )
        for pattern, size in zip(different, added.astype(np.int64).tolist(), strict=True):
            sizes[pattern.tobytes()] = sizes.get(pattern.tobytes(), 0) + size
    return sizes


def _side_by_side(tables: Sequence[Counted]) -> tuple[Integers, Integers]:
    """Give ``(kinds, tables)`` how often each table has values of a kind, and how many values are of each."""
    values = np.unique(np.concatenate([table[0] for table in tables]))
    many = np.zeros((len(values), len(tables)), np.int64)
    for place, (own, counts) in enumerate(tables):
        many[np.searchsorted(values, own), place] = counts
    kinds = pl.DataFrame(many, [str(place) for place in range(len(tables))]).group_by(pl.all()).len()
    return kinds.drop("len").to_numpy(), kinds["len"].to_numpy().astype(np.int64)


def _framed(name: str) -> pl.Expr:
    """Write a cell with its length, so that two rows are written alike only if they are alike."""
    cell = pl.col(name)
    return (
        pl.when(cell.is_null())
        .then(pl.lit("-"))
        .otherwise(pl.concat_str(cell.str.len_bytes(), pl.lit(":"), cell))
        .alias(name)
    )


def _counted(texts: pl.Series, key: bytes) -> Counted:
    counted = texts.alias("text").value_counts()
    hashes = np.array([_hash(text, key) for text in counted["text"]], np.uint64)
    different, number = np.unique(hashes, return_inverse=True)
    rows = np.bincount(number.ravel(), weights=counted["count"].to_numpy(), minlength=len(different))
    return different, rows.astype(np.int64)


def _hash(text: str, key: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), key=key, digest_size=8).digest(), "little")
