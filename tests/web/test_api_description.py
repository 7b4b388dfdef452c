"""The API keeps to its own description."""

from __future__ import annotations

import pytest

from web_fuzzing import fuzz
from web_server import Server


def test_made_up_requests_meet_no_server_error_and_only_documented_answers(server: Server) -> None:
    pytest.importorskip("schemathesis")
    seen = fuzz(server, 120)
    assert sum(seen.values()) >= 120
    assert all(status < 500 for status in seen)
    assert {200, 404, 422} <= set(seen)


def test_every_route_says_what_errors_look_like(server: Server) -> None:
    described = server.client.get("/api/v1/openapi.json").json()
    for path, methods in described["paths"].items():
        assert path.startswith("/api/v1/")
        for about in methods.values():
            assert about["description"]
            for status in ("401", "404", "422"):
                assert "ErrorBody" in str(about["responses"][status])


def test_errors_have_one_form_everywhere(server: Server) -> None:
    answers = [
        server.client.get("/api/v1/nothing"),
        server.client.patch("/api/v1/projects"),
        server.client.post("/api/v1/projects", content=b"{", headers={"content-type": "application/json"}),
        server.client.get("/api/v1/projects/none"),
        server.client.get(f"/api/v1/jobs/{'0' * 32}"),
    ]
    assert [answer.status_code for answer in answers] == [404, 405, 422, 422, 404]
    for answer in answers:
        assert set(answer.json()["error"]) == {"code", "message", "hint"}
