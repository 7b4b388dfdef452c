"""Where a figure of a page stands in what a command printed: by its value, and by the words beside both.

A figure that has its address is read there. Another is looked for: its value, rounded as on the page, may be
at many addresses; that one is taken whose words agree best with the figure's row and column, and with the
addresses found for its neighbours. Where two agree as well, none is taken.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from math import isclose
from typing import NamedTuple

from figure_records import Shown, as_shown, number_of

_TOKEN = re.compile(r"\d*\.?\d+|[^\W\d_]+")
_SAME = {"print": "published", "printed": "published", "here": "ours", "optimised": "optimized"}
_SCALES = (1.0, 100.0, 1000.0, 1e-3, 1e-6)
_EXACT = 3  # digits that tell a figure from most others
_ALIKE = 2  # words that a figure of fewer digits must share with its address


class _Candidate(NamedTuple):
    address: str
    printed: float
    scale: float


def bound(figures: Sequence[Shown], printed: Mapping[str, float]) -> list[Shown]:
    """Take the figures of one place from what was printed; those that are not found stay as they are."""
    if all(one.at is not None for one in figures):
        return [_read(one, printed) for one in figures]
    found = {at: _read(one, printed) for at, one in enumerate(figures) if one.at is not None}
    candidates = {at: _candidates(one, printed) for at, one in enumerate(figures) if one.at is None}
    while candidates:
        best = {at: _best(at, options, figures, found) for at, options in candidates.items()}
        new = {at: one for at, one in best.items() if one is not None}
        if not new:
            break
        found |= {
            at: replace(figures[at], printed=one.printed, at=one.address, scale=one.scale)
            for at, one in new.items()
        }
        candidates = {at: options for at, options in candidates.items() if at not in new}
    return [found.get(at, one) for at, one in enumerate(figures)]


def _read(one: Shown, printed: Mapping[str, float]) -> Shown:
    value = printed[one.at or ""]
    return replace(one, printed=value, shown=as_shown(value * one.scale, one.shown))


def _candidates(one: Shown, printed: Mapping[str, float]) -> list[_Candidate]:
    found = [
        _Candidate(address, value, scale)
        for scale in _SCALES
        for address, value in printed.items()
        if as_shown(value * scale, one.shown) == one.shown
    ]
    if _digits(one.shown) >= _EXACT - ("." in one.shown):
        return found
    return [each for each in found if isclose(each.printed * each.scale, number_of(one.shown))]


def _best(
    at: int, options: Sequence[_Candidate], figures: Sequence[Shown], found: Mapping[int, Shown]
) -> _Candidate | None:
    """Choose the candidate whose words agree best; None where there is none or two agree as well."""
    name = figures[at].name
    row, _, column = name.partition(" | ")
    beside = [_common(found, figures, lambda other: other.partition(" | ")[0] == row, at)]
    if column:
        beside.append(_common(found, figures, lambda other: other.endswith(f" | {column}"), None))

    def agreement(option: _Candidate) -> tuple[int, bool]:
        words = _words(option.address)
        return sum(len(near & words) for near in (_words(name), *beside)), option.scale == 1

    most = max(map(agreement, options), default=None)
    best = [option for option in options if agreement(option) == most]
    # Of those that agree as well, the one that says nothing else besides.
    best = [one for one in best if all(_tokens(one.address) <= _tokens(other.address) for other in best)]
    if len(best) != 1:
        return None
    alike = len(_words(name) & _words(best[0].address))
    return best[0] if _digits(figures[at].shown) >= _EXACT or alike >= _ALIKE else None


def _common(
    found: Mapping[int, Shown], figures: Sequence[Shown], belongs: Callable[[str], bool], near: int | None
) -> frozenset[str]:
    """Give the words of all addresses that were found in a row (around a place in it) or in a column."""
    places = [at for at in found if belongs(figures[at].name)]
    if near is not None:
        places = [
            at for at in places if all(belongs(one.name) for one in figures[min(at, near) : max(at, near)])
        ]
    words = [_words(found[at].at or "") for at in places]
    return frozenset.intersection(*words) if words else frozenset()


@cache
def _tokens(text: str) -> Counter[str]:
    tokens = (token.lower() for token in _TOKEN.findall(text))
    return Counter(
        f"{float(token):g}" if token[-1].isdigit() else _SAME.get(token, token) for token in tokens
    )


@cache
def _words(text: str) -> frozenset[str]:
    return frozenset(_tokens(text))


def _digits(shown: str) -> int:
    return len(re.sub(r"\D", "", shown).lstrip("0"))
