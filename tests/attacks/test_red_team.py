"""All attacks together: what plain k leaves open, and what l and t close."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from mahrem.attacks import ATTACKS, Finding, red_team
from mahrem.attacks.on_releases import Composition, PopulationPriors, ReleaseTarget
from mahrem.matching import People, Published, read_people, read_published
from mahrem.words import LANGUAGES, load_catalogue
from releases import crowd, halved, ranged


@pytest.fixture(scope="module")
def original() -> pl.DataFrame:
    return crowd(1200, 8).select("age", "pay", "illness")


def published(original: pl.DataFrame, labels: np.ndarray, order: np.ndarray) -> tuple[Published, People]:
    shown = ranged(original, ["age", "pay"], labels)[order]
    release = read_published(shown, quasi=["age", "pay"], sensitive=["illness"])
    return release, read_people(original, release)


def attacked(release: Published, people: People | None = None, **known: Any) -> tuple[Finding, ...]:
    return red_team(ReleaseTarget(release=release, people=people, **known))


def test_plain_k_is_open_to_what_larger_mixed_classes_close(original: pl.DataFrame) -> None:
    order = np.random.default_rng(0).permutation(original.height)
    plain = attacked(*published(original, halved(original, ["age", "pay"], 5), order), trials=300)
    mixed = attacked(*published(original, halved(original, ["pay"], 60), order), trials=300)
    by_name = [{finding.attack: finding for finding in findings} for findings in (plain, mixed)]
    assert by_name[0]["homogeneity"].successes > 0
    assert by_name[1]["homogeneity"].successes == 0
    assert by_name[1]["skewness"].rate < by_name[0]["skewness"].rate
    for findings, least in ((plain, 5), (mixed, 60)):
        for finding in findings:
            if finding.attack == "linkage":
                assert finding.interval[0] <= 1 / least
    assert by_name[0]["membership"].skipped == "no population was given"


def test_without_an_original_only_the_release_is_read(original: pl.DataFrame) -> None:
    release, people = published(original, halved(original, ["age"], 10), np.arange(original.height))
    findings = attacked(release)
    assert {finding.attack for finding in findings if finding.done} == {
        "homogeneity",
        "skewness",
        "ruled-out",
    }
    inside = np.ones(people.count, np.bool_)
    done = attacked(release, population=people, members=inside)
    assert done[-1].attack == "membership"
    assert done[-1].done


def test_the_same_file_and_seed_give_the_same_findings(original: pl.DataFrame) -> None:
    labels, order = halved(original, ["age", "pay"], 8), np.arange(original.height)
    first, second = (
        [finding.as_dict() for finding in attacked(*published(original, labels, order), trials=100, seed=3)]
        for _ in range(2)
    )
    assert first == second
    release, _ = published(original, labels, order)
    seen = release.labels[np.sort(np.unique(release.labels, return_index=True)[1])]
    assert seen.tolist() == list(range(len(release.sizes)))


def test_any_file_can_be_attacked_and_what_cannot_be_read_is_said() -> None:
    # anonypy writes 20-29; ARX writes labels of its hierarchy
    frame = pl.DataFrame({"age": [21, 25, 33, 38], "sex": ["f", "m", "f", "m"], "ill": ["a", "b", "a", "a"]})
    foreign = frame.with_columns(age=pl.Series(["20-29", "20-29", "30-39", "30-39"]), sex=pl.lit("*"))
    release = read_published(foreign, quasi=["age", "sex"], sensitive=["ill"])
    findings = {finding.attack: finding for finding in attacked(release, read_people(frame, release))}
    assert findings["homogeneity"].successes == 2
    assert findings["linkage"].details["expected"] == 0.5  # whoever knows the label finds one of two rows
    assert findings["linkage"].unread == 4


NOTHING = {"q": pl.String, "s": pl.String}


@pytest.mark.parametrize(
    ("shown", "original"),
    [
        (pl.DataFrame(schema=NOTHING), pl.DataFrame({"q": [1, 2], "s": ["a", "b"]})),
        (pl.DataFrame({"q": ["*", "*"], "s": ["*", "*"]}), pl.DataFrame({"q": [1, 2], "s": ["a", "b"]})),
        (pl.DataFrame({"q": ["[1, 2]", "[1, 2]"], "s": ["a", "b"]}), pl.DataFrame(schema=NOTHING)),
        (
            pl.DataFrame({"q": [None, None, "1"], "s": [None, None, None]}, schema=NOTHING),
            pl.DataFrame({"q": [None, 1, 1], "s": [None, "a", "b"]}),
        ),
        (pl.DataFrame({"q": [1.5, 1.5], "s": [1, 2]}), pl.DataFrame({"q": [1.5, 1.5], "s": [1, 2]})),
        (
            pl.DataFrame({"q": ["[-inf, 3]", "[3, inf]"], "s": ["a", "b"]}),
            pl.DataFrame({"q": [1, 5], "s": ["a", "b"]}),
        ),
    ],
    ids=["no rows", "all suppressed", "nobody", "all missing", "numbers", "without end"],
)
def test_awkward_tables_give_figures_or_a_reason(shown: pl.DataFrame, original: pl.DataFrame) -> None:
    release = read_published(shown, quasi=["q"], sensitive=["s"])
    people = read_people(original, release)
    findings = [
        *attacked(release, people, trials=50),
        Composition(k=2)(release, release, people),
        PopulationPriors(given="q")(release, people, original),
    ]
    for finding in findings:
        assert finding.done != bool(finding.skipped)
        if finding.done:
            assert 0.0 <= finding.interval[0] <= finding.rate <= finding.interval[1] <= 1.0


def test_a_hidden_value_may_be_anyones_in_a_composition() -> None:
    shown = pl.DataFrame({"q": ["1"] * 3, "s": ["a", "b", None]})
    release = read_published(shown, quasi=["q"], sensitive=["s"])
    finding = Composition(k=3)(release, release, read_people(pl.DataFrame({"q": [1]}), release))
    assert finding.details["smallest"] == 3


DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("name", ATTACKS)
def test_every_attack_can_be_loaded_is_explained_and_stands_in_the_docs(name: str) -> None:
    entry = ATTACKS[name]
    attack = entry.load()
    assert attack.__doc__
    assert entry.on == "federation" or callable(attack.against)
    assert set(entry.unasked_without) <= set(entry.needs)
    pages = [*DOCS.rglob("*attack*.md"), DOCS / "guide" / "audit-models.md"]
    written = "".join(path.read_text(encoding="utf-8") for path in pages)
    assert f"`{attack.__name__}" in written  # type: ignore[attr-defined]
    explained = {name in load_catalogue(language)["attack"] for language in LANGUAGES}
    assert len(explained) == 1  # in all languages, or told by its own sentence in all
