"""Values that may be one to a reader, or none: a promise must hold in every reading."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import mahrem as mh
from mahrem.errors import PrivacyWarning
from mahrem.models import (
    AlphaK,
    BasicLikeness,
    Counts,
    DeltaDisclosure,
    DistinctDiversity,
    EnhancedLikeness,
    EntropyDiversity,
    EqualCloseness,
    GrassbergerDiversity,
    PrivacyModel,
    Promise,
    RecursiveDiversity,
    counts_of,
)
from mahrem.table import Column, Kind, Role
from mahrem.types import Labels
from mahrem.verify import Claims, verify

pytestmark = pytest.mark.filterwarnings(f"ignore::{PrivacyWarning.__module__}.{PrivacyWarning.__name__}")
ONE = [
    ("caf\u00e9", "cafe"),
    ("type 1", "type1"),
    ("type-1", "TYPE 1"),
    ("J45.0", "j450"),
    ("chest pain", "chest, pain"),
    ("true", "1"),
    ("Yes", "true"),
    ("0", "no"),
    ("Hay\u0131r", "false"),
    ("Ja", "wahr"),
    ("nein", "Falsch"),
    ("do\u011fru", "true"),
    ("yanl\u0131\u015f", "0"),
    ("On", "true"),
    ("off", "no"),
    ("\u00d8re", "ore"),
    ("\u0142uk", "luk"),
    ("\u0111ak", "dak"),
    ("\u00c6rosol", "aerosol"),
    ("\u0153dema", "oedema"),
]
NONE = ["unknown", "Not known", "missing", "k.A.", "keine Angabe", "unbekannt", "bilinmiyor"]
NONE += ["none", "n/k", "N.K.", "n.a.", "unknown/missing", "missing, unknown"]
TWO = [("hiv+", "hiv-"), ("1.5", "15"), ("-5", "5"), ("1-2", "12"), ("flu", "influenza"), ("x -5", "x 5")]
WORDS = ["caf\u00e9", "cafe", "type 1", "type1", "unknown", "", "1", "true", "flu", "hiv"]


def verdict(values: Sequence[str], **promised: Any) -> mh.Audit:
    table = pl.DataFrame({"zip": ["a"] * len(values) + ["b"] * len(values), "d": [*values, *values]})
    return mh.audit(table, quasi=["zip"], sensitive=["d"], **promised)


@pytest.mark.parametrize("values", [*ONE, *((word, "hiv") for word in NONE)])
def test_a_class_is_not_diverse_by_what_may_be_one_value_or_none(values: tuple[str, str]) -> None:
    found = verdict(values, l=2)
    assert not found.holds
    assert {"code": "warning.spellings", "values": {"column": "d"}} in found.report["notes"]


@pytest.mark.parametrize("values", TWO)
def test_what_nobody_takes_for_one_stays_two(values: tuple[str, str]) -> None:
    assert verdict(values, l=2).holds


def test_a_word_for_the_unknown_hides_nobody() -> None:
    table = pl.DataFrame({"zip": ["a", "a", "unknown"], "d": ["flu", "hiv", "unknown"]})
    assert not mh.audit(table, quasi=["zip"], sensitive=["d"], k=2).holds


MODELS: list[PrivacyModel] = [
    DistinctDiversity(2),
    EntropyDiversity(1.8),
    GrassbergerDiversity(1.8),
    RecursiveDiversity(l=2, c=1.5),
    AlphaK(0.6, 1),
    EqualCloseness(0.3),
    BasicLikeness(1.0),
    EnhancedLikeness(1.0),
    DeltaDisclosure(0.8),
]
COMPARED: list[PrivacyModel] = [EqualCloseness(0.3), BasicLikeness(1.0), EnhancedLikeness(1.0)]


@settings(max_examples=60, deadline=None)
@given(cells=st.lists(st.tuples(st.integers(0, 2), st.sampled_from(WORDS)), min_size=3, max_size=24))
def test_a_verdict_is_that_of_the_worst_reading(cells: list[tuple[int, str]]) -> None:
    """Values apart or as one, what is unknown as a value or as none: a table must hold in each."""
    table, claims = judged(cells, MODELS)
    labels = table["zip"].rank("dense").to_numpy().astype(np.int64) - 1
    for model, outcome in zip(MODELS, verify(table.lazy(), claims).outcomes, strict=True):
        held = all(model.holds(read).all() for read in every_reading(labels, table["d"].to_list()))
        assert outcome.holds == held, model.name


FEW = ["caf\u00e9", "cafe", "flu", "unknown", "unknown", ""]


@settings(max_examples=60, deadline=None)
@given(cells=st.lists(st.tuples(st.integers(0, 1), st.sampled_from(FEW)), min_size=6, max_size=16))
def test_a_figure_is_that_of_the_worst_reading(cells: list[tuple[int, str]]) -> None:
    """Also where the worst is one in which values stay apart and the unknown is none, or the other way."""
    table, claims = judged(cells, COMPARED)
    labels = table["zip"].rank("dense").to_numpy().astype(np.int64) - 1
    for model, outcome in zip(COMPARED, verify(table.lazy(), claims).outcomes, strict=True):
        worst = max(model.level(read).max() for read in every_reading(labels, table["d"].to_list()))
        assert outcome.reached == pytest.approx(worst), model.name


def judged(cells: list[tuple[int, str]], models: Sequence[PrivacyModel]) -> tuple[pl.DataFrame, Claims]:
    table = pl.DataFrame({"zip": [str(label) for label, _ in cells], "d": [word for _, word in cells]})
    column = Column(name="d", role=Role.SENSITIVE, kind=Kind.CATEGORICAL)
    promises = [Promise(model, "d") for model in models]
    return table, Claims(quasi=["zip"], promises=promises, sensitive={"d": column})


def every_reading(labels: Labels, words: Sequence[str]) -> Iterator[Counts]:
    """Count by hand whatever may be taken for one, for none, and for a value."""
    for as_one, as_none, missing in product((False, True), repeat=3):
        read = [plain(word) if as_one else word for word in words]
        none = {"", "unknown"} if as_none else {""}
        yield counted(labels, [None if word in none else word for word in read], missing=missing)


def counted(labels: Labels, words: Sequence[str | None], *, missing: bool) -> Counts:
    """Count words by hand; what is missing is the last value, or none."""
    names = sorted({word for word in words if word is not None})
    places: dict[str | None, int] = {word: place for place, word in enumerate(names)}
    with_missing = missing and None in words
    codes = np.array([places.get(word, len(names) if with_missing else -1) for word in words])
    return counts_of(labels, codes, int(labels.max()) + 1, len(names) + with_missing)


def plain(word: str) -> str:
    """Fold by hand what the words of this module differ in."""
    bare = "".join(sign for sign in unicodedata.normalize("NFKD", word) if not unicodedata.combining(sign))
    return {"true": "1"}.get(bare, bare.replace(" ", ""))


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    words=st.lists(st.sampled_from(WORDS), min_size=20, max_size=60),
    method=st.sampled_from(["mondrian", "flash", "mosaic", "mdav"]),
    t=st.booleans(),
)
def test_releases_keep_what_their_audit_asks(
    tmp_path_factory: pytest.TempPathFactory, words: list[str], method: str, *, t: bool
) -> None:
    folder: Path = tmp_path_factory.mktemp("r")
    source = folder / "table.csv"
    pl.DataFrame({"age": [place * 7 % 40 for place in range(len(words))], "d": words}).write_csv(source)
    asked: dict[str, Any] = {"quasi": ["age"], "sensitive": ["d"], "k": 2, "l": 2, "html": False}
    asked |= {"t": 0.6} if t else {}
    try:
        mh.anonymize(source, output=folder / "out", method=method, **asked)
    except mh.errors.Infeasible:
        return
    assert mh.audit(folder / "out").holds
    shown = pl.read_csv(folder / "out" / "data.csv", infer_schema=False).fill_null("")
    for _, rows in shown.filter(pl.col("age") != "*").group_by("age"):
        assert len({plain(word) for word in rows["d"]} - {"", "unknown"}) >= 2
