"""Start and stop Spark: quiet, on loopback where it is local, and with clear words when it cannot run."""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from mahrem import check
from mahrem.errors import InvalidInput, InvalidParameter, MissingExtra
from mahrem.files import StageFolder
from mahrem.spark._errors import worker_error
from mahrem.spark._settings import BATCHES, NEEDED, is_here, settings_here

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OLDEST_JAVA = 17
Result = TypeVar("Result")
_FOLDERS: dict[str, StageFolder] = {}  # scratch folder of each application we started


def is_remote(master: str) -> bool:
    """Say whether a master is reached through Spark Connect."""
    return master.startswith("sc://")


def address_of(master: str) -> str:
    """Give a master for messages: what follows its address may be a token."""
    return master.partition(";")[0].rstrip("/")


def java_version() -> int | None:
    """Give the number of the Java that Spark would start; None without one."""
    home = os.environ.get("JAVA_HOME")
    program = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if program is None:
        return None
    try:
        asked = [program, "-version"]
        answer = subprocess.run(asked, capture_output=True, text=True, timeout=20, check=False)  # noqa: S603 - the user's own Java
    except (OSError, subprocess.TimeoutExpired):
        return None
    number = re.search(r'version "(?:1\.)?(\d+)', answer.stderr)
    return int(number.group(1)) if number else None


def start(
    master: str = "local[*]",
    *,
    memory: str | None = None,
    settings: Mapping[str, str] | None = None,
    wait: float = 60.0,
) -> Any:
    """Start a session, and make sure that its workers can do our work.

    Args:
        master: ``local[2]``, ``spark://host:port``, ``yarn``, ``k8s://…``, or ``sc://host:port`` for a
            server of Spark Connect.
        memory: Of the driver and of every executor; None for what ``spark-defaults.conf`` says, else 2g.
        settings: Spark's own settings; they win over ours. ``spark-defaults.conf`` wins over those of ours
            that only make it quick, not over those that keep data private.
        wait: Seconds until a master or its workers must have answered.

    Raises:
        MissingExtra: Without PySpark, a Java that it runs on, or what the workers need.
        InvalidInput: If the master or its workers do not answer, or run another Python.
        InvalidParameter: If the master is not written as one.
    """
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise check.extra("spark", needed_for="engine='spark'") from None  # noqa: S610 - not that extra
    _reachable(master, wait)
    if is_remote(master):
        builder = SparkSession.builder.remote(master)
        session = _within(wait, builder.getOrCreate, f"master={address_of(master)!r}")
        for name, value in {**NEEDED, **BATCHES, **(settings or {})}.items():
            with contextlib.suppress(Exception):  # a server may keep some of its settings to itself
                session.conf.set(name, value)
    else:
        _usable_java()
        session = _start_here(SparkSession, master, memory, settings or {}, wait)
    try:
        probe(session, wait)
    except BaseException:
        stop(session)
        raise
    return session


def stop(session: SparkSession) -> None:
    """Stop a session and remove its scratch folder."""
    name = None
    with contextlib.suppress(Exception):  # a lost cluster cannot say goodbye
        name = None if is_connected(session) else session.sparkContext.applicationId
        session.stop()
    folder = _FOLDERS.pop(name or "", None)
    if folder is not None:
        folder.remove()


def probe(session: SparkSession, wait: float) -> None:
    """Run a tiny job, so that a worker that cannot do the work is found before the work begins."""

    def look() -> Any:
        shown = session.range(0, 2, 1, 2).mapInArrow(_describe, "python string, mahrem string")
        return shown.collect()

    try:
        rows = _within(wait, look, "workers", lambda: _cancel(session))
    except InvalidInput:
        raise
    except Exception as error:  # noqa: BLE001 - whatever a worker may raise
        raise worker_error(str(error)) from None
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    for row in rows:
        if row.python != python:
            raise InvalidInput(f"workers run Python {row.python} and this is {python}; set PYSPARK_PYTHON")
        if not row.mahrem:
            raise MissingExtra("workers cannot import mahrem; install it where PYSPARK_PYTHON points")


def _describe(batches: Iterator[Any]) -> Iterator[Any]:
    """Say what a worker has; runs on workers."""
    import importlib.util

    import pyarrow as pa

    for _ in batches:
        pass
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    ours = "yes" if importlib.util.find_spec("mahrem") else ""
    yield pa.RecordBatch.from_pydict({"python": [python], "mahrem": [ours]})


def _usable_java() -> None:
    version = java_version()
    if version is None:
        raise MissingExtra(
            f"Java {OLDEST_JAVA} or newer is needed for engine='spark'; "
            "install openjdk-17-jre-headless, or set JAVA_HOME"
        )
    if version < OLDEST_JAVA:
        raise MissingExtra(
            f"Java {version} is too old for Spark; it needs {OLDEST_JAVA} or newer: set JAVA_HOME"
        )


def _reachable(master: str, wait: float) -> None:
    """Knock at the door of a master that has one."""
    if master.startswith(("local", "yarn", "k8s://")):
        return
    if not master.startswith(("spark://", "sc://")):
        raise InvalidParameter(
            f"master={address_of(master)!r} must be local[n], spark://host:port, sc://host:port, yarn or k8s://…"
        )
    doors = [re.fullmatch(r"([^:/;]+)(?::(\d+))?.*", door) for door in master.split("://", 1)[1].split(",")]
    usual = 15002 if is_remote(master) else 7077
    for door in doors:
        if door is None:
            raise InvalidParameter(f"master={address_of(master)!r} must name a host and a port")
        with contextlib.suppress(OSError):
            socket.create_connection((door.group(1), int(door.group(2) or usual)), min(wait, 10.0)).close()
            return
    raise InvalidInput(
        f"master={address_of(master)!r} does not answer; is it running, and is the port right?"
    )


def _start_here(
    sessions: Any, master: str, memory: str | None, settings: Mapping[str, str], wait: float
) -> Any:
    """Start a driver in this process, its noise kept in a file of its scratch folder."""
    scratch = StageFolder(Path(tempfile.gettempdir()), "spark")
    folder = str(scratch.path)
    here = is_here(master)
    builder = sessions.builder.master(master).appName("mahrem")
    for name, value in {**settings_here(master, folder, memory), **settings}.items():
        builder = builder.config(name, value)
    try:
        with _stderr_to(Path(folder) / "spark.log"), _environment(here=here):
            session = builder.getOrCreate()
    except Exception:  # noqa: BLE001 - whatever the launcher may raise
        scratch.remove()
        raise InvalidInput(
            f"master={address_of(master)!r}: Spark did not start; check its settings"
        ) from None
    _FOLDERS[session.sparkContext.applicationId] = scratch
    atexit.register(scratch.remove)  # of a session that was left running
    if not master.startswith("local"):
        _await_workers(session, master, wait)
    return session


def _await_workers(session: SparkSession, master: str, wait: float) -> None:
    """Wait until an executor is there; Spark itself would wait for ever."""
    until = time.monotonic() + wait
    scala = session.sparkContext._jsc.sc()  # noqa: SLF001 - PySpark offers no other way to ask
    while scala.getExecutorMemoryStatus().size() < 2:  # the driver is one
        if time.monotonic() > until:
            stop(session)
            raise InvalidInput(
                f"master={address_of(master)!r} gave no worker within {wait:.0f} s; are workers registered, "
                "and do they have the memory and cores that are asked for?"
            )
        time.sleep(0.1)


@contextlib.contextmanager
def _environment(*, here: bool) -> Iterator[None]:
    """Tell the launcher which Python and address to use, for as long as it starts."""
    wanted = {"PYSPARK_PYTHON": sys.executable, **({"SPARK_LOCAL_IP": "127.0.0.1"} if here else {})}
    added = {name: value for name, value in wanted.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]


@contextlib.contextmanager
def _stderr_to(path: Path) -> Iterator[None]:
    """Let what is started now write its errors into a file: Java warns before any setting is read."""
    sys.stderr.flush()
    kept = os.dup(2)
    with path.open("wb") as file:
        os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def _within(
    seconds: float, work: Callable[[], Result], what: str, give_up: Callable[[], None] | None = None
) -> Result:
    """Do something in a bounded time."""
    results: list[Result] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:  # noqa: BLE001 - handed on below
            failed.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        if give_up is not None:
            give_up()
        raise InvalidInput(f"{what} did not answer within {seconds:.0f} s")
    if failed:
        raise failed[0]
    return results[0]


def is_connected(session: SparkSession) -> bool:
    """Say whether a session speaks through Spark Connect."""
    return type(session).__module__.startswith("pyspark.sql.connect")


def _cancel(session: SparkSession) -> None:
    with contextlib.suppress(Exception):
        if is_connected(session):
            session.interruptAll()
        else:
            session.sparkContext.cancelAllJobs()
