"""What is left for learning, case by case of a comparison: entropy loss and classifiers."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl

from mahrem import check
from mahrem.drafts._draft import Draft, draft
from mahrem.drafts._prepare import Prepared, prepare
from mahrem.drafts._rewritten import past_the_door
from mahrem.errors import InvalidParameter
from mahrem.learning.classifiers import (
    CLASSIFIERS,
    DEFAULT_CLASSIFIERS,
    EvaluationSettings,
    PublishedRows,
    Scores,
    evaluate,
    target_codes,
)
from mahrem.metrics import correlation, measure_entropy
from mahrem.release.decisions import Policy
from mahrem.table import Kind, Leaves, read_kind
from mahrem.types import Integers

SHOWN = ("accuracy", "macro_f1", "auc")
LOSSES = ("entropy_loss", "entropy_loss_cells", "gcp")
ORIGINAL = "original"


@dataclass(frozen=True)
class LearningMeasure:
    """Measures each case of one comparison against a target."""

    frame: pl.DataFrame = field(repr=False)  # the rows that are published, before; typed
    policy: Policy
    target: str
    codes: Integers = field(repr=False)  # (rows,) the target, -1 = missing
    kinds: Mapping[str, Kind]  # of the features
    classifiers: tuple[str, ...]
    splits: int

    @classmethod
    def of(
        cls, prepared: Prepared, policy: Policy, target: str, classifiers: Sequence[str] | None, splits: int
    ) -> LearningMeasure:
        """Look at the target and at what the features are."""
        check.at_least(1, splits=check.whole(splits=splits))
        names = DEFAULT_CLASSIFIERS if classifiers is None else tuple(dict.fromkeys(classifiers))
        if not names:
            raise InvalidParameter("classifiers=[] must name at least one classifier")
        for name in names:
            check.one_of(tuple(CLASSIFIERS), classifier=name)
        source = prepared.source
        check.columns_exist([target], source.columns)
        if target in policy.quasi:
            target_codes(pl.DataFrame({target: []}), target, policy.quasi)
        whole = source.take(list(source.columns)).filter(pl.Series(prepared.keep))
        kinds, typed = {}, []
        for series in whole:
            known = prepared.columns.get(series.name)
            kind, read = read_kind(series, decimal=policy.decimal)
            grown = known is not None and known.hierarchy is not None  # its leaves are text
            kinds[series.name] = kind if known is None or grown else known.kind
            plain = grown or series.name == target or kinds[series.name] is not kind
            typed.append(series if plain else read)
        hidden = {*prepared.leave_out, *policy.pseudonym, target, policy.subject}
        pinned = {name: column.kind for name, column in prepared.columns.items() if column.hierarchy is None}
        return cls(
            frame=pl.DataFrame(typed),
            policy=replace(past_the_door(policy), kind={**policy.kind, **pinned}),
            target=target,
            codes=target_codes(whole, target, policy.quasi),
            kinds={name: kind for name, kind in kinds.items() if name not in hidden},
            classifiers=tuple(names),
            splits=splits,
        )

    @property
    def depends_on(self) -> list[Any]:
        """What a kept row depends on besides table and policy."""
        values = zlib.crc32(self.codes.tobytes())
        for name in self.kinds:
            hashed = self.frame[name].hash(seed=0).to_numpy()
            values = zlib.crc32(hashed.tobytes(), values)
        return [self.target, *self.classifiers, self.splits, values & 0xFFFF]

    @property
    def columns(self) -> list[str]:
        """Names of the figures, in the order of the table."""
        figures = [
            f"{figure}{part}_{name}" for name in self.classifiers for figure in SHOWN for part in ("", "_std")
        ]
        return ["entropy_loss", "entropy_loss_cells", *figures]

    def original(self) -> dict[str, Any]:
        """Train on the rows as they are."""
        return {"entropy_loss": 0.0, "entropy_loss_cells": 0.0, **self._figures(self._scores(None))}

    def anonymised(self) -> dict[str, float]:
        """Train on rows anonymised by the policy itself."""
        cells = "text" if self.policy.cells == "pairs" else self.policy.cells
        return self._figures(self._scores(replace(self.policy, cells=cells)))

    def __call__(self, drafted: Draft, policy: Policy) -> dict[str, Any]:
        """Measure one case: the loss on its draft, classifiers on training rows anonymised the same way."""
        own = replace(
            past_the_door(policy),
            kind=self.policy.kind,
            cells="text" if policy.cells == "pairs" else policy.cells,
        )
        return {**self.entropy(drafted), **self._figures(self._scores(own))}

    def entropy(self, drafted: Draft) -> dict[str, float]:
        """Measure what the draft loses of the target, by both rulers."""
        prepared = drafted.prepared
        part = prepared.taking_part
        axes = [replace(axis, positions=axis.positions[:part]) for axis in prepared.axes]
        texts = {axis.name: drafted.cells[axis.name].text for axis in axes}
        rows = ~prepared.suppress
        lost = measure_entropy(axes, texts, drafted.labels[rows], self.codes[rows])
        return {"entropy_loss": lost.entropy_loss, "entropy_loss_cells": lost.entropy_loss_cells}

    def _scores(self, policy: Policy | None) -> Scores:
        def anonymise(rows: Integers) -> PublishedRows:
            assert policy is not None  # noqa: S101 - for the type checker
            drafted = draft(prepare(self.frame[rows], policy, to_publish=False), policy)
            shown = drafted.labels >= 0
            trees = {
                axis.name: axis.domain.hierarchy
                for axis in drafted.prepared.axes
                if isinstance(axis.domain, Leaves)
            }
            table: pl.DataFrame = drafted.table()
            return PublishedRows(table.filter(pl.Series(shown)), rows[drafted.prepared.keep][shown], trees)

        return evaluate(
            self.frame,
            target=self.target,
            anonymise=None if policy is None else anonymise,
            quasi=self.policy.quasi,
            kinds=self.kinds,
            orders=self.policy.order,
            settings=EvaluationSettings(classifiers=self.classifiers, splits=self.splits),
        )

    def _figures(self, scores: Scores) -> dict[str, float]:
        figures = {}
        for name in self.classifiers:
            for figure in SHOWN:
                figures[f"{figure}_{name}"] = scores[name].mean(figure)
                figures[f"{figure}_std_{name}"] = scores[name].std(figure)
        return figures


def correlations(
    rows: Sequence[Mapping[str, object]], classifiers: Sequence[str]
) -> dict[str, dict[str, dict[str, float | int | None]]]:
    """Say for each classifier how accuracy goes with each loss over a sweep; empty below three runs."""
    by_classifier: dict[str, dict[str, dict[str, float | int | None]]] = {}
    for name in classifiers:
        key = f"accuracy_{name}"
        good = [row for row in rows if row.get(key) is not None and row.get("gcp") is not None]
        if len(good) < 3:
            continue
        accuracy = np.array([row[key] for row in good])
        for loss in LOSSES:
            both = correlation(np.array([row[loss] for row in good], np.float64), accuracy)
            figures = {"pearson": both.pearson, "spearman": both.spearman, "points": both.points}
            by_classifier.setdefault(name, {})[loss] = figures
    return by_classifier
