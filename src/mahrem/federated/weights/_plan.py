"""What silos learn together and how it is protected: one set of switches, unsound combinations refused."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from mahrem.errors import InvalidParameter, either, spelled
from mahrem.federated._readers import from_number, from_whole, open_share, refuse_settings, share
from mahrem.federated.sums import SUMS
from mahrem.federated.weights._entries import AGGREGATIONS, MODELS, AggregationRule, FederatedModel
from mahrem.federated.weights._protections import Protections
from mahrem.federated.weights._server_step import SERVERS
from mahrem.federated.weights._training_refusals import refused_training
from mahrem.settings import read_settings, setting, settings_of, switch, text
from mahrem.typed import sizes

if TYPE_CHECKING:  # a plan is read by every command line; what it makes is loaded when it is made
    from mahrem.federated.networks import OwnNetwork, TrainableNetwork
    from mahrem.federated.weights._average import Aggregation
    from mahrem.federated.weights._compression import Compression
    from mahrem.federated.weights._perturbation import Perturbation


def _sizes(name: str, value: Any) -> tuple[int, ...]:
    return tuple(from_whole(1, 10_000)(name, size) for size in value)


CELL_EPSILON = 4.0  # where sums are hidden and nothing is said
_WHAT = "what is learnt"
_COUNT: dict[str, Any] = {"read": from_whole(1), "group": "weights and trees", "metavar": "N"}
_WORD: dict[str, Any] = {"read": text, "group": "weights and trees", "metavar": "NAME"}


@dataclass(frozen=True, kw_only=True)
class LearningPlan:
    """What is learnt, in how many rounds, and how the clients' parts are put together.

    Args:
        model: Five layers, logistic regression, trees from sums of gradient histograms, or ``own``: a
            network that its users wrote.
        rounds: Rounds of averaging, or trees of boosting.
        epochs: How often a client goes through its rows in a round.
        rate: Learning rate: of SGD, or of each tree; 0.01, of boosting 0.2.
        batch: Rows of a step of SGD.
        hidden: Units of the hidden layers of ``mlp``.
        aggregate: How weights become one: ``mean`` is weighted by rows (FedAvg).
        malicious: How many clients may lie: what ``trimmed`` cuts off at each end and ``krum`` allows for.
        proximal: Pull of FedProx towards the common model; 0 is FedAvg.
        server: What the server does with the mean: takes it (FedAvg), or as the gradient of an optimiser
            (FedAvgM, FedAdam, FedYogi). See :func:`server_step`.
        server_rate: Learning rate of the server; 1, of ``adam`` and ``yogi`` 0.03.
        scaffold: Clients correct their drift by control variates (SCAFFOLD), which travel beside the weights.
        personal: So many last layers are each client's own and never leave it.
        early_stop: End after so many rounds without more right answers on rows that clients keep back. Only
            the sum of their counts is told, hidden like every other sum.
        validation: Share of its rows that a client keeps back for ``early_stop``.
        code: SHA-256 of the file that makes the network of ``own``.
        sum: How numbers are added: in the clear the server sees each client's part, else the sum only.
        groups: Hidden sums of so many groups of clients instead of one of all. The server sees the sum of
            each group and vets it as a client: robust and private together, see :func:`group_clients`.
        fraction: Share of the clients that take part in a round, drawn anew in each.
        least_clients: A round with fewer answers is an error, and clients refuse hidden sums of fewer. By
            default all members of a federation where sums are hidden, else 2.
        depth: Depth of a tree.
        least_leaf: Least rows on each side of a cut of a tree.
        cell_epsilon: What sums over the cells of trees promise each row, over all trees, by noise that
            clients add; 0 is none. By default 4 where sums are hidden, none where the server sees each
            client's own.
        seed: Of all that is drawn, but noise with a promise.
        protections: What is done to updates on their way.
        own: What makes the network of ``own``; never written down, its ``code`` is.

    Raises:
        InvalidParameter: If switches contradict each other: a median needs the single parts that a masked sum
            hides.

    Example:
        >>> LearningPlan(sum="masked", aggregate="krum")
        Traceback (most recent call last):
        mahrem.errors.InvalidParameter: aggregate='krum' compares single clients' weights, which ...
    """

    model: str = setting("mlp", **_WORD | {"group": _WHAT}, choices=lambda: MODELS)
    rounds: int = setting(60, **_COUNT)
    epochs: int = setting(1, **_COUNT)
    rate: float | None = setting(**_COUNT | {"read": from_number(1e-9, 100), "metavar": "X"})
    batch: int = setting(32, **_COUNT)
    hidden: tuple[int, ...] = setting(
        (64, 32, 16), **_COUNT | {"read": _sizes, "metavar": "64,32"}, takes="Sequence[int]", typed=sizes
    )
    aggregate: str = setting("mean", **_WORD, choices=lambda: AGGREGATIONS)
    malicious: int = setting(1, **_COUNT | {"read": from_whole(0)})
    proximal: float = setting(0.0, **_COUNT | {"read": from_number(0, 1000), "metavar": "X"})
    server: str = setting("average", **_WORD, choices=lambda: SERVERS)
    server_rate: float | None = setting(**_COUNT | {"read": from_number(1e-9, 100), "metavar": "X"})
    scaffold: bool = setting(False, read=switch, group="weights and trees")
    personal: int = setting(0, **_COUNT | {"read": from_whole(0, 100)})
    early_stop: int | None = setting(**_COUNT)
    validation: float = setting(0.1, **_COUNT | {"read": open_share, "metavar": "0..1"})
    code: str = setting("", **_WORD | {"metavar": "SHA256"})
    sum: str = setting("plain", **_WORD | {"group": _WHAT, "metavar": "KIND"}, choices=lambda: SUMS)
    groups: int = setting(1, **_COUNT)
    fraction: float = setting(1.0, **_COUNT | {"read": share, "metavar": "0..1"})
    least_clients: int | None = setting(**_COUNT | {"group": _WHAT})
    depth: int = setting(4, **_COUNT | {"read": from_whole(1, 12)})
    least_leaf: int = setting(10, **_COUNT)
    cell_epsilon: float | None = setting(**_COUNT | {"read": from_number(0), "metavar": "X"})
    seed: int = setting(0, **_COUNT | {"read": from_whole(0)})
    protections: Protections = field(default_factory=Protections)
    own: OwnNetwork | None = field(default=None, repr=False, compare=False)
    numbers: ClassVar[str] = "weights"

    def __post_init__(self) -> None:
        object.__setattr__(self, "hidden", tuple(self.hidden))  # a plan is compared and hashed
        refuse_settings(self)
        self.protections.refuse_unsound(self)
        self._refuse_own()
        for why in refused_training(self):
            raise InvalidParameter(why)
        if self.own is not None or not self.kind.own:
            self.network()
        self.aggregation()

    def _refuse_own(self) -> None:
        if (self.own is not None or self.code) and not self.kind.own:
            raise InvalidParameter(f"network: model={self.model!r} has its own; say model='own'")
        if self.own is None:
            if self.kind.own and not self.code:
                given = either("own=OwnNetwork(make)", spelled("network", "FILE"))
                raise InvalidParameter(f"model='own' needs the network: {given}")
            return
        if self.code not in {"", self.own.digest}:
            raise InvalidParameter(
                f"network={self.own.name!r} is another file than was agreed on: its SHA-256 begins with "
                f"{self.own.digest[:16]}, the agreed one's with {self.code[:16]}"
            )
        object.__setattr__(self, "code", self.own.digest)

    @property
    def kind(self) -> FederatedModel:
        """The entry of what is learnt."""
        return MODELS[self.model]

    @property
    def rule(self) -> AggregationRule:
        """The entry of how weights are put together."""
        return AGGREGATIONS[self.aggregate]

    @property
    def hides(self) -> bool:
        """Whether the server sees sums only."""
        return SUMS[self.sum].hides

    @property
    def least(self) -> int:
        """The least clients of a round."""
        return 2 if self.least_clients is None else self.least_clients

    @property
    def cell_promise(self) -> float:
        """The epsilon of cells of trees; 0 without noise."""
        usual = CELL_EPSILON if self.hides else 0.0
        return usual if self.cell_epsilon is None else self.cell_epsilon

    @property
    def noisy_cells(self) -> bool:
        """Whether the cells of trees leave a client with noise."""
        return self.kind.trees and self.cell_promise > 0

    @property
    def private(self) -> bool:
        """Whether what leaves a client is differentially private."""
        return self.noisy_cells or self.protections.private

    @property
    def recount(self) -> bool:
        """Whether sums of a run may be over different clients: they are, where a few are drawn each round."""
        return self.fraction < 1

    @property
    def learning_rate(self) -> float:
        """The rate that was said, or the usual one of the model."""
        return self.kind.rate if self.rate is None else self.rate

    @property
    def server_speed(self) -> float:
        """The server's rate that was said, or the usual one."""
        return SERVERS[self.server] if self.server_rate is None else self.server_rate

    def network(self) -> TrainableNetwork:
        """Give the network that clients train.

        Raises:
            InvalidParameter: If its users wrote it, and it was not given.
        """
        from mahrem.federated.networks import Network

        if self.kind.own:
            if self.own is None:
                raise InvalidParameter(
                    f"network: this model is made by a file (SHA-256 {self.code[:16]}...); give it: "
                    f"{either('own=OwnNetwork.read(path)', spelled('network', 'FILE'))}"
                )
            return self.own.trained_by(rate=self.learning_rate, batch=self.batch, epochs=self.epochs)

        hidden = self.hidden if self.kind.layered else ()
        return Network(hidden=hidden, rate=self.learning_rate, batch=self.batch, epochs=self.epochs)

    def aggregation(self) -> Aggregation:
        """Give how weights are put together."""
        return self.rule.load().of(self)

    def perturbation(self) -> Perturbation | None:
        """Give the noise on what leaves a client; None without a promise."""
        from mahrem.federated.weights._perturbation import perturbation_of

        return perturbation_of(self)

    def compression(self) -> Compression | None:
        """Give how updates travel; None as they are."""
        from mahrem.federated.weights._compression import Compression

        switches = self.protections
        return Compression(bits=switches.quantise, share=switches.sparse) if switches.compresses else None

    def weights_in(self, width: int, classes: int) -> int:
        """Say how many numbers travel: weights, and dummies among them."""
        from mahrem.federated.weights._decoys import dummies_among

        size = self.network().size(width, classes) * (2 if self.scaffold else 1)
        return size + dummies_among(size, self.protections.dummies)

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain data, without None: a plan file has no such thing."""
        settings = {name: getattr(self, name) for name in settings_of(LearningPlan)}
        plain = {"hidden": list(self.hidden), "rate": self.learning_rate}
        known = {name: value for name, value in (settings | plain).items() if value is not None}
        return {**known, "protections": self.protections.as_dict()}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> LearningPlan:
        """Read what :meth:`as_dict` gave, or the table of a plan file.

        Raises:
            InvalidParameter: If a key is none of the plan's.
        """
        plain = {name: value for name, value in given.items() if name != "protections"}
        protections = Protections.from_dict(given.get("protections", {}))
        return cls(**read_settings(settings_of(LearningPlan), plain), protections=protections)

    def fingerprint(self, schema: str) -> str:
        """Give a short name of plan and schema: what a run can go on from.

        More rounds are no other plan, unless they change the noise: what an ``epsilon`` over fewer rounds let
        out would be more than one over all of them allows.
        """
        fixed = self.protections.epsilon is not None or self.noisy_cells
        agreed = {key: value for key, value in self.as_dict().items() if key != "rounds" or fixed}
        written = json.dumps([agreed, schema], sort_keys=True)
        return hashlib.sha256(written.encode()).hexdigest()[:16]
