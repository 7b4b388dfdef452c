"""How long does a full audit take, against one polars group-by over the same quasi-identifiers?

All privacy models and all risk figures on a published table of 1e6 rows and six quasi-identifiers; the
t-closeness check alone against pyCANON's on 4,000 rows in 800 classes, whose time depends much on how many
sensitive values there are, so both few and many (``--pycanon`` or MAHREM_PEER_PYCANON names a Python that has
it; else its rows are left out); and an audit of a Parquet file four times larger than the memory given.
Repeats are interleaved and the minimum counts; pyCANON runs in its own process, with 400 values only once.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
from _timing import interleaved, print_json

QUASI = ("age", "sex", "zip", "height", "admission", "income")
SENSITIVE: dict[str, dict[str, object]] = {
    "diagnosis": {"l": 1, "t": 1.0, "alpha": 1.0, "beta": 1e6, "delta_disclosure": 100.0},
    "ward": {"l": 1.0, "l_kind": "entropy", "t": 100.0, "t_kind": "kl", "beta": 1e6, "beta_kind": "enhanced"},
    "stage": {"l": 1, "l_kind": "recursive", "c": 1e6, "t": 1.0, "t_kind": "ordered"},
}
MODELS = 11  # k and the ten above
MEMORY = 512 * 10**6
BYTES_A_CELL = 40  # text in memory while it is grouped; what the audit itself reckons with

PYCANON = """
import json, sys, time
import pandas as pd
from pycanon import anonymity
frame = pd.read_csv(sys.argv[1], dtype=str)
best = float("inf")
for _ in range(int(sys.argv[2])):
    began = time.perf_counter()
    found = anonymity.t_closeness(frame, ["a", "b", "c"], ["ill"])
    best = min(best, time.perf_counter() - began)
print(json.dumps([best, float(found)]))
"""


def published(rows: int, seed: int = 3) -> pl.DataFrame:
    """A table as a release shows it: ranges, sets and beginnings as text, in classes of about seven rows."""
    rng = np.random.default_rng(seed)
    classes = max(1, rows // 7)
    of_row = rng.integers(0, classes, rows)

    def shown(texts: pl.Series) -> pl.Series:
        return texts.gather(rng.integers(0, len(texts), classes)).gather(of_row)

    def ranges(step: int, count: int) -> pl.Series:
        return pl.Series([f"[{at}, {at + step - 1}]" for at in range(0, step * count, step)])

    return pl.DataFrame(
        {
            "age": shown(ranges(5, 20)),
            "sex": shown(pl.Series(["female", "male", "{female, male}"])),
            "zip": shown(pl.Series([f"{at:03d}**" for at in range(1000)])),
            "height": shown(ranges(4, 25)),
            "admission": shown(pl.Series([f"[2020-{at:02d}-01, 2020-{at:02d}-28]" for at in range(1, 13)])),
            "income": shown(ranges(1000, 200)),
            "diagnosis": pl.Series(["flu", "gout", "asthma", "fracture", "migraine", "none"]).gather(
                rng.integers(0, 6, rows)
            ),
            "ward": pl.Series(["A", "B", "C", "D"]).gather(rng.integers(0, 4, rows)),
            "stage": rng.integers(0, 10, rows),
        }
    )


def row(
    case: str, rows: int, seconds: float, baseline: str, other: float, **more: object
) -> dict[str, object]:
    """Give one figure as every benchmark does."""
    ratio = seconds / other if other else None
    return {
        "case": case,
        "n": rows,
        "seconds": round(seconds, 5),
        "baseline": baseline,
        "baseline_seconds": round(other, 5),
        "ratio": None if ratio is None else round(ratio, 6),
        "peak_mb": None,
        **more,
    }


def full_audit(rows: int, repeats: int) -> dict[str, object]:
    """All models and all risk figures on a table in memory."""
    import mahrem as mh

    frame = published(rows)

    def audit() -> object:
        return mh.audit(frame, quasi=QUASI, sensitive=SENSITIVE, k=1, fraction=0.1)

    works = {"audit": audit, "group": lambda: frame.group_by(QUASI).len()}
    best = interleaved(works, repeats)
    told = mh.audit(frame, quasi=QUASI, sensitive=SENSITIVE, k=1, fraction=0.1).report
    models = len(told["promises"])
    assert models == MODELS, models
    return row(
        f"full audit, {models} promises, all risk figures",
        rows,
        best["audit"],
        "one polars group_by over six quasi-identifiers",
        best["group"],
        repeats=repeats,
    )


def classes_of_five(values: int) -> pl.DataFrame:
    """4,000 rows in 800 classes; a sensitive column with so many values."""
    of_class = np.repeat(np.arange(800), 5)
    return pl.DataFrame(
        {
            "a": (of_class % 10).astype(str),
            "b": (of_class // 10 % 10).astype(str),
            "c": (of_class // 100).astype(str),
            "ill": np.random.default_rng(5).integers(0, values, 4000).astype(str),
        }
    )


def against_pycanon(python: str, repeats: int, values: int) -> dict[str, object] | None:
    """The t that a table reaches, and nothing else, on the same table for both."""
    from mahrem.models import EqualCloseness, Promise
    from mahrem.table import Column, Kind, Role
    from mahrem.verify import Claims, verify

    if not python or not Path(python).is_file():
        print("pycanon: left out, no Python that has it was named", file=sys.stderr)
        return None
    frame = classes_of_five(values)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.csv")
        frame.write_csv(path)
        command = [python, "-c", PYCANON, str(path), str(repeats if values < 100 else 1)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    theirs, found = json.loads(done.stdout)
    column = Column(name="ill", role=Role.SENSITIVE, kind=Kind.CATEGORICAL)
    promise = Promise(EqualCloseness(1.0), "ill")

    def closeness() -> float | None:
        told = verify(
            frame.lazy(), Claims(quasi=["a", "b", "c"], promises=[promise], sensitive={"ill": column})
        )
        return told.outcomes[0].reached

    best = interleaved({"ours": closeness}, repeats)["ours"]
    reached = closeness()
    assert reached is not None
    assert abs(reached - found) < 1e-9, (reached, found)
    return row(
        f"t-closeness, 800 classes, {values} values",
        frame.height,
        best,
        "pycanon t_closeness",
        theirs,
        times_faster=round(theirs / best, 1),
        reached=round(reached, 6),
        repeats=repeats,
    )


def larger_than_memory(rows: int) -> dict[str, object]:
    """A Parquet file that would need four times the memory given, audited in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "large.parquet")
        _write_large(path, rows)
        code = (
            "import sys, json, mahrem.pipeline as p\n"
            "found = p.audit(sys.argv[1], quasi=json.loads(sys.argv[2]), sensitive='diagnosis', k=1, l=1, "
            "memory=int(sys.argv[3]))\n"
            # not getrusage: it remembers the parent's memory across the fork
            "status = open('/proc/self/status').read()\n"
            "peak = int(status.split('VmHWM:')[1].split()[0])\n"
            "print(json.dumps([found.report['seconds'], peak / 1024, found.report['rows']]))"
        )
        command = [sys.executable, "-c", code, str(path), json.dumps(QUASI), str(MEMORY)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        seconds, peak, seen = json.loads(done.stdout)
        assert seen == rows
        needed = rows * (len(QUASI) + 1) * BYTES_A_CELL
        return {
            "case": "Parquet larger than the memory given",
            "n": rows,
            "seconds": round(seconds, 2),
            "baseline": f"memory given: {MEMORY // 10**6} MB; in memory it would need about",
            "baseline_seconds": None,
            "ratio": round(needed / MEMORY, 2),
            "peak_mb": round(peak, 1),
            "file_mb": round(path.stat().st_size / 2**20, 1),
        }


def _write_large(path: Path, rows: int) -> None:
    """Write in parts: this process must not hold the table either."""
    import pyarrow.parquet as pq

    writer = None
    for seed, start in enumerate(range(0, rows, 500_000)):
        part = published(min(500_000, rows - start), seed).to_arrow(compat_level=pl.CompatLevel.oldest())
        writer = writer or pq.ParquetWriter(path, part.schema)
        writer.write_table(part)
    if writer is not None:
        writer.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print rows as JSON")
    parser.add_argument("--rows", type=float, default=1e6)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--large", type=float, default=7.4e6, help="rows of the large file; 0 leaves it out")
    parser.add_argument("--pycanon", default=os.environ.get("MAHREM_PEER_PYCANON", ""))
    arguments = parser.parse_args()
    rows = [
        full_audit(int(arguments.rows), arguments.repeats),
        *(against_pycanon(arguments.pycanon, arguments.repeats, values) for values in (20, 400)),
        larger_than_memory(int(arguments.large)) if arguments.large else None,
    ]
    kept = [entry for entry in rows if entry is not None]
    if arguments.json:
        print_json(kept)
        return
    for entry in kept:
        print(
            f"{entry['case']:<48} n={entry['n']:>9,} {entry['seconds']:>9} s "
            f"{entry['ratio']}x {entry['baseline']}"
        )


if __name__ == "__main__":
    main()
