"""Flower 1.41 as the carrier: its clients, its messages, and an environment that tells nobody anything.

Everything that touches Flower lies in the modules ``_flower*``. They use what Flower's own SuperNode and
ServerApp use, which is no stable interface; so the version is pinned exactly and tests run real processes.
"""

from __future__ import annotations

import atexit
import datetime as dt
import logging
import os
import secrets
import tempfile
from email.utils import parsedate_to_datetime
from pathlib import Path
from time import time
from typing import Any

from mahrem.check import extra
from mahrem.errors import InvalidInput, MissingExtra
from mahrem.files import StageFolder

PINNED = "1.41.0"
OPERATOR = "x-mahrem-operator"  # header with the operator's token


def need_flower(home: Path | None = None) -> None:
    """Load Flower with telemetry, update checks and installation at run time off, in a private home.

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
    if installed != PINNED:
        raise MissingExtra(
            f"flwr={installed} is installed; {PINNED} is needed: pip install 'mahrem[federated]'"
        )
    from flwr.supercore import telemetry

    telemetry.FLWR_TELEMETRY_ENABLED = "0"  # somebody may have loaded it before
    logging.getLogger("flwr").setLevel(logging.ERROR)


class bearer:  # noqa: N801 - reads as what it adds
    """Adds the operator's token to requests."""

    def __init__(self, token: str) -> None:
        self.token = token

    def intercept(self, context: Any, call_next: Any) -> Any:
        """Add the header and go on."""
        context.request.headers[OPERATOR] = self.token
        return call_next(context)


class Clock:
    """Reads the server's clock off its answers, which have dates to the second.

    :attr:`ahead` is the least number of seconds between the two clocks that explains an answer, so that a
    slow one is not taken for a wrong clock.
    """

    def __init__(self) -> None:
        self.ahead = 0.0  # seconds that the clock here is ahead of the server's

    def intercept(self, context: Any, call_next: Any) -> Any:
        """Go on, and read the date of the answer."""
        began = time()
        answer = call_next(context)
        try:
            there = parsedate_to_datetime(answer.headers["date"]).timestamp()
        except (KeyError, TypeError, ValueError):
            return answer
        self.ahead = max(began - there - 1, 0.0) + min(time() - there, 0.0)  # at most one is not 0
        return answer

    def describe(self) -> str:
        """Say how far the two clocks are apart."""
        which = "ahead of" if self.ahead > 0 else "behind"
        return f"the clock here is {abs(self.ahead):,.0f} seconds {which} the server's"

    def refuse(self) -> None:
        """Refuse to go on if the server does not take requests that are dated by the clock here.

        Raises:
            InvalidInput: If it does not.
        """
        from flwr.common.constant import SYSTEM_TIME_TOLERANCE, TIMESTAMP_TOLERANCE

        late = TIMESTAMP_TOLERANCE + SYSTEM_TIME_TOLERANCE
        if not 1 - late < self.ahead < SYSTEM_TIME_TOLERANCE - 1:  # dates are to the second
            raise InvalidInput(
                f"clock: {self.describe()}, which refuses requests dated more than {SYSTEM_TIME_TOLERANCE} "
                f"seconds ahead or {late} behind; set the clocks, by NTP for example"
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


def as_content(**parts: bytes) -> Any:
    """Make the content of a Flower message of named bytes."""
    from flwr.app import ConfigRecord, RecordDict

    return RecordDict({"mahrem": ConfigRecord(dict(parts))})


def from_content(content: Any) -> dict[str, bytes]:
    """Give the named bytes of a message that :func:`as_content` made.

    Raises:
        InvalidInput: If it is none of ours.
    """
    try:
        record = dict(content["mahrem"])
    except (KeyError, TypeError):
        raise InvalidInput("a message without our part; the other side speaks another protocol") from None
    return {name: value for name, value in record.items() if isinstance(value, bytes)}


def reply_statement(fingerprint: str, name: str, message: str, kind: bytes, data: bytes) -> bytes:
    """Give what a client signs in a reply: who, in which federation, to which message, what."""
    parts = (fingerprint.encode(), name.encode(), message.encode(), kind, data)
    return b"mahrem-reply-1" + b"".join(len(part).to_bytes(8, "big") + part for part in parts)


def carried(message: Any) -> tuple[Any, Any]:
    """Give a message as it travels, content and all, and the tree that Flower keeps of it.

    Flower itself sends the parts of a message one by one, a dozen requests for each. Ours are small and go
    whole. Their names are drawn, so that nobody who did not get a message can answer it.
    """
    from flwr.common.serde import message_to_proto
    from flwr.proto.message_pb2 import ObjectTree

    name = secrets.token_hex(32)
    message.metadata.__dict__["_message_id"] = name
    return message_to_proto(message), ObjectTree(object_id=name)


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
