"""Keys: whole, private, agreed on, never short; wherever one is read."""

from __future__ import annotations

import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import mahrem as mh
from mahrem.errors import InvalidParameter
from mahrem.federated.rules import Disguise
from mahrem.federated.weights import Decoys
from mahrem.federated.wire import Seal
from mahrem.federated.wire.certificates import read_secret
from mahrem.files import make_key, shared_key
from mahrem.table.columns import pseudonyms, read_key

PEOPLE = pl.DataFrame({"id": range(8), "age": [1, 2] * 4, "illness": ["flu", "gout"] * 4})
ROLES = {"quasi": ["age"], "sensitive": "illness", "k": 2, "seed": 1}


def test_processes_that_come_at_once_agree_on_one_key(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from mahrem.files import shared_key; sys.stdin.read(1); "
        "print(shared_key(Path(sys.argv[1])).hex())"
    )
    children = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(tmp_path / "deep" / "key")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(6)
    ]
    keys = {child.communicate("x")[0].strip() for child in children}
    assert len(keys) == 1
    assert keys == {(tmp_path / "deep" / "key").read_bytes().hex()}
    assert len(keys.pop()) == 64
    assert stat.S_IMODE((tmp_path / "deep" / "key").stat().st_mode) == 0o600
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["key"]


def test_a_key_is_never_written_over(tmp_path: Path) -> None:
    key = make_key(tmp_path / "key")
    with pytest.raises(InvalidParameter, match="already there"):
        make_key(tmp_path / "key")
    assert read_key(tmp_path / "key") == shared_key(tmp_path / "key") == key


def _file(use: Callable[[Path], object]) -> Callable[[Path, bytes], object]:
    def read(folder: Path, key: bytes) -> object:
        path = folder / "given"
        path.write_bytes(key)
        path.chmod(0o600)
        return use(path)

    return read


def _as_state(folder: Path, monkeypatch: pytest.MonkeyPatch, key: bytes) -> None:
    (folder / "state").mkdir()
    (folder / "state" / "key").write_bytes(key)
    monkeypatch.setenv("MAHREM_STATE", str(folder / "state"))


READERS: dict[str, Callable[[Path, bytes], object]] = {
    "a file": _file(read_key),
    "a file that is made if it is not there": _file(shared_key),
    "a secret of a federation": _file(read_secret),
    "pseudonyms": lambda _, key: pseudonyms(pl.Series("id", ["a"]), key),
    "a policy": lambda _, key: mh.anonymize(PEOPLE, pseudonym={"id": key}, rest="drop", **ROLES),
    "a policy's file": _file(lambda path: mh.anonymize(PEOPLE, pseudonym={"id": path}, **ROLES)),
    "sealed numbers": lambda _, key: Seal(key),
    "dummy rules": lambda _, key: Disguise(key),
    "dummy rows": lambda _, key: Decoys(key=key, share=0.5),
}


@pytest.mark.parametrize("key", [b"", b"x", b"fifteen bytes !"])
@pytest.mark.parametrize("reader", READERS)
def test_an_empty_or_short_key_is_refused_wherever_one_is_taken(
    tmp_path: Path, reader: str, key: bytes
) -> None:
    with pytest.raises(InvalidParameter, match=f"{len(key)} bytes; it must have at least 16"):
        READERS[reader](tmp_path, key)


@pytest.mark.parametrize("key", [b"", b"fifteen bytes !"])
def test_a_short_key_of_the_state_is_refused_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: bytes
) -> None:
    _as_state(tmp_path, monkeypatch, key)
    with pytest.raises(InvalidParameter, match="key file='key' has"):
        mh.anonymize(PEOPLE, output=tmp_path / "release", rest="drop", **ROLES)
    assert not (tmp_path / "release").exists()
    assert [path.name for path in (tmp_path / "state").iterdir()] == ["key"]


def test_a_ledger_whose_key_lost_its_bytes_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age\n1\n2\n")
    ledger = mh.Ledger.create(tmp_path / "people.ledger", tmp_path / "people.csv", epsilon=1.0)
    (ledger.path.parent / "people.ledger.key").write_bytes(b"")
    with pytest.raises(InvalidParameter, match="0 bytes"):
        mh.Ledger.open(tmp_path / "people.ledger")
