"""Columns: their roles, kinds and missing values, pseudonyms, and the same columns as numbers.

Outside use what is listed here; methods see only :class:`Axis` and :class:`Values`. It stands above
``hierarchies`` and beside ``reading``, and never opens a file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.files import make_key
    from mahrem.table._schema import apply_missing
    from mahrem.table.columns._axis import Axis, Domain, Leaves, Moments, Numbers, Values, Words
    from mahrem.table.columns._default_hierarchy import plain_hierarchy, with_default_hierarchy
    from mahrem.table.columns._encode import encode_quasi, moment_places, number_places, refuse_mixed_zones
    from mahrem.table.columns._kinds import infer_kind, read_kind, refuse_lookalikes
    from mahrem.table.columns._people import as_people
    from mahrem.table.columns._pseudonym import pseudonyms, read_key
    from mahrem.table.columns._roles import assign_roles, is_role_word, role_from_word
    from mahrem.table.columns._sensitive import encode_sensitive, fold_spellings
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "Axis",
    "Domain",
    "Leaves",
    "Moments",
    "Numbers",
    "Values",
    "Words",
    "apply_missing",
    "as_people",
    "assign_roles",
    "encode_quasi",
    "encode_sensitive",
    "fold_spellings",
    "infer_kind",
    "is_role_word",
    "make_key",
    "moment_places",
    "number_places",
    "plain_hierarchy",
    "pseudonyms",
    "read_key",
    "read_kind",
    "refuse_lookalikes",
    "refuse_mixed_zones",
    "role_from_word",
    "with_default_hierarchy",
]
