"""Settings of verbs and ledgers are said once: keywords, options and words are made from the specs."""

from __future__ import annotations

import importlib.util
import inspect
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import mahrem as mh
from mahrem.dp import LedgerKeywords, LedgerSettings
from mahrem.dp.queries import QueryKeywords, QuerySettings
from mahrem.learning.synthesis import SYNTHESISERS, SynthesisKeywords, SynthesisSettings
from mahrem.learning.training import MODELS, TrainingKeywords, TrainingSettings
from mahrem.partition import METHODS
from mahrem.release.decisions import ReleaseKeywords, release_settings
from mahrem.settings import settings_of
from mahrem.words import LANGUAGES, load_catalogue

SCRIPT = Path(__file__).parents[1] / "scripts" / "keywords.py"
SPECS = {
    "train": (TrainingSettings, TrainingKeywords),
    "synthesize": (SynthesisSettings, SynthesisKeywords),
    "query": (QuerySettings, QueryKeywords),
    "ledger": (LedgerSettings, LedgerKeywords),
}
VERBS = {"train": mh.train, "synthesize": mh.synthesize, "query": mh.query, "ledger": mh.Ledger.create}


def script() -> Any:
    found = importlib.util.spec_from_file_location("keywords", SCRIPT)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_keyword_files_are_what_the_script_writes() -> None:
    for path, content in script().files().items():
        assert path.read_text(encoding="utf-8") == content, f"run {SCRIPT.name}"


def test_help_lists_every_setting_of_a_release_and_a_type_checker_knows_it() -> None:
    listed = inspect.getdoc(mh.anonymize) or ""
    for name in release_settings():
        assert re.search(rf"^    {name}: ", listed, re.MULTILINE), name
    assert set(ReleaseKeywords.__annotations__) == set(release_settings())
    assert all(name in listed for name in METHODS)


@pytest.mark.parametrize("verb", SPECS)
def test_every_setting_has_a_keyword_and_words_in_every_language(verb: str) -> None:
    spec, keywords = SPECS[verb]
    known = settings_of(spec)
    assert list(keywords.__annotations__) == list(known)
    for language in LANGUAGES:
        means = load_catalogue(language)["setting"][verb]
        assert set(means) == set(known)
        for name, sentence in means.items():
            assert ("{choices}" in sentence) == (known[name].choices is not None), (language, name)


@pytest.mark.parametrize("verb", SPECS)
def test_a_verb_takes_what_it_arranges_and_leaves_the_rest_to_the_spec(verb: str) -> None:
    spec, _ = SPECS[verb]
    parameters = inspect.signature(VERBS[verb]).parameters
    assert len(parameters) <= 8
    assert not set(parameters) & set(settings_of(spec))


@pytest.mark.parametrize("verb", SPECS)
def test_a_default_that_is_given_reads_as_nothing_given(verb: str) -> None:
    spec, _ = SPECS[verb]
    for known in settings_of(spec).values():
        if known.default is not None:
            assert known.read(known.name, known.default) == known.default
        assert known.choices is None or known.default is None or known.default in known.choices()


def test_every_model_makes_an_estimator_factory_and_says_what_it_learns() -> None:
    for name, entry in MODELS.items():
        assert callable(entry.load()), name
        assert entry.learns
        assert entry.name == (entry.model if entry.how == "gradients" else f"{entry.model}/{entry.how}")
        assert entry.torch == (entry.how == "gradients" and not entry.rounds)


def test_every_synthesiser_is_a_dataclass_of_settings() -> None:
    for name, entry in SYNTHESISERS.items():
        assert fields(entry.load()), name
