"""What is kept, for how long, and what is written down about it."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path

import pytest

from mahrem.web import ServeSettings
from mahrem.web._models import SourceFacts
from mahrem.web._queue import Queue
from mahrem.web._runner import Runner
from mahrem.web._store import Store
from web_server import Server


def test_folders_are_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        store = Store(tmp_path / "state")
        project = store.create("x")
        with store.receiving(project.id) as file:
            file.write(b"age\n1\n")
            store.keep(project.id, file, "source.csv")
        Queue(tmp_path / "state" / "jobs.sqlite").add(project.id, "inspect", {})
        store.job_folder(project.id, "0" * 32)
    finally:
        os.umask(before)
    for path in [tmp_path / "state", *(tmp_path / "state").rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path.name
    store.close()


def test_an_upload_that_breaks_off_leaves_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path)
    project = store.create("x")
    with pytest.raises(ConnectionError), store.receiving(project.id) as file:
        file.write(b"age\n")
        raise ConnectionError
    assert [path.name for path in store.folder(project.id).iterdir()] == ["project.json"]
    store.close()


def test_raw_data_is_removed_on_request_and_the_rest_stays(server: Server) -> None:
    project = server.project(b"age,sex\n" + b"31,f\n32,m\n" * 20)
    folder = server.state / "projects" / project
    tree = {"label": "*", "children": [{"label": "f"}, {"label": "m"}]}
    assert (
        server.client.put(f"/api/v1/projects/{project}/hierarchies/1", json={"tree": tree}).status_code == 200
    )
    assert len(list(folder.glob("hierarchy-*"))) == 1
    after = server.client.delete(f"/api/v1/projects/{project}/source").json()
    assert after["source"] is None
    assert "you asked for it" in after["removed"]
    assert not list(folder.glob("source*"))
    assert not list(folder.glob("hierarchy-*"))
    assert server.client.post(f"/api/v1/projects/{project}/run/audit").json()["error"]["code"] == "no_table"
    assert server.client.delete(f"/api/v1/projects/{project}").status_code == 204
    assert not folder.exists()
    assert server.client.get(f"/api/v1/projects/{project}").status_code == 404


def test_raw_data_nobody_used_is_removed_after_a_set_time(tmp_path: Path) -> None:
    settings = ServeSettings(state=tmp_path / "state", keep_hours=1)
    store = Store(settings.state)
    runner = Runner(settings, store, Queue(settings.state / "jobs.sqlite"))
    old, new = store.create("old"), store.create("new")
    for project in (old, new):
        (store.folder(project.id) / "source.csv").write_text("age\n1\n")
        store.update(project.id, source=SourceFacts(kind="upload", label="x", file="source.csv"))
    kept = store.get(old.id).model_copy(update={"touched": time.time() - 3700})
    store._write(kept)
    runner.forget_old()
    assert store.get(old.id).source is None
    assert "1 hours" in (store.get(old.id).removed or "")
    assert not (store.folder(old.id) / "source.csv").exists()
    assert (store.folder(new.id) / "source.csv").exists()
    store.close()


def test_no_value_no_name_and_no_token_is_written_to_the_log(server: Server) -> None:
    secret = "Zyxwvut"
    project = server.project(f"age,{secret}col\n31,{secret}\n32,{secret}2\n".encode(), f"{secret}.csv")
    server.client.put(f"/api/v1/projects/{project}/source", content=f"a,b\n{secret},1,2\n".encode())
    server.client.put(f"/api/v1/projects/{project}/columns", json={"columns": {secret: {"role": "quasi"}}})
    server.client.get(f"/nowhere/{secret}", params={"token": secret})
    server.client.get("/start", params={"token": secret})
    with server.browser() as stranger:
        stranger.get(server.start)
    time.sleep(0.2)
    log = server.log.read_text()
    assert "/api/v1/projects/{project}/columns" in log
    token = server.start.partition("token=")[2]
    for word in (secret, project, token, str(server.client.headers["authorization"]).split()[1]):
        assert word not in log


def test_a_refusal_does_not_repeat_what_was_said(server: Server) -> None:
    answer = server.client.put(f"/api/v1/projects/{'0' * 32}/promises", json={"k": "Zyxwvut"})
    assert answer.status_code == 422
    assert "Zyxwvut" not in answer.text
