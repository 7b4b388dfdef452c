"""A policy file with every setting in it, each explained and commented out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from mahrem.release.decisions._policy import release_settings
from mahrem.settings import Setting
from mahrem.words import Catalogue, explain_setting, load_catalogue


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


def written_policy(
    settings: Mapping[str, object], comments: Mapping[str, str], remarks: Sequence[str] = ()
) -> str:
    """Write a policy file of settings, lists of columns one to a line with what is to be said of each.

    Guarantees:
        - The file is read back as the same settings.
    """
    lines = [f"# {_one_line(remark)}" for remark in remarks]
    for name, value in settings.items():
        if not isinstance(value, list | tuple):
            lines.append(f"{name} = {_written(value)}")
            continue
        lines += ["", f"{name} = ["]
        for column in value:
            comment = comments.get(column)
            lines.append(f"    {_written(column)}," + (f"  # {_one_line(comment)}" if comment else ""))
        lines += ["]", ""]
    return "\n".join(lines) + "\n"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _lines(known: Setting, catalogue: Catalogue) -> Iterator[str]:
    example = known.default if known.example is None else known.example
    yield f"# {explain_setting(catalogue, 'release', known)}"
    yield f"# {known.name} = {_written(example)}"


def _written(value: object) -> str:
    """Write a value of TOML on one line, so that it can be uncommented alone; libraries break lists."""
    if isinstance(value, dict):
        return (
            "{ " + ", ".join(f"{_key(str(key))} = {_written(inner)}" for key, inner in value.items()) + " }"
        )
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_written, value))}]"
    return json.dumps(value, ensure_ascii=False)


def _key(name: str) -> str:
    """Write a key of TOML, in quotes where it needs them."""
    return name if re.fullmatch("[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)
