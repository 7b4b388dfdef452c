"""Whoever presses the main buttons alone publishes nothing that identifies, whatever columns are called."""

from __future__ import annotations

from io import BytesIO
from zipfile import ZipFile

from misleading import IDENTIFYING, misleading_table
from web_server import Server


def test_the_suggestions_of_the_page_publish_nothing_that_identifies(server: Server) -> None:
    table = misleading_table(200)
    project = server.project(table.write_csv().encode())
    done = server.run(project, "run/anonymize")
    assert (done["state"], done["error"]) == ("done", None)
    archive = ZipFile(BytesIO(server.client.get(f"/api/v1/projects/{project}/release.zip").content))
    written = "".join(archive.read(name).decode() for name in archive.namelist())
    written += server.client.get(f"/projects/{project}/result").text
    for column in (*IDENTIFYING, "b"):
        assert not [value for value in table[column].unique() if str(value) in written], column
