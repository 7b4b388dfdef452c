"""The model of a run asked about new rows, whatever kind it is."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import polars as pl

from mahrem.errors import InvalidInput, shorten
from mahrem.federated.networks import OwnNetwork
from mahrem.federated.rules import RulesSchema
from mahrem.federated.runs._check import CheckFinding, check_table
from mahrem.federated.runs._folder import CHECKPOINT
from mahrem.federated.weights import SharedModel
from mahrem.learning.rules import RuleList
from mahrem.table import Reading, open_source
from mahrem.types import Floats

PREDICTION = "prediction"


class Classifier(Protocol):
    """What every model of a federation can be asked."""

    def predict(self, frame: Any, /) -> Any:
        """Name the class of rows."""

    def predict_proba(self, frame: Any, /) -> Floats:
        """Give how likely each class is."""


@dataclass(frozen=True)
class RunModel:
    """The model of a run with what is known of its columns."""

    classifier: Classifier = field(repr=False)
    kind: str
    columns: tuple[str, ...]
    classes: tuple[str, ...]
    target: str | None = None

    @classmethod
    def load(cls, path: str | Path, own: OwnNetwork | None = None) -> RunModel:
        """Read a run folder, or the file of a model; ``own`` makes its network where its users wrote it.

        Raises:
            InvalidInput: If it holds none, or one that is disguised.
        """
        home = Path(path)
        file = home if home.is_file() else _file_in(home)
        try:
            content = file.read_bytes()
        except OSError as error:
            raise InvalidInput(f"model={file.name!r} cannot be read: {error.strerror}") from None
        if file.suffix == ".json":
            try:
                rules = RuleList.from_json(content.decode())
            except UnicodeDecodeError:
                raise InvalidInput(f"model={file.name!r} is no model") from None
            return cls(rules, "rules", rules.columns, rules.classes)
        model = SharedModel.from_bytes(content, own)
        schema = model.schema
        return cls(model, model.plan.model, tuple(schema.columns), schema.classes, schema.target)

    def refuse_apart(self, columns: Sequence[str]) -> None:
        """Refuse rows that lack several columns of the model: they may lie in other houses.

        Raises:
            InvalidInput: Naming them, and what can be done.
        """
        missing = [name for name in self.columns if name not in columns]
        near = [name for name in missing if difflib.get_close_matches(name, columns, n=1)]
        if len(missing) > 1 and not near and not isinstance(self.classifier, RuleList):
            raise InvalidInput(
                f"columns={shorten(missing)} of the model are not in this table; it is asked with all its "
                "columns in one table; houses that keep them apart agree on predict, and then a run that "
                "predicts asks all of them"
            )

    def findings(self, frame: pl.DataFrame) -> tuple[CheckFinding, ...]:
        """Say what of new rows was not agreed on: the model has not learnt from such cells."""
        if isinstance(self.classifier, SharedModel):
            schema: Any = self.classifier.schema
        elif isinstance(self.classifier, RuleList):
            spoken = {name for rule in self.classifier.rules for name, _ in rule.left}
            schema = RulesSchema(
                columns=self.columns, target=_other_name(self.columns), bins=self.classifier.cuts()
            )
            findings = check_table(frame, schema, labelled=False, learnt=False).findings
            return tuple(each for each in findings if each.fault and each.column in spoken)
        return tuple(
            each for each in check_table(frame, schema, labelled=False, learnt=False).findings if each.fault
        )


@dataclass(frozen=True)
class Prediction:
    """What a model says of new rows, in their order.

    Attributes:
        table: A row for each: the class, and how likely each class is where that was asked for.
        counts: Rows of each class.
        findings: What of the rows was not agreed on.
        accuracy: The share that is right, where the rows have their class.
    """

    table: pl.DataFrame = field(repr=False)
    counts: Mapping[str, int]
    findings: tuple[CheckFinding, ...] = ()
    accuracy: float | None = None


def predict_rows(
    model: str | Path,
    source: object,
    *,
    proba: bool = False,
    target: str | None = None,
    network: Path | None = None,
    reading: Reading | None = None,
) -> Prediction:
    """Ask the model of a run about new rows.

    Args:
        model: A run folder, or its ``model.json`` or ``model.npz``.
        source: The rows.
        proba: Give how likely each class is, too.
        target: The column with the true class, to be compared with; a model of weights or trees knows it.
        network: The file that makes an ``own`` network; it must be the agreed one, and is run.
        reading: How to read the rows.

    Guarantees:
        - A row's answer depends on the model and that row alone.

    Raises:
        ColumnNotFound: If a column is missing that the model reads.
        InvalidInput: If there is no such model, or no row.
    """
    asked = RunModel.load(model, None if network is None else OwnNetwork.read(network))
    opened = open_source(source, reading)
    frame = opened.take(opened.columns)
    if not frame.height:
        raise InvalidInput("rows=0: there is nothing to predict")
    asked.refuse_apart(frame.columns)
    predictions = np.asarray(asked.classifier.predict(frame))
    columns: dict[str, Any] = {PREDICTION: predictions.tolist()}
    if proba:
        likely = asked.classifier.predict_proba(frame)
        columns |= {f"p({name})": likely[:, place] for place, name in enumerate(asked.classes)}
    counts = {name: int((predictions == name).sum()) for name in asked.classes}
    named = target or asked.target
    right = None
    if named is not None and named in frame.columns:
        truth = frame[named].cast(pl.String)
        known = truth.is_in(asked.classes).to_numpy()
        right = float((predictions == truth.to_numpy())[known].mean()) if known.any() else None
    return Prediction(pl.DataFrame(columns), counts, asked.findings(frame), right)


def _file_in(home: Path) -> Path:
    for name in ("model.npz", "model.json", CHECKPOINT):
        if (home / name).is_file():
            return home / name
    raise InvalidInput(f"model={home.name!r} is no run folder with a model, and no model")


def _other_name(columns: tuple[str, ...]) -> str:
    name = "class"
    while name in columns:
        name += "_"
    return name
