"""Local noise in a client's network: each record's activation is clipped and gets noise before it leaves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mahrem import check
from mahrem.check import extra
from mahrem.dp import Ledger, local_event
from mahrem.dp.accounting import Event, Gaussian, Pure, epsilon_of, gaussian_multiplier
from mahrem.errors import InvalidParameter

NOISES = ("gaussian", "laplace")


@dataclass(frozen=True, kw_only=True)
class LocalNoise:
    """Settings of a noise module before the first or a middle layer; :meth:`module` makes it.

    Any two records' activations differ by at most twice ``clip`` after clipping: in the L2 norm for Gaussian,
    in the L1 norm for Laplace noise. Every pass of a record through the module is one release about it, and
    passes add up: training for ten epochs costs ten of them. What is computed from the noisy activations
    alone, all further layers included, costs nothing more. The layers before the module see clean records:
    they must be fixed, or stay with the client.

    Args:
        clip: Largest norm of a record's activation.
        epsilon: What one pass of a record costs.
        delta: The same; 0 for Laplace noise.
        noise: ``gaussian`` or ``laplace``.

    Guarantees:
        - ``(epsilon, delta)``-local DP for each pass of each record, whoever receives the activations.
        - A record with NaN or infinity in its activation sends noise around zero.
        - Idealised: floating-point noise from a key of the system's generator.

    References:
        Duchi, Jordan, Wainwright: Local privacy and statistical minimax rates, 2013; Balle, Wang, 2018.

    Example:
        >>> LocalNoise(clip=1.0, epsilon=2.0, noise="laplace").scale
        1.0
    """

    clip: float
    epsilon: float
    delta: float = 0.0
    noise: str = "gaussian"

    def __post_init__(self) -> None:
        check.one_of(NOISES, noise=self.noise)
        for name in ("clip", "epsilon"):
            check.above_zero(**{name: getattr(self, name)})
        if (self.noise == "gaussian") != (0 < check.finite(delta=self.delta) < 1) or self.delta < 0:
            raise InvalidParameter(
                f"delta={self.delta!r} must lie between 0 and 1 for gaussian noise and be 0 for laplace noise"
            )

    @property
    def scale(self) -> float:
        """Standard deviation (Gaussian) or scale (Laplace) of the noise on each entry."""
        if self.noise == "laplace":
            return 2 * self.clip / self.epsilon
        return 2 * self.clip * gaussian_multiplier(self.epsilon, self.delta)

    def event(self) -> Event:
        """What one pass of a record costs."""
        if self.noise == "laplace":
            return Pure(self.epsilon)
        return Gaussian(self.scale / (2 * self.clip))

    def spend(self, ledger: Ledger, *, passes: int = 1, what: str = "local noise") -> float:
        """Pay for so many passes of each record; gives what they cost at the ledger's delta, together."""
        event = local_event(self.event(), ledger, passes)
        delta = 0.0 if self.noise == "laplace" else ledger.delta
        ledger.spend(event, what=f"{what}: {passes} passes", delta=delta)
        return epsilon_of(event, delta, ledger.relation)

    def module(self) -> Any:
        """Make the ``torch.nn.Module``; needs the extra ``train``."""
        try:
            from mahrem.learning.private.networks._local_noise_module import LocalNoiseModule
        except ImportError:
            raise extra("train", needed_for="a noise module") from None
        return LocalNoiseModule(self)

    def guarantee(self) -> str:
        """Say the promise in words."""
        return (
            f"({self.epsilon:g}, {self.delta:g})-local differential privacy for each pass of a record: "
            f"activations clipped to norm {self.clip:g}, {self.noise} noise of scale {self.scale:.4g} on "
            f"each entry; passes add up. Hides what a record says, not that it is there. Layers before the "
            f"noise must not be trained on the records or must stay with the client. Idealised: "
            f"floating-point noise."
        )
