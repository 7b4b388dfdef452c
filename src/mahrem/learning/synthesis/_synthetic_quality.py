"""How good a synthetic table is, measured against the real one. These figures read real rows: not private."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mahrem import check
from mahrem.errors import InvalidParameter
from mahrem.learning.classifiers import (
    CLASSIFIERS,
    DEFAULT_CLASSIFIERS,
    answer_figures,
    need_learning,
    train_classifier,
)
from mahrem.learning.synthesis._closest_records import closest_distances
from mahrem.learning.synthesis._synthetic_domain import DeclaredDomain
from mahrem.learning.synthesis._synthetic_sides import ComparedTable, refuse_shared
from mahrem.types import Floats, Integers

GROUPS = 10  # of a number, for distances between marginals
JUDGED_ROWS = 10_000  # of each side, for the propensity score
ASKED_ROWS, KNOWN_ROWS = 2_000, 10_000  # for distances to the closest record


@dataclass(frozen=True, kw_only=True)
class SyntheticQuality:
    """Figures about a synthetic table; a hold-out stands beside it as what real rows would have scored.

    All distances lie between 0 (the same) and 1. ``one_way`` and ``pairs`` are total variation distances to
    the training table; ``association`` is Cramer's V of every pair, real and synthetic.
    """

    one_way: Mapping[str, Mapping[str, float]] = field(repr=False)
    pairs: Mapping[str, float]
    association: Mapping[str, float]
    correlation: Mapping[str, float]
    propensity: Mapping[str, Mapping[str, float]]
    learning: Mapping[str, Mapping[str, float]]
    closest: Mapping[str, float]
    rows: Mapping[str, int]

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain data."""
        return {
            "private": False,
            "one_way": {name: dict(figures) for name, figures in self.one_way.items()},
            "pairs": dict(self.pairs),
            "association": dict(self.association),
            "correlation": dict(self.correlation),
            "propensity": {name: dict(figures) for name, figures in self.propensity.items()},
            "learning": {name: dict(figures) for name, figures in self.learning.items()},
            "closest": dict(self.closest),
            "rows": dict(self.rows),
        }


def synthetic_quality(
    real: object,
    synthetic: object,
    domain: DeclaredDomain,
    *,
    holdout: object | None = None,
    target: str | None = None,
    classifiers: Sequence[str] = DEFAULT_CLASSIFIERS,
    seed: int = 0,
    threads: int = 2,
) -> SyntheticQuality:
    """Measure a synthetic table against the real one and, beside it, a hold-out of real rows.

    Args:
        real: The table the synthesiser was fitted to.
        synthetic: What it made.
        domain: The declared domain; cells outside are missing here.
        holdout: Real rows that no synthesiser saw; needed for distances to the closest record.
        target: A column of declared values: classifiers are then trained on synthetic rows, and on real ones,
            and asked about real rows (the hold-out's, or else a third of the real table).
        classifiers: Names of :data:`CLASSIFIERS`.
        seed: Of samples and classifiers.
        threads: Cores a training may use.

    Guarantees:
        - A hold-out that overlaps the training table more than chance explains is refused.
        - Equal calls give equal figures.

    References:
        Snoke, Raab, Nowok, Dibben, Slavkovic: General and specific utility measures for synthetic data, 2018
        (pMSE); Esteban, Hyland, Ratsch, 2017 (train on synthetic, test on real).

    Example:
        >>> import polars as pl
        >>> from mahrem.dp import Facts
        >>> from mahrem.table import ColumnDeclaration
        >>> from mahrem.learning.synthesis import declare_domain
        >>> domain = declare_domain(Facts(columns={"age": ColumnDeclaration(lower=0, upper=99)}), ["age"])
        >>> young, all_ages = pl.DataFrame({"age": range(50)}), pl.DataFrame({"age": range(100)})
        >>> synthetic_quality(all_ages, young, domain).one_way["age"]["synthetic"]
        0.5
    """
    sides = {"real": ComparedTable(domain, real), "synthetic": ComparedTable(domain, synthetic)}
    if holdout is not None:
        sides["holdout"] = ComparedTable(domain, holdout)
        refuse_shared(sides["real"], sides["holdout"])
    groups = _grouped(sides, domain)
    others = [name for name in sides if name != "real"]
    rng = np.random.default_rng(seed)
    return SyntheticQuality(
        one_way=_one_way(groups, others, domain.names),
        pairs=_pairs(groups, others),
        association=_associations(groups, others),
        correlation=_correlations(sides, others, domain),
        propensity={name: _propensity(sides["real"], sides[name], rng, threads) for name in others},
        learning={} if target is None else _learning(sides, target, classifiers, seed, threads),
        closest=_closest(sides, rng),
        rows={name: len(side.codes) for name, side in sides.items()},
    )


def _grouped(sides: Mapping[str, ComparedTable], domain: DeclaredDomain) -> dict[str, list[Integers]]:
    """Gather the cells of numbers into tenths of the real rows; what is missing stays apart."""
    groups: dict[str, list[Integers]] = {name: [] for name in sides}
    for place, column in enumerate(domain.columns):
        cells = sides["real"].codes[:, place]
        table = np.arange(column.cells + 1)
        if column.kind != "category" and column.values > GROUPS:
            counts = np.bincount(cells[(cells >= 0) & (cells < column.values)], minlength=column.values)
            share = (np.cumsum(counts) - counts / 2) / max(1, counts.sum())
            table = np.concatenate([np.minimum((share * GROUPS).astype(np.int64), GROUPS - 1), [GROUPS] * 2])
        for name, side in sides.items():
            codes = side.codes[:, place]
            groups[name].append(table[np.where(codes < 0, column.values, np.minimum(codes, column.values))])
    return groups


def _apart(first: Sequence[Integers], second: Sequence[Integers], columns: Sequence[int]) -> float:
    """Give the total variation distance of two marginals."""
    sizes = [max(int(first[place].max()), int(second[place].max())) + 1 for place in columns]
    tables = []
    for side in (first, second):
        flat = np.zeros(len(side[columns[0]]), dtype=np.int64)
        for place, size in zip(columns, sizes, strict=True):
            flat = flat * size + side[place]
        tables.append(np.bincount(flat, minlength=int(np.prod(sizes))) / len(flat))
    return float(np.abs(tables[0] - tables[1]).sum() / 2)


def _one_way(
    groups: Mapping[str, Sequence[Integers]], others: Sequence[str], names: Sequence[str]
) -> dict[str, dict[str, float]]:
    return {
        name: {other: _apart(groups["real"], groups[other], [place]) for other in others}
        for place, name in enumerate(names)
    }


def _pairs(groups: Mapping[str, Sequence[Integers]], others: Sequence[str]) -> dict[str, float]:
    figures: dict[str, float] = {}
    pairs = list(itertools.combinations(range(len(groups["real"])), 2))
    for other in others if pairs else ():
        apart = [_apart(groups["real"], groups[other], pair) for pair in pairs]
        figures |= {f"{other}_mean": float(np.mean(apart)), f"{other}_max": float(np.max(apart))}
    return figures


def _cramer(first: Integers, second: Integers) -> float:
    table = np.bincount(first * (second.max() + 1) + second).astype(np.float64)
    wide = np.zeros((first.max() + 1) * (second.max() + 1))
    wide[: len(table)] = table
    counts = wide.reshape(first.max() + 1, -1)
    counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    expected = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0) / counts.sum()
    small = min(counts.shape) - 1
    return (
        float(np.sqrt(((counts - expected) ** 2 / expected).sum() / counts.sum() / small)) if small else 0.0
    )


def _associations(groups: Mapping[str, Sequence[Integers]], others: Sequence[str]) -> dict[str, float]:
    pairs = list(itertools.combinations(range(len(groups["real"])), 2))
    if not pairs:
        return {}
    strength = {
        side: np.array([_cramer(columns[one], columns[two]) for one, two in pairs])
        for side, columns in groups.items()
    }
    apart = {other: np.abs(strength[other] - strength["real"]) for other in others}
    return {f"{other}_{kind}": float(of(apart[other])) for other in others for kind, of in _KINDS.items()}


_KINDS: Mapping[str, Callable[[Floats], Any]] = {"mean": np.mean, "max": np.max}


def _correlations(
    sides: Mapping[str, ComparedTable], others: Sequence[str], domain: DeclaredDomain
) -> dict[str, float]:
    """Compare Pearson correlations of numbers, missing ones at their mean."""
    names = [column.name for column in domain.columns if column.kind != "category"]
    if len(names) < 2:
        return {}
    correlations = {}
    for side, table in sides.items():
        columns = np.stack([table.numbers[name] for name in names])
        gone = np.isnan(columns)
        means = np.where(gone, 0.0, columns).sum(axis=1) / np.maximum(1, (~gone).sum(axis=1))
        centred = np.where(gone, 0.0, columns - means[:, None])
        length = np.sqrt((centred**2).sum(axis=1))
        unit = centred / np.where(length > 0, length, 1.0)[:, None]
        correlations[side] = (unit @ unit.T)[np.triu_indices(len(names), 1)]
    apart = {other: np.abs(correlations[other] - correlations["real"]) for other in others}
    return {f"{other}_{kind}": float(of(apart[other])) for other in others for kind, of in _KINDS.items()}


def _propensity(
    real: ComparedTable, other: ComparedTable, rng: np.random.Generator, threads: int
) -> dict[str, float]:
    """Ask a classifier which rows are real: pMSE from 0 (cannot tell) to 0.25, and the AUC."""
    need_learning()
    size = min(JUDGED_ROWS, len(real.codes), len(other.codes))
    parts, amounts = [], 0
    for side in (real, other):
        rows, amounts = side.features()
        parts.append(rows[rng.permutation(len(rows))[:size]])
    features, truth = np.vstack(parts), np.repeat([0, 1], size)
    order = rng.permutation(2 * size)
    learnt, asked = order[:size], order[size:]
    fitted = train_classifier(
        "hist_gradient_boosting",
        features[learnt],
        amounts,
        truth[learnt],
        seed=0,
        threads=threads,
        tune=False,
    )
    scores = fitted.scores(features[asked], 2)
    figures = answer_figures(truth[asked], fitted.predict(features[asked]), scores)
    return {"pmse": float(((scores[:, 1] - 0.5) ** 2).mean()), "auc": figures["auc"]}


def _learning(
    sides: Mapping[str, ComparedTable], target: str, classifiers: Sequence[str], seed: int, threads: int
) -> dict[str, dict[str, float]]:
    """Train on synthetic and on real rows, test both on the same real rows."""
    need_learning()
    column = sides["real"].domain[target]
    if column.kind != "category":
        raise InvalidParameter(f"target={target!r} must have declared values to be told apart")
    place = sides["real"].domain.names.index(target)
    rows = {name: side.features(target) for name, side in sides.items()}
    codes = {name: side.codes[:, place] for name, side in sides.items()}
    keep = {name: (one >= 0) & (one < column.values) for name, one in codes.items()}
    taught = {"synthetic": keep["synthetic"], "real": keep["real"].copy()}
    where, asked = "holdout", keep.get("holdout")
    if asked is None:
        where = "real"
        third = np.random.default_rng(seed).random(len(codes["real"])) < 1 / 3
        asked, taught["real"] = keep["real"] & third, keep["real"] & ~third
    by_classifier: dict[str, dict[str, float]] = {}
    for name in dict.fromkeys(check.one_of(tuple(CLASSIFIERS), classifier=one) for one in classifiers):
        figures: dict[str, float] = {}
        for side, chosen in taught.items():
            labels = codes[side][chosen]
            if len(np.unique(labels)) < 2:
                continue
            features, amounts = rows[side]
            fitted = train_classifier(
                name, features[chosen], amounts, labels, seed=seed, threads=threads, tune=False
            )
            tested = rows[where][0][asked]
            scores = answer_figures(
                codes[where][asked], fitted.predict(tested), fitted.scores(tested, column.values)
            )
            figures |= {f"{side}_accuracy": scores["accuracy"], f"{side}_auc": scores["auc"]}
        by_classifier[name] = figures
    return by_classifier


def _closest(sides: Mapping[str, ComparedTable], rng: np.random.Generator) -> dict[str, float]:
    """Compare how near synthetic rows lie to training rows and to as many rows of a hold-out."""
    if "holdout" not in sides:
        return {}
    size = min(KNOWN_ROWS, len(sides["real"].codes), len(sides["holdout"].codes))
    rows = {name: side.features()[0] for name, side in sides.items()}
    drawn = {name: table[rng.permutation(len(table))] for name, table in rows.items()}
    asked = drawn["synthetic"][:ASKED_ROWS]
    to_real, to_holdout = (closest_distances(asked, drawn[name][:size]) for name in ("real", "holdout"))
    nearer = np.mean((to_real < to_holdout) + 0.5 * (to_real == to_holdout))
    return {
        "to_real_median": float(np.median(to_real)),
        "to_holdout_median": float(np.median(to_holdout)),
        "to_real_5_percent": float(np.quantile(to_real, 0.05)),
        "to_holdout_5_percent": float(np.quantile(to_holdout, 0.05)),
        "nearer_to_real": float(nearer),
        "error": float(0.98 / np.sqrt(len(asked))),  # 95 % by chance around one half
        "equal_to_real": float(np.mean(to_real == 0)),
    }
