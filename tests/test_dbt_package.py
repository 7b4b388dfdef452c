"""The package for dbt calls the commands as they are: what its macros write runs on DuckDB."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
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


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, missing_part: Callable[[str], None]) -> Built:
    """The example, and models that try more, built once by a real dbt."""
    program = Path(sys.prefix, "dbt/bin/dbt")
    if not program.exists():
        missing_part("no dbt: scripts/set_up.sh installs it")
    folder = tmp_path_factory.mktemp("it's here")
    shutil.copytree(PACKAGE, folder / "dbt")
    project = folder / "dbt/example"
    for name, text in MODELS.items():
        (project / f"models/{name}.sql").write_text(text, encoding="utf-8")
    (project / "models/more.yml").write_text(BROKEN_PROMISE, encoding="utf-8")
    private = folder / "temporary"
    private.mkdir()
    where = {**os.environ, "MAHREM_COMMAND": f"{sys.executable} -m mahrem", "TMPDIR": str(private)}
    where |= {"DBT_SEND_ANONYMOUS_USAGE_STATS": "false", "DO_NOT_TRACK": "1"}
    for step in (["deps"], ["build"]):
        done = subprocess.run(
            [program, "--no-use-colors", *step, "--profiles-dir", "."],
            cwd=project,
            env=where,
            capture_output=True,
            text=True,
            check=False,
        )
    results = json.loads((project / "target/run_results.json").read_text())["results"]
    states = {result["unique_id"].split(".")[2]: result["status"] for result in results}
    return Built(project, private, states, done.stdout + done.stderr)


@dataclass(frozen=True)
class Built:
    """What a dbt project came to."""

    project: Path
    private: Path
    states: dict[str, str]
    said: str

    def rows(self, table: str) -> list[Any]:
        with duckdb.connect(str(self.project / "hospital.duckdb"), read_only=True) as connection:
            return list(connection.table(table).fetchall())


QUERY = """\
select 20 + i % 3 as age, case when i % 2 = 0 then 'flu' else 'gout' end as ill from range(60) as t (i)
-- the last line is a comment"""


def released(name: str, k: int, query: str = QUERY, hooks: tuple[str, ...] = ()) -> str:
    asked = ["--qi", "age", "--sensitive", "ill", "-k", str(k), "--no-html"]
    said = f"materialized='anonymized', release='releases/{name}', options={asked}, pre_hook={list(hooks)}"
    return f"{{{{ config({said}) }}}}\n{query}"


VISITS = f"create or replace table visits as ({QUERY}\n)"
MODELS = {
    "commented": released("commented", 5),
    "hooked": released("hooked", 5, "select * from visits", (VISITS, "delete from visits where age = 22")),
    "impossible": released("impossible", 61),
    "raw": "{{ config(materialized='table') }}\n" + QUERY.replace("% 3", ""),
}
BROKEN_PROMISE = """
models:
  - name: raw
    data_tests:
      - mahrem.keeps_promise:
          name: raw_keeps_five
          arguments:
            options: ["--qi", "age", "-k", "5"]
"""


def test_models_hooks_and_tests_of_dbt_make_and_audit_releases(built: Built) -> None:
    assert built.states["patients"] == "success", built.said
    assert built.states["wards"] == "success"
    audits = [name for name in built.states if name.startswith("mahrem_keeps_promise")]
    assert len(audits) == 2
    assert {built.states[name] for name in audits} == {"pass"}
    for name in ("patients", "wards"):
        assert (built.project / f"releases/{name}/data.parquet").exists()


def test_a_model_may_end_in_a_comment_and_change_its_rows_before(built: Built) -> None:
    assert built.states["commented"] == "success", built.said
    assert len(built.rows("commented")) == 60
    assert built.states["hooked"] == "success"
    assert len(built.rows("hooked")) == 40  # those of age 22 were gone before rows were copied


def test_what_cannot_be_promised_is_no_table_and_what_breaks_a_promise_fails(built: Built) -> None:
    assert built.states["impossible"] == "error"
    assert "exit code 3" in built.said
    assert not (built.project / "releases/impossible").exists()
    with pytest.raises(duckdb.Error, match="impossible"):
        built.rows("impossible")
    assert built.states["raw_keeps_five"] == "fail"


def test_no_copy_of_rows_stays_after_dbt(built: Built) -> None:
    assert not list(built.private.glob("mahrem-dbt-*"))
