"""What was made of a table and what became of it; policies that are looked at first and then taken."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest

from mahrem.release.decisions import READY_POLICIES
from mahrem.release.folders import verify_release
from web_server import Server

PEOPLE = b"age,sex,illness\n" + b"".join(
    f"{20 + n % 50},{'fm'[n % 2]},{['flu', 'cold', 'gout'][n % 3]}\n".encode() for n in range(300)
)
NAMED = 'k = 3\nquasi = ["age", "sex"]\nsensitive = ["illness"]\nrest = "drop"\n'


@pytest.fixture(scope="module")
def looked(server: Server) -> str:
    """A project whose columns were looked at."""
    return server.project()


def releases(server: Server, project: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = server.client.get(f"/api/v1/projects/{project}/releases").json()["releases"]
    return found


def test_releases_are_published_signed_compared_withdrawn_and_forgotten(
    server: Server, tmp_path: Path
) -> None:
    project = server.project()
    place = f"/api/v1/projects/{project}"
    promises = server.client.get(place).json()["promises"]
    jobs = []
    for k in (5, 8, 8):
        server.client.put(f"{place}/promises", json={**promises, "k": k})
        jobs.append(server.run(project, "run/anonymize")["id"])
    first, superseded, last = jobs
    newest, _, oldest = releases(server, project)
    assert (newest["job"], newest["figures"]["k"], newest["old"], newest["current"]) == (last, 8, False, True)
    assert (oldest["job"], oldest["figures"]["k"], oldest["old"], oldest["current"]) == (
        first,
        5,
        True,
        False,
    )
    assert {one["state"] for one in (newest, oldest)} == {"draft"}
    assert (
        server.client.post(f"{place}/releases/{first}/published").json()["releases"][2]["state"]
        == "published"
    )
    refused = [
        server.client.delete(f"{place}/releases/{first}"),
        server.client.post(f"{place}/releases/{first}/draft"),
        server.client.post(f"{place}/releases/{'0' * 32}/published"),
        server.client.post(f"{place}/releases/{first}/burnt"),
        server.client.get(f"{place}/differences/{first}/{first}"),
    ]
    assert [answer.status_code for answer in refused] == [409, 409, 404, 422, 422]
    assert server.client.post(f"{place}/signatures/{first}").json()["releases"][2]["signed"]
    signed = server.state / "projects" / project / f"job-{first}" / "release" / "signature.json"
    for private in (signed, server.state / "signing-key", server.state / "signing-key.pub"):
        assert private.stat().st_mode & 0o777 == 0o600
    packed = server.client.get(f"{place}/releases/{first}/release.zip").content
    zipfile.ZipFile(io.BytesIO(packed)).extractall(tmp_path / "release")
    (tmp_path / "key.pub").write_bytes(server.client.get("/api/v1/signing-key").content)
    assert verify_release(tmp_path / "release", tmp_path / "key.pub").trusted
    page = server.client.get(f"{place}/differences/{first}/{last}")
    assert "asked for 5" in page.text
    assert "asked for 8" in page.text
    assert "script" not in page.headers["content-security-policy"]

    server.client.delete(f"{place}/source")  # superseded drafts go with it, what was handed out does not
    folder = server.state / "projects" / project
    assert [(folder / f"job-{job}").is_dir() for job in jobs] == [True, False, True]
    assert {one["job"] for one in releases(server, project)} == {first, last}
    server.client.post(f"{place}/releases/{first}/withdrawn")
    after = server.client.delete(f"{place}/releases/{first}").json()
    assert [one["job"] for one in after["releases"]] == [last]
    assert "anonymize" not in server.client.delete(f"{place}/releases/{last}").json()["jobs"]
    assert server.client.get(f"{place}/release.zip").status_code == 409
    assert "/run" in server.client.get(f"/projects/{project}/result").text.split("<main", 1)[1]
    assert not (folder / f"job-{superseded}").exists()


def test_a_policy_that_was_downloaded_decides_the_same_again(server: Server, looked: str) -> None:
    project = looked
    place = f"/api/v1/projects/{project}"
    before = server.client.get(place).json()
    text = server.client.get(f"{place}/policy.toml").text
    server.client.put(f"{place}/columns", json={"columns": {"age": {"role": "quasi"}}})
    server.client.put(f"{place}/promises", json={"k": 2})
    assert server.run(project, "policy", {"text": text})["state"] == "done"
    assert server.client.get(place).json()["promises"]["k"] == 2  # looking decides nothing
    after = server.client.post(f"{place}/policy/adopt").json()
    assert after["choices"] == before["choices"]
    assert after["promises"] == before["promises"]
    assert server.client.post(f"{place}/undo").json()["promises"]["k"] == 2


def test_a_ready_policy_says_what_it_does_with_every_column(server: Server, looked: str) -> None:
    place = f"/api/v1/projects/{looked}"
    names = [column["name"] for column in server.client.get(place).json()["profile"]["columns"]]
    for name in READY_POLICIES:
        job = server.run(looked, "policy", {"ready": name})
        found = server.client.get(f"/api/v1/jobs/{job['id']}/result").json()
        assert [column["name"] for column in found["columns"]] == names
        page = server.client.get(f"/projects/{looked}/history").text
        assert all(
            f'<th scope="row" class="wide">{column["name"]}</th>' in page for column in found["columns"]
        )
        adopted = server.client.post(f"{place}/policy/adopt")
        assert adopted.status_code == 200, adopted.text
        chosen = adopted.json()["choices"]["columns"]
        assert all(chosen[one]["role"] != "insensitive" for one in ("name", "patient_id") if one in chosen)


def test_a_policy_that_names_files_or_is_none_is_refused_in_words(server: Server, looked: str) -> None:
    place = f"/api/v1/projects/{looked}/policy"
    wishes = [
        {"text": NAMED + 'policy = "gdpr"'},
        {"text": NAMED + 'source = "x"'},
        {"text": NAMED + 'output = "/tmp/passwd"'},
        {"text": NAMED + "top = {age = 2020-01-01}"},
        {"text": NAMED + "top = {age = inf}"},
        {"text": 'k = 5\npopulation = "/etc/passwd"'},
        {"text": 'k = 5\n[hierarchy]\nage = "/etc/passwd"'},
        {"text": "k = "},
        {"text": "k = 5", "ready": "gdpr"},
        {},
        {"ready": "../gdpr"},
    ]
    answers = [server.client.post(place, json=wish) for wish in wishes]
    assert [answer.status_code for answer in answers] == [422] * len(wishes)
    assert not any("passwd" in answer.text for answer in answers)


@pytest.fixture(scope="module")
def plain(server: Server) -> str:
    """A project with three columns."""
    return server.project(PEOPLE)


@pytest.mark.parametrize(
    "line",
    [
        'sensitive = ["illnes"]',
        'identifier = ["illnes"]',
        'insensitive = ["illnes"]',
        'sensitive = ["illness"]\nsubject = "illnes"',
        'sensitive = ["illness"]\n[grid]\nilnes = 10',
        'sensitive = ["illness"]\n[kind]\nillnes = "categorical"',
        'sensitive = ["illness"]\n[accept]\nillnes = "known"',
    ],
)
def test_a_policy_with_a_misspelt_column_is_refused_with_the_nearest_name(
    server: Server, plain: str, line: str
) -> None:
    text = f'k = 3\nquasi = ["age", "sex"]\nrest = "insensitive"\n{line}'
    failed = server.run(plain, "policy", {"text": text})
    assert (failed["state"], failed["error"]["code"]) == ("failed", "column_not_found")
    assert failed["error"]["hint"] == "did you mean illness?"


def test_the_look_has_a_line_for_every_column_that_a_policy_names_or_not(server: Server, plain: str) -> None:
    for text, becomes in {
        NAMED: ["quasi", "quasi", "sensitive"],
        'k = 3\nquasi = ["age"]\nrest = "insensitive"': ["quasi", "insensitive", "insensitive"],
        "k = 3": ["as_before"] * 3,
    }.items():
        job = server.run(plain, "policy", {"text": text})
        found = server.client.get(f"/api/v1/jobs/{job['id']}/result").json()["columns"]
        assert [one["name"] for one in found] == ["age", "sex", "illness"]
        assert [one["becomes"]["code"].removeprefix("decision.") for one in found] == becomes


def test_a_policy_that_names_no_column_leaves_columns_as_they_were(server: Server) -> None:
    project = server.project(PEOPLE)
    place = f"/api/v1/projects/{project}"
    before = server.client.get(place).json()
    server.run(project, "policy", {"text": "k = 7"})
    after = server.client.post(f"{place}/policy/adopt").json()
    assert after["promises"]["k"] == 7
    assert (after["choices"], after["settled"]) == (before["choices"], before["settled"])


def test_a_policy_is_not_taken_for_another_table_than_it_was_looked_at_with(server: Server) -> None:
    project = server.project(PEOPLE)
    place = f"/api/v1/projects/{project}"
    assert server.run(project, "policy", {"text": NAMED.replace("drop", "insensitive")})["state"] == "done"
    assert 'value="adopt"' in server.client.get(f"/projects/{project}/history").text
    wider = b"\n".join(line + b",x" for line in PEOPLE.splitlines()) + b"\n"
    sent = server.client.put(f"{place}/source", params={"name": "b.csv"}, content=wider)
    server.wait(sent.json()["job"]["id"])
    refused = server.client.post(f"{place}/policy/adopt")
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "another_table")
    assert 'value="adopt"' not in server.client.get(f"/projects/{project}/history").text
    assert not server.client.get(place).json()["settled"]


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("seed = 7", "seed"),
        ("suppression_limit = 0.1", "suppression_limit"),
        ('region = "DE"', "region"),
        ('encoding = "latin-1"', None),
        ('null = ["?"]', None),
        ("skip_rows = 1", None),
        ('[accept]\n"*" = "known"', None),
        ('pseudonym = {sex = "key"}', None),
        ("shift_days = 3", None),
        ('memory = "1GB"', None),
    ],
)
def test_what_a_policy_says_is_kept_or_refused(
    server: Server, plain: str, line: str, kept: str | None
) -> None:
    place = f"/api/v1/projects/{plain}"
    answer = server.client.post(f"{place}/policy", json={"text": NAMED + line})
    looked = answer.status_code == 202 and server.wait(answer.json()["job"]["id"])["state"] == "done"
    assert looked == (kept is not None), answer.text
    if kept is not None:
        after = server.client.post(f"{place}/policy/adopt").json()
        assert {**after["promises"], **after["reading"]}[kept] is not None
        assert server.client.post(f"{place}/undo").json()["reading"]["region"] is None


def decided(server: Server) -> str:
    """A project whose columns were decided about."""
    project = server.project(PEOPLE)
    roles = {"age": {"role": "quasi"}, "sex": {"role": "quasi"}, "illness": {"role": "sensitive"}}
    server.client.put(f"/api/v1/projects/{project}/columns", json={"columns": roles})
    return project


def test_attacks_stand_under_the_release_they_were_on_alone(server: Server) -> None:
    project = decided(server)
    place = f"/api/v1/projects/{project}"

    def attacks() -> str:
        page = server.client.get(f"/projects/{project}/result").text
        return page.split('id="team"', 1)[1].split("</section>", 1)[0]

    first = server.run(project, "run/anonymize")["id"]
    own = attacks()
    job = server.run(project, "run/attack", {"trials": 60})["id"]
    attacked = attacks()
    second = server.run(project, "run/anonymize")["id"]
    assert attacked not in (own, attacks())
    server.client.delete(f"{place}/releases/{first}")
    known = server.client.get(place).json()["jobs"]
    assert (known["anonymize"], "attack" in known) == (second, False)
    assert not (server.state / "projects" / project / f"job-{job}").exists()


def test_the_last_draft_stays_when_a_later_one_was_forgotten_before_raw_data_went(server: Server) -> None:
    project = decided(server)
    place = f"/api/v1/projects/{project}"
    first, second = (server.run(project, "run/anonymize")["id"] for _ in range(2))
    server.client.delete(f"{place}/releases/{second}")
    page = server.client.get(f"/projects/{project}/result").text
    assert f'href="/projects/{project}/run"' in page.split("<h1", 1)[1]
    server.client.delete(f"{place}/source")
    assert [one["job"] for one in releases(server, project)] == [first]
