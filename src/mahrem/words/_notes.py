"""Something to tell a person, before it has a language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["Note"]


@dataclass(frozen=True)
class Note:
    """What happened, by a code that every catalogue has words for: ``Note("warning.no_k")``.

    ``values`` fill the braces of these words. They are figures and names of columns, never
    values of the data.
    """

    code: str  # section.key of the catalogues
    values: Mapping[str, object] = field(default_factory=dict)
