"""Learning from tables about people: from anonymised rows, from rules, with differential privacy.

- :mod:`~mahrem.learning.rules`: class association rules (CBA) and bins;
- :mod:`~mahrem.learning.classifiers`: classifiers trained on anonymised rows and tested on untouched ones;
- :mod:`~mahrem.learning.private`: private networks and regressions;
- :mod:`~mahrem.learning.votes`: private votes of teachers (PATE);
- :mod:`~mahrem.learning.synthesis`: synthetic tables.

Models are taken from their rooms: ``from mahrem.learning.private import PrivateClassifier``. Here is only
what all of them have in common, the contract of scikit-learn's estimators and transformers.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.learning._estimator import Estimator as Estimator
    from mahrem.learning._estimator import Transformer as Transformer
else:
    __getattr__, __dir__, __all__ = offered(__name__)
