"""How jobs go, told as they go: asked for, or as events that a page listens to."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator

from fastapi import APIRouter
from fastapi.responses import JSONResponse, StreamingResponse
from starlette.concurrency import run_in_threadpool

from mahrem.web._errors import Refused, not_found
from mahrem.web._house import House, HouseDep, JobId, ProjectId
from mahrem.web._language import LOOK
from mahrem.web._orders import Json
from mahrem.words import Note, load_catalogue

router = APIRouter(include_in_schema=False)
_LOOK = 0.3  # seconds between two looks at a job
_LONGEST = 600.0  # seconds after which a page has to listen anew
_WAITING = ("queued", "running")


@router.get("/projects/{project}/jobs/{job}")
def follow(house: HouseDep, project: ProjectId, job: JobId) -> JSONResponse:
    """Say how a job stands, in the words of the page."""
    return JSONResponse(_standing(house, project, job, LOOK.get().language))


@router.get("/projects/{project}/jobs/{job}/events")
async def listen(house: HouseDep, project: ProjectId, job: JobId) -> StreamingResponse:
    """Tell how a job goes as server-sent events, until it has ended."""
    first = await run_in_threadpool(_standing, house, project, job, LOOK.get().language)
    events = _events(house, project, job, first)
    return StreamingResponse(events, media_type="text/event-stream")


async def _events(house: House, project: str, job: str, standing: Json) -> AsyncIterator[str]:
    language, until, before = LOOK.get().language, time.monotonic() + _LONGEST, None
    while standing["state"] in _WAITING and time.monotonic() < until:
        if standing != before:
            yield f"data: {json.dumps(standing)}\n\n"
        before = standing
        await asyncio.sleep(_LOOK)
        try:
            standing = await run_in_threadpool(_standing, house, project, job, language)
        except Refused:  # its project was removed
            standing = {"state": "gone"}
    yield f"data: {json.dumps(standing)}\n\n"


def _standing(house: House, project: str, job: str, language: str) -> Json:
    running = house.queue.get(job)
    if running.project != project:
        raise not_found("job")
    texts = load_catalogue(language)
    left = "" if running.left is None else texts.say("page.job.left", seconds=max(1, round(running.left)))
    return {
        "state": running.state,
        "stage": texts.tell(Note.read(running.stage_note, running.stage)),
        "seconds": texts.number(round(running.seconds or 0.0, 1), 1),
        "share": running.share,
        "left": left,
    }
