"""A table that does not fit is released all the same: the same file, nothing left, nothing ignored."""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import mahrem as mh
from from_disk import from_disk
from mahrem.errors import GivesAway, Infeasible, InvalidInput, InvalidParameter, OutputFailed
from mahrem.pipeline.releasing._release import Destination
from mahrem.pipeline.releasing._spilled import anonymize_spilled
from mahrem.release.decisions import policy_from, reading_of
from mahrem.spilled import MemoryBound, needed_in_memory, sample_that_fits, why_not_by_passes
from mahrem.spilled._bound import rows_that_fit
from mahrem.table import Hierarchy, Reading, open_source
from mahrem.table.reading import PolarsSource, land_database

pytestmark = pytest.mark.filterwarnings("ignore::mahrem.errors.PrivacyWarning")

QUASI = ["age", "income", "born", "zip", "sex"]
SAID: dict[str, Any] = {
    "quasi": QUASI,
    "sensitive": "illness",
    "identifier": "name",
    "rest": "insensitive",
    "minimality_safe": False,  # out of core nothing else is tried
}


def table(rows: int, seed: int) -> pl.DataFrame:
    """Numbers, decimals, days, codes and words, some of them missing; awkward text beside them."""
    rng = np.random.default_rng(seed)

    def holes(values: object, share: float) -> pl.Series:
        return pl.Series(values).set(pl.Series(rng.random(rows) < share), None)

    days = np.datetime64("1950-01-01") + rng.integers(0, 20_000, rows).astype("timedelta64[D]")
    return pl.DataFrame(
        {
            "name": [f"person {number}" for number in range(rows)],
            "age": holes(rng.integers(0, 100, rows), 0.1),
            "income": holes(rng.gamma(2.0, 20_000, rows).round(2), 0.05),
            "born": days,
            "note": rng.choice(['a "quoted" one', "two, parts", "two\nlines", "=1+1", ""], rows),
            "zip": pl.Series(rng.integers(1000, 1200, rows)).cast(pl.String).str.zfill(5),
            "sex": holes(rng.choice(["f", "m", "x, y"], rows), 0.02),
            "illness": holes(
                rng.choice(["flu", "gout", "g\u00f4ut", "asthma", "Flu ", "none", "unknown"], rows), 0.05
            ),
            "ward": rng.choice([1, 2, 3], rows),
        }
    )


def written(frame: pl.DataFrame, path: Path) -> Path:
    frame.write_csv(path) if path.suffix == ".csv" else frame.write_parquet(path)
    return path


CASES: list[dict[str, Any]] = [
    {"k": 5},
    {"k": 3, "l": 2},
    {"k": 4, "t": 0.3},
    {"k": 2, "l": 1.5, "l_kind": "entropy", "alpha": 0.9},
    {"k": 5, "top": {"age": 80}, "grid": {"born": "year"}, "suppress": ["sex"]},
    {"k": 5, "bounds": "exact", "kind": {"zip": "categorical"}, "accept": {"zip": "a test"}},
]


@pytest.mark.parametrize("seed", range(len(CASES)))
def test_the_file_is_the_one_that_a_run_in_memory_writes(tmp_path: Path, seed: int) -> None:
    ending = ("csv", "parquet")[seed % 2]
    said = {**SAID, **CASES[seed], "format": ending}
    source = written(table(1500 + 100 * seed, seed), tmp_path / f"t.{ending}")
    whole = mh.anonymize(source, output=tmp_path / "whole", html=False, **said)
    parts = from_disk(source, tmp_path / "parts", 40 + 100 * seed, **said)
    if ending == "csv":
        data = [(tmp_path / name / "data.csv").read_bytes() for name in ("whole", "parts")]
        assert data[0] == data[1]
    else:
        frames = [pl.read_parquet(tmp_path / name / "data.parquet") for name in ("whole", "parts")]
        assert frames[0].equals(frames[1])
    assert parts.report["promises"] == whole.report["promises"]
    assert parts.report["utility"]["classes"] == whole.report["utility"]["classes"]
    assert parts.report["utility"]["gcp"] == pytest.approx(whole.report["utility"]["gcp"])
    assert parts.report["rows"] == whole.report["rows"]
    assert parts.table.collect().height == 1500 + 100 * seed
    assert mh.audit(tmp_path / "parts").holds
    assert sorted(path.name for path in tmp_path.iterdir()) == ["parts", f"t.{ending}", "whole"]


@pytest.mark.parametrize("said", [{"k": 401}, {"k": 2, "l": 40}, {"k": 2, "t": 0.0}, {"k": 2, "beta": 1e-9}])
@pytest.mark.parametrize("rows", [1, 400])
def test_what_cannot_be_reached_is_refused_in_the_words_of_a_run_in_memory(
    tmp_path: Path, said: dict[str, Any], rows: int
) -> None:
    source = written(table(400, 3).head(rows), tmp_path / "t.csv")
    told = []
    for release in (
        lambda: mh.anonymize(source, html=False, **{**SAID, **said, "accept": {"*": "a test"}}),
        lambda: from_disk(source, tmp_path / "parts", 50, **{**SAID, **said, "accept": {"*": "a test"}}),
    ):
        try:
            release()
            told.append("kept")
        except Infeasible as error:
            told.append((str(error), error.reached))
    assert told[0] == told[1]


def test_a_table_of_a_database_is_brought_to_disk_in_batches(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    database, folder = tmp_path / "t.duckdb", tmp_path / "landed"
    folder.mkdir()
    with duckdb.connect(str(database)) as connection:
        connection.register("rows", table(1200, 3).to_arrow())
        connection.execute("create table visits as select * from rows; create table other as select 1 as one")
    said = {**SAID, "k": 5, "format": "parquet"}
    whole = mh.anonymize(database, output=tmp_path / "whole", html=False, table="visits", **said)
    landed = land_database(database, Reading(table="visits"), folder)
    assert landed is not None
    parts = from_disk(landed, tmp_path / "parts", 150, **said)
    shown = [pl.read_parquet(tmp_path / name / "data.parquet") for name in ("whole", "parts")]
    assert shown[0].equals(shown[1])
    assert parts.report["promises"] == whole.report["promises"]
    assert land_database(landed, Reading(), folder) is None  # a file is no database
    fits = mh.anonymize(
        database, output=tmp_path / "fits", html=False, query="select * from visits", memory="8GB", **said
    )
    assert fits.table.height == 1200
    left = {"fits", "landed", "parts", "t.duckdb", "whole"}
    assert {path.name for path in tmp_path.iterdir()} == left


SEXES = Hierarchy.from_rows([("f", "usual", "*"), ("m", "usual", "*"), ("x, y", "others", "*")])
FEW = ["sex", "ward"]  # many rows are alike but for the people behind them
AT_ONCE: list[dict[str, Any]] = [
    {"k": 5, "strategy": "relaxed"},
    {"k": 3, "l": 2, "strategy": "relaxed", "t": 0.5},
    {"k": 4, "subject": "name", "identifier": ()},
    {"k": 3, "t": 0.98, "subject": "name", "identifier": (), "strategy": "relaxed"},
    {"k": 5, "hierarchy": {"sex": SEXES}},
    {"k": 5, "method": "mosaic"},
    {"k": 3, "l": 2, "method": "mosaic", "subject": "name", "identifier": (), "rest": "drop"}
    | {"quasi": FEW},
    {"k": 5, "repair": True},
    {"k": 5, "average_risk": 0.1, "minimality_safe": True, "l": 2},
]


@pytest.mark.parametrize("seed", range(len(AT_ONCE)))
def test_methods_that_look_at_all_rows_see_their_numbers_alone_and_write_the_same_file(
    tmp_path: Path, seed: int
) -> None:
    said = {**SAID, **AT_ONCE[seed], "format": "csv"}
    assert why_not_by_passes(policy_from(None, said)) is not None
    frame = table(700 + 100 * seed, seed).with_columns(
        name=pl.Series([f"Person Nr. {number % 290} Smith" for number in range(700 + 100 * seed)])
    )
    source = written(frame, tmp_path / "t.csv")
    whole = mh.anonymize(source, output=tmp_path / "whole", html=False, **said)
    parts = from_disk(source, tmp_path / "parts", 150, **said)
    assert (tmp_path / "whole/data.csv").read_bytes() == (tmp_path / "parts/data.csv").read_bytes()
    for key in ("promises", "method", "rows"):
        assert parts.report[key] == whole.report[key], key
    assert parts.report["utility"]["gcp"] == pytest.approx(whole.report["utility"]["gcp"])
    assert parts.report["risk"] == whole.report["risk"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["parts", "t.csv", "whole"]


def test_rows_that_nothing_can_cut_are_one_class_however_many_they_are(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": [30] * 900 + [40] * 100, "sex": ["f", "m"] * 500, "ill": ["a", "b"] * 500})
    source = written(frame, tmp_path / "t.parquet")
    said = {"quasi": ["age", "sex"], "sensitive": "ill", "k": 5, "minimality_safe": False}
    mh.anonymize(source, output=tmp_path / "whole", html=False, **said)
    from_disk(source, tmp_path / "parts", 50, **said)
    assert (tmp_path / "whole/data.csv").read_bytes() == (tmp_path / "parts/data.csv").read_bytes()


def test_people_are_remembered_and_those_with_several_rows_are_warned_of(tmp_path: Path) -> None:
    frame = table(900, 4).with_columns(
        name=pl.Series([f"Person Nr. {number % 300} Smith" for number in range(900)])
    )
    source = written(frame, tmp_path / "t.csv")
    said = {**SAID, "k": 5}
    told: list[set[str]] = []
    for release in (
        lambda: from_disk(source, tmp_path / "first", 200, **said),
        lambda: from_disk(source, tmp_path / "second", 200, **said),
        lambda: mh.anonymize(source, output=tmp_path / "third", html=False, **said),
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            release()
        told.append({str(warning.message).split(":")[0] for warning in caught})
    assert told[1] == told[2]
    assert len(told[0]) < len(told[1])  # the first time nobody was released before


def test_numbers_and_dates_in_other_spellings_are_read_as_in_memory(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    frame = pl.DataFrame(
        {
            "born": [f"{day:02}/{month:02}/1980" for day, month in rng.integers(1, 13, (600, 2))],
            "cost": [f"{thousands}.{rest:03}" for thousands, rest in rng.integers(1, 999, (600, 2))],
            "ill": rng.choice(["a", "b", "NA"], 600),
        }
    )
    source = tmp_path / "t.csv"
    frame.write_csv(source, separator=";")
    said = {
        "quasi": ["born", "cost"],
        "sensitive": "ill",
        "k": 5,
        "null": "NA",
        "thousands": ".",
        "decimal": ",",
        "date_format": {"born": "%d/%m/%Y"},
        "minimality_safe": False,
    }
    mh.anonymize(source, output=tmp_path / "whole", html=False, **said)
    from_disk(source, tmp_path / "parts", 70, **said)
    assert (tmp_path / "whole/data.csv").read_bytes() == (tmp_path / "parts/data.csv").read_bytes()


def test_what_gives_people_away_or_cannot_be_kept_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    source = written(table(800, 1), tmp_path / "t.csv")
    given = {**SAID, "identifier": (), "k": 5}
    with pytest.raises(GivesAway, match="name"):
        from_disk(source, tmp_path / "parts", 100, **given)
    with pytest.raises(Infeasible):
        from_disk(source, tmp_path / "parts", 100, **SAID, k=5, l=40)
    with pytest.raises(InvalidInput, match="lack a value"):
        from_disk(source, tmp_path / "parts", 100, **SAID, k=5, missing="refuse")
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


@pytest.mark.parametrize(
    ("more", "word"),
    [
        ({"method": "mosaic"}, "method='mondrian'"),
        ({"strategy": "relaxed"}, "strategy='strict'"),
        ({"subject": "name"}, "subject is about all rows at once, of which numbers alone must fit"),
        ({"method": "flash", "suppression_limit": 0.1}, "hides"),
        ({"missing": "drop"}, "missing"),
        ({"cells": "pairs"}, "cells='text'"),
        ({"format": "xlsx"}, "format='parquet'"),
        ({"shuffle": False}, "order"),
        ({"minimality_safe": True}, "minimality_safe"),
        ({"round": {"ward": 2}}, "round"),
    ],
)
def test_what_needs_all_rows_at_once_is_refused_with_what_to_do(
    tmp_path: Path, more: dict[str, Any], word: str
) -> None:
    source = written(table(50, 1), tmp_path / "t.csv")
    said = {**SAID, **({"identifier": ()} if "subject" in more else {}), **more}
    with pytest.raises(InvalidParameter, match="in memory this takes") as refused:
        mh.anonymize(source, output=tmp_path / "parts", k=5, memory="100MB", **said)
    assert word in str(refused.value)
    with pytest.raises(InvalidParameter, match="output"):
        mh.anonymize(source, k=5, memory="100MB", **SAID)
    with pytest.raises(InvalidParameter, match="cannot be read in parts"):
        mh.anonymize(table(50, 1), output=tmp_path / "parts", k=5, memory="100MB", **SAID)
    assert not (tmp_path / "parts").exists()


def test_a_bound_that_cannot_be_kept_is_refused_and_one_that_is_not_reached_changes_nothing(
    tmp_path: Path,
) -> None:
    source = written(table(300, 1), tmp_path / "t.csv")
    with pytest.raises(InvalidParameter, match="cannot be kept"):
        mh.anonymize(source, output=tmp_path / "parts", k=5, memory="100MB", **SAID)
    told = mh.anonymize(source, output=tmp_path / "told", k=5, memory="8GB", html=False, **SAID)
    plain = mh.anonymize(source, output=tmp_path / "plain", k=5, html=False, **SAID)
    assert (tmp_path / "told/data.csv").read_bytes() == (tmp_path / "plain/data.csv").read_bytes()
    assert "memory" not in told.report["settings"]
    assert told.report["settings"] == plain.report["settings"]
    with pytest.raises(InvalidParameter, match="memory=1000000000 is kept by anonymize, audit and compare"):
        mh.inspect(source, memory="1GB")


def test_a_comparison_draws_rows_that_fit_each_with_the_same_chance_and_says_so(tmp_path: Path) -> None:
    source = written(table(4000, 1), tmp_path / "t.parquet")
    opened = open_source(source, reading_of(policy_from(None, SAID)))
    bound = needed_in_memory(1100, 9)
    drawn = sample_that_fits(opened, bound, 3)
    assert drawn is not None
    assert drawn.rows == rows_that_fit(bound, 9) == 1100
    names = drawn.take(["name"])["name"]
    assert names.is_unique().all()
    places = names.str.extract(r"(\d+)$").cast(pl.Int64)
    assert places.is_sorted()
    # a mean of so many places lies within six of its deviations
    spread = 4000 / np.sqrt(12 * drawn.rows)
    assert abs(float(places.mean()) - 1999.5) < 6 * spread  # type: ignore[arg-type]
    again, other = (sample_that_fits(opened, bound, seed) for seed in (3, 4))
    assert again is not None
    assert other is not None
    assert again.take(["name"])["name"].equals(names)
    assert not other.take(["name"])["name"].equals(names)
    asked = {"methods": ["mondrian"], "ks": [5], **SAID, "memory": bound}
    found = mh.compare(source, **asked)
    assert found.size == drawn.rows
    assert found.as_dict()["left_out_notes"]["rows"]["values"] == {"rows": drawn.rows, "of": 4000}
    whole = mh.compare(source, **{**asked, "memory": "8GB"})
    assert whole.size == 4000
    assert not whole.left_out
    with pytest.raises(InvalidParameter, match="no rows can be drawn"):
        mh.compare(table(4000, 1), **asked)


def test_too_many_different_words_are_refused_by_name_and_number_alone(tmp_path: Path) -> None:
    frame = pl.DataFrame({"code": [f"w{number % 1200}" for number in range(2400)], "ill": ["a", "b"] * 1200})
    source = written(frame, tmp_path / "t.parquet")
    policy = policy_from(None, {"quasi": ["code"], "sensitive": "ill", "k": 2})
    opened = open_source(source, reading_of(policy))
    assert isinstance(opened, PolarsSource)
    bound = MemoryBound(1, opened.rows, 2, 1, part=100)  # a thousand values are always held
    destination = Destination(
        output=tmp_path / "parts",
        database=None,
        force=False,
        strict=False,
        html=False,
        target=None,
        began=0.0,
        progress=None,
    )
    with pytest.raises(InvalidInput, match="column='code' has more than 1000 different values") as refused:
        anonymize_spilled(source, opened, policy, destination, bound)
    assert "w1" not in str(refused.value)


def test_a_full_disk_is_said_and_leaves_nothing(tmp_path: Path) -> None:
    source = written(table(3000, 2), tmp_path / "t.csv")
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    for most in (20_000, 60_000):  # the numbers of rows, then the rows of a part, do not fit
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
        try:
            with pytest.raises(OutputFailed, match=r"no place .*File too large"):
                from_disk(source, tmp_path / "parts", 1500, **SAID, k=5)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


KILLED = """
import os, signal, sys
from pathlib import Path
sys.path[:0] = [sys.argv[1], str(Path(sys.argv[1]).parent)]
import test_out_of_core as here

def progress(note):
    if note.code == "stage.writing":
        os.kill(os.getpid(), signal.SIGKILL)

here.from_disk(Path(sys.argv[2]), Path(sys.argv[3]), 200, progress, **here.SAID, k=5)
"""


def test_what_a_kill_leaves_is_private_and_the_next_run_says_that_it_starts_anew(tmp_path: Path) -> None:
    source = written(table(800, 3), tmp_path / "t.csv")
    command = [sys.executable, "-W", "ignore", "-c", KILLED, str(Path(__file__).parent), str(source)]
    done = subprocess.run([*command, str(tmp_path / "parts")], check=False, capture_output=True, timeout=300)
    assert done.returncode == -signal.SIGKILL
    left = [path for path in tmp_path.iterdir() if path != source]
    assert any("spill" in path.name for path in left)
    assert not any(path.stat().st_mode & 0o077 for path in left)
    assert not (tmp_path / "parts").exists()
    stages: list[str] = []
    from_disk(source, tmp_path / "parts", 200, lambda note: stages.append(note.code), **SAID, k=5)
    assert stages[0] == "stage.anew"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["parts", "t.csv"]
    assert not any("spill" in path.name for path in (tmp_path / "parts").iterdir())


MEASURED = """
import json, sys
from pathlib import Path
import mahrem as mh
mh.anonymize(sys.argv[1], output=sys.argv[2], memory=sys.argv[3], quasi=["a", "b"], k=5,
             sensitive="ill", rest="insensitive", format="parquet", accept={"*": "a test"})
status = Path("/proc/self/status").read_text()
print(json.dumps(int(status.split("VmHWM:")[1].split()[0]) * 1024))
"""


def test_the_bound_is_kept_by_a_whole_run(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    rows = 100_000
    columns = {f"c{place}": rng.integers(0, 10**6, rows) for place in range(8)}
    frame = pl.DataFrame(
        {"a": rng.normal(0, 1, rows), "b": rng.integers(0, 500, rows), "ill": rng.choice(["x", "y"], rows)}
        | columns
    )
    source = written(frame, tmp_path / "t.parquet")
    command = [sys.executable, "-W", "ignore", "-c", MEASURED, str(source), str(tmp_path / "parts"), "400MB"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=300)
    report = json.loads((tmp_path / "parts/report.json").read_text())
    assert any(note["code"] == "warning.spilled" for note in report["notes"])
    assert json.loads(done.stdout) < 400 * 10**6


BY_NUMBERS = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from from_disk import from_disk
from_disk(Path(sys.argv[2]), Path(sys.argv[3]), 50_000, quasi=["a", "b"], k=5, l=2, sensitive="ill",
          subject="name", rest="drop", format="parquet", accept={"*": "a test"}, minimality_safe=False)
print(int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) * 1024)
"""


def test_a_run_by_numbers_takes_no_more_than_was_reckoned_where_people_are_counted(tmp_path: Path) -> None:
    """In every reading of values that may be one, or none, it is known who shows what."""
    rng, rows = np.random.default_rng(5), 200_000
    frame = pl.DataFrame(
        {
            "name": pl.Series(rng.integers(0, rows // 3, rows)).cast(pl.String) + "x",
            "a": rng.integers(0, 50, rows),
            "b": rng.integers(0, 50, rows),
            "ill": rng.choice(["flu", "caf\u00e9", "cafe", "unknown", ""], rows),
        }
    )
    source = written(frame, tmp_path / "t.parquet")
    folder = str(Path(__file__).parents[1])
    command = [sys.executable, "-W", "ignore", "-c", BY_NUMBERS, folder, str(source), str(tmp_path / "parts")]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=300)
    reckoned = MemoryBound(10**9, rows, 4, 2, people=True, valued=1)
    assert int(done.stdout) < reckoned.numbers < 2 * int(done.stdout)
