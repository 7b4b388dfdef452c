"""A draft as a file of text: what classes show is written once for each class, and copied for each row."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import numpy as np
import polars as pl

from mahrem.drafts._draft import Draft, starred
from mahrem.recode import render
from mahrem.table import FORMATS
from mahrem.table.cells import text_where_needed
from mahrem.table.cells.formulas import neutralise_formulas
from mahrem.table.formats import RecordFiles
from mahrem.table.writing import exported_names, refuse_unwritable, write_pieces, write_table
from mahrem.threads import ahead
from mahrem.types import Labels, Mask, Rows

_ROWS = 1 << 17  # put together at a time
_WORTH = 10_000  # rows from which on classes are written apart


def write_draft(draft: Draft, path: Path) -> Rows | None:
    """Write what a draft publishes to a file that only its owner may read; gives the order of its rows.

    Guarantees:
        - The same bytes as :func:`~mahrem.table.writing.write_table` writes of :meth:`Draft.table_for_file`.
        - The file appears under its name when it is whole; a failure leaves nothing behind.
    """
    files = FORMATS[draft.policy.format].load()
    if not isinstance(files, RecordFiles) or draft.prepared.rows < _WORTH or len(draft.columns) < 2:
        table, order = draft.table_for_file()
        write_table(table, path, draft.policy.format, draft.prepared.source.labels)
        return order
    rest, order = draft.rest_for_file()
    labels = draft.labels if order is None else draft.labels[order]
    write_pieces(ahead(_pieces(draft, rest, labels, files)), path)
    return order


def _pieces(
    draft: Draft, rest: pl.DataFrame, labels: Labels, files: RecordFiles
) -> Iterator[bytes | memoryview]:
    """Give the header, then some rows at a time."""
    from mahrem.arrays.weaving import Strand, weave  # a small table does without

    hidden = labels < 0
    shown = _shown_by_classes(draft, hidden=bool(hidden.any()))
    beside = _written(rest, hidden, draft.policy.format) if rest.width else rest
    runs = [(by_class, list(names)) for by_class, names in groupby(draft.kept_columns, shown.__contains__)]
    ends = [*[files.separator] * (len(runs) - 1), "\n"]
    strands = [
        files.records(pl.DataFrame([s for name in names for s in shown[name]]), end) if by_class else None
        for (by_class, names), end in zip(runs, ends, strict=True)
    ]
    yield files.header(_exported(draft, draft.columns))
    last = draft.partition.classes  # what rows show that show nothing
    woven, before = None, None
    for start in range(0, len(labels), _ROWS):
        some = beside[start : start + _ROWS]
        classes = labels[start : start + _ROWS]
        room, before = before, woven  # those before may still be written, those before them are
        woven = weave(
            [
                Strand(*files.records(some.select(_exported(draft, names)), end), np.arange(len(classes)))
                if strand is None
                else Strand(*strand, np.where(classes < 0, last, classes))
                for strand, (_, names), end in zip(strands, runs, ends, strict=True)
            ],
            room,
        )
        yield woven.data


def _shown_by_classes(draft: Draft, *, hidden: bool) -> dict[str, list[pl.Series]]:
    """Give what each class shows in every quasi-identifier; rows that show nothing are one class more."""
    classes = np.arange(draft.partition.classes + hidden)
    none = classes == draft.partition.classes
    shown = {
        name: render(cells, np.where(none, -1, classes), draft.form, name)
        for name, cells in draft.cells.items()
    }
    return {
        name: _written(pl.DataFrame(parts), none, draft.policy.format).get_columns()
        for name, parts in shown.items()
    }


def _exported(draft: Draft, names: list[str]) -> list[str]:
    return exported_names(names, draft.policy.format)


def _written(table: pl.DataFrame, hidden: Mask, format: str) -> pl.DataFrame:  # noqa: A002 - the option's name
    """Give cells as a file of text has them."""
    refuse_unwritable(table.schema, format)
    return neutralise_formulas(starred(text_where_needed(table), hidden))
