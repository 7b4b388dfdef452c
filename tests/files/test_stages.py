"""Files and folders whole or not at all: what a kill leaves, and what the next process makes of it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from killed import waiting

from mahrem.files import StageFolder, _replaced, appearing, restore_interrupted, staged_folder, write_whole

FILE = """
import sys, time
from pathlib import Path
from mahrem.files import appearing
with appearing(Path(sys.argv[1])) as stream:
    stream.write(b"half")
    print("there", flush=True)
    time.sleep(600)
"""
FOLDER = """
import sys, time
from pathlib import Path
from mahrem.files import staged_folder
with staged_folder(Path(sys.argv[1])) as stage:
    (stage / "data.csv").write_text("half")
    print("there", flush=True)
    time.sleep(600)
"""
BETWEEN = """
import sys, time
from pathlib import Path
from mahrem.files import _replaced, staged_folder
_replaced._system_call = lambda: None
rename = Path.rename
def slow(path, target):
    if path.name == "new":
        print("there", flush=True)
        time.sleep(600)
    rename(path, target)
Path.rename = slow
with staged_folder(Path(sys.argv[1])) as stage:
    (stage / "data.csv").write_text("new")
"""


def hidden(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.name.startswith(".mahrem-")]


def readable_by_others(folder: Path) -> list[Path]:
    """List what another user could read: all folders above it let him in."""
    found = []
    for path in folder.iterdir():
        mode = path.lstat().st_mode
        if mode & (stat.S_IRGRP | stat.S_IROTH):
            found.append(path)
        if path.is_dir() and mode & (stat.S_IXGRP | stat.S_IXOTH):
            found += readable_by_others(path)
    return found


@pytest.mark.parametrize("program", [FILE, FOLDER])
def test_what_a_killed_process_left_is_private_and_swept_by_the_next(tmp_path: Path, program: str) -> None:
    with waiting(program, tmp_path / "target"):
        assert len(hidden(tmp_path)) == 1
        assert readable_by_others(tmp_path) == []
        write_whole(tmp_path / "other", b"whole")  # another process: the stage of a living one stays
        with StageFolder(tmp_path):
            assert len(hidden(tmp_path)) == 2
        assert len(hidden(tmp_path)) == 1
    assert len(hidden(tmp_path)) == 1  # killed
    assert not (tmp_path / "target").exists()
    write_whole(tmp_path / "other", b"whole again")
    assert hidden(tmp_path) == []


def test_a_replacement_killed_between_two_renames_is_put_back_by_whoever_comes_next(tmp_path: Path) -> None:
    target = tmp_path / "release"
    with staged_folder(target) as stage:
        (stage / "data.csv").write_text("old")
    for come_next in (
        lambda: restore_interrupted(target),
        lambda: StageFolder(tmp_path).remove(),
        lambda: write_whole(tmp_path / "other", b"whole"),
    ):
        with waiting(BETWEEN, target):
            assert not target.exists()
            restore_interrupted(target)  # its process still lives
            assert not target.exists()
        assert not target.exists()
        come_next()
        assert (target / "data.csv").read_text() == "old"
        assert hidden(tmp_path) == []


def test_what_took_the_name_meanwhile_stays(tmp_path: Path) -> None:
    target = tmp_path / "release"
    with staged_folder(target) as stage:
        (stage / "data.csv").write_text("old")
    with waiting(BETWEEN, target):
        pass
    target.mkdir()
    (target / "data.csv").write_text("made meanwhile")
    StageFolder(tmp_path).remove()
    assert (target / "data.csv").read_text() == "made meanwhile"
    assert hidden(tmp_path) == []


@pytest.mark.parametrize("can_exchange", [True, False])
def test_a_folder_is_replaced_whole_by_either_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, can_exchange: bool
) -> None:
    if not can_exchange:
        monkeypatch.setattr(_replaced, "_system_call", lambda: None)
    target = tmp_path / "deep" / "release"
    for text in ("old", "new"):
        with staged_folder(target) as stage:
            (stage / "data.csv").write_text(text)
        assert (target / "data.csv").read_text() == text
        assert [path.name for path in target.parent.iterdir()] == ["release"]
    with pytest.raises(ValueError, match="stop"), staged_folder(target) as stage:
        (stage / "data.csv").write_text("never")
        raise ValueError("stop")
    assert (target / "data.csv").read_text() == "new"
    assert [path.name for path in target.parent.iterdir()] == ["release"]


def test_where_exchanging_is_known_there_is_no_moment_without_the_folder(tmp_path: Path) -> None:
    watcher = """
import sys
from pathlib import Path
target, gone, seen = Path(sys.argv[1]), 0, set()
print("there", flush=True)
while not (target.parent / "stop").exists():
    try:
        seen.add((target / "data.csv").read_text())
    except FileNotFoundError:
        gone += 1
(target.parent / "gone").write_text(f"{gone} {len(seen - set('0123456789'))}")
"""
    target = tmp_path / "release"
    with staged_folder(target) as stage:
        (stage / "data.csv").write_text("0")
    if _replaced._system_call() is None:
        pytest.skip("this system cannot exchange folders")
    with waiting(watcher, target) as child:
        for number in range(300):
            with staged_folder(target) as stage:
                (stage / "data.csv").write_text(str(number % 10))
        (tmp_path / "stop").touch()
        child.wait(60)
    assert (tmp_path / "gone").read_text() == "0 0"


def test_a_stage_ends_with_its_owners_permissions_or_those_of_any_other_file(tmp_path: Path) -> None:
    umask = os.umask(0o022)
    try:
        for private, mode in ((True, 0o600), (False, 0o644)):
            with appearing(tmp_path / "file", private=private) as stream:
                stream.write(b"x")
                assert readable_by_others(tmp_path) == []
            assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == mode
            (tmp_path / "file").unlink()
    finally:
        os.umask(umask)


def test_a_new_file_never_takes_a_name_from_another(tmp_path: Path) -> None:
    write_whole(tmp_path / "key", b"first", new=True)
    with pytest.raises(FileExistsError):
        write_whole(tmp_path / "key", b"second", new=True)
    with (
        pytest.raises(FileExistsError),
        appearing(tmp_path / "late", new=True) as stream,
    ):
        stream.write(b"second")
        (tmp_path / "late").write_bytes(b"first")
    assert (tmp_path / "key").read_bytes() == (tmp_path / "late").read_bytes() == b"first"
    assert hidden(tmp_path) == []


def test_nothing_of_other_people_is_swept(tmp_path: Path) -> None:
    kept = [".mahrem-notes", ".mahrem-stage-12", "mahrem-stage-0123456789abcdef", ".release-0123456789abcdef"]
    for name in kept:
        (tmp_path / name).mkdir()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "thesis.txt").write_text("years of work")
    (tmp_path / ".mahrem-stage-0123456789abcdef").symlink_to(elsewhere)
    StageFolder(tmp_path).remove()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        [*kept, ".mahrem-stage-0123456789abcdef", "elsewhere"]
    )
    assert (elsewhere / "thesis.txt").exists()
