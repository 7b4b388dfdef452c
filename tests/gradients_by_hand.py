"""The slow reading of clipped sums: one example after another, by plain automatic differentiation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def clipped_by_hand(
    model: Any, losses: Callable[[Any, Any], Any], inputs: Any, targets: Any, clip: float, norm: str = "l2"
) -> list[Any]:
    """Give the sum of clipped gradients, one tensor per parameter."""
    import torch

    total = [torch.zeros_like(one) for one in model.parameters()]
    for place in range(len(inputs)):
        model.zero_grad()
        losses(model(inputs[place : place + 1]), targets[place : place + 1]).sum().backward()
        parts = [torch.zeros_like(one) if one.grad is None else one.grad for one in model.parameters()]
        flat = torch.cat([part.flatten() for part in parts])
        size = flat.norm() if norm == "l2" else flat.abs().sum()
        if torch.isfinite(size):
            for whole, part in zip(total, parts, strict=True):
                whole.add_(part * (clip / max(clip, float(size))))
    model.zero_grad(set_to_none=True)
    return total
