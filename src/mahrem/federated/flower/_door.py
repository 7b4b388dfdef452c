"""Flower's doors as its messages describe them: protobuf over HTTPS, and nothing else of Flower."""

from __future__ import annotations

import base64
import datetime as dt
import secrets
import ssl
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from mahrem.errors import InvalidInput
from mahrem.federated.flower._connection import OPERATOR, Clock

if TYPE_CHECKING:
    import httpx
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey, EllipticCurvePublicKey

MEDIA = "application/protobuf"
AGAIN = frozenset({502, 503, 504})  # answers of a server that is about to come back
PAUSE = 0.5  # seconds between two tries
SERVER = 1  # the number of the server among nodes
Headers = Callable[[], Mapping[str, str]]


def pem_of(key: EllipticCurvePublicKey) -> bytes:
    """Give a public key as Flower knows it."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def node_headers(key: EllipticCurvePrivateKey, now: Callable[[], float] = time.time) -> Headers:
    """Give what proves to Flower whose node asks: its public key, and the time, signed."""
    from cryptography.hazmat.primitives.asymmetric.ec import ECDSA
    from cryptography.hazmat.primitives.hashes import SHA256

    public = base64.b64encode(pem_of(key.public_key())).decode("ascii")

    def signed() -> dict[str, str]:
        stamp = dt.datetime.fromtimestamp(now(), dt.UTC).isoformat()
        signature = base64.b64encode(key.sign(stamp.encode("ascii"), ECDSA(SHA256()))).decode("ascii")
        return {"flwr-public-key": public, "flwr-timestamp": stamp, "flwr-signature": signature}

    return signed


def operator_headers(token: str, task: str | None = None) -> Headers:
    """Give what proves to our guard that the operator asks, and to Flower which task does."""
    return lambda: {OPERATOR: token, **({} if task is None else {"flwr-task-token": task})}


@dataclass
class FlowerDoor:
    """Asks one question at a time at a server of Flower's.

    Args:
        address: ``host:port``.
        authority: The certificate (PEM) that vouches for the server.
        headers: Who asks; made anew for each request.
        component: What Flower is told that asks.
        clock: Reads the server's time off its answers.
        patience: Seconds for which a request is repeated while the server cannot be reached.
    """

    address: str
    authority: str = field(repr=False)
    headers: Headers = field(repr=False)
    component: str
    clock: Clock = field(default_factory=Clock, repr=False)
    patience: float = 0.0

    @cached_property
    def _client(self) -> httpx.Client:
        import httpx

        trusted = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        trusted.load_verify_locations(cadata=self.authority)
        return httpx.Client(base_url=f"https://{self.address}", verify=trusted, timeout=30.0)

    def ask(self, path: str, request: Any) -> Any:
        """Send a message of :mod:`flwr.proto` to a path such as ``fleet/pull-messages``; gives its answer.

        Raises:
            httpx.HTTPError: If the server cannot be reached or refuses.
        """
        import httpx

        content = request.SerializeToString(deterministic=True)
        end = time.monotonic() + self.patience
        while True:
            try:
                answer = self._sent(path, content)
                answer.raise_for_status()
                return _read_answer(request, answer.content)
            except (httpx.TransportError, httpx.HTTPStatusError) as error:
                lasting = isinstance(error, httpx.HTTPStatusError) and error.response.status_code not in AGAIN
                if lasting or time.monotonic() >= end:
                    raise
                time.sleep(PAUSE)

    def _sent(self, path: str, content: bytes) -> httpx.Response:
        from importlib.metadata import version

        headers = {
            "content-type": MEDIA,
            "accept": MEDIA,
            "flwr-package-name": "flwr",
            "flwr-package-version": version("flwr"),
            "flwr-component-name": self.component,
            **self.headers(),
        }
        client = self._client
        return self.clock.timed(lambda: client.post(f"/v1/{path}", content=content, headers=headers))

    def close(self) -> None:
        """Hang up."""
        self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _read_answer(request: Any, content: bytes) -> Any:
    """Read the answer that belongs to a request: ``PullMessagesResponse`` to ``PullMessagesRequest``."""
    name = type(request).__name__.removesuffix("Request") + "Response"
    answer = getattr(sys.modules[type(request).__module__], name)()
    try:
        answer.ParseFromString(content)
    except Exception:  # noqa: BLE001 - protobuf's own error, which has no typed home
        raise InvalidInput("the server answered something that is no message of Flower's") from None
    return answer


def make_message(parts: Mapping[str, bytes], **metadata: Any) -> Any:
    """Make a message of named bytes as it travels, content and all.

    Flower itself sends the parts of a message one by one, a dozen requests for each. Ours are small and go
    whole. Their names are drawn, so that nobody who did not get a message can answer it.
    """
    from flwr.proto.message_pb2 import Message, Metadata
    from flwr.proto.recorddict_pb2 import ConfigRecord, ConfigRecordValue, RecordDict

    held = ConfigRecord(
        items=[
            ConfigRecord.Item(key=name, value=ConfigRecordValue(bytes=data)) for name, data in parts.items()
        ]
    )
    content = RecordDict(items=[RecordDict.Item(key="mahrem", config_record=held)])
    return Message(metadata=Metadata(message_id=secrets.token_hex(32), **metadata), content=content)


def make_reply(question: Any, parts: Mapping[str, bytes], now: float) -> Any:
    """Make the answer to a message: it goes back to where that came from, and lasts as long."""
    asked = question.metadata
    tasks = {"dst_task_id": asked.src_task_id} if asked.HasField("src_task_id") else {}
    if asked.HasField("dst_task_id"):
        tasks["src_task_id"] = asked.dst_task_id
    return make_message(
        parts,
        run_id=asked.run_id,
        src_node_id=asked.dst_node_id,
        dst_node_id=asked.src_node_id,
        reply_to_message_id=asked.message_id,
        group_id=asked.group_id,
        created_at=now,
        ttl=max(asked.ttl - (now - asked.created_at), 1.0),
        message_type=asked.message_type,
        **tasks,
    )


def tree_of(message: Any) -> Any:
    """Give the tree that Flower keeps of a message: ours has no parts of its own."""
    from flwr.proto.message_pb2 import ObjectTree

    return ObjectTree(object_id=message.metadata.message_id)


def read_message(message: Any) -> dict[str, bytes]:
    """Give the named bytes of a message that :func:`make_message` made.

    Raises:
        InvalidInput: If it is none of ours.
    """
    for item in message.content.items:
        if item.key == "mahrem" and item.HasField("config_record"):
            return {
                part.key: part.value.bytes
                for part in item.config_record.items
                if part.value.WhichOneof("value") == "bytes"
            }
    raise InvalidInput("a message without our part; the other side speaks another protocol")
