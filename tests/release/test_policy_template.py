"""The commented template: every setting in it, explained, and true when uncommented."""

from __future__ import annotations

import tomllib

import pytest

from mahrem.release.decisions import policy_template, release_settings
from mahrem.settings import read_settings
from mahrem.words import LANGUAGES


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_setting_stands_in_the_template_and_reads_when_uncommented(language: str) -> None:
    known = release_settings()
    seen = set()
    for line in policy_template(language).splitlines():
        key, mark, _ = line.removeprefix("# ").partition(" = ")
        if not line.startswith("# ") or not mark or key not in known:
            assert line == "" or line.startswith("# ")
            continue
        given = tomllib.loads(line.removeprefix("# "))
        assert list(given) == [key]
        read_settings(known, given)
        seen.add(key)
    assert seen == set(known)
