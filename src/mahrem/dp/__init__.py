"""Differential privacy: one ledger that pays for everything, and what is public about its data.

Needs the extra ``dp``. Everything private spends from a :class:`Ledger`; what is not public is never read
without paying. Its rooms: ``accounting`` (events and what they cost), ``noise`` (mechanisms on integers) and
``queries`` (questions with error bars).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.dp._facts import Facts
    from mahrem.dp._keywords import LedgerKeywords
    from mahrem.dp._ledger import Ledger
    from mahrem.dp._ledger_settings import LedgerSettings, warn_of_large_delta
    from mahrem.dp._neighbours import NeighbourEvidence, NotPrivate, assert_dp
    from mahrem.dp._public_cells import (
        cells_of,
        open_privately,
        public_cells,
        refuse_one_value_twice,
        refuse_undeclared,
        unit_numbers,
    )
    from mahrem.dp._randomised_response import Frequencies, RandomisedResponse, UnaryEncoding, local_event
    from mahrem.dp._relation import Relation, Unit
    from mahrem.dp._tape import Tape, listened, listening, noised, part_of
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "Facts",
    "Frequencies",
    "Ledger",
    "LedgerKeywords",
    "LedgerSettings",
    "NeighbourEvidence",
    "NotPrivate",
    "RandomisedResponse",
    "Relation",
    "Tape",
    "UnaryEncoding",
    "Unit",
    "assert_dp",
    "cells_of",
    "listened",
    "listening",
    "local_event",
    "noised",
    "open_privately",
    "part_of",
    "public_cells",
    "refuse_one_value_twice",
    "refuse_undeclared",
    "unit_numbers",
    "warn_of_large_delta",
]
