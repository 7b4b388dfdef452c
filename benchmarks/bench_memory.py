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

import numpy as np
import polars as pl
from bench_release import QUASI, table

from mahrem.table.writing import write_parts

PART = 1_000_000
RELEASE = """
import json, sys, time
from pathlib import Path
import mahrem as mh
from bench_release import QUASI, resident_peak
source, target, memory = sys.argv[1:]
bound = {} if memory == "none" else {"memory": memory}
began = time.perf_counter()
mh.anonymize(
    source, quasi=QUASI, sensitive="diagnosis", rest="insensitive", k=5, output=target, html=False,
    format=Path(source).suffix[1:], accept={"cost": "a benchmark"}, **bound,
)
print(json.dumps([time.perf_counter() - began, time.process_time(), resident_peak()]))
"""


def make(rows: int, path: Path) -> None:
    """Write a table of any size; every part is another one."""

    def parts() -> Iterator[pl.DataFrame]:
        for number, begin in enumerate(range(0, rows, PART)):
            part = table(min(PART, rows - begin))
            rng = np.random.default_rng(number)
            yield part.with_columns(
                pl.Series(name, part[name].gather(rng.permutation(part.height))) for name in QUASI[:3]
            )

    write_parts(parts(), path, path.suffix[1:])


def measure(source: Path, rows: int, memory: str, folder: Path) -> dict[str, object]:
    """Run one release in a fresh process."""
    target = folder / f"release-{memory}"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", RELEASE, str(source), str(target), memory],
        capture_output=True,
        text=True,
        check=True,
        env={
            **os.environ,
            "MAHREM_STATE": str(folder / "state"),
            "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]),
        },
    )
    seconds, used, peak = json.loads(done.stdout)
    data = target / f"data{source.suffix}"
    shown = hashlib.sha256()
    if source.suffix == ".csv":
        shown.update(data.read_bytes())
    else:
        for batch in pl.scan_parquet(data).collect_batches():
            shown.update(batch.hash_rows().to_numpy().tobytes())
    shutil.rmtree(target)
    return {
        "case": f"{source.suffix[1:]}, memory {memory}",
        "n": rows,
        "seconds": round(seconds, 1),
        "cpu_seconds": round(used, 1),
        "peak_mb": round(peak),
        "file_mb": round(source.stat().st_size / 2**20, 1),
        "content": shown.hexdigest()[:12],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print rows as JSON")
    parser.add_argument("--rows", type=float, nargs="+", default=[1e6])
    parser.add_argument("--memory", nargs="+", default=["none", "500MB"])
    parser.add_argument("--formats", nargs="+", choices=["csv", "parquet"], default=["csv", "parquet"])
    parser.add_argument("--folder", default=None)
    arguments = parser.parse_args()
    found = []
    for rows in map(int, arguments.rows):
        for ending in arguments.formats:
            with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
                source = Path(name, f"table.{ending}")
                make(rows, source)
                for memory in arguments.memory:
                    row = measure(source, rows, memory, Path(name))
                    found.append(row)
                    if not arguments.json:
                        print(
                            f"{row['case']:<24} n={row['n']:>11,} {row['seconds']:>8} s, processor "
                            f"{row['cpu_seconds']} s, peak {row['peak_mb']} MB of a file of {row['file_mb']} "
                            f"MB, content {row['content']}",
                            flush=True,
                        )
    if arguments.json:
        print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
