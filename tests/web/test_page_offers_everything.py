"""The page offers what the command line offers for a release, by construction: the two lists are compared."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable

import polars as pl
import pytest

from mahrem.cli._anonymize import anonymize
from mahrem.cli._generalize import generalize
from mahrem.cli._perturb import perturb
from mahrem.cli._risk import risk
from mahrem.cli._suppress import suppress
from mahrem.cli._synthesize import synthesize
from mahrem.cli._train import train
from mahrem.learning.synthesis import SynthesisSettings
from mahrem.learning.training import TrainingSettings
from mahrem.pipeline.masking import MASKING, SHARED
from mahrem.release.decisions import release_settings
from mahrem.settings import settings_of
from mahrem.web.bodies._steps import settings_of_step
from web_server import Server

# What a person decides elsewhere on the page than in a field of the setting's own name.
ROLES = {"quasi", "sensitive", "identifier", "insensitive", "roles", "rest"}  # the role of each column
CALL = {"policy", "sql"}  # arguments of the command: a file of settings, another word for query


@pytest.fixture(scope="module")
def project(server: Server) -> str:
    return server.project()


def names(html: str) -> set[str]:
    """Give the names of fields, without the numbers of columns."""
    fields = re.findall(r'<(?:input|select)[^>]*\bname="([^"]+)"', html)
    return {re.sub(r"-\d+$", "", name) for name in fields if not name.startswith("own-")}


def test_every_option_of_a_release_has_its_field_on_the_page(server: Server, project: str) -> None:
    shared = set(inspect.signature(anonymize).parameters) & {*release_settings(), *CALL}
    offered = set()
    for page in ("columns", "promises"):
        offered |= names(server.client.get(f"/projects/{project}/{page}").text)
    columns = server.client.get(f"/projects/{project}/columns").text
    assert f"/projects/{project}/hierarchies/" in columns
    offered |= {"hierarchy", *(ROLES if "role" in offered else ())}
    offered |= names(server.client.get("/projects").text) & {"table", "query"}
    described = server.client.get("/api/v1/openapi.json").json()["components"]["schemas"]
    offered |= {"table", "query"} & described["SourceDatabase"]["properties"].keys()
    keys = {"shift_dates", "shift_days"}  # key files are for this machine's own command line
    assert shared - CALL - offered == keys


@pytest.mark.parametrize("verb", [suppress, perturb, generalize, risk], ids=lambda verb: verb.__name__)
def test_every_option_of_a_verb_beside_a_release_has_its_field_or_is_decided_about_columns(
    server: Server, project: str, verb: Callable[..., None]
) -> None:
    name = verb.__name__
    options = set(inspect.signature(verb).parameters) & {*settings_of(MASKING[name]), *release_settings()}
    place = f"/api/v1/projects/{project}"
    described = server.client.get("/api/v1/openapi.json").json()["components"]["schemas"]
    body = described[f"{name.capitalize()}Wish"]["properties"].keys()
    columns = server.client.get(place).json()["choices"]
    server.client.put(f"{place}/columns", json={**columns, "subject": None})
    if name == "generalize":
        server.run(project, "ledger", {"epsilon": 1, "delta": 1e-5})
    page = server.client.get(f"/projects/{project}/other/{name}").text
    offered = names(page.replace("<textarea", "<input")) - {"seen", "back", "language", "theme"}
    assert offered == set(body)
    # Roles, hierarchies, weights and reading are decided where columns are.
    assert options <= offered | {*SHARED[name], *settings_of_step("reading"), "table", "query"}


@pytest.mark.parametrize(("verb", "spec"), [(synthesize, SynthesisSettings), (train, TrainingSettings)])
def test_every_option_of_what_a_budget_pays_has_its_field_or_is_named_with_a_reason(
    server: Server, verb: Callable[..., None], spec: type
) -> None:
    name, project = verb.__name__, server.project()
    facts = {"sex": {"categories": ["f", "m"]}}
    assert server.run(project, "ledger", {"epsilon": 1, "delta": 1e-5, "columns": facts})["state"] == "done"
    options = {*inspect.signature(verb).parameters} - {"settings"} | {*settings_of(spec)}
    page = server.client.get(f"/projects/{project}/{name}").text
    offered = names(page.replace("<textarea", "<input")) - {"back", "theme", "do", "plan", "seen"}
    reasons = {one.replace("-", "_") for one in re.findall(r"<code>--([a-z-]+)</code>", page)}
    # The table and how it is read, its budget, the folder and how it is told are the page's own.
    own = {"source", "ledger", "output", "force", "json", "quiet", "plan"} | {*settings_of_step("reading")}
    assert options - {"table", "query", *CALL} <= offered | reasons | own
    assert not offered & reasons
    described = server.client.get("/api/v1/openapi.json").json()["components"]["schemas"]
    assert described[f"{name.capitalize()}Wish"]["properties"].keys() - {"language"} == offered - {"language"}


def test_a_form_of_lines_is_read_as_the_command_line_reads_options(server: Server, project: str) -> None:
    columns = server.client.get(f"/api/v1/projects/{project}").json()["choices"]
    server.client.put(f"/api/v1/projects/{project}/columns", json={**columns, "subject": None})
    place, headers = f"/projects/{project}/other/suppress", {"origin": server.home}
    for wrong in ({"sets": "=5"}, {"sets": "age"}, {"k": "0"}, {"reading": "nope"}, {"sets": "nobody=3"}):
        answer = server.client.post(place, data=wrong, headers=headers, follow_redirects=False)
        if answer.status_code == 303:  # what only the table can tell is said when it is looked at
            (job, *_) = server.client.get(f"/api/v1/projects/{project}/jobs").json()["jobs"]
            assert server.wait(job["id"])["state"] == "failed", wrong
        else:
            assert answer.status_code in {409, 422}, wrong
            assert 'role="alert"' in answer.text
    for nonsense in ("0,0", "a,b,c,d", "9,9,9,9"):
        page = server.client.get(f"/projects/{project}/other/lattice?levels={nonsense}")
        assert 'role="alert"' in page.text
    kept = {"sets": "age,sex=4\nzip=3", "k": ""}
    assert server.client.post(place, data=kept, headers=headers, follow_redirects=False).status_code == 303
    (job, *_) = server.client.get(f"/api/v1/projects/{project}/jobs").json()["jobs"]
    assert server.wait(job["id"])["state"] == "done"
    report = server.client.get(f"/api/v1/jobs/{job['id']}/result").json()["report"]
    assert [(each["columns"], each["k"]) for each in report["sets"]] == [(["age", "sex"], 4), (["zip"], 3)]


def test_bodies_take_what_a_policy_takes_and_refuse_the_rest(server: Server, project: str) -> None:
    place = f"/api/v1/projects/{project}"
    columns = server.client.get(place).json()["choices"]
    columns["columns"]["age"] |= {"grid": 10, "top": 90, "weights": 2.0}
    columns["columns"]["sex"] |= {"suppress": True}
    columns["columns"]["patient_id"] = {"role": "identifier", "pseudonym": True}
    columns["subject"] = None
    assert server.client.put(f"{place}/columns", json=columns).status_code == 200
    promises = {"k": 5, "cells": "text", "jitter": 0.1, "options": {"cut": "median"}, "shuffle": True}
    answer = server.client.put(f"{place}/promises", json=promises)
    assert answer.status_code == 200, answer.text
    done = server.run(project, "run/anonymize")
    assert (done["state"], done["error"]) == ("done", None)
    published = pl.read_csv(server.client.get(f"{place}/release/data.csv").content, infer_schema=False)
    assert "patient_id" in published.columns  # a keyed pseudonym
    assert published["sex"].unique().to_list() == ["*"]
    for wrong in (
        {"k": 0},
        {"t": 2},
        {"method": "nope"},
        {"wings": 2},
        {"jitter": 0.9},
        {"master": "spark://h:1"},
    ):
        answer = server.client.put(f"{place}/promises", json={"k": 5, **wrong})
        started = (
            202 if answer.status_code != 200 else server.client.post(f"{place}/run/anonymize").status_code
        )
        assert answer.status_code in {409, 422} or started in {409, 422}, wrong


def test_a_form_keeps_what_it_says(server: Server, project: str) -> None:
    form = {"k": "6", "cells": "text", "suppression_limit": "0,1", "options": "cut=median", "shuffle": ""}
    browser = server.client
    answer = browser.post(
        f"/projects/{project}/promises", data=form, headers={"origin": server.home}, follow_redirects=False
    )
    assert answer.status_code in {302, 303}, answer.text
    kept = server.client.get(f"/api/v1/projects/{project}").json()["promises"]
    assert (kept["k"], kept["suppression_limit"], kept["options"]) == (6, 0.1, {"cut": "median"})
    page = server.client.get(f"/projects/{project}/promises").text
    assert 'value="cut=median"' in page
    assert 'value="0.1"' in page
