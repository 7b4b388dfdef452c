"""What is said of releases: nothing is lost when many speak at once, and what went counts no more."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import mahrem as mh
from mahrem.errors import PrivacyWarning
from mahrem.release.folders import change_state, mark_release, release_state, remove_release
from releases import crowd

_OTHERS = """
import sys
from pathlib import Path
from mahrem.release.folders import change_state
for number in range(30):
    change_state(Path(sys.argv[1], str(number)), lambda _: "draft")
"""


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAHREM_STATE", str(tmp_path / "state"))


def test_what_threads_and_processes_say_at_the_same_time_is_all_kept(tmp_path: Path) -> None:
    folders = [tmp_path / f"thread-{number}" for number in range(60)]
    command = [sys.executable, "-c", _OTHERS]
    others = [subprocess.Popen([*command, str(tmp_path / name)], env=dict(os.environ)) for name in ("a", "b")]
    with ThreadPoolExecutor(4) as threads:
        while any(other.poll() is None for other in others):
            list(threads.map(lambda folder: change_state(folder, lambda _: "published"), folders))
            list(threads.map(lambda folder: change_state(folder, lambda _: None), folders[::2]))
    assert [other.returncode for other in others] == [0, 0]
    said = {release_state(tmp_path / name / str(number)) for name in ("a", "b") for number in range(30)}
    assert said == {"draft"}
    assert [release_state(folder) for folder in folders] == ["made", "published"] * 30


def test_a_release_is_not_published_while_it_is_looked_at_and_removed(tmp_path: Path) -> None:
    looked, going = threading.Event(), threading.Event()

    def remove() -> None:
        looked.set()
        going.wait(0.3)

    release, order = tmp_path / "release", []
    change_state(release, lambda _: "draft")
    removing = threading.Thread(target=remove_release, args=(release, ("draft",), remove))
    removing.start()
    looked.wait(10)
    change_state(release, lambda now: order.append(now) or "published")  # type: ignore[func-returns-value]
    removing.join()
    assert order == ["made"]  # it was gone before anybody said more of it
    assert not remove_release(release, ("draft", "made"), lambda: order.append("removed"))
    assert order == ["made"]


@pytest.mark.parametrize("state", ["draft", "withdrawn"])
def test_people_of_a_release_that_went_count_no_more(tmp_path: Path, state: str) -> None:
    frame, policy = crowd(60), {"quasi": ["age"], "rest": "drop", "k": 5, "html": False}
    mh.anonymize(frame, output=tmp_path / "first", **policy)
    mark_release(tmp_path / "first", state)
    assert not remove_release(tmp_path / "first", ("made",), lambda: None)
    assert remove_release(tmp_path / "first", (state,), lambda: None)
    with warnings.catch_warnings():
        warnings.simplefilter("error", PrivacyWarning)
        mh.anonymize(frame, output=tmp_path / "second", **policy)
    with pytest.warns(PrivacyWarning, match="earlier release"):
        mh.anonymize(frame, output=tmp_path / "third", **policy)
