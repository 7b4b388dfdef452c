"""Columns of text, looked at in full before anything is read: how numbers and dates are written in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import polars as pl

from mahrem.errors import InvalidInput, spelled
from mahrem.table import Kind, read_kind
from mahrem.table.reading import LOOKED_AT, PlainTexts, PolarsSource, Spelling, may_be_respelled, plain_texts


@dataclass
class _TextColumn:
    """What was seen of one column so far."""

    name: str
    open: bool  # it may hold numbers or dates in another spelling
    kinds: set[Kind] = field(default_factory=set)  # of batches that show something
    distinct: pl.Series | None = None  # None after all: too many to hold

    def add(self, texts: pl.Series, decimal: str | None, most: int, *, first: bool) -> None:
        if not len(texts):
            return
        if not first and self.distinct is not None:
            texts = texts.filter(~texts.is_in(self.distinct))  # each is looked at once
        if len(texts):
            self.kinds.add(read_kind(texts, decimal=decimal)[0])
        if first or self.distinct is not None:
            known = texts if self.distinct is None else pl.concat([self.distinct, texts])
            self.distinct = known if len(known) <= most else None

    def plain(self, spelling: Spelling) -> PlainTexts | None:
        if not self.open or not self.kinds:
            return None
        if self.distinct is not None:
            return plain_texts(self.distinct.alias(self.name), spelling)
        if self.kinds == {Kind.NUMERIC} and spelling.thousands is None and not spelling.date_format:
            return None  # as plain as numbers can be
        raise InvalidInput(
            f"column={self.name!r} holds more different texts than fit into this much memory, and how to "
            f"read them depends on all of them; say more ({spelled('memory', '8GB')}), or save what it holds "
            "as numbers or dates, in Parquet"
        )


def look_at_texts(
    source: PolarsSource, names: Sequence[str], *, decimal: str | None, rows: int, most: int
) -> frozenset[str]:
    """Find out how columns of text are written, and which hold plain numbers alone.

    Args:
        source: The table; it learns how its columns are to be read.
        names: Columns that will be read.
        decimal: The sign before a number's fraction, where it is not a point.
        rows: To read at a time.
        most: Different texts of a column that are held.
    """
    spelling = source.reading.spelling
    source.spelled_as(dict.fromkeys(names))  # until all was seen, cells are as they are written
    columns: dict[str, _TextColumn] = {}
    if spelling is None:
        return frozenset()
    kinds = source.scan(names).collect_schema()
    texts_alone = [name for name in names if kinds[name] == pl.String]
    for batch in source.batches(texts_alone, rows) if texts_alone else ():
        first = not columns
        for name in _texts(batch):
            if first:
                open_ = not spelling.leaves(name) and may_be_respelled(batch[name].head(LOOKED_AT))
                columns[name] = _TextColumn(name, open_)
            texts = batch[name].drop_nulls().unique()
            columns[name].add(texts, decimal, most, first=first or not columns[name].kinds)
    read = {name: column.plain(spelling) for name, column in columns.items()}
    source.spelled_as(read)
    return frozenset(
        name for name, column in columns.items() if read[name] is None and column.kinds == {Kind.NUMERIC}
    )


def _texts(batch: pl.DataFrame) -> Iterable[str]:
    return (name for name, kind in batch.schema.items() if kind == pl.String)
