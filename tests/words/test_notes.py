"""Notes: codes with values that are told in any language."""

from __future__ import annotations

import ast
import copy
import json
import pickle

import pytest

from catalogue_use import SOURCES
from mahrem.errors import PrivacyWarning
from mahrem.words import Note, load_catalogue, warn_of

SHARE = Note("reason.share", {"share": 0.07})


def test_a_note_is_its_english_sentence_wherever_a_text_is_wanted() -> None:
    assert SHARE == "7 % of the rows have a value nobody else has."
    assert json.loads(json.dumps({"reason": SHARE}))["reason"] == str(SHARE)
    assert f"{SHARE}" == SHARE


def test_a_note_is_told_with_its_figures_as_the_language_writes_them() -> None:
    assert "7 % der Zeilen" in load_catalogue("de").tell(SHARE)
    assert "%7" in load_catalogue("tr").tell(SHARE)
    stage = Note("stage.anonymising_rows", {"rows": 2000, "seconds": 9.4})
    assert load_catalogue("de").tell(stage) == "anonymisiert 2.000 Zeilen, insgesamt etwa 9 s"
    assert load_catalogue("de").tell("not a note") == "not a note"


def test_a_note_within_a_note_is_told_too() -> None:
    shown = {"stage": Note("stage.cutting"), "bar": "▰▱", "done": 1, "every": 2}
    assert load_catalogue("de").tell(Note("stage.tasks", shown)).startswith("bildet Gruppen ▰▱ 1 von 2")


def test_a_note_goes_through_json_pickle_and_copies() -> None:
    assert Note.read(json.loads(json.dumps(SHARE.as_dict())), "") == SHARE
    for again in (copy.deepcopy(SHARE), pickle.loads(pickle.dumps(SHARE))):  # noqa: S301 - our own
        assert (again.code, again.values) == (SHARE.code, SHARE.values)


def test_notes_within_notes_come_back_from_json_however_deep() -> None:
    deep = Note(
        "doubt.content", {"column": "c1", "why": Note("gate.holds", {"kind": Note("content.kind.email")})}
    )
    again = Note.read(json.loads(json.dumps(deep.as_dict())), "")
    assert again == deep == "c1: it holds e-mail addresses"
    assert load_catalogue("de").tell(again) == "c1: sie enthält E-Mail-Adressen"


def test_what_a_note_cannot_say_fails_where_it_is_made() -> None:
    with pytest.raises(KeyError):
        Note("stage.unknown")
    with pytest.raises(KeyError):
        Note("stage.trying", {"size": 3})


def test_a_note_of_another_version_is_read_as_its_sentence() -> None:
    assert Note.read({"code": "stage.of_tomorrow", "values": {}}, "as it was") == "as it was"
    assert Note.read(None, "as it was") == "as it was"


def test_every_privacy_warning_is_raised_by_its_code() -> None:
    raised = {
        f"{path.relative_to(SOURCES)}:{node.lineno}"
        for path in sorted(SOURCES.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and getattr(node.func, "attr", getattr(node.func, "id", "")) in {"warn", "PrivacyWarning"}
        and "PrivacyWarning" in ast.unparse(node)
    }
    assert {place.partition(":")[0] for place in raised} == {"words/_notes.py"}


def test_a_warning_knows_its_code_and_is_told_in_every_language() -> None:
    def verb() -> None:
        warn_of(Note("warning.large_epsilon", {"epsilon": "30"}))

    with pytest.warns(PrivacyWarning, match="next to nothing") as heard:
        verb()
    (note,) = heard[0].message.args
    assert note.code == "warning.large_epsilon"
    assert heard[0].filename == __file__
    assert load_catalogue("tr").tell(note).startswith("epsilon=30 neredeyse")
