"""Canaries in a private training: made-up records, put in by a coin each, that an audit looks for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mahrem import check
from mahrem.dp import Ledger, Relation
from mahrem.errors import InvalidParameter
from mahrem.learning.private import NETWORKS, PrivateNetwork, PublicInputs, SecretStream
from mahrem.types import Floats, Integers, Mask

LEAST, MOST, SHARE = 20, 1000, 20
CELLS = 150_000_000  # rows times canaries: columns of their own cost memory
LOUD = 30.0  # an input so large that the gradient of a canary is clipped, and lies in its own column
SMALLEST = 1e-12  # a probability is never quite 0 or 1
DENSE = ("dnn", "logistic")  # networks whose first layer takes columns


def canary_count(ledger: Ledger, wanted: int | None) -> int:
    """Say how many canaries go in: a twentieth of the public number of rows, at most 1000."""
    if ledger.relation is not Relation.ADD_REMOVE:
        raise InvalidParameter(
            "audit=True needs a ledger with relation='add-remove': a canary is a row more or less"
        )
    if wanted is not None:
        return int(check.at_least(LEAST, canaries=check.whole(canaries=wanted)))
    rows = ledger.facts.rows
    return MOST if rows is None else max(LEAST, min(MOST, rows // SHARE, CELLS // rows))


@dataclass(frozen=True, kw_only=True)
class Canaries:
    """Records that only an audit looks for; public facts and the key of the training make them.

    In a dense network each canary has an input column of its own, which is 0 in every row of the table: its
    gradient is clipped like any other and hardly meets theirs, and the columns are cut off afterwards. Other
    models get rows at the corners of the declared domain, with labels by chance; they show far less.

    Attributes:
        rows: ``(m, width)`` inputs; without its own column where ``own`` is set.
        labels: ``(m,)`` targets; None where there is none.
        inside: ``(m,)`` the coins.
        own: Whether each has a column of its own.
    """

    rows: Floats = field(repr=False)
    labels: Any = field(repr=False)
    inside: Mask = field(repr=False)
    own: bool = False

    @classmethod
    def draw(
        cls,
        stream: SecretStream,
        count: int,
        inputs: PublicInputs,
        classes: tuple[str, ...] | None,
        bounds: tuple[float, float] | None,
        *,
        model: Any = None,
    ) -> Canaries:
        """Draw them from the key of the training, so that one taken up again has the same."""
        rng = np.random.default_rng([int(word) for word in stream.words("canaries", 0, 4)])
        own = isinstance(model, PrivateNetwork) and model.network in DENSE and model.shape is None
        blocks = []
        for name in inputs.features:
            values = inputs.facts.columns[name].categories
            if values is None:
                blocks.append(rng.choice([inputs.low, 1.0], (count, 1)))
            else:
                blocks.append(np.eye(len(values))[rng.integers(len(values), size=count)])
        rows: Any = np.hstack(blocks).astype(np.float32)
        labels: Any = None
        if classes is not None:
            labels = np.array(classes, dtype=object)[rng.integers(len(classes), size=count)]
        elif bounds is not None:
            labels = rng.choice(np.array(bounds), count)
        coins = rng.random(count) < 0.5
        return cls(rows=rows * (0 if own else 1), labels=labels, inside=coins, own=own)

    def added(self, rows: Floats, labels: Any, units: Integers | None) -> tuple[Floats, Any, Any]:
        """Give a table with the canaries whose coin said so; each is a person of its own."""
        chosen = self._full()[self.inside].astype(rows.dtype)
        width = chosen.shape[1] - rows.shape[1]
        wide = np.hstack([rows, np.zeros((len(rows), width), rows.dtype)]) if width else rows
        joined = np.concatenate([wide, chosen])
        named = None if labels is None else np.concatenate([labels, self.labels[self.inside]])
        if units is None:
            return joined, named, None
        more = int(units.max(initial=0)) + 1 + np.arange(int(self.inside.sum()))
        return joined, named, np.concatenate([units, more])

    def fit(self, model: Any, train: Callable[[], object]) -> Floats:
        """Train a model on a table with canaries, say how well it knows each, and cut off their columns.

        An audit guesses from these scores which canaries were in.

        Args:
            model: What is trained.
            train: Trains it on what :meth:`added` gave.
        """
        network = getattr(model, "network", None)
        if self.own:
            model.network = _widened(str(network), len(self.inside))
        try:
            train()
            scores = self.scores(model)
        finally:
            if self.own:
                model.network = network
        if self.own:
            _narrow(model, len(self.inside))
        return scores

    def scores(self, model: Any) -> Floats:
        """Say how well the model knows each canary, against a blank row or others of the same label."""
        rows = self._full()
        if self.labels is None:
            return np.asarray(-np.abs(model.predict(rows) - rows).mean(axis=1))
        scores = _knows(model, rows, self.labels)
        if self.own:
            return scores - _knows(model, np.zeros_like(rows), self.labels)
        for label in set(self.labels.tolist()):
            same = self.labels == label
            scores[same] -= scores[same].mean()
        return scores

    def _full(self) -> Floats:
        if not self.own:
            return self.rows
        return np.hstack([self.rows, LOUD * np.eye(len(self.rows), dtype=np.float32)])


def _knows(model: Any, rows: Floats, labels: Any) -> Floats:
    """Give how well a model answers each label: log-odds, margin, or how near its number is."""
    if labels.dtype != object:
        outputs = model.outputs(rows)[:, 0] if hasattr(model, "outputs") else model.predict(rows)
        return np.asarray(outputs * np.where(labels == labels.max(), 1.0, -1.0), dtype=np.float64)
    places = [list(model.classes_).index(label) for label in labels.tolist()]
    if getattr(model, "loss", None) == "svm":
        scores = np.asarray(model.decision_function(rows))
        wide = np.stack([-scores, scores], axis=1) if scores.ndim == 1 else scores
        return np.asarray(wide[np.arange(len(wide)), places])
    chances = np.asarray(model.predict_proba(rows), dtype=np.float64)[np.arange(len(rows)), places]
    kept = np.clip(np.nan_to_num(chances), SMALLEST, 1 - SMALLEST)
    return np.asarray(np.log(kept) - np.log1p(-kept))


def _widened(network: str, count: int) -> Callable[..., Any]:
    """Make a network whose first layer has as many more columns, which begin at 0."""

    def make(shape: Sequence[int], outputs: int, **options: Any) -> Any:
        import torch

        model = NETWORKS[network]((shape[0] - count,), outputs, **options)
        first = next(layer for layer in model if isinstance(layer, torch.nn.Linear))
        more = torch.zeros(first.out_features, count)
        first.weight = torch.nn.Parameter(torch.cat([first.weight.detach(), more], dim=1))
        first.in_features += count
        return model

    make.__name__ = f"{network} with {count} canaries"
    return make


def _narrow(model: Any, count: int) -> None:
    """Cut the columns of canaries off a trained network."""
    import torch

    first = next(layer for layer in model.model_ if isinstance(layer, torch.nn.Linear))
    first.weight = torch.nn.Parameter(first.weight.detach()[:, :-count].contiguous())
    first.in_features -= count
    model.shape_ = (model.shape_[0] - count,)
