"""Flower 1.41 as the carrier: its clients, its messages, and an environment that tells nobody anything.

Everything that touches Flower lies in the modules ``_flower*``. They use what Flower's own SuperNode and
ServerApp use, which is no stable interface; so the version is pinned exactly and tests run real processes.
"""

from __future__ import annotations

import atexit
import logging
import os
import secrets
import shutil
import tempfile
from pathlib import Path
from typing import Any

from mahrem.check import extra
from mahrem.errors import InvalidInput, MissingExtra

__all__ = [
    "OPERATOR",
    "PINNED",
    "as_content",
    "bearer",
    "carried",
    "from_content",
    "need_flower",
    "refused_certificate",
    "reply_statement",
]

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
        os.environ["FLWR_HOME"] = made = tempfile.mkdtemp(prefix="mahrem-flower-")  # mkdtemp makes it 0700
        atexit.register(shutil.rmtree, made, ignore_errors=True)
    try:
        from importlib.metadata import version

        found = version("flwr")
    except ImportError:
        raise extra("federated", needed_for="clients in processes of their own") from None
    if found != PINNED:
        raise MissingExtra(f"flwr={found} is installed; {PINNED} is needed: pip install 'mahrem[federated]'")
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
    return text.partition(mark)[2].strip(" :").partition(" (_ssl")[0] or mark if mark in text else None
