"""Releases: the gate before one, the recipe beside it; rooms for what is decided and what lies on disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.release._gate import (
        Doubt,
        decided,
        find_doubts,
        is_nearly_unique,
        is_rarely_shared,
        look_at,
        notes_of_several_rows,
        refuse_giving_away,
    )
    from mahrem.release._imported import ImportedPolicy, import_policy
    from mahrem.release._recipe import BY_RECIPE, RECIPE, Recipe, read_recipe
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "BY_RECIPE",
    "RECIPE",
    "Doubt",
    "ImportedPolicy",
    "Recipe",
    "decided",
    "find_doubts",
    "import_policy",
    "is_nearly_unique",
    "is_rarely_shared",
    "look_at",
    "notes_of_several_rows",
    "read_recipe",
    "refuse_giving_away",
]
