"""The explorer: tries at once, what they leave behind, and that raw data goes when it has to."""

from __future__ import annotations

import re
import threading
import tomllib
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mahrem.datasets import patients
from mahrem.web._errors import Refused
from mahrem.web.jobs._beside import rows_apart
from web_server import Server

UNDECIDED = '<option value="" selected>please decide'
NEEDED = 5  # people who share whatever is shown


@pytest.fixture(scope="module")
def project(server: Server) -> str:
    return server.project()


def test_a_try_says_what_the_release_says_and_can_be_adopted(server: Server, project: str) -> None:
    place = f"/api/v1/projects/{project}"
    tried = server.client.post(f"{place}/explore", json={"promises": {"k": 9}}).json()
    assert (tried["trial"]["tried"], tried["trial"]["holds"]) == (2000, True)
    assert server.client.get(place).json()["promises"]["k"] != 9  # a try decides nothing
    known = server.client.post(f"{place}/candidates/{tried['id']}/adopt").json()
    assert known["promises"]["k"] == 9
    job = server.run(project, f"candidates/{tried['id']}/exact")
    assert (job["state"], job["verb"]) == ("done", "trial")
    again = server.client.get(f"{place}/candidates").json()["candidates"]
    exact = next(one for one in again if one["id"] == tried["id"])
    same = {key: value for key, value in exact["trial"].items() if key != "seconds"}
    assert same == {key: value for key, value in tried["trial"].items() if key != "seconds"}
    done = server.run(project, "run/anonymize")
    assert done["state"] == "done"
    report = server.client.get(f"{place}/release/report.json").json()
    assert report["utility"]["gcp"] == tried["trial"]["loss"]


def test_two_candidates_are_made_in_depth_and_published_nowhere(server: Server, project: str) -> None:
    place = f"/api/v1/projects/{project}"
    pair = [server.client.post(f"{place}/explore", json={"promises": {"k": k}}).json()["id"] for k in (6, 11)]
    before, releases = (server.client.get(path).json() for path in (place, f"{place}/releases"))
    assert server.client.post(f"{place}/candidates/{pair[0]}/beside/{pair[0]}").status_code == 422
    unknown = server.client.post(f"{place}/candidates/{pair[0]}/beside/{pair[1]}?target=nowhere")
    assert unknown.status_code == 422
    job = server.run(project, f"candidates/{pair[0]}/beside/{pair[1]}?target=diagnosis")
    assert (job["state"], job["error"]) == ("done", None)
    assert server.client.get(f"{place}/releases").json() == releases  # none came, none became another
    after = server.client.get(place).json()
    assert (after["choices"], after["promises"]) == (before["choices"], before["promises"])
    page = server.client.get(f"/projects/{project}/explore?candidate={pair[0]}&beside={pair[1]}").text
    assert page.count("What attackers could still do") == 1
    assert page.count('class="pair"') >= 3  # distributions, learning, attacks
    folder = server.state / "projects" / project / f"job-{job['id']}"
    assert not (folder / "release").exists()
    rows = server.client.get(f"/api/v1/jobs/{job['id']}/result").json()["rows"]
    assert [len(side["rows"]) for side in rows.values()] == [5, 5]


def test_rows_of_two_candidates_go_with_raw_data_and_tables_of_few_people_have_none(server: Server) -> None:
    for people, state in ((9, "failed"), (60, "done")):
        table = b"age,sex\n" + b"".join(b"%d,%d\n" % (20 + n % 3, n % 2) for n in range(people))
        project = server.project(table)
        place = f"/api/v1/projects/{project}"
        roles = {"age": {"role": "quasi"}, "sex": {"role": "insensitive"}}
        server.client.put(f"{place}/columns", json={"columns": roles})
        pair = [
            server.client.post(f"{place}/explore", json={"promises": {"k": k}}).json()["id"] for k in (2, 3)
        ]
        job = server.run(project, f"candidates/{pair[0]}/beside/{pair[1]}")
        assert job["state"] == state, job["error"]
        folder = server.state / "projects" / project / f"job-{job['id']}"
        assert (folder / "result.json").exists() == (state == "done")
        server.client.delete(f"{place}/source")
        assert (state == "failed") or not folder.exists()


@given(
    st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=1, max_size=80),
    st.integers(1, 2),
)
def test_no_person_has_rows_on_both_sides(whose: list[tuple[int, int]], columns: int) -> None:
    people = pl.DataFrame(whose, schema=["a", "b"], orient="row")[["a", "b"][:columns]]
    try:
        first, second = rows_apart(people)
    except Refused:
        return
    assert len(first) == len(second) == 5
    assert not {*first} & {*second}
    for name in people.columns:
        assert not {*people[first, name]} & {*people[second, name]}


def test_decisions_are_taken_back_and_written_as_a_policy(server: Server, project: str) -> None:
    place = f"/api/v1/projects/{project}"
    before = server.client.get(place).json()
    assert server.client.put(f"{place}/promises", json={"k": 13, "purpose": "beds"}).status_code == 200
    written = tomllib.loads(server.client.get(f"{place}/policy.toml").text)
    assert (written["k"], written["purpose"], written["quasi"]) == (
        13,
        "beds",
        ["age", "sex", "zip", "admission"],
    )
    assert "Undo the last decision" in server.client.get(f"/projects/{project}/run").text
    after = server.client.post(f"{place}/undo").json()
    assert (after["promises"], after["choices"]) == (before["promises"], before["choices"])
    while server.client.post(f"{place}/undo").status_code == 200:
        pass
    assert server.client.post(f"{place}/undo").json()["error"]["code"] == "nothing_before"


def test_pages_of_tries_show_no_value_that_few_people_share(server: Server, project: str) -> None:
    people = patients(2000)
    form = {"k": str(NEEDED), "at_least-2": "5"}
    headers = {"origin": server.home}
    part = server.client.post(f"/projects/{project}/explore/try", data=form, headers=headers)
    assert part.status_code == 200, part.text
    names = list(people.columns)
    choices = server.client.get(f"/api/v1/projects/{project}").json()["choices"]["columns"]
    roles = {f"role-{n}": choices.get(name, {"role": "drop"})["role"] for n, name in enumerate(names)}
    looked = server.client.post(f"/projects/{project}/columns/look", data=roles, headers=headers).json()
    assert set(looked["columns"]) >= {str(names.index(name)) for name in ("age", "sex", "zip")}
    for number, told in looked["columns"].items():
        held = Counter(str(value) for value in people[names[int(number)]])
        assert all(held[before] >= NEEDED for before, _ in told.get("examples", ()))
    page = server.client.get(f"/projects/{project}/columns").text
    written = part.text + page
    for column in ("patient_id", "name"):
        assert not [value for value in people[column].unique() if f">{value}<" in written]
    rare = people["zip"].value_counts().filter(pl.col("count") < NEEDED)["zip"].drop_nulls()
    assert not [value for value in rare if re.search(rf"\b{value}\b", written)]


def test_of_many_questions_at_once_the_newest_is_answered(server: Server, project: str) -> None:
    answers: list[int] = []

    def ask(k: int) -> None:
        wish = {"promises": {"k": k}}
        answers.append(server.client.post(f"/api/v1/projects/{project}/explore", json=wish).status_code)

    threads = [threading.Thread(target=ask, args=[k]) for k in range(2, 14)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(answers) <= {200, 409}
    assert 200 in answers
    assert server.client.post(f"/api/v1/projects/{project}/explore", json={}).status_code == 200


def test_what_cannot_be_tried_says_why_and_the_next_try_works(server: Server, project: str) -> None:
    place = f"/api/v1/projects/{project}/explore"
    refused = server.client.post(place, json={"promises": {"k": 100_000}})
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "infeasible")
    headers = {"origin": server.home}
    part = server.client.post(f"/projects/{project}/explore/try", data={"k": "100000"}, headers=headers)
    assert part.status_code == 409
    assert 'class="message bad"' in part.text
    assert server.client.post(place, json={"promises": {"k": 4}}).status_code == 200
    assert (
        server.client.get("/api/v1/projects/0123456789abcdef0123456789abcdef/candidates").status_code == 404
    )


def test_a_table_that_is_forgotten_is_kept_ready_no_more(server: Server) -> None:
    project = server.project()
    before = server.warm()
    assert server.client.post(f"/api/v1/projects/{project}/explore", json={}).status_code == 200
    new = server.warm() - before
    assert len(new) == 1
    folder = server.state / "projects" / project
    assert (folder / "candidates.json").stat().st_mode & 0o777 == 0o600
    assert server.client.delete(f"/api/v1/projects/{project}/source").status_code == 200
    assert not [one for one in new if Path(f"/proc/{one}").exists()]
    assert not (folder / "candidates.json").exists()
    assert server.client.post(f"/api/v1/projects/{project}/explore", json={}).status_code == 409


def test_columns_that_stay_as_they_are_must_be_decided(server: Server) -> None:
    rows = "".join(f"{20 + n % 50},{'fm'[n % 2]},{'abc'[n % 3]}\n" for n in range(300))
    project = server.project(f"age,sex,colour\n{rows}".encode())
    page = server.client.get(f"/projects/{project}/columns").text
    assert page.count(UNDECIDED) == 1  # colour was called harmless by nobody yet
    headers = {"origin": server.home}
    form = {"role-0": "quasi", "role-1": "quasi", "role-2": ""}
    assert server.client.post(f"/projects/{project}/columns", data=form, headers=headers).status_code == 422
    started = server.client.post(f"/projects/{project}/run/anonymize", headers=headers)
    assert started.status_code == 409
    form["role-2"] = "insensitive"
    answer = server.client.post(
        f"/projects/{project}/columns", data=form, headers=headers, follow_redirects=False
    )
    assert answer.status_code == 303
    assert UNDECIDED not in server.client.get(f"/projects/{project}/columns").text
