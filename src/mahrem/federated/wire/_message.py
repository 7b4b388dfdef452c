"""What travels between server and clients: a kind, a run, a round, and a body of text, numbers and arrays."""

from __future__ import annotations

import hashlib
import json
import math
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mahrem.errors import InvalidInput

_MARK = b"mhm1"
_SMALL = 512  # bytes that are not worth compressing
LONGEST_NAME = 200  # letters of a kind and of a run, which are written down and remembered
MOST_BYTES = 1 << 28  # bytes that a message may unfold to; more would fill the reader's memory
_NOISE = ("u8", "f4")  # masked numbers and weights do not get smaller
_KINDS = {form: np.dtype("<" + form) for form in ("u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f4")}
_WIDE = {
    form: kind if form in _NOISE else np.dtype(np.int64 if form in {"u4", "i8"} else np.int32)
    for form, kind in _KINDS.items()
}  # what is read as what: sums of narrow numbers would not fit
_LIMITS = {
    form: (int(np.iinfo(kind).min), int(np.iinfo(kind).max))
    for form, kind in _KINDS.items()
    if kind.kind in "iu"
}


@dataclass(frozen=True)
class Message:
    """One message; a reply names the kind, run and round of the question it answers."""

    kind: str
    run: str
    round: int
    body: Mapping[str, Any] = field(
        default_factory=dict, repr=False
    )  # JSON, bytes, arrays of whole numbers and of 32-bit floats

    def reply(self, **body: Any) -> Message:
        """Make the answer to this question."""
        return Message(self.kind, self.run, self.round, body)

    def answers(self, question: Message) -> bool:
        """Say whether this is an answer to that question and not to an older one."""
        return (self.kind, self.run, self.round) == (question.kind, question.run, question.round)


@dataclass(frozen=True)
class Failure:
    """A client that gave no answer, and why; the reason holds no value of its data."""

    reason: str


def pack_message(message: Message, *, squeeze: bool = True) -> bytes:
    """Write a message as bytes: no code in it, arrays in the narrowest whole numbers that hold them.

    Example:
        >>> there = Message("counts", "r", 1, {"counts": np.array([[1, 300]]), "text": "é", "key": b"k"})
        >>> back = unpack_message(pack_message(there))
        >>> back.body["counts"].tolist(), back.body["text"], back.body["key"], back.answers(there)
        ([[1, 300]], 'é', b'k', True)

    Args:
        message: The message.
        squeeze: Compress long ones; within a process that costs more than it saves.

    Raises:
        InvalidInput: If it is longer than any reader takes.
    """
    whole, noise = _written(message)
    if len(whole) > MOST_BYTES:
        raise InvalidInput(
            f"message={len(whole)} bytes: at most {MOST_BYTES} can be sent; ask for less at once"
        )
    if squeeze and len(whole) > _SMALL and not noise:
        squeezed = zlib.compress(whole, 1)
        if len(squeezed) < len(whole):
            return _MARK + b"z" + squeezed
    return _MARK + b"-" + whole


def digest_message(message: Message) -> bytes:
    """Give what two sides compare to know that they speak of the same message; SHA-256.

    A message that was sent and read has the digest of the one that was written.
    """
    return hashlib.sha256(_written(message)[0]).digest()


def _written(message: Message) -> tuple[bytes, bool]:
    """Give a message as bytes, not compressed, and whether it holds masked numbers or weights: noise."""
    plain: dict[str, object] = {}
    listed: list[tuple[str, str, list[int]]] = []
    parts: list[bytes] = []
    for name, value in message.body.items():
        if isinstance(value, bytes):
            listed.append((name, "bytes", [len(value)]))
            parts.append(value)
        elif isinstance(value, np.ndarray):
            narrow = _narrow(value)
            listed.append((name, narrow.dtype.str[1:], list(narrow.shape)))
            parts.append(narrow.tobytes())
        else:
            plain[name] = value
    head = json.dumps([message.kind, message.run, message.round, plain, listed], ensure_ascii=False).encode()
    whole = b"".join([len(head).to_bytes(4, "little"), head, *parts])
    return whole, any(form in _NOISE for _, form, _ in listed)


def unpack_message(data: bytes, *, widen: bool = True) -> Message:
    """Read a message that :func:`pack_message` wrote.

    Args:
        data: The bytes.
        widen: Give narrow numbers in types in which sums of a few fit; else as they travelled.

    Raises:
        InvalidInput: If it is none.
    """
    try:
        return _unpack(data, widen=widen)
    except (ValueError, TypeError, LookupError, zlib.error, OverflowError, RecursionError) as error:
        raise InvalidInput(f"message={len(data)} bytes cannot be read ({type(error).__name__})") from None


def _unpack(data: bytes, *, widen: bool) -> Message:
    if data[:4] != _MARK:
        raise ValueError
    whole: bytes = data[5:]
    if data[4:5] == b"z":
        opened = zlib.decompressobj()
        whole = opened.decompress(whole, MOST_BYTES)
        if not opened.eof:
            raise ValueError
    size = int.from_bytes(whole[:4], "little")
    kind, run, number, body, listed = json.loads(whole[4 : 4 + size])
    at = 4 + size
    for name, form, shape in listed:
        if form == "bytes":
            (length,) = shape
            body[name] = whole[at : at + length]
        elif form in _KINDS and all(isinstance(side, int) and side >= 0 for side in shape):
            dtype, many = _KINDS[form], math.prod(shape)
            length = dtype.itemsize * many
            if at + length > len(whole):
                raise ValueError
            array = np.frombuffer(whole, dtype, many, at).reshape(shape)
            body[name] = array.astype(_WIDE[form], copy=False) if widen else array
        else:
            raise ValueError
        at += length
    kind, run = str(kind), str(run)
    if at != len(whole) or not isinstance(number, int) or max(len(kind), len(run)) > LONGEST_NAME:
        raise ValueError
    return Message(kind, run, number, body)


def _narrow(array: NDArray[Any]) -> NDArray[Any]:
    """Give the same whole numbers in the narrowest type, little end first; 64 bits without sign stay.

    Floats travel with 32 bits.
    """
    array = np.ascontiguousarray(array)
    if array.dtype.kind == "f":
        return array.astype("<f4", copy=False)
    if array.dtype == np.uint64:
        return array.astype("<u8", copy=False)
    low, high = (int(array.min()), int(array.max())) if array.size else (0, 0)
    for form in ("u1", "u2", "u4") if low >= 0 else ("i1", "i2", "i4"):
        if _LIMITS[form][0] <= low and high <= _LIMITS[form][1]:
            return array.astype(_KINDS[form], copy=False)
    return array.astype(_KINDS["i8"], copy=False)
