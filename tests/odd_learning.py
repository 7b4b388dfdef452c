"""Models that learn privately from the tables of ``odd_neighbours``: every entry, a search, teachers.

What they draw at random comes from a seed, so that both neighbours draw the same. Rows are drawn by their
place, so the record in which tables differ stands last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
from sklearn.linear_model import LogisticRegression

import mahrem as mh
from mahrem.dp import Ledger, public_cells
from mahrem.errors import Infeasible
from mahrem.learning.private import new_stream
from mahrem.learning.training import MODELS, model_weights
from mahrem.learning.votes import GaussianVotes, Pate
from odd_held import held
from odd_neighbours import COLUMNS, OddPair, told

FEATURES = ("ward", "cost", "stay", "admitted", "group", "hour")
SEARCHED = ("logistic", "boosting")
IMAGES = {"cnn", "scattering"}  # which a table of six columns has none of
# Settings that a model cannot do without, and what a short training takes.
NEEDED: dict[str, dict[str, Any]] = {
    "lstm": {"shape": (3, 5)},
    "autoencoder": {"target": None},
    "boosting": {"rounds": 4},
}


def odd_last(pair: OddPair) -> OddPair:
    """Put the record in which two tables differ at the end of both."""
    first, second = list(pair.first), list(pair.second)
    place = next(
        (place for place, (one, two) in enumerate(zip(first, second, strict=False)) if one is not two),
        len(first),
    )
    second.append(second.pop(place))
    if pair.relation == "replace":
        first.append(first.pop(place))
    return replace(pair, first=first, second=second)


@contextmanager
def seeded() -> Iterator[None]:
    """Let trainings draw what a seed says."""
    from mahrem.learning.private import _private_search
    from mahrem.learning.training import _fit
    from mahrem.learning.votes import _disjoint_teachers

    with (
        patch.object(_fit, "new_stream", lambda: new_stream(4)),
        patch.object(_private_search, "new_stream", lambda _=None: new_stream(4)),
        # Which teacher sees a record is drawn for each by itself: the same draw serves both tables.
        patch.object(_disjoint_teachers, "new_stream", lambda: new_stream(4)),
    ):
        yield


def learns(name: str, relation: str, *, search: bool = False) -> Callable[[object], object]:
    """Give a pipeline that trains an entry as ``mahrem train`` does: weights, figures and plan come out."""
    entry = MODELS[name]

    def learn(table: object) -> object:
        book = Ledger.temporary(epsilon=9, delta=1e-4, columns=COLUMNS, relation=relation, rows=40)
        target = "cost" if entry.learns == ("number",) else "smoker"
        settings: dict[str, Any] = {"target": target, "features": FEATURES if target == "smoker" else None}
        if entry.torch:
            settings |= {"epochs": 2, "batch": 20}
        settings |= NEEDED.get(entry.model, {})
        if search:
            settings["search"] = {"learning_rate": [0.05, 0.2]}
        else:
            settings |= {"holdout": 0.2, "evaluate_epsilon": 0.5}
        given, reading = told(table)
        said = {} if reading is None else _said(reading)
        with seeded():
            found = mh.train(
                given, ledger=book, model=entry.model, how=entry.how, epsilon=2, **settings, **said
            )
        return (
            model_weights(found.estimator),
            found.metrics,
            found.as_dict()["plan"],
            repr(found.estimator),
            held(found),
        )

    return learn


def _said(reading: Any) -> dict[str, Any]:
    unsaid = type(reading)()
    names = ("delimiter", "encoding", "header", "names")
    return {name: getattr(reading, name) for name in names if getattr(reading, name) != getattr(unsaid, name)}


def asks_teachers(relation: str) -> Callable[[object], object]:
    """Give a pipeline that lets teachers vote: answers of one class alone are an answer too."""

    def learn(table: object) -> object:
        book = Ledger.temporary(epsilon=9, delta=1e-4, columns=COLUMNS, relation=relation, rows=40)
        given, reading = told(table)
        cells = public_cells(given, book.facts, [*FEATURES, "smoker"], reading=reading)
        rows = np.nan_to_num(np.column_stack([cells[name] for name in FEATURES]))
        labels = np.array([None if np.isnan(one) else int(one) for one in cells["smoker"]], dtype=object)
        pate = Pate(
            teacher=LogisticRegression,
            student=LogisticRegression,
            classes=(0, 1),
            teachers=4,
            votes=GaussianVotes(3.0),
            questions=6,
        )
        asked = np.random.default_rng(0).random((12, len(FEATURES)))
        try:
            with seeded():
                return held(pate.fit(rows, labels, public=asked, ledger=book))
        except Infeasible as error:
            return str(error)

    return learn


def learners(relation: str) -> dict[str, Callable[[object], object]]:
    """Give every private model by name."""
    searches = {} if relation == "replace" else {f"search of {name}": name for name in SEARCHED}
    return {
        **{name: learns(name, relation) for name in MODELS if name not in IMAGES},
        **{title: learns(name, relation, search=True) for title, name in searches.items()},
        "teachers": asks_teachers(relation),
    }
