"""What a job does to its folder; nothing else of projects is loaded for that."""

from __future__ import annotations

from pathlib import Path

SHOWS_ROWS = "shows-rows"  # in the folder of a job: its result has rows of people, and goes with raw data


def make_private(folder: Path) -> None:
    """Close a folder and all below it to everybody else."""
    folder.chmod(0o700)
    for path in folder.rglob("*"):
        if not path.is_symlink():
            path.chmod(0o700 if path.is_dir() else 0o600)
