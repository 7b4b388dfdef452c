"""The common model: weights or trees with the schema and plan they belong to."""

from __future__ import annotations

import io
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import polars as pl

from mahrem.errors import InvalidInput
from mahrem.federated.networks import OwnNetwork, wrong_weights
from mahrem.federated.weights._boosting import SharedBins, SharedForest, shares_of
from mahrem.federated.weights._decoys import Decoys
from mahrem.federated.weights._plan import LearningPlan
from mahrem.federated.weights._schema import SharedSchema
from mahrem.table import as_polars
from mahrem.types import Floats, Integers

DISGUISED = "disguised"  # weights with dummies among them
CONTROL = "control"  # the common control variate of SCAFFOLD


@dataclass(frozen=True, kw_only=True)
class SharedModel:
    """What silos learnt together; reads untouched rows of the schema's columns."""

    schema: SharedSchema = field(repr=False)
    plan: LearningPlan
    arrays: Mapping[str, Any] = field(repr=False)
    rounds: int = 0

    @classmethod
    def fresh(cls, schema: SharedSchema, plan: LearningPlan) -> SharedModel:
        """Begin: the first weights, or no tree."""
        classes = len(schema.classes)
        if plan.kind.trees:
            arrays = SharedForest.empty(0, plan.depth).as_body("forest")
        elif plan.protections.dummies:  # the clients know where to begin
            arrays = {DISGUISED: np.zeros(plan.weights_in(schema.encoder.width, classes), np.float32)}
        else:
            arrays = {"weights": plan.network().start(schema.encoder.width, classes, plan.seed)}
            if plan.scaffold:
                arrays[CONTROL] = np.zeros_like(arrays["weights"])
        return cls(schema=schema, plan=plan, arrays=arrays)

    @property
    def outputs(self) -> int:
        """How many scores a row has: one for two classes, else one for each."""
        return 1 if len(self.schema.classes) == 2 else len(self.schema.classes)

    def next(self, rounds: int, arrays: Mapping[str, object]) -> SharedModel:
        """Give the model after one more round."""
        return replace(self, rounds=rounds, arrays=dict(arrays))

    def refuse_other(self, schema: SharedSchema, plan: LearningPlan) -> None:
        """Refuse to go on under another schema or plan.

        Raises:
            InvalidInput: If one of them is.
        """
        mine = self.plan.fingerprint(self.schema.fingerprint())
        if mine != plan.fingerprint(schema.fingerprint()):
            raise InvalidInput("the model was learnt under another plan or schema")

    def scores(self, frame: object) -> Floats:
        """Give ``(n, classes)`` probabilities for untouched rows of a frame of any library we know."""
        rows = frame if isinstance(frame, pl.DataFrame) else as_polars(frame)
        return self.scores_of_rows(self.schema.encoder(rows, ()))

    def scores_of_rows(self, rows: Floats) -> Floats:
        """Give ``(n, classes)`` probabilities for encoded rows."""
        if self.plan.kind.trees:
            forest = SharedForest.of_body(self.arrays, "forest")
            return shares_of(forest.scores(SharedBins.of(self.schema)(rows), self.outputs))
        if DISGUISED in self.arrays:
            raise InvalidInput("the model is disguised by dummies; open it with the clients' key (reveal)")
        return self.plan.network().scores(self.arrays["weights"], rows, len(self.schema.classes))

    def with_network(self, own: OwnNetwork | None) -> SharedModel:
        """Give the model with the code that makes its network; it is refused if it is another."""
        return self if own is None else replace(self, plan=replace(self.plan, own=own))

    def reveal(self, decoys: Decoys) -> SharedModel:
        """Give the model without dummies; only clients have the key."""
        size = self.plan.network().size(self.schema.encoder.width, len(self.schema.classes))
        plan = replace(self.plan, protections=replace(self.plan.protections, dummies=0.0))
        return replace(self, plan=plan, arrays={"weights": decoys.open(self.arrays[DISGUISED], size)})

    @property
    def classes_(self) -> tuple[int, ...]:
        """The classes as numbers, in the order of the scores, as classifiers have it."""
        return tuple(range(len(self.schema.classes)))

    @property
    def cost_(self) -> tuple[float, float] | None:
        """What the plan promises of the rounds so far: epsilon and delta; None without noise."""
        noise = self.plan.perturbation()
        return None if noise is None else (noise.epsilon(max(1, self.rounds)), noise.delta)

    def predict_proba(self, rows: object) -> Floats:
        """Give ``(n, classes)`` how likely each class is, of rows of a frame or of encoded ones."""
        return self.scores_of_rows(rows) if isinstance(rows, np.ndarray) else self.scores(rows)

    def predict(self, frame: object) -> Any:
        """Name the likeliest class of untouched rows of a frame."""
        return np.array(self.schema.classes)[self.scores(frame).argmax(axis=1)]

    def to_bytes(self) -> bytes:
        """Write it as one file: arrays and, as text, schema and plan; no code."""
        plain = {"schema": self.schema.as_dict(), "plan": self.plan.as_dict(), "rounds": self.rounds}
        about = np.frombuffer(json.dumps(plain, ensure_ascii=False).encode(), np.uint8)
        held = io.BytesIO()
        np.savez_compressed(held, about=about, **self.arrays)
        return held.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes, own: OwnNetwork | None = None) -> SharedModel:
        """Read what :meth:`to_bytes` gave; ``own`` makes its network where its users wrote it.

        Raises:
            InvalidInput: If it is none.
        """
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as held:
                plain = json.loads(held["about"].tobytes())
                arrays = {name: held[name] for name in held.files if name != "about"}
            schema, plan = SharedSchema.from_dict(plain["schema"]), LearningPlan.from_dict(plain["plan"])
            model = cls(schema=schema, plan=plan, arrays=arrays, rounds=int(plain["rounds"]))
        except (ValueError, KeyError, TypeError, OSError, EOFError, BadZipFile, zlib.error) as error:
            raise InvalidInput(f"model={len(data)} bytes cannot be read ({type(error).__name__})") from None
        model = model.with_network(own)
        if not plan.kind.trees and (own is not None or not plan.kind.own):
            size = replace(model.plan, scaffold=False).weights_in(schema.encoder.width, len(schema.classes))
            wrong = wrong_weights(arrays.get(DISGUISED if plan.protections.dummies else "weights"), size)
            if wrong is not None:
                raise InvalidInput(f"model: {wrong}")
        return model

    @classmethod
    def load(cls, folder: str | Path, own: OwnNetwork | None = None) -> SharedModel:
        """Read the model of a run folder, or its last checkpoint if the run did not finish."""
        for name in ("model.npz", "checkpoint.npz"):
            path = Path(folder) / name
            if path.is_file():
                return cls.from_bytes(path.read_bytes(), own)
        raise InvalidInput(f"folder={Path(folder).name!r} holds no model of weights or trees")


def figures_of(labels: Integers, scores: Floats) -> dict[str, float]:
    """Give accuracy, and precision, recall and F1 of the last class, which is the positive one.

    Example:
        >>> figures_of(np.array([0, 1, 1]), np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]]))["f1"]
        0.6666666666666666
    """
    predicted, positive = scores.argmax(axis=1), scores.shape[1] - 1
    hit = int(((predicted == positive) & (labels == positive)).sum())
    named, real = int((predicted == positive).sum()), int((labels == positive).sum())
    return {
        "accuracy": float((predicted == labels).mean()),
        "precision": hit / named if named else 0.0,
        "recall": hit / real if real else 0.0,
        "f1": 2 * hit / (named + real) if named + real else 0.0,
    }
