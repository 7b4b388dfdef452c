"""The people around a table: everyone it might have been drawn from."""

from __future__ import annotations

import numpy as np
import polars as pl

from mahrem import check
from mahrem.errors import InvalidInput
from mahrem.release.decisions._columns import reading_beside
from mahrem.release.decisions._policy import Policy
from mahrem.table import open_source
from mahrem.table.cells import SUPPRESSED
from mahrem.types import Mask


def population_of(policy: Policy, quasi: pl.DataFrame) -> pl.DataFrame:
    """Read the quasi-identifiers of everyone, in the kinds of the table's."""
    source = open_source(policy.population, reading_beside(policy))
    asked = [name for name in quasi.columns if name not in policy.suppress]
    check.columns_exist(asked, source.columns)
    everyone = source.take(asked or source.columns[:1])  # one at least, to know how many people there are
    silent = (pl.lit(SUPPRESSED).alias(name) for name in policy.suppress)
    everyone = everyone.with_columns(silent).select(quasi.columns)
    if everyone.schema != quasi.schema:
        for name, kind in quasi.schema.items():
            _refuse_other_zone(name, kind, everyone.schema[name])
        try:
            everyone = everyone.cast(quasi.schema)
        except pl.exceptions.PolarsError:
            raise InvalidInput(
                "population has other kinds of values than the table in a quasi-identifier"
            ) from None  # polars would show the value
    return everyone


def _refuse_other_zone(name: str, ours: pl.DataType, theirs: pl.DataType) -> None:
    moments = [kind for kind in (ours, theirs) if isinstance(kind, pl.Date | pl.Datetime)]
    with_zone = {isinstance(kind, pl.Datetime) and kind.time_zone is not None for kind in moments}
    if len(with_zone) > 1:
        raise InvalidInput(f"population: column={name!r} has a time zone in one table and none in the other")


def others_of(members: pl.DataFrame, everyone: pl.DataFrame) -> pl.DataFrame:
    """Give the people of the population who are not in the table, one for one."""
    return everyone.filter(~pl.Series(members_in(everyone, members, "table"), dtype=pl.Boolean))


def members_in(everyone: pl.DataFrame, members: pl.DataFrame, table: str) -> Mask:
    """Say who of a population is in a table, one for one; ``table`` names it in messages."""
    quasi = members.columns
    turn = "turn" + "_" * max(len(name) for name in quasi)
    numbered, population = (
        frame.select(quasi).with_columns(pl.int_range(pl.len()).over(quasi).alias(turn))
        for frame in (members, everyone)
    )
    inside = numbered.with_columns(pl.lit(value=True).alias(turn + "in"))
    joined = population.join(inside, on=[*quasi, turn], how="left", nulls_equal=True, maintain_order="left")
    present = joined[turn + "in"].fill_null(value=False).to_numpy()
    strangers = members.height - int(np.count_nonzero(present))
    if strangers:
        raise InvalidInput(
            f"population lacks {strangers} of the {members.height} rows of the {table}: it must hold them all"
        )
    return np.asarray(present)
