"""Who may come in: a token that works once, cookies, a key for scripts, a password for other machines."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from mahrem.files import write_whole
from mahrem.web._errors import Refused, not_found
from mahrem.web.projects import in_words

TOKEN_SECONDS = 3600.0
SESSION_SECONDS = 12 * 3600.0
_TRIES, _WINDOW = 10, 60.0
_NAMED = 16  # digits of the hash of a cookie that name its session


@dataclass(frozen=True)
class KnownSession:
    """An open session, by a name that opens nothing."""

    id: str
    way: str
    begun: str
    used: str


@dataclass
class _Session:
    way: str
    until: float
    begun: float = field(default_factory=time.time)
    used: float = field(default_factory=time.time)


class Sessions:
    """Open sessions, kept in memory: a restart ends them all.

    Guarantees:
        - A token opens one session and no second one.
        - Tokens, cookies and keys are compared in constant time and kept as hashes.

    Args:
        announce: Called with every new token, so that the person at the terminal sees it.
        key_file: Where the key for scripts is written, another one at every start.
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
        self._open: dict[bytes, _Session] = {}
        self._key = _hash(_new_key(key_file))
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
        return self._begin("token")

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
        return self._begin("password")

    def _begin(self, way: str) -> str:
        cookie = secrets.token_urlsafe(32)
        with self._lock:
            self._drop_ended()
            self._open[_hash(cookie)] = _Session(way, time.monotonic() + SESSION_SECONDS)
        return cookie

    def _drop_ended(self) -> None:
        now = time.monotonic()
        self._open = {known: session for known, session in self._open.items() if session.until > now}

    def list(self) -> list[KnownSession]:
        """Give the open sessions, the last used first."""
        with self._lock:
            self._drop_ended()
            inside = sorted(self._open.items(), key=lambda one: -one[1].used)
        return [
            KnownSession(known.hex()[:_NAMED], session.way, in_words(session.begun), in_words(session.used))
            for known, session in inside
        ]

    def revoke(self, name: str) -> None:
        """End the session of that name."""
        with self._lock:
            left = {known: session for known, session in self._open.items() if known.hex()[:_NAMED] != name}
            if len(left) == len(self._open):
                raise not_found("session")
            self._open = left

    def admits(self, cookie: str | None) -> bool:
        """Say whether a cookie belongs to an open session, and keep it open."""
        if not cookie:
            return False
        now = time.monotonic()
        with self._lock:
            session = self._open.get(_hash(cookie))
            if session is None or session.until <= now:
                return False
            session.until, session.used = now + SESSION_SECONDS, time.time()
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


def _new_key(path: Path) -> str:
    """Make the key for scripts anew: one that got about opens nothing after the next start."""
    key = secrets.token_urlsafe(32)
    write_whole(path, key.encode())
    return key
