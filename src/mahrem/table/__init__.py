"""Tables at the edge of the house: roles, kinds, missing values, hierarchies, and columns as numbers.

Also the grammar of published cells, which writers, metrics and the verifier share.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.table._asking import Database, asking
    from mahrem.table._axis import Axis, Domain, Leaves, Moments, Numbers, Words
    from mahrem.table._builders import (
        cut_hierarchy,
        date_hierarchy,
        group_hierarchy,
        interval_hierarchy,
        mask_hierarchy,
        plain_hierarchy,
        prefix_hierarchy,
    )
    from mahrem.table._cells import Cells
    from mahrem.table._databases import quoted, read_alone
    from mahrem.table._default_hierarchy import default_hierarchy, with_default_hierarchy
    from mahrem.table._encode import as_text, encode_quasi, encode_sensitive, refuse_mixed_zones
    from mahrem.table._excel import excel_texts, fits_excel
    from mahrem.table._files import is_duckdb
    from mahrem.table._formats import FORMATS, FileFormat, Format
    from mahrem.table._formulas import neutralise_formulas, restore_cells, restore_formulas, restored_cells
    from mahrem.table._frames import as_polars, hold, pruned
    from mahrem.table._grammar import (
        Cell,
        Exact,
        Members,
        MissingCell,
        Prefix,
        Range,
        Suppressed,
        read_cell,
        read_ranges,
        write_labels,
        write_members,
        write_prefixes,
        write_range,
        write_ranges,
        write_set,
    )
    from mahrem.table._hierarchy import Hierarchy
    from mahrem.table._hierarchy_facts import HierarchyFacts, hierarchy_facts
    from mahrem.table._hierarchy_file import read_hierarchy
    from mahrem.table._kinds import infer_kind, read_kind
    from mahrem.table._learnt_hierarchy import LearntGroups, learn_hierarchies, learn_hierarchy
    from mahrem.table._majority_targets import Target, number_target
    from mahrem.table._missing import MissingOutcome, apply_missing
    from mahrem.table._nested_hierarchy import hierarchy_from_nested, nested_hierarchy
    from mahrem.table._number_grid import NumberGrid
    from mahrem.table._pseudonym import make_key, pseudonyms, read_key
    from mahrem.table._reading import Reading, Source, number_tokens
    from mahrem.table._roles import assign_roles, is_role_word, role_from_word
    from mahrem.table._schema import Column, Kind, Missing, Role
    from mahrem.table._slices import scan_sparingly
    from mahrem.table._source import is_postgresql, open_source
    from mahrem.table._values import Values
    from mahrem.table._write import exported_names, write_table
    from mahrem.table._write_database import write_database
    from mahrem.table._write_parts import write_parts
    from mahrem.table._zones import on_this_clock, wall_clock
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "FORMATS",
    "Axis",
    "Cell",
    "Cells",
    "Column",
    "Database",
    "Domain",
    "Exact",
    "FileFormat",
    "Format",
    "Hierarchy",
    "HierarchyFacts",
    "Kind",
    "LearntGroups",
    "Leaves",
    "Members",
    "Missing",
    "MissingCell",
    "MissingOutcome",
    "Moments",
    "NumberGrid",
    "Numbers",
    "Prefix",
    "Range",
    "Reading",
    "Role",
    "Source",
    "Suppressed",
    "Target",
    "Values",
    "Words",
    "apply_missing",
    "as_polars",
    "as_text",
    "asking",
    "assign_roles",
    "cut_hierarchy",
    "date_hierarchy",
    "default_hierarchy",
    "encode_quasi",
    "encode_sensitive",
    "excel_texts",
    "exported_names",
    "fits_excel",
    "group_hierarchy",
    "hierarchy_facts",
    "hierarchy_from_nested",
    "hold",
    "infer_kind",
    "interval_hierarchy",
    "is_duckdb",
    "is_postgresql",
    "is_role_word",
    "learn_hierarchies",
    "learn_hierarchy",
    "make_key",
    "mask_hierarchy",
    "nested_hierarchy",
    "neutralise_formulas",
    "number_target",
    "number_tokens",
    "on_this_clock",
    "open_source",
    "plain_hierarchy",
    "prefix_hierarchy",
    "pruned",
    "pseudonyms",
    "quoted",
    "read_alone",
    "read_cell",
    "read_hierarchy",
    "read_key",
    "read_kind",
    "read_ranges",
    "refuse_mixed_zones",
    "restore_cells",
    "restore_formulas",
    "restored_cells",
    "role_from_word",
    "scan_sparingly",
    "wall_clock",
    "with_default_hierarchy",
    "write_database",
    "write_labels",
    "write_members",
    "write_parts",
    "write_prefixes",
    "write_range",
    "write_ranges",
    "write_set",
    "write_table",
]
