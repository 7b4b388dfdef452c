"""The application: routes, errors in one form, and the door before all."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from importlib.resources import files

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response
from starlette.exceptions import HTTPException
from starlette.staticfiles import StaticFiles

import mahrem
from mahrem.errors import MahremError
from mahrem.web._errors import Refused, refusal_of
from mahrem.web._forms import problem_in
from mahrem.web._house import House
from mahrem.web._settings import ServeSettings, read_password
from mahrem.web.api import API_ROUTERS
from mahrem.web.bodies import ErrorDetail
from mahrem.web.guard import RequestGuard, Sessions
from mahrem.web.jobs import JobQueue, Runner
from mahrem.web.pages import PAGE_ROUTERS, MessagePage, Shell, render
from mahrem.web.projects import ProjectStore


def build_app(
    settings: ServeSettings, hosts: Iterable[str], announce: Callable[[str], None], port: int
) -> RequestGuard:
    """Make the application that a server runs.

    Args:
        settings: What the server was told.
        hosts: Hosts with their ports under which it is known.
        announce: Called with each new token.
        port: Where it is reached.
    """
    password = None if settings.password_file is None else read_password(settings.password_file)
    store = ProjectStore(settings.state)
    queue = JobQueue(settings.state / "jobs.sqlite")
    runner = Runner(settings, store, queue)
    # Cookies do not tell ports apart: by its name a second server on this machine has one of its own.
    cookie = f"{'__Host-' if settings.secure else ''}mahrem_session_{port}"
    sessions = Sessions(announce, settings.state / "api-key", password, cookie=cookie)
    house = House(settings, store, queue, runner, sessions)

    @asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        try:
            _begin(house)
        except Exception as error:
            app.state.failed = error  # the server would only say that something failed
            raise
        yield
        runner.stop()
        store.close()

    app = FastAPI(
        title="mahrem",
        version=mahrem.__version__,
        description="Anonymise, compare and audit tables. Every error is {error: {code, message, hint}}.",
        docs_url=None,  # the usual pages load scripts from elsewhere; ours is /api
        redoc_url=None,
        openapi_url="/api/v1/openapi.json",
        lifespan=life,
    )
    app.state.house = house
    app.state.failed = None
    for router in (*API_ROUTERS, *PAGE_ROUTERS):
        app.include_router(router)
    app.mount("/static", StaticFiles(directory=str(files("mahrem.web").joinpath("static"))), name="static")
    app.add_exception_handler(MahremError, _failed)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _unknown)
    app.add_exception_handler(Exception, _failed)

    def show(refused: Refused) -> str:
        return _message(refused, asks=sessions.asks_password)

    return RequestGuard(app, sessions, hosts, secure=settings.secure, show=show)


def _begin(house: House) -> None:
    house.runner.start()
    if house.settings.demo and not house.store.list():
        house.open_demo(house.store.create("fictional patients").id)
    if not house.sessions.asks_password:
        house.sessions.offer()


def _failed(request: Request, error: Exception) -> Response:
    return _answer(request, refusal_of(error))


def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for nothing else
    problems = list(error.errors())
    if not _of_the_api(request) and all(one["loc"][0] == "path" for one in problems):
        return _answer(request, Refused(404, "http_404"))  # a page of nothing: patterns say nothing to people
    return _answer(request, problem_in(problems))


def _unknown(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for nothing else
    status = 422 if error.status_code == 400 else error.status_code  # a body that is no JSON does not fit
    message = None if status in {404, 405, 422} else "The request was refused"
    return _answer(request, Refused(status, f"http_{status}", message), headers=error.headers)


def _answer(request: Request, refused: Refused, headers: Mapping[str, str] | None = None) -> Response:
    if _of_the_api(request):
        return JSONResponse({"error": refused.detail}, status_code=refused.status, headers=headers)
    asks = request.app.state.house.sessions.asks_password
    return HTMLResponse(_message(refused, asks=asks), status_code=refused.status, headers=headers)


def _of_the_api(request: Request) -> bool:
    return request.url.path.startswith("/api/")


def _message(refused: Refused, *, asks: bool) -> str:
    signed_in = refused.status not in {401, 403, 421}
    return render(
        MessagePage(
            shell=Shell(title="refused" if signed_in else "door", signed_in=signed_in),
            status=refused.status,
            error=ErrorDetail(**refused.record),
            asks_password=asks and refused.status == 401,
        )
    )
