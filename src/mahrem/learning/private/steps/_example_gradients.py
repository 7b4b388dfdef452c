"""Sums of clipped per-example gradients, without a gradient per example where that can be avoided.

One forward and one backward pass give the input and the output gradient of every layer; norms and weighted
sums follow from them (book-keeping, Bu et al. 2022). Layers without a rule here go to Opacus.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mahrem import check
from mahrem.check import extra
from mahrem.errors import InvalidParameter
from mahrem.learning.private.steps._layer_gradients import RULES, Full, Piece, merged

if TYPE_CHECKING:
    from torch import Tensor, nn

    Losses = Callable[[Any, Any], Tensor]

SHAVED = 1 - 1e-5  # rounding of norms must not carry a gradient past the clip


def torch_of(purpose: str = "private training") -> Any:
    """Load torch, or say how to get it."""
    try:
        import torch
    except ImportError:
        raise extra("train", needed_for=purpose) from None
    return torch


@dataclass
class _Use:
    """One call of a layer: what went in and what came out."""

    layer: nn.Module
    given: Any
    output: Any


class ClippedSums:
    """Clipped gradients of single examples, summed; one object per model.

    Args:
        model: A model whose first dimension is the batch, everywhere.
        losses: Takes outputs and targets and gives one loss per example.
        norm: ``l2`` or ``l1``: which norm is clipped.
        engine: ``auto`` (ours where every layer has a rule, else Opacus), ``ours`` or ``opacus``.

    Guarantees:
        - The sum over any batch changes by at most ``clip`` in that norm when an example joins it, in
          however many copies it is shown.
        - An example whose gradient is not finite adds exactly nothing.
        - The result equals the loop over examples, up to rounding.

    References:
        Goodfellow: Efficient per-example gradient computations, 2015. Bu, Wang, Zha, Karypis: Differentially
        private optimization on large model at small cost, 2022.
    """

    def __init__(self, model: nn.Module, losses: Losses, *, norm: str = "l2", engine: str = "auto") -> None:
        self.norm = check.one_of(("l1", "l2"), norm=norm)
        self.losses = losses
        self.parameters: list[Any] = [one for one in model.parameters() if one.requires_grad]
        if not self.parameters:
            raise InvalidParameter("model: it has no parameters to train")
        if any(one.dtype.itemsize < 4 for one in self.parameters):
            raise InvalidParameter("model: weights of half precision round too much for a clip to hold")
        if torch_of().get_float32_matmul_precision() != "highest":
            raise InvalidParameter(
                "torch: float32_matmul_precision must be 'highest'; less rounds too much for a clip to hold"
            )
        unknown = _without_rule(model)
        check.one_of(("auto", "ours", "opacus"), engine=engine)
        if engine == "ours" and unknown:
            raise InvalidParameter(f"engine='ours' has no rule for {unknown}; use engine='opacus'")
        self.engine = "opacus" if engine == "opacus" or unknown else "ours"
        self.model: Any = model if self.engine == "ours" else _opacus_module(model)
        self._uses: list[_Use] = []

    def __call__(self, inputs: Any, targets: Any, clip: float, copies: int = 1) -> list[Tensor]:
        """Give the sum of clipped gradients of a batch, one tensor per parameter.

        Args:
            inputs: ``(n * copies, ...)``, the copies of an example side by side.
            targets: The same.
            clip: Largest norm of the mean gradient of an example's copies.
            copies: In how many forms every example is shown.
        """
        torch = torch_of()
        if len(inputs) == 0:
            return [torch.zeros_like(one) for one in self.parameters]
        pieces = self._ours(inputs, targets) if self.engine == "ours" else self._opacus(inputs, targets)
        with torch.no_grad():
            if copies > 1:  # a mean is clipped like a sum under a clip as many times as large
                pieces, clip = [piece.grouped(copies) for piece in pieces], clip * copies
            sizes = torch.stack([piece.sizes(self.norm) for piece in pieces]).sum(0)
            norms = sizes.sqrt() if self.norm == "l2" else sizes
            finite = torch.isfinite(norms)
            if not bool(finite.all()):
                for piece in pieces:
                    piece.drop(~finite)
                norms = torch.where(finite, norms, 0.0)
            weights = clip * SHAVED / norms.clamp(min=clip) / copies
            return [piece.total(weights) for piece in pieces]

    def try_out(self, inputs: Any, targets: Any) -> None:
        """Refuse a model whose gradients of single examples do not add up to its gradient.

        Such are layers that overwrite what another has put out (``inplace=True``), weights used past their
        layer, and children of a known layer that compute something else.

        Args:
            inputs: Made-up examples.
            targets: Made-up targets.
        """
        torch = torch_of()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(3)
            pieces = self._ours(inputs, targets) if self.engine == "ours" else self._opacus(inputs, targets)
            torch.manual_seed(3)
            plain = self._plain(inputs, targets)
        with torch.no_grad():
            ones = torch.ones(len(inputs), dtype=self.parameters[0].dtype, device=self.parameters[0].device)
            wrong = torch.cat(
                [(piece.total(ones) - one).flatten() for piece, one in zip(pieces, plain, strict=True)]
            )
            size = torch.cat([one.flatten() for one in plain]).norm()
        # Coarse, for GPUs that multiply with ten bits; a wrong rule is off by far more.
        if bool(torch.isfinite(size)) and not float(wrong.norm()) <= 0.02 * float(size) + 1e-5:
            raise InvalidParameter(
                "model: the gradients of single examples do not add up to its gradient; use layers that do "
                "not overwrite their input (no inplace=True), and every weight through its own layer"
            )

    def _plain(self, inputs: Any, targets: Any) -> list[Any]:
        """Give the ordinary gradient."""
        torch = torch_of()
        if self.engine == "opacus":
            self.model.disable_hooks()
        with torch.enable_grad(), _quiet_hooks():
            total = self.losses(self.model(inputs), targets).sum()
            gradients = torch.autograd.grad(total, self.parameters, allow_unused=True)
        if self.engine == "opacus":
            self.model.enable_hooks()
        pairs = zip(self.parameters, gradients, strict=True)
        return [torch.zeros_like(one) if part is None else part for one, part in pairs]

    def close(self) -> None:
        """Take Opacus' hooks off the model again."""
        if self.engine == "opacus":
            self.model.remove_hooks()
            for one in self.parameters:
                del one.grad_sample

    def _ours(self, inputs: Any, targets: Any) -> list[Piece]:
        torch = torch_of()
        self._uses = []
        hooks = [layer.register_forward_hook(self._note) for layer in _trained(self.model)]
        for one in self.parameters:
            one.requires_grad_(False)  # their summed gradients are never needed
        try:
            with torch.enable_grad():
                total = self.losses(self.model(inputs), targets).sum()
            wanted = [use.output for use in self._uses]
            gradients = torch.autograd.grad(total, wanted, allow_unused=True)
        finally:
            for hook in hooks:
                hook.remove()
            for one in self.parameters:
                one.requires_grad_(True)
        with torch.no_grad():
            return self._pieces(gradients, len(inputs))

    def _note(self, layer: nn.Module, given: tuple[Any, ...], output: Tensor) -> None:
        if not output.requires_grad:
            output.requires_grad_()
        self._uses.append(_Use(layer, given[0].detach(), output))

    def _pieces(self, gradients: Sequence[Any], examples: int) -> list[Piece]:
        pieces: dict[int, list[Piece]] = {id(one): [] for one in self.parameters}
        for use, gradient in zip(self._uses, gradients, strict=True):
            if gradient is None:
                continue
            if len(use.given) != examples or len(gradient) != examples:
                raise InvalidParameter(
                    f"layer {type(use.layer).__name__}: its first dimension must be the batch of {examples}"
                )
            for parameter, piece in RULES[_kind(use.layer)](use.layer, use.given, gradient):
                if id(parameter) in pieces:
                    pieces[id(parameter)].append(piece)
        self._uses = []
        return [merged(pieces[id(one)], one, examples) for one in self.parameters]

    def _opacus(self, inputs: Any, targets: Any) -> list[Piece]:
        torch = torch_of()
        self.model.zero_grad()
        with torch.enable_grad(), _quiet_hooks():
            total: Any = self.losses(self.model(inputs), targets).sum()
            total.backward()
        pieces: list[Piece] = []
        for one in self.parameters:
            sample = one.grad_sample
            several: list[Any] = sample if isinstance(sample, list) else [sample]
            pieces.append(
                Full(sum(several[1:], several[0])) if sample is not None else merged([], one, len(inputs))
            )
            one.grad_sample, one.grad = None, None
        return pieces


@contextmanager
def _quiet_hooks() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Full backward hook is firing")  # inputs need no gradient
        yield


def _trained(model: nn.Module) -> Iterator[Any]:
    for layer in model.modules():
        # Opacus' recurrent layers only list, under other names, what their linear layers hold.
        listing = any(kind.__name__ == "DPRNNBase" for kind in type(layer).__mro__)
        if not listing and any(one.requires_grad for one in layer.parameters(recurse=False)):
            yield layer


def _kind(layer: nn.Module) -> str | None:
    return next((kind.__name__ for kind in type(layer).__mro__ if kind.__name__ in RULES), None)


def _without_rule(model: nn.Module) -> str:
    """Name a kind of layer that has no rule here; an empty text if all have."""
    for layer in _trained(model):
        kind = _kind(layer)
        conv = kind is not None and kind.startswith("Conv")
        if kind is None or (conv and (layer.groups != 1 or layer.padding_mode != "zeros")):
            return type(layer).__name__
    return ""


def _opacus_module(model: nn.Module) -> Any:
    try:
        from opacus.grad_sample import GradSampleModule
    except ImportError:
        raise extra("train", needed_for="per-example gradients of these layers") from None
    return GradSampleModule(model, batch_first=True, loss_reduction="sum", strict=True)
