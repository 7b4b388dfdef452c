"""What networks of pairs and triplets share: one network for all rows of a group, losses, and figures."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from mahrem import check
from mahrem.errors import InvalidInput
from mahrem.learning.private.networks._slots import GROUPS
from mahrem.learning.private.steps import torch_of
from mahrem.types import Floats, Integers

BLOCK = 512
SMALL = 1e-8  # below the root of a distance, so that equal rows have a gradient


class Embedding(ABC):
    """A network that gives each row a place; rows that belong together should lie together."""

    @abstractmethod
    def outputs(self, X: object) -> Floats:
        """Give the raw outputs of the network."""

    def transform(self, X: object) -> Floats:
        """Give the embedding of each row: ``(n, code)``, of length 1."""
        raw = self.outputs(X).astype(np.float64)
        return np.asarray(raw / np.sqrt((raw**2).sum(axis=1, keepdims=True) + SMALL))

    def distances(self, X: object, Y: object) -> Floats:
        """Say how far the rows of two tables lie apart, row by row: from 0 (alike) to 2."""
        one, two = self.transform(X), self.transform(Y)
        if len(one) != len(two):
            raise InvalidInput(f"X={len(one)} rows, Y={len(two)}: rows are compared one by one")
        return np.asarray(np.linalg.norm(one - two, axis=1))

    def nearest_alike(self, X: object, y: object) -> float:
        """Give the share of rows whose nearest other row has their label."""
        labels = np.asarray(y)
        return float(np.mean(labels[nearest_others(self.transform(X))] == labels))


def shared_network(network: Any) -> Any:
    """Use one network for every row of a group: ``(B, size, ...)`` to ``(B, size, code)``, of length 1."""
    torch = torch_of()

    class SharedNetwork(torch.nn.Module):  # type: ignore[misc, name-defined]
        """The network, several times with the same weights."""

        def __init__(self) -> None:
            super().__init__()
            self.network = network

        def forward(self, groups: Any) -> Any:
            codes = torch.stack([self.network(groups[:, place]) for place in range(groups.shape[1])], dim=1)
            return codes / (codes.square().sum(dim=-1, keepdim=True) + SMALL).sqrt()

    return SharedNetwork()


def group_losses(kind: str, margin: float) -> Callable[[Any, Any], Any]:
    """Give the loss of each pair (contrastive) or triplet.

    Args:
        kind: ``pairs`` or ``triplets``.
        margin: How far rows of two classes should lie apart; in triplets, how much further than of one.

    References:
        Hadsell, Chopra, LeCun: Dimensionality reduction by learning an invariant mapping, 2006. Schroff,
        Kalenichenko, Philbin: FaceNet, 2015.
    """
    check.one_of(tuple(GROUPS), kind=kind)
    check.above_zero(margin=margin)

    def gap(one: Any, two: Any) -> Any:
        return (one - two).square().sum(dim=1)

    def pairs(codes: Any, labels: Any) -> Any:
        apart = gap(codes[:, 0], codes[:, 1])
        further = (margin - (apart + SMALL).sqrt()).relu().square()
        return torch_of().where(labels[:, 0] == labels[:, 1], apart, further)

    def triplets(codes: Any, labels: Any) -> Any:  # noqa: ARG001 - places in a triplet say the labels
        return (gap(codes[:, 0], codes[:, 1]) - gap(codes[:, 0], codes[:, 2]) + margin).relu()

    return pairs if kind == "pairs" else triplets


def nearest_others(codes: Floats) -> Integers:
    """Give for each row the place of the nearest other one; blocks keep memory small.

    Example:
        >>> nearest_others(np.array([[0.0], [1.0], [1.5], [9.0]])).tolist()
        [1, 2, 1, 2]
    """
    if len(codes) < GROUPS["pairs"]:
        raise InvalidInput(f"rows={len(codes)}: at least two are needed to compare them")
    lengths = np.einsum("ij,ij->i", codes, codes)
    nearest = np.empty(len(codes), dtype=np.int64)
    for start in range(0, len(codes), BLOCK):
        part = codes[start : start + BLOCK]
        gaps = lengths - 2 * (part @ codes.T)
        gaps[np.arange(len(part)), start + np.arange(len(part))] = np.inf
        nearest[start : start + BLOCK] = gaps.argmin(axis=1)
    return nearest
