"""A page as PDF, printed by a browser of this machine: tagged, so that it can be read aloud."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from mahrem.errors import MissingExtra, OutputFailed

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
_SECONDS = 120
_QUIET = (
    "--headless",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--no-pdf-header-footer",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--export-tagged-pdf",
    "--generate-pdf-document-outline",
    "--host-resolver-rules=MAP * ~NOTFOUND",  # a page of ours loads nothing; nor does the browser by itself
)


def print_pdf(page: str) -> bytes:
    """Print a self-contained page as its print style says.

    Args:
        page: HTML that loads nothing.

    Guarantees:
        - The page lies in a folder that only this user can read, and is gone afterwards.
        - The PDF is tagged and has an outline.

    Raises:
        MissingExtra: If there is no browser that can print.
        OutputFailed: If it did not print.
    """
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        raise MissingExtra(
            "a PDF is printed by Chromium or Chrome, and none is there; install one, "
            "or open the page in any browser and print it"
        )
    with TemporaryDirectory(prefix="mahrem-pdf-") as folder:
        source, target = Path(folder, "page.html"), Path(folder, "page.pdf")
        source.write_text(page, encoding="utf-8")
        command = [program, *_QUIET, f"--user-data-dir={folder}/browser", f"--print-to-pdf={target}"]
        if os.geteuid() == 0:  # the browser's own sandbox does not start for root
            command.append("--no-sandbox")
        try:
            subprocess.run(  # noqa: S603 - a browser of this machine, on a page of ours
                [*command, source.as_uri()],
                check=True,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=_SECONDS,
                env={**os.environ, "HOME": folder, "TMPDIR": folder},
            )
            return target.read_bytes()
        except (OSError, subprocess.SubprocessError) as error:
            raise OutputFailed(
                f"{Path(program).name} did not print the page ({type(error).__name__}); "
                "open it in a browser and print it there"
            ) from None
