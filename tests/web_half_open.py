"""Connections that are held half open: ``python tests/web_half_open.py --connections 2000 --seconds 60``.

A client from before, jobs that run and raw data whose time is up: all of it must go on while others hold
connections that never finish their request.
"""

from __future__ import annotations

import argparse
import json
import resource
import socket
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx

from web_server import Server, serving

PEOPLE = b"age,sex\n" + b"31,f\n42,m\n" * 40
KEPT = 0.01  # hours that raw data stays: 36 seconds


def hold(server: Server, connections: int, seconds: float) -> dict[str, Any]:
    """Hold connections, opening new ones for those the server ends; gives what a client saw meanwhile."""
    place = server.home.removeprefix("http://").split(":")
    address = place[0], int(place[1])
    idle, working = server.project(PEOPLE), server.project()
    raw = server.state / "projects" / idle
    begun, held, answers, opened, gone, jobs = time.monotonic(), [], [], 0, None, []
    job = server.begin(working, "run/audit")
    while time.monotonic() - begun < seconds:
        held = [one for one in held if _open(one)]
        while len(held) < connections and time.monotonic() - begun < seconds:
            try:
                one = socket.create_connection(address, timeout=2)
                one.send(b"GET /projects HTTP/1.1\r\nHost: 127.0.0.1")
                one.setblocking(False)
            except OSError:
                break
            held.append(one)
            opened += 1
        asked = time.monotonic()
        status = _asked(server, "/api/v1/health").status_code
        answers.append((status, time.monotonic() - asked))
        if _asked(server, f"/api/v1/jobs/{job}").json()["state"] == "done":
            jobs.append(time.monotonic() - begun)
            job = server.begin(working, "run/audit")
        if gone is None and not any(path.name.startswith("source") for path in raw.iterdir()):
            gone = time.monotonic() - begun
        time.sleep(0.2)
    most = len(held)
    for one in held:
        one.close()
    slowest = sorted(wait for _, wait in answers)
    return {
        "held_at_the_end": most,
        "opened": opened,
        "seconds": round(time.monotonic() - begun, 1),
        "answers": len(answers),
        "not_200": sum(status != 200 for status, _ in answers),
        "p50": round(slowest[len(slowest) // 2], 4),
        "p95": round(slowest[int(0.95 * len(slowest))], 4),
        "slowest": round(slowest[-1], 4),
        "jobs_done": len(jobs),
        "raw_data_gone_after": None if gone is None else round(gone, 1),
        "raw_data_may_stay": 3600 * KEPT,
        "health": server.client.get("/api/v1/health").json(),
    }


def _asked(server: Server, place: str, tries: int = 3) -> httpx.Response:
    """Ask again where a resting connection has ended, as every browser does."""
    try:
        return server.client.get(place)
    except httpx.RemoteProtocolError:
        if tries == 1:
            raise
        return _asked(server, place, tries - 1)


def _open(one: socket.socket) -> bool:
    try:
        return one.recv(1) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False


def main() -> int:
    """Hold connections and print what a person saw meanwhile."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--connections", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=60)
    options = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 2 * options.connections + 500), hard))
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder), "--keep-hours", str(KEPT)) as server:
        seen = hold(server, options.connections, options.seconds)
    sys.stdout.write(json.dumps(seen, indent=2) + "\n")
    return 0 if seen["not_200"] == 0 and seen["raw_data_gone_after"] and seen["jobs_done"] else 1


if __name__ == "__main__":
    raise SystemExit(main())
