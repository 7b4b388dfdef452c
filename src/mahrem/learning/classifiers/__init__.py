"""Classifiers on anonymised rows, tested on untouched ones.

Published cells (ranges, sets, nodes of a hierarchy) become numbers; a classifier learns from them and is
asked about rows as they were. Needs the extra ``learning`` (scikit-learn), which is loaded when a classifier
is trained.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.learning.classifiers._classifiers import (
        CLASSIFIERS,
        FittedClassifier,
        need_learning,
        train_classifier,
    )
    from mahrem.learning.classifiers._declared_encoder import DeclaredEncoder, DeclaredNumbers, DeclaredWords
    from mahrem.learning.classifiers._evaluate import evaluate, target_codes
    from mahrem.learning.classifiers._evaluate_splits import Anonymise, PublishedRows
    from mahrem.learning.classifiers._evaluation_settings import (
        DEFAULT_CLASSIFIERS,
        EvaluationProtocol,
        EvaluationSettings,
    )
    from mahrem.learning.classifiers._features import EncodedFeatures, Encoder, fit_encoder
    from mahrem.learning.classifiers._scores import FIGURES, Score, Scores, answer_figures
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "CLASSIFIERS",
    "DEFAULT_CLASSIFIERS",
    "FIGURES",
    "Anonymise",
    "DeclaredEncoder",
    "DeclaredNumbers",
    "DeclaredWords",
    "EncodedFeatures",
    "Encoder",
    "EvaluationProtocol",
    "EvaluationSettings",
    "FittedClassifier",
    "PublishedRows",
    "Score",
    "Scores",
    "answer_figures",
    "evaluate",
    "fit_encoder",
    "need_learning",
    "target_codes",
    "train_classifier",
]
