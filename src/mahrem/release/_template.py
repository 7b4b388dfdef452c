"""A policy file with every setting in it, each explained and commented out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from mahrem.release._policy import release_settings
from mahrem.settings import Setting
from mahrem.words import explain_setting, load_catalogue

if TYPE_CHECKING:
    from mahrem.words import Catalogue


def policy_template(language: str = "en") -> str:
    """Write a policy file to begin with: headings, a sentence for each setting, an example to uncomment.

    Guarantees:
        - Every line that begins with ``# key =``, uncommented alone, is a setting that a policy takes.

    Example:
        >>> "# k = 5" in policy_template().splitlines()
        True
    """
    catalogue = load_catalogue(language)
    groups: dict[str, list[Setting]] = {}
    for known in release_settings().values():
        groups.setdefault(known.group, []).append(known)
    lines = [catalogue.say("setting_template.head")]
    for group, settings in groups.items():
        lines += ["", f"# {catalogue.say(f'setting_group.{group}')}"]
        for known in settings:
            lines += _lines(known, catalogue)
    return "\n".join(lines) + "\n"


def _lines(known: Setting, catalogue: Catalogue) -> Iterator[str]:
    example = known.default if known.example is None else known.example
    yield f"# {explain_setting(catalogue, 'release', known)}"
    yield f"# {known.name} = {_written(example)}"


def _written(value: object) -> str:
    """Write a value of TOML on one line, so that it can be uncommented alone; libraries break lists."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_written(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, list):
        return f"[{', '.join(map(_written, value))}]"
    return json.dumps(value, ensure_ascii=False)
