"""What promises and methods mean, in plain words, for the page."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["METHODS_IN_WORDS", "PROMISES", "ROLES", "PromiseWords"]


@dataclass(frozen=True)
class PromiseWords:
    """A promise: what it is called, what it means, and what it does not."""

    key: str
    name: str
    means: str
    not_means: str
    low: float
    high: float
    step: float


PROMISES: tuple[PromiseWords, ...] = (
    PromiseWords(
        "k",
        "k-anonymity",
        "At least k people look alike in everything others may know about them.",
        "It does not hide what all k of them have in common.",
        1,
        10**6,
        1,
    ),
    PromiseWords(
        "l",
        "l-diversity",
        "Every group that looks alike shows at least l different sensitive values.",
        "It does not stop a guess when one of the values is far more common than the others.",
        1,
        10**6,
        0.1,
    ),
    PromiseWords(
        "t",
        "t-closeness",
        "In every group the sensitive values are spread almost as in the whole table: t apart at most.",
        "It does not hide what the whole table shows about everybody.",
        0,
        1,
        0.01,
    ),
    PromiseWords(
        "alpha",
        "(alpha, k)-anonymity",
        "No sensitive value makes up more than the share alpha of a group.",
        "It says nothing about two values that mean nearly the same.",
        0,
        1,
        0.01,
    ),
    PromiseWords(
        "beta",
        "beta-likeness",
        "In no group a sensitive value is more than beta times more likely than before.",
        "It does not bound how much less likely a value may become.",
        0,
        10**6,
        0.1,
    ),
    PromiseWords(
        "delta_disclosure",
        "delta-disclosure privacy",
        "In every group each sensitive value is about as frequent as in the whole table.",
        "It is hard to keep and costs much detail; small tables may not be able to keep it.",
        0,
        10**6,
        0.1,
    ),
)
METHODS_IN_WORDS: dict[str, str] = {
    "mondrian": "quick; cuts the table in two again and again",
    "mosaic": "keeps most detail for its time; a good choice when there is no hurry",
    "optimised-mondrian": "like mondrian, with cuts chosen with more care",
    "u-mondrian": "like mondrian, then exchanges rows between groups",
    "canon": "groups by nearness to corners; quick",
    "u-canon": "like canon, then exchanges rows between groups",
    "mdav": "looks at all pairs of rows; for small tables",
}
ROLES: dict[str, str] = {
    "quasi": "others may know it (it is made coarser)",
    "sensitive": "nobody should learn it (it is protected)",
    "identifier": "names a person (it is taken out)",
    "insensitive": "harmless (it is published as it is)",
    "drop": "leave it out",
}
