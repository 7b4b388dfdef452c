"""Policies in files: read, with a word for whoever wrote a name that TOML does not take."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mahrem.errors import InvalidInput, InvalidParameter, spelled

# Private files a release was made with; its policy names their columns only.
_GIVEN_AGAIN = ("hierarchy", "pseudonym")


def read_policy(path: str | Path, *, beside: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Read a policy file, or a ready one by its name; its keys are checked when the policy is made.

    A release's policy names the columns whose hierarchy or key stayed private. To make a release with it
    again, these are said ``beside`` the file: without them the result would silently be another one.
    """
    from mahrem.release.decisions._ready import READY_POLICIES, ready_policy

    try:
        text = ready_policy(path) or Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(
            f"policy={Path(path).name!r} cannot be read: {type(error).__name__}; "
            f"ready ones are {', '.join(READY_POLICIES)}"
        ) from error
    try:
        settings = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(
            f"policy={Path(path).name!r} is not TOML: {error}{_key_hint(text, error)}"
        ) from error
    about = settings.pop("mahrem", {})  # as written into a release
    if beside is not None:
        for key in _GIVEN_AGAIN:
            missing = sorted(set(about.get(key, ())) - set(beside.get(key, ())))
            if missing:
                raise InvalidParameter(
                    f"policy={Path(path).name!r} was used with a private {key} of {', '.join(missing)}: "
                    f"give it again ({spelled(key, {missing[0]: 'FILE'})}), or take {key} "
                    f"out of its [mahrem] section"
                )
    return settings


def _key_hint(text: str, error: tomllib.TOMLDecodeError) -> str:
    """Say how a name is written that TOML takes only in quotes: ``yaş``, ``postal code``."""
    where = re.search(r"at line (\d+)", str(error))
    if where is None:
        return ""
    line = text.splitlines()[int(where[1]) - 1]
    bare = re.sub(r'"[^"]*"|\'[^\']*\'|#.*', "", line)
    keys = [key.strip() for key in re.findall(r"([^={},.\[\]]+)(?=[=.\]])", bare)]
    odd = next((key for key in keys if not re.fullmatch(r"[A-Za-z0-9_-]*", key)), None)
    return "" if odd is None else f'; names with other signs than a-z, 0-9, _ and - stand in quotes: "{odd}"'


def own_pseudonyms(path: Path) -> tuple[str, ...]:
    """Give the columns of pseudonyms that the policy of a release names, as its file names them."""
    if not path.is_file():
        return ()
    from mahrem.table.writing import exported_names

    own = tomllib.loads(path.read_text(encoding="utf-8"))
    named = own.get("mahrem", {}).get("pseudonym", ())
    return tuple(exported_names(named, own.get("format", "csv")))
