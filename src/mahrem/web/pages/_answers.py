"""What every page does: show itself, or after a form go on or come again with what was wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.datastructures import FormData

from mahrem.errors import MahremError
from mahrem.web._errors import refusal_of
from mahrem.web.bodies import ErrorDetail
from mahrem.web.pages._templates import render


async def _form(request: Request) -> FormData:
    return await request.form()


FormDep = Annotated[FormData, Depends(_form)]


def show(page: object) -> HTMLResponse:
    """Draw a page."""
    return HTMLResponse(render(page))


def to(address: str) -> RedirectResponse:
    """Go on to another page after something was done."""
    return RedirectResponse(address, status_code=303)


def again(page: Callable[..., object], error: MahremError, *known: object) -> HTMLResponse:
    """Show a page once more, with what was wrong."""
    refused = refusal_of(error)
    message = ErrorDetail(**refused.record)
    return HTMLResponse(render(page(*known, message=message)), status_code=refused.status)


def attempt(act: Callable[[], object], address: str, page: Callable[..., object], *known: object) -> Response:
    """Do something and go on to an address; if it is refused, show a page once more."""
    try:
        act()
    except MahremError as error:
        return again(page, error, *known)
    return to(address)
