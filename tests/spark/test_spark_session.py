from __future__ import annotations

import json
import logging
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from mahrem.errors import InvalidInput, InvalidParameter, MissingExtra
from mahrem.spark._errors import translate_errors, worker_error
from mahrem.spark._session import java_version, start
from mahrem.spark._settings import _defaults

pytest.importorskip("pyspark")


def java_that_says(folder: Path, version: str) -> Path:
    program = folder / "bin" / "java"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n", encoding="utf-8")
    program.chmod(0o755)
    return folder


def test_without_java_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(MissingExtra, match="openjdk-17"):
        start("local[1]")


@pytest.mark.parametrize(("version", "number"), [("1.8.0_312", 8), ("11.0.2", 11)])
def test_an_old_java_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, number: int
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(java_that_says(tmp_path, version)))
    assert java_version() == number
    with pytest.raises(MissingExtra, match=f"Java {number} is too old"):
        start("local[1]")


@pytest.mark.parametrize("scheme", ["spark", "sc"])
def test_a_master_that_does_not_answer_is_found_out_at_once(scheme: str) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    began = time.monotonic()
    with pytest.raises(InvalidInput, match="does not answer"):
        start(f"{scheme}://127.0.0.1:{port}")
    assert time.monotonic() - began < 20


def test_a_token_behind_an_address_is_not_told() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with pytest.raises(InvalidInput, match="does not answer") as caught:
        start(f"sc://127.0.0.1:{port}/;token=secret")
    assert "secret" not in str(caught.value)


def test_a_master_must_be_written_as_one() -> None:
    with pytest.raises(InvalidParameter, match="must be local"):
        start("mesos://127.0.0.1:5050")


@pytest.mark.parametrize(
    ("told", "kind", "words"),
    [
        ("[PYTHON_VERSION_MISMATCH] 3.9 of Jane Roe", InvalidInput, "another Python"),
        ("ModuleNotFoundError: No module named 'mahrem'", MissingExtra, "workers have no mahrem"),
        ("Cannot run program python7", InvalidInput, "cannot start Python"),
        ("something about Jane Roe", InvalidInput, "first small job"),
    ],
)
def test_what_a_worker_says_is_told_in_our_words(told: str, kind: type[Exception], words: str) -> None:
    error = worker_error(told)
    assert isinstance(error, kind)
    assert words in str(error)
    assert "Jane" not in str(error)


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ("[MALFORMED_RECORD_IN_PARSING] Jane Roe", "more or fewer fields"),
        ("[OUT_OF_SOMETHING] Jane Roe", "gave up (OUT_OF_SOMETHING)"),
        ("Python worker: No module named 'polars'", "workers have no polars"),
    ],
)
def test_what_spark_raises_names_no_value(told: str, words: str) -> None:
    raised = type("SparkException", (Exception,), {"__module__": "pyspark.errors"})
    with pytest.raises((InvalidInput, MissingExtra)) as caught, translate_errors():
        raise raised(told)
    assert words in str(caught.value)
    assert "Jane" not in str(caught.value)


def test_what_py4j_logs_stays_unsaid_and_what_others_log_does_not(caplog: pytest.LogCaptureFixture) -> None:
    root = logging.getLogger()
    for place in ("py4j/java_gateway.py", "elsewhere/rows.py"):
        record = {"name": "root", "levelno": logging.ERROR, "pathname": f"/lib/{place}", "msg": place}
        with translate_errors():
            root.handle(logging.makeLogRecord(record))
    assert [record.getMessage() for record in caplog.records] == ["elsewhere/rows.py"]
    root.handle(logging.makeLogRecord({"pathname": "/lib/py4j/x.py", "msg": "later", "levelno": 40}))
    assert len(caplog.records) == 2


def test_other_errors_go_through_as_they_are() -> None:
    with pytest.raises(KeyError), translate_errors():
        raise KeyError("ours")


STRANGER = """
from mahrem.spark._session import start
from mahrem.errors import InvalidInput, MissingExtra
try:
    start("local[1]", wait=120)
except (InvalidInput, MissingExtra) as error:
    print(type(error).__name__, error)
"""


@pytest.mark.spark
@pytest.mark.usefixtures("one_at_a_time")
def test_workers_whose_python_has_no_pyarrow_are_found_out_before_any_work(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "bare")], check=True)
    environment = {**os.environ, "PYSPARK_PYTHON": str(tmp_path / "bare" / "bin" / "python")}
    done = subprocess.run(
        [sys.executable, "-c", STRANGER],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=200,
    )
    assert "MissingExtra workers have no" in done.stdout
    assert not done.stderr


DEFAULTS = """
# what an administrator wrote
spark.driver.memory    700m
spark.executor.memory=800m
spark.sql.shuffle.partitions  =  3
spark.network.timeout \\
    77s
spark.sql.session.timeZone Asia/Tokyo
spark.eventLog.enabled true
spark.ui.enabled=true
spark.local.dir /somewhere/shared
spark.driver.extraJavaOptions -Dmahrem.test=kept
spark.of.others theirs
"""

ASKING = """
import json, sys
from mahrem.spark._session import start, stop
session = start("local[1]", wait=120, **json.loads(sys.argv[1]))
told = dict(session.sparkContext.getConf().getAll())
system = session.sparkContext._jvm.java.lang.System
told["java"] = system.getProperty("mahrem.test")
told["heap"] = session.sparkContext._jvm.java.lang.Runtime.getRuntime().maxMemory() >> 20
told["zone"] = session.conf.get("spark.sql.session.timeZone")
told["parts"] = session.conf.get("spark.sql.shuffle.partitions")
print(json.dumps(told))
stop(session)
"""


def settings_of_a_session(folder: Path, **said: object) -> dict[str, Any]:
    (folder / "spark-defaults.conf").write_text(DEFAULTS, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", ASKING, json.dumps(said)],
        env={**os.environ, "SPARK_CONF_DIR": str(folder)},
        capture_output=True,
        text=True,
        check=True,
        timeout=200,
    )
    return dict(json.loads(done.stdout))


@pytest.mark.spark
@pytest.mark.usefixtures("one_at_a_time")
def test_the_file_of_defaults_counts_but_cannot_make_a_session_less_private(tmp_path: Path) -> None:
    told = settings_of_a_session(tmp_path)
    assert told["spark.driver.memory"] == "700m"
    assert 600 <= told["heap"] <= 700  # Java did start with it
    assert told["spark.executor.memory"] == "800m"
    assert told["parts"] == "3"
    assert told["spark.network.timeout"] == "77s"
    assert told["spark.driver.maxResultSize"] == "512m"  # nothing is said about it: ours
    assert told["spark.of.others"] == "theirs"
    assert told["java"] == "kept"
    assert "log4j2.configurationFile" in told["spark.driver.extraJavaOptions"]
    assert told["spark.eventLog.enabled"] == told["spark.ui.enabled"] == "false"
    assert "mahrem-spark-" in told["spark.local.dir"]
    assert told["zone"] == "UTC"


@pytest.mark.spark
@pytest.mark.usefixtures("one_at_a_time")
def test_what_the_caller_says_wins_over_the_file_of_defaults(tmp_path: Path) -> None:
    settings = {"spark.sql.shuffle.partitions": "5", "spark.executor.memory": "900m"}
    told = settings_of_a_session(tmp_path, memory="600m", settings=settings)
    assert told["spark.driver.memory"] == "600m"
    assert 500 <= told["heap"] <= 600
    assert told["spark.executor.memory"] == "900m"
    assert told["parts"] == "5"


def test_the_defaults_of_a_spark_that_has_its_own_home_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "spark-defaults.conf").write_text("! spark.a 1\nspark.b\t2 3\n\nspark.c: 4\n")
    monkeypatch.delenv("SPARK_CONF_DIR", raising=False)
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    assert _defaults() == {"spark.b": "2 3", "spark.c": "4"}
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))  # as Spark does: it alone counts then
    assert _defaults() == {}
