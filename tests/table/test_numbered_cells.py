"""Files of text read column by column, each text once, against the reader of any file."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.arrays.weaving import _unravel
from mahrem.table.formats._text import CSV, TSV, TextFiles

CELLS = st.one_of(
    st.none(),
    st.sampled_from(["", "*", "[18, 25]", '"', '""', 'a "b"', "a\nb", "a\r\nb", "ü,ß", "a\tb", " ", "'=1"]),
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20),
)


@pytest.fixture(autouse=True)
def _little_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_unravel, "_SLOTS", 2)
    monkeypatch.setattr(_unravel, "_ROWS", 3)


def columns_of(files: TextFiles, path: Path, names: list[str]) -> pl.DataFrame | None:
    found = files.read_numbered(path, names, names)
    if found is None:
        return None
    assert found[0] == names
    return pl.DataFrame([cells.rows(cells.texts).alias(name) for name, cells in found[1].items()])


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(CELLS, CELLS, st.integers(0, 40).map(str)), min_size=1, max_size=12),
    st.sampled_from([CSV, TSV]),
)
def test_numbered_cells_are_what_any_reader_reads(
    rows: list[tuple[str | None, ...]], files: TextFiles
) -> None:
    table = pl.DataFrame(rows, schema=dict.fromkeys(["a", "b", "c"], pl.String), orient="row")
    with TemporaryDirectory() as folder:
        path = Path(folder, "file")
        with path.open("w+b") as stream:
            files.write(table, stream, Path(folder))
        _, wanted = files.read_back(path, table.columns)
        found = columns_of(files, path, table.columns)
        assert found is not None or "\r" in path.read_bytes().decode()
        assert found is None or found.equals(wanted.collect())


@pytest.mark.parametrize(
    "content", [b'a,b\n1,"2\n', b"a,b\n1,2,3\n", b"a,b\n1\n", b'a,b\n1,2"3"\n', b'a,b\n"1"2,3\n', b"a,b\n1,2"]
)
def test_what_is_not_written_so_is_left_to_others(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    assert CSV.read_numbered(path, ["a", "b"], ["b"]) is None
