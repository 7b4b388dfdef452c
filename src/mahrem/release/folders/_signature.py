"""A signature over a release folder: who stands for it, beside the hashes of what it holds.

Hashes alone say that files belong together; whoever changes a file can write them anew. An Ed25519 signature
can only be made with the private key. It covers the name and the hash of every other file of the folder.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import secrets
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mahrem.check import extra
from mahrem.errors import InvalidInput, InvalidParameter, OutputFailed, Tampered, in_our_words
from mahrem.release.folders._folder import SIGNATURE, check_hashes, files_of, is_release, sha256_of
from mahrem.release.folders._own_claims import read_own_claims

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

_MEANT_FOR = b"mahrem-release-signature-1\n"  # no other text that somebody signs begins like this
_MOST = 1 << 16  # bytes of a key or a signature


@dataclass(frozen=True, kw_only=True)
class Signature:
    """Who signed a release: the fingerprint of the key, as ``ssh-keygen -l`` prints it."""

    fingerprint: str
    trusted: bool  # the key is the one that was given, not just the one the folder names

    def as_dict(self) -> dict[str, Any]:
        """Give what goes into JSON."""
        return {"signed": True, "fingerprint": self.fingerprint, "trusted": self.trusted}


@in_our_words
def make_signing_key(path: str | Path) -> str:
    """Make a key pair: a private key that only its owner can read, and the public one beside it (``.pub``).

    Guarantees:
        - Nothing is overwritten, and no half key is ever under the name.
        - No key is put into a release folder.

    Returns:
        The fingerprint.
    """
    _need_cryptography()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    path = Path(path)
    public = path.with_name(f"{path.name}.pub")
    _refuse_inside(path)
    for file in (path, public):
        if file.exists() or file.is_symlink():
            raise InvalidParameter(f"key={file.name!r} is already there; choose another name")
    key = Ed25519PrivateKey.generate()
    _write_new(path, key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()), mode=0o600)
    _write_new(public, _line(key.public_key()) + b"\n", mode=0o644)
    return _fingerprint(key.public_key())


@in_our_words
def sign_release(folder: str | Path, key: str | Path) -> Signature:
    """Sign a release folder; an earlier signature is replaced.

    Args:
        folder: A release whose hashes, policy and report agree.
        key: File of an Ed25519 private key without a passphrase, OpenSSH or PEM; it lies elsewhere.

    Raises:
        Tampered: If the folder is not what was released.
    """
    folder = Path(folder)
    secret = _private_key(Path(key), folder)
    read_own_claims(folder)
    public = secret.public_key()
    text = json.dumps(_document(public, secret.sign(_statement(folder))), indent=2) + "\n"
    stage = folder.parent / f".{folder.name}-{secrets.token_hex(8)}"
    try:
        stage.write_text(text, encoding="utf-8")
        stage.replace(folder / SIGNATURE)
    except OSError as error:
        stage.unlink(missing_ok=True)
        raise OutputFailed(f"release={folder.name!r} cannot be signed: {error.strerror}") from None
    return Signature(fingerprint=_fingerprint(public), trusted=True)


@in_our_words
def verify_release(folder: str | Path, public_key: str | Path) -> Signature:
    """Say that a release folder is what the owner of a key signed.

    Args:
        folder: A release.
        public_key: File of the public key, OpenSSH or PEM.

    Raises:
        Tampered: If it is not signed, not with this key, or not what was signed.
    """
    folder = Path(folder)
    wanted = _public_key(Path(public_key))
    if not is_release(folder):
        raise InvalidParameter(f"release={folder.name!r} is no release folder")
    check_hashes(folder)
    return _verified(folder, wanted)


def check_signature(folder: Path, public_key: str | Path | None) -> dict[str, Any]:
    """Say whether a folder is signed and, if a key is given, that it is signed with it.

    Guarantees:
        - A signature that does not fit what the folder holds is never passed over.
    """
    if public_key is not None:
        return verify_release(folder, public_key).as_dict()
    if not is_signed(folder):
        return {"signed": False}
    return _verified(folder, None).as_dict()


def is_signed(folder: Path) -> bool:
    """Say whether a folder carries a signature, good or not."""
    return (folder / SIGNATURE).exists()


def _verified(folder: Path, wanted: Ed25519PublicKey | None) -> Signature:
    _need_cryptography()
    from cryptography.exceptions import InvalidSignature

    key, signed = _read_signature(folder)
    if wanted is not None and _line(wanted) != _line(key):
        raise _tampered(folder, f"it is signed with another key ({_fingerprint(key)})")
    try:
        key.verify(signed, _statement(folder))
    except InvalidSignature:
        raise _tampered(folder, f"its files are not those that {_fingerprint(key)} signed") from None
    return Signature(fingerprint=_fingerprint(key), trusted=wanted is not None)


def _read_signature(folder: Path) -> tuple[Ed25519PublicKey, bytes]:
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_ssh_public_key

    file = folder / SIGNATURE
    if not file.exists():
        raise _tampered(folder, "it is not signed")
    try:
        content = json.loads(file.read_bytes()[:_MOST])
        key = load_ssh_public_key(content["public_key"].encode())
        signed = base64.b64decode(content["signature"], validate=True)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, UnsupportedAlgorithm):
        raise _tampered(folder, f"{SIGNATURE} is no signature") from None
    if not isinstance(key, Ed25519PublicKey) or content != _document(key, signed):
        raise _tampered(folder, f"{SIGNATURE} is no signature")
    return key, signed


def _document(key: Ed25519PublicKey, signed: bytes) -> dict[str, object]:
    """Give what the file of a signature says, all of it."""
    return {
        "form": 1,
        "algorithm": "Ed25519",
        "public_key": _line(key).decode(),
        "fingerprint": _fingerprint(key),
        "signature": base64.b64encode(signed).decode(),
    }


def _statement(folder: Path) -> bytes:
    """Write down what is signed: every file but the signature, by its path in the folder and its hash."""
    files = [[name, sha256_of(folder / name)] for name in files_of(folder) if name != SIGNATURE]
    return _MEANT_FOR + json.dumps(files, separators=(",", ":")).encode()


def _private_key(path: Path, folder: Path) -> Ed25519PrivateKey:
    _need_cryptography()
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_ssh_private_key

    if folder.resolve() in path.resolve().parents:
        raise InvalidParameter(f"key={path.name!r} must lie outside the release that it signs")
    content = _read_key(path)
    load = load_ssh_private_key if b"OPENSSH PRIVATE KEY" in content else load_pem_private_key
    try:
        key = load(content, password=None)
    except TypeError:
        raise InvalidInput(f"key={path.name!r} is locked with a passphrase; give one without") from None
    except (ValueError, UnsupportedAlgorithm):
        raise _no_key(path, "private") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise _no_key(path, "private")
    if os.name == "posix" and path.stat().st_mode & 0o077:
        raise InvalidInput(f"key={path.name!r} can be read by others, who could sign with it; use chmod 600")
    return key


def _public_key(path: Path) -> Ed25519PublicKey:
    _need_cryptography()
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key, load_ssh_public_key

    content = _read_key(path)
    load = load_pem_public_key if content.lstrip().startswith(b"-----") else load_ssh_public_key
    try:
        key = load(content.strip())
    except (ValueError, UnsupportedAlgorithm):
        raise _no_key(path, "public") from None
    if not isinstance(key, Ed25519PublicKey):
        raise _no_key(path, "public")
    return key


def _read_key(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(_MOST)
    except OSError as error:
        raise InvalidInput(f"key={path.name!r} cannot be read: {error.strerror}") from None


def _no_key(path: Path, half: str) -> InvalidInput:
    return InvalidInput(
        f"key={path.name!r} is no {half} Ed25519 key; make a pair with: mahrem release keygen KEY"
    )


def _line(key: Ed25519PublicKey) -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return key.public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)


def _fingerprint(key: Ed25519PublicKey) -> str:
    digest = hashlib.sha256(base64.b64decode(_line(key).split()[1])).digest()
    return "SHA256:" + base64.b64encode(digest).decode().rstrip("=")


def _write_new(path: Path, content: bytes, *, mode: int) -> None:
    """Write a file whole under a private name, then give it its own, unless somebody has taken that."""
    stage = path.with_name(f".{path.name[:200]}.{secrets.token_hex(8)}")
    try:
        with os.fdopen(os.open(stage, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            file.write(content)
            os.fsync(file.fileno())
        os.link(stage, path)
    except FileExistsError:
        raise InvalidParameter(f"key={path.name!r} is already there; choose another name") from None
    except OSError as error:
        raise OutputFailed(f"key={path.name!r} could not be written: {error.strerror}") from None
    finally:
        with suppress(OSError):
            stage.unlink()


def _refuse_inside(path: Path) -> None:
    for parent in path.resolve().parents:
        if is_release(parent):
            raise InvalidParameter(f"key={path.name!r} must lie outside the release {parent.name!r}")


def _need_cryptography() -> None:
    try:
        import cryptography  # noqa: F401 - is it there?
    except ImportError:
        raise extra("sign", needed_for="signatures") from None


def _tampered(folder: Path, what: str) -> Tampered:
    return Tampered(f"release={folder.resolve().name!r} is not what was signed: {what}")
