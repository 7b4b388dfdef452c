"""A real server in a process of its own, for tests."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

WAITING = ("queued", "running")
# As ``python -m mahrem``, but a shell that runs us in the background has it ignore ctrl-C.
HEEDING = """
import runpy, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
runpy.run_module("mahrem", run_name="__main__", alter_sys=True)
"""


@dataclass
class Server:
    """A running ``mahrem serve`` and a client that has come in with the key for scripts."""

    process: subprocess.Popen[bytes]
    state: Path
    log: Path
    start: str
    home: str
    client: httpx.Client = field(repr=False)
    slow: str | None = None

    def browser(self) -> httpx.Client:
        """A client that has nothing yet but says where it comes from, as browsers do."""
        headers = {"origin": self.home, "accept": "text/html"}
        return httpx.Client(base_url=self.home, headers=headers, timeout=30)

    def project(self, content: bytes | None = None, name: str = "people.csv") -> str:
        """A project with a table: fictional patients, or what is given."""
        project: str = self.client.post("/api/v1/projects", json={"name": "test"}).json()["id"]
        place = f"/api/v1/projects/{project}/source"
        if content is None:
            answer = self.client.post(f"{place}/demo")
        else:
            answer = self.client.put(place, params={"name": name}, content=content)
        assert answer.status_code == 202, answer.text
        looked = self.wait(answer.json()["job"]["id"])
        assert looked["state"] == "done", looked["error"]
        return project

    def run(self, project: str, what: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """Start a job and wait for its end."""
        return self.wait(self.begin(project, what, body))

    def begin(self, project: str, what: str, body: dict[str, Any] | None = None) -> str:
        """Start a job."""
        answer = self.client.post(f"/api/v1/projects/{project}/{what}", json=body)
        assert answer.status_code == 202, answer.text
        job: str = answer.json()["job"]["id"]
        return job

    def wait(self, job: str, states: tuple[str, ...] = WAITING, seconds: float = 60) -> dict[str, Any]:
        """Wait until a job is in none of the states."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            found: dict[str, Any] = self.client.get(f"/api/v1/jobs/{job}").json()
            if found["state"] not in states:
                return found
            time.sleep(0.05)
        raise AssertionError(f"the job is still {found['state']}: {found['stage']}")

    def slow_job(self) -> tuple[str, str]:
        """A project, always the same, and a job on it that runs for minutes if nobody stops it."""
        project = self.slow = self.slow or self.project()
        body = {"methods": ["kanonymeans*"], "budget": None}
        answer = self.client.post(f"/api/v1/projects/{project}/compare", json=body)
        assert answer.status_code == 202, answer.text
        started = answer.json()["job"]["id"]
        deadline = time.monotonic() + 30
        while self.client.get(f"/api/v1/jobs/{started}").json()["stages"] < 2:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        return project, started

    def worker(self, job: str) -> int:
        """The process that works on a job: the child of the server that runs in the job's own folder."""
        (found,) = [child for child in self.children() if _where(child).endswith(f"/job-{job}")]
        return found

    def warm(self) -> set[int]:
        """The processes that keep a table ready for tries of the explorer."""
        return {child for child in self.children() if "_warm_child" in _command(child)}

    def children(self) -> list[int]:
        """All processes the server started and that still run."""
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    parent = (entry / "stat").read_text().rsplit(")", 1)[1].split()[1]
                except OSError:
                    continue
                if int(parent) == self.process.pid:
                    found.append(int(entry.name))
        return found

    def stop(self, number: int = signal.SIGINT) -> int:
        """End the server and give its exit code."""
        self.client.close()
        if self.process.poll() is None:
            self.process.send_signal(number)
        code = self.process.wait(20)
        if self.process.stdout is not None:
            self.process.stdout.close()
        return code


def begin(folder: Path, *options: str) -> Server:
    """Start a server on a free port of the loopback address."""
    folder.mkdir(parents=True, exist_ok=True)
    state, log = folder / "state", folder / "stderr"
    command = [sys.executable, "-c", HEEDING, "serve", "--no-open", "--port", "0", "--state", str(state)]
    environment = {**os.environ, "MAHREM_STATE": str(folder / "own"), "PYTHONUNBUFFERED": "1"}
    with log.open("ab") as errors:
        process = subprocess.Popen(
            [*command, *options],
            stdout=subprocess.PIPE,
            stderr=errors,
            env=environment,
        )
    printed = ""
    assert process.stdout is not None
    while not (found := re.search(r"(https?://[^/\s]+)/\S+", printed)):
        ready, _, _ = select.select([process.stdout], [], [], 30)
        line = os.read(process.stdout.fileno(), 4096) if ready else b""
        assert line, f"the server did not start: {log.read_text()}"
        printed += line.decode()
    key = (state / "api-key").read_text()
    headers = {"authorization": f"Bearer {key}"}
    client = httpx.Client(base_url=found[1], headers=headers, timeout=30, verify=False)  # noqa: S501 - our own
    return Server(process, state, log, found[0], found[1], client)


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[Server]:
    """A server for one block."""
    server = begin(folder, *options)
    try:
        yield server
    finally:
        server.stop()


def _command(process: int) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_text()
    except OSError:  # it ended meanwhile
        return ""


def _where(process: int) -> str:
    try:
        return str(Path(f"/proc/{process}/cwd").readlink())
    except OSError:
        return ""
