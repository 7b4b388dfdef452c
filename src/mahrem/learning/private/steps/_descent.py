"""What is done with noisy gradients, in how many forms examples are shown, and where: no cost hangs on it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from mahrem import check
from mahrem.errors import InvalidParameter
from mahrem.learning.private.steps._choices import OPTIMISERS, SCHEDULES
from mahrem.learning.private.steps._example_gradients import torch_of


@dataclass(frozen=True, kw_only=True)
class Augmentation:
    """Images shown in several forms, of whose gradients the mean is clipped: one person still moves one clip.

    Args:
        copies: In how many forms every example is shown at a step.
        shift: Each copy is moved by up to so many pixels, at random, in both directions.
        flip: Mirror copies left to right by a coin.

    Guarantees:
        - What is drawn does not hang on the examples, and a copy depends on its own example alone.

    References:
        De, Berrada, Hayes, Smith, Balle: Unlocking high-accuracy differentially private image classification
        through scale, 2022.

    Example:
        >>> import torch
        >>> Augmentation(copies=3, shift=1)(torch.zeros(2, 1, 8, 8)).shape
        torch.Size([6, 1, 8, 8])
    """

    copies: int = 1
    shift: int = 0
    flip: bool = False

    def __post_init__(self) -> None:
        check.at_least(1, copies=check.whole(copies=self.copies))
        check.at_least(0, shift=check.whole(shift=self.shift))

    @property
    def changes(self) -> bool:
        """Whether it changes rows; then they must be images."""
        return self.shift > 0 or self.flip

    def refuse(self, shape: tuple[int, ...]) -> None:
        """Refuse rows that are no images where images are to be moved."""
        if self.changes and (len(shape) != 3 or min(shape[1:]) <= self.shift):
            raise InvalidParameter(
                f"shape={tuple(shape)}: only images of channels, height, width can be shifted or flipped, by "
                f"less than their sides"
            )

    def __call__(self, rows: Any) -> Any:
        """Give ``(n * copies, ...)``, the copies of a row side by side."""
        torch = torch_of()
        many = rows.repeat_interleave(self.copies, 0)
        if not (self.changes and len(many)):
            return many
        images = many.flatten(0, -4)  # rows of a pair are images of their own
        count, channels, height, width = images.shape
        # Row by row, so that those before a row draw the same whether it is there or not.
        drawn = torch.randint(0, 2 * (2 * self.shift + 1) ** 2, (count, 1), device=many.device)
        coin, drawn = (drawn % 2).bool() & self.flip, drawn // 2
        down = torch.arange(height, device=many.device) + drawn // (2 * self.shift + 1) - self.shift
        right = torch.arange(width, device=many.device) + drawn % (2 * self.shift + 1) - self.shift
        right = torch.where(coin, width - 1 - right, right)
        down, right = down.clamp(0, height - 1), right.clamp(0, width - 1)  # edges go on outwards
        place = (down[:, :, None] * width + right[:, None, :]).view(count, 1, -1)
        return images.flatten(2).gather(2, place.expand(-1, channels, -1)).view(many.shape)


@dataclass(frozen=True, kw_only=True)
class Descent:
    """How noisy gradients become a model; all of it is free post-processing.

    Args:
        learning_rate: Size of a step.
        momentum: Of ``sgd``.
        optimiser: ``sgd`` or ``adam``.
        decay: Shrinks weights at every step (weight decay).
        schedule: ``constant``, or ``cosine`` to fall to 0 over the planned steps.
        average: Give back a running average of the weights; near 1 it is long, 0 is off.
    """

    learning_rate: float = 0.5
    momentum: float = 0.0
    optimiser: str = "sgd"
    decay: float = 0.0
    schedule: str = "constant"
    average: float = 0.0

    def __post_init__(self) -> None:
        check.above_zero(learning_rate=self.learning_rate)
        check.between(0, 1, momentum=self.momentum)
        check.at_least(0, decay=self.decay)
        check.between(0, 1, average=self.average)
        check.one_of(OPTIMISERS, optimiser=self.optimiser)
        check.one_of(SCHEDULES, schedule=self.schedule)

    def optimiser_of(self, parameters: list[Any]) -> Any:
        """Make the optimiser."""
        torch = torch_of()
        if self.optimiser == "adam":
            return torch.optim.Adam(parameters, lr=self.learning_rate, weight_decay=self.decay)
        return torch.optim.SGD(
            parameters, lr=self.learning_rate, momentum=self.momentum, weight_decay=self.decay
        )

    def rate_at(self, step: int, steps: int) -> float:
        """Give the size of one step."""
        if self.schedule == "constant":
            return self.learning_rate
        return self.learning_rate * 0.5 * (1 + math.cos(math.pi * step / steps))


@dataclass(frozen=True, kw_only=True)
class Compute:
    """Where gradients are computed; it changes memory and time, nothing else.

    Args:
        device: ``auto``, ``cpu``, ``cuda`` …
        microbatch: So many examples at a time; bounds memory.
    """

    device: str = "auto"
    microbatch: int = 256

    def __post_init__(self) -> None:
        check.at_least(1, microbatch=check.whole(microbatch=self.microbatch))


def choose_device(device: str = "auto") -> Any:
    """Give the device to train on; ``auto`` takes a GPU if there is one."""
    torch = torch_of()
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        torch_device = torch.device(device)
        torch.zeros(1, device=torch_device)
    except (RuntimeError, AssertionError) as error:
        raise InvalidParameter(f"device={device!r} is not there; use auto or cpu") from error
    return torch_device
