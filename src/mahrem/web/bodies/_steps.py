"""Settings by the step at which a person decides about them.

Steps are ``source`` (which table of a database), ``reading``, ``columns`` (everything said of single columns)
and ``promises`` (all the rest). The process of a job asks for them, too: no body of a request is loaded here.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from mahrem.release.decisions import release_settings
from mahrem.settings import Setting

USUAL_K = 5


@cache
def settings_of_step(step: str) -> Mapping[str, Setting]:
    """Give the settings that a person decides about at a step; every setting belongs to one."""
    return {name: known for name, known in release_settings().items() if _step(known) == step}


def _step(known: Setting) -> str:
    if known.group == "database":
        return "source"
    if known.group == "roles" or (known.reader.of_columns and known.repeats):
        return "columns"
    return "reading" if known.group == "reading" else "promises"
