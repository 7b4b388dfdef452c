"""What does a release cost that keeps a bound on memory, against the same in memory?

A table of ten columns (that of ``bench_release.py``, made in parts) is anonymised in a fresh process under
each bound: seconds, processor seconds, the most memory the process held, and whether the data file is the one
that a run in memory writes. ``--folder`` says where the table and the releases lie; they are removed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import polars as pl
from bench_release import table

from mahrem.table.writing import write_parts

PART = 1_000_000
RELEASE = """
import json, sys, time
from pathlib import Path
import mahrem as mh
from bench_release import QUASI, resident_peak
source, target, memory = sys.argv[1:]
bound = {} if memory == "none" else {"memory": memory}
stages = {}
def step(note):
    if note.code == "stage.rows":
        return
    stages[note.code.removeprefix("stage.")] = time.process_time()
began = time.perf_counter()
mh.anonymize(
    source, quasi=QUASI, sensitive="diagnosis", rest="insensitive", k=5, output=target, html=False,
    format=Path(source).suffix[1:], accept={"cost": "a benchmark"}, progress=step, **bound,
)
ends = [*list(stages.values())[1:], time.process_time()]
spent = {name: round(end - begin, 1) for (name, begin), end in zip(stages.items(), ends)}
print(json.dumps([time.perf_counter() - began, time.process_time(), resident_peak(), spent]))
"""
AUDIT = """
import json, sys, time
import mahrem as mh
from bench_release import resident_peak
_, target, memory = sys.argv[1:]
bound = {} if memory == "none" else {"memory": memory}
began = time.perf_counter()
assert mh.audit(target, **bound).holds
print(json.dumps([time.perf_counter() - began, time.process_time(), resident_peak(), {}]))
"""


def make(rows: int, path: Path) -> None:
    """Write a table of any size; every part is another one."""

    def parts() -> Iterator[pl.DataFrame]:
        for number, begin in enumerate(range(0, rows, PART)):
            yield table(min(PART, rows - begin), seed=11 + number)

    write_parts(parts(), path, path.suffix[1:])


def in_process(script: str, source: Path, target: Path, memory: str, folder: Path) -> dict[str, object]:
    """Run a verb in a fresh process: seconds, processor time, most memory, and seconds of its stages."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script, str(source), str(target), memory],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env={
            **os.environ,
            "MAHREM_STATE": str(folder / "state"),
            "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]),
        },
    )
    seconds, used, peak, stages = json.loads(done.stdout)
    return {
        "seconds": round(seconds, 1),
        "cpu_seconds": round(used, 1),
        "peak_mb": round(peak),
        "stages": stages,
    }


def content_of(data: Path) -> str:
    """Hash what a file says."""
    shown = hashlib.sha256()
    if data.suffix == ".csv":
        shown.update(data.read_bytes())
    else:
        for batch in pl.scan_parquet(data).collect_batches():
            shown.update(batch.hash_rows().to_numpy().tobytes())
    return shown.hexdigest()[:12]


def measure(
    source: Path, rows: int, memory: str, folder: Path, *, audited: bool, compared: bool
) -> Iterator[dict[str, object]]:
    """Run one release in a fresh process, and an audit of it in another."""
    target = folder / f"release-{memory}"
    about = {"n": rows, "file_mb": round(source.stat().st_size / 2**20, 1)}
    case = f"{source.suffix[1:]}, memory {memory}"
    measured = in_process(RELEASE, source, target, memory, folder)
    content = content_of(target / f"data{source.suffix}") if compared else "not read"
    yield {"case": case, **about, **measured, "content": content}
    if audited:
        yield {
            "case": f"{case}, audit",
            **about,
            **in_process(AUDIT, source, target, memory, folder),
            "content": content,
        }
    shutil.rmtree(target)


def told(row: dict[str, object]) -> str:
    """Write a line."""
    return (
        f"{row['case']:<30} n={row['n']:>11,} {row['seconds']:>8} s, processor {row['cpu_seconds']} s, peak "
        f"{row['peak_mb']} MB of a file of {row['file_mb']} MB, content {row['content']}, {row['stages']}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print rows as JSON")
    parser.add_argument("--rows", type=float, nargs="+", default=[1e6])
    parser.add_argument("--memory", nargs="+", default=["none", "500MB"])
    parser.add_argument("--formats", nargs="+", choices=["csv", "parquet"], default=["csv", "parquet"])
    parser.add_argument("--folder", default=None)
    parser.add_argument("--audit", action="store_true", help="audit every release under the same bound")
    arguments = parser.parse_args()
    found = []
    for rows in map(int, arguments.rows):
        for ending in arguments.formats:
            with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
                source = Path(name, f"table.{ending}")
                make(rows, source)
                for memory in arguments.memory:
                    compared = len(arguments.memory) > 1
                    for row in measure(
                        source, rows, memory, Path(name), audited=arguments.audit, compared=compared
                    ):
                        found.append(row)
                        if not arguments.json:
                            print(told(row), flush=True)
    if arguments.json:
        print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
