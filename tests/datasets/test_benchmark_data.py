from __future__ import annotations

import hashlib
import json
import os
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from mahrem.datasets import Dataset, available, benchmark_folder, catalogue, find
from mahrem.errors import InvalidInput, InvalidParameter

if TYPE_CHECKING:
    from pathlib import Path

REAL = os.environ.get("MAHREM_DATA")


def entry(path: Path, **changes: Any) -> dict[str, Any]:
    content = path.read_bytes()
    facts = {
        "name": path.stem,
        "file": path.name,
        "format": "csv",
        "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
        "rows": 2,
        "columns": 2,
        "target": None,
        "source_url": "https://example.org/toy",
        "licence": "none",
    }
    return {**facts, **changes}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "toy.csv").write_text("a,b\n1,2\n3,4\n")
    (tmp_path / "manifest.json").write_text(json.dumps({"datasets": [entry(tmp_path / "toy.csv")]}))
    monkeypatch.setenv("MAHREM_DATA", str(tmp_path))
    return tmp_path


def test_a_file_that_equals_its_manifest_is_found(folder: Path) -> None:
    assert benchmark_folder() == folder
    assert find("toy") == folder / "toy.csv"
    (listed,) = available()
    assert isinstance(listed, Dataset)
    assert (listed.name, listed.rows, listed.path) == ("toy", 2, folder / "toy.csv")


def test_a_file_changed_by_one_byte_is_refused(folder: Path) -> None:
    assert find("toy")
    (folder / "toy.csv").write_text("a,b\n1,2\n3,5\n")
    with pytest.raises(InvalidInput, match="SHA-256"):
        find("toy")


def test_a_longer_file_is_refused(folder: Path) -> None:
    (folder / "toy.csv").write_text("a,b\n1,2\n3,4\n5,6\n")
    with pytest.raises(InvalidInput, match="SHA-256"):
        find("toy")


def test_a_file_that_left_is_neither_listed_nor_found(folder: Path) -> None:
    (folder / "toy.csv").unlink()
    assert available() == []
    with pytest.raises(InvalidInput, match=r"MAHREM_DATA.*https://example\.org/toy"):
        find("toy")


def test_without_the_variable_the_message_says_where_a_set_comes_from(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("MAHREM_DATA", raising=False)
    assert benchmark_folder() is None
    assert available() == []
    with pytest.raises(InvalidInput, match=r"MAHREM_DATA.*archive\.ics\.uci\.edu"):
        find("adult_train")


def test_an_unknown_name_brings_the_nearest_names(folder: Path) -> None:
    assert folder.is_dir()
    with pytest.raises(InvalidParameter, match="adult_train"):
        find("adult_trian")
    with pytest.raises(InvalidParameter, match="the sets are"):
        find("zzz")


def test_a_manifest_may_not_point_outside_its_folder(folder: Path) -> None:
    outside = entry(folder / "toy.csv", file="../toy.csv")
    (folder / "manifest.json").write_text(json.dumps({"datasets": [outside]}))
    with pytest.raises(InvalidInput, match="inside"):
        available()


@pytest.mark.parametrize("text", ["{", "[]", '{"datasets": [{"name": "a"}]}', '{"datasets": [3]}'])
def test_a_broken_manifest_is_an_input_error(folder: Path, text: str) -> None:
    (folder / "manifest.json").write_text(text)
    with pytest.raises(InvalidInput, match=r"manifest\.json"):
        available()


def test_a_folder_that_is_none_or_has_no_manifest_is_an_input_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MAHREM_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(InvalidInput, match="folder"):
        available()
    monkeypatch.setenv("MAHREM_DATA", str(tmp_path))
    with pytest.raises(InvalidInput, match=r"manifest\.json"):
        available()


def test_the_catalogue_names_each_set_once_and_says_where_it_comes_from() -> None:
    sources = catalogue()
    assert len({source.name for source in sources}) == len(sources) >= 10
    assert all(
        source.rows > 0 and source.columns > 0 and source.what and source.licence for source in sources
    )
    assert all(source.source_url.startswith("http") for source in sources)


@pytest.mark.data
@pytest.mark.skipif(REAL is None, reason="MAHREM_DATA is not set")
def test_every_benchmark_file_is_the_real_one() -> None:
    known = {source.name: source for source in catalogue()}
    listed = available()
    assert {dataset.name for dataset in listed} == set(known)
    for dataset in listed:
        assert find(dataset.name) == dataset.path
        assert known[dataset.name].rows == dataset.rows
        assert known[dataset.name].source_url == dataset.source_url


@pytest.mark.data
@pytest.mark.skipif(REAL is None, reason="MAHREM_DATA is not set")
def test_a_tampered_copy_of_a_real_set_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = find("mammographic_masses")
    shutil.copy(source, tmp_path)
    shutil.copy(source.parent / "manifest.json", tmp_path)
    monkeypatch.setenv("MAHREM_DATA", str(tmp_path))
    copied = find("mammographic_masses")
    content = bytearray(copied.read_bytes())
    content[-3] ^= 1
    copied.write_bytes(content)
    with pytest.raises(InvalidInput, match="SHA-256"):
        find("mammographic_masses")
