"""Classifiers on anonymised rows, tested on untouched ones.

Published cells (ranges, sets, nodes of a hierarchy) become numbers; a classifier learns from them and is
asked about rows as they were. Needs the extra ``learning`` (scikit-learn), which is loaded when a classifier
is trained.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.learning.classifiers._classifiers import CLASSIFIERS as CLASSIFIERS
    from mahrem.learning.classifiers._classifiers import FittedClassifier as FittedClassifier
    from mahrem.learning.classifiers._classifiers import need_learning as need_learning
    from mahrem.learning.classifiers._classifiers import train_classifier as train_classifier
    from mahrem.learning.classifiers._declared_encoder import DeclaredEncoder as DeclaredEncoder
    from mahrem.learning.classifiers._declared_encoder import DeclaredNumbers as DeclaredNumbers
    from mahrem.learning.classifiers._declared_encoder import DeclaredWords as DeclaredWords
    from mahrem.learning.classifiers._evaluate import evaluate as evaluate
    from mahrem.learning.classifiers._evaluate import target_codes as target_codes
    from mahrem.learning.classifiers._evaluate_splits import Anonymise as Anonymise
    from mahrem.learning.classifiers._evaluate_splits import PublishedRows as PublishedRows
    from mahrem.learning.classifiers._evaluation_settings import DEFAULT_CLASSIFIERS as DEFAULT_CLASSIFIERS
    from mahrem.learning.classifiers._evaluation_settings import EvaluationProtocol as EvaluationProtocol
    from mahrem.learning.classifiers._evaluation_settings import EvaluationSettings as EvaluationSettings
    from mahrem.learning.classifiers._features import EncodedFeatures as EncodedFeatures
    from mahrem.learning.classifiers._features import Encoder as Encoder
    from mahrem.learning.classifiers._features import fit_encoder as fit_encoder
    from mahrem.learning.classifiers._scores import FIGURES as FIGURES
    from mahrem.learning.classifiers._scores import Score as Score
    from mahrem.learning.classifiers._scores import Scores as Scores
    from mahrem.learning.classifiers._scores import answer_figures as answer_figures
else:
    __getattr__, __dir__, __all__ = offered(__name__)
