"""One published figure beside ours, and what a recipe needs to make such rows."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from statistics import stdev
from typing import Any, TypeAlias

FlatRow: TypeAlias = Mapping[str, Any]  # a row for pictures: its settings beside its figures
_UNITS = {"share": 0.000101, "accuracy": 0.00101, "macro_f1": 0.00101, "u": 0.00101}


@dataclass(frozen=True, kw_only=True)
class Row:
    """One figure: as printed, and as it comes out here.

    ``published`` is None for a figure the source does not print (an honest total, a method of ours);
    ``ours`` is None for one that is not run here, and ``note`` says why. ``picture`` is a PNG to look at.

    Example:
        >>> row = Row(
        ...     paper="canbay2019", table="4.7", dataset="adult", setting={"k": 5}, method="mondrian",
        ...     metric="classes", published=4553, ours=4553,
        ... )
        >>> row.difference, row.exact
        (0, True)
    """

    paper: str
    table: str
    dataset: str
    setting: Mapping[str, str | float]
    method: str
    metric: str
    published: float | None = None
    ours: float | None = None
    note: str = ""
    picture: bytes = field(default=b"", repr=False)

    @property
    def difference(self) -> float | None:
        """Ours less the published figure; None when one of them is not there."""
        return None if self.published is None or self.ours is None else self.ours - self.published

    @property
    def exact(self) -> bool:
        """True when both are there and agree to a unit of the second decimal place.

        Ratios and figures between 0 and 1 (accuracy, Theil's U) agree to one of the third, shares of the
        fourth.
        """
        limit = _UNITS.get(self.metric, 0.00101 if "ratio" in self.metric else 0.0101)
        return self.difference is not None and abs(self.difference) <= limit

    def as_dict(self) -> dict[str, object]:
        """Give what goes into JSON."""
        keys = ("paper", "table", "dataset", "setting", "method", "metric", "published", "ours", "difference")
        shown = {key: getattr(self, key) for key in (*keys, *(("note",) if self.note else ()))}
        return {**shown, "setting": dict(self.setting)}


@dataclass(frozen=True)
class Place:
    """Where figures stand: what their rows begin with.

    Example:
        >>> place = Place("canbay2019", "4.7", "adult").at(k=5)
        >>> place.row("mondrian", "gcp_sum", 2238.12345, 3953).ours
        2238.1235
    """

    paper: str
    table: str
    dataset: str
    setting: Mapping[str, str | float] = field(default_factory=dict)
    digits: int | None = 4  # of our figures, unless they are counts

    def at(self, **setting: str | float) -> Place:
        """Give the same place with more settings."""
        return replace(self, setting={**self.setting, **setting})

    def rounded(self, digits: int | None) -> Place:
        """Give the same place with our figures rounded to so many digits; None for all of them."""
        return replace(self, digits=digits)

    def row(
        self, method: str, metric: str, ours: float | None, published: float | None = None, note: str = ""
    ) -> Row:
        """Make a row; our figure is rounded, unless it is a count, and minus zero is zero."""
        if ours is not None and not isinstance(ours, int):
            ours = float(ours) if self.digits is None else round(float(ours), self.digits) + 0.0
        return Row(
            paper=self.paper,
            table=self.table,
            dataset=self.dataset,
            setting=self.setting,
            method=method,
            metric=metric,
            published=published,
            ours=ours,
            note=note,
        )


@dataclass(frozen=True)
class Bounds:
    """How much of a long experiment is run.

    Attributes:
        only: Methods; all where none is named.
        seconds: That one run of a method may take.
        folder: Where finished runs are kept; what is there is not run again.
    """

    only: tuple[str, ...] = ()
    seconds: float = 3600.0
    folder: Path | None = None


@dataclass(frozen=True)
class TableRun:
    """One table that is made again: which one, how much of it, who is told, and what lives until the end."""

    paper: str
    table: str
    quick: bool
    step: Callable[[str], None]
    stack: ExitStack  # closed after the last table
    bounds: Bounds = Bounds()

    def place(self, dataset: str, **setting: str | float) -> Place:
        """Give the place of this table's rows on a data set."""
        return Place(self.paper, self.table, dataset, setting)


def spread_note(values: Sequence[float]) -> str:
    """Say how far several runs lie apart; nothing of a single one."""
    return f"sd {stdev(values):.2f} over {len(values)} runs" if len(values) > 1 else ""


@cache
def published_rows(name: str) -> tuple[dict[str, str], ...]:
    """Read one file of published figures."""
    text = files("mahrem.experiments").joinpath("published", f"{name}.csv").read_text(encoding="utf-8")
    return tuple(csv.DictReader(text.splitlines()))
