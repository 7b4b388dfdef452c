"""Certificates of a federation and long-term keys of its clients: made, written privately, checked."""

from __future__ import annotations

import datetime as dt
import hashlib
import ipaddress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.federated.wire._keys import need_cryptography
from mahrem.files import held_key, write_whole

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey, EllipticCurvePublicKey
    from cryptography.x509 import Certificate

HALF = 48  # bytes of each of a signature's two numbers on P-384
NAME = "mahrem federation"


def write_private(path: Path, content: bytes) -> None:
    """Write a new file that only its owner can read; one that is there is never written over."""
    try:
        write_whole(path, content, new=True, durable=True)
    except FileExistsError:
        raise InvalidParameter(
            f"file={path.name!r} exists; a private file is never written over, move it away first"
        ) from None


def _pem(key: Any) -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    written: bytes = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return written


def make_node_key() -> tuple[bytes, str]:
    """Make a client's long-term key (EC P-384): the private part as PEM, the public part as one line."""
    need_cryptography("keys and certificates")
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP384R1())
    return _pem(key), write_public(key.public_key())


def write_public(key: EllipticCurvePublicKey) -> str:
    """Write a public key as one line, as OpenSSH does."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return key.public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()


def read_public_key(text: str) -> EllipticCurvePublicKey:
    """Read a public key that :func:`write_public` or ``ssh-keygen -t ecdsa -b 384`` wrote.

    Raises:
        InvalidInput: If it is none of EC P-384.
    """
    need_cryptography("keys and certificates")
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ec import SECP384R1, EllipticCurvePublicKey
    from cryptography.hazmat.primitives.serialization import load_ssh_public_key

    try:
        key = load_ssh_public_key(text.strip().encode())
    except (ValueError, UnsupportedAlgorithm):
        raise InvalidInput(
            f"public key={len(text)} characters cannot be read; make one with: mahrem federate key NAME"
        ) from None
    if not isinstance(key, EllipticCurvePublicKey) or not isinstance(key.curve, SECP384R1):
        raise InvalidInput("public key must be one of EC P-384; make one with: mahrem federate key NAME")
    return key


def read_secret(path: Path) -> bytes:
    """Read a file that only its owner may read.

    Raises:
        InvalidInput: If it is not there, or open to others.
        InvalidParameter: If it is empty or too short for a key.
    """
    try:
        return held_key(path, private=True)[0]
    except OSError as error:
        raise InvalidInput(f"key={path.name!r} cannot be read: {error.strerror}") from None


def read_private_key(path: Path) -> EllipticCurvePrivateKey:
    """Read a private key; one that others may read is refused.

    Raises:
        InvalidInput: If it is not there, no key of EC P-384, or open to others.
    """
    need_cryptography("keys and certificates")
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ec import SECP384R1, EllipticCurvePrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    content = read_secret(path)
    try:
        key = load_pem_private_key(content, None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise InvalidInput(f"key={path.name!r} is no private key without a password") from None
    if not isinstance(key, EllipticCurvePrivateKey) or not isinstance(key.curve, SECP384R1):
        raise InvalidInput(f"key={path.name!r} must be one of EC P-384")
    return key


def sign_bytes(key: EllipticCurvePrivateKey, statement: bytes) -> bytes:
    """Sign a statement; 96 bytes."""
    from cryptography.hazmat.primitives.asymmetric.ec import ECDSA
    from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
    from cryptography.hazmat.primitives.hashes import SHA384

    first, second = decode_dss_signature(key.sign(statement, ECDSA(SHA384())))
    return first.to_bytes(HALF, "big") + second.to_bytes(HALF, "big")


def signature_holds(key: EllipticCurvePublicKey, statement: bytes, signature: bytes) -> bool:
    """Say whether the owner of a key signed a statement."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ec import ECDSA
    from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
    from cryptography.hazmat.primitives.hashes import SHA384

    if len(signature) != 2 * HALF:
        return False
    pair = int.from_bytes(signature[:HALF], "big"), int.from_bytes(signature[HALF:], "big")
    try:
        key.verify(encode_dss_signature(*pair), statement, ECDSA(SHA384()))
    except InvalidSignature:
        return False
    return True


def _named(name: str) -> Any:
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _builder(name: str, issuer: str, public: Any, begin: dt.datetime, days: float) -> Any:
    from cryptography import x509

    return (
        x509.CertificateBuilder()
        .subject_name(_named(name))
        .issuer_name(_named(issuer))
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(begin - dt.timedelta(minutes=5))  # clocks differ
        .not_valid_after(begin + dt.timedelta(days=days))
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
    )


def make_authority(days: float) -> tuple[bytes, bytes]:
    """Make a certificate authority of one federation: its private key and its certificate, both PEM."""
    need_cryptography("keys and certificates")
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.hashes import SHA384
    from cryptography.hazmat.primitives.serialization import Encoding

    key = ec.generate_private_key(ec.SECP384R1())
    now = dt.datetime.now(dt.UTC)
    usage = x509.KeyUsage(
        digital_signature=False,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=True,
        crl_sign=True,
        encipher_only=False,
        decipher_only=False,
    )
    certificate = (
        _builder(f"{NAME} authority", f"{NAME} authority", key.public_key(), now, days)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
        .sign(key, SHA384())
    )
    return _pem(key), certificate.public_bytes(Encoding.PEM)


def make_server_certificate(
    authority_key: bytes,
    authority: bytes,
    hosts: list[str],
    days: float,
    begin: dt.datetime | None = None,
) -> tuple[bytes, bytes]:
    """Make the server's certificate for its names and addresses: private key and certificate, both PEM."""
    need_cryptography("keys and certificates")
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.hashes import SHA384
    from cryptography.hazmat.primitives.serialization import Encoding, load_pem_private_key
    from cryptography.x509.oid import ExtendedKeyUsageOID

    issuer: Any = load_pem_private_key(authority_key, None)
    key = ec.generate_private_key(ec.SECP384R1())
    names = [_address(host) for host in dict.fromkeys(hosts)]
    now = begin or dt.datetime.now(dt.UTC)
    above = x509.load_pem_x509_certificate(authority).extensions
    identifier = above.get_extension_for_class(x509.SubjectKeyIdentifier).value
    certificate = (
        _builder(f"{NAME} server", f"{NAME} authority", key.public_key(), now, days)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(identifier), critical=False
        )
        .sign(issuer, SHA384())
    )
    return _pem(key), certificate.public_bytes(Encoding.PEM)


def _address(host: str) -> Any:
    from cryptography import x509

    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        pass
    try:
        return x509.DNSName(host)
    except ValueError:
        raise InvalidParameter(f"address={host!r} must be an IP address or a name in ASCII letters") from None


def read_certificate(content: bytes, name: str) -> Certificate:
    """Read a certificate.

    Raises:
        InvalidInput: If it is none.
    """
    need_cryptography("keys and certificates")
    from cryptography import x509

    try:
        return x509.load_pem_x509_certificate(content)
    except ValueError:
        raise InvalidInput(f"certificate={name!r} cannot be read") from None


def refuse_dates(certificate: Certificate, name: str) -> None:
    """Refuse a certificate that is over or has not begun, with both dates.

    Raises:
        InvalidInput: If it does not hold today.
    """
    first, last = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    now = dt.datetime.now(dt.UTC)
    if not first <= now <= last:
        raise InvalidInput(
            f"certificate={name!r} holds from {first:%Y-%m-%d %H:%M} to {last:%Y-%m-%d %H:%M} UTC, not now "
            f"({now:%Y-%m-%d %H:%M} by the clock here); set the clock, or renew it with: mahrem federate "
            f"renew DIR"
        )


def fingerprint(content: bytes) -> str:
    """Give a short text that two people can compare over the phone: SHA-256 in groups of four."""
    digits = hashlib.sha256(content).hexdigest()[:32]
    return " ".join(digits[at : at + 4] for at in range(0, 32, 4))
