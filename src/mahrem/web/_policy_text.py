"""The text of a policy that somebody sends, read within limits: nothing in it costs more than it is long."""

from __future__ import annotations

import math
import re
import tomllib

from mahrem import check
from mahrem.errors import InvalidInput
from mahrem.release.decisions import release_settings
from mahrem.table.columns import is_role_word
from mahrem.web._errors import Refused
from mahrem.web._orders import Json

LARGEST_POLICY = 20_000  # characters; a reader of TOML takes the square of a long key
_DEEPEST = 8  # brackets within each other, and parts of a key
_SAID = re.compile(  # comments and strings: what stands in them nests nothing
    r"""\#[^\n]*|\"{3}(?:\\.|[^\\])*?(?:\"{3}|\Z)|'{3}.*?(?:'{3}|\Z)|"(?:\\.|[^"\\\n])*"|'[^'\n]*'""",
    re.DOTALL,
)
_LONG_KEY = re.compile(rf"(?:\.[^.,=\[\]{{}}\n]*){{{_DEEPEST}}}")


def read_policy_text(text: str) -> Json:
    """Read the text of a policy.

    Guarantees:
        - What is given back can be written as JSON, and every key of it is a setting.
        - Reading takes time and memory in proportion to a small limit, whatever is sent.

    Raises:
        Refused: If it is too large, nests too deeply, or holds what no setting takes.
        InvalidInput: If it is not TOML.
    """
    if len(text) > LARGEST_POLICY:
        raise Refused(413, "policy_too_large")
    _refuse_deep(text)
    try:
        settings = tomllib.loads(text)
    except ValueError as error:
        why = f": {error}" if isinstance(error, tomllib.TOMLDecodeError) else ""
        raise InvalidInput(f"the policy is not TOML{why}") from None
    settings.pop("mahrem", None)  # as a release writes it
    check.unknown_keys(
        (name for name in settings if not is_role_word(name)), tuple(release_settings()), where="setting"
    )
    strange = [name for name, value in settings.items() if not _is_plain(value)]
    if strange:
        raise Refused(422, "policy_values", names=", ".join(strange))
    return settings


def _refuse_deep(text: str) -> None:
    bare = _SAID.sub(lambda part: "" if part[0].startswith("#") else "_", text)
    depth = deepest = 0
    for sign in bare:
        depth += (sign in "[{") - (sign in "]}")
        deepest = max(deepest, depth)
    if deepest > _DEEPEST or _LONG_KEY.search(bare):
        raise Refused(422, "policy_too_deep", most=_DEEPEST)


def _is_plain(value: object) -> bool:
    """Say whether JSON has it: no date, no time, and no number without an end."""
    if isinstance(value, dict):
        return all(map(_is_plain, value.values()))
    if isinstance(value, list):
        return all(map(_is_plain, value))
    return isinstance(value, bool | int | str) or (isinstance(value, float) and math.isfinite(value))
