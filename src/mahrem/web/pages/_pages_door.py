"""Coming in, going out, and how a person likes the page."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from mahrem.web._errors import Refused
from mahrem.web._house import House, HouseDep
from mahrem.web._language import LANGUAGE_COOKIE, THEME_COOKIE, THEMES, own_page
from mahrem.web.bodies import ErrorDetail
from mahrem.web.guard import SESSION_SECONDS
from mahrem.web.pages._answers import FormDep, show, to
from mahrem.web.pages._contexts import MessagePage, Shell
from mahrem.web.pages._templates import render
from mahrem.words import LANGUAGES

router = APIRouter(include_in_schema=False)
_YEAR = 365 * 24 * 3600


@router.post("/look")
def look(house: HouseDep, form: FormDep) -> Response:
    """Keep the language or the colours a person chose, and go back."""
    answer = to(own_page(str(form.get("back", ""))))
    for name, cookie, known in (("language", LANGUAGE_COOKIE, LANGUAGES), ("theme", THEME_COOKIE, THEMES)):
        if form.get(name) in known:
            _set_cookie(house, answer, cookie, str(form[name]), _YEAR)
    return answer


@router.get("/start")
def begin(house: HouseDep, token: str = "") -> Response:
    """Come in with a token that works once."""
    cookie = house.sessions.begin(token)
    return _with_cookie(house, cookie)


@router.get("/login")
def login(house: HouseDep) -> HTMLResponse:
    """Ask for the password."""
    return show(_door(house, 200, "come_in"))


@router.post("/login")
def log_in(house: HouseDep, form: FormDep) -> Response:
    """Come in with the password."""
    try:
        return _with_cookie(house, house.sessions.log_in(str(form.get("password", ""))))
    except Refused as error:
        return HTMLResponse(
            render(_door(house, error.status, error.code, error.message, error.hint)),
            status_code=error.status,
        )


def _door(house: House, status: int, code: str, message: str = "", hint: str = "") -> MessagePage:
    return MessagePage(
        shell=Shell(title="door", signed_in=False),
        status=status,
        error=ErrorDetail(code=code, message=message, hint=hint),
        asks_password=house.sessions.asks_password,
    )


@router.post("/logout")
def log_out(house: HouseDep, request: Request) -> Response:
    """Go out; the cookie is worth nothing after."""
    house.sessions.end(request.cookies.get(house.sessions.cookie))
    answer = show(_door(house, 200, "gone_out"))
    answer.delete_cookie(house.sessions.cookie, secure=house.settings.secure)
    return answer


def _with_cookie(house: House, cookie: str) -> Response:
    # A page that goes on by itself: after a redirect from elsewhere a strict cookie would not be sent.
    answer = show("start.html.jinja")
    _set_cookie(house, answer, house.sessions.cookie, cookie, int(SESSION_SECONDS))
    return answer


def _set_cookie(house: House, answer: Response, name: str, value: str, seconds: int) -> None:
    answer.set_cookie(
        name, value, max_age=seconds, httponly=True, samesite="strict", secure=house.settings.secure, path="/"
    )
