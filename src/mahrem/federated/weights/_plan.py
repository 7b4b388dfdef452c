"""What silos learn together and how it is protected: one set of switches, unsound combinations refused."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, TypeAlias, get_args

from mahrem import check
from mahrem.errors import InvalidParameter
from mahrem.federated.networks import Network
from mahrem.federated.sums import Adder, EncryptedSum, MaskedSum, PlainSum, WeightsScheme
from mahrem.federated.weights._average import Aggregation, FedAvg, FedProx
from mahrem.federated.weights._compression import Compression
from mahrem.federated.weights._decoys import dummies_among
from mahrem.federated.weights._krum import Krum
from mahrem.federated.weights._perturbation import Perturbation, perturbation_of
from mahrem.federated.weights._protections import Protections
from mahrem.federated.weights._trimmed import CoordinateMedian, TrimmedMean

__all__ = ["AggregationKind", "LearningPlan", "ModelKind", "WeightSum"]

ModelKind: TypeAlias = Literal["mlp", "logistic", "boosting"]
AggregationKind: TypeAlias = Literal["mean", "median", "trimmed", "krum"]
WeightSum: TypeAlias = Literal["plain", "masked", "homomorphic"]


@dataclass(frozen=True, kw_only=True)
class LearningPlan:
    """What is learnt, in how many rounds, and how the clients' parts are put together.

    Args:
        model: ``mlp`` (five layers), ``logistic`` or ``boosting`` (trees from sums of gradient histograms).
        rounds: Rounds of averaging, or trees of boosting.
        epochs: How often a client goes through its rows in a round.
        rate: Learning rate: of SGD, or of each tree (0.01 and 0.2 by default).
        batch: Rows of a step of SGD.
        hidden: Units of the hidden layers of ``mlp``.
        aggregate: ``mean`` (weighted, FedAvg), ``median``, ``trimmed`` or ``krum``.
        malicious: How many clients may lie: what ``trimmed`` cuts off at each end and ``krum`` allows for.
        proximal: Pull of FedProx towards the common model; 0 is FedAvg.
        sum: ``plain`` (the server sees each client's part), ``masked`` or ``homomorphic`` (it sees the sum
            only; extras ``federated`` and ``he``).
        fraction: Share of the clients that take part in a round, drawn anew in each.
        least_clients: A round with fewer answers is an error.
        depth: Of a tree.
        seed: Of all that is drawn, but noise with a promise.
        protections: What is done to updates on their way; a table of a plan file will do.

    Raises:
        InvalidParameter: If switches contradict each other: a median needs the single parts that a masked sum
            hides.

    Example:
        >>> LearningPlan(sum="masked", aggregate="krum")
        Traceback (most recent call last):
        mahrem.errors.InvalidParameter: aggregate='krum' compares single clients' weights, which ...
    """

    model: ModelKind = "mlp"
    rounds: int = 60
    epochs: int = 1
    rate: float | None = None
    batch: int = 32
    hidden: tuple[int, ...] = (64, 32, 16)
    aggregate: AggregationKind = "mean"
    malicious: int = 1
    proximal: float = 0.0
    sum: WeightSum = "plain"
    fraction: float = 1.0
    least_clients: int = 2
    depth: int = 4
    seed: int = 0
    protections: Protections = field(default_factory=Protections)

    def __post_init__(self) -> None:
        if isinstance(self.protections, Mapping):
            object.__setattr__(self, "protections", Protections.from_dict(self.protections))
        check.one_of(get_args(ModelKind), model=self.model)
        check.one_of(get_args(AggregationKind), aggregate=self.aggregate)
        check.one_of(get_args(WeightSum), sum=self.sum)
        check.at_least(1, rounds=check.whole(rounds=self.rounds))
        check.at_least(1, least_clients=check.whole(least_clients=self.least_clients))
        check.between(1, 12, depth=check.whole(depth=self.depth))
        if not 0 < check.finite(fraction=self.fraction) <= 1:
            raise InvalidParameter(f"fraction={self.fraction!r} must be above 0 and at most 1")
        object.__setattr__(self, "hidden", tuple(self.hidden))
        if self.rate is None:
            object.__setattr__(self, "rate", 0.2 if self.model == "boosting" else 0.01)
        self.protections.refuse_unsound(self)
        self.network()
        self.aggregation()

    def network(self) -> Network:
        """Give the network that clients train."""
        hidden = self.hidden if self.model == "mlp" else ()
        return Network(hidden=hidden, rate=self.rate or 0.01, batch=self.batch, epochs=self.epochs)

    def aggregation(self) -> Aggregation:
        """Give how weights are put together."""
        match self.aggregate:
            case "median":
                return CoordinateMedian()
            case "trimmed":
                return TrimmedMean(cut=self.malicious)
            case "krum":
                return Krum(malicious=self.malicious)
            case _:
                return FedProx(proximal=self.proximal) if self.proximal else FedAvg()

    def adder(self, public: bytes | None = None) -> Adder:
        """Give how whole numbers are added up; homomorphic sums need the server's public key."""
        if self.sum == "homomorphic":
            if public is None:
                raise InvalidParameter("sum='homomorphic' needs the public key of the sums")
            return EncryptedSum(public, WeightsScheme())
        return MaskedSum() if self.sum == "masked" else PlainSum()

    def perturbation(self) -> Perturbation | None:
        """Give the noise on what leaves a client; None without a promise."""
        return perturbation_of(self)

    def compression(self) -> Compression | None:
        """Give how updates travel; None as they are."""
        said = self.protections
        return Compression(bits=said.quantise, share=said.sparse) if said.compresses else None

    def weights_in(self, width: int, classes: int) -> int:
        """Say how many numbers travel: weights, and dummies among them."""
        size = self.network().size(width, classes)
        return size + dummies_among(size, self.protections.dummies)

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain data, without None: a plan file has no such thing."""
        return {**asdict(self), "hidden": list(self.hidden), "protections": self.protections.as_dict()}

    @classmethod
    def from_dict(cls, said: Mapping[str, Any]) -> LearningPlan:
        """Read what :meth:`as_dict` gave, or the table of a plan file.

        Raises:
            InvalidParameter: If a key is none of the plan's.
        """
        check.unknown_keys(said, [one.name for one in fields(cls)], where="plan")
        return cls(**said)

    def fingerprint(self, schema: str) -> str:
        """Give a short name of plan and schema: what a run can go on from.

        More rounds are no other plan, unless they change the noise: what an ``epsilon`` over fewer rounds let
        out would be more than one over all of them allows.
        """
        fixed = self.protections.epsilon is not None
        said = {key: value for key, value in self.as_dict().items() if key != "rounds" or fixed}
        text = json.dumps([said, schema], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]
