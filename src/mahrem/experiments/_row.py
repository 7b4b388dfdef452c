"""One published figure beside ours."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

__all__ = ["Row", "published_rows"]

_UNITS = {"share": 0.000101, "accuracy": 0.00101, "macro_f1": 0.00101, "u": 0.00101}


@dataclass(frozen=True, kw_only=True)
class Row:
    """One figure: as printed, and as it comes out here.

    ``published`` is None for a figure the source does not print (an honest total, a method of ours);
    ``ours`` is None for one that is not run here, and ``note`` says why.

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
    setting: Mapping[str, Any]
    method: str
    metric: str
    published: float | None = None
    ours: float | None = None
    note: str = ""

    @classmethod
    def rounded(
        cls,
        paper: str,
        table: str,
        dataset: str,
        setting: Mapping[str, Any],
        method: str,
        metric: str,
        ours: float | None,
        published: float | None = None,
        note: str = "",
        *,
        digits: int = 4,
    ) -> Row:
        """Make a row whose figure of ours is rounded, unless it is a count; minus zero is zero."""
        return cls(
            paper=paper,
            table=table,
            dataset=dataset,
            setting=dict(setting),
            method=method,
            metric=metric,
            published=published,
            ours=ours if ours is None or isinstance(ours, int) else round(float(ours), digits) + 0.0,
            note=note,
        )

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

    def as_dict(self) -> dict[str, Any]:
        """Give what goes into JSON."""
        said: dict[str, Any] = {
            "paper": self.paper,
            "table": self.table,
            "dataset": self.dataset,
            "setting": dict(self.setting),
            "method": self.method,
            "metric": self.metric,
            "published": self.published,
            "ours": self.ours,
            "difference": self.difference,
        }
        return {**said, "note": self.note} if self.note else said


@cache
def published_rows(name: str) -> tuple[dict[str, str], ...]:
    """Read one file of published figures."""
    text = files("mahrem.experiments").joinpath("published", f"{name}.csv").read_text(encoding="utf-8")
    return tuple(csv.DictReader(text.splitlines()))
