"""How long does a whole release take, against polars merely reading and writing the same file?

One run of ``anonymize`` reads a CSV or Parquet file, sorts its rows into classes, rewrites seven
quasi-identifiers, writes a file of the same format, reads it back and verifies it. The baseline reads the
same file and writes it again. ``cpu_ratio`` compares processor time, which says more on a busy machine.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

QUASI = ("age", "income", "height", "weight", "hours", "admission", "zip")
REPEATS = 5


def table(rows: int, seed: int = 11) -> pl.DataFrame:
    """Five numbers, a date, a code, and three columns that stay as they are."""
    rng = np.random.default_rng(seed)
    days = np.datetime64("2018-01-01") + rng.integers(0, 2500, rows).astype("timedelta64[D]")
    return pl.DataFrame(
        {
            "age": rng.integers(0, 100, rows),
            "income": rng.gamma(2.0, 20_000, rows).round(2),
            "height": rng.normal(170, 10, rows).round(1),
            "weight": rng.normal(75, 14, rows).round(1),
            "hours": rng.integers(0, 80, rows),
            "admission": days,
            "zip": pl.Series(rng.integers(1000, 99_999, rows)).cast(pl.String).str.zfill(5),
            "diagnosis": rng.choice(["flu", "gout", "asthma", "fracture", "migraine", "none"], rows),
            "ward": rng.choice(["A", "B", "C", "D"], rows),
            "cost": rng.gamma(2.0, 900, rows).round(2),
        }
    )


def polars_alone(source: Path, target: Path) -> None:
    if source.suffix == ".csv":
        pl.read_csv(source).write_csv(target)
    else:
        pl.read_parquet(source).write_parquet(target)


def release(source: Path, target: Path, *, html: bool = False) -> None:
    import mahrem as mh

    mh.anonymize(
        source,
        quasi=QUASI,
        sensitive="diagnosis",
        rest="insensitive",
        k=5,
        output=target,
        force=True,
        html=html,
        format="csv" if source.suffix == ".csv" else "parquet",
    )


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Give how long something takes by the clock, and how much of the processors' time."""
    began, used = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - began, time.process_time() - used


def resident_peak() -> float:
    """Give the most memory this process has held so far, in MB."""
    found = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text(encoding="ascii"))
    assert found is not None
    return int(found[1]) / 1024


def peak_growth(source: Path, target: Path) -> float:
    """Run one release in a fresh process and give how far its memory grew, in MB."""
    code = (
        "import sys; from pathlib import Path; import bench_release as bench, mahrem.pipeline; "
        "before = bench.resident_peak(); bench.release(*map(Path, sys.argv[1:])); "
        "print(bench.resident_peak() - before)"
    )
    folder = str(Path(__file__).parent)
    done = subprocess.run(
        [sys.executable, "-c", code, str(source), str(target)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": folder},
    )
    return float(done.stdout.strip())


def measure(rows: int, ending: str, *, html: bool, repeats: int) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["MAHREM_STATE"] = f"{folder}/state"
        source, made = Path(folder, f"table.{ending}"), Path(folder, "release")
        copied = Path(folder, f"copy.{ending}")
        data = table(rows)
        data.write_csv(source) if ending == "csv" else data.write_parquet(source)
        del data
        release(source, made, html=html)  # warm: kernels compiled, file in the page cache
        pairs = [
            (*timed(lambda: release(source, made, html=html)), *timed(lambda: polars_alone(source, copied)))
            for _ in range(repeats)
        ]
        seconds, used, baseline, baseline_used = (min(column) for column in zip(*pairs, strict=True))
        pages = "with pages" if html else "no pages"
        return {
            "case": f"{ending} to verified {ending}, 7 quasi-identifiers, k=5, {pages}",
            "n": rows,
            "seconds": round(seconds, 4),
            "baseline": f"polars reading and writing {ending}",
            "baseline_seconds": round(baseline, 4),
            "ratio": round(seconds / baseline, 3),
            "cpu_seconds": round(used, 3),
            "cpu_ratio": round(used / baseline_used, 3),
            "peak_mb": round(peak_growth(source, made), 1),
            "file_mb": round(source.stat().st_size / 2**20, 1),
            "repeats": repeats,
        }


def in_fresh_process(code: str) -> float:
    best = float("inf")
    for _ in range(REPEATS):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
        best = min(best, time.perf_counter() - began)
    return best


def start_up() -> list[dict[str, object]]:
    bare = in_fresh_process("import numpy")
    cases = {
        "import mahrem": "import numpy, mahrem",
        "mahrem --help": "import sys; sys.argv = ['mahrem', '--help']; from mahrem.cli import main; main()",
    }
    rows = []
    for case, code in cases.items():
        seconds = in_fresh_process(code)
        rows.append(
            {
                "case": case,
                "n": 0,
                "seconds": round(seconds, 4),
                "baseline": "interpreter with NumPy",
                "baseline_seconds": round(bare, 4),
                "ratio": round(seconds / bare, 3),
                "peak_mb": None,
                "added_seconds": round(seconds - bare, 4),
            }
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print rows as JSON")
    parser.add_argument("--rows", type=float, nargs="+", default=[1e6])
    parser.add_argument("--formats", nargs="+", choices=["csv", "parquet"], default=["csv", "parquet"])
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--no-pages", action="store_true", help="leave out the rows with pages")
    parser.add_argument("--no-start", action="store_true", help="leave out how long starting takes")
    arguments = parser.parse_args()
    rows = [
        measure(int(count), ending, html=html, repeats=arguments.repeats)
        for count in arguments.rows
        for ending in arguments.formats
        for html in ((False,) if arguments.no_pages else (False, True))
    ]
    rows += [] if arguments.no_start else start_up()
    if arguments.json:
        print(json.dumps(rows, indent=2))
        return
    for row in rows:
        print(
            f"{row['case']:<64} n={row['n']:>9,} {row['seconds']:>8} s {row['ratio']:>7}x {row['baseline']}; "
            f"processor {row.get('cpu_ratio')}x, peak {row['peak_mb']} MB of {row.get('file_mb')} MB"
        )


if __name__ == "__main__":
    main()
