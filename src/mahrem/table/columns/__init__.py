"""Columns: their roles, kinds and missing values, pseudonyms, and the same columns as numbers.

Outside use what is listed here; methods see only :class:`Axis` and :class:`Values`. It stands above
``hierarchies`` and beside ``reading``, and never opens a file.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.files import make_key as make_key
    from mahrem.table._schema import apply_missing as apply_missing
    from mahrem.table.columns._axis import Axis as Axis
    from mahrem.table.columns._axis import Domain as Domain
    from mahrem.table.columns._axis import Leaves as Leaves
    from mahrem.table.columns._axis import Moments as Moments
    from mahrem.table.columns._axis import Numbers as Numbers
    from mahrem.table.columns._axis import Values as Values
    from mahrem.table.columns._axis import Words as Words
    from mahrem.table.columns._default_hierarchy import plain_hierarchy as plain_hierarchy
    from mahrem.table.columns._default_hierarchy import with_default_hierarchy as with_default_hierarchy
    from mahrem.table.columns._encode import encode_quasi as encode_quasi
    from mahrem.table.columns._encode import moment_places as moment_places
    from mahrem.table.columns._encode import number_places as number_places
    from mahrem.table.columns._encode import refuse_mixed_zones as refuse_mixed_zones
    from mahrem.table.columns._kinds import infer_kind as infer_kind
    from mahrem.table.columns._kinds import read_kind as read_kind
    from mahrem.table.columns._kinds import refuse_lookalikes as refuse_lookalikes
    from mahrem.table.columns._people import as_people as as_people
    from mahrem.table.columns._pseudonym import pseudonyms as pseudonyms
    from mahrem.table.columns._pseudonym import read_key as read_key
    from mahrem.table.columns._roles import assign_roles as assign_roles
    from mahrem.table.columns._roles import is_role_word as is_role_word
    from mahrem.table.columns._roles import role_from_word as role_from_word
    from mahrem.table.columns._sensitive import encode_sensitive as encode_sensitive
    from mahrem.table.columns._sensitive import fold_spellings as fold_spellings
else:
    __getattr__, __dir__, __all__ = offered(__name__)
