"""The release folder: built in a private place beside its target, then renamed at once."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

from mahrem.errors import InvalidInput, InvalidParameter, MahremError, OutputFailed, Tampered, spelled
from mahrem.files import restore_interrupted, staged_folder, write_whole
from mahrem.table import written_formats

HASHES = "SHA256SUMS"
SIGNATURE = "signature.json"
DATA_FILES = tuple(f"data.{name}" for name in written_formats())


@contextmanager
def staged_release(
    target: Path, *, force: bool = False, hashed: Mapping[str, str] = MappingProxyType({})
) -> Iterator[Path]:
    """Build a release in a private folder and give it its final name only if all went well.

    Args:
        target: The folder to be.
        force: Replace an earlier release there.
        hashed: Hashes of files that somebody takes within the block, by name: they are not read once more.

    Guarantees:
        - Until the block ends, nothing exists under ``target`` that was not there before; then the old
          release and the new one change places in one step where the system can.
        - If the block raises (also on ctrl-C or a full disk), nothing is left behind; what a kill leaves
          nobody else can read, and the next run in that folder sweeps it.
        - The folder carries the hashes of everything in it.
    """
    target = Path(os.path.abspath(target))  # noqa: PTH100 - resolve() would follow a link away from its name
    restore_interrupted(target)
    _refuse_occupied(target, force=force)
    try:
        with staged_folder(target) as stage:
            yield stage
            _write_hashes(stage, hashed)
    except OSError as error:
        if isinstance(error, MahremError):
            raise
        message = f"output={target.name!r} could not be written: {error.strerror}; nothing was left behind"
        raise OutputFailed(message) from error


def named_folder(source: object) -> Path | None:
    """Give the folder that something names, None if it names none; first put back what a kill took away."""
    if not isinstance(source, str | Path):
        return None
    restore_interrupted(Path(source))
    return Path(source) if Path(source).is_dir() else None


def is_release(folder: Path) -> bool:
    """Say whether a folder looks like a release of ours."""
    return (folder / HASHES).is_file() and (folder / "report.json").is_file()


def find_data(folder: Path) -> Path:
    """Give the data file of a release folder."""
    for name in DATA_FILES:
        if (folder / name).exists():  # a cluster leaves a folder of parts there
            return folder / name
    raise InvalidInput(f"release={folder.name!r} holds no data file; expected one of {', '.join(DATA_FILES)}")


def check_hashes(folder: Path) -> None:
    """Refuse a release folder that holds anything but what was released."""
    listed = folder / HASHES
    if not listed.is_file():
        raise Tampered(f"release={folder.name!r} has no {HASHES}: nothing says what it held when it was made")
    try:
        lines = [line.split("  ", 1) for line in listed.read_text(encoding="utf-8").splitlines() if line]
        wanted = {name: digest for digest, name in lines}
    except ValueError:
        raise Tampered(
            f"release={folder.name!r} is not what was released: {HASHES} is no list of hashes"
        ) from None
    links = sorted(path.name for path in folder.rglob("*") if path.is_symlink())
    if links:
        raise Tampered(f"release={folder.name!r} is not what was released: {', '.join(links)} lies elsewhere")
    present = set(files_of(folder)) - {HASHES, SIGNATURE}
    wrong = sorted(
        name
        for name in present | set(wanted)
        if name not in present or sha256_of(folder / name) != wanted.get(name)
    )
    if wrong:
        raise Tampered(
            f"release={folder.name!r} is not what was released: {', '.join(wrong)} changed, came or went"
        )


def replace_page(folder: Path, name: str, text: str) -> Path:
    """Replace one page of a release folder that was just checked, and its line among the hashes.

    Both files are swapped in whole; between the two swaps the folder says that it was changed.
    """
    page, listed = folder / name, folder / HASHES
    digest = hashlib.sha256(text.encode()).hexdigest()
    kept = [
        line for line in listed.read_text(encoding="utf-8").splitlines() if line.split("  ", 1)[1] != name
    ]
    lines = sorted([*kept, f"{digest}  {name}"], key=lambda line: line.split("  ", 1)[1])
    try:
        for target, content in ((page, text), (listed, "\n".join(lines) + "\n")):
            write_whole(target, content, private=False, beside=Path(os.path.abspath(folder)).parent)  # noqa: PTH100 - the same
    except OSError as error:
        raise OutputFailed(f"release={folder.name!r}: {name} cannot be written: {error.strerror}") from error
    return page


def _refuse_occupied(target: Path, *, force: bool) -> None:
    if not target.exists() and not target.is_symlink():
        return
    if not target.is_dir() or target.is_symlink():
        raise InvalidParameter(f"output={target.name!r} exists and is not a folder")
    if not any(target.iterdir()):
        return
    if not force:
        raise InvalidParameter(
            f"output={target.name!r} exists and is not empty; choose another or pass {spelled('force', True)}"
        )
    if not is_release(target):
        raise InvalidParameter(
            f"output={target.name!r} holds something else than a release; "
            f"{spelled('force', True)} only replaces releases"
        )


def _write_hashes(stage: Path, hashed: Mapping[str, str]) -> None:
    lines = [f"{hashed.get(name) or sha256_of(stage / name)}  {name}\n" for name in files_of(stage)]
    (stage / HASHES).write_text("".join(lines), encoding="utf-8")


def files_of(folder: Path) -> list[str]:
    """List the files of a folder and of its folders, by their paths in it."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def sha256_of(path: Path) -> str:
    """Hash a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
