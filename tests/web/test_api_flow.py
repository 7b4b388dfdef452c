"""The whole job through the API and through the pages, with the demo's patients."""

from __future__ import annotations

import json
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mahrem.partition import METHODS
from mahrem.pipeline import audit
from mahrem.table import written_formats
from mahrem.words import LANGUAGES, load_catalogue
from web_server import Server


@pytest.fixture(scope="module")
def patients(server: Server) -> str:
    """A project that was decided about and released: what the flow leads to."""
    project = server.project()
    found = server.client.get(f"/api/v1/projects/{project}").json()
    assert found["choices"]["columns"]["age"]["role"] == "quasi"
    columns = found["choices"]
    columns["columns"]["admission"]["role"] = "drop"
    assert server.client.put(f"/api/v1/projects/{project}/columns", json=columns).status_code == 200
    promises = {"k": 7, "method": "mondrian", "language": "tr", "format": "csv"}
    assert server.client.put(f"/api/v1/projects/{project}/promises", json=promises).status_code == 200
    done = server.run(project, "run/anonymize")
    assert (done["state"], done["error"]) == ("done", None)
    assert done["stages"] >= 3
    return project


def test_a_release_keeps_its_promises_and_another_tool_can_check_them(
    server: Server, patients: str, tmp_path: Path
) -> None:
    project = patients
    done = {"id": server.client.get(f"/api/v1/projects/{project}").json()["jobs"]["anonymize"]}
    report = server.client.get(f"/api/v1/jobs/{done['id']}/result").json()["report"]
    assert report["holds"]
    assert report["risk"]["highest"] <= 1 / 7
    data = server.client.get(f"/api/v1/projects/{project}/release/data.csv")
    assert data.headers["content-disposition"].startswith("attachment")
    path = tmp_path / "data.csv"
    path.write_bytes(data.content)
    # Rows may be more than people: k counts people here, so rows can only be more.
    checked = audit(path, quasi=["age", "sex", "zip"], sensitive={"diagnosis": {"l": 3}}, k=7)
    assert checked.holds
    assert "admission" not in data.text.splitlines()[0]
    assert 'lang="tr"' in server.client.get(f"/projects/{project}/report").text


def test_a_report_runs_nothing_and_is_shown_in_a_frame_of_ours_alone(server: Server, patients: str) -> None:
    for path in (
        f"/projects/{patients}/report",
        f"/api/v1/projects/{patients}/release/report.html?show=true",
    ):
        answer = server.client.get(path)
        assert answer.status_code == 200
        policy = answer.headers["content-security-policy"]
        assert "sandbox" in policy
        assert "default-src 'none'" in policy
        assert "script" not in policy
        assert "<script" not in answer.text
    dark = server.client.get(f"/projects/{patients}/report", headers={"cookie": "mahrem_theme=dark"})
    assert "@media all {" in dark.text  # the colours somebody chose, whatever the system says
    german = server.client.get(f"/projects/{patients}/report", params={"language": "de"})
    assert '<html lang="de">' in german.text
    for wrong in ("xx", "../../de", "%00"):
        assert server.client.get(f"/projects/{patients}/report?language={wrong}").status_code == 422
    page = server.client.get(f"/projects/{patients}/result").text
    assert "<iframe sandbox" in page
    assert "data.csv" in page


def test_no_other_file_than_those_of_a_release_is_given_out(server: Server, patients: str) -> None:
    for name in ("result.json", "source.csv", "%2e%2e", "project.json"):
        assert server.client.get(f"/api/v1/projects/{patients}/release/{name}").status_code in {404, 422}


def test_a_sweep_gives_points_and_one_of_them_is_adopted(server: Server, patients: str) -> None:
    done = server.run(patients, "compare", {"methods": ["mondrian", "canon"], "ks": [3, 10]})
    assert done["state"] == "done"
    found = server.client.get(f"/api/v1/jobs/{done['id']}/result").json()
    assert {(row["method"], row["k"]) for row in found["results"]} == {
        ("mondrian", 3),
        ("mondrian", 10),
        ("canon", 3),
        ("canon", 10),
    }
    page = server.client.get(f"/projects/{patients}/compare").text
    assert page.count('action="/projects/') >= 4
    assert page.count("data-point=") == 4
    picture = server.client.get(f"/projects/{patients}/frontier.svg")
    assert picture.headers["content-type"] == "image/svg+xml"
    answer = server.client.post(
        f"/projects/{patients}/adopt", data={"method": "canon", "k": "10"}, headers={"origin": server.home}
    )
    assert (answer.status_code, answer.headers["location"]) == (303, f"/projects/{patients}/run")
    promises = server.client.get(f"/api/v1/projects/{patients}").json()["promises"]
    assert (promises["method"], promises["k"]) == ("canon", 10)
    # The advice speaks of the k that is wanted: none was tried at first, ten is now.
    advice = "message good"
    assert advice not in page
    assert advice in server.client.get(f"/projects/{patients}/compare").text


def test_a_release_says_when_something_was_decided_otherwise_since(server: Server, patients: str) -> None:
    old = load_catalogue("en").say("page.result.old")
    before = server.client.get(f"/api/v1/projects/{patients}").json()["promises"]
    made = {"k": 7, "method": "mondrian", "language": "tr", "format": "csv"}
    for promises, is_old in (({**made, "k": 12}, True), (made, False)):
        server.client.put(f"/api/v1/projects/{patients}/promises", json=promises)
        assert (old in server.client.get(f"/projects/{patients}/result").text) == is_old
    server.client.put(f"/api/v1/projects/{patients}/promises", json=before)


def test_a_raw_table_is_audited_and_found_wanting(server: Server, patients: str) -> None:
    done = server.run(patients, "run/audit")
    report = server.client.get(f"/api/v1/jobs/{done['id']}/result").json()["report"]
    assert not report["holds"]
    page = server.client.get(f"/projects/{patients}/audit").text
    assert "does not hold" in page
    assert "s age, sex" in page  # the columns somebody may know
    assert "Verified on the published file" not in page


def test_people_with_several_rows_are_counted_as_people_from_the_beginning(server: Server) -> None:
    rows = "".join(f"P{n % 90 * 37:04d},{20 + n % 90 % 30},{'fm'[n % 90 % 2]}\n" for n in range(180))
    project = server.project(f"who,age,sex\n{rows}".encode())
    assert server.client.get(f"/api/v1/projects/{project}").json()["choices"]["subject"] == "who"
    assert (
        "who names people who have 2 rows on average"
        in server.client.get(f"/projects/{project}/columns", headers={"accept-language": "en"}).text
    )
    done = server.run(project, "run/anonymize")
    report = server.client.get(f"/api/v1/jobs/{done['id']}/result").json()["report"]
    assert any(note["code"] == "warning.people" for note in report["notes"])


def test_a_hierarchy_is_made_edited_as_a_tree_and_used(server: Server, patients: str) -> None:
    names = [
        c["name"] for c in server.client.get(f"/api/v1/projects/{patients}").json()["profile"]["columns"]
    ]
    place = f"/api/v1/projects/{patients}/hierarchies/{names.index('zip')}"
    assert server.client.get(place).status_code == 404
    done = server.run(patients, f"hierarchies/{names.index('zip')}/make", {"prefix": [3, 1]})
    assert (done["state"], done["error"]) == ("done", None)
    tree = server.client.get(place).json()["tree"]
    assert tree["label"] == "*"
    facts = server.client.put(place, json={"tree": tree}).json()
    assert facts["holds"]
    assert facts["leaves"] == tree["leaves"]
    assert server.client.get(f"/projects/{patients}/hierarchies/{names.index('zip')}").status_code == 200
    assert server.client.delete(place).status_code == 200


@pytest.mark.parametrize(
    ("tree", "word"),
    [
        ({"label": "*", "children": []}, "empty"),
        (
            {"label": "*", "children": [{"label": "a", "children": [{"label": "x"}]}, {"label": "x"}]},
            "other ancestors",
        ),
        ({"label": "*", "children": [{"label": "  "}]}, "label"),
        ({"label": "*", "children": [{"label": "*"}]}, "called"),
    ],
)
def test_what_is_no_tree_is_refused_in_words(server: Server, tree: dict[str, object], word: str) -> None:
    answer = server.client.post("/api/v1/hierarchies/check", json={"tree": tree})
    assert answer.status_code == 422
    assert word in answer.json()["error"]["message"]


def test_private_queries_are_planned_paid_and_refused_when_the_budget_is_spent(
    server: Server, patients: str
) -> None:
    pytest.importorskip("opendp")
    wish = {"epsilon": 2, "columns": {"sex": {"categories": ["f", "m"]}}}
    assert server.client.get(f"/api/v1/projects/{patients}/ledger").json()["error"]["code"] == "no_ledger"
    with ThreadPoolExecutor(8) as many:  # a second budget would undo the first
        place = f"/api/v1/projects/{patients}/ledger"
        answers = list(many.map(lambda _: server.client.post(place, json=wish), range(8)))
    (begun,) = [answer.json()["job"]["id"] for answer in answers if answer.status_code == 202]
    assert server.wait(begun)["state"] == "done"
    assert server.client.post(place, json=wish).json()["error"]["code"] == "has_ledger"
    question = {"question": "count() by sex", "epsilon": 0.75}
    plan = server.client.post(f"/api/v1/projects/{patients}/queries/plan", json=question).json()
    assert plan["fits"]
    assert all(row["error"] > 0 for row in plan["rows"])
    assert server.run(patients, "queries", question)["state"] == "done"
    form = {**question, "epsilon": 1, "do": "ask"}
    shown = server.client.get(f"/projects/{patients}/queries").text
    form["seen"] = shown.partition('name="seen" value="')[2].partition('"')[0]
    spent = [server.client.post(f"/projects/{patients}/queries", data=form).status_code]
    server.wait(server.client.get(f"/api/v1/projects/{patients}/jobs").json()["jobs"][0]["id"])
    spent.append(server.client.post(f"/projects/{patients}/queries", data=form).status_code)
    assert spent == [303, 409]  # a form that is sent twice pays once
    left = server.client.get(f"/api/v1/projects/{patients}/ledger").json()["sheet"]["remaining"]["epsilon"]
    assert left == pytest.approx(0.25)
    again = server.client.post(f"/api/v1/projects/{patients}/queries", json=question)
    assert (again.status_code, again.json()["error"]["code"]) == (409, "budget_exceeded")
    page = server.client.get(f"/projects/{patients}/queries")
    assert "0.25 of ε = 2 left" in page.text
    assert "Nothing has been attacked yet" in page.text


def test_every_page_of_a_project_shows_up(server: Server, patients: str) -> None:
    for step in ("columns", "promises", "run", "result", "compare", "audit", "queries"):
        answer = server.client.get(f"/projects/{patients}/{step}")
        assert answer.status_code == 200, step
        assert 'aria-current="step"' in answer.text
    for path in ("/projects", "/federated", "/api"):
        assert server.client.get(path).status_code == 200
    assert server.client.get(f"/projects/{'0' * 32}/columns").status_code == 404


def test_a_form_that_does_not_fit_is_shown_again_with_words(server: Server, patients: str) -> None:
    headers = {"origin": server.home, "accept": "text/html"}
    wrong = server.client.post(f"/projects/{patients}/promises", data={"k": "many"}, headers=headers)
    assert wrong.status_code == 422
    assert 'role="alert"' in wrong.text
    missing = server.client.post(
        f"/projects/{patients}/promises", data={"alpha": "0.5", "k": ""}, headers=headers
    )
    assert missing.status_code == 422
    assert "many" not in wrong.text.partition('role="alert"')[2].partition("</div>")[0]


def test_infeasible_promises_are_explained(server: Server) -> None:
    project = server.project(b"age,sex\n31,f\n32,m\n33,f\n")
    assert server.client.put(f"/api/v1/projects/{project}/promises", json={"k": 50}).status_code == 200
    done = server.run(project, "run/anonymize")
    assert (done["state"], done["error"]["code"]) == ("failed", "infeasible")


def test_federated_runs_below_a_declared_folder_are_listed(server: Server, folder_of_tables: str) -> None:
    run = Path(folder_of_tables) / "runs" / "first"
    run.mkdir(parents=True, exist_ok=True)
    state = {"state": "finished", "exchanges": 7, "changed": "2026-01-01T00:00:00+00:00"}
    (run / "state.json").write_text(json.dumps(state))
    (run / "summary.json").write_text(json.dumps({"exact": True, "rules": 12, "clients": ["north"]}))
    (found,) = server.client.get("/api/v1/federated").json()["runs"]
    assert (found["name"], found["state"]) == ("runs/first", "finished")
    assert found["about"] == {"exchanges": 7, "exact": True, "rules": 12}
    assert "runs/first" in server.client.get("/federated").text


def test_the_page_takes_every_method_format_and_language_of_the_command_line(server: Server) -> None:
    project = server.project()
    page = server.client.get(f"/projects/{project}/promises", headers={"accept": "text/html"}).text
    for choices in (("auto", *METHODS), written_formats(), LANGUAGES):
        for name in choices:
            assert f'value="{name}"' in page or f">{name}</option>" in page, name
    place = f"/api/v1/projects/{project}/promises"
    for wrong in ({"format": "ods"}, {"language": "xx"}, {"method": "magic"}):
        assert server.client.put(place, json={"k": 5, **wrong}).status_code in {400, 422}


@pytest.mark.parametrize(("method", "form"), [("auto", "csv"), ("mondrian", "xlsx")])
def test_what_the_page_refused_once_is_released(server: Server, method: str, form: str) -> None:
    project = server.project()
    columns = server.client.get(f"/api/v1/projects/{project}").json()["choices"]
    columns["columns"]["admission"]["role"] = "drop"
    server.client.put(f"/api/v1/projects/{project}/columns", json=columns)
    promises = {"k": 5, "method": method, "format": form}
    assert server.client.put(f"/api/v1/projects/{project}/promises", json=promises).status_code == 200
    done = server.run(project, "run/anonymize")
    assert (done["state"], done["error"]) == ("done", None)
    data = server.client.get(f"/api/v1/projects/{project}/release/data.{form}")
    assert data.status_code == 200
    assert data.content[:2] == (b"PK" if form == "xlsx" else data.content[:2])


def test_a_federated_run_is_shown_while_it_goes_on(server: Server, folder_of_tables: str) -> None:
    run = Path(folder_of_tables) / "runs" / "live & well"
    run.mkdir(parents=True, exist_ok=True)
    state = {
        "state": "running",
        "exchanges": 7,
        "changed": "2026-01-01T00:00:00+00:00",
        "process": os.getpid(),
    }
    (run / "state.json").write_text(json.dumps({**state, "rounds": 20, "last": "train"}))
    (run / "members.json").write_text(json.dumps({"online": {"north": True, "<b>south": False}}))
    (run / "checkpoint.json").write_text(
        json.dumps({"history": [{"round": 1, "clients": 3, "accuracy": 0.75}]})
    )
    page = server.client.get("/federated/run", params={"name": "runs/live & well"})
    assert page.status_code == 200
    assert 'http-equiv="refresh"' in page.text
    assert "0.75" in page.text
    assert "&lt;b&gt;south" in page.text
    for nowhere in ("runs", "../secret", "runs/../runs/live & well", ""):
        assert server.client.get("/federated/run", params={"name": nowhere}).status_code == 404
    shutil.rmtree(run)
