"""``mahrem docs``: the pages of the documentation, which come with the package and need no network."""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from mahrem.cli._options import JSON
from mahrem.cli._print import print_json
from mahrem.errors import InvalidInput, InvalidParameter

_FOLDERS = {"": "Start", "guide": "By task", "theory": "Theory"}
_SHOWN = 20  # places that a search lists
_FENCE, _HEADING = "```", re.compile(r"^(#+) (.+?)\s*$")


@dataclass(frozen=True)
class DocsPage:
    """One page: ``guide/audit``, its title and its text."""

    name: str
    text: str

    @property
    def title(self) -> str:
        """What its first heading says."""
        return next((line[2:].strip() for line in self.text.splitlines() if line.startswith("# ")), self.name)


class DocsPlace(NamedTuple):
    """A line of a page, with the heading that it stands under."""

    page: str
    heading: str
    line: str


def docs(
    page: Annotated[
        str | None, typer.Argument(metavar="[PAGE]", help="Print this page: its name or the end of it.")
    ] = None,
    *,
    search: Annotated[
        str | None, typer.Option("--search", metavar="WORDS", help="Find lines with all of these words.")
    ] = None,
    json: JSON = False,
) -> None:
    """Read the documentation without a network: list its pages, print one, or search in all.

    mahrem docs

    mahrem docs audit

    mahrem docs --search "top code"
    """
    if search is not None and page is not None:
        raise InvalidParameter("search: it looks into all pages; leave the page out")
    pages = read_pages()
    if search is not None:
        _print_places(search, list(find_words(pages, search)), json=json)
    elif page is not None:
        _print_page(choose_page(pages, page), json=json)
    else:
        _print_list(pages, json=json)


def read_pages() -> dict[str, DocsPage]:
    """Read all pages, by name.

    Raises:
        InvalidInput: If this installation has none.
    """
    home = _home()
    pages = [
        DocsPage(f"{folder}/{file.name[:-3]}".lstrip("/"), file.read_text(encoding="utf-8"))
        for folder in _FOLDERS
        for file in sorted(home.joinpath(folder).iterdir(), key=lambda file: file.name)
        if file.name.endswith(".md")
    ]
    return {page.name: page for page in pages}


def _home() -> Traversable:
    """Find the pages beside the package, where a wheel has them; else in the checkout that it runs from."""
    beside = files("mahrem").joinpath("docs")
    if beside.joinpath("guide").is_dir():
        return beside
    checkout = Path(__file__).parents[3]
    if (checkout / "mkdocs.yml").is_file():
        return checkout / "docs"
    raise InvalidInput("docs: this installation came without its pages; they are at mahrem.github.io/mahrem")


def choose_page(pages: dict[str, DocsPage], asked: str) -> DocsPage:
    """Give the page of a name, of the end of one, or of a link.

    Raises:
        InvalidParameter: If there is none, or several.

    Example:
        >>> pages = {name: DocsPage(name, "") for name in ("guide/audit", "theory/risk", "guide/risk")}
        >>> choose_page(pages, "audit.md").name
        'guide/audit'
        >>> choose_page(pages, "risk")
        Traceback (most recent call last):
        mahrem.errors.InvalidParameter: page='risk': say which: guide/risk, theory/risk
    """
    name = asked.strip().removesuffix(".md").strip("/").lower()
    fitting = [known for known in sorted(pages) if known == name or known.endswith(f"/{name}")]
    if name in pages or len(fitting) == 1:
        return pages[name if name in pages else fitting[0]]
    if fitting:
        raise InvalidParameter(f"page={asked!r}: say which: {', '.join(fitting)}")
    ends = {known.rpartition("/")[2]: known for known in pages}
    near = difflib.get_close_matches(name.rpartition("/")[2], ends, n=1)
    hint = f"did you mean {ends[near[0]]}?" if near else "`mahrem docs` lists all"
    raise InvalidParameter(f"page={asked!r} is no page; {hint}")


def find_words(pages: dict[str, DocsPage], asked: str) -> Iterator[DocsPlace]:
    r"""Find lines that have all words, in any order and case.

    Raises:
        InvalidParameter: If there is no word.

    Example:
        >>> page = DocsPage("guide/x", "# X\n## Keys\nA short key is refused.\n")
        >>> list(find_words({"guide/x": page}, "KEY refused"))
        [DocsPlace(page='guide/x', heading='Keys', line='A short key is refused.')]
    """
    words = asked.casefold().split()
    if not words:
        raise InvalidParameter("search: say a word")
    for page in pages.values():
        heading, code = page.title, False
        for line in page.text.splitlines():
            code ^= line.lstrip().startswith(_FENCE)
            match = None if code else _HEADING.match(line)
            heading = match[2] if match else heading
            folded = line.casefold()
            if all(word in folded for word in words):
                yield DocsPlace(page.name, heading, line.strip())


def _print_list(pages: dict[str, DocsPage], *, json: bool) -> None:
    if json:
        print_json({name: page.title for name, page in pages.items()})
        return
    width = max(map(len, pages))
    for folder, heading in _FOLDERS.items():
        typer.echo(f"{heading}")
        for page in pages.values():
            if page.name.rpartition("/")[0] == folder:
                typer.echo(f"  {page.name:{width}}  {page.title}")
    typer.echo('\nread: mahrem docs start   search: mahrem docs --search "top code"')


def _print_page(page: DocsPage, *, json: bool) -> None:
    if json:
        print_json({"page": page.name, "title": page.title, "text": page.text})
    elif sys.stdout.isatty():
        from rich.console import Console
        from rich.markdown import Markdown

        Console().print(Markdown(page.text))
    else:
        typer.echo(page.text, nl=False)


def _print_places(asked: str, places: list[DocsPlace], *, json: bool) -> None:
    if json:
        print_json([place._asdict() for place in places])
        return
    for place in places[:_SHOWN]:
        shown = place.line if len(place.line) <= 160 else f"{place.line[:157]}..."
        typer.echo(f"{place.page} ({place.heading})\n    {shown}")
    if not places:
        typer.echo(f"no line has all of: {asked}")
    elif len(places) > _SHOWN:
        typer.echo(f"... and {len(places) - _SHOWN:,} more lines; say more words, or --json for all")
