"""Who comes in, from where, and what a page may do once it is there."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import stat
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from mahrem.errors import InvalidParameter
from mahrem.web import ServeSettings, create_app
from mahrem.web._errors import Refused
from mahrem.web.guard._sessions import Sessions
from mahrem.web.projects._sources import database_label, pick_database
from web_server import Server, serving


def test_nobody_comes_in_without_a_token(server: Server) -> None:
    with server.browser() as stranger:
        for path in ("/projects", "/api/v1/projects", "/api/v1/openapi.json", "/api"):
            answer = stranger.get(path)
            assert answer.status_code == 401
        assert "start address" in answer.text
        assert stranger.get("/start", params={"token": "guessed"}).status_code == 403


def test_the_token_works_once_and_gives_a_cookie_no_script_and_no_other_site_gets(tmp_path: Path) -> None:
    with serving(tmp_path) as fresh, fresh.browser() as first, fresh.browser() as second:
        answer = first.get(fresh.start)
        assert answer.status_code == 200
        cookie = answer.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=strict" in cookie
        assert first.get("/projects").status_code == 200
        own = cookie.split(";")[0]
        assert own.startswith(f"mahrem_session_{fresh.home.rsplit(':', 1)[1]}=")  # cookies know no ports
        first.cookies.clear()
        odd = first.get("/projects", headers={"cookie": f'other={{"a": [1, 2]}}; a b; {own}'})
        assert odd.status_code == 200  # what another server on this machine left does not lock one out
        refused = second.get(fresh.start)
        assert refused.status_code == 403
        assert "works once" in refused.text
        assert "set-cookie" not in refused.headers
        assert second.get("/projects").status_code == 401
        assert first.post("/logout", headers={"cookie": own}).status_code == 200
        first.cookies.clear()
        first.headers["cookie"] = own
        assert first.get("/projects").status_code == 401
        assert fresh.stop() == 0


def test_a_token_that_is_too_old_opens_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mahrem.web.guard._sessions.TOKEN_SECONDS", -1.0)
    offered: list[str] = []
    sessions = Sessions(offered.append, tmp_path / "key")
    old = sessions.offer()
    with pytest.raises(Refused, match="too old"):
        sessions.begin(old)
    assert len(offered) == 2  # the person at the terminal gets a new one


def test_an_unforeseen_failure_is_said_in_our_words_and_not_in_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = create_app(ServeSettings(state=tmp_path), port=80)
    house = app.app.state.house  # type: ignore[attr-defined]

    def fail() -> None:
        raise RuntimeError("Zyxwvut")

    async def ask(path: str) -> httpx.Response:
        key = {"authorization": f"Bearer {(tmp_path / 'api-key').read_text()}"}
        sending = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=sending, base_url="http://127.0.0.1", headers=key) as client:
            return await client.get(path)

    monkeypatch.setattr(house.store, "list", fail)
    page, answer = asyncio.run(ask("/projects")), asyncio.run(ask("/api/v1/projects"))
    house.store.close()
    assert page.status_code == answer.status_code == 500
    assert answer.json()["error"]["code"] == "internal_error"
    assert "mistake of ours" in page.text
    assert "content-security-policy" in page.headers
    assert "Zyxwvut" not in page.text + answer.text


def test_who_has_not_come_in_may_send_little(server: Server) -> None:
    with server.browser() as stranger:
        answer = stranger.post("/login", files={"password": b"a" * 50_000})
        assert answer.status_code == 413


@pytest.mark.parametrize("left", [b"", b"\n", b"short", b"\xff" * 40])
def test_a_key_file_that_a_crash_left_empty_opens_nothing(tmp_path: Path, left: bytes) -> None:
    (tmp_path / "key").write_bytes(left)
    sessions = Sessions(lambda _: None, tmp_path / "key")
    assert not sessions.admits_key(left.decode("latin-1").strip())
    assert not sessions.admits_key("")
    made = (tmp_path / "key").read_text()
    assert sessions.admits_key(made)
    assert not Sessions(lambda _: None, tmp_path / "key").admits_key(made)  # another start, another key


def test_a_database_that_is_no_address_is_refused_unshown_and_ports_tell_databases_apart() -> None:
    with pytest.raises(InvalidParameter) as refused:
        ServeSettings(databases=("host=db password=Zyxwvut",))
    assert "Zyxwvut" not in str(refused.value)
    one, other = "postgresql://me:Zyxwvut@db:5432/people", "postgresql://me:Zyxwvut@db:5433/people"
    settings = ServeSettings(databases=(one, other))
    assert database_label(other) == "db:5433/people"
    assert pick_database(settings, "db:5433/people") == other


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1", "localhost:1", ""])
def test_a_name_that_was_made_to_point_here_is_refused(server: Server, host: str) -> None:
    answer = server.client.get("/api/v1/projects", headers={"host": host})
    assert answer.status_code == 421
    assert answer.json()["error"]["code"] == "wrong_host"


def test_the_other_name_of_this_machine_is_known(server: Server) -> None:
    port = server.home.rsplit(":", 1)[1]
    assert server.client.get("/api/v1/about", headers={"host": f"localhost:{port}"}).status_code == 200


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1"])
def test_another_origin_is_refused(server: Server, origin: str) -> None:
    for send in (server.client.get, server.client.post):
        answer = send("/api/v1/projects", headers={"origin": origin})
        assert answer.status_code == 403
        assert answer.json()["error"]["code"] == "wrong_origin"


def test_a_form_on_another_page_can_do_nothing(server: Server) -> None:
    headers = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert server.client.post("/projects/demo", headers=headers).status_code == 403
    assert server.client.get("/api/v1/projects", headers={"sec-fetch-site": "cross-site"}).status_code == 403


def test_a_cookie_without_an_origin_changes_nothing(server: Server) -> None:
    with httpx.Client(base_url=server.home) as script:
        assert script.get(server.start).status_code == 200  # the one token of the shared server
        answer = script.post("/api/v1/projects", json={})
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "origin_missing")
        assert script.post("/api/v1/projects", json={}, headers={"origin": server.home}).status_code == 201


def test_every_answer_carries_a_strict_policy(server: Server) -> None:
    for path in ("/projects", "/api/v1/about", "/static/page.js", "/nowhere", "/start?token=x"):
        answer = server.client.get(path)
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert "http" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "same-origin"
        assert answer.headers["cache-control"] == "no-store"
        assert "server" not in answer.headers


def test_pages_hold_no_inline_script_no_style_and_no_other_address() -> None:
    folder = Path(sys.modules["mahrem.web"].__file__ or "").parent
    texts = [path.read_text(encoding="utf-8") for path in (folder / "templates").iterdir()]
    texts += [path.read_text(encoding="utf-8") for path in (folder / "static").glob("*.js")]
    texts += [path.read_text(encoding="utf-8") for path in (folder / "static").glob("*.css")]
    for text in texts:
        assert "http://" not in text
        assert "https://" not in text
        for word in ("<style", " style=", " onclick=", " onload=", "javascript:", "eval("):
            assert word not in text


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org"])  # noqa: S104 - refused
def test_other_machines_are_let_in_only_with_tls_and_a_password(host: str) -> None:
    with pytest.raises(InvalidParameter, match="password-file"):
        ServeSettings(host=host)


def refused(*options: str) -> str:
    """What the command says when it does not even start a server."""
    command = [sys.executable, "-m", "mahrem", "serve", "--no-open", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 2
    return done.stderr


def test_the_command_refuses_other_machines_too() -> None:
    assert "127.0.0.1" in refused("--host", "0.0.0.0")  # noqa: S104 - refused


def test_it_listens_on_the_loopback_address_alone(server: Server) -> None:
    port = int(server.home.rsplit(":", 1)[1])
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
    listening = {line.split()[1] for line in lines if line.split()[3] == "0A"}
    assert f"0100007F:{port:04X}" in listening
    assert f"00000000:{port:04X}" not in listening


def test_with_tls_the_password_lets_in_and_the_cookie_is_secure(tmp_path: Path) -> None:
    certificate, key = make_certificate(tmp_path)
    password = tmp_path / "password"
    password.write_text("a long enough password\n")
    password.chmod(0o600)
    options = ["--host", "127.0.0.1", "--certificate", certificate, "--key", key]
    with (
        serving(tmp_path / "run", *options, "--password-file", str(password)) as fresh,
        httpx.Client(base_url=fresh.home, headers={"origin": fresh.home}, verify=False) as person,  # noqa: S501 - our own certificate
    ):
        assert fresh.start == f"{fresh.home}/login"
        assert fresh.home.startswith("https://")
        wrong = person.post("/login", data={"password": "guess"})
        assert (wrong.status_code, "set-cookie" in wrong.headers) == (403, False)
        assert person.get("/projects").status_code == 401
        right = person.post("/login", data={"password": "a long enough password"})
        assert "Secure" in right.headers["set-cookie"]
        assert person.get("/projects").status_code == 200
        for _ in range(10):
            last = person.post("/login", data={"password": "guess"})
        assert last.status_code == 429


def test_a_password_file_others_can_read_is_refused(tmp_path: Path) -> None:
    from mahrem.web._settings import read_password

    path = tmp_path / "password"
    path.write_text("a long enough password")
    path.chmod(0o644)
    with pytest.raises(InvalidParameter, match="chmod 600"):
        read_password(path)
    path.chmod(stat.S_IRUSR)
    assert read_password(path) == "a long enough password"
    path.chmod(0o600)
    path.write_text("short")
    with pytest.raises(InvalidParameter, match="at least"):
        read_password(path)


def test_a_script_reads_the_first_address_as_json(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mahrem", "serve", "--no-open", "--port", "0", "--json", "--state"]
    environment = {**os.environ, "MAHREM_STATE": str(tmp_path / "own"), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        [*command, str(tmp_path / "state")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as process:
        assert process.stdout is not None
        said = b"".join(iter(process.stdout.readline, b"}\n")) + b"}"
        address = json.loads(said)["address"]
        came = httpx.get(address, headers={"accept": "text/html"})
        process.terminate()
        rest, errors = process.communicate(timeout=20)
    assert came.status_code in {200, 303}
    assert rest == b""
    assert b"for another browser" in errors
    assert address.encode() not in errors


def test_a_port_in_use_is_said_in_words(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert "port=" in refused("--port", port, "--state", str(tmp_path / "s"))


def test_two_servers_do_not_share_a_folder(server: Server) -> None:
    assert "in use by another" in refused("--port", "0", "--state", str(server.state))


def make_certificate(folder: Path) -> tuple[str, str]:
    from datetime import UTC, datetime, timedelta
    from ipaddress import ip_address

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    folder.mkdir(exist_ok=True)
    paths = folder / "certificate.pem", folder / "key.pem"
    paths[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    paths[1].write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    paths[1].chmod(0o600)
    return str(paths[0]), str(paths[1])
