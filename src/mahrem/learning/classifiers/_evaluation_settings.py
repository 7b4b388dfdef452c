"""How classifiers are trained and tested, as data."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from mahrem import check
from mahrem.errors import InvalidParameter
from mahrem.learning.classifiers._classifiers import CLASSIFIERS

EvaluationProtocol = Literal["untouched", "published"]
DEFAULT_CLASSIFIERS: tuple[str, ...] = ("hist_gradient_boosting", "logistic_regression")


@dataclass(frozen=True, kw_only=True)
class EvaluationSettings:
    """How classifiers are trained and tested.

    Attributes:
        classifiers: Names of :data:`CLASSIFIERS`.
        protocol: ``untouched`` or ``published``; see :func:`evaluate`.
        splits: Repeated stratified splits.
        test: Share of the rows that are tested.
        seed: Of splits and classifiers; the same seed gives the same splits whatever the anonymiser.
        tune: Choose settings by cross-validation inside the training rows.
        threads: Cores one training may use; by default at most two, with several jobs one.
        jobs: Splits that are worked on at once, each in a process of its own.
        limits: For slow classifiers, how many of the training rows they see at most, drawn at random.
    """

    classifiers: Sequence[str] = DEFAULT_CLASSIFIERS
    protocol: EvaluationProtocol = "untouched"
    splits: int = 5
    test: float = 0.3
    seed: int = 0
    tune: bool = True
    threads: int | None = None
    jobs: int = 1
    limits: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check.one_of(get_args(EvaluationProtocol), protocol=self.protocol)
        check.at_least(1, splits=check.whole(splits=self.splits))
        check.at_least(1, jobs=check.whole(jobs=self.jobs))
        check.between(0.01, 0.99, test=self.test)
        if not self.names:
            raise InvalidParameter("classifiers=[] must name at least one classifier")

    @property
    def names(self) -> tuple[str, ...]:
        """The classifiers, each once."""
        return tuple(
            dict.fromkeys(check.one_of(tuple(CLASSIFIERS), classifier=name) for name in self.classifiers)
        )

    @property
    def cores(self) -> int:
        """Cores one training uses."""
        return self.threads or (min(2, os.cpu_count() or 1) if self.jobs == 1 else 1)
