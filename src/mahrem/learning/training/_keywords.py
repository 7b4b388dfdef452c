"""Keywords of settings, made by scripts/keywords.py."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict


class TrainingKeywords(TypedDict, total=False):
    """How to learn from a table privately.

    Attributes:
        delta: Delta of the promise; default: the ledger's, a tenth of it where noise is not on gradients.
        target: The column to learn: declared values make classes, bounds make a number.
        model: dnn, logistic, cnn, lstm, scattering, autoencoder, boosting, svm, linear; default dnn.
        how: Where the noise goes: gradients, objective, output, functional; default gradients.
        features: Columns to learn from; default: all declared ones.
        batch: Expected size of a batch.
        epochs: How often each row is seen on average.
        clip: Largest norm of a gradient.
        noise: gaussian, laplace; gaussian by default.
        learning_rate: Size of a step.
        optimiser: sgd, adam; sgd by default.
        hidden: Sizes of hidden layers.
        rounds: Trees that boosting grows; default: 20 for each column, between 100 and 500.
        average: Give back a running average of the weights; near 1 it is long, none by default.
        copies: In how many forms each image is shown at a step; one person still moves one clip.
        shift: Copies of an image are moved by up to so many pixels.
        warm_start: A public or synthetic table to learn from first, without noise; never the private one.
        search: Settings to choose among, the choice paid for: learning_rate=0.1,0.3; hidden as 64x32.
        repeats: Mean number of trainings of a search; default 5.
        shape: Shape of a row, for cnn and lstm.
        device: auto (default), cpu, cuda …
        checkpoint: Private file to go on from after an interruption.
        poisson: Poisson samples (default); without them accept_no_amplification is needed.
        accept_no_amplification: Accept that an epoch costs a step over all rows.
        holdout: Share of the people kept away from training, to measure on.
        evaluate_epsilon: Measure on them privately, for this much.
        evaluate_openly: Measure without noise: NOT a private figure.
        audit: Also say what epsilon is at least, by canaries in the training.
        canaries: Made-up rows for the audit; default: a 20th of the rows, at most 1000.
    """

    delta: float | None
    target: Hashable | None
    model: Literal["dnn", "logistic", "cnn", "lstm", "scattering", "autoencoder", "boosting", "svm", "linear"]
    how: Literal["gradients", "objective", "output", "functional"]
    features: Sequence[Hashable] | None
    batch: float | None
    epochs: float | None
    clip: float | None
    noise: Literal["gaussian", "laplace"] | None
    learning_rate: float | None
    optimiser: Literal["sgd", "adam"] | None
    hidden: Sequence[int] | None
    rounds: int | None
    average: float | None
    copies: int | None
    shift: int | None
    warm_start: object
    search: Mapping[str, Sequence[Any]] | None
    repeats: float | None
    shape: Sequence[int] | None
    device: str | None
    checkpoint: str | Path | None
    poisson: bool
    accept_no_amplification: bool
    holdout: float
    evaluate_epsilon: float | None
    evaluate_openly: bool
    audit: bool
    canaries: int | None
