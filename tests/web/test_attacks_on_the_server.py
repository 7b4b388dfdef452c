"""Who holds connections, fills a disk or changes a table meanwhile stops neither jobs nor deletion."""

from __future__ import annotations

import os
import resource
import socket
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from mahrem.errors import InvalidParameter
from mahrem.web._settings import ServeSettings, check_unread_by_others
from mahrem.web.bodies._models import SourceFacts
from mahrem.web.guard._connections import Connections
from mahrem.web.jobs._queue import JobQueue
from mahrem.web.jobs._runner import Runner
from mahrem.web.projects._store import ProjectStore
from web_server import Server, serving

HALF = b"GET /projects HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Half: "
TABLE = b"age,sex\n" + b"".join(b"%d,%s\n" % (20 + n % 40, (b"f", b"m")[n % 2]) for n in range(60))


def hold(server: Server, count: int) -> list[socket.socket]:
    """Open connections that send half a head and then nothing."""
    host, port = server.home.removeprefix("http://").split(":")
    held = []
    for _ in range(count):
        one = socket.create_connection((host, int(port)), timeout=5)
        one.sendall(HALF)
        held.append(one)
    return held


def closed(one: socket.socket) -> bool:
    one.settimeout(0)
    try:
        return one.recv(1) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


@pytest.fixture
def few_files() -> Any:
    """Servers that are started meanwhile may open few files."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (160, before[1]))
    yield lambda: resource.setrlimit(resource.RLIMIT_NOFILE, before)
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_half_open_connections_stop_neither_pages_nor_jobs_nor_deletion(
    tmp_path: Path, few_files: Any
) -> None:
    with serving(tmp_path, "--keep-hours", "0.006") as server:
        few_files()  # for us alone: a server keeps what it was started with
        project = server.project(TABLE)
        raw = next((server.state / "projects" / project).glob("source*"))
        held = hold(server, 300)
        for _ in range(5):  # somebody who came in before goes on, also by new connections
            assert (
                httpx.get(f"{server.home}/api/v1/projects", headers=server.client.headers).status_code == 200
            )
        other = server.project(TABLE)
        assert server.run(other, "run/estimate")["state"] == "done"
        assert server.client.get("/api/v1/health").json() == {"works": True, "troubles": {}}
        deadline = time.monotonic() + 90
        while raw.exists():
            assert time.monotonic() < deadline, "raw data outlived its time"
            time.sleep(0.5)
        assert all(closed(one) for one in held), "half sent requests are still held"
        for one in held:
            one.close()


def test_a_new_connection_takes_the_place_of_one_that_asks_for_nothing() -> None:
    connections = Connections(most=2)
    pairs = [socket.socketpair() for _ in range(4)]
    for number, (ours, _) in enumerate(pairs[:2]):
        connections.take(ours, ("::1", number, 0, 0))
    with connections.answering(("::1", 0), known=True):
        connections.take(pairs[2][0], ("::1", 2, 0, 0))
        assert [closed(theirs) for _, theirs in pairs[:3]] == [False, True, False]
        with connections.answering(("::1", 2), known=False):  # asks, but has not come in
            connections.take(pairs[3][0], ("::1", 3, 0, 0))
        assert [closed(theirs) for _, theirs in pairs] == [False, True, True, False]
    for one in (one for pair in pairs for one in pair):
        one.close()


def test_who_has_come_in_keeps_a_connection_that_rests() -> None:
    connections = Connections(most=2)
    pairs = [socket.socketpair() for _ in range(3)]
    for number, (ours, _) in enumerate(pairs[:2]):
        connections.take(ours, ("::1", number, 0, 0))
    with connections.answering(("::1", 0), known=True):
        pass  # and then it waits for the next page
    with connections.answering(("::1", 1), known=False):
        connections.take(pairs[2][0], ("::1", 2, 0, 0))
    assert [closed(theirs) for _, theirs in pairs] == [False, True, False]
    for one in (one for pair in pairs for one in pair):
        one.close()


@pytest.mark.parametrize("error", [OSError(24, "Too many open files"), MemoryError(), RuntimeError("thread")])
@pytest.mark.parametrize("where", ["take", "list"])
def test_jobs_and_deletion_outlive_any_error_and_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, where: str
) -> None:
    monkeypatch.setattr("mahrem.web.jobs._runner._SWEEP", 0.05)
    monkeypatch.setattr("mahrem.web.jobs._runner._AGAIN", 0.05)
    settings = ServeSettings(state=tmp_path / "state", keep_hours=1e-6)
    store, queue = ProjectStore(settings.state), JobQueue(settings.state / "jobs.sqlite")
    owner = queue if where == "take" else store
    works, broken = getattr(owner, where), threading.Event()
    broken.set()

    def sometimes() -> Any:
        if broken.is_set():
            raise error
        return works()

    monkeypatch.setattr(owner, where, sometimes)
    runner = Runner(settings, store, queue)
    project = store.create("test").id
    runner.start()
    trouble = {"take": "jobs", "list": "deletion"}[where]
    wait_until(lambda: trouble in runner.troubles())
    broken.clear()
    with runner._wake:
        runner._wake.notify_all()
    wait_until(lambda: not runner.troubles())
    with store.receiving(project) as file:
        file.write(TABLE)
        kept = store.keep(project, file, "source.csv")
    store.update(project, source=SourceFacts(kind="upload", label="t", file=kept))
    wait_until(lambda: not list(store.folder(project).glob("source*")))
    runner.stop()
    store.close()


def wait_until(true: Any, seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_job_that_waits_never_meets_another_table(tmp_path: Path) -> None:
    with serving(tmp_path, "--workers", "1") as server:
        project = server.project(TABLE)
        _, slow = server.slow_job()
        waiting = server.begin(project, "run/estimate")
        answer = server.client.put(
            f"/api/v1/projects/{project}/source", params={"name": "b.csv"}, content=TABLE.replace(b"2", b"9")
        )
        assert answer.status_code == 202
        server.client.post(f"/api/v1/jobs/{slow}/cancel")
        ended = server.wait(waiting)
        assert (ended["state"], ended["error"]["code"]) == ("failed", "another_table")


def test_a_file_that_changes_after_it_was_looked_at_is_not_published(
    server: Server, folder_of_tables: str
) -> None:
    path = Path(folder_of_tables) / "changing.csv"
    path.write_bytes(TABLE)
    project = server.client.post("/api/v1/projects", json={"name": "test"}).json()["id"]
    place = f"/api/v1/projects/{project}/source/path"
    opened = server.client.post(place, json={"folder": 0, "path": path.name})
    assert opened.status_code == 202, opened.text
    assert server.wait(opened.json()["job"]["id"])["state"] == "done"
    path.write_bytes(TABLE.replace(b"f", b"g"))
    refused = server.client.post(f"/api/v1/projects/{project}/run/estimate")
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "another_table")
    path.unlink()


def test_by_default_all_workers_together_fit_this_machine() -> None:
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert ServeSettings(workers=4).memory * 4 < machine
    assert ServeSettings(job_memory=10**9).memory == 10**9


def test_a_tls_key_that_others_can_read_is_refused(tmp_path: Path) -> None:
    key = tmp_path / "key.pem"
    key.write_text("secret")
    key.chmod(0o644)
    with pytest.raises(InvalidParameter, match="can be read by others"):
        check_unread_by_others("key", key)
    key.chmod(0o600)
    check_unread_by_others("key", key)


def test_the_key_for_scripts_is_another_one_after_every_start(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        first = (server.state / "api-key").read_text()
    with serving(tmp_path) as server:
        assert (server.state / "api-key").read_text() != first
        old = httpx.get(f"{server.home}/api/v1/projects", headers={"authorization": f"Bearer {first}"})
        assert old.status_code == 401


def test_sessions_are_listed_and_ended(tmp_path: Path) -> None:
    with serving(tmp_path) as server, server.browser() as browser:
        assert browser.get(server.start).status_code == 200
        assert browser.get("/projects").status_code == 200
        (session,) = server.client.get("/api/v1/sessions").json()["sessions"]
        assert session["way"] == "token"
        assert server.client.delete(f"/api/v1/sessions/{session['id']}").json() == {"sessions": []}
        assert browser.get("/projects").status_code == 401
        assert server.client.delete(f"/api/v1/sessions/{session['id']}").status_code == 404


def test_a_column_that_does_not_exist_is_not_found(server: Server) -> None:
    project = server.project(TABLE)
    for number in (-9999, -1, 2, 10**9):
        for place in (f"/projects/{project}", f"/api/v1/projects/{project}"):
            assert server.client.get(f"{place}/hierarchies/{number}").status_code in {404, 422}
