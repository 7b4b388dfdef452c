"""Docstrings as the site reads them: our ``Example`` sections as examples, roles of references as plain code.

An extension of griffe, which mkdocstrings reads sources with (mkdocs.yml).
"""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension

ROLE = re.compile(r":[a-z]+:`~?([^`]+)`")
SECTION = re.compile(r"^(\s*)Example:\s*$", re.MULTILINE)


class DocstringWords(Extension):
    """Rewrites every docstring before it is taken apart."""

    def on_object(self, *, obj: Any, **_: Any) -> None:
        """Called by griffe for every module, class, function and attribute."""
        if obj.docstring is not None:
            text = SECTION.sub(r"\1Examples:", obj.docstring.value)
            obj.docstring.value = ROLE.sub(r"`\1`", text)
