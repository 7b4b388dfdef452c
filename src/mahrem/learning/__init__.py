"""Learning from tables about people: from anonymised rows, from rules, with differential privacy.

- :mod:`~mahrem.learning.rules`: class association rules (CBA) and bins;
- :mod:`~mahrem.learning.classifiers`: classifiers trained on anonymised rows and tested on untouched ones;
- :mod:`~mahrem.learning.private`: private networks and regressions;
- :mod:`~mahrem.learning.votes`: private votes of teachers (PATE);
- :mod:`~mahrem.learning.synthesis`: synthetic tables.

Nothing is offered here itself: ``from mahrem.learning.private import PrivateClassifier``.
"""

from __future__ import annotations

__all__: list[str] = []
