"""A server of Spark Connect: the driver has no Java of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import mahrem as mh
from mahrem.spark._session import OLDEST_JAVA, java_version
from spark_cluster import Cluster, free_port

pytest.importorskip("pyspark")
pytest.importorskip("grpc")
pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("one_at_a_time")]


@pytest.mark.skipif((java_version() or 0) < OLDEST_JAVA, reason="Java 17 is not installed")
def test_a_server_of_spark_connect_makes_a_release(tmp_path: Path) -> None:
    table = tmp_path / "people.parquet"
    mh.demo_patients(300).select("age", "sex", "diagnosis").write_parquet(table)
    port = free_port()
    settings = {"spark.ui.enabled": "false", "spark.connect.grpc.binding.port": str(port)}
    told = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    server = Cluster(tmp_path).run(
        "org.apache.spark.deploy.SparkSubmit",
        *("--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "--master", "local[1]"),
        *(*told, "spark-internal"),
        memory="1g",
    )
    try:
        command = [sys.executable, "-m", "mahrem", "anonymize", str(table), "--engine", "spark", "--json"]
        command += ["--master", f"sc://127.0.0.1:{port}", "--qi", "age,sex", "--sensitive", "diagnosis:l=2"]
        command += ["-k", "5", "--format", "parquet", "-o", str(tmp_path / "out"), "--no-html"]
        done = _when_it_listens(command, server)
    finally:
        Cluster.end(server, signal.SIGTERM)
    assert not done.stderr
    report = json.loads(done.stdout)
    here = mh.anonymize(table, quasi=["age", "sex"], sensitive="diagnosis", k=5, l=2, html=False)
    assert report["promises"] == here.report["promises"]
    assert report["utility"]["published_classes"] == here.report["utility"]["published_classes"]
    assert mh.audit(tmp_path / "out").holds


def _when_it_listens(command: list[str], server: subprocess.Popen[bytes]) -> subprocess.CompletedProcess[str]:
    """Run a command as soon as the server answers; until then it ends with 2 at once."""
    until = time.monotonic() + 150
    while True:
        done = subprocess.run(
            command, env=dict(os.environ), capture_output=True, text=True, timeout=200, check=False
        )
        if done.returncode == 0 or "does not answer" not in done.stderr or time.monotonic() > until:
            assert done.returncode == 0, done.stderr
            return done
        assert server.poll() is None
        time.sleep(1)
