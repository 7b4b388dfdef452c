from __future__ import annotations

import hashlib
import os
import stat
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mahrem as mh
from mahrem.arrays import sketching
from mahrem.errors import PrivacyWarning
from mahrem.release.folders import _people, remember_people
from mahrem.release.folders._people import columns_naming_people
from releases import crowd

ROLES = {"quasi": ["age", "pay"], "rest": "drop", "k": 5, "html": False}


def siphash(text: bytes, key: bytes) -> int:
    """The definition, on whole numbers of any size."""
    full = 2**64 - 1

    def turn(word: int, by: int) -> int:
        return ((word << by) | (word >> (64 - by))) & full

    halves = [int.from_bytes(key[:8], "little"), int.from_bytes(key[8:], "little")]
    names = (b"uespemos", b"modnarod", b"arenegyl", b"setybdet")
    v = [int.from_bytes(name, "little") ^ halves[place % 2] for place, name in enumerate(names)]

    def mix() -> None:
        v[0] = (v[0] + v[1]) & full
        v[1] = turn(v[1], 13) ^ v[0]
        v[0] = turn(v[0], 32)
        v[2] = (v[2] + v[3]) & full
        v[3] = turn(v[3], 16) ^ v[2]
        v[0] = (v[0] + v[3]) & full
        v[3] = turn(v[3], 21) ^ v[0]
        v[2] = (v[2] + v[1]) & full
        v[1] = turn(v[1], 17) ^ v[2]
        v[2] = turn(v[2], 32)

    padded = text + bytes(7 - len(text) % 8) + bytes([len(text) % 256])
    for start in range(0, len(padded), 8):
        word = int.from_bytes(padded[start : start + 8], "little")
        v[3] ^= word
        mix()
        mix()
        v[0] ^= word
    v[2] ^= 0xFF
    for _ in range(4):
        mix()
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def test_hashes_are_those_of_the_paper() -> None:
    key = np.frombuffer(bytes(range(16)), np.uint64)
    found = sketching.hash_texts(np.arange(15, dtype=np.uint8), np.array([0, 15]), key)
    assert found[0] == 0xA129CA6149BE45E5  # Aumasson and Bernstein 2012, appendix A


@settings(max_examples=50, deadline=None)
@given(st.lists(st.binary(max_size=40), min_size=1, max_size=10), st.binary(min_size=16, max_size=16))
def test_many_texts_hash_as_each_does(texts: list[bytes], key: bytes) -> None:
    offsets = np.concatenate([[0], np.cumsum([len(text) for text in texts])]).astype(np.int64)
    content = np.frombuffer(b"".join(texts), np.uint8)
    found = sketching.hash_texts(content, offsets, np.frombuffer(key, np.uint64))
    assert found.tolist() == [siphash(text, key) for text in texts]


def test_a_second_release_of_the_same_people_is_warned_of(tmp_path: Path) -> None:
    people = crowd(300)
    mh.anonymize(people, **ROLES, output=tmp_path / "first")
    with pytest.warns(PrivacyWarning, match=r"100 % of the different combinations .* \(composition\)"):
        mh.anonymize(people, **{**ROLES, "k": 7}, output=tmp_path / "second")


def test_replacing_a_release_is_not_a_second_one(tmp_path: Path) -> None:
    for _ in range(2):
        mh.anonymize(crowd(300), **ROLES, output=tmp_path / "first", force=True)
    folder = Path(os.environ["MAHREM_STATE"]) / "people"
    assert len(list(folder.iterdir())) == 1


def test_people_with_a_name_are_counted_one_by_one(tmp_path: Path) -> None:
    people = crowd(300).with_columns(id=pl.int_range(pl.len()))
    roles = {**ROLES, "identifier": "id"}
    mh.anonymize(people, **roles, output=tmp_path / "first")
    later = crowd(300, seed=9).with_columns(id=pl.int_range(pl.len()) + 290)
    with pytest.warns(PrivacyWarning, match="some of the people are also in an earlier release"):
        mh.anonymize(later, **roles, output=tmp_path / "second")


def test_other_people_are_no_reason_to_warn(tmp_path: Path) -> None:
    roles = {**ROLES, "identifier": "id"}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for number in range(2):
            people = crowd(300).with_columns(id=pl.int_range(pl.len()) + 300 * number)
            mh.anonymize(people, **roles, output=tmp_path / f"r{number}")
    assert [str(one.message) for one in said if "earlier release" in str(one.message)] == []
    with pytest.warns(PrivacyWarning, match="earlier release"):  # the same people again are one
        mh.anonymize(people, **roles, output=tmp_path / "again")


def test_what_is_kept_is_private_and_holds_no_value(tmp_path: Path) -> None:
    people = crowd(200).with_columns(id=pl.format("person-{}", pl.int_range(pl.len())))
    mh.anonymize(people, **ROLES, identifier="id", output=tmp_path / "first")
    (kept,) = (Path(os.environ["MAHREM_STATE"]) / "people").iterdir()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    content = kept.read_bytes()
    assert b"person" not in content
    assert str(tmp_path).encode() not in content
    plain = hashlib.sha256(b"person-1").digest()[:8]
    assert plain not in content


def test_another_key_gives_other_fingerprints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pl.DataFrame({"id": [1, 2, 3]})
    first = _people.fingerprints(frame, by_name=True)
    monkeypatch.setenv("MAHREM_STATE", str(tmp_path / "other"))
    other = _people.fingerprints(frame, by_name=True)
    assert first.tag != other.tag
    assert not set(first.sketch.hashes.tolist()) & set(other.sketch.hashes.tolist())


def test_the_overlap_of_large_tables_is_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_people, "KEPT", 2000)
    one, two = (
        _people.fingerprints(pl.DataFrame({"id": np.arange(first, first + 20_000)}), by_name=True)
        for first in (0, 15_000)
    )
    assert len(one.sketch.hashes) == 2000
    assert one.overlap(two) == pytest.approx(5000, rel=0.25)  # about 500 are common: five deviations
    assert one.overlap(one) == pytest.approx(20_000, rel=0.12)


def watch_people(frame: pl.DataFrame, release: Path) -> int:
    return remember_people(lambda: _people.fingerprints(frame, by_name=True), release)


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("MAHREM_STATE", str(tmp_path / "file"))
    with pytest.warns(PrivacyWarning, match="could not be kept"):
        assert watch_people(pl.DataFrame({"a": [1]}), tmp_path / "r") == 0


def test_a_damaged_record_counts_as_not_there(tmp_path: Path) -> None:
    frame = pl.DataFrame({"id": [1, 2, 3]})
    watch_people(frame, tmp_path / "a")
    (kept,) = (Path(os.environ["MAHREM_STATE"]) / "people").iterdir()
    kept.write_bytes(b"\xff")
    assert watch_people(frame, tmp_path / "b") == 0


def test_a_subject_tells_people_apart_then_identifiers_then_quasi_identifiers() -> None:
    assert columns_naming_people("s", ["i"], ["q"], ["s", "i", "q"]) == (["s"], True)
    assert columns_naming_people(None, ["i", "gone"], ["q"], ["i", "q"]) == (["i"], True)
    assert columns_naming_people(None, [], ["q"], ["q"]) == (["q"], False)


def test_invented_people_are_neither_kept_nor_compared(
    tmp_path: Path, run: Callable[..., tuple[int, str, str]]
) -> None:
    for number in range(2):
        code, _, said = run("demo", "-o", tmp_path / f"r{number}", "--rows", "300", "--no-html")
        assert (code, "earlier release" in said) == (0, False)
    patients = mh.demo_patients(300)
    patients.write_csv(tmp_path / "patients.csv")
    for number, source in enumerate((patients, patients.to_pandas(), tmp_path / "patients.csv")):
        mh.anonymize(
            source, quasi=["age", "zip"], rest="drop", k=3, html=False, output=tmp_path / f"s{number}"
        )
    assert not (Path(os.environ["MAHREM_STATE"]) / "people").exists()


def test_one_real_name_among_invented_ones_counts(tmp_path: Path) -> None:
    people = mh.demo_patients(300).with_columns(
        name=pl.when(pl.int_range(pl.len()) == 7).then(pl.lit("Jane Roe")).otherwise("name")
    )
    mh.anonymize(people, quasi=["age", "zip"], rest="drop", k=3, html=False, output=tmp_path / "first")
    with pytest.warns(PrivacyWarning, match="earlier release"):
        mh.anonymize(people, quasi=["age", "zip"], rest="drop", k=3, html=False, output=tmp_path / "second")


def test_fingerprints_taken_in_parts_are_those_of_the_whole_table() -> None:
    frame = pl.DataFrame({"id": np.arange(5000) % 3000, "town": ["a", None] * 2500})
    whole = _people.fingerprints(frame, by_name=True)
    for most in (None, 10_000, 1000):
        taker = _people.FingerprintTaker(frame.columns, by_name=True, most=most)
        for part in frame.sample(fraction=1, shuffle=True, seed=1).iter_slices(700):
            taker.add(part)
        prints = taker.prints()
        assert prints.tag == whole.tag
        kept = len(prints.sketch.hashes)
        assert prints.sketch.hashes.tolist() == whole.sketch.hashes[:kept].tolist()
        assert prints.people == pytest.approx(whole.people, rel=0.0 if most != 1000 else 0.2)  # six sigma


@given(
    st.lists(
        st.tuples(
            st.none() | st.sampled_from(["a", "b", "\u00fc", "a longer text than a word", ""]),
            st.none() | st.sampled_from([0.0, -0.0, 1.5, 1e300]),
            st.sampled_from([1, 2, -(2**63)]),
            st.none() | st.sampled_from(["x", "y"]),
        ),
        min_size=1,
        max_size=40,
    ),
    st.integers(0, 1),
)
@settings(max_examples=60, deadline=None)
def test_a_long_table_has_the_fingerprints_of_a_short_one(rows: list[tuple[object, ...]], full: int) -> None:
    kinds = {"a": pl.String, "b": pl.Float64, "c": pl.Int64, "d": pl.String}
    frame = pl.DataFrame(rows, schema=kinds, orient="row").with_columns(
        pl.col("d").cast(pl.Categorical(pl.Categories.random())), e=pl.date(2024, 1, 31)
    )
    frame = frame.drop_nulls() if full else frame
    with pytest.MonkeyPatch.context() as few:
        few.setattr(_people, "_ROWS", 3)
        by_piece = [part[0].tobytes() for part in _people._woven(frame)]
    (joined,) = _people._joined(frame)
    assert b"".join(by_piece) == joined[0].tobytes()
