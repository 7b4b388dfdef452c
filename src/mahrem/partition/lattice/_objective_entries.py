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
        needs: Those of them without which it is not defined.
        arx: What ARX calls it; empty where it has no such measure.
    """

    takes: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    arx: str = ""

    def load(self) -> type[Objective]:
        """Import the class."""
        return cast("type[Objective]", super().load())


def _entry(
    name: str, home: str, arx: str = "", *, takes: tuple[str, ...] = (), needs: tuple[str, ...] = ()
) -> ObjectiveEntry:
    return ObjectiveEntry(
        name=name, home=f"mahrem.partition.lattice.{home}", arx=arx, takes=(*takes, *needs), needs=needs
    )


_ONE, _BOTH = ("aggregate",), ("aggregate", "factor")

OBJECTIVES: Entries[ObjectiveEntry] = Entries(
    "mahrem.objectives",
    ObjectiveEntry,
    (
        _entry("ncp", "_column_objectives:CellLoss"),
        _entry("dm", "_class_objectives:Discernibility", "Discernibility"),
        _entry("precision", "_column_objectives:Precision", "Precision", takes=_BOTH),
        _entry("classes", "_class_objectives:MeanClassOverMinimum"),
        _entry("loss", "_column_objectives:Loss", "Loss", takes=_BOTH),
        _entry("nu-entropy", "_entropy_objectives:ColumnEntropy", "Non-uniform entropy", takes=_BOTH),
        _entry(
            "nu-entropy*", "_entropy_objectives:PlainEntropy", "Non-uniform entropy, monotonic", takes=_BOTH
        ),
        _entry("height", "_column_objectives:Height", "Height", takes=_ONE),
        _entry("precision*", "_column_objectives:PlainPrecision", "Precision, monotonic", takes=_ONE),
        _entry("dm*", "_class_objectives:PlainDiscernibility", "Discernibility, monotonic"),
        _entry("aecs", "_class_objectives:MeanClassSize", "Average class size", takes=("factor",)),
        _entry(
            "classification",
            "_class_objectives:Classification",
            "Classification accuracy",
            takes=("factor",),
            needs=("target",),
        ),
        _entry(
            "payout",
            "_share_objectives:PublisherPayout",
            "Publisher payout",
            takes=("factor", "attacker", *_AMOUNTS),
        ),
        _entry(
            "record-loss",
            "_share_objectives:RecordLoss",
            "Entropy-based record-level information loss",
            takes=("factor",),
        ),
        _entry("ambiguity", "_share_objectives:Ambiguity", "Ambiguity"),
        _entry("divergence", "_share_objectives:Divergence", "KL divergence"),
        _entry(
            "nu-entropy-scaled",
            "_entropy_objectives:ScaledEntropy",
            "Normalised non-uniform entropy",
            takes=_ONE,
        ),
        _entry("stated", "_column_objectives:StatedCosts", "Static", takes=_ONE, needs=("costs",)),
    ),
)
