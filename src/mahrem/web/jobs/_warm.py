"""Tables that are kept ready: a process for each project that is being explored, ended when nobody asks."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field

from mahrem.web._errors import Refused
from mahrem.web._orders import JobLimits, JobOrder, JobRequest, Json
from mahrem.web._settings import ServeSettings
from mahrem.web.bodies import Project
from mahrem.web.projects import ProjectStore, locate, mark_of, needs_source

_MOST = 2  # projects at a time
_IDLE = 300.0  # seconds after which a table is let go
_PATIENCE = 60.0  # seconds for an answer, the reading of the table included
_SHARE = 4  # of them all: the part of a job's memory that each may use


@dataclass
class _Warm:
    """A process that holds a table."""

    process: subprocess.Popen[bytes]
    key: str  # which table, read how
    lock: threading.Lock = field(default_factory=threading.Lock)
    asked: Counter[str] = field(default_factory=Counter)  # by kind of question: how often
    used: float = field(default_factory=time.monotonic)


class WarmTables:
    """Tables of projects, each ready in a process of its own.

    Guarantees:
        - No more than two are held, each within its share of memory, none longer than five minutes unasked.
        - Of several questions of a kind only the newest is answered; the others are refused at once.
        - A table that was replaced or forgotten is let go.
    """

    def __init__(self, settings: ServeSettings, store: ProjectStore) -> None:
        self.settings, self.store = settings, store
        self._lock = threading.Lock()
        self._warm: dict[str, _Warm] = {}

    def ask(self, project: Project, question: Json) -> Json:
        """Ask about a project's table.

        Args:
            project: The project; its table is opened if it is not open.
            question: ``verb``, ``settings`` of a release, and what else the verb takes.

        Raises:
            Refused: What the answer is instead, or that a newer question came.
        """
        kind = str(question["verb"])
        with self._lock:
            warm = self._of(project)
            warm.asked[kind] += 1
            mine = warm.asked[kind]
        with warm.lock:
            if warm.asked[kind] != mine:
                raise Refused(409, "superseded")
            warm.used = time.monotonic()
            try:
                answer = self._answer(warm, question)
            except BaseException:
                self._end(warm)
                raise
        if "error" in answer:
            raise Refused.read(409, answer["error"])
        reply: Json = answer["answer"]
        return reply

    def end(self, project: str) -> None:
        """Let the table of a project go."""
        with self._lock:
            warm = self._warm.pop(project, None)
        if warm is not None:
            self._end(warm)

    def end_idle(self, seconds: float = _IDLE) -> None:
        """Let go what nobody asked about for some time."""
        before = time.monotonic() - seconds
        for project, warm in list(self._warm.items()):
            if warm.used < before and not warm.lock.locked():
                self.end(project)

    def stop(self) -> None:
        """Let everything go."""
        for project in list(self._warm):
            self.end(project)

    def _of(self, project: Project) -> _Warm:
        key = f"{mark_of(needs_source(project), self.settings)}\n{project.reading.model_dump_json()}"
        warm = self._warm.get(project.id)
        if warm is not None and warm.key == key and warm.process.poll() is None:
            return warm
        if warm is not None:
            self._end(self._warm.pop(project.id))
        while len(self._warm) >= _MOST:
            self._end(self._warm.pop(min(self._warm, key=lambda one: self._warm[one].used)))
        self._warm[project.id] = self._start(project, key)
        return self._warm[project.id]

    def _start(self, project: Project, key: str) -> _Warm:
        folder, settings = self.store.folder(project.id), self.settings
        order = JobOrder(
            verb="explore",
            folder=str(folder),
            source=locate(project, folder, settings),
            request=JobRequest(source=key),
            limits=JobLimits(
                rows=settings.max_rows,
                columns=settings.max_columns,
                memory=settings.memory // _SHARE,
                seconds=60 * settings.job_minutes,
            ),
        )
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "mahrem.web.jobs._warm_child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            start_new_session=True,
            bufsize=0,
        )
        warm = _Warm(process, key)
        with suppress(OSError):  # it may have died at once; whoever asks will hear so
            _write(process, order.as_line())
        return warm

    def _answer(self, warm: _Warm, question: Json) -> Json:
        try:
            _write(warm.process, json.dumps(question).encode() + b"\n")
            line = _read_line(warm.process, _PATIENCE)
        except OSError:
            line = b""
        if line is None:
            raise Refused(409, "took_too_long", minutes=_PATIENCE / 60)
        if not line:
            raise Refused(409, "out_of_memory")  # it could not even say why
        answer: Json = json.loads(line)
        return answer

    def _end(self, warm: _Warm) -> None:
        with suppress(OSError):
            warm.process.kill()
        for pipe in (warm.process.stdin, warm.process.stdout):
            with suppress(OSError):
                pipe.close()  # type: ignore[union-attr]
        warm.process.wait()


def _write(process: subprocess.Popen[bytes], line: bytes) -> None:
    assert process.stdin is not None  # noqa: S101 - for the type checker
    while line:
        line = line[process.stdin.write(line) or 0 :]


def _read_line(process: subprocess.Popen[bytes], seconds: float) -> bytes | None:
    """Read one line; nothing where the process ended, None where it takes too long."""
    assert process.stdout is not None  # noqa: S101 - for the type checker
    deadline, line = time.monotonic() + seconds, b""
    while not line.endswith(b"\n"):
        ready, _, _ = select.select([process.stdout], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            return None
        block = os.read(process.stdout.fileno(), 1 << 16)
        if not block:
            return b""
        line += block
    return line
