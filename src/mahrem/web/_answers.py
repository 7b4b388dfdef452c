"""What every page does after a form: go on, or show the page again with what was wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.datastructures import FormData

from mahrem.errors import MahremError
from mahrem.web._errors import described
from mahrem.web._models import ErrorDetail
from mahrem.web._templates import render

__all__ = ["FormDep", "again", "to"]


async def _form(request: Request) -> FormData:
    return await request.form()


FormDep = Annotated[FormData, Depends(_form)]


def to(address: str) -> RedirectResponse:
    """Go on to another page after something was done."""
    return RedirectResponse(address, status_code=303)


def again(page: Callable[..., Any], error: MahremError, *known: Any) -> HTMLResponse:
    """Show a page once more, with what was wrong."""
    status, detail = described(error)
    return HTMLResponse(render(page(*known, message=ErrorDetail(**detail))), status_code=status)
