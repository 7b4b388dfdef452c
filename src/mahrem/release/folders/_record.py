"""What this machine remembers of releases, and must never lie beside them.

The private run record explains a release later; from all of them follows which there are, what they are, and
how two differ.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import math
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mahrem import check
from mahrem.entries import own_version
from mahrem.errors import InvalidParameter, OutputFailed
from mahrem.files import locked, private_key, state_folder, write_whole
from mahrem.release.folders._folder import check_hashes, is_release
from mahrem.words import Note, warn_of

MADE, DRAFT, PUBLISHED, WITHDRAWN = "made", "draft", "published", "withdrawn"
UNCOUNTED = (DRAFT, WITHDRAWN)  # nobody outside has them: no later release can be laid beside them
_STATES, _LOCK = "releases.json", "releases.lock"
_CHUNK = 1 << 22
_RUNS = 50  # the last ones that are looked at
_ENOUGH = 10_000  # rows from which on a run says something about another


def record_run(output: Path, source: object, about: Mapping[str, Any]) -> Path | None:
    """Keep what explains a release later, readable by this user alone; warn if there is no place for it.

    Args:
        output: The release folder.
        source: What it was made of; of a file, a keyed fingerprint is kept.
        about: What else to keep; the fingerprint, where somebody has taken it already.
    """
    record = {
        "mahrem": own_version(),
        "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "release": str(output.absolute()),
        "input_fingerprint": None if "input_fingerprint" in about else input_fingerprint(source),
        **about,
    }
    name = f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{secrets.token_hex(4)}.json"
    try:
        folder = state_folder() / "runs"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return write_whole(folder / name, json.dumps(record, indent=2, default=str), new=True)
    except OSError as error:
        warn_of(Note("warning.record_not_kept", {"reason": error.strerror}))
        return None


def input_fingerprint(source: object) -> str | None:
    """Hash an input file under this user's own key: a plain hash of a small table can be guessed back."""
    path = Path(source) if isinstance(source, str | Path) else None
    try:
        if path is None or not path.is_file():
            return None
        digest = hmac.new(private_key(), digestmod=hashlib.sha256)
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
    except OSError:
        return None
    return digest.hexdigest()


def earlier_seconds(method: str, rows: int, columns: int) -> float | None:
    """Say how long a run like this should take, as the last of the same method did; None if none is known.

    Args:
        method: As the policy names it.
        rows: Of the table.
        columns: Quasi-identifiers.
    """
    seconds: list[float] = []
    with suppress(OSError):
        for path in sorted((state_folder() / "runs").glob("*.json"))[-_RUNS:]:
            with suppress(OSError, ValueError, KeyError, TypeError):
                run = json.loads(path.read_bytes())
                if run["policy"]["method"] == method and run["rows"] >= _ENOUGH:
                    work = run["rows"] * math.log2(run["rows"]) * len(run["policy"]["quasi"])
                    seconds.append(float(run["seconds"]) / work)
    if not seconds or rows < _ENOUGH:
        return None
    return sorted(seconds)[len(seconds) // 2] * rows * math.log2(rows) * columns


def release_mark(folder: Path) -> str:
    """Give a keyed hash of where a release lies: what is kept about it names no folder."""
    return hmac.new(private_key(), str(folder.absolute()).encode(), hashlib.sha256).hexdigest()[:16]


@dataclass(frozen=True, kw_only=True)
class RememberedRelease:
    """What is remembered of a release."""

    folder: str
    finished: str  # when
    state: str
    source: str | None
    rows: int | None
    classes: int | None
    method: str | None
    k: int | None
    there: bool  # its folder still is

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain data; when it was finished is ``made`` there."""
        return {"made" if name == "finished" else name: value for name, value in asdict(self).items()}


def remembered_releases() -> list[RememberedRelease]:
    """Give the releases that were made on this machine, the newest first; of a folder only the last one."""
    releases: dict[str, RememberedRelease] = {}
    states = _states()
    for run in _runs():
        folder, policy = str(run["release"]), run.get("policy") or {}
        releases[folder] = RememberedRelease(
            folder=folder,
            finished=str(run["finished"]),
            state=states.get(release_mark(Path(folder)), MADE),
            source=run.get("input"),
            rows=run.get("rows"),
            classes=run.get("classes"),
            method=policy.get("method"),
            k=policy.get("k"),
            there=Path(folder).is_dir(),
        )
    return sorted(releases.values(), key=lambda release: release.finished, reverse=True)


def source_of(folder: Path) -> dict[str, str]:
    """Give ``source`` and ``source_fingerprint`` of a release, as the record of this machine has them.

    Raises:
        InvalidParameter: If this machine has no record of it.
    """
    runs = [run for run in _runs() if run["release"] == str(folder.absolute())]
    if not runs:
        raise InvalidParameter(f"release={folder.name!r} was not made on this machine, or its record is gone")
    known = {"source": runs[-1].get("input"), "source_fingerprint": runs[-1].get("input_fingerprint")}
    return {name: str(value) for name, value in known.items() if value is not None}


def mark_release(folder: str | Path, state: str) -> None:
    """Remember that a release is a draft, is published, or was withdrawn.

    Drafts and withdrawn releases raise no warning that the people of a later one were released before.

    Raises:
        InvalidParameter: If nothing is known of a release in this folder.
    """
    check.one_of((DRAFT, PUBLISHED, WITHDRAWN), state=state)
    path = Path(folder)
    known = {release.folder for release in remembered_releases()}
    if str(path.absolute()) not in known and not is_release(path):
        raise InvalidParameter(f"release={path.name!r} is no release folder, and none is remembered there")
    change_state(path, lambda _: state)


def release_state(folder: Path) -> str:
    """Say whether a release is a draft, is published or was withdrawn; ``made`` if nobody said."""
    return _states().get(release_mark(folder), MADE)


def forget_mark(folder: Path) -> None:
    """Forget what was said of an earlier release in a folder: the one there now is another."""
    change_state(folder, lambda _: None)


def change_state(folder: Path, change: Callable[[str], str | None]) -> None:
    """Change what is said of a release by what was said; nobody comes between.

    Args:
        folder: Of the release.
        change: Gives the state from then on, None to forget it, or raises what leaves it as it is.

    Guarantees:
        - Of changes that threads and processes make at the same time none is lost.
        - Readers see what was kept before or after, whole.
    """
    try:
        state_folder().mkdir(parents=True, exist_ok=True, mode=0o700)
        with locked(state_folder() / _LOCK):
            _change(release_mark(folder), change)
    except OSError as error:
        raise OutputFailed(f"what was said of a release could not be kept: {error.strerror}") from None


def _change(mark: str, change: Callable[[str], str | None]) -> None:
    before = _states()
    then = change(before.get(mark, MADE))
    after = {known: state for known, state in before.items() if known != mark}
    if then is not None:
        after[mark] = then
    if after != before:
        write_whole(state_folder() / _STATES, json.dumps(after, indent=2))


def is_uncounted(mark: object) -> bool:
    """Say whether a release, by its mark, is a draft or was withdrawn."""
    return _states().get(str(mark)) in UNCOUNTED


def difference(first: str | Path, second: str | Path) -> dict[str, dict[str, list[Any]]]:
    """Say in which settings, promises, figures and columns two release folders differ.

    Each difference is the value in the first and in the second; None where it is not there.

    Raises:
        Tampered: If a file of one is not what was released.
        InvalidParameter: If one is no release folder.
    """
    parts = [_comparable_facts(Path(folder)) for folder in (first, second)]
    return {
        about: {
            name: [part[about].get(name) for part in parts]
            for name in sorted({*parts[0][about], *parts[1][about]})
            if parts[0][about].get(name) != parts[1][about].get(name)
        }
        for about in parts[0]
    }


def _comparable_facts(folder: Path) -> dict[str, dict[str, Any]]:
    if not is_release(folder) or not (folder / "policy.toml").is_file():
        raise InvalidParameter(f"release={folder.resolve().name!r} is no release folder with a policy")
    from mahrem.release.decisions import read_policy  # whoever makes a release reads none

    check_hashes(folder)
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    promises = {
        " ".join(filter(None, (promise["model"], promise.get("column")))): {
            key: promise.get(key) for key in ("wanted", "reached", "holds")
        }
        for promise in report["promises"]
    }
    figures = {**report["utility"], "rows": report["rows"]}
    figures |= {
        f"risk.{name}": value for name, value in report["risk"].items() if isinstance(value, int | float)
    }
    roles = {name: about.get("role") for name, about in report["columns"].items()}
    return {
        "settings": dict(read_policy(folder / "policy.toml")),
        "promises": promises,
        "figures": figures,
        "columns": roles,
    }


def _runs() -> Iterator[Mapping[str, Any]]:
    """Read the private records of runs, the oldest first; one that was cut off counts as not there."""
    for path in sorted((state_folder() / "runs").glob("*.json")):
        try:
            run = json.loads(path.read_bytes())
            if isinstance(run, dict) and "release" in run and "finished" in run:
                yield run
        except (OSError, ValueError):
            continue


def _states() -> dict[str, str]:
    try:
        states = json.loads((state_folder() / _STATES).read_bytes())
    except (OSError, ValueError):
        return {}
    return {str(mark): str(state) for mark, state in states.items()} if isinstance(states, dict) else {}
