"""Shadow models: the same kind of model trained on other draws, to see what being in the table does."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mahrem import check
from mahrem.attacks.on_models._examples import Examples, log_odds, true_chances
from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.types import Floats, Mask

Make = Callable[[int], Any]


@dataclass(frozen=True, kw_only=True)
class Shadows:
    """What shadow models say of the attacked rows.

    Attributes:
        confidences: ``(shadows, n)`` log-odds of each row's own label.
        inside: ``(shadows, n)`` which rows each was trained on; nowhere if they are offline.
    """

    confidences: Floats = field(repr=False)
    inside: Mask = field(repr=False)

    def __len__(self) -> int:
        return len(self.confidences)


def train_shadows(
    make: Make,
    asked: Examples,
    *,
    share: float = 0.5,
    shadows: int = 16,
    reference: Examples | None = None,
    classes: Sequence[Any] | None = None,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Shadows:
    """Train shadow models and ask them about rows.

    Args:
        make: Takes a seed and gives an untrained classifier with ``fit`` and ``predict_proba``.
        asked: The rows under attack, members and others together.
        share: Which share of the rows each shadow is trained on (online).
        shadows: How many.
        reference: Other rows to train on instead (offline): no shadow has seen an attacked row.
        classes: The order of the columns of every shadow; by default the ``classes_`` of each.
        seed: Of all draws.
        progress: Called with how many are done and how many there are.

    Guarantees:
        - Online, every row is in a share of the shadows that differs by one shadow at most from row to row.
        - Equal seeds and makers that repeat give equal shadows.
    """
    check.at_least(2, shadows=check.whole(shadows=shadows))
    if not 0 < share < 1:
        raise InvalidParameter(f"share={share!r} must lie between 0 and 1, both outside")
    rng = np.random.default_rng(seed)
    inside = np.zeros((shadows, len(asked)), dtype=np.bool_)
    if reference is None:
        inside = _balanced(len(asked), shadows, share, rng)
    elif len(reference) < 2:
        raise InvalidInput(f"reference={len(reference)} rows: shadows need rows to be trained on")
    confidences = np.empty((shadows, len(asked)))
    for place in range(shadows):
        mine = asked.take(inside[place])
        if reference is not None:
            mine = reference.take(rng.permutation(len(reference))[: max(2, round(share * len(reference)))])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # shadows need not converge
            model = make(seed + place).fit(mine.inputs, mine.labels)
        own = getattr(model, "classes_", None)  # a shadow may never have met a rare class
        confidences[place] = log_odds(true_chances(model, asked, classes if own is None else own))
        if progress is not None:
            progress(place + 1, shadows)
    return Shadows(confidences=confidences, inside=inside)


def _balanced(rows: int, shadows: int, share: float, rng: np.random.Generator) -> Mask:
    """Put each row into a share of the shadows (at least one, not all), chosen by chance."""
    ranks = np.argsort(rng.random((shadows, rows)), axis=0)
    count = min(shadows - 1, max(1, round(share * shadows)))
    return np.asarray(ranks < count)
