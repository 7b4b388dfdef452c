"""Synthetic rows and private models: planned for nothing, paid before anything is read, handed out whole."""

from __future__ import annotations

import io
import json
import re
import zipfile
from typing import Any

import polars as pl
import pytest

from mahrem.pipeline import load_model
from web_server import Server

TABLE = b"age,sex,ill,name\n" + b"".join(
    b"%d,%s,%s,p%d\n" % (20 + n % 50, b"fm"[n % 2 : n % 2 + 1], b"no" if n % 3 else b"yes", n)
    for n in range(600)
)
FACTS: dict[str, Any] = {
    "age": {"lower": 0, "upper": 99},
    "sex": {"categories": ["f", "m"]},
    "ill": {"categories": ["no", "yes"]},
}
LEDGER: dict[str, Any] = {"epsilon": 4, "delta": 1e-5, "columns": FACTS, "rows": 600, "composition": "sum"}
SYNTHETIC: dict[str, Any] = {
    "epsilon": 1,
    "delta": 1e-6,
    "target": "ill",
    "rows": 200,
    "columns": ["age", "sex", "ill"],
}
MODEL: dict[str, Any] = {
    "epsilon": 1,
    "delta": 1e-6,
    "target": "ill",
    "model": "logistic",
    "how": "output",
    "holdout": 0.5,
    "evaluate_epsilon": 0.5,
}


@pytest.fixture(scope="module")
def paid(server: Server) -> str:
    project = server.project(TABLE)
    assert server.run(project, "ledger", LEDGER)["state"] == "done"
    return project


def history(server: Server, project: str) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = server.client.get(f"/api/v1/projects/{project}/ledger").json()["history"]
    return lines


def result(server: Server, job: str) -> dict[str, Any]:
    found: dict[str, Any] = server.client.get(f"/api/v1/jobs/{job}/result").json()
    return found


def archive(server: Server, project: str, verb: str) -> zipfile.ZipFile:
    sent = server.client.get(f"/api/v1/projects/{project}/made/{verb}.zip")
    assert sent.status_code == 200, sent.text
    return zipfile.ZipFile(io.BytesIO(sent.content))


def test_a_plan_costs_nothing_and_says_how_far_off_counts_are_at_other_epsilons(
    server: Server, paid: str
) -> None:
    before = history(server, paid)
    done = server.run(paid, "synthesize/plan", SYNTHETIC)
    assert (done["state"], done["error"]) == ("done", None)
    plan = result(server, done["id"])["plan"]
    assert plan["fits"]
    assert plan["columns"] == ["age", "sex", "ill"]
    assert plan["left_out"] == ["name"]
    off = [one["error"] for one in plan["errors"]]
    assert off == sorted(off, reverse=True)
    assert [one["epsilon"] for one in plan["errors"]] == [0.25, 0.5, 1.0, 2.0, 4.0]
    assert history(server, paid) == before


def test_synthetic_rows_are_paid_for_and_handed_out_with_their_report(server: Server, paid: str) -> None:
    before = len(history(server, paid))
    done = server.run(paid, "synthesize", SYNTHETIC)
    assert (done["state"], done["error"]) == ("done", None)
    (line,) = history(server, paid)[before:]
    assert line["epsilon"] == 1.0
    files = archive(server, paid, "synthesize")
    assert {"data.csv", "report.html", "report.json", "synthesis.toml", "SHA256SUMS"} <= set(files.namelist())
    table = pl.read_csv(files.read("data.csv"))
    assert table.shape == (200, 3)
    assert set(table["ill"]) <= {"no", "yes"}
    told = result(server, done["id"])
    assert told["report"] == json.loads(files.read("report.json"))
    one = server.client.get(f"/api/v1/projects/{paid}/made/synthesize/data.csv")
    assert one.content == files.read("data.csv")
    assert server.client.get(f"/api/v1/projects/{paid}/made/synthesize/job.json").status_code == 404


def test_a_private_model_is_paid_for_and_can_be_used(server: Server, paid: str, tmp_path: Any) -> None:
    planned = server.run(paid, "train/plan", MODEL)
    assert (planned["state"], planned["error"]) == ("done", None)
    plan = result(server, planned["id"])["plan"]
    assert plan["fits"]
    assert not plan["spent"]
    errors = [one["error"] for one in plan["errors"]]
    assert errors == sorted(errors, reverse=True)
    before = len(history(server, paid))
    done = server.run(paid, "train", MODEL)
    assert (done["state"], done["error"]) == ("done", None)
    assert sum(line["epsilon"] for line in history(server, paid)[before:]) == pytest.approx(1.5)
    report = result(server, done["id"])["report"]
    assert report["metrics"]["private"]
    assert {"seconds", "folder"}.isdisjoint(report)
    files = archive(server, paid, "train")
    assert {"model.npz", "plan.json", "sheet.json", "report.json", "guarantee.txt"} <= set(files.namelist())
    files.extractall(tmp_path / "model")
    model = load_model(tmp_path / "model")
    assert set(model.predict(pl.DataFrame({"age": [30, 60], "sex": ["f", "m"]}))) <= {"no", "yes"}


@pytest.mark.parametrize(("verb", "wish"), [("synthesize", SYNTHETIC), ("train", MODEL)])
def test_what_the_budget_does_not_cover_is_refused_before_a_row_is_read(
    server: Server, verb: str, wish: dict[str, Any]
) -> None:
    project = server.project(TABLE)
    place = f"/api/v1/projects/{project}/{verb}"
    assert server.client.post(place, json=wish).json()["error"]["code"] == "no_ledger"
    assert server.run(project, "ledger", {**LEDGER, "epsilon": 1.6})["state"] == "done"
    answer = server.client.post(place, json={**wish, "epsilon": 1.7})
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "budget_exceeded")
    assert server.run(project, "queries", {"question": "count()", "epsilon": 1.0})["state"] == "done"
    before = history(server, project)
    assert not result(server, server.run(project, f"{verb}/plan", wish)["id"])["plan"]["fits"]
    done = server.run(project, verb, wish)
    assert (done["state"], done["error"]["code"]) == ("failed", "budget_exceeded")
    assert history(server, project) == before
    stages = [done["stage_note"]["code"]]
    assert stages == ["stage.failed"]
    assert done["stages"] == 1  # planning: the table was never opened
    assert server.client.get(f"/api/v1/projects/{project}/made/{verb}.zip").status_code == 409


def test_a_page_plans_first_and_spends_what_was_planned_and_nothing_else(server: Server) -> None:
    project = server.project(TABLE)
    page, headers = f"/projects/{project}/synthesize", {"origin": server.home}
    assert 'name="rows_per_person"' in server.client.get(page).text  # a budget first, on the same page
    budget = {
        "epsilon": "4",
        "delta": "1e-5",
        "rows": "600",
        "composition": "sum",
        "facts": "age=0:99\nill=no,yes",
        "back": "synthesize",
    }
    made = server.client.post(f"/projects/{project}/ledger", data=budget, headers=headers)
    assert made.headers["location"] == page
    (job, *_) = server.client.get(f"/api/v1/projects/{project}/jobs").json()["jobs"]
    assert server.wait(job["id"])["state"] == "done"

    def send(**form: str) -> int:
        sent = server.client.post(page, data=form, headers=headers, follow_redirects=False)
        if sent.status_code == 303:
            (last, *_) = server.client.get(f"/api/v1/projects/{project}/jobs").json()["jobs"]
            assert server.wait(last["id"])["state"] == "done", last["error"]
        return sent.status_code

    asked = {
        "do": "plan",
        "epsilon": "0.5",
        "delta": "1e-6",
        "rows": "50",
        "constraints": "",
        "cells": "age=10",
    }
    assert send(**{**asked, "epsilon": "nothing"}) == 422
    assert send(**{**asked, "epsilon": "9"}) == 409
    assert history(server, project) == []
    assert send(do="spend", seen="0", plan="") == 409  # nothing was planned
    assert send(**asked) == 303
    shown = server.client.get(page).text
    assert "age=10" in shown
    (plan,) = set(re.findall(r'name="plan" value="([0-9a-f]{32})"', shown))
    assert send(do="spend", seen="7", plan=plan) == 409  # the budget is not what was shown
    assert history(server, project) == []
    assert send(do="spend", seen="0", plan=plan, epsilon="4") == 303
    assert [line["epsilon"] for line in history(server, project)] == [0.5]
    assert send(do="spend", seen="0", plan=plan) == 409  # pressed twice
    shown = server.client.get(page).text
    assert "no row belongs to a person" in shown
    assert "/made/synthesize.zip" in shown
    assert 'name="plan"' not in shown  # what was planned is spent; another one is planned anew
    for language in ("en", "de"):
        report = server.client.get(f"/projects/{project}/paid/synthesize/report?language={language}")
        assert (report.status_code, f'lang="{language}"' in report.text[:300]) == (200, True)
    assert server.client.get(f"/projects/{project}/paid/train/report").status_code in {404, 409}
