"""What a full-domain search may minimise: one entry each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from mahrem.entries import Entries, Entry

if TYPE_CHECKING:
    from mahrem.partition.lattice._objective import Objective

_AMOUNTS = ("publisher_benefit", "publisher_loss", "attacker_gain", "attacker_cost")


@dataclass(frozen=True, kw_only=True)
class ObjectiveEntry(Entry):
    """What is minimised, before it is loaded.

    Attributes:
        takes: Settings of a search that it honours, beside weights; others are refused.
        arx: What ARX calls it; empty where it has no such measure.
    """

    takes: tuple[str, ...] = ()
    arx: str = ""

    def load(self) -> type[Objective]:
        """Import the class."""
        return cast("type[Objective]", super().load())


def _columns(
    name: str, home: str, arx: str = "", *, takes: tuple[str, ...] = ("aggregate",)
) -> ObjectiveEntry:
    return ObjectiveEntry(
        name=name, home=f"mahrem.partition.lattice._column_objectives:{home}", arx=arx, takes=takes
    )


def _classes(name: str, home: str, arx: str = "", *, takes: tuple[str, ...] = ()) -> ObjectiveEntry:
    return ObjectiveEntry(
        name=name, home=f"mahrem.partition.lattice._class_objectives:{home}", arx=arx, takes=takes
    )


_BOTH = ("aggregate", "factor")

OBJECTIVES: Entries[ObjectiveEntry] = Entries(
    "mahrem.objectives",
    ObjectiveEntry,
    (
        _columns("ncp", "CellLoss", takes=()),
        _classes("dm", "Discernibility", "Discernibility"),
        _columns("precision", "Precision", "Precision", takes=_BOTH),
        _classes("classes", "MeanClassOverMinimum"),
        _columns("loss", "Loss", "Loss", takes=_BOTH),
        _columns("nu-entropy", "ColumnEntropy", "Non-uniform entropy", takes=_BOTH),
        _columns("nu-entropy*", "PlainEntropy", "Non-uniform entropy, monotonic", takes=_BOTH),
        _columns("height", "Height", "Height"),
        _columns("precision*", "PlainPrecision", "Precision, monotonic"),
        _classes("dm*", "PlainDiscernibility", "Discernibility, monotonic"),
        _classes("aecs", "MeanClassSize", "Average class size", takes=("factor",)),
        _classes("classification", "Classification", "Classification accuracy", takes=("factor", "target")),
        _classes("payout", "PublisherPayout", "Publisher payout", takes=("factor", *_AMOUNTS)),
    ),
)
