"""The switches that protect updates: against whom each one is, and which of them exclude each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from mahrem import check
from mahrem.errors import InvalidParameter

if TYPE_CHECKING:
    from mahrem.federated.weights._plan import LearningPlan

__all__ = ["NoiseBy", "PrivacyUnit", "Protections"]

PrivacyUnit: TypeAlias = Literal["client", "row"]
NoiseBy: TypeAlias = Literal["client", "sum"]
VETTING = ("norm_bound", "anomaly", "held_out", "strikes")


@dataclass(frozen=True, kw_only=True)
class Protections:
    """What is done to updates between a client's training and the common model; all off by default.

    A client's update is the difference between the weights it was given and those it has trained. Clients
    clip it, add noise, make it small, in this order, and only then mask or encrypt it; the server vets what
    it can see. Where the server vets (``norm_bound``, ``anomaly``, ``held_out``, ``strikes``) clients count
    alike, as under noise: a number of rows is a client's own word, and would outweigh any bound.

    Args:
        clip: Against curious readers of the model, with ``noise``: the longest update of a client (L2), or of
            one row's gradient where rows are the unit. Each client clips by itself.
        noise: Standard deviation of the Gaussian noise in units of ``clip``; 0 is none.
        epsilon: Instead of ``noise``: the promise to find the noise for, over all rounds.
        delta: The delta of the promise.
        unit: What the promise hides: ``client`` (all rows of a silo, exchanged for any others) or ``row``
            (one row more or less, by DP-SGD inside the silo).
        noise_by: Whose noise is enough: ``client`` (each one's own) or ``sum`` (that of all clients of a
            hidden sum together, which is less).
        rows: With ``unit="row"``: the public number of rows of a silo.
        norm_bound: Against back doors and poison: the server shortens longer updates.
        anomaly: The server refuses updates whose :func:`anomaly_scores` lies above this; 3.5 is usual.
        held_out: The server refuses updates that raise the cross entropy on its held-out rows by more.
        strikes: A client that is refused in so many rounds is left out for the rest of the run.
        dummies: Against a server that would read the model: dummy numbers for each real one, see
            :class:`Decoys`. Clients share a key for it.
        quantise: Bits of each number on the way to the server; 2 to 16.
        sparse: Share of the numbers that are sent, the largest; what is left waits for the next round.

    Raises:
        InvalidParameter: If a switch is out of range, or noise is asked for without a clip.

    Example:
        >>> Protections(noise=1.0)
        Traceback (most recent call last):
        mahrem.errors.InvalidParameter: noise=1 needs clip: without a bound on ... any noise may be too little
    """

    clip: float | None = None
    noise: float = 0.0
    epsilon: float | None = None
    delta: float = 1e-6
    unit: PrivacyUnit = "client"
    noise_by: NoiseBy = "client"
    rows: int | None = None
    norm_bound: float | None = None
    anomaly: float | None = None
    held_out: float | None = None
    strikes: int | None = None
    dummies: float = 0.0
    quantise: int | None = None
    sparse: float | None = None

    def __post_init__(self) -> None:
        check.one_of(get_args(PrivacyUnit), unit=self.unit)
        check.one_of(get_args(NoiseBy), noise_by=self.noise_by)
        for name in ("clip", "epsilon", "norm_bound", "anomaly"):
            value = getattr(self, name)
            if value is not None and check.finite(**{name: value}) <= 0:
                raise InvalidParameter(f"{name}={value!r} must be above 0")
        check.at_least(0, noise=self.noise)
        check.between(0, 10, dummies=self.dummies)
        if not 0 < check.finite(delta=self.delta) < 1:
            raise InvalidParameter(f"delta={self.delta!r} must lie between 0 and 1, both outside")
        if self.held_out is not None:
            check.at_least(0, held_out=self.held_out)
        for name in ("strikes", "rows"):
            value = getattr(self, name)
            if value is not None:
                check.at_least(1, **{name: check.whole(**{name: value})})
        if self.quantise is not None:
            check.between(2, 16, quantise=check.whole(quantise=self.quantise))
        if self.sparse is not None and not 0 < check.finite(sparse=self.sparse) <= 1:
            raise InvalidParameter(f"sparse={self.sparse!r} must be above 0 and at most 1")
        self._refuse_noise()

    def _refuse_noise(self) -> None:
        if self.noise and self.epsilon is not None:
            raise InvalidParameter(f"noise={self.noise:g}, epsilon={self.epsilon:g}: give one of the two")
        said = f"noise={self.noise:g}" if self.epsilon is None else f"epsilon={self.epsilon:g}"
        if self.private and self.clip is None:
            raise InvalidParameter(
                f"{said} needs clip: without a bound on what one {self.unit} changes, any noise may be too "
                "little"
            )
        if self.unit == "row" and not self.private:
            raise InvalidParameter("unit='row' needs noise or epsilon: clipping alone promises nothing")
        if self.unit == "row" and self.rows is None:
            raise InvalidParameter(
                "unit='row' needs rows: the public number of rows of a silo, which the data must not tell"
            )
        if self.noise_by == "sum" and (self.unit == "row" or not self.private):
            raise InvalidParameter("noise_by='sum' goes with noise on updates (unit='client')")

    @property
    def private(self) -> bool:
        """Whether what leaves a client is differentially private."""
        return self.noise > 0 or self.epsilon is not None

    @property
    def vetting(self) -> dict[str, float]:
        """The defences of the server that are on; each looks at single updates."""
        return {name: value for name in VETTING if (value := getattr(self, name)) is not None}

    @property
    def compresses(self) -> bool:
        """Whether updates travel small."""
        return self.quantise is not None or self.sparse is not None

    def refuse_unsound(self, plan: LearningPlan) -> None:
        """Refuse a plan whose switches contradict each other.

        Raises:
            InvalidParameter: The first contradiction, with what to do instead.
        """
        for why in (*self._hidden(plan), *self._comparing(plan), *self._trees(plan)):
            raise InvalidParameter(why)

    def refuse_anonymised(self) -> None:
        """Refuse silos that anonymise first where noise is to hide single rows.

        Raises:
            InvalidParameter: If it is.
        """
        if self.unit == "row":
            raise InvalidParameter(
                "unit='row' does not go with anonymised silos: one row more changes the cells of others, so "
                "what is private for a row of the release is not so for one of the table; use unit='client'"
            )

    def _hidden(self, plan: LearningPlan) -> Iterator[str]:
        """What cannot be done on a sum whose parts nobody sees."""
        if plan.sum == "plain":
            if self.noise_by == "sum":
                yield (
                    "noise_by='sum': without a hidden sum the server sees each client's part, which has too "
                    "little noise; use sum='masked' or 'homomorphic', or noise_by='client'"
                )
            return
        if plan.aggregate != "mean":
            yield (
                f"aggregate={plan.aggregate!r} compares single clients' weights, which sum={plan.sum!r} "
                "hides; use aggregate='mean', or sum='plain'"
            )
        for name, value in self.vetting.items():
            yield (
                f"{name}={value:g} looks at single clients' updates, which sum={plan.sum!r} hides; use "
                "sum='plain', or clip, which each client applies by itself"
            )
        if self.compresses:
            name = "sparse" if self.sparse is not None else "quantise"
            yield (
                f"{name}={getattr(self, name):g}: a hidden sum adds every number of every client at full "
                "width, so nothing gets smaller; use sum='plain'"
            )
        if plan.least_clients < 2:
            yield "least_clients=1: a hidden sum of one client is that client's own part"

    def _comparing(self, plan: LearningPlan) -> Iterator[str]:
        """What makes no sense of numbers that were left out, mixed in, or are too few."""
        robust = plan.aggregate != "mean"
        if robust and plan.proximal:
            yield f"proximal={plan.proximal:g} goes with aggregate='mean' only (FedProx)"
        if self.unit == "row" and self.rows is not None and plan.batch > self.rows:
            yield f"batch={plan.batch} must be at most rows={self.rows} of a silo"
        if self.unit == "row" and plan.proximal:
            yield f"proximal={plan.proximal:g}: private steps (unit='row') have no pull; leave one out"
        if self.sparse is not None and (plan.aggregate in {"median", "trimmed"} or self.anomaly is not None):
            yield (
                f"sparse={self.sparse:g}: most clients leave a number out, so the middle of each number, "
                f"which {'anomaly' if self.anomaly is not None else plan.aggregate} looks at, is nothing"
            )
        judges = [name for name in self.vetting if name != "strikes"]
        judges += ["aggregate='krum'"] if plan.aggregate == "krum" else []
        if self.dummies and judges:
            yield (
                f"dummies={self.dummies:g}: {judges[0]} would judge a client by its dummies too, and the "
                "server cannot put rows through a disguised model"
            )

    def _trees(self, plan: LearningPlan) -> Iterator[str]:
        """What trees have no use for."""
        if plan.model != "boosting":
            return
        if plan.aggregate != "mean" or plan.proximal or plan.fraction < 1:
            yield (
                "model='boosting' adds up histograms of all clients: aggregate, proximal and fraction are "
                "for mlp and logistic"
            )
        if self != Protections():
            yield (
                f"{next(iter(self.as_dict()))}: model='boosting' has no updates of weights to protect; use "
                "sum='masked' or 'homomorphic', or mlp or logistic"
            )

    def as_dict(self) -> dict[str, Any]:
        """Give the switches that are not as by default, as plain data."""
        usual = {one.name: one.default for one in fields(self)}
        return {name: value for name, value in asdict(self).items() if value != usual[name]}

    @classmethod
    def from_dict(cls, said: Mapping[str, Any]) -> Protections:
        """Read what :meth:`as_dict` gave, or the table of a plan file.

        Raises:
            InvalidParameter: If a key is none of the switches.
        """
        check.unknown_keys(said, [one.name for one in fields(cls)], where="protections")
        return cls(**said)
