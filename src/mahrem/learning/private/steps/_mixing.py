"""Whether a model lets one example see another: by its layers, and by trying it out on made-up examples."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mahrem.errors import InvalidParameter
from mahrem.learning.private.steps._example_gradients import torch_of

if TYPE_CHECKING:
    from torch import Tensor, nn


def refuse_mixing(
    model: nn.Module, example: Tensor | None = None, losses: Callable[[Any], Any] | None = None
) -> None:
    """Refuse a model in which one example's output depends on the others of its batch.

    Args:
        model: The model, in training mode.
        example: An input of one example, ``(1, ...)``, of which shape and type are used; when given, the
            model is also tried out on made-up examples: others in the batch, or more of them, must leave an
            example's output as it is, and what a model keeps must not depend on what it has seen.
        losses: Gives the losses of outputs; tried out too.
    """
    torch = torch_of()
    kinds = torch.nn.modules.batchnorm._BatchNorm, torch.nn.modules.instancenorm._InstanceNorm  # noqa: SLF001 - the common parent has no public name
    for name, layer in model.named_modules():
        if isinstance(layer, kinds[0]) or (isinstance(layer, kinds[1]) and layer.track_running_stats):
            raise InvalidParameter(
                f"layer={name!r} ({type(layer).__name__}) mixes the examples of a batch, so one person's "
                f"gradient cannot be bounded; use GroupNorm or LayerNorm"
            )
        if isinstance(layer, torch.nn.RNNBase):
            raise InvalidParameter(
                f"layer={name!r} ({type(layer).__name__}) hides its steps from per-example gradients; "
                f"use opacus.layers.DP{type(layer).__name__}"
            )
    if example is not None:
        _try_mixing(model, example, losses)


def _try_mixing(model: nn.Module, example: Tensor, losses: Callable[[Any], Any] | None) -> None:
    torch = torch_of()
    examples = make_up(example, 4)
    buffers = [one.clone() for one in model.buffers()]
    outputs, later = [], []
    training = model.training
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        # In a batch of another size dropout draws other numbers, so it is turned off for the last two.
        for others, quiet in (([1], False), ([2], False), ([1], True), ([1, 2, 3], True)):
            torch.manual_seed(2)
            batch_output = model.train(training and not quiet)(examples[[0, *others]])
            answers = [batch_output, batch_output if losses is None else losses(batch_output)]
            if any(one.ndim == 0 or len(one) != 1 + len(others) for one in answers):
                raise InvalidParameter("model: it must give one output and one loss for each example")
            outputs.append([one[:1] for one in answers])
            later.append([one.clone() for one in model.buffers()])
            for one, before in zip(model.buffers(), buffers, strict=True):
                one.copy_(before)
    model.train(training)
    pairs = [*zip(outputs[0], outputs[1], strict=True), *zip(outputs[2], outputs[3], strict=True)]
    if not all(torch.allclose(one, two, rtol=1e-4, atol=1e-5, equal_nan=True) for one, two in pairs):
        raise InvalidParameter(
            "model: the output of one example changes with the others of its batch; it cannot be private"
        )
    if any(not torch.equal(one, two) for one, two in zip(later[0], later[1], strict=True)):
        raise InvalidParameter(
            "model: what it keeps beside its weights (a buffer) changes with the examples it sees, without "
            "noise; it cannot be private"
        )


def make_up(example: Tensor, count: int) -> Any:
    """Make up examples of this shape and type; nothing of them comes from data."""
    torch = torch_of()
    maker = torch.Generator().manual_seed(1)
    shape = (count, *example.shape[1:])
    if example.is_floating_point():
        return torch.randn(shape, generator=maker).to(example)
    return torch.randint(0, 2, shape, generator=maker).to(example)
