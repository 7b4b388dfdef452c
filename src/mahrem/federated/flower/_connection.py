"""Flower as the carrier: an environment that tells nobody anything, clocks, versions, what is signed.

What is used of Flower is its program ``flower-superlink`` with documented options (``_link``) and the
messages of its doors (:mod:`flwr.proto`, ``_door``); no module of its inside is imported.
"""

from __future__ import annotations

import atexit
import datetime as dt
import logging
import os
import tempfile
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from pathlib import Path
from time import time
from typing import TYPE_CHECKING

from mahrem.check import extra
from mahrem.errors import InvalidInput, MissingExtra
from mahrem.files import StageFolder
from mahrem.words import Note

if TYPE_CHECKING:
    from httpx import Response

TRIED = ("1.41", "1.42")  # versions of Flower that the tests were run with
OPERATOR = "x-mahrem-operator"  # header with the operator's token
LATE, EARLY = 305, 5  # seconds by which a request may be dated before and after Flower's clock


def need_flower(home: Path | None = None) -> None:
    """See that Flower is there, and turn telemetry, update checks and installation at run time off.

    It gets a private home.

    Raises:
        MissingExtra: If it is not there, or of another version.
    """
    os.environ["FLWR_TELEMETRY_ENABLED"] = "0"
    os.environ["FLWR_DISABLE_UPDATE_CHECK"] = "1"
    os.environ["FLWR_DISABLE_RUNTIME_DEPENDENCY_INSTALLATION"] = "1"
    if home is not None:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.environ["FLWR_HOME"] = str(home)
    elif "FLWR_HOME" not in os.environ:
        private = StageFolder(Path(tempfile.gettempdir()), "flower")
        os.environ["FLWR_HOME"] = str(private.path)
        atexit.register(private.remove)
    try:
        from importlib.metadata import version

        installed = version("flwr")
    except ImportError:
        raise extra("federated", needed_for="clients in processes of their own") from None
    if not installed.startswith(tuple(f"{known}." for known in TRIED)):
        raise MissingExtra(
            f"flwr={installed} is installed; {' or '.join(TRIED)} is needed: pip install 'mahrem[federated]'"
        )
    logging.getLogger("flwr").setLevel(logging.ERROR)


class Clock:
    """Reads the server's clock off its answers, which have dates to the second.

    :attr:`ahead` is the least number of seconds between the two clocks that explains an answer, so that a
    slow one is not taken for a wrong clock.
    """

    def __init__(self) -> None:
        self.ahead = 0.0  # seconds that the clock here is ahead of the server's

    def timed(self, ask: Callable[[], Response]) -> Response:
        """Ask, and read the date of the answer."""
        began = time()
        answer = ask()
        try:
            there = parsedate_to_datetime(answer.headers["date"]).timestamp()
        except (KeyError, TypeError, ValueError):
            return answer
        self.ahead = max(began - there - 1, 0.0) + min(time() - there, 0.0)  # at most one is not 0
        return answer

    def describe(self) -> Note:
        """Say how far the two clocks are apart."""
        code = "federation.clock_ahead" if self.ahead > 0 else "federation.clock_behind"
        return Note(code, {"seconds": round(abs(self.ahead))})

    def refuse(self) -> None:
        """Refuse to go on if the server does not take requests that are dated by the clock here.

        Raises:
            InvalidInput: If it does not.
        """
        if not 1 - LATE < self.ahead < EARLY - 1:  # dates are to the second
            raise InvalidInput(
                f"clock: {self.describe()}, which refuses requests dated more than {EARLY} "
                f"seconds ahead or {LATE} behind; set the clocks, by NTP for example"
            )


def our_version() -> str:
    """Give the version of mahrem that runs here."""
    from importlib.metadata import version

    return version("mahrem")


def other_version(given: bytes) -> str | None:
    """Say what is wrong with the version of the other side, if anything."""
    ours, theirs = our_version(), shown(given) or "an older one"
    if given == ours.encode():
        return None
    return f"mahrem={ours} runs here and {theirs} on the other side; install the same version on both"


def shown(data: bytes) -> str:
    """Give another side's words as they may stand on a terminal: short, and without control characters."""
    text = data.decode(errors="replace")[:500]
    return "".join(letter if letter.isprintable() else " " for letter in text)


def reply_statement(fingerprint: str, name: str, message: str, kind: bytes, data: bytes) -> bytes:
    """Give what a client signs in a reply: who, in which federation, to which message, what."""
    parts = (fingerprint.encode(), name.encode(), message.encode(), kind, data)
    return b"mahrem-reply-1" + b"".join(len(part).to_bytes(8, "big") + part for part in parts)


def refused_certificate(error: BaseException) -> str | None:
    """Say why a certificate was refused, if that is what went wrong."""
    text = str(error)
    mark = "certificate verify failed"
    if mark not in text:
        return None
    why = text.partition(mark)[2].strip(" :").partition(" (_ssl")[0] or mark
    if "expired" not in why and "not yet valid" not in why:
        return why
    return f"{why} (it is {dt.datetime.now(dt.UTC):%Y-%m-%d %H:%M} UTC by the clock here; is it right?)"
