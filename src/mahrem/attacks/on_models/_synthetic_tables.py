"""Tables of real and made-up rows, made comparable: shared columns, drawn rows, numbers on one scale."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
import polars as pl

from mahrem.attacks.on_models._examples import refuse_shared_rows
from mahrem.attacks.on_models._target import RowsTarget
from mahrem.errors import InvalidInput, shorten
from mahrem.types import Floats

MOST_VALUES = 200  # a text column with more is left out: each value would be a column
MOST_RELEASED = 200_000  # rows of the release that are looked at; fewer would hide copies
MOST_PAIRS = 400_000_000  # of a person asked about and a released row
FEWEST_ASKED = 2_000


@dataclass(frozen=True, kw_only=True)
class SyntheticTables:
    """Made-up rows beside real ones, with the columns that all share.

    Attributes:
        frames: ``release``, ``members``, ``holdout`` and, where there is one, ``reference``.
        warnings: What was left out.
    """

    frames: Mapping[str, pl.DataFrame] = field(repr=False)
    warnings: tuple[str, ...] = ()

    @classmethod
    def comparable(cls, frames: Mapping[str, pl.DataFrame]) -> Self:
        """Take the columns that all tables share and that can be compared: numbers, or text of few values."""
        shown = frames["release"]
        kept: dict[str, list[pl.Series]] = {name: [] for name in frames}
        for column in shown.columns:
            for name, cells in _comparable_cells(column, frames).items():
                kept[name].append(cells)
        if not kept["release"]:
            raise InvalidInput("the tables share no column that can be compared")
        used = {cells.name for cells in kept["release"]}
        left = [name for name in shown.columns if name not in used]
        warning = f"{len(left)} columns of the release were not compared: {shorten(left)}"
        compared = {name: pl.DataFrame(columns) for name, columns in kept.items()}
        return cls(frames=compared, warnings=(warning,) if left else ())

    @property
    def columns(self) -> tuple[str, ...]:
        """What is compared."""
        return tuple(self.frames["release"].columns)

    def refuse_mixed(self) -> None:
        """Refuse a hold-out or a reference that shares rows with those it must not share."""
        hashed = {
            name: frame.hash_rows().to_numpy() for name, frame in self.frames.items() if name != "release"
        }
        refuse_shared_rows(hashed["members"], hashed["holdout"])
        if "reference" in hashed:
            refuse_shared_rows(np.concatenate([hashed["members"], hashed["holdout"]]), hashed["reference"])

    def drawn(self, seed: int) -> Self:
        """Draw rows where there are too many to compare all with all."""
        shown, warnings = self.frames["release"], self.warnings
        if shown.height > MOST_RELEASED:
            looked_at = f"{MOST_RELEASED} of {shown.height} rows of the release were looked at"
            warnings = (*warnings, f"{looked_at}: attacks find less than there may be")
            shown = shown.sample(MOST_RELEASED, seed=seed)
        asked = max(FEWEST_ASKED, MOST_PAIRS // max(shown.height, FEWEST_ASKED * 10))
        drawn = {
            name: frame if frame.height <= asked else frame.sample(asked, seed=seed)
            for name, frame in self.frames.items()
        }
        return replace(self, frames={**drawn, "release": shown}, warnings=warnings)

    def target(self, cost: tuple[float, float] | None) -> RowsTarget:
        """Give all tables as numbers on one scale: the release's ranges, a column for each text."""
        blocks: dict[str, list[Floats]] = {name: [] for name in self.frames}
        for shown in self.frames["release"]:
            cells = {name: frame[shown.name] for name, frame in self.frames.items()}
            if shown.dtype == pl.Float64:
                known = shown.to_numpy()
                low, high = float(np.nanmin(known)), float(np.nanmax(known))
                width = (high - low) or 1.0
                for name, column in cells.items():
                    blocks[name].append(np.nan_to_num((column.to_numpy() - low) / width, nan=0.5)[:, None])
                continue
            values = pl.concat(list(cells.values())).unique().sort()
            for name, column in cells.items():
                codes = column.to_numpy()[:, None] == values.to_numpy()[None, :]
                blocks[name].append(codes.astype(np.float64) / np.sqrt(2))
        return RowsTarget(**{name: np.hstack(parts) for name, parts in blocks.items()}, cost=cost)


def _comparable_cells(column: str, frames: Mapping[str, pl.DataFrame]) -> Mapping[str, pl.Series]:
    """Give a column of every table, as numbers or as text; nothing where it cannot be compared."""
    if any(column not in frame.columns for frame in frames.values()):
        return {}
    numbers = {name: _numbers(frame[column]) for name, frame in frames.items()}
    known = {name: cells for name, cells in numbers.items() if cells is not None}
    if len(known) == len(frames):
        return known
    texts = {name: frame[column].cast(pl.String).fill_null("") for name, frame in frames.items()}
    return texts if pl.concat(list(texts.values())).n_unique() <= MOST_VALUES else {}


def _numbers(cells: pl.Series) -> pl.Series | None:
    """Give a column as numbers; None where it is text."""
    cast = cells.cast(pl.Float64, strict=False)
    if cast.null_count() > cells.null_count() or cast.null_count() == len(cells):
        return None
    return cast.fill_null(float("nan")) + 0.0  # one zero
