"""Models, and rules by which weights become one: names, homes, and what is known before they are loaded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from mahrem.entries import Entries, Entry

if TYPE_CHECKING:
    from mahrem.federated.weights._average import Aggregation
    from mahrem.federated.weights._rounds import LearningRounds


@dataclass(frozen=True, kw_only=True)
class AggregationRule(Entry):
    """A way to put clients' weights together.

    Attributes:
        compares: It looks at single clients' weights, which a hidden sum does not show.
        by_number: It looks at each number by itself, so numbers that are left out mislead it.
        by_client: It judges a client by all its numbers, so dummies among them mislead it.
    """

    compares: bool = True
    by_number: bool = False
    by_client: bool = False

    def load(self) -> type[Aggregation]:
        """Import it."""
        return cast("type[Aggregation]", super().load())


AGGREGATIONS: Entries[AggregationRule] = Entries(
    "mahrem.aggregations",
    AggregationRule,
    (
        AggregationRule(name="mean", home="mahrem.federated.weights._average:FedAvg", compares=False),
        AggregationRule(
            name="median", home="mahrem.federated.weights._trimmed:CoordinateMedian", by_number=True
        ),
        AggregationRule(name="trimmed", home="mahrem.federated.weights._trimmed:TrimmedMean", by_number=True),
        AggregationRule(name="krum", home="mahrem.federated.weights._krum:Krum", by_client=True),
    ),
)


@dataclass(frozen=True, kw_only=True)
class FederatedModel(Entry):
    """What silos learn together; its home runs the rounds that are left.

    Attributes:
        trees: It grows trees from sums of histograms; else weights are averaged.
        layered: Its network has hidden layers.
        rate: The learning rate where none is said.
        own: Its network is made by code of its users (:class:`OwnNetwork`).
    """

    trees: bool = False
    layered: bool = False
    rate: float = 0.01
    own: bool = False

    def load(self) -> Callable[[LearningRounds], Iterator[None]]:
        """Import what runs its rounds."""
        return cast("Callable[[LearningRounds], Iterator[None]]", super().load())


MODELS: Entries[FederatedModel] = Entries(
    "mahrem.federated_models",
    FederatedModel,
    (
        FederatedModel(name="mlp", home="mahrem.federated.weights._averaging:average_rounds", layered=True),
        FederatedModel(name="logistic", home="mahrem.federated.weights._averaging:average_rounds"),
        FederatedModel(name="own", home="mahrem.federated.weights._averaging:average_rounds", own=True),
        FederatedModel(
            name="boosting", home="mahrem.federated.weights._tree_rounds:tree_rounds", trees=True, rate=0.2
        ),
    ),
)
