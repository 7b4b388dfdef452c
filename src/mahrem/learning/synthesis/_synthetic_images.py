"""Synthetic images of declared classes, from a network that was trained with differential privacy."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np

from mahrem import check
from mahrem.dp import Ledger
from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.learning.private import SecretStream, TrainingPlan, new_stream
from mahrem.learning.private.inputs import label_codes, quiet_floats, shape_of
from mahrem.learning.private.steps import declared_rows
from mahrem.learning.synthesis._drawings import CHUNK, CodedDrawing
from mahrem.learning.synthesis._generators import Generator, GeneratorExamples
from mahrem.learning.synthesis._image_sheet import image_sheet
from mahrem.learning.synthesis._likelihoods import PixelLikelihood
from mahrem.types import Floats, Integers


@dataclass(frozen=True, kw_only=True)
class NetworkImages:
    """A synthesiser of images: a network makes an image of a class from random numbers.

    Args:
        generator: The network and its training: :class:`~mahrem.learning.synthesis.Variational` or
            :class:`~mahrem.learning.synthesis.Adversarial`.
        classes: The labels there may be; never read off the data.
        epsilon: What the training may cost.
        delta: The same; by default the ledger's.
        seed: For tests only: the run repeats, and **nothing is private**; the guarantee says so.

    Guarantees:
        - ``(epsilon, delta)``-DP under the ledger's relation; paid for before a step is taken.
        - Every network that sees an image is clipped and noised; drawing images costs nothing.
        - A pixel that is no number counts as black; an image with an undeclared label is left out.

    References:
        See the generator.

    Example:
        >>> images = np.random.default_rng(1).random((300, 4, 4), dtype=np.float32)
        >>> ledger = Ledger.temporary(epsilon=2, delta=1e-6, rows=300)
        >>> from mahrem.learning.synthesis import Variational
        >>> fitted = NetworkImages(
        ...     generator=Variational(hidden=(8,), code=2, steps=5), classes=("a", "b"), epsilon=2
        ... ).fit(images, ["a", "b"] * 150, ledger=ledger)
        >>> drawn, labels = fitted.sample(6, seed=1)
        >>> drawn.shape, labels.tolist()
        ((6, 4, 4), ['a', 'b', 'a', 'b', 'a', 'b'])
    """

    generator: Generator
    classes: Sequence[Any]
    epsilon: float
    delta: float | None = None
    seed: int | None = None

    def __post_init__(self) -> None:
        check.promised(epsilon=self.epsilon)
        if len(set(self.classes)) != len(self.classes) or not len(self.classes):
            raise InvalidParameter(f"classes={len(self.classes)}: must be declared, each once")

    def plan(self, ledger: Ledger) -> TrainingPlan:
        """Make the plan from settings and public facts; nothing is spent."""
        if ledger.unit.subject is not None:
            raise InvalidParameter("ledger: it protects people, but nothing says whose an image is")
        return self.generator.plan(
            declared_rows(ledger.facts.rows),
            epsilon=self.epsilon,
            delta=ledger.delta if self.delta is None else self.delta,
            relation=ledger.relation,
        )

    def fit(self, images: object, labels: object, *, ledger: Ledger | str | Path) -> NetworkImagesFit:
        """Pay for every planned step, then train.

        Args:
            images: ``(n, ...)`` shades from 0 (black) to 1; what lies outside is moved there.
            labels: ``(n,)`` a class for each.
            ledger: Pays; must know the public number of images.

        Raises:
            BudgetExceeded: If it does not fit; nothing was computed.
        """
        book = Ledger.of(ledger)
        plan = self.plan(book)
        train = self.prepared(images, labels, plan, new_stream(self.seed))
        what = f"synthesis of images by a network ({self.generator.name})"
        book.spend(plan.event, what=what, delta=plan.delta)
        return train()

    def prepared(
        self, images: object, labels: object, plan: TrainingPlan, stream: SecretStream
    ) -> Callable[[], NetworkImagesFit]:
        """Make the network and refuse what cannot work; what comes back trains it **without paying**."""
        examples, shape = self._examples(images, labels)
        train = self.generator.prepared(examples, PixelLikelihood(math.prod(shape)), plan, stream)

        def trained() -> NetworkImagesFit:
            return NetworkImagesFit(
                classes=tuple(self.classes),
                shape=shape,
                drawing=cast("CodedDrawing", train()),  # only those take pixels
                plan=plan,
                seeded=stream.seeded,
            )

        return trained

    def _examples(self, images: object, labels: object) -> tuple[GeneratorExamples, tuple[int, ...]]:
        shades = quiet_floats(images)
        if shades.ndim < 2 or shape_of(labels) != (len(shades),):
            raise InvalidInput(
                f"images of shape {shades.shape}, labels of shape {shape_of(labels)}: every image needs one"
            )
        codes = label_codes(labels, self.classes)[:, None] == np.arange(len(self.classes))[None, :]
        flat = np.nan_to_num(shades.reshape(len(shades), -1), nan=0.0).clip(0, 1)
        rows = np.concatenate([flat, codes.astype(np.float32)], axis=1)[codes.any(axis=1)]
        even = np.full(len(self.classes), 1 / len(self.classes))
        return GeneratorExamples(np.ascontiguousarray(rows), even), shades.shape[1:]


@dataclass(frozen=True, kw_only=True)
class NetworkImagesFit:
    """A trained network that makes images; asking it costs nothing.

    Attributes:
        classes: The labels.
        shape: Of one image.
        plan: Sampler, clipping, noise and cost of the training.
        seeded: Whether the noise came from a test seed; then nothing is private.
    """

    classes: tuple[Any, ...]
    shape: tuple[int, ...]
    drawing: CodedDrawing = field(repr=False)
    plan: TrainingPlan = field(repr=False)
    seeded: bool = False

    @property
    def guarantee_(self) -> str:
        """The promise in words."""
        return self.plan.guarantee(seeded=self.seeded)

    @property
    def cost_(self) -> tuple[float, float]:
        """Epsilon and delta that were paid."""
        return self.plan.epsilon, self.plan.delta

    def sample(self, count: int, *, seed: int | None = None, label: object = None) -> tuple[Floats, Any]:
        """Draw images and their labels; classes take turns, unless one is named."""
        parts = list(self.batches(count, seed=seed, label=label))
        return np.concatenate([one for one, _ in parts]), np.concatenate([one for _, one in parts])

    def batches(
        self, count: int, *, seed: int | None = None, label: object = None
    ) -> Iterator[tuple[Floats, Any]]:
        """Draw images part by part, so that memory does not grow with them."""
        check.at_least(1, count=check.whole(count=count))
        if label is not None and label not in self.classes:
            raise InvalidParameter("label: it is not among the declared classes")
        rng = np.random.default_rng(seed)
        for start in range(0, count, CHUNK):
            turns = np.arange(start, min(start + CHUNK, count)) % len(self.classes)
            codes = turns if label is None else np.full_like(turns, self.classes.index(label))
            yield self._drawn(codes, rng), np.asarray(self.classes)[codes]

    def sheet(self, each: int = 10, *, seed: int | None = None) -> bytes:
        """Draw a grey PNG to look at: a column for each class, ``each`` images one below the other."""
        drawn, _ = self.sample(each * len(self.classes), seed=seed)
        grey = drawn.reshape(len(drawn), -1, *self.shape[-2:]).mean(axis=1)  # channels come first
        return image_sheet(grey, across=len(self.classes))

    def _drawn(self, codes: Integers, rng: np.random.Generator) -> Floats:
        outputs = self.drawing.outputs(codes, len(codes), rng)
        shades = 1 / (1 + np.exp(-outputs.astype(np.float64)))
        return shades.reshape(-1, *self.shape)
