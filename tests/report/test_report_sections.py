from __future__ import annotations

import html
import json
import math
import re
from dataclasses import fields, replace
from typing import Any

import pytest

from mahrem.attacks import not_done
from mahrem.report import Report, ReportFinding, render_html, to_json
from mahrem.report.sections import Section, list_sections
from mahrem.words import LANGUAGES, Note, load_catalogue

FINDING = {
    "attack": "homogeneity",
    "rate": 0.25,
    "baseline": 0.0,
    "interval": [0.2, 0.3],
    "successes": 250,
    "trials": 1000,
    "meaning": "english sentence",
    "confidence": 0.95,
    "skipped": None,
    "details": {"column": "illness"},
    "alarming": True,
}
LINKAGE = {
    **FINDING,
    "attack": "linkage",
    "rate": 0.15,
    "interval": [0.13, 0.18],
    "details": {"known": 2, "noise": 0.0, "promised": 0.2},
}


def draw(content: dict[str, Any], language: str = "en") -> str:
    return render_html(Report.read(content), language)


def report(**changes: Any) -> dict[str, Any]:
    content = {
        "holds": True,
        "promises": [{"model": "k-anonymity", "column": None, "wanted": 5, "reached": 5, "holds": True}],
        "columns": {"age": {"role": "quasi"}, "zip": {"role": "quasi"}, "illness": {"role": "sensitive"}},
        "settings": {"k": 5},
        "risk": {
            "highest": 0.2,
            "average": 0.1,
            "share_at_risk": 0.0,
            "unique_share": 0.0,
            "threshold": 0.2,
            "marketer": 0.01,
            "journalist": {"highest": 0.02, "average": 0.01, "share_at_risk": 0.0, "threshold": 0.2},
            "population_uniques": {"population": 20_000, "share": 0.0},
            "before": {
                "highest": 1.0,
                "average": 0.4,
                "share_at_risk": 0.3,
                "unique_share": None,
                "below": 0.005,
                "journalist": {"highest": 0.3},
                "population_uniques": {"share": 0.12},
            },
            "unique_columns": {
                "share": 0.05,
                "rows": 900,
                "sampled": True,
                "complete": False,
                "sets": [{"columns": ["age", "zip"], "share": 0.7}],
            },
        },
        "relations": [
            {"columns": ["age", "zip"], "before": 0.4, "after": 0.35},
            {"columns": ["age", "illness"], "before": -0.2, "after": None},
        ],
        "learning": {
            "target": "illness",
            "rows": 4000,
            "sampled": True,
            "entropy_loss": 0.4,
            "entropy_loss_cells": 0.1,
            "scores": {"gaussian_nb": {"accuracy": [0.8, 0.75], "macro_f1": [0.7, 0.6], "auc": [0.9, 0.8]}},
        },
        "red_team": {"rows": 900, "sampled": True, "findings": [FINDING, LINKAGE]},
    }
    return {**content, **changes}


def text_of(page: str) -> str:
    return re.sub(
        r"\s+", " ", re.sub(r"<[^>]+>", " ", re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL))
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_section_is_told_in_every_language(language: str) -> None:
    page = draw(report(), language)
    text = text_of(page)
    assert not re.search(r"\{[a-z_]+\}", text)
    assert "english sentence" not in text, "findings are said in the language of the page"
    assert page.count("<figure") == page.count("<figcaption>") == page.count("<svg") == 5
    assert all(len(caption) > 40 for caption in re.findall(r"<figcaption>(.*?)</figcaption>", page))


def test_a_hidden_share_is_shown_as_its_bound() -> None:
    assert "< 0.5 %" in text_of(draw(report())).replace("&lt;", "<")


def test_linkage_within_the_promise_is_not_called_alarming() -> None:
    alone = report(red_team={"rows": 9, "sampled": False, "findings": [LINKAGE]})
    assert "within the promise" in text_of(draw(alone))
    assert "worth a look" not in text_of(draw(alone))
    worse = {**LINKAGE, "interval": [0.3, 0.5], "rate": 0.4}
    assert "worth a look" in text_of(draw(report(red_team={"rows": 9, "findings": [worse]})))


def test_a_rate_of_few_people_is_hidden() -> None:
    few = {**FINDING, "rate": None, "interval": None, "successes": None, "below": 0.005, "alarming": False}
    text = text_of(draw(report(red_team={"rows": 9, "findings": [few]}))).replace("&lt;", "<")
    assert "< 0.5 %" in text


def test_an_attack_that_was_not_tried_says_why_in_the_language() -> None:
    skipped = not_done("skewness", Note("skipped.time")).as_dict()
    page = text_of(draw(report(red_team={"rows": 9, "findings": [skipped]}), "de"))
    assert "nicht versucht: die Zeit reichte nicht" in page


def test_a_warning_is_told_by_its_code_and_one_without_a_known_code_stays_as_it_is() -> None:
    newer = {"code": "warning.of_a_newer_version", "values": {}}
    notes = [Note("warning.no_k").as_dict(), Note("choice.few", {"rows": 1200}).as_dict(), newer]
    page = text_of(draw(report(warnings=["one", "two", "something else"], notes=notes), "tr"))
    assert "k istenmedi" in page
    assert "1.200 sat" in page
    assert "something else" in page
    assert "one" not in page.split("Lütfen dikkat")[1][:200]
    assert "older report" in text_of(draw(report(warnings=["older report"]), "tr"))


def test_the_marketer_is_only_told_apart_where_there_is_a_population() -> None:
    risk = {key: value for key, value in report()["risk"].items() if key != "journalist"}
    assert "Rows found at once" not in text_of(draw(report(risk=risk)))
    assert "Rows found at once" in text_of(draw(report()))


SHEET: dict[str, Any] = {
    "relation": "add-remove",
    "unit": {"kind": "person", "subject": "patient", "rows_per_person": 5},
    "public": {
        "rows": 1200,
        "columns": {
            "co<st": {"lower": 0, "upper": 1e4, "missing": 7, "categories": None, "origin": "found"},
            "sex": {"lower": None, "upper": None, "missing": None, "categories": ["f", "m"], "origin": "d"},
        },
    },
    "total": {"epsilon": 3.0, "delta": 2.5e-7},
    "composition": "zcdp",
    "spent": {"epsilon": math.log(3), "pld": math.log(3), "basic": 1.5, "rdp": None},
    "remaining": {"epsilon": 1.9, "delta": 2.5e-7},
    "curve": {"1e-09": None, "1e-06": 1.25},
    "events": 4,
    "mechanisms": ["DiscreteLaplace", "Pure"],
    "since": "2026-01-01T00:00:00Z",
    "seal": "0123456789abcdef" * 4,
}


@pytest.mark.parametrize(
    ("language", "words"),
    [
        (
            "en",
            [
                "Private answers",
                "at most 5 rows",
                "from 0 to 10,000 (found privately",
                "75 % sure",
                "2.5e-07",
            ],
        ),
        ("tr", ["mahrem", "en çok 5", "%75 emin", "2,5e-07"]),
        ("de", ["Private Antworten", "höchstens 5 Zeilen", "von 0 bis 10.000", "zu 75 % sicher", "2,5e-07"]),
    ],
)
def test_the_data_sheet_of_a_ledger_is_a_section_in_every_language(language: str, words: list[str]) -> None:
    page = draw(report(privacy_ledger=SHEET), language)
    for word in [*words, ": zcdp.", "DiscreteLaplace, Pure", "co&lt;st", "0123456789abcdef<"]:
        assert word in page
    assert "patient" not in page, "whose column says who is who need not be told"
    assert draw(report(), language).count("<section") + 1 == page.count("<section")


def test_a_ledger_nobody_has_asked_yet_is_shown_without_a_curve() -> None:
    fresh = {
        **SHEET,
        "relation": "replace",
        "unit": {"kind": "row", "subject": None, "rows_per_person": 1},
        "total": {"epsilon": 1.0, "delta": 0.0},
        "spent": {"epsilon": 0.0, "pld": 0.0, "basic": 0.0, "rdp": None},
        "events": 0,
        "mechanisms": [],
    }
    page = draw(report(privacy_ledger=fresh))
    assert "50 % sure" in page
    assert "made with: sum" in page
    assert "fixed beforehand" not in page, "sums hold in any case"
    assert "one row" in page
    assert "read at other" not in page


SYNTHESIS = {
    "guarantee": "(1.0, 1e-07)",
    "model": {
        "cliques": [["age", "sex"]],
        "groups": {"age": 8},
        "deviation": {"columns": 3.25, "cliques": 4.5},
    },
    "rules": ["a <= b"],
    "left_out": ["name"],
}
NUMBERS = {"kind": "numeric", "edges": [0, 10, 20], "before": [12, 12], "after": [10.0, 14.0], "floor": 5}


def full() -> Report:
    """A report in which every section has something to say."""
    age = {
        "role": "quasi",
        "gcp": 0.2,
        "generalised_cells": 3,
        "suppressed_cells": 1,
        "distribution": NUMBERS,
    }
    more = {"privacy_ledger": SHEET, "synthesis": SYNTHESIS, "rows": 24, "utility": {"gcp": 0.2}}
    more |= {"method": "mondrian"}
    return Report.read(report(**more, columns={"age": age, "zip": {"role": "quasi"}}))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("section", list_sections(), ids=lambda section: section.name)
def test_every_section_keeps_the_contract_of_sections(section: Section, language: str) -> None:
    words = load_catalogue(language)
    assert set(section.needs) <= {known.name for known in fields(Report)}
    heading = section.heading(full(), words)
    assert heading
    assert section.view(full(), words) is not None
    page = text_of(render_html(full(), language))
    assert heading in html.unescape(page)
    assert not re.search(r"\{[a-z_]+(:[a-z0-9]+)?\}", page)
    for fact in section.needs:
        missing = {} if fact in {"promises", "columns"} else None
        assert section.view(replace(full(), **{fact: missing}), words) is None


def test_sections_have_places_and_names_of_their_own() -> None:
    for key in ("name", "place"):
        assert len({getattr(section, key) for section in list_sections()}) == len(list_sections())


def test_a_report_is_read_back_as_it_was_written() -> None:
    assert Report.read(json.loads(to_json(full().as_dict()))).as_dict() == json.loads(
        to_json(full().as_dict())
    )


def test_a_finding_of_the_report_has_every_key_of_an_attacks_finding() -> None:
    finding = not_done("skewness", Note("skipped.time")).as_dict()
    assert ReportFinding.read(finding).as_dict() == finding


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_first_page_says_what_somebody_signs(language: str) -> None:
    said = {"recipient": "the wards", "purpose": "beds", "rationale": "the board asks", "reviewer": "A. B."}
    settings = {"k": 5, "accept": {"ward": "five <b>large</b> wards"}, **said}
    risk = {"highest": 0.2, "average": 0.1, "threshold": 0.2, "share_at_risk": 0.0}
    facts = report(rows=24, rows_in=24, utility={"gcp": 0.25}, settings=settings, risk=risk)
    made = replace(Report.read(facts), fingerprint="ab" * 32)
    page = render_html(made, language)
    first = page[page.index('<div class="front">') : page.index('<nav class="contents"')]
    for text in (*said.values(), "five &lt;b&gt;large&lt;/b&gt; wards", "ab" * 32):
        assert text in first
    words = load_catalogue(language)
    assert all(words.percent(share) in first for share in (0.2, 0.1, 0.25))
    assert first.count('class="value"') <= 5
    unsaid = render_html(Report.read(report(rows=24, rows_in=24)), language)
    assert unsaid.count(words.say("front.unsaid")) == 3  # what nobody said is told to be missing


def test_raw_names_of_settings_and_figures_stand_in_the_appendix_alone() -> None:
    made = Report.read(report(rows=24, utility={"gcp": 0.25}, settings={"k": 5, "at_least": {"age": 5}}))
    page = render_html(made, "en")
    chapters, appendix = page.split('id="section-appendix"')
    assert "at_least" in appendix
    assert "utility.gcp" in appendix
    assert "at_least" not in chapters
    assert "gcp" not in chapters
