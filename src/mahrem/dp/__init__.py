"""Differential privacy: one ledger that pays for everything, and what is public about its data.

Needs the extra ``dp``. Everything private spends from a :class:`Ledger`; what is not public is never read
without paying. Its rooms: ``accounting`` (events and what they cost), ``noise`` (mechanisms on integers) and
``queries`` (questions with error bars).
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.dp._facts import Facts as Facts
    from mahrem.dp._keywords import LedgerKeywords as LedgerKeywords
    from mahrem.dp._ledger import Ledger as Ledger
    from mahrem.dp._ledger_settings import LedgerSettings as LedgerSettings
    from mahrem.dp._ledger_settings import warn_of_large_delta as warn_of_large_delta
    from mahrem.dp._neighbours import NeighbourEvidence as NeighbourEvidence
    from mahrem.dp._neighbours import NotPrivate as NotPrivate
    from mahrem.dp._neighbours import assert_dp as assert_dp
    from mahrem.dp._public_cells import cells_of as cells_of
    from mahrem.dp._public_cells import open_privately as open_privately
    from mahrem.dp._public_cells import public_cells as public_cells
    from mahrem.dp._public_cells import refuse_one_value_twice as refuse_one_value_twice
    from mahrem.dp._public_cells import refuse_undeclared as refuse_undeclared
    from mahrem.dp._public_cells import unit_numbers as unit_numbers
    from mahrem.dp._randomised_response import Frequencies as Frequencies
    from mahrem.dp._randomised_response import RandomisedResponse as RandomisedResponse
    from mahrem.dp._randomised_response import UnaryEncoding as UnaryEncoding
    from mahrem.dp._randomised_response import local_event as local_event
    from mahrem.dp._relation import Relation as Relation
    from mahrem.dp._relation import Unit as Unit
    from mahrem.dp._tape import Tape as Tape
    from mahrem.dp._tape import listened as listened
    from mahrem.dp._tape import listening as listening
    from mahrem.dp._tape import noised as noised
    from mahrem.dp._tape import part_of as part_of
else:
    __getattr__, __dir__, __all__ = offered(__name__)
