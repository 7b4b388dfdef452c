"""Saleh: classifiers trained on anonymised rows, kept run by run.

Learnt groups are judged as the source seems to do it: all rows are anonymised together, then split. Intervals
and sets are judged as a release is used: training rows are anonymised, test rows untouched.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import mahrem
from mahrem.experiments._saleh_sets import MODELS, Recoding, anonymise, read_table
from mahrem.files import state_folder, write_whole
from mahrem.learning.classifiers import EvaluationProtocol, EvaluationSettings, PublishedRows, evaluate
from mahrem.threads import available_threads
from mahrem.types import Integers

PROTOCOLS: Mapping[Recoding, EvaluationProtocol] = {"groups": "published", "intervals": "untouched"}

CLASSIFIERS = (
    "extra_trees",
    "random_forest",
    "gradient_boosting",
    "svm",
    "logistic_regression",
    "sgd",
    "gaussian_nb",
    "knn",
    "ann",
)
QUICK = ("gaussian_nb", "extra_trees")
SPLITS, QUICK_SPLITS = 20, 2
QUICK_ROWS = 2_000  # of larger tables
SEED = 1
LIMITS = {"svm": 10_000, "ann": 10_000}  # training rows of the slowest, or Adult takes hours
# Rooms whose code decides the figures: when it changes, a kept run counts no more.
ROOMS = ("experiments", "pipeline", "learning", "partition", "recode", "models", "metrics", "table")


@dataclass(frozen=True)
class ClassifierFigures:
    """One classifier in one setting: mean, deviation and 95 % interval over the splits."""

    accuracy: float
    accuracy_std: float
    accuracy_interval: tuple[float, float] | None
    macro_f1: float
    macro_f1_std: float
    splits: int
    seconds: float  # of training, all splits together


def learn(
    name: str, model: str | None, recoding: Recoding, *, quick: bool, step: Callable[[str], None]
) -> dict[str, ClassifierFigures]:
    """Train the classifiers on a table (``model`` None) or on anonymised rows of it, at k=3.

    Every run is kept in the private folder of this user (``MAHREM_STATE``), so that a run that was
    interrupted goes on where it was; it counts for the same code and settings only.
    """
    splits, classifiers = (QUICK_SPLITS, QUICK) if quick else (SPLITS, CLASSIFIERS)
    key = {
        "paper": "saleh",
        "table": name,
        "model": model,
        "recoding": recoding if model else None,
        "protocol": PROTOCOLS[recoding] if model else None,
        "classifiers": classifiers,
        "splits": splits,
        "seed": SEED,
        "limits": LIMITS,
        "rows": QUICK_ROWS if quick else None,
        "code": code_of(),
    }
    kept = read_kept(key)
    if kept is None:
        step(f"{name}: {model or 'original'}, {recoding if model else 'untouched'}, {splits} splits")
        scores = _run(name, model, recoding, splits, classifiers, quick=quick, step=step)
        kept = {classifier: asdict(figures) for classifier, figures in scores.items()}
        write_kept(key, kept)
    return {classifier: ClassifierFigures(**figures) for classifier, figures in kept.items()}


def _run(
    name: str,
    model: str | None,
    recoding: Recoding,
    splits: int,
    classifiers: tuple[str, ...],
    *,
    quick: bool,
    step: Callable[[str], None],
) -> dict[str, ClassifierFigures]:
    table = read_table(name)
    frame = table.frame
    if quick and frame.height > QUICK_ROWS:
        frame = frame[np.sort(np.random.default_rng(SEED).permutation(frame.height)[:QUICK_ROWS])]

    def publish(rows: Integers) -> PublishedRows:
        settings = {**MODELS[model or ""], "k": 3}
        release = anonymise(frame[rows], table, recoding, settings, rest="insensitive")
        return PublishedRows(release.table, rows, release.hierarchies)

    scores = evaluate(
        frame,
        target=table.target,
        quasi=table.quasi,
        anonymise=None if model is None else publish,
        progress=lambda stage: step(f"{name}, {model or 'original'}: {stage}"),
        settings=EvaluationSettings(
            classifiers=classifiers,
            protocol=PROTOCOLS[recoding],
            splits=splits,
            seed=SEED,
            tune=not quick,
            limits=LIMITS,
            jobs=min(splits, available_threads()) if not quick else 1,
        ),
    )
    return {
        classifier: ClassifierFigures(
            accuracy=score.mean("accuracy"),
            accuracy_std=score.std("accuracy"),
            accuracy_interval=score.interval("accuracy"),
            macro_f1=score.mean("macro_f1"),
            macro_f1_std=score.std("macro_f1"),
            splits=splits,
            seconds=score.seconds,
        )
        for classifier, score in scores.by_classifier.items()
    }


@cache
def code_of(rooms: tuple[str, ...] = ROOMS) -> str:
    """Hash the code that decides the figures, and who does the training."""
    from sklearn import __version__ as trainer

    root = Path(mahrem.__file__).parent
    digest = hashlib.sha256(trainer.encode())
    for room in rooms:
        for path in sorted((root / room).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _place(key: Mapping[str, object]) -> Path:
    named = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:24]
    return state_folder() / "experiments" / f"{named}.json"


def read_kept(key: Mapping[str, object]) -> dict[str, Any] | None:
    """Give the figures of a run that was kept, None if there is none."""
    try:
        kept = json.loads(_place(key).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return dict(kept["figures"]) if isinstance(kept, dict) and "figures" in kept else None


def write_kept(key: Mapping[str, object], figures: Mapping[str, object]) -> None:
    """Keep a run; where there is no place for it, it is only not kept."""
    place = _place(key)
    try:
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_whole(place, json.dumps({**key, "figures": figures}))
    except OSError:
        return
