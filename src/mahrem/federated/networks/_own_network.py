"""A network of a user's own making: any torch module, or a scikit-learn estimator with coefficients."""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.federated.networks._trainable import TrainableNetwork

MAKE, LOSS = "make", "loss"  # what a file of a network must, and may, define


@dataclass(frozen=True)
class OwnNetwork:
    """What makes a network, and what names its code for everybody who agreed on it.

    Args:
        make: Gives a ``torch.nn.Module``, or a scikit-learn estimator with ``coef_`` and ``intercept_``, for
            so many inputs (rows as the schema encodes them) and classes.
        loss: Of a module: takes its outputs and the classes of a batch, gives the mean loss. Cross entropy by
            default.
        name: What it is called in messages.
        digest: SHA-256 of its code.

    Example:
        >>> def make(width, classes):
        ...     from sklearn.linear_model import SGDClassifier
        ...
        ...     return SGDClassifier(loss="log_loss")
        >>> own = OwnNetwork(make, digest="0" * 64)
        >>> own.name
        'make'
    """

    make: Callable[[int, int], Any] = field(repr=False)
    loss: Callable[[Any, Any], Any] | None = field(default=None, repr=False)
    name: str = ""
    digest: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.name or getattr(self.make, "__name__", "make"))
        if not self.digest:
            object.__setattr__(self, "digest", _digest_of(self.make, self.loss))

    @classmethod
    def read(cls, path: Path) -> OwnNetwork:
        """Run a Python file that defines ``make(width, classes)`` and perhaps ``loss(outputs, labels)``.

        The file is code: read it before you name it. Nothing but this call runs it, and only whoever holds
        the federation's file can say that it is the agreed one.

        Raises:
            InvalidInput: If it cannot be read or run, or defines no ``make``.
        """
        try:
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
        except OSError as error:
            raise InvalidInput(f"network={path.name!r} cannot be read: {error.strerror}") from None
        name = f"mahrem_network_{digest[:16]}"
        spec = spec_from_file_location(name, path)
        if spec is None or spec.loader is None:
            raise InvalidInput(f"network={path.name!r} is no Python file")
        module = module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except Exception as error:
            raise InvalidInput(f"network={path.name!r} cannot be run ({type(error).__name__})") from error
        make, loss = getattr(module, MAKE, None), getattr(module, LOSS, None)
        if not callable(make):
            raise InvalidInput(f"network={path.name!r} must define make(width, classes)")
        return cls(make, loss, path.name, digest)

    def trained_by(self, *, rate: float, batch: int, epochs: int) -> TrainableNetwork:
        """Give it as what silos train."""
        network = self.make(2, 2)
        if hasattr(network, "named_parameters"):
            from mahrem.federated.networks._torch_network import TorchNetwork

            return TorchNetwork(make=self.make, loss=self.loss, rate=rate, batch=batch, epochs=epochs)
        if hasattr(network, "fit") and self.loss is None:
            from mahrem.federated.networks._scikit_network import ScikitNetwork

            return ScikitNetwork(make=self.make, epochs=epochs)
        raise InvalidParameter(
            f"network={self.name!r} must make a torch.nn.Module, or a scikit-learn estimator without loss"
        )


def _digest_of(*parts: Any) -> str:
    """Name code by its source; what has none cannot be agreed on."""
    try:
        text = "".join(inspect.getsource(part) for part in parts if part is not None)
    except (OSError, TypeError):
        raise InvalidParameter(
            "network: its source cannot be found, so nobody could check that all have the same; give its "
            "digest, or put it into a file"
        ) from None
    return hashlib.sha256(text.encode()).hexdigest()
