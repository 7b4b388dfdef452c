"""Cells hidden until every combination of chosen columns is frequent enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import polars as pl
from numpy.typing import NDArray

from mahrem import check
from mahrem.disclosed import published
from mahrem.errors import GuaranteeBroken, InvalidParameter, in_our_words, spelled
from mahrem.partition.hiding import KeySet, hide_for_sets
from mahrem.pipeline.masking._masked import MaskedRelease, MaskedSource, open_masked, publish_masked
from mahrem.pipeline.masking._settings import SuppressionSettings
from mahrem.settings import split_settings
from mahrem.table.cells import as_text, write_labels
from mahrem.types import Mask
from mahrem.verify import SUPPRESSED, matching_rows, published_classes
from mahrem.words import Note, warn_of

if TYPE_CHECKING:
    from mahrem.pipeline.masking._keywords import SuppressionKeywords

_METHOD = "local-suppression"


@in_our_words
def suppress(
    source: object,
    *,
    output: str | Path | None = None,
    force: bool = False,
    **settings: Unpack[SuppressionKeywords],
) -> MaskedRelease:
    """Hide as few cells of the quasi-identifiers as can be found, so that no combination is too rare.

    Args:
        source: A frame, a file or a database.
        output: Write a release folder there; without it the table is only checked in memory.
        force: Replace an earlier release under ``output``.
        **settings: Every name of :class:`~mahrem.pipeline.masking.SuppressionKeywords`.
            ``k``: rows that must be alike in all quasi-identifiers. ``sets``: columns that
            somebody may know together, and their k; all of them hold together. ``reading``,
            what a hidden cell is taken for: ``exact``, a value of its own (k then holds as for every
            release), or ``match``, equal to every value, as sdcMicro counts: fewer cells
            are hidden, and somebody who knows all columns of a person may still find them.
            Further roles of columns, how the source is read, ``weights`` (columns worth more are hidden
            later), ``format``.

    Guarantees:
        - In every set each row is one of at least k, counted as ``reading`` says, on what is published, by
          code that does not know how it was made.
        - What is shown stood there before.

    Example:
        >>> import polars as pl
        >>> people = pl.DataFrame({"age": [20, 20, 30, 40], "sex": ["f", "f", "f", "f"]})
        >>> hidden = suppress(people, k=2, quasi=["age", "sex"], accept={"*": "an example"})
        >>> hidden.table["age"].to_list()
        ['20', '20', '*', '*']
    """
    asked_for, rest = split_settings(SuppressionSettings, settings)
    k, reading = asked_for.k, asked_for.reading
    opened = open_masked(source, rest)
    if k is not None and reading == "exact":  # what an audit will ask for
        opened = replace(opened, policy=replace(opened.policy, k=k, method=_METHOD))
    quasi = opened.policy.quasi
    if not quasi:
        raise InvalidParameter(f"quasi=() must name the columns to hide cells of: {spelled('quasi', ['A'])}")
    for name, weight in opened.policy.weights.items():
        check.above_zero(**{f"weights.{name}": weight})
    asked = _key_sets(asked_for, quasi)
    codes = np.column_stack([_codes(opened.table[name]) for name in quasi])
    prices = np.array([opened.policy.weights.get(name, 1.0) for name in quasi])
    hidden = hide_for_sets(codes, asked, prices, matching=reading == "match")
    table = _hidden(opened, hidden)

    def verified(shown: pl.DataFrame) -> None:
        for each, least in zip(asked, _least(shown, asked, quasi), strict=True):
            if least[reading] < each.k:
                raise GuaranteeBroken("the published table does not keep k of a key set; please report this")
        if shown.height != opened.table.height or shown.columns != opened.table.columns:
            raise GuaranteeBroken("the published table does not have the rows and columns it should have")

    if reading == "match":
        warn_of(Note("warning.hidden_matches"))
    report = _report(opened, table, asked, reading)
    return publish_masked(table, report, opened, output=output, force=force, verified=verified)


def _key_sets(settings: SuppressionSettings, quasi: Sequence[str]) -> list[KeySet]:
    named = [] if settings.k is None else [(tuple(quasi), settings.k)]
    for names, count in settings.sets:
        missing = [name for name in names if name not in quasi]
        if missing:
            raise InvalidParameter(f"sets: column={missing[0]!r} must be a quasi-identifier")
        named.append((names, count))
    if not named:
        raise InvalidParameter("say k, or key sets with their k: sets={'age,sex': 5}")
    return [KeySet(tuple(list(quasi).index(name) for name in names), count) for names, count in named]


def _codes(series: pl.Series) -> NDArray[np.int32]:
    return (as_text(series).rank("dense").cast(pl.Int32) - 1).fill_null(-1).to_numpy()


def _hidden(opened: MaskedSource, hidden: Mask) -> pl.DataFrame:
    """Put ``*`` into hidden cells; what is shown is written so that no value reads as one."""
    shown = []
    for place, name in enumerate(opened.policy.quasi):
        text = write_labels(as_text(opened.table[name]))
        shown.append(text.set(pl.Series(hidden[:, place]), SUPPRESSED).alias(name))
    return opened.table.with_columns(shown)


def _least(shown: pl.DataFrame, asked: Sequence[KeySet], quasi: Sequence[str]) -> list[dict[str, int]]:
    """Count the fewest rows that are alike in each set, read either way."""
    sizes = []
    for each in asked:
        names = [quasi[place] for place in each.columns]
        exact = int(published_classes(shown, names)[1].min())
        match = int(matching_rows(shown, names, enough=each.k).min())
        sizes.append({"exact": exact, "match": match})
    return sizes


def _report(
    opened: MaskedSource, table: pl.DataFrame, asked: Sequence[KeySet], reading: str
) -> dict[str, object]:
    quasi = opened.policy.quasi
    cells = {name: int((table[name] == SUPPRESSED).sum()) for name in quasi}
    return {
        "holds": True,
        "promises_k": opened.policy.k is not None,
        "promises": published(_promises(opened.policy.k)),
        "method": _METHOD,
        "reading": reading,
        "sets": [
            {
                "columns": [quasi[place] for place in each.columns],
                "k": published(each.k),
                "fewest": published({how: min(count, each.k) for how, count in least.items()}),
            }
            for each, least in zip(asked, _least(table, asked, quasi), strict=True)
        ],
        "hidden": published(cells),
        "hidden_share": published(sum(cells.values()) / max(1, table.height * len(quasi))),
        "rows": published(table.height),
        "settings": published(opened.policy.public()),
    }


def _promises(k: int | None) -> list[dict[str, Any]]:
    kept = {"model": "k-anonymity", "wanted": k, "reached": k, "holds": True, "column": None}
    return [] if k is None else [kept]
