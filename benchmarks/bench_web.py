"""What does the page cost, each against a named baseline in the same run?

First page of a warm server against a bare answer of the same server; memory of the server while 100 MB arrive
and are looked at, against before; anonymising a table through the API against the command line; a job
with 50 clients that ask for it once a second against the same job alone; answers of the explorer at three
sizes, median and the 95th of 100, against a bare answer of the same server. Repeats are interleaved and the
minimum counts. ``python benchmarks/bench_web.py --json``; ``--cases first,upload`` picks some.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import _timing as timing
import httpx
import numpy as np

ROLES = ["--qi", "age,zip,hours", "--sensitive", "cost", "--rest", "drop", "-k", "10"]
CLIENTS = 50
EXPLORED = 100  # tries for each size
FINISHED = ("done", "failed", "cancelled", "interrupted")


class Row(timing.Row):
    """One figure."""

    repeats: int


class Options(argparse.Namespace):
    """What the command line says."""

    json: bool
    cases: str
    rows: int
    megabytes: int
    repeats: int


class Server:
    """A server in a process of its own, and a client with the key for scripts."""

    def __init__(self, folder: Path) -> None:
        state = folder / "state"
        command = [sys.executable, "-m", "mahrem", "serve", "--no-open", "--port", "0", "--state", str(state)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment(folder))
        assert self.process.stdout is not None
        text = b""
        while not (found := re.search(rb"(http://\S+)/start", text)):
            text += os.read(self.process.stdout.fileno(), 4096)
        self.home = found[1].decode()
        headers = {"authorization": f"Bearer {(state / 'api-key').read_text()}"}
        self.client = httpx.Client(base_url=self.home, headers=headers, timeout=600)

    def memory(self, what: str) -> float:
        """Megabytes the server has now (VmRSS) or had at most (VmHWM)."""
        return timing.memory(what, self.process.pid)

    def open(self, path: Path) -> str:
        """Send a file and wait until its columns are known."""
        project: str = self.client.post("/api/v1/projects", json={}).json()["id"]
        with path.open("rb") as file:
            answer = self.client.put(f"/api/v1/projects/{project}/source", content=file)
        self.wait(answer.json()["job"]["id"])
        return project

    def wait(self, job: str) -> Mapping[str, Any]:
        """Wait for the end of a job, asking seldom."""
        while True:
            found: dict[str, Any] = self.client.get(f"/api/v1/jobs/{job}").json()
            if found["state"] in FINISHED:
                assert found["state"] == "done", found["error"]
                return found
            time.sleep(0.05)

    def anonymize(self, project: str) -> None:
        """Anonymise through the API, report and all."""
        answer = self.client.post(f"/api/v1/projects/{project}/run/anonymize")
        self.wait(answer.json()["job"]["id"])

    def stop(self) -> None:
        """End it."""
        self.client.close()
        self.process.terminate()
        self.process.wait(30)


def environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "MAHREM_STATE": str(folder / "own"), "PYTHONUNBUFFERED": "1"}


def table(rows: int, path: Path) -> Path:
    """Write people nobody is."""
    import polars as pl

    rng = np.random.default_rng(0)
    pl.DataFrame(
        {
            "age": rng.integers(0, 100, rows),
            "zip": rng.integers(10_000, 99_999, rows),
            "hours": rng.integers(0, 80, rows),
            "cost": rng.integers(0, 10_000, rows),
        }
    ).write_csv(path)
    return path


def first_page(server: Server, repeats: int) -> Row:
    times: dict[str, list[float]] = {"page": [], "bare": []}
    for _ in range(max(repeats, 5) * 4):
        for name, path in (("page", "/projects"), ("bare", "/static/page.css")):
            start = time.perf_counter()
            assert server.client.get(path).status_code == 200
            times[name].append(time.perf_counter() - start)
    return row(
        "first page of a warm server", 1, min(times["page"]), "a static file", min(times["bare"]), repeats
    )


def upload(server: Server, folder: Path, megabytes: int) -> Row:
    path = table(megabytes * 10**6 // 18, folder / "large.csv")
    small = table(1000, folder / "small.csv")
    server.open(small)
    Path(f"/proc/{server.process.pid}/clear_refs").write_text("5", encoding="ascii")
    before = server.memory("VmRSS")
    start = time.perf_counter()
    server.open(path)
    seconds = time.perf_counter() - start
    grown = server.memory("VmHWM") - before
    start = time.perf_counter()
    command = [sys.executable, "-m", "mahrem", "inspect", str(path), "--quiet"]
    subprocess.run(command, check=True, env=environment(folder))
    alone = time.perf_counter() - start
    size = path.stat().st_size // 10**6
    found = row(f"{size} MB sent and looked at", size, seconds, "mahrem inspect", alone, 1)
    return {**found, "peak_mb": round(grown, 1)}


def anonymize(server: Server, folder: Path, rows: int, repeats: int) -> Row:
    path = table(rows, folder / "rows.csv")
    project = prepared(server, path)
    output = folder / "release"
    command = [
        sys.executable,
        "-m",
        "mahrem",
        "anonymize",
        str(path),
        *ROLES,
        "-o",
        str(output),
        "--force",
        "--quiet",
    ]
    works: dict[str, Callable[[], object]] = {
        "page": lambda: server.anonymize(project),
        "command": lambda: subprocess.run(command, check=True, env=environment(folder)),
    }
    best = timing.interleaved(works, repeats)
    return row("anonymise through the API", rows, best["page"], "mahrem anonymize", best["command"], repeats)


def pollers(server: Server, folder: Path, rows: int, repeats: int) -> Row:
    project = prepared(server, table(rows, folder / "rows.csv"))
    works: dict[str, Callable[[], object]] = {
        "alone": lambda: server.anonymize(project),
        "asked": lambda: watched(server, project),
    }
    best = timing.interleaved(works, repeats)
    return row(
        f"a job with {CLIENTS} clients asking", rows, best["asked"], "the job alone", best["alone"], repeats
    )


def explore(server: Server, folder: Path, rows: int) -> Row:
    """Move k, coarseness and weights to and fro, one answer after the other, as a hand does."""
    project = prepared(server, table(rows, folder / f"rows-{rows}.csv"))
    place = f"/api/v1/projects/{project}"
    columns = server.client.get(place).json()["choices"]
    server.client.post(f"{place}/explore", json={}).raise_for_status()  # the table is read then
    taken, bare, tried = [], [], 0
    for turn in range(EXPLORED):
        columns["columns"]["age"] |= {"weights": 1.0 + turn % 3, "at_least": (None, 5, 10)[turn % 3]}
        wish = {"promises": {"k": 2 + turn % 30}, "columns": columns}
        start = time.perf_counter()
        answer = server.client.post(f"{place}/explore", json=wish)
        taken.append(time.perf_counter() - start)
        tried = answer.raise_for_status().json()["trial"]["tried"]
        start = time.perf_counter()
        server.client.get("/static/page.css").raise_for_status()
        bare.append(time.perf_counter() - start)
    middle, late = (float(np.quantile(taken, share)) for share in (0.5, 0.95))
    case = f"explorer, {tried} of {rows} rows tried, 95 % within {late:.3f} s; median"
    return row(case, rows, middle, "a static file", float(np.median(bare)), EXPLORED)


def prepared(server: Server, path: Path) -> str:
    project = server.open(path)
    roles = {"age": "quasi", "zip": "quasi", "hours": "quasi", "cost": "sensitive"}
    columns = {"columns": {name: {"role": role} for name, role in roles.items()}}
    assert server.client.put(f"/api/v1/projects/{project}/columns", json=columns).status_code == 200
    assert server.client.put(f"/api/v1/projects/{project}/promises", json={"k": 10}).status_code == 200
    return project


def watched(server: Server, project: str) -> None:
    """Anonymise while many clients ask how it goes, once a second each."""
    with asking(server, project):
        server.anonymize(project)


@contextmanager
def asking(server: Server, project: str) -> Iterator[None]:
    over = threading.Event()

    def ask(number: int) -> None:
        over.wait(number / CLIENTS)
        with httpx.Client(base_url=server.home, headers=dict(server.client.headers)) as client:
            while not over.wait(1.0):
                client.get(f"/api/v1/projects/{project}/jobs")

    threads = [threading.Thread(target=ask, args=[number]) for number in range(CLIENTS)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()


def row(case: str, n: int, seconds: float, baseline: str, against: float, repeats: int) -> Row:
    return {
        "case": case,
        "n": n,
        "seconds": round(seconds, 4),
        "baseline": baseline,
        "baseline_seconds": round(against, 4),
        "ratio": round(seconds / against, 3),
        "peak_mb": None,
        "repeats": repeats,
    }


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--json", action="store_true")
    reader.add_argument(
        "--cases", default="first,upload,anonymize,pollers,explore-2000,explore-30000,explore-1000000"
    )
    reader.add_argument("--rows", type=int, default=1_000_000)
    reader.add_argument("--megabytes", type=int, default=100)
    reader.add_argument("--repeats", type=int, default=5)
    said = reader.parse_args(namespace=Options())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        server = Server(folder)
        cases: dict[str, Callable[[], Row]] = {
            "first": lambda: first_page(server, said.repeats),
            "upload": lambda: upload(server, folder, said.megabytes),
            "anonymize": lambda: anonymize(server, folder, said.rows, said.repeats),
            "explore-2000": lambda: explore(server, folder, 2000),
            "explore-30000": lambda: explore(server, folder, 30_000),
            "explore-1000000": lambda: explore(server, folder, 1_000_000),
            "pollers": lambda: pollers(server, folder, said.rows, said.repeats),
        }
        try:
            rows = [cases[case]() for case in said.cases.split(",")]
        finally:
            server.stop()
    if said.json:
        timing.print_json(rows)
        return
    for one in rows:
        peak = "" if one["peak_mb"] is None else f", the server grew by {one['peak_mb']} MB"
        against = f"{one['baseline']} {one['baseline_seconds']} s"
        print(f"{one['case']}: {one['seconds']} s, {against}, x{one['ratio']}{peak}")


if __name__ == "__main__":
    main()
