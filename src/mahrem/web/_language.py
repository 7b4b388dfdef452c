"""In which language and colours a page is drawn: what a cookie says, else what the browser asks for."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.requests import cookie_parser

from mahrem.words import LANGUAGES

LANGUAGE_COOKIE, THEME_COOKIE = "mahrem_language", "mahrem_theme"
THEMES = ("auto", "light", "dark")


@dataclass(frozen=True)
class PageLook:
    """How pages look to one person.

    Attributes:
        language: One there are words in.
        theme: ``light``, ``dark``, or ``auto``: what the system says.
        here: The address to come back to after the look was changed.
    """

    language: str = "en"
    theme: str = "auto"
    here: str = "/projects"


LOOK: ContextVar[PageLook] = ContextVar("look", default=PageLook())  # noqa: B039 - frozen


def look_of(method: str, path: str, headers: Mapping[str, str]) -> PageLook:
    """Read the look of a request off its headers."""
    cookies = cookies_of(headers)
    language = cookies.get(LANGUAGE_COOKIE, "")
    if language not in LANGUAGES:
        language = _asked_for(headers.get("accept-language", ""))
    theme = cookies.get(THEME_COOKIE, "auto")
    # After a form there is nothing to go back to at its address.
    here = path if method == "GET" else urlsplit(headers.get("referer", "")).path
    return PageLook(language, theme if theme in THEMES else "auto", own_page(here))


def cookies_of(headers: Mapping[str, str]) -> dict[str, str]:
    """Read the cookies of a request; odd ones of other servers on this machine do not hide ours."""
    return cookie_parser(headers.get("cookie", ""))


def own_page(path: str) -> str:
    """Give an address of ours to go to, whatever was said."""
    fits = path.startswith("/") and path[1:2] not in {"/", "\\"} and path.isprintable()
    return path if fits and not path.startswith(("/start", "/login", "/api/")) else "/projects"


def _asked_for(header: str) -> str:
    """Take the first language a browser asks for that is known; browsers list the dearest first."""
    for entry in header[:200].split(","):
        language = entry.split(";")[0].strip().lower().split("-")[0]
        if language in LANGUAGES:
            return language
    return "en"
