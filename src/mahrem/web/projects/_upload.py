"""Files that are sent: straight to disk, never in memory, never under the name somebody gave them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import IO, TYPE_CHECKING, Any

from mahrem.web._errors import Refused
from mahrem.web.bodies import SourceFacts
from mahrem.web.projects._sources import HEAD, kind_of
from mahrem.web.projects._store import ProjectStore

if TYPE_CHECKING:
    from starlette.requests import Request

_MOST_TEXT = 10_000  # bytes of a form that are not the file: its other fields, and the head of each
_TELLING = 64  # bytes from which on a file is judged while it arrives: a workbook's first name ends there
_SMALL = 100_000  # bytes around a file in a form


class _Sink:
    """Takes the bytes of one file and refuses what cannot be a table as soon as that shows."""

    def __init__(self, file: IO[bytes], most: int) -> None:
        self.file, self.most = file, most
        self.size, self.head, self.name = 0, b"", ""

    def write(self, block: bytes) -> None:
        self.size += len(block)
        if self.size > self.most:
            raise too_large(self.most)
        if len(self.head) < HEAD:
            known = len(self.head) >= _TELLING
            self.head = (self.head + block)[:HEAD]
            if not known and len(self.head) >= _TELLING:
                kind_of(self.head, self.name)
        self.file.write(block)

    def facts(self, label: str) -> SourceFacts:
        if not self.name and not self.size:
            raise Refused(422, "no_file")
        kept = kind_of(self.head, self.name)
        return SourceFacts(kind="upload", label=label, size=self.size, file=kept)


def too_large(most: int) -> Refused:
    """Make the error for a file that is too large."""
    return Refused(413, "file_too_large", most=round(most / 1e6))


async def receive_body(
    request: Request, store: ProjectStore, project: str, name: str, most: int
) -> SourceFacts:
    """Take a file that is the whole body of a request; ``most``: its bytes at most."""
    _refuse_early(request, most)
    with store.receiving(project) as file:
        sink = _Sink(file, most)
        sink.name = name
        async for block in request.stream():
            sink.write(block)
        facts = sink.facts(_shown(name))
        kept = store.keep(project, file, facts.file or "source.csv")
    return facts.model_copy(update={"file": kept})


async def receive_form(
    request: Request, make: Callable[[str], str], store: ProjectStore, most: int
) -> tuple[str, SourceFacts | None, dict[str, str]]:
    """Take a form with one file; gives the project that was made for it, the file, and the other fields.

    Args:
        request: The request, not yet read.
        make: Makes a project by a name and gives its id.
        store: Where it goes.
        most: Bytes of the largest file.
    """
    from python_multipart.multipart import MultipartParser, parse_options_header

    _refuse_early(request, most + _SMALL)
    kind, options = parse_options_header(request.headers.get("content-type", ""))
    if kind != b"multipart/form-data" or b"boundary" not in options:
        raise Refused(415, "not_a_form")
    project = make("table")
    try:
        with store.receiving(project) as file:
            parts = _Parts(_Sink(file, most))
            parser = MultipartParser(options[b"boundary"], parts.callbacks())
            await _feed(parser, parts, request.stream())
            facts = parts.sink.facts(_shown(parts.sink.name))
            kept = store.keep(project, file, facts.file or "source.csv")
    except BaseException:
        store.remove(project)
        raise
    facts = facts.model_copy(update={"file": kept})
    return project, facts, {name: text.decode("utf-8", "replace") for name, text in parts.fields.items()}


async def _feed(parser: Any, parts: _Parts, blocks: AsyncIterator[bytes]) -> None:
    from python_multipart.exceptions import FormParserError

    try:
        async for block in blocks:
            parser.write(block)
        parser.finalize()
    except FormParserError:
        parts.complete = False
    if not parts.complete:
        raise Refused(422, "broken_form")


class _Parts:
    """Sorts the parts of a form: the file goes to disk, short fields are kept."""

    def __init__(self, sink: _Sink) -> None:
        self.sink = sink
        self.fields: dict[str, bytes] = {}
        self._names: list[bytes] = []
        self._values: list[bytes] = []
        self._name, self._is_file, self._text = "", False, 0
        self.complete = False

    def callbacks(self) -> Any:
        return {
            "on_part_begin": self._begin,
            "on_header_field": lambda data, start, end: self._names.append(self._short(data[start:end])),
            "on_header_value": lambda data, start, end: self._values.append(self._short(data[start:end])),
            "on_header_end": self._next_header,
            "on_headers_finished": self._headers,
            "on_part_data": self._data,
            "on_end": self._end,
        }

    def _end(self) -> None:
        self.complete = True

    def _begin(self) -> None:
        self._names, self._values = [], []

    def _next_header(self) -> None:
        self._names.append(b"\n")
        self._values.append(b"\n")

    def _headers(self) -> None:
        from python_multipart.multipart import parse_options_header

        names, values = b"".join(self._names).split(b"\n"), b"".join(self._values).split(b"\n")
        headers = {name.lower(): value for name, value in zip(names, values, strict=False)}
        _, options = parse_options_header(headers.get(b"content-disposition", b""))
        self._name = options.get(b"name", b"").decode("utf-8", "replace")
        self._is_file = b"filename" in options
        if self._is_file:
            self.sink.name = options[b"filename"].decode("utf-8", "replace")

    def _data(self, data: bytes, start: int, end: int) -> None:
        if self._is_file:
            self.sink.write(data[start:end])
            return
        self.fields[self._name] = self.fields.get(self._name, b"") + self._short(data[start:end])

    def _short(self, text: bytes) -> bytes:
        """Count what is kept in memory."""
        self._text += len(text)
        if self._text > _MOST_TEXT:
            raise Refused(413, "body_too_large", "The form is too long", "Send a file as a file.")
        return text


def _refuse_early(request: Request, most: int) -> None:
    declared = request.headers.get("content-length", "0")
    if declared.isdigit() and int(declared) > most:
        raise too_large(most)


def _shown(name: str) -> str:
    """Give the last part of a name, for people; it is never opened."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    return "".join(letter if letter.isprintable() else " " for letter in last)[:120].strip() or "table"
