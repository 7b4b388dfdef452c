"""All attacks that a release can be put to, one after the other."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mahrem.attacks._background import RuledOut
from mahrem.attacks._downcoding import Downcoding
from mahrem.attacks._finding import Finding, not_done
from mahrem.attacks._homogeneity import Homogeneity
from mahrem.attacks._inference import Inference
from mahrem.attacks._linkage import Linkage
from mahrem.attacks._membership import Membership
from mahrem.attacks._minimality import Minimality
from mahrem.attacks._order import Order
from mahrem.attacks._release import People, Published
from mahrem.attacks._similarity import Similarity
from mahrem.attacks._singling_out import SinglingOut
from mahrem.attacks._skewness import Skewness
from mahrem.types import Mask
from mahrem.words import Note

__all__ = ["red_team"]


def red_team(
    release: Published,
    people: People | None = None,
    *,
    k: int | None = None,
    l: int = 2,  # noqa: E741 - the literature's name
    population: People | None = None,
    members: Mask | None = None,
    trials: int = 1000,
    seed: int = 0,
) -> tuple[Finding, ...]:
    """Try every attack that applies; those that do not say why.

    Attacks that need more than one original (composition, priors of a population) are called on their own.

    Args:
        release: The published table.
        people: The original; without it only attacks on the release alone are tried.
        k: The k of the release; its smallest class if None.
        l: The l of its l-diversity, for minimality.
        population: A table of everybody, for membership.
        members: Who of the population is in the release.
        trials: How many people, rows or claims an attack tries.
        seed: Of all draws.

    Example:
        >>> import polars as pl
        >>> from mahrem.attacks import read_published
        >>> shown = pl.DataFrame({"age": ["[20, 30]"] * 3, "ill": ["flu"] * 3})
        >>> findings = red_team(read_published(shown, quasi=["age"], sensitive=["ill"]))
        >>> [(finding.attack, finding.rate) for finding in findings if finding.done][0]
        ('homogeneity', 1.0)
    """
    findings = [
        finding
        for column in release.sensitive
        for finding in (
            Homogeneity(column=column)(release),
            Skewness(column=column, seed=seed)(release),
            Similarity(column=column, seed=seed)(release),
            RuledOut(column=column)(release),
        )
    ]
    if people is None:
        findings += [not_done(name, Note("skipped.original")) for name in _WITH_ORIGINAL]
    else:
        smallest = int(release.sizes.min(initial=1)) if k is None else k
        findings += _with_original(release, people, smallest, l, trials, seed)
    if population is not None and members is not None:
        findings.append(Membership(trials=trials, seed=seed)(release, population, np.asarray(members)))
    else:
        findings.append(not_done("membership", Note("skipped.population")))
    return tuple(findings)


_WITH_ORIGINAL = ("linkage", "singling-out", "order", "downcoding", "minimality", "inference")


def _with_original(
    release: Published, people: People, k: int, diverse: int, trials: int, seed: int
) -> Iterator[Finding]:
    columns = len(release.quasi)
    for known in sorted({1, (columns + 1) // 2, columns}):
        yield Linkage(known=known, trials=trials, seed=seed)(release, people)
    yield Linkage(noise=0.1, trials=trials, seed=seed)(release, people)
    yield SinglingOut(trials=trials, seed=seed)(release, people)
    yield Order(trials=trials, seed=seed)(release, people)
    yield Downcoding(seed=seed)(release, people)
    if not release.sensitive:
        yield not_done("minimality", Note("skipped.column"))
        yield not_done("inference", Note("skipped.column"))
    for column in release.sensitive:
        yield Minimality(k=k, l=diverse, column=column, seed=seed)(release, people)
        yield Inference(column=column, trials=trials, seed=seed)(release, people)
