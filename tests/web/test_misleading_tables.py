"""Whoever presses the main buttons alone publishes nothing that identifies, whatever columns are called."""

from __future__ import annotations

from io import BytesIO
from zipfile import ZipFile

import polars as pl

from everyday_columns import MADE_COARSER, telling_table
from misleading import IDENTIFYING, misleading_table
from web_server import Server


def test_the_suggestions_of_the_page_publish_nothing_that_identifies(server: Server) -> None:
    table = misleading_table(200)
    written = _written(server, table)
    for column in (*IDENTIFYING, "b"):
        assert not [value for value in table[column].unique() if str(value) in written], column


def test_the_suggestions_of_the_page_publish_nothing_that_tells_of_somebody(server: Server) -> None:
    table, kinds = telling_table(seed=3)
    some = list(kinds)[:16]  # a page takes twenty columns at most
    written = _written(server, table.select(*some, "age", "dx"))
    for name, what in ((name, kinds[name]) for name in some):
        if what not in MADE_COARSER | {"months of birth"}:  # ranges begin with days and months too
            assert not [value for value in table[name].unique() if len(value) > 7 and value in written], what


def _written(server: Server, table: pl.DataFrame) -> str:
    """Press the main buttons, and give all that is published and shown then."""
    project = server.project(table.write_csv().encode())
    done = server.run(project, "run/anonymize")
    assert (done["state"], done["error"]) == ("done", None)
    archive = ZipFile(BytesIO(server.client.get(f"/api/v1/projects/{project}/release.zip").content))
    written = "".join(archive.read(name).decode() for name in archive.namelist())
    return written + server.client.get(f"/projects/{project}/result").text
