"""The package for dbt calls the commands as they are: what its macros write runs on DuckDB."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import mahrem as mh

duckdb = pytest.importorskip("duckdb")
jinja2 = pytest.importorskip("jinja2")
PACKAGE = Path(__file__).parents[1] / "dbt"


@pytest.fixture
def commands() -> Iterator[ModuleType]:
    spec = importlib.util.spec_from_file_location("mahrem_commands", PACKAGE / "plugins/mahrem_commands.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    module._forget_all()


class Macros:
    """The macros that build command lines, rendered as dbt does."""

    def __init__(self) -> None:
        self._given: list[Any] = []
        text = (PACKAGE / "macros/commands.sql").read_text(encoding="utf-8")
        template = jinja2.Environment(extensions=["jinja2.ext.do"]).from_string(text)
        self._module = template.make_module({"return": self._take})

    def _take(self, value: Any) -> str:
        self._given.append(value)
        return ""

    def words(self, macro: str, *arguments: Any) -> list[str]:
        getattr(self._module, macro)(*arguments)
        return list(self._given.pop())

    def code(self, connection: Any, words: list[str]) -> int:
        return int(connection.sql(f"select {self._module.command(words)}").fetchall()[0][0])


def test_a_release_and_its_audit_are_told_by_exit_codes_alone(commands: ModuleType, tmp_path: Path) -> None:
    macros, connection = Macros(), duckdb.connect()
    commands.register(connection)
    rows = mh.demo_patients(300).select("age", "sex", "diagnosis")
    place = connection.sql("select mahrem_place()").fetchall()[0][0]
    connection.register("rows", rows.to_arrow())
    connection.sql("select * from rows").write_parquet(place)
    assert not Path(place).parent.stat().st_mode & 0o077
    release = tmp_path / "it's a release"
    asked = ["--qi", "age,sex", "--sensitive", "diagnosis", "-k", "5", "--no-html"]
    assert macros.code(connection, macros.words("release_words", place, release, None, asked)) == 0
    data = release / "data.parquet"
    assert macros.code(connection, macros.words("audit_words", data, release / "policy.toml")) == 0
    assert macros.code(connection, macros.words("audit_words", data, None, ["--qi", "age", "-k", "999"])) == 1
    assert connection.sql(f"select mahrem_forget('{place}')").fetchall()[0][0]
    assert not Path(place).parent.exists()
    assert not commands.forget(str(data))  # none of its own
    assert data.exists()


@pytest.mark.skipif(shutil.which("dbt") is None, reason="dbt is not installed")
def test_the_example_builds_with_dbt(tmp_path: Path) -> None:
    shutil.copytree(PACKAGE, tmp_path / "dbt")
    where = {**os.environ, "MAHREM_COMMAND": f"{sys.executable} -m mahrem"}
    for step in (["deps"], ["build"]):
        subprocess.run(
            ["dbt", *step, "--profiles-dir", "."], cwd=tmp_path / "dbt/example", env=where, check=True
        )
    assert (tmp_path / "dbt/example/releases/patients/data.parquet").exists()
