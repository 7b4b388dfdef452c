"""Rules of single layers: from a layer's input and output gradient to per-example gradients of its weights.

A piece stands for the gradients of all examples with respect to one parameter. A matrix that is a sum of
products is kept as its factors as long as its norm costs less that way (ghost clipping).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from torch import Tensor

HIDDEN = 32  # units of rounding that a sum of products of one example may be off, of its parts' sizes


class Piece(Protocol):
    """Gradients of all examples with respect to one parameter."""

    def sizes(self, norm: str) -> Tensor:
        """Give ``(B,)`` squared L2 norms, or L1 norms."""
        ...

    def total(self, weights: Tensor) -> Tensor:
        """Sum over examples, each times its weight."""
        ...

    def drop(self, lost: Tensor) -> None:
        """Set the gradients of these examples to zero."""
        ...

    def full(self) -> Tensor:
        """Write the gradients out: ``(B, *shape)``."""
        ...

    def grouped(self, copies: int) -> Piece:
        """Add up every ``copies`` neighbouring examples: they are one."""
        ...


class Full:
    """Gradients written out."""

    def __init__(self, gradients: Tensor) -> None:
        self.gradients = gradients

    def sizes(self, norm: str) -> Tensor:
        flat = self.gradients.flatten(1)
        return flat.square().sum(1) if norm == "l2" else flat.abs().sum(1)

    def total(self, weights: Tensor) -> Tensor:
        return (weights @ self.gradients.flatten(1)).view(self.gradients.shape[1:])

    def drop(self, lost: Tensor) -> None:
        self.gradients[lost] = 0

    def full(self) -> Tensor:
        return self.gradients

    def grouped(self, copies: int) -> Full:
        return Full(self.gradients.reshape(-1, copies, *self.gradients.shape[1:]).sum(1))


class Product:
    """Matrices ``outer @ inner`` of all examples: ``(B, o, T)`` and ``(B, T, i)``, in a parameter's shape."""

    def __init__(self, outer: Tensor, inner: Tensor, shape: Sequence[int]) -> None:
        self.outer, self.inner, self.shape = outer, inner, tuple(shape)
        self.written: Tensor | None = None

    def sizes(self, norm: str) -> Tensor:
        _, outputs, places = self.outer.shape
        inputs = self.inner.shape[2]
        if places == 1:
            flat = [self.outer.flatten(1), self.inner.flatten(1)]
            both = [one.square().sum(1) if norm == "l2" else one.abs().sum(1) for one in flat]
            return both[0] * both[1]
        if norm == "l2" and places * (outputs + inputs) < outputs * inputs:
            import torch

            left = torch.bmm(self.outer.transpose(1, 2), self.outer)
            squares = (left * torch.bmm(self.inner, self.inner.transpose(1, 2))).flatten(1).sum(1)
            # Places may cancel out: what rounding hides of that is added, or a gradient could pass the clip.
            alone = (self.outer.square().sum(1) * self.inner.square().sum(2)).sqrt().sum(1).square()
            return squares.clamp(min=0) + HIDDEN * torch.finfo(alone.dtype).eps * alone
        return Full(self.full()).sizes(norm)

    def total(self, weights: Tensor) -> Tensor:
        if self.written is not None:
            return Full(self.written).total(weights)
        scaled = (self.outer * weights[:, None, None]).transpose(0, 1).flatten(1)
        return (scaled @ self.inner.flatten(0, 1)).view(self.shape)

    def drop(self, lost: Tensor) -> None:
        self.outer, self.inner = self.outer.clone(), self.inner.clone()
        self.outer[lost] = 0
        self.inner[lost] = 0
        if self.written is not None:
            self.written[lost] = 0

    def full(self) -> Tensor:
        if self.written is None:
            import torch

            self.written = torch.bmm(self.outer, self.inner).view(-1, *self.shape)
        return self.written

    def grouped(self, copies: int) -> Product:
        # A sum of products is a product again: copies stand side by side, like places of an image.
        outer = self.outer.reshape(-1, copies, *self.outer.shape[1:]).transpose(1, 2).flatten(2)
        inner = self.inner.reshape(-1, copies * self.inner.shape[1], self.inner.shape[2])
        return Product(outer, inner, self.shape)


def merged(pieces: Sequence[Piece], parameter: Tensor, examples: int) -> Piece:
    """Put the uses of one parameter together; a parameter that was not used has a gradient of zero."""
    import torch

    if not pieces:
        return Full(parameter.new_zeros(examples, *parameter.shape))
    if len(pieces) == 1:
        return pieces[0]
    products = [piece for piece in pieces if isinstance(piece, Product)]
    if len(products) == len(pieces):  # the same layer at every step of a series
        outer = torch.cat([piece.outer for piece in products], dim=2)
        inner = torch.cat([piece.inner for piece in products], dim=1)
        return Product(outer, inner, products[0].shape)
    return Full(torch.stack([piece.full() for piece in pieces]).sum(0))


_Found = Iterator[tuple[Any, Piece]]


def _linear(layer: Any, given: Tensor, gradient: Tensor) -> _Found:
    inner = given.reshape(len(given), -1, given.shape[-1])
    outer = gradient.reshape(len(gradient), -1, gradient.shape[-1]).transpose(1, 2)
    yield layer.weight, Product(outer, inner, layer.weight.shape)
    if layer.bias is not None:
        yield layer.bias, Full(outer.sum(2))


def _convolution(layer: Any, given: Tensor, gradient: Tensor) -> _Found:
    outer = gradient.flatten(2)
    yield layer.weight, Product(outer, _patches(layer, given), layer.weight.shape)
    if layer.bias is not None:
        yield layer.bias, Full(outer.sum(2))


def _patches(layer: Any, given: Tensor) -> Tensor:
    """Give what the filter sees at every place: ``(B, places, channels * filter)``."""
    import torch

    dimensions = len(layer.kernel_size)
    if layer.padding == "same":
        sides = [(step * (size - 1)) for step, size in zip(layer.dilation, layer.kernel_size, strict=True)]
        pads = [(side // 2, side - side // 2) for side in sides]
    else:
        pads = [
            (0, 0) if layer.padding == "valid" else (one, one) for one in _tuple(layer.padding, dimensions)
        ]
    if any(before or after for before, after in pads):
        flat = [one for pair in reversed(pads) for one in pair]
        given = torch.nn.functional.pad(given, flat)
    given = given.contiguous()
    steps = given.stride()
    reach = [step * (size - 1) for step, size in zip(layer.dilation, layer.kernel_size, strict=True)]
    places = [
        (length - far - 1) // stride + 1
        for length, far, stride in zip(given.shape[2:], reach, layer.stride, strict=True)
    ]
    size = (len(given), *places, given.shape[1], *layer.kernel_size)
    moves = [step * stride for step, stride in zip(steps[2:], layer.stride, strict=True)]
    inside = [step * gap for step, gap in zip(steps[2:], layer.dilation, strict=True)]
    seen = given.as_strided(size, (steps[0], *moves, steps[1], *inside))
    return seen.reshape(len(given), -1, layer.weight[0].numel())


def _tuple(value: Any, dimensions: int) -> tuple[int, ...]:
    return tuple(value) if isinstance(value, tuple | list) else (value,) * dimensions


def _group_norm(layer: Any, given: Tensor, gradient: Tensor) -> _Found:
    import torch

    plain = torch.nn.functional.group_norm(given, layer.num_groups, eps=layer.eps)
    shape = (*given.shape[:2], -1)
    yield layer.weight, Full((gradient * plain).reshape(shape).sum(2))
    yield layer.bias, Full(gradient.reshape(shape).sum(2))


def _layer_norm(layer: Any, given: Tensor, gradient: Tensor) -> _Found:
    import torch

    plain = torch.nn.functional.layer_norm(given, layer.normalized_shape, eps=layer.eps)
    shape = (len(given), -1, *layer.normalized_shape)
    yield layer.weight, Full((gradient * plain).reshape(shape).sum(1))
    if layer.bias is not None:
        yield layer.bias, Full(gradient.reshape(shape).sum(1))


RULES: Mapping[str | None, Callable[[Any, Any, Any], _Found]] = {
    "Linear": _linear,
    "Conv1d": _convolution,
    "Conv2d": _convolution,
    "Conv3d": _convolution,
    "GroupNorm": _group_norm,
    "LayerNorm": _layer_norm,
}
