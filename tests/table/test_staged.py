"""Files that appear whole or not at all."""

from __future__ import annotations

import resource
from pathlib import Path

import polars as pl
import pytest

from mahrem.errors import OutputFailed
from mahrem.table._staged import appearing


def test_a_full_disk_is_said_in_the_words_of_the_system_and_nothing_is_left(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))  # no file may grow beyond it
    try:
        with (
            pytest.raises(OutputFailed, match="File too large"),
            appearing(tmp_path / "people.csv") as stream,
        ):
            pl.DataFrame({"number": range(100_000)}).write_csv(stream)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list(tmp_path.iterdir()) == []
