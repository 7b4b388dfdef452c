"""What a server may take, and where it listens: a socket, a limit on disk, large trees elsewhere."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import httpx
import pytest

from mahrem.errors import InvalidParameter, MahremError
from mahrem.web import ServeSettings
from mahrem.web.jobs import _trees as trees
from web_server import Server, serving

TABLE = b"age,sex\n" + b"31,f\n42,m\n" * 40


def test_a_socket_is_reached_by_its_owner_alone_and_goes_with_the_server(tmp_path: Path) -> None:
    place = tmp_path / "mahrem.sock"
    with serving(tmp_path / "one", "--socket", str(place)) as server:
        assert stat.S_IMODE(place.stat().st_mode) == 0o600
        key = (server.state / "api-key").read_text()
        transport = httpx.HTTPTransport(uds=str(place))
        with httpx.Client(transport=transport, base_url="http://localhost") as client:
            assert client.get("/api/v1/about").status_code == 401
            headers = {"authorization": f"Bearer {key}"}
            assert client.get("/api/v1/about", headers=headers).status_code == 200
            elsewhere = {**headers, "host": "evil.example"}
            assert client.get("/api/v1/about", headers=elsewhere).status_code == 421
    assert not place.exists()


def test_a_socket_goes_with_nothing_that_other_machines_can_reach(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="socket is for this machine alone"):
        ServeSettings(socket=tmp_path / "s", host="::1", state=tmp_path)


def test_what_goes_beyond_the_disk_it_may_use_is_refused_in_words(tmp_path: Path) -> None:
    with serving(tmp_path, "--max-disk", "200kB") as server:
        project = server.project(TABLE)
        place = f"/api/v1/projects/{project}/source"
        large = server.client.put(place, content=b"age,sex\n" + b"31,f\n" * 60_000)
        assert (large.status_code, large.json()["error"]["code"]) == (413, "file_too_large")
        (server.state / "projects" / project / "source-filler").write_bytes(bytes(300_000))
        full = server.client.put(place, content=TABLE)
        assert (full.status_code, full.json()["error"]["code"]) == (413, "no_room")
        job = server.run(project, "run/audit")
        assert (job["state"], job["error"]["code"]) == ("failed", "no_room")


def tree_of(leaves: int) -> dict[str, Any]:
    groups = [
        {"label": f"{n * 10}-{n * 10 + 9}", "children": [{"label": str(n * 10 + m)} for m in range(10)]}
        for n in range(leaves // 10)
    ]
    return {"label": "*", "children": groups}


def test_large_trees_are_judged_elsewhere_as_small_ones_are_here(tmp_path: Path) -> None:
    small, large = tree_of(50), tree_of(5000)
    assert trees.check_tree_of(small, tmp_path / "small.csv") == trees.work(small, None)
    assert trees.check_tree_of(large, tmp_path / "large.csv") == trees.work(large, tmp_path / "here.csv")
    assert (tmp_path / "large.csv").read_bytes() == (tmp_path / "here.csv").read_bytes()
    broken = {
        "label": "*",
        "children": [{"label": str(place), "children": [{"label": "a"}]} for place in range(4000)],
    }  # one leaf below many nodes
    with pytest.raises(MahremError) as here:
        trees.work(broken, None)
    with pytest.raises(MahremError) as there:
        trees.check_tree_of(broken)
    assert str(here.value).startswith(str(there.value))


def test_a_page_hears_how_a_job_goes_until_its_end(server: Server) -> None:
    project = server.project()
    assert server.run(project, "run/anonymize")["state"] == "done"
    job = server.begin(project, "run/anonymize")
    with server.client.stream("GET", f"/projects/{project}/jobs/{job}/events") as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        told = [line.removeprefix("data: ") for line in answer.iter_lines() if line]
    heard = [json.loads(line) for line in told]
    assert heard[-1]["state"] == "done"
    shares = [one["share"] for one in heard if one.get("share") is not None]
    assert shares, "the second job of a kind says how far it is"
    assert all(0 <= share <= 1 for share in shares)
    assert shares == sorted(shares)
    other = "0" * 32
    assert server.client.get(f"/projects/{other}/jobs/{job}/events").status_code == 404
