"""Runs jobs: takes them from the queue, gives each a process, ends what is cancelled or takes too long."""

from __future__ import annotations

import json
import logging
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from mahrem.web._errors import Refused, refusal_of
from mahrem.web._orders import JobLimits, JobOrder, JobRequest
from mahrem.web._settings import ServeSettings
from mahrem.web.bodies import ErrorDetail, Job
from mahrem.web.jobs._outcomes import take_in
from mahrem.web.jobs._queue import JobEnd, JobQueue, interruption
from mahrem.web.jobs._warm import WarmTables
from mahrem.web.projects import ProjectStore, locate, now_words, refuse_another_table

_LOG = logging.getLogger("mahrem.web")
_GRACE = 3.0  # seconds between asking a process to end and ending it
_AGAIN = 2.0  # seconds before something that went wrong is tried again
_SWEEP = 30.0  # seconds between looks for raw data that is too old


class Runner:
    """The jobs of a server, each in a process and a process group of its own.

    Guarantees:
        - Only processes that were started here are ever ended.
        - A job that did not end well leaves no file behind.
    """

    def __init__(self, settings: ServeSettings, store: ProjectStore, queue: JobQueue) -> None:
        self.settings, self.store, self.queue = settings, store, queue
        self.warm = WarmTables(settings, store)
        self._wake = threading.Condition()
        self._children: dict[str, subprocess.Popen[bytes]] = {}
        self._ended: dict[str, JobEnd] = {}  # jobs we end, and what they become
        self._busy = 0
        self._stopping = False
        self._over = threading.Event()
        pause = min(_SWEEP, 360 * settings.keep_hours)  # a tenth of the time raw data may stay
        self._threads = [
            threading.Thread(target=self._keep_on, args=turn, name=turn[0], daemon=True)
            for turn in (("jobs", self._turn, 0.0), ("deletion", self.forget_old, pause))
        ]
        self._troubles: dict[str, str] = {}  # what does not work now, and since when

    def start(self) -> None:
        """Tidy up after a server that was killed, then begin."""
        for job in self.queue.interrupt_all():
            self._clear(job)
        self.store.clear_half_made()
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End what is running; it is noted as interrupted."""
        with self._wake:
            self._stopping = True
            for job_id in list(self._children):
                self._end(job_id, interruption())
            self._wake.notify_all()
        self._over.set()
        self.warm.stop()
        for thread in self._threads:
            thread.join(_GRACE * 3)

    def troubles(self) -> dict[str, str]:
        """Say what of ``jobs`` and ``deletion`` does not work now, and since when."""
        lost = {thread.name for thread in self._threads if not thread.is_alive() and not self._stopping}
        return {**dict.fromkeys(lost, ""), **self._troubles}

    def submit(self, project: str, verb: str, request: JobRequest) -> Job:
        """Queue a job."""
        job = self.queue.add(project, verb, request)
        with self._wake:
            self._wake.notify_all()
        return job

    def cancel(self, job_id: str) -> Job:
        """Stop a job, whether it waits or runs; a finished one stays as it is."""
        with self._wake:
            job = self.queue.get(job_id)
            if job.state == "queued":
                self.queue.finish(job_id, JobEnd("cancelled"))
            elif job.state == "running":
                self._end(job_id, JobEnd("cancelled"))
        return self.queue.get(job_id)

    def cancel_all(self, project: str) -> None:
        """Stop every job of a project and wait until none is running; its table is kept ready no more."""
        self.warm.end(project)
        for job in self.queue.active(project):
            self.cancel(job.id)
        deadline = time.monotonic() + _GRACE * 2
        while time.monotonic() < deadline:
            if not self.queue.active(project):
                return
            time.sleep(0.02)

    def _keep_on(self, name: str, turn: Callable[[], None], pause: float) -> None:
        """Do something again and again; whatever goes wrong is said, and tried again."""
        while not self._over.is_set() or (name == "jobs" and self._busy):
            wait = pause
            try:
                turn()
                self._troubles.pop(name, None)
            except Exception as error:  # noqa: BLE001 - no file, no thread, no memory, no disk: it may come back
                wait = min(pause, _AGAIN) or _AGAIN
                if name not in self._troubles:  # said once, not at every try
                    self._troubles[name] = now_words()
                    _LOG.error("%s: %s; trying again", name, type(error).__name__)
            self._over.wait(wait) if wait else None

    def _turn(self) -> None:
        """Begin the next job, or wait until there is one."""
        with self._wake:
            taken = self._next()
            self._troubles.pop("jobs", None)
            if taken is None:
                self._wake.wait(timeout=5.0)
                return
            self._busy += 1
        try:
            threading.Thread(target=self._run, args=taken, daemon=True).start()
        except BaseException:
            with self._wake:
                self._busy -= 1
            self.queue.put_back(taken[0].id)
            raise

    def _next(self) -> tuple[Job, JobRequest] | None:
        if self._busy >= self.settings.workers or self._stopping:
            return None
        return self.queue.take()

    def forget_old(self) -> None:
        """Remove raw data that nobody touched for too long."""
        self.warm.end_idle()
        hours = f"{self.settings.keep_hours:g}"
        before, projects = time.time() - self.settings.keep_hours * 3600, self.store.list()
        self.store.forget_unread({project.id for project in projects}, before)
        kept: Exception | None = None
        for project in projects:
            if project.source is None or project.touched >= before:
                continue
            try:
                self.cancel_all(project.id)
                self.store.forget_raw(project.id, f"{now_words()}: nobody used it for {hours} hours")
            except Refused:  # it is gone already
                continue
            except Exception as error:  # noqa: BLE001 - the others must still go
                kept = error
        if kept is not None:
            raise kept

    def _run(self, job: Job, request: JobRequest) -> None:
        try:
            end = self._work(job, request)
        except Exception as error:  # noqa: BLE001 - whatever it was, the job has to end
            _LOG.warning("a job failed to start: %s", type(error).__name__)
            end = JobEnd("failed", refusal_of(error))
        with self._wake:
            self._children.pop(job.id, None)
            ended = self._ended.pop(job.id, None)
            if ended is not None and end.state != "done":
                end = ended
        try:
            self._note(job, request, end)
        except Exception as error:  # noqa: BLE001 - the same
            self._clear(job)
            end = JobEnd("failed", refusal_of(error))
        try:
            self.queue.finish(job.id, end)
        finally:  # whatever happens, the next job has its turn
            with self._wake:
                self._busy -= 1
                self._wake.notify_all()

    def _note(self, job: Job, request: JobRequest, end: JobEnd) -> None:
        """Note in the project what became of a job."""
        if end.state == "done":
            refuse_another_table(self.store.get(job.project), request, self.settings)
            take_in(self.store, job, request)
            return
        self._clear(job)
        if job.verb == "inspect" and end.state == "failed" and end.error is not None:
            self.store.update(job.project, problem=ErrorDetail(**end.error.record), profile=None)

    def _work(self, job: Job, request: JobRequest) -> JobEnd:
        order = self._order(job, request)
        command = [sys.executable, "-P", "-m", "mahrem.web.jobs._child"]
        child = subprocess.Popen(  # noqa: S603 - our own module
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=order.folder,
            env={**os.environ, "TMPDIR": order.folder},
            start_new_session=True,
        )
        with self._wake:
            self._children[job.id] = child
            if self._stopping or job.id in self._ended:  # ended while it was about to begin
                self._end(job.id, interruption())
        too_long = threading.Timer(60 * self.settings.job_minutes, self._end_late, [job.id])
        too_long.daemon = True
        too_long.start()
        try:
            return self._watch(job, child, order)
        finally:
            too_long.cancel()
            _end_group(child, signal.SIGKILL)
            for pipe in (child.stdin, child.stdout):
                with suppress(OSError):
                    pipe.close()  # type: ignore[union-attr]

    def _watch(self, job: Job, child: subprocess.Popen[bytes], order: JobOrder) -> JobEnd:
        assert child.stdin is not None  # noqa: S101 - for the type checker
        assert child.stdout is not None  # noqa: S101 - the same
        error: Refused | None = None
        done = False
        with suppress(OSError):  # it may have died at once; its status says so
            child.stdin.write(order.as_line())
            child.stdin.flush()
        for line in child.stdout:
            news = json.loads(line)
            done = done or bool(news.get("done"))
            if "error" in news:
                error = Refused.read(500, news["error"])
            if "stage" in news:
                self.queue.step(job.id, news["stage"])
        _end_rest(child)
        status = child.wait()
        if done and status == 0:
            return JobEnd("done")
        if status < 0 or error is None:
            error = Refused(500, "out_of_memory")  # it could not even say why
        return JobEnd("failed", error)

    def _order(self, job: Job, request: JobRequest) -> JobOrder:
        settings, project = self.settings, self.store.get(job.project)
        refuse_another_table(project, request, settings)
        return JobOrder(
            verb=job.verb,
            folder=str(self.store.job_folder(job.project, job.id)),
            source=locate(project, self.store.folder(job.project), settings),
            request=request,
            limits=JobLimits(
                rows=settings.max_rows,
                columns=settings.max_columns,
                memory=settings.memory,
                seconds=60 * settings.job_minutes,
                disk=self.store.refuse_full(settings.disk),
            ),
        )

    def _end_late(self, job_id: str) -> None:
        minutes = self.settings.job_minutes
        with self._wake:
            self._end(job_id, JobEnd("failed", Refused(500, "took_too_long", minutes=minutes)))

    def _end(self, job_id: str, end: JobEnd) -> None:
        """End a running job; the thread that watches it notes what became of it."""
        child = self._children.get(job_id)
        self._ended.setdefault(job_id, end)
        if child is None:
            return
        _end_group(child, signal.SIGTERM)
        harder = threading.Timer(_GRACE, _end_group, [child, signal.SIGKILL])
        harder.daemon = True
        harder.start()

    def _clear(self, job: Job) -> None:
        with suppress(Exception):  # the project may be gone
            folder = self.store.folder(job.project)
            shutil.rmtree(folder / f"job-{job.id}", ignore_errors=True)
            for path in folder.glob(f"*-{job.id}*"):
                if path.is_file() and job.verb in {"hierarchy", "ledger"}:
                    path.unlink(missing_ok=True)


def _end_rest(child: subprocess.Popen[bytes]) -> None:
    """Wait for a child, and end what it leaves behind before its id can become another's."""
    with suppress(ChildProcessError, ProcessLookupError, PermissionError):
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        os.killpg(child.pid, signal.SIGKILL)


def _end_group(child: subprocess.Popen[bytes], number: int) -> None:
    """Signal a child that has not been waited for, and whatever it started; its id cannot be another's."""
    if child.poll() is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, number)
