"""What is left for learning: classifiers trained on anonymised rows and tested on untouched ones.

Needs the extra ``learning`` (scikit-learn), which is loaded when a classifier is trained and not before.
"""

from mahrem.learning._classifiers import CLASSIFIERS, Fitted, train
from mahrem.learning._evaluate import (
    DEFAULT_CLASSIFIERS,
    Anonymise,
    Protocol,
    Published,
    evaluate,
    target_codes,
)
from mahrem.learning._features import Encoder, Features, fit_encoder
from mahrem.learning._scores import FIGURES, Score, Scores

__all__ = [
    "CLASSIFIERS",
    "DEFAULT_CLASSIFIERS",
    "FIGURES",
    "Anonymise",
    "Encoder",
    "Features",
    "Fitted",
    "Protocol",
    "Published",
    "Score",
    "Scores",
    "evaluate",
    "fit_encoder",
    "target_codes",
    "train",
]
