from __future__ import annotations

import json
import stat
import sys
from pathlib import Path

import pytest

import mahrem as mh
from mahrem.errors import InvalidInput, InvalidParameter, MissingExtra, Tampered
from mahrem.release.folders import make_signing_key, sign_release, verify_release

serialization = pytest.importorskip("cryptography.hazmat.primitives.serialization")


@pytest.fixture
def release(tmp_path: Path) -> Path:
    said = {"quasi": ["age", "sex"], "sensitive": "diagnosis", "rest": "drop", "k": 5}
    mh.anonymize(mh.demo_patients(200), output=tmp_path / "release", **said)
    return tmp_path / "release"


@pytest.fixture
def key(tmp_path: Path) -> Path:
    make_signing_key(tmp_path / "key")
    return tmp_path / "key"


def test_what_was_signed_is_verified_with_the_public_half(release: Path, key: Path) -> None:
    signed = sign_release(release, key)
    found = verify_release(release, key.with_name("key.pub"))
    assert found.fingerprint == signed.fingerprint
    assert found.trusted
    assert signed.fingerprint.startswith("SHA256:")
    assert mh.audit(release).report["signature"] == {
        "signed": True,
        "fingerprint": signed.fingerprint,
        "trusted": False,
    }
    assert sign_release(release, key) == signed, "signing again gives the same"


def test_an_unsigned_release_says_so(release: Path, key: Path) -> None:
    assert mh.audit(release).report["signature"] == {"signed": False}
    with pytest.raises(Tampered, match="not signed"):
        verify_release(release, key.with_name("key.pub"))
    with pytest.raises(Tampered, match="not signed"):
        mh.audit(release, public_key=key.with_name("key.pub"))


def test_the_signature_of_somebody_else_is_told_apart(release: Path, key: Path, tmp_path: Path) -> None:
    make_signing_key(tmp_path / "other")
    sign_release(release, tmp_path / "other")
    with pytest.raises(Tampered, match="another key"):
        verify_release(release, key.with_name("key.pub"))
    assert not mh.audit(release).report["signature"]["trusted"]


@pytest.mark.parametrize("name", ["data.csv", "policy.toml", "report.json", "report.html", "release.recipe"])
def test_every_file_is_under_the_signature(release: Path, key: Path, name: str) -> None:
    from hashlib import sha256

    sign_release(release, key)
    changed = (release / name).read_bytes() + b"\n"
    before = sha256((release / name).read_bytes()).hexdigest()
    (release / name).write_bytes(changed)
    sums = (release / "SHA256SUMS").read_text()
    (release / "SHA256SUMS").write_text(sums.replace(before, sha256(changed).hexdigest()))
    with pytest.raises(Tampered, match="not what was signed"):
        verify_release(release, key.with_name("key.pub"))
    with pytest.raises(Tampered):
        mh.audit(release)


@pytest.mark.parametrize("edit", ["fingerprint", "public_key", "signature", "algorithm", "form", "more"])
def test_a_signature_that_was_edited_is_none(release: Path, key: Path, edit: str) -> None:
    sign_release(release, key)
    file = release / "signature.json"
    content = json.loads(file.read_text())
    content[edit] = {"form": 2, "signature": content["signature"][:-8] + "AAAAAAA="}.get(edit, "x")
    file.write_text(json.dumps(content))
    with pytest.raises(Tampered):
        verify_release(release, key.with_name("key.pub"))
    with pytest.raises(Tampered):
        mh.audit(release)


def test_a_signature_of_another_release_does_not_fit(release: Path, key: Path, tmp_path: Path) -> None:
    said = {"quasi": ["age"], "sensitive": "diagnosis", "rest": "drop", "k": 9, "html": False}
    mh.anonymize(mh.demo_patients(100), output=tmp_path / "second", **said)
    sign_release(release, key)
    (tmp_path / "second" / "signature.json").write_bytes((release / "signature.json").read_bytes())
    with pytest.raises(Tampered):
        mh.audit(tmp_path / "second")


def test_what_was_changed_is_not_signed(release: Path, key: Path) -> None:
    (release / "data.csv").write_text("age\n1\n")
    with pytest.raises(Tampered):
        sign_release(release, key)
    assert not (release / "signature.json").exists()


def test_keys_are_private_whole_and_never_overwritten(release: Path, key: Path, tmp_path: Path) -> None:
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert not list(tmp_path.glob(".key*")), "no stage is left"
    held = key.read_bytes()
    with pytest.raises(InvalidParameter, match="already there"):
        make_signing_key(key)
    assert key.read_bytes() == held
    with pytest.raises(InvalidParameter, match="outside the release"):
        make_signing_key(release / "key")
    inside = release / "inside"
    inside.write_bytes(held)
    with pytest.raises(InvalidParameter, match="outside the release"):
        sign_release(release, inside)
    key.chmod(0o644)
    with pytest.raises(InvalidInput, match="chmod 600"):
        sign_release(release, key)


def test_pem_keys_are_read_too(release: Path, key: Path, tmp_path: Path) -> None:
    secret = serialization.load_ssh_private_key(key.read_bytes(), None)
    pem = secret.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    public = secret.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    (tmp_path / "pem").touch(0o600)
    (tmp_path / "pem").write_bytes(pem)
    (tmp_path / "pem.pub").write_bytes(public)
    sign_release(release, tmp_path / "pem")
    assert verify_release(release, tmp_path / "pem.pub") == verify_release(release, tmp_path / "key.pub")


@pytest.mark.parametrize("content", [b"", b"ZZMARKERZZ", b"-----BEGIN PRIVATE KEY-----\nZZMARKERZZ\n"])
def test_what_is_no_key_is_refused_in_our_words(release: Path, tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "none"
    file.touch(0o600)
    file.write_bytes(content)
    for verb in (sign_release, verify_release):
        with pytest.raises(InvalidInput, match=r"no (private|public) Ed25519 key") as refused:
            verb(release, file)
        assert "ZZMARKERZZ" not in str(refused.value)
    with pytest.raises(InvalidInput, match="cannot be read"):
        sign_release(release, tmp_path / "nowhere")


def test_a_key_of_another_kind_or_with_a_passphrase_is_refused(
    release: Path, key: Path, tmp_path: Path
) -> None:
    from cryptography.hazmat.primitives.asymmetric import ec

    other = ec.generate_private_key(ec.SECP256R1())
    forms = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    (tmp_path / "ec").touch(0o600)
    (tmp_path / "ec").write_bytes(other.private_bytes(*forms, serialization.NoEncryption()))
    with pytest.raises(InvalidInput, match="no private Ed25519"):
        sign_release(release, tmp_path / "ec")
    secret = serialization.load_ssh_private_key(key.read_bytes(), None)
    locked = serialization.BestAvailableEncryption(b"word")
    key.write_bytes(secret.private_bytes(*forms, locked))
    with pytest.raises(InvalidInput, match="passphrase"):
        sign_release(release, key)


def test_the_page_of_a_signed_release_stays(release: Path, key: Path, tmp_path: Path) -> None:
    from mahrem.pipeline import redraw

    sign_release(release, key)
    with pytest.raises(InvalidParameter, match="signed"):
        redraw(release, language="de")
    redraw(release, language="de", output=tmp_path / "page.html")
    assert verify_release(release, key.with_name("key.pub")).trusted


def test_a_signed_release_can_be_replaced(release: Path, key: Path) -> None:
    sign_release(release, key)
    said = {"quasi": ["age", "sex"], "sensitive": "diagnosis", "rest": "drop", "k": 5, "html": False}
    mh.anonymize(mh.demo_patients(200), output=release, force=True, **said)
    assert mh.audit(release).report["signature"] == {"signed": False}, "it is another release"


def test_only_release_folders_are_signed(key: Path, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for verb in (sign_release, verify_release):
        with pytest.raises(InvalidParameter):
            verb(tmp_path / "folder", key if verb is sign_release else key.with_name("key.pub"))
    (tmp_path / "a.csv").write_text("a\n1\n1\n")
    with pytest.raises(InvalidParameter, match="release folders"):
        mh.audit(tmp_path / "a.csv", quasi=["a"], k=2, public_key=key.with_name("key.pub"))


def test_without_cryptography_it_is_said_what_is_missing(
    release: Path, key: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sign_release(release, key)
    monkeypatch.setitem(sys.modules, "cryptography", None)
    for call in (lambda: sign_release(release, key), lambda: mh.audit(release)):
        with pytest.raises(MissingExtra, match=r"mahrem\[sign\]"):
            call()
