"""Lists of common words that detectors compare with: names, titles, districts."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files


@cache
def read_lists() -> dict[str, str]:
    """Read the lists of the package, words with blanks between them."""
    return tomllib.loads(files("mahrem.contents").joinpath("lists.toml").read_text(encoding="utf-8"))
