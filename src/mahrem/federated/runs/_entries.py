"""Shapes of federation and ways to cut numbers: names, homes, and what is known before they are loaded."""

from __future__ import annotations

from dataclasses import dataclass

from mahrem.entries import Entries, Entry

BINS: Entries[Entry] = Entries(
    "mahrem.bins",
    Entry,
    (
        Entry(name="supervised", home="mahrem.learning.rules:SupervisedBins"),
        Entry(name="quantile", home="mahrem.learning.rules:QuantileBins"),
        Entry(name="width", home="mahrem.learning.rules:EqualWidthBins"),
    ),
)


@dataclass(frozen=True, kw_only=True)
class FederationShape(Entry):
    """A shape of federation; its home shares a table out as it wants it.

    Attributes:
        hidden: Its usual hidden layers; of ``vertical`` those above the parties' units.
        layered: It shares layers out, so there must be hidden ones.
        by_column: Each client needs a column of its own.
        noisy_labels: Labels can be randomised.
    """

    hidden: tuple[int, ...] = (32, 16)
    layered: bool = True
    by_column: bool = False
    noisy_labels: bool = False


_HOME = "mahrem.federated.runs._arrange:"
SHAPES: Entries[FederationShape] = Entries(
    "mahrem.federation_shapes",
    FederationShape,
    (
        FederationShape(
            name="vertical",
            home=_HOME + "arrange_vertical",
            hidden=(16,),
            layered=False,
            by_column=True,
            noisy_labels=True,
        ),
        FederationShape(name="split", home=_HOME + "arrange_split"),
        FederationShape(name="u-shaped", home=_HOME + "arrange_split", hidden=(32, 16, 8), noisy_labels=True),
        FederationShape(name="gossip", home=_HOME + "arrange_gossip", layered=False),
        FederationShape(name="transfer", home=_HOME + "arrange_transfer", by_column=True),
    ),
)
