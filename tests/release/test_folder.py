from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from mahrem.errors import InvalidParameter, OutputFailed, Tampered
from mahrem.release.folders import check_hashes, staged_release


def fill(folder: Path, text: str = "a\n1\n") -> None:
    (folder / "data.csv").write_text(text)
    (folder / "report.json").write_text("{}")


def test_a_release_appears_at_once_and_whole(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "release"
    with staged_release(target) as stage:
        fill(stage)
        assert not target.exists()
        assert stat.S_IMODE(stage.stat().st_mode) == 0o700
    assert sorted(path.name for path in target.iterdir()) == ["SHA256SUMS", "data.csv", "report.json"]
    assert [path.name for path in target.parent.iterdir()] == ["release"]
    check_hashes(target)


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, SystemExit])
def test_a_failed_run_leaves_nothing_behind(tmp_path: Path, error: type[BaseException]) -> None:
    with pytest.raises(error), staged_release(tmp_path / "release") as stage:
        fill(stage)
        raise error
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_said_and_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(OutputFailed, match="No space left"), staged_release(tmp_path / "release") as stage:
        fill(stage)
        os.write(os.open("/dev/full", os.O_WRONLY), b"x")
    assert list(tmp_path.iterdir()) == []


def test_an_occupied_folder_is_refused_and_only_a_release_is_replaced(tmp_path: Path) -> None:
    target = tmp_path / "release"
    with staged_release(target) as stage:
        fill(stage)
    with pytest.raises(InvalidParameter, match="not empty"), staged_release(target):
        pass
    with staged_release(target, force=True) as stage:
        fill(stage, "b\n2\n")
    assert (target / "data.csv").read_text() == "b\n2\n"
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "thesis.txt").write_text("years of work")
    with pytest.raises(InvalidParameter, match="something else"), staged_release(precious, force=True):
        pass
    assert (precious / "thesis.txt").read_text() == "years of work"


def test_a_failed_replacement_keeps_the_old_release(tmp_path: Path) -> None:
    target = tmp_path / "release"
    with staged_release(target) as stage:
        fill(stage)
    with pytest.raises(KeyboardInterrupt), staged_release(target, force=True) as stage:
        raise KeyboardInterrupt
    check_hashes(target)
    assert [path.name for path in tmp_path.iterdir()] == ["release"]


@pytest.mark.parametrize("harm", ["change", "add", "remove", "hashes"])
def test_any_change_to_a_release_is_noticed(tmp_path: Path, harm: str) -> None:
    target = tmp_path / "release"
    with staged_release(target) as stage:
        fill(stage)
    match harm:
        case "change":
            (target / "data.csv").write_text("a\n2\n")
        case "add":
            (target / "extra.csv").write_text("a\n")
        case "remove":
            (target / "report.json").unlink()
        case "hashes":
            (target / "SHA256SUMS").unlink()
    with pytest.raises(Tampered):
        check_hashes(target)
