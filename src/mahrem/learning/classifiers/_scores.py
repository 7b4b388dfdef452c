"""How good classifiers were, over many splits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mahrem.types import Floats, Integers

FIGURES = ("accuracy", "precision", "recall", "macro_f1", "auc")
CERTAINTY = 0.95


@dataclass(frozen=True, kw_only=True)
class Score:
    """One classifier over all splits; precision, recall and F1 are means over the classes."""

    classifier: str
    figures: Mapping[str, Floats] = field(repr=False)  # (splits,) for each name of FIGURES
    settings: tuple[Mapping[str, Any], ...] = field(repr=False)  # chosen in each split
    ratio: float  # test rows over training rows
    seconds: float

    def mean(self, figure: str) -> float:
        """Give the mean over the splits."""
        return float(np.mean(self.figures[figure]))

    def std(self, figure: str) -> float:
        """Give the standard deviation over the splits; 0 for one split."""
        held = self.figures[figure]
        return float(np.std(held, ddof=1)) if len(held) > 1 else 0.0

    def interval(self, figure: str) -> tuple[float, float] | None:
        """Give the 95 % interval of the mean, None for one split.

        Splits share rows, so their figures are not independent: the variance is enlarged by test rows over
        training rows.

        References:
            Nadeau, Bengio: Inference for the generalization error, 2003.
        """
        from scipy.stats import t

        splits = len(self.figures[figure])
        if splits < 2:
            return None
        reach = t.ppf((1 + CERTAINTY) / 2, splits - 1) * self.std(figure) * np.sqrt(1 / splits + self.ratio)
        middle = self.mean(figure)
        return float(middle - reach), float(middle + reach)

    def as_dict(self) -> dict[str, Any]:
        """Give what goes into JSON: mean, deviation and interval of every figure."""
        shown: dict[str, object] = {"classifier": self.classifier, "splits": len(self.figures["accuracy"])}
        for figure in FIGURES:
            shown[figure] = self.mean(figure)
            shown[f"{figure}_std"] = self.std(figure)
            shown[f"{figure}_interval"] = self.interval(figure)
        return {**shown, "seconds": self.seconds}


@dataclass(frozen=True, kw_only=True)
class Scores:
    """All classifiers of one evaluation."""

    target: str
    protocol: str
    splits: int
    by_classifier: Mapping[str, Score]

    def __getitem__(self, classifier: str) -> Score:
        return self.by_classifier[classifier]

    def best(self) -> str:
        """Name the classifier with the highest accuracy."""
        return max(self.by_classifier, key=lambda name: self.by_classifier[name].mean("accuracy"))

    def as_dict(self) -> dict[str, Any]:
        """Give what goes into JSON."""
        return {
            "target": self.target,
            "protocol": self.protocol,
            "splits": self.splits,
            "classifiers": [score.as_dict() for score in self.by_classifier.values()],
        }


def answer_figures(truth: Integers, predicted: Integers, scores: Floats) -> dict[str, float]:
    """Compare what a classifier said with what is true.

    Precision, recall and F1 are means over the classes that occur or were said; AUC is the mean over the
    classes of one against the rest, of two classes it is that of the second.

    Example:
        >>> truth, answers = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1])
        >>> scores = np.array([[0.9, 0.1], [0.4, 0.6], [0.3, 0.7], [0.1, 0.9]])
        >>> figures = answer_figures(truth, answers, scores)
        >>> figures["accuracy"], figures["auc"], round(figures["macro_f1"], 4)
        (0.75, 1.0, 0.7333)
    """
    classes = scores.shape[1]
    table = np.bincount(truth * classes + predicted, minlength=classes * classes).reshape(classes, classes)
    hit, answered, real = np.diag(table).astype(np.float64), table.sum(axis=0), table.sum(axis=1)
    there = (answered > 0) | (real > 0)
    precision = np.divide(hit, answered, out=np.zeros(classes), where=answered > 0)
    recall = np.divide(hit, real, out=np.zeros(classes), where=real > 0)
    f1 = np.divide(2 * hit, answered + real, out=np.zeros(classes), where=there)
    asked = [1] if classes == 2 else [place for place in range(classes) if 0 < real[place] < len(truth)]
    areas = [_area(truth == place, scores[:, place]) for place in asked]
    return {
        "accuracy": float(hit.sum() / len(truth)),
        "precision": float(precision[there].mean()),
        "recall": float(recall[there].mean()),
        "macro_f1": float(f1[there].mean()),
        "auc": float(np.mean(areas)) if areas else 0.5,
    }


def _area(positive: Any, score: Floats) -> float:
    """Give the area under the curve by ranks; equal scores share theirs."""
    _, where, times = np.unique(score, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(times) - (times - 1) / 2)[where]
    many = int(positive.sum())
    rest = len(score) - many
    if many == 0 or rest == 0:
        return 0.5
    return float((ranks[positive].sum() - many * (many + 1) / 2) / (many * rest))
