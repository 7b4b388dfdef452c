"""Versions of the site beside each other: each in a folder of its name, the list in ``versions.json``.

    python scripts/site_versions.py build/site PAGES latest      # what main says
    python scripts/site_versions.py build/site PAGES v0.2.0      # a release; it is never built again

``PAGES`` is what is published. The theme reads the list and offers a choice; whoever opens the address itself
is led to ``latest``, or to the newest release where there is none.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
from pathlib import Path

LATEST = "latest"
_NAME = re.compile(r"(?:latest|v?(\d+)\.(\d+)\.(\d+))")
_LEAD = (
    '<!doctype html><meta charset="utf-8"><title>mahrem</title>'
    '<meta http-equiv="refresh" content="0; url={}/">'
)


def rank(name: str) -> tuple[int, ...]:
    """Order versions, the newest last; what main says is newer than every release.

    Raises:
        ValueError: It is no version.
    """
    found = _NAME.fullmatch(name)
    if found is None:
        raise ValueError(f"{name} is no version: latest, or three numbers")
    return (1,) if name == LATEST else (0, *map(int, found.groups()))


def publish(site: Path, pages: Path, name: str) -> None:
    """Put a site beside the versions that are there, and list them all."""
    rank(name)
    folder = pages / name.removeprefix("v")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(site, folder)
    names = [path.parent.name for path in pages.glob("*/index.html")]
    names.sort(key=rank, reverse=True)
    listed = [{"version": one, "title": one, "aliases": []} for one in names]
    (pages / "versions.json").write_text(json.dumps(listed, indent=1) + "\n", encoding="utf-8")
    (pages / "index.html").write_text(_LEAD.format(names[0]) + "\n", encoding="utf-8")
    (pages / ".nojekyll").touch()  # files are published as they are


def main() -> None:
    """Publish what was built."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("site", type=Path)
    parser.add_argument("pages", type=Path)
    parser.add_argument("name")
    given = parser.parse_args()
    publish(given.site, given.pages, given.name)


if __name__ == "__main__":
    main()
