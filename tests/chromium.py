"""A real Chromium for tests; it calls nobody by itself."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser

OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]


@contextmanager
def chromium(missing_part: Callable[[str], None]) -> Iterator[Browser]:
    """Start a browser; without one the test is skipped, in CI it fails."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        missing_part("no chromium: scripts/system_packages.sh installs it")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing_part("no playwright: pip install playwright")
    with sync_playwright() as play:
        started = play.chromium.launch(executable_path=program, args=OPTIONS)
        yield started
        started.close()
