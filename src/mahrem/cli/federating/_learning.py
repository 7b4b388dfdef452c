"""``mahrem federate simulate --model``: weights or trees learnt over anonymised silos."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mahrem.cli._options import Row
from mahrem.errors import InvalidParameter
from mahrem.typed import value

# how the silos of a simulation anonymise
SILOS: Sequence[Row] = (
    (
        "anonymize",
        list[str] | None,
        "--anonymize",
        "K=V",
        "Each silo anonymises first: k=3,l=2,kind=zip=code; client-2:k=5 for one. Repeatable.",
    ),
    (
        "quasi",
        list[str] | None,
        "--qi --quasi",
        "A,B",
        "Quasi-identifiers of --anonymize; all columns by default.",
    ),
)


def silo_policies(
    anonymize: Sequence[str], quasi: Sequence[str]
) -> tuple[dict[str, Any] | None, dict[str, dict[str, Any]]]:
    """Give the policy of all silos of a simulation, and what is another for single ones."""
    usual, single = policy_words(anonymize)
    if quasi:
        if usual is None and not single:
            raise InvalidParameter("quasi: --qi goes with --anonymize")
        usual = {**(usual or {}), "quasi": tuple(quasi)}
    return usual, single


def policy_words(texts: Sequence[str]) -> tuple[dict[str, Any] | None, dict[str, dict[str, Any]]]:
    """Read policies as people write them: ``k=3,l=2`` for all silos, ``client-2:k=5`` for one.

    Example:
        >>> policy_words(["k=3,t=0.2,kind=zip=code", "client-2:k=5"])
        ({'k': 3, 't': 0.2, 'kind': {'zip': 'code'}}, {'client-2': {'k': 5}})
    """
    usual: dict[str, object] = {}
    single: dict[str, dict[str, object]] = {}
    for text in texts:
        name, mark, rest = text.rpartition(":")
        held = single.setdefault(name, {}) if mark else usual
        for part in rest.split(","):
            key, equals, typed = (word.strip() for word in part.partition("="))
            column, of_column, setting = (word.strip() for word in typed.partition("="))
            place = held.setdefault(key, {}) if of_column else held  # kind=zip=code: of one column
            if not (equals and key and typed) or not isinstance(place, dict):
                raise InvalidParameter(f"anonymize={text!r} must read like k=3,l=2 or client-2:k=5")
            place[column if of_column else key] = value(setting if of_column else typed)
    return usual or None, single
