"""Jobs: processes of their own, stopped without a trace, and known again after a restart."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from subprocess import PIPE

import pytest

import mahrem
from mahrem.web import ServeSettings
from mahrem.web._errors import Refused
from mahrem.web._orders import JobLimits, JobOrder, JobRequest, TablePlace
from mahrem.web.bodies._models import SourceFacts
from mahrem.web.jobs._queue import JobEnd, JobQueue
from mahrem.web.jobs._runner import Runner, _end_rest
from mahrem.web.projects._store import ProjectStore
from web_server import Server, begin, serving


def gone(process: int, tries: int = 100) -> bool:
    for _ in range(tries):
        try:
            if Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.05)
    return False


def test_a_job_is_cancelled_and_nothing_of_it_stays(server: Server) -> None:
    project, job = server.slow_job()
    child = server.worker(job)
    assert os.getpgid(child) == child  # a group of its own: ending it ends nothing else
    assert os.getpriority(os.PRIO_PROCESS, child) > os.getpriority(os.PRIO_PROCESS, 0)
    limits = Path(f"/proc/{child}/limits").read_text()
    assert "unlimited" not in next(line for line in limits.splitlines() if line.startswith("Max data size"))
    assert server.client.post(f"/api/v1/jobs/{job}/cancel").status_code == 200
    ended = server.wait(job)
    assert (ended["state"], ended["error"]) == ("cancelled", None)
    assert gone(child)
    assert not (server.state / "projects" / project / f"job-{job}").exists()
    assert server.client.get(f"/api/v1/jobs/{job}/result").status_code == 409
    assert "Cancelled" in server.client.get(f"/projects/{project}/compare").text
    assert (
        server.client.post(f"/api/v1/jobs/{job}/cancel").json()["state"] == "cancelled"
    )  # once more, nothing


def test_a_server_that_is_killed_says_so_after_a_restart_and_leaves_no_half_release(tmp_path: Path) -> None:
    first = begin(tmp_path, "--workers", "1")
    project, job = first.slow_job()
    waiting = first.client.post(f"/api/v1/projects/{project}/run/anonymize").json()["job"]["id"]
    child = first.worker(job)
    folder = first.state / "projects" / project
    (folder / "upload-left").write_bytes(b"half")
    stage = folder / f"job-{job}" / ".release-half"
    stage.mkdir()
    (stage / "data.csv").write_text("age\n1\n")
    first.stop(signal.SIGKILL)
    assert gone(child)  # a job does not outlive its server
    with serving(tmp_path, "--workers", "1") as second:
        found = second.client.get(f"/api/v1/jobs/{job}").json()
        assert found["state"] == "interrupted"
        assert "stopped while this job was running" in found["error"]["message"]
        assert not (folder / f"job-{job}").exists()
        assert not (folder / "upload-left").exists()
        assert second.client.get(f"/api/v1/projects/{project}").json()["choices"]["subject"] == "patient_id"
        assert second.wait(waiting)["state"] == "done"  # what had not begun is done now
        assert second.client.get(f"/api/v1/projects/{project}/release/data.csv").status_code == 200
        permissions(second.state)


def permissions(state: Path) -> None:
    """Nobody else can look into anything, a release included."""
    for path in [state, *state.rglob("*")]:
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), path.name


def test_a_job_that_needs_too_much_memory_says_so_in_words(tmp_path: Path) -> None:
    with serving(tmp_path, "--job-memory", "40MB") as small:
        project = small.client.post("/api/v1/projects", json={}).json()["id"]
        answer = small.client.post(f"/api/v1/projects/{project}/source/demo")
        ended = small.wait(answer.json()["job"]["id"])
        assert (ended["state"], ended["error"]) == ("failed", Refused(500, "out_of_memory").detail)
        assert "more memory" in small.client.get(f"/projects/{project}/columns").text


def test_a_job_that_is_killed_from_outside_says_that_memory_is_the_likely_reason(server: Server) -> None:
    _, job = server.slow_job()
    child = server.worker(job)
    os.kill(child, signal.SIGKILL)  # what a system short of memory does
    ended = server.wait(job)
    assert (ended["state"], ended["error"]) == ("failed", Refused(500, "out_of_memory").detail)


def test_a_job_that_takes_too_long_is_stopped(tmp_path: Path) -> None:
    settings = ServeSettings(state=tmp_path / "state", job_minutes=0.1 / 60)
    store = ProjectStore(settings.state)
    queue = JobQueue(settings.state / "jobs.sqlite")
    runner = Runner(settings, store, queue)
    project = store.create("x")
    source = store.folder(project.id) / "source.csv"
    source.write_text("age\n1\n2\n")
    store.update(project.id, source=SourceFacts(kind="upload", label="x", file="source.csv"))
    runner.start()
    job = runner.submit(project.id, "inspect", JobRequest())
    for _ in range(200):
        if queue.get(job.id).state not in {"queued", "running"}:
            break
        time.sleep(0.05)
    runner.stop()
    store.close()
    found = queue.get(job.id)
    assert (found.state, found.error is not None and found.error.code) == ("failed", "took_too_long")


def test_a_job_that_holds_the_interpreter_does_not_outlive_its_server() -> None:
    job = "from mahrem.web.jobs._child import end_with_parent; end_with_parent(); "
    job += "print(1, flush=True); sum(iter(int, 1))"
    server = (
        "import subprocess, sys\n"
        f"child = subprocess.Popen([sys.executable, '-c', {job!r}], stdout=subprocess.PIPE)\n"
        "child.stdout.readline()\nprint(child.pid, flush=True)\nchild.wait()"
    )
    with subprocess.Popen([sys.executable, "-c", server], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert not gone(child, tries=1)
        parent.kill()
    assert gone(child)


def test_what_a_job_leaves_running_ends_with_it() -> None:
    command = ["/bin/sh", "-c", "trap '' TERM; sleep 60 >/dev/null & echo $!"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as child:
        assert child.stdout is not None
        left = int(child.stdout.readline())
        _end_rest(child)
        assert child.wait() == 0
    assert gone(left)


def test_stopping_the_server_stops_its_jobs(tmp_path: Path) -> None:
    running = begin(tmp_path)
    _, job = running.slow_job()
    child = running.worker(job)
    assert running.stop(signal.SIGINT) == 0
    assert gone(child)
    found = JobQueue(running.state / "jobs.sqlite").get(job)
    assert found.state == "interrupted"


def test_one_job_of_a_kind_at_a_time(server: Server) -> None:
    project, job = server.slow_job()
    again = server.client.post(f"/api/v1/projects/{project}/compare", json={})
    assert (again.status_code, again.json()["error"]["code"]) == (409, "already_running")
    server.client.post(f"/api/v1/jobs/{job}/cancel")
    server.wait(job)


def test_a_queue_hands_a_job_out_once_and_keeps_its_end(tmp_path: Path) -> None:
    queue = JobQueue(tmp_path / "jobs.sqlite")
    request = JobRequest(arguments={"a": 1})
    first, second = queue.add("p", "inspect", request), queue.add("p", "audit", JobRequest())
    taken = queue.take()
    assert taken is not None
    assert (taken[0].id, taken[1]) == (first.id, request)
    assert queue.finish(first.id, JobEnd("cancelled"))
    assert not queue.finish(first.id, JobEnd("done"))
    queue.step(first.id, "late words")
    assert (queue.get(first.id).state, queue.get(first.id).stage) == ("cancelled", "cancelled")
    taken = queue.take()
    assert taken is not None
    assert taken[0].id == second.id
    assert queue.take() is None
    assert [job.id for job in JobQueue(tmp_path / "jobs.sqlite").interrupt_all()] == [second.id]
    assert queue.get(second.id).state == "interrupted"


@pytest.mark.parametrize("wrong", ["..", "0" * 31, "g" * 32, "0" * 32, "a/../b"])
def test_only_ids_of_ours_name_a_folder(tmp_path: Path, wrong: str) -> None:
    store = ProjectStore(tmp_path / "state")
    with pytest.raises(Refused):
        store.folder(wrong)
    store.close()


@pytest.mark.parametrize("verb", ["inspect", "anonymize", "audit"])
def test_a_job_loads_nothing_of_the_server(verb: str, tmp_path: Path) -> None:
    table = tmp_path / "people.csv"
    mahrem.demo_patients(300).select("age", "zip").write_csv(table)
    order = JobOrder(
        verb=verb,
        folder=str(tmp_path / "job"),
        source=TablePlace(table=str(table)),
        request=JobRequest(settings={} if verb == "inspect" else {"quasi": ["age", "zip"], "k": 2}),
        limits=JobLimits(rows=1000, columns=10, memory=8_000_000_000, seconds=60),
    )
    order.place.mkdir()
    probe = (
        "import sys; from mahrem.web.jobs._child import main; status = main(); "
        "print(*{name.split('.')[0] for name in sys.modules}, file=sys.stderr); sys.exit(status)"
    )
    with subprocess.Popen([sys.executable, "-c", probe], stdin=PIPE, stdout=PIPE, stderr=PIPE) as job:
        assert job.stdin is not None
        assert job.stderr is not None
        job.stdin.write(order.as_line())
        job.stdin.flush()  # it ends with whoever holds the other end
        loaded = {*job.stderr.read().decode().split()}
    assert job.returncode == 0
    assert "polars" in loaded
    assert loaded.isdisjoint({"pydantic", "starlette", "uvicorn", "httpx"})
