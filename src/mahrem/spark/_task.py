"""What is to be done to a distributed table, and the table when it is done."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mahrem.models import PrivacyModel
from mahrem.partition import Mondrian, Partitioner
from mahrem.partition.cutting import ManagedRounds
from mahrem.recode import Recoding
from mahrem.release.decisions import CellPricing
from mahrem.spark._frame import PlacedColumn
from mahrem.spark._judge import CodedColumn
from mahrem.spark._plan import CutPlan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class Task:
    """What is to be done to a distributed table."""

    quasi: tuple[PlacedColumn, ...]
    promises: tuple[tuple[PrivacyModel, CodedColumn | None], ...]
    method: Partitioner = field(default_factory=Mondrian)
    recodings: tuple[Recoding, ...] = ()  # one for each quasi-identifier; none = only classes are made
    carried: tuple[str, ...] | None = None  # other columns to take along; None = all of them
    shuffled: bool = False  # bring rows into an order that says nothing of where they came from
    pricing: tuple[CellPricing, ...] = ()  # what cells cost, for methods that lower it; none = widths count

    def taken_along(self, frame: DataFrame) -> list[str]:
        """Name the columns of a table that go to workers besides quasi-identifiers."""
        cells = {quasi.name for quasi in self.quasi} if self.recodings else set()
        return [
            name for name in (frame.columns if self.carried is None else self.carried) if name not in cells
        ]

    def columns(self, frame: DataFrame) -> int:
        """Say how many columns a worker gets of a table."""
        return len(self.quasi) + len(self.taken_along(frame))


@dataclass(frozen=True)
class LabelledTable:
    """A distributed table whose rows know their class, and how it came about."""

    frame: DataFrame = field(repr=False)  # column ``__class``, cells or quasi-identifiers, everything else
    plans: tuple[CutPlan, ...]  # one; with rounds one for each
    rounds: ManagedRounds | None = None  # what every round of a u-model did
    kept: tuple[DataFrame, ...] = field(
        repr=False, default=()
    )  # frames that were kept; let go of them at the end

    def let_go(self) -> None:
        """Let go of what was kept on the cluster; the frame must have been used by then."""
        for frame in self.kept:
            frame.unpersist()
