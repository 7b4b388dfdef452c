"""A real Spark cluster on loopback from the pip package, for tests: one master, two workers."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Cluster:
    """Processes of a standalone cluster; each leads a process group, so that executors go with it."""

    folder: Path
    port: int = field(default_factory=free_port)
    master: subprocess.Popen[bytes] | None = None
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)
    added: int = 0  # workers there have ever been

    @property
    def uri(self) -> str:
        return f"spark://127.0.0.1:{self.port}"

    def start(self) -> None:
        at = ["--host", "127.0.0.1", "--port", str(self.port), "--webui-port", str(free_port())]
        self.master = self.run("org.apache.spark.deploy.master.Master", *at)
        for _ in range(300):
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                break
            time.sleep(0.2)
        self.add_worker()
        self.add_worker()

    def add_worker(self) -> None:
        """Start a worker at an address of its own: Spark does a slow task twice only on two machines."""
        self.added += 1
        own, host = self.folder / f"worker{self.added}", f"127.0.0.{self.added}"
        size = ["--cores", "1", "--memory", "1g", "--webui-port", str(free_port()), "--work-dir", str(own)]
        program = "org.apache.spark.deploy.worker.Worker"
        self.workers.append(self.run(program, self.uri, "--host", host, *size, address=host))

    def kill_worker(self, session: int | None = None) -> None:
        """Kill a worker and its executors, as if its machine had lost power: the oldest, or that of a task.

        Args:
            session: What ``os.getsid(0)`` says in a task of the worker.
        """
        place = 0 if session is None else [worker.pid for worker in self.workers].index(session)
        self.end(self.workers.pop(place), signal.SIGKILL)

    def stop(self) -> None:
        for process in [*self.workers, *([] if self.master is None else [self.master])]:
            self.end(process, signal.SIGTERM)

    @staticmethod
    def end(process: subprocess.Popen[bytes], how: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, how)
        process.wait(30)

    def run(
        self, *arguments: str, memory: str = "256m", address: str = "127.0.0.1"
    ) -> subprocess.Popen[bytes]:
        found = find_spec("pyspark")
        assert found is not None
        assert found.origin is not None
        home = Path(found.origin).parent
        quiet = self.folder / "log4j2.properties"
        quiet.write_text("status=off\nrootLogger.level=off\n", encoding="utf-8")
        environment = {
            **os.environ,
            "SPARK_HOME": str(home),
            "SPARK_LOCAL_IP": address,
            "SPARK_LOCAL_DIRS": str(self.folder / "local"),
            "SPARK_DAEMON_MEMORY": memory,
            "SPARK_DAEMON_JAVA_OPTS": f"-Dlog4j2.configurationFile={quiet.as_uri()}",
            "PYSPARK_PYTHON": sys.executable,
        }
        return subprocess.Popen(
            [str(home / "bin" / "spark-class"), *arguments],
            env=environment,
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )


@pytest.fixture
def one_at_a_time() -> Iterator[None]:
    """Let only one test of all processes work with Spark: two cores are not enough for two."""
    with (Path(tempfile.gettempdir()) / f"mahrem-spark-{os.getuid()}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="session")
def spark_cluster(missing_part: Callable[[str], None]) -> Iterator[Cluster]:
    """Start a master and two workers; they are stopped by their ids at the end."""
    from mahrem.spark._session import OLDEST_JAVA, java_version

    if find_spec("pyspark") is None:
        missing_part("PySpark is not installed (pip install 'mahrem[spark]')")
    if (java_version() or 0) < OLDEST_JAVA:
        missing_part("Java 17 is not installed (apt-get install openjdk-17-jre-headless)")
    with tempfile.TemporaryDirectory(prefix="mahrem-cluster-", ignore_cleanup_errors=True) as name:
        cluster = Cluster(Path(name))
        try:
            cluster.start()
            yield cluster
        finally:
            cluster.stop()


@pytest.fixture(scope="session")
def spark_session(spark_cluster: Cluster) -> Iterator[Any]:
    """A session on the cluster."""
    from mahrem.spark._session import start, stop

    settings = {
        "spark.sql.shuffle.partitions": "4",
        "spark.executor.cores": "1",
        "spark.speculation": "true",  # slow tasks are done twice, and nobody may notice
        "spark.speculation.interval": "100ms",
        "spark.speculation.quantile": "0.5",
        "spark.speculation.multiplier": "1.5",
        "spark.speculation.minTaskRuntime": "1s",
    }
    session = start(spark_cluster.uri, memory="1g", settings=settings, wait=180)
    yield session
    stop(session)
