"""The switches that protect updates: against whom each one is, and which of them exclude each other.

A new protection is a module, and here a switch and an entry: options, plan files and refusals follow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from mahrem.entries import Entries, Entry
from mahrem.errors import InvalidParameter
from mahrem.federated._readers import above_zero, from_number, from_whole, open_share, refuse_settings, share
from mahrem.settings import read_settings, setting, settings_of, text

if TYPE_CHECKING:
    from mahrem.federated.weights._plan import LearningPlan


@dataclass(frozen=True, kw_only=True)
class Protection(Entry):
    """A protection of updates; its name is the switch that turns it on.

    Attributes:
        vets: The server looks at single clients' updates, which a hidden sum does not show. Its home gives a
            :class:`Defence`, unless it only counts what others refused.
        shrinks: Updates travel smaller, which a hidden sum undoes.
        by_number: It looks at each number by itself, so numbers that are left out mislead it.
        by_client: It judges a client by all its numbers, so dummies among them mislead it.
    """

    vets: bool = False
    shrinks: bool = False
    by_number: bool = False
    by_client: bool = False


_HOME = "mahrem.federated.weights."
PROTECTIONS: Entries[Protection] = Entries(
    "mahrem.protections",
    Protection,
    (  # those that vet judge in this order: a bound would make long updates look like the others
        Protection(name="clip", home=_HOME + "_norm_bound:bound_norms"),
        Protection(name="noise", home=_HOME + "_perturbation:Perturbation"),
        Protection(name="epsilon", home=_HOME + "_perturbation:Perturbation"),
        Protection(
            name="anomaly", home=_HOME + "_anomaly:AnomalyBound", vets=True, by_number=True, by_client=True
        ),
        Protection(name="norm_bound", home=_HOME + "_norm_bound:NormBound", vets=True, by_client=True),
        Protection(name="held_out", home=_HOME + "_held_out:HeldOutRows", vets=True, by_client=True),
        Protection(name="strikes", home=_HOME + "_vetting:Vetting", vets=True),
        Protection(name="dummies", home=_HOME + "_decoys:Decoys"),
        Protection(name="quantise", home=_HOME + "_compression:Compression", shrinks=True),
        Protection(name="sparse", home=_HOME + "_compression:Compression", shrinks=True),
    ),
)
_AMOUNT: dict[str, Any] = {"read": above_zero, "group": "protections", "metavar": "X"}
_COUNT: dict[str, Any] = {"read": from_whole(1), "group": "protections", "metavar": "N"}
_WORD: dict[str, Any] = {"read": text, "group": "protections", "metavar": "NAME"}


@dataclass(frozen=True, kw_only=True)
class Protections:
    """What is done to updates between a client's training and the common model; all off by default.

    A client's update is the difference between the weights it was given and those it has trained. Clients
    clip it, add noise, make it small, in this order, and only then mask or encrypt it; the server vets what
    it can see. Where the server vets (``norm_bound``, ``anomaly``, ``held_out``, ``strikes``) clients count
    alike, as under noise: a number of rows is a client's own word, and would outweigh any bound.

    Args:
        clip: Longest update of a client, or gradient of a row where rows are the unit (L2). Against curious
            readers of the model, with ``noise``; each client clips by itself.
        noise: Standard deviation of Gaussian noise, in units of ``clip``; 0 is none.
        epsilon: Instead of ``noise``: the promise over all rounds, for which the noise is found.
        delta: The delta of the promise.
        unit: What noise hides. ``client``: all rows of a silo, exchanged for any others; ``row``: one row
            more or less, by DP-SGD inside the silo.
        noise_by: Whose noise is enough: each client's own, or that of all clients of a hidden sum together.
        rows: Public number of rows of a silo, with ``unit="row"``.
        norm_bound: The server shortens longer updates (L2). Against back doors and poison.
        anomaly: The server refuses updates with a higher anomaly score; 3.5 is usual. See
            :func:`anomaly_scores`.
        held_out: The server refuses updates that raise the cross entropy on its held-out rows by more.
        strikes: A client that is refused in so many rounds is left out for the rest of the run.
        dummies: Dummy numbers for each weight, which only clients tell apart. Against a server that would
            read the model, see :class:`Decoys`; clients share a key for it.
        quantise: Bits of each number on the way to the server; 2 to 16.
        sparse: Share of the numbers that are sent, the largest. What is left waits for the next round.

    Raises:
        InvalidParameter: If a switch is out of range, or noise is asked for without a clip.

    Example:
        >>> Protections(noise=1.0)
        Traceback (most recent call last):
        mahrem.errors.InvalidParameter: noise=1 needs clip: without a bound on ... any noise may be too little
    """

    clip: float | None = setting(**_AMOUNT)
    noise: float = setting(0.0, **_AMOUNT | {"read": from_number(0)})
    epsilon: float | None = setting(**_AMOUNT)
    delta: float = setting(1e-6, **_AMOUNT | {"read": open_share})
    unit: str = setting("client", **_WORD, choices=lambda: ("client", "row"))
    noise_by: str = setting("client", **_WORD, choices=lambda: ("client", "sum"))
    rows: int | None = setting(**_COUNT, spelling="--silo-rows")
    norm_bound: float | None = setting(**_AMOUNT)
    anomaly: float | None = setting(**_AMOUNT)
    held_out: float | None = setting(**_AMOUNT | {"read": from_number(0)})
    strikes: int | None = setting(**_COUNT)
    dummies: float = setting(0.0, **_AMOUNT | {"read": from_number(0, 10)})
    quantise: int | None = setting(**_COUNT | {"read": from_whole(2, 16), "metavar": "BITS"})
    sparse: float | None = setting(**_AMOUNT | {"read": share, "metavar": "0..1"})

    def __post_init__(self) -> None:
        refuse_settings(self)
        self._refuse_noise()

    def _refuse_noise(self) -> None:
        if self.noise and self.epsilon is not None:
            raise InvalidParameter(f"noise={self.noise:g}, epsilon={self.epsilon:g}: give one of the two")
        asked = f"noise={self.noise:g}" if self.epsilon is None else f"epsilon={self.epsilon:g}"
        if self.private and self.clip is None:
            raise InvalidParameter(
                f"{asked} needs clip: without a bound on what one {self.unit} changes, any noise may be too "
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
        return {entry.name: getattr(self, entry.name) for entry in self._on() if entry.vets}

    @property
    def compresses(self) -> bool:
        """Whether updates travel small."""
        return any(entry.shrinks for entry in self._on())

    def _on(self) -> Iterator[Protection]:
        """Give the entries of the protections that are on."""
        switches = self.as_dict()
        return (entry for entry in PROTECTIONS.values() if entry.name in switches)

    def refuse_unsound(self, plan: LearningPlan) -> None:
        """Refuse a plan whose switches contradict each other.

        Raises:
            InvalidParameter: The first contradiction, with what to do instead.
        """
        for why in (*self._hidden(plan), *self._grouped(plan), *self._comparing(plan), *self._trees(plan)):
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
        if not plan.hides:
            if self.noise_by == "sum":
                yield (
                    "noise_by='sum': without a hidden sum the server sees each client's part, which has too "
                    "little noise; use sum='masked' or 'homomorphic', or noise_by='client'"
                )
            return
        if plan.rule.compares and plan.groups == 1:
            yield (
                f"aggregate={plan.aggregate!r} compares single clients' weights, which sum={plan.sum!r} "
                "hides; use aggregate='mean', groups, whose sums can be compared, or sum='plain'"
            )
        for entry in self._on():
            value = getattr(self, entry.name)
            if entry.vets and plan.groups == 1:
                yield (
                    f"{entry.name}={value:g} looks at single clients' updates, which sum={plan.sum!r} hides; "
                    "use groups, whose sums it can look at, sum='plain', or clip, which each client applies "
                    "by itself"
                )
            if entry.shrinks:
                yield (
                    f"{entry.name}={value:g}: a hidden sum adds every number of every client at full "
                    "width, so nothing gets smaller; use sum='plain'"
                )
        if plan.least < 2:
            yield "least_clients=1: a hidden sum of one client is that client's own part"

    def _grouped(self, plan: LearningPlan) -> Iterator[str]:
        """What groups are not for."""
        if plan.groups == 1:
            return
        if not plan.hides:
            yield f"groups={plan.groups}: sum='plain' shows single clients; groups are for hidden sums"
        if plan.kind.trees or plan.fraction < 1:
            yield f"groups={plan.groups}: they are for mlp and logistic, with all clients in each round"

    def _comparing(self, plan: LearningPlan) -> Iterator[str]:
        """What makes no sense of numbers that were left out, mixed in, or are too few."""
        if plan.rule.compares and plan.proximal:
            yield f"proximal={plan.proximal:g} goes with aggregate='mean' only (FedProx)"
        if self.unit == "row" and self.rows is not None and plan.batch > self.rows:
            yield f"batch={plan.batch} must be at most rows={self.rows} of a silo"
        if self.unit == "row" and plan.proximal:
            yield f"proximal={plan.proximal:g}: private steps (unit='row') have no pull; leave one out"
        middles = [entry.name for entry in self._on() if entry.by_number]
        middles += [plan.aggregate] if plan.rule.by_number else []
        if self.sparse is not None and middles:
            yield (
                f"sparse={self.sparse:g}: most clients leave a number out, so the middle of each number, "
                f"which {middles[0]} looks at, is nothing"
            )
        judges = [entry.name for entry in self._on() if entry.by_client]
        judges += [f"aggregate={plan.aggregate!r}"] if plan.rule.by_client else []
        if self.dummies and judges:
            yield (
                f"dummies={self.dummies:g}: {judges[0]} would judge a client by its dummies too, and the "
                "server cannot put rows through a disguised model"
            )

    def _trees(self, plan: LearningPlan) -> Iterator[str]:
        """What trees have no use for, and what only they have."""
        if not plan.kind.trees:
            if plan.cell_epsilon is not None:
                yield f"cell_epsilon={plan.cell_epsilon:g}: model={plan.model!r} has no cells; use epsilon"
            return
        if plan.rule.compares or plan.proximal or plan.fraction < 1:
            yield (
                f"model={plan.model!r} adds up histograms of all clients: aggregate, proximal and fraction "
                "are for mlp and logistic"
            )
        for name in self.as_dict().keys() - {"delta"}:
            yield (
                f"{name}: model={plan.model!r} has no updates of weights to protect; use cell_epsilon, "
                "sum='masked' or 'homomorphic', or mlp or logistic"
            )

    def as_dict(self) -> dict[str, Any]:
        """Give the switches that are not as by default, as plain data."""
        usual = {name: known.default for name, known in settings_of(Protections).items()}
        return {name: value for name, value in asdict(self).items() if value != usual[name]}

    @classmethod
    def from_dict(cls, given: Mapping[str, object]) -> Protections:
        """Read what :meth:`as_dict` gave, or the table of a plan file.

        Raises:
            InvalidParameter: If a key is none of the switches.
        """
        return cls(**read_settings(settings_of(Protections), given))
