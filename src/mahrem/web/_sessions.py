"""Who may come in: a token that works once, cookies, a key for scripts, a password for other machines."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from mahrem.files import write_whole
from mahrem.web._errors import Refused

TOKEN_SECONDS = 3600.0
SESSION_SECONDS = 12 * 3600.0
_TRIES, _WINDOW = 10, 60.0
_SHORTEST_KEY = 32


class Sessions:
    """Open sessions, kept in memory: a restart ends them all.

    Guarantees:
        - A token opens one session and no second one.
        - Tokens, cookies and keys are compared in constant time and kept as hashes.

    Args:
        announce: Called with every new token, so that the person at the terminal sees it.
        key_file: Where the key for scripts lies; made if it is not there.
        password: What must be said where other machines can knock; None where none can.
        cookie: Name of the cookie.
    """

    def __init__(
        self,
        announce: Callable[[str], None],
        key_file: Path,
        password: str | None = None,
        *,
        cookie: str = "mahrem_session",
    ) -> None:
        self.cookie = cookie
        self._announce = announce
        self._lock = threading.Lock()
        self._token: tuple[bytes, float] | None = None
        self._open: dict[bytes, float] = {}
        self._key = _hash(_script_key(key_file))
        self._password = password
        self._tries: list[float] = []

    @property
    def asks_password(self) -> bool:
        """Whether people come in by a password."""
        return self._password is not None

    def offer(self) -> str:
        """Make a new token; the one before stops working."""
        token = secrets.token_urlsafe(32)
        with self._lock:
            self._token = (_hash(token), time.monotonic() + TOKEN_SECONDS)
        self._announce(token)
        return token

    def begin(self, token: str) -> str:
        """Trade a token for a session; gives the cookie."""
        with self._lock:
            known, until = self._token or (b"", 0.0)
            good = hmac.compare_digest(_hash(token), known)
            if good:
                self._token = None
        if not good:
            raise Refused(403, "token_refused")
        self.offer()  # for the next browser
        if time.monotonic() > until:
            raise Refused(403, "token_expired")
        return self._begin()

    def log_in(self, password: str) -> str:
        """Trade the password for a session; only so many tries a minute."""
        now = time.monotonic()
        with self._lock:
            self._tries = [tried for tried in self._tries if now - tried < _WINDOW]
            if len(self._tries) >= _TRIES:
                raise Refused(429, "too_many_tries")
            good = self._password is not None and hmac.compare_digest(_hash(password), _hash(self._password))
            if not good:
                self._tries.append(now)
        if not good:
            raise Refused(403, "wrong_password")
        return self._begin()

    def _begin(self) -> str:
        cookie = secrets.token_urlsafe(32)
        now = time.monotonic()
        with self._lock:
            self._open = {known: until for known, until in self._open.items() if until > now}
            self._open[_hash(cookie)] = now + SESSION_SECONDS
        return cookie

    def admits(self, cookie: str | None) -> bool:
        """Say whether a cookie belongs to an open session, and keep it open."""
        if not cookie:
            return False
        now, known = time.monotonic(), _hash(cookie)
        with self._lock:
            if self._open.get(known, 0.0) <= now:
                return False
            self._open[known] = now + SESSION_SECONDS
            return True

    def admits_key(self, key: str) -> bool:
        """Say whether this is the key for scripts."""
        return bool(key) and hmac.compare_digest(_hash(key), self._key)

    def end(self, cookie: str | None) -> None:
        """Close a session."""
        if cookie:
            with self._lock:
                self._open.pop(_hash(cookie), None)


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()


def _script_key(path: Path) -> str:
    with suppress(OSError, UnicodeDecodeError):
        path.chmod(0o600)
        key = path.read_text(encoding="ascii").strip()
        if len(key) >= _SHORTEST_KEY:  # a crash may have left the file empty, and nothing is no key
            return key
    key = secrets.token_urlsafe(32)
    write_whole(path, key.encode())
    return key
