"""Any torch module as what silos train: its parameters are one vector, its steps plain SGD."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mahrem.check import extra
from mahrem.errors import InvalidParameter
from mahrem.federated.networks._network import even_batches
from mahrem.federated.networks._stack import Weights
from mahrem.learning.private import SecretStream, TrainingPlan
from mahrem.types import Floats, Integers, Mask

if TYPE_CHECKING:
    import torch

ROWS_AT_ONCE = 256  # whose gradients are held one by one


@dataclass(frozen=True, kw_only=True)
class TorchNetwork:
    """A torch module that silos train; see :class:`TrainableNetwork`.

    Args:
        make: Gives an untrained module for so many inputs and classes.
        loss: Takes outputs and classes of a batch, gives the mean loss; cross entropy by default.
        rate: Learning rate of SGD.
        batch: Rows of a step.
        epochs: How often a silo goes through its rows in a round.

    Guarantees:
        - The same rows, weights and seed give the same weights, also with dropout.
        - Private steps clip the gradient of each row over all parameters.

    Raises:
        InvalidParameter: If the module keeps statistics of rows beside its parameters (batch normalisation):
            they would leave the silo unprotected, or differ between silos.
    """

    make: Callable[[int, int], Any] = field(repr=False)
    loss: Callable[[Any, Any], Any] | None = field(default=None, repr=False)
    rate: float = 0.01
    batch: int = 32
    epochs: int = 1

    def __post_init__(self) -> None:
        self._module(2, 2)  # refuses what cannot be trained

    def _module(self, width: int, classes: int) -> torch.nn.Module:
        try:
            import torch
        except ImportError:
            raise extra("torch", needed_for="networks of torch") from None

        module = self.make(width, classes)
        if not isinstance(module, torch.nn.Module) or not any(True for _ in module.parameters()):
            raise InvalidParameter("network: make(width, classes) must give a torch module with parameters")
        if any(buffer.is_floating_point() for buffer in module.buffers()):
            raise InvalidParameter(
                "network: it keeps statistics of rows (buffers, as batch normalisation does); use "
                "LayerNorm or GroupNorm"
            )
        return module.float()

    def size(self, width: int, classes: int) -> int:
        """How many weights there are."""
        return sum(part.numel() for part in self._module(width, classes).parameters())

    def start(self, width: int, classes: int, seed: int) -> Floats:
        """Draw the first weights, as the module itself does."""
        with _seeded(seed):
            return _flat(self._module(width, classes).parameters())

    def steps(self, rows: int) -> int:
        """How many steps :meth:`train` takes over so many rows."""
        return self.epochs * -(-rows // self.batch)

    def last_layers(self, width: int, classes: int, layers: int) -> Mask:
        """Say which weights belong to the last modules that have parameters of their own."""
        module = self._module(width, classes)
        owners = [name.rpartition(".")[0] for name, _ in module.named_parameters()]
        last = list(dict.fromkeys(owners))[-layers:] if layers else []
        sizes = [part.numel() for part in module.parameters()]
        return np.repeat([owner in last for owner in owners], sizes)

    def train(
        self,
        weights: Floats,
        rows: Floats,
        labels: Integers,
        classes: int,
        *,
        seed: int,
        proximal: float = 0.0,
        drift: Floats | None = None,
    ) -> Weights:
        """Train from given weights on a silo's rows; see :class:`TrainableNetwork`."""
        import torch

        with _seeded(seed), np.errstate(over="ignore", invalid="ignore"):
            module = self._loaded(weights, rows.shape[1], classes).train()
            parts = list(module.parameters())
            given = [part.detach().clone() for part in parts]
            pulls = None if drift is None else _cut(drift, parts)
            inputs, truth = torch.from_numpy(np.asarray(rows, np.float32)), torch.from_numpy(labels)
            rng = np.random.default_rng(seed)
            for _ in range(self.epochs):
                for places in even_batches(rng.permutation(len(rows)), self.batch):
                    chosen = torch.from_numpy(places)
                    loss = self._loss(module(inputs[chosen]), truth[chosen])
                    slopes = torch.autograd.grad(loss, parts)
                    with torch.no_grad():
                        for place, (part, slope) in enumerate(zip(parts, slopes, strict=True)):
                            step = slope + proximal * (part - given[place])
                            part.sub_(self.rate * (step if pulls is None else step + pulls[place]))
            return _flat(parts)

    def train_privately(
        self,
        weights: Floats,
        rows: Floats,
        labels: Integers,
        classes: int,
        plan: TrainingPlan,
        stream: SecretStream,
        steps: Iterable[int],
    ) -> Weights:
        """Take private steps (DP-SGD) from given weights on a silo's rows; without dropout.

        Guarantees:
            - The weights are those of ``plan``'s noisy sums and of nothing else about the rows.
        """
        import torch

        module = self._loaded(weights, rows.shape[1], classes).eval()  # masks of dropout would tell positions
        inputs, truth = torch.from_numpy(np.asarray(rows, np.float32)), torch.from_numpy(labels)
        by_row = _gradients_by_row(module, self._loss)
        flat = np.array(weights, np.float32)
        with _one_core():
            for step in steps:
                batch = plan.sample(stream, step, len(rows))
                total = np.zeros(len(flat))
                for first in range(0, len(batch), ROWS_AT_ONCE):
                    places = torch.from_numpy(np.asarray(batch[first : first + ROWS_AT_ONCE]))
                    total += _clipped_sum(by_row(flat, inputs[places], truth[places]), plan.clip)
                noise = plan.draw_noise(stream, step, len(flat))
                flat -= (self.rate / plan.divisor * (total + noise)).astype(np.float32)
        return flat

    def scores(self, weights: Floats, rows: Floats, classes: int) -> Floats:
        """Give ``(n, classes)`` probabilities."""
        import torch

        with torch.no_grad(), _one_core():
            module = self._loaded(weights, rows.shape[1], classes).eval()
            outputs = _two_sided(module(torch.from_numpy(np.asarray(rows, np.float32))))
            likely: Floats = torch.softmax(outputs.double(), dim=1).numpy()
        return likely

    def _loss(self, outputs: Any, labels: Any) -> Any:
        import torch

        if self.loss is not None:
            return self.loss(outputs, labels)
        return torch.nn.functional.cross_entropy(_two_sided(outputs), labels)

    def _loaded(self, weights: Floats, width: int, classes: int) -> torch.nn.Module:
        import torch

        module = self._module(width, classes)
        with torch.no_grad():
            parts = list(module.parameters())
            for part, held in zip(parts, _cut(weights, parts), strict=True):
                part.copy_(held)
        return module


def _clipped_sum(slopes: Any, clip: float) -> Floats:
    """Add up gradients of rows, each shortened to ``clip``; one that is no number has no say."""
    rows = slopes.numpy().astype(np.float64)
    norms = np.sqrt(np.square(rows).sum(axis=1))
    known = np.isfinite(norms)
    shares = clip / np.maximum(norms[known], clip)
    total: Floats = (rows[known] * shares[:, None]).sum(axis=0)
    return total


def _two_sided(outputs: Any) -> Any:
    """Give a score for each class; a module with one output says how likely the last of two is."""
    import torch

    if outputs.ndim == 1:
        outputs = outputs[:, None]
    return torch.cat([torch.zeros_like(outputs), outputs], dim=1) if outputs.shape[1] == 1 else outputs


def _flat(parts: Iterable[Any]) -> Weights:
    return np.concatenate([part.detach().numpy().ravel() for part in parts]).astype(np.float32)


def _cut(flat: Floats, parts: Iterable[Any]) -> list[Any]:
    """Cut a vector into tensors of the shapes of parameters."""
    import torch

    whole, at, held = np.asarray(flat, np.float32), 0, []
    for part in parts:
        held.append(torch.from_numpy(whole[at : at + part.numel()].copy()).reshape(part.shape))
        at += part.numel()
    return held


def _gradients_by_row(module: Any, loss: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Give what finds ``(n, size)`` gradients of single rows."""
    import torch
    from torch.func import functional_call, grad, vmap

    names = [name for name, _ in module.named_parameters()]
    parts = list(module.parameters())

    def of_row(held: dict[str, Any], row: Any, label: Any) -> Any:
        return loss(functional_call(module, held, (row[None],)), label[None])

    every = vmap(grad(of_row), in_dims=(None, 0, 0), randomness="error")

    def by_row(flat: Floats, rows: Any, labels: Any) -> Any:
        slopes = every(dict(zip(names, _cut(flat, parts), strict=True)), rows, labels)
        return torch.cat([slopes[name].reshape(len(rows), -1) for name in names], dim=1)

    return by_row


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Let torch draw by a seed, and give it back as it was."""
    import torch

    with torch.random.fork_rng(devices=[]), _one_core():
        torch.manual_seed(seed % 2**63)
        yield


@contextmanager
def _one_core() -> Iterator[None]:
    """Keep small batches on one core: more of them only wait for each other."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
