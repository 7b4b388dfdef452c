"""What is kept, for how long, and what is written down about it."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path

import pytest

from mahrem.web import ServeSettings
from mahrem.web._orders import JobRequest
from mahrem.web.bodies._models import SourceFacts
from mahrem.web.bodies._release_bodies import ColumnChoice, Columns
from mahrem.web.jobs._queue import JobEnd, JobQueue
from mahrem.web.jobs._runner import Runner
from mahrem.web.projects._store import ProjectStore
from web_server import Server


def test_folders_are_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        store = ProjectStore(tmp_path / "state")
        project = store.create("x")
        with store.receiving(project.id) as file:
            file.write(b"age\n1\n")
            store.keep(project.id, file, "source.csv")
        JobQueue(tmp_path / "state" / "jobs.sqlite").add(project.id, "inspect", JobRequest())
        store.job_folder(project.id, "0" * 32)
    finally:
        os.umask(before)
    for path in [tmp_path / "state", *(tmp_path / "state").rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path.name
    store.close()


def test_an_upload_that_breaks_off_leaves_nothing(tmp_path: Path) -> None:
    store = ProjectStore(tmp_path)
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
    store = ProjectStore(settings.state)
    runner = Runner(settings, store, JobQueue(settings.state / "jobs.sqlite"))
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


def test_old_data_goes_even_if_that_of_another_project_cannot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = ServeSettings(state=tmp_path / "state", keep_hours=1)
    store = ProjectStore(settings.state)
    runner = Runner(settings, store, JobQueue(settings.state / "jobs.sqlite"))
    made = [store.create("old") for _ in range(2)]
    for project in made:
        source = SourceFacts(kind="upload", label="x", file="source.csv")
        store._write(project.model_copy(update={"source": source, "touched": 0.0}))
    listed = store.list()
    store.remove(listed[0].id)  # removed between the look at it and its turn
    monkeypatch.setattr(store, "list", lambda: listed)
    runner.forget_old()
    assert store.get(listed[1].id).source is None
    store.close()


def test_old_data_goes_even_if_its_project_cannot_be_read(tmp_path: Path) -> None:
    settings = ServeSettings(state=tmp_path / "state", keep_hours=1)
    store = ProjectStore(settings.state)
    runner = Runner(settings, store, JobQueue(settings.state / "jobs.sqlite"))
    old, new = (store.folder(store.create("x").id) for _ in range(2))
    for folder in (old, new):
        (folder / "source.csv").write_text("age\n1\n")
        (folder / "project.json").write_text("{}")  # of another version, or torn by a crash
    os.utime(old / "project.json", (0, 0))
    runner.forget_old()
    assert [(folder / "source.csv").exists() for folder in (old, new)] == [False, True]
    store.close()


def test_orders_list_values_so_they_go_with_the_raw_data(tmp_path: Path) -> None:
    store = ProjectStore(tmp_path)
    project = store.create("x").id
    choice = ColumnChoice(role="quasi", kind="ordinal", order=["Zyxwvut", "high"])
    store.update(project, choices=Columns(columns={"level": choice}))
    after = store.forget_raw(project, "asked").choices
    assert after is not None
    assert after.columns == {"level": ColumnChoice(role="quasi", kind="ordinal")}
    assert b"Zyxwvut" not in (store.folder(project) / "project.json").read_bytes()
    store.close()


def test_a_project_that_was_half_removed_is_gone_after_the_next_start(tmp_path: Path) -> None:
    store = ProjectStore(tmp_path)
    kept, half = store.create("kept"), store.create("half")
    folder = store.folder(half.id)
    (folder / "source.csv").write_text("age\n1\n")
    (folder / "project.json").unlink()  # the first thing to go when a project is removed
    store.clear_half_made()
    assert [path.name for path in folder.parent.iterdir()] == [kept.id]
    store.close()


def test_what_a_finished_job_was_told_is_nowhere_in_the_queue(tmp_path: Path) -> None:
    queue = JobQueue(tmp_path / "jobs.sqlite")
    request = JobRequest(arguments={"question": "count() where name = 'Zyxwvut'"})
    first, second = queue.add("p", "query", request), queue.add("p", "query", request)
    assert queue.take() is not None
    queue.finish(first.id, JobEnd("done"))
    queue.finish(second.id, JobEnd("cancelled"))
    for path in tmp_path.iterdir():
        assert b"Zyxwvut" not in path.read_bytes(), path.name


def test_a_state_folder_may_be_named_from_where_one_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store = ProjectStore(Path("state"))
    folder = store.folder(store.create("x").id)
    store.close()
    assert folder.is_relative_to(tmp_path)  # a job, which runs elsewhere, finds it


def test_no_value_no_name_and_no_token_is_written_to_the_log(server: Server) -> None:
    secret = "Zyxwvut"
    project = server.project(f"age,{secret}col\n31,{secret}\n32,{secret}2\n".encode(), f"{secret}.csv")
    server.client.put(f"/api/v1/projects/{project}/source", content=f"a,b\n{secret},1,2\n".encode())
    server.client.put(f"/api/v1/projects/{project}/columns", json={"columns": {secret: {"role": "quasi"}}})
    server.client.get(f"/nowhere/{secret}", params={"token": secret})
    before = server.log.read_text().count("GET /start")
    server.client.get("/start", params={"token": secret})
    with server.browser() as stranger:
        stranger.get(f"{server.start}x")  # the token itself is for another test
    until = time.monotonic() + 20
    while (log := server.log.read_text()).count("GET /start") < before + 2 and time.monotonic() < until:
        time.sleep(0.05)
    assert "/api/v1/projects/{project}/columns" in log
    token = server.start.partition("token=")[2]
    for word in (secret, project, token, str(server.client.headers["authorization"]).split()[1]):
        assert word not in log


def test_a_refusal_does_not_repeat_what_was_said(server: Server) -> None:
    answer = server.client.put(f"/api/v1/projects/{'0' * 32}/promises", json={"k": "Zyxwvut"})
    assert answer.status_code == 422
    assert "Zyxwvut" not in answer.text
