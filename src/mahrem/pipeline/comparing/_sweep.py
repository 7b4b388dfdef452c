"""What a comparison runs: methods, k, strategies and seeds, as settings and as single cases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mahrem import check
from mahrem.errors import InvalidParameter, spelled
from mahrem.partition import METHODS, suits_size
from mahrem.readers import column, number, texts, whole
from mahrem.settings import setting, split_settings
from mahrem.typed import listed, sizes

if TYPE_CHECKING:
    from mahrem.release.decisions import Policy

CUSTOMARY = (2, 3, 5, 10, 20, 50)
_STOPPABLE = {"anytime": False}  # ctrl-C ends the sweep, not the run that is on


@dataclass(frozen=True)
class Case:
    method: str
    strategy: str | None  # None: the method does not cut
    k: int
    seed: int | None  # None: the method does not draw

    def within(self, policy: Policy) -> Policy:
        own = own_options({**policy.options, **_STOPPABLE}, self.method)
        strategy = policy.strategy if self.strategy is None else self.strategy
        seconds = policy.seconds if policy.repair or METHODS[self.method].takes("seconds") else None
        return replace(
            policy,
            method=self.method,
            strategy=strategy,
            k=self.k,
            seed=self.seed,
            seconds=seconds,
            options=own,
        )

    def named(self) -> dict[str, Any]:
        return {"method": self.method, "strategy": self.strategy, "k": self.k, "seed": self.seed}


def _methods(name: str, value: object) -> tuple[str, ...]:
    listed: tuple[str, ...] = texts(name, value)
    if not listed:
        raise InvalidParameter(f"{name}=[] must name at least one method")
    for method in listed:
        check.one_of(METHODS, method=method)
    return listed


def _ks(name: str, value: Sequence[int]) -> tuple[int, ...]:
    if not len(value):
        raise InvalidParameter(f"{name}=[] must name at least one k")
    return tuple(int(check.at_least(1, k=check.whole(k=k))) for k in value)


_LISTED: dict[str, Any] = {
    "group": "sweep",
    "takes": "Sequence[str] | None",
    "typed": lambda _, text: listed([text]),
    "repeats": False,
}


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """What to run, how often, and for how long."""

    methods: tuple[str, ...] | None = setting(read=_methods, **_LISTED, metavar="A,B")
    ks: tuple[int, ...] | None = setting(
        read=_ks, **_LISTED | {"takes": "Sequence[int] | None", "typed": sizes}, metavar="2,5,10"
    )
    strategies: tuple[str, ...] | None = setting(read=texts, **_LISTED, metavar="A,B")
    seeds: int = setting(1, read=whole.within(1, 1000), group="sweep", metavar="N")
    budget: float | None = setting(read=number.within(0), group="sweep", metavar="SECONDS")
    target: str | None = setting(read=column, group="sweep", metavar="COL")
    classifiers: tuple[str, ...] | None = setting(read=texts, **_LISTED, metavar="A,B")
    splits: int = setting(5, read=whole.within(1, 100), group="sweep", metavar="N")

    def __post_init__(self) -> None:
        if self.classifiers is not None and self.target is None:
            raise InvalidParameter(f"classifiers need a target to predict: {spelled('target', 'COLUMN')}")

    @classmethod
    def of(cls, settings: Mapping[str, object]) -> tuple[Sweep, dict[str, Any]]:
        """Take what is a sweep's out of settings; gives the rest too. One ``method`` is a sweep of one."""
        if settings.get("methods") is None and settings.get("method"):
            settings = {**settings, "methods": [settings["method"]]}
        return split_settings(cls, settings)

    def methods_for(self, rows: int) -> tuple[list[str], dict[str, str]]:
        """Give the methods to run, the quick ones first, and those left out with the reason."""
        if self.methods is not None:
            return list(dict.fromkeys(self.methods)), {}
        reasons = {name: suits_size(name, rows) for name in METHODS}
        chosen = [name for name, reason in reasons.items() if reason is None]
        chosen.sort(key=lambda name: METHODS[name].seconds(rows))
        return chosen, {name: reason for name, reason in reasons.items() if reason is not None}

    def ks_for(self, rows: int, own: int | None) -> list[int]:
        """Give the k to run; ``own`` is the policy's."""
        if self.ks is not None:
            return sorted(set(self.ks))
        customary = {k for k in CUSTOMARY if k <= max(CUSTOMARY[0], rows // 10)}
        return sorted(customary | ({own} if own else set()))

    def cases(self, methods: Sequence[str], rows: int, policy: Policy) -> Iterator[Case]:
        """Give every run of some methods on a table."""
        ks, strategies = self.ks_for(rows, policy.k), self.strategies or (policy.strategy,)
        for method in methods:
            known = METHODS[method]
            cuts: Sequence[str | None] = strategies if known.takes("strict") else (None,)
            draws: Sequence[int | None] = range(self.seeds) if known.takes("seed") else (None,)
            yield from (Case(method, cut, k, seed) for cut in cuts for k in ks for seed in draws)


def own_options(options: Mapping[str, object], method: str) -> dict[str, Any]:
    """Give the options that a method knows."""
    return {key: value for key, value in options.items() if METHODS[method].takes(key)}
