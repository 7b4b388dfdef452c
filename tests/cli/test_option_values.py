from __future__ import annotations

import pytest

from mahrem.cli._options import _value


@pytest.mark.parametrize(
    ("text", "value"),
    [("false", False), ("True", True), ("5", 5), ("0.5", 0.5), ("1e3", 1000.0), ("no", "no"), ("lof", "lof")],
)
def test_an_option_is_read_as_what_it_looks_like(text: str, value: object) -> None:
    read = _value(text)
    assert read == value
    assert type(read) is type(value)
