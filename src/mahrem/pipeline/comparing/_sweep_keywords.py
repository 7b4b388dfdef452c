"""Keywords of settings, made by scripts/keywords.py."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from mahrem.release.decisions import ReleaseKeywords


class SweepKeywords(ReleaseKeywords, total=False):
    """What may be said to a comparison, besides what is said about a release.

    Attributes:
        methods: Which to run; default: all that suit the size.
        ks: Which k; default: 2,3,5,10,20,50 up to a tenth of the rows, and the policy's own.
        strategies: strict,relaxed for methods that cut; default: the policy's.
        seeds: Runs of methods that draw, with seeds 0, 1, 2 …
        budget: Begin no run after so many seconds.
        target: Column to predict: adds what classifiers trained on anonymised rows reach on untouched ones.
        classifiers: With a target; see the guide for names.
        splits: Splits into training and test rows; default 5.
    """

    methods: Sequence[str] | None
    ks: Sequence[int] | None
    strategies: Sequence[str] | None
    seeds: int
    budget: float | None
    target: Hashable | None
    classifiers: Sequence[str] | None
    splits: int
