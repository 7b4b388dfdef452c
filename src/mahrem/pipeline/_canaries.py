"""Canaries in a private training: made-up rows, each put in by a coin, that an audit looks for afterwards."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mahrem import check
from mahrem.attacks import AuditedBound, OneRunAudit
from mahrem.attacks import Examples as Labelled
from mahrem.attacks._examples import log_odds, true_chances
from mahrem.dp import Ledger, Relation
from mahrem.errors import InvalidParameter
from mahrem.learning import PublicInputs, SecretStream
from mahrem.types import Floats, Integers, Mask

__all__ = ["Canaries", "canary_count"]

LEAST, MOST, SHARE = 20, 1000, 20


def canary_count(ledger: Ledger, wanted: int | None) -> int:
    """Say how many canaries go in: a twentieth of the public number of rows, at most 1000."""
    if ledger.relation is not Relation.ADD_REMOVE:
        raise InvalidParameter(
            "audit=True needs a ledger with relation='add-remove': a canary is a row more or less"
        )
    if wanted is not None:
        return int(check.at_least(LEAST, canaries=check.whole(canaries=wanted)))
    rows = ledger.facts.rows
    return MOST if rows is None else min(MOST, max(LEAST, rows // SHARE))


@dataclass(frozen=True, kw_only=True)
class Canaries:
    """Rows at the corners of the declared domain, with labels by chance; public facts alone make them.

    Attributes:
        rows: ``(m, width)`` inputs.
        labels: ``(m,)`` targets; None where there is none.
        inside: ``(m,)`` the coins.
    """

    rows: Floats = field(repr=False)
    labels: Any = field(repr=False)
    inside: Mask = field(repr=False)

    @classmethod
    def draw(
        cls,
        stream: SecretStream,
        count: int,
        inputs: PublicInputs,
        classes: tuple[str, ...] | None,
        bounds: tuple[float, float] | None,
    ) -> Canaries:
        """Draw them from the key of the training, so that one taken up again has the same."""
        rng = np.random.default_rng([int(word) for word in stream.words("canaries", 0, 4)])
        blocks = []
        for name in inputs.features:
            values = inputs.facts.columns[name].categories
            if values is None:
                blocks.append(rng.choice([inputs.low, 1.0], (count, 1)))
            else:
                blocks.append(np.eye(len(values))[rng.integers(len(values), size=count)])
        labels: Any = None
        if classes is not None:
            labels = np.array(classes, dtype=object)[rng.integers(len(classes), size=count)]
        elif bounds is not None:
            labels = rng.choice(np.array(bounds), count)
        coins = rng.random(count) < 0.5
        return cls(rows=np.hstack(blocks).astype(np.float32), labels=labels, inside=coins)

    def added(self, rows: Floats, labels: Any, units: Integers | None) -> tuple[Floats, Any, Any]:
        """Give a table with the canaries whose coin said so; each is a person of its own."""
        joined = np.concatenate([rows, self.rows[self.inside].astype(rows.dtype)])
        named = None if labels is None else np.concatenate([labels, self.labels[self.inside]])
        if units is None:
            return joined, named, None
        more = int(units.max(initial=0)) + 1 + np.arange(int(self.inside.sum()))
        return joined, named, np.concatenate([units, more])

    def audit(self, model: Any, delta: float) -> AuditedBound:
        """Guess from the model which canaries were in."""
        return OneRunAudit()(self.scores(model), self.inside, delta=delta)

    def scores(self, model: Any) -> Floats:
        """Say how well the model knows each canary, against others of the same label."""
        if self.labels is None:
            flat = self.rows.reshape(len(self.rows), -1)
            return np.asarray(-np.abs(model.predict(self.rows) - flat).mean(axis=1))
        if not hasattr(model, "predict_proba") or self.labels.dtype != object:
            said = -np.abs(np.asarray(model.predict(self.rows)) - self.labels)
        elif getattr(model, "loss", None) == "svm":
            said = _margins(model, self.rows, self.labels)
        else:
            examples = Labelled(self.rows, self.labels)
            said = log_odds(true_chances(model, examples, model.classes_))
        for one in set(self.labels.tolist()):
            same = self.labels == one
            said[same] -= said[same].mean()
        return np.asarray(said, dtype=np.float64)


def _margins(model: Any, rows: Floats, labels: Any) -> Floats:
    scores = np.asarray(model.decision_function(rows))
    wide = np.stack([-scores, scores], axis=1) if scores.ndim == 1 else scores
    places = [list(model.classes_).index(one) for one in labels.tolist()]
    return np.asarray(wide[np.arange(len(wide)), places])
