"""Examples as pages of the site: each is run, and what it prints or shows stands below its cell.

A cell begins with ``# %%``, and the comment that follows is its text. Its last line, if it is an expression,
is shown as a notebook shows it; text that is a picture (SVG) is drawn. Beside each page lies the same as a
notebook with all it showed.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

EXAMPLES = Path(__file__).parent.parent / "examples"
_CELL = re.compile(r"^# %% ?", re.MULTILINE)


@dataclass(frozen=True)
class Ran:
    """What running a cell gave.

    Attributes:
        printed: What it printed.
        value: Its last line, if that is an expression.
    """

    printed: str
    value: object

    @property
    def picture(self) -> str | None:
        """The value as SVG, where it is a picture."""
        return self.value if isinstance(self.value, str) and self.value.startswith("<svg") else None

    @property
    def html(self) -> str | None:
        """The value as HTML, where it shows itself so."""
        drawn = getattr(self.value, "_repr_html_", None)
        return None if drawn is None else str(drawn())


@dataclass(frozen=True)
class Cell:
    """A piece of an example.

    Attributes:
        words: What is said about it.
        code: What is run.
    """

    words: str
    code: str


def read_example(path: Path) -> tuple[str, list[Cell]]:
    """Split an example into its title and its cells."""
    text = path.read_text(encoding="utf-8")
    title, *pieces = _CELL.split(text)
    return ast.get_docstring(ast.parse(title)) or path.stem, [_cell(piece) for piece in pieces]


def _cell(piece: str) -> Cell:
    lines = piece.splitlines()
    words = [lines[0]]
    while len(words) < len(lines) and lines[len(words)].startswith("# "):
        words.append(lines[len(words)].removeprefix("# "))
    return Cell(" ".join(words).strip(), "\n".join(lines[len(words) :]).strip())


def example_pages() -> dict[str, str]:
    """Run the examples, all but those that need a cluster; gives pages and notebooks by file name."""
    with tempfile.TemporaryDirectory() as state:  # whose builds the site has released nobody before
        before = os.environ.get("MAHREM_STATE")
        os.environ["MAHREM_STATE"] = state
        try:
            files: dict[str, str] = {}
            for path in sorted(EXAMPLES.glob("plot_*.py")):
                name = path.stem.removeprefix("plot_")
                ran = run_example(path)
                files |= {f"{name}.md": page_of(path, ran), f"{name}.ipynb": notebook_of(path, ran)}
            return files
        finally:
            if before is None:
                del os.environ["MAHREM_STATE"]
            else:
                os.environ["MAHREM_STATE"] = before


def run_example(path: Path) -> list[Ran] | None:
    """Run all cells of an example one after the other; None where it needs a cluster."""
    if "spark" in path.stem:
        return None
    names: dict[str, object] = {"__name__": "__main__"}
    return [run_cell(cell.code, names) for cell in read_example(path)[1]]


def page_of(path: Path, ran: list[Ran] | None) -> str:
    """Write the page of an example."""
    title, cells = read_example(path)
    heading, _, rest = title.partition(":")
    lines = ["---", "hide: [toc]", "---", ""]
    lines += [f"# {heading.strip().rstrip('.')}", "", _sentence(rest.strip()), ""]
    for place, cell in enumerate(cells):
        lines += [cell.words, "", "```python", _shown_code(cell), "```", ""]
        lines += [] if ran is None else _shown(ran[place])
    told = (
        "Needs a cluster, or Java, and was not run for this page"
        if ran is None
        else "Run when this page was built"
    )
    name = path.stem.removeprefix("plot_")
    return "\n".join([*lines, f"*{told}: `examples/{path.name}`; [as a notebook]({name}.ipynb).*", ""])


def notebook_of(path: Path, ran: list[Ran] | None) -> str:
    """Write an example as a notebook, with what its cells showed."""
    title, cells = read_example(path)
    written: list[dict[str, object]] = [_note("title", f"# {title}")]
    for place, cell in enumerate(cells):
        written.append(_note(f"words-{place}", cell.words))
        written.append(
            {
                "cell_type": "code",
                "id": f"code-{place}",
                "metadata": {},
                "source": _shown_code(cell),
                "execution_count": None if ran is None else place + 1,
                "outputs": [] if ran is None else list(_outputs(ran[place], place + 1)),
            }
        )
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return json.dumps(
        {"cells": written, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}, indent=1
    )


def _note(name: str, words: str) -> dict[str, object]:
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": words}


def _outputs(ran: Ran, count: int) -> Iterator[dict[str, object]]:
    if ran.printed:
        yield {"output_type": "stream", "name": "stdout", "text": ran.printed}
    if ran.value is not None:
        data = {"text/plain": "a picture" if ran.picture else repr(ran.value)}
        data |= {"image/svg+xml": ran.picture} if ran.picture else {}
        data |= {"text/html": ran.html} if ran.html else {}
        yield {"output_type": "execute_result", "execution_count": count, "metadata": {}, "data": data}


def _shown_code(cell: Cell) -> str:
    return re.sub(r"  # (?:fmt: skip|noqa: .*)$", "", cell.code, flags=re.MULTILINE)


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


def run_cell(code: str, names: dict[str, object]) -> Ran:
    """Run a cell among the names of those before it."""
    tree = ast.parse(code)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "example", "exec"), names)  # noqa: S102 - our own examples
        value = None if last is None else eval(compile(ast.Expression(last.value), "example", "eval"), names)  # noqa: S307 - the same
    return Ran(printed.getvalue(), value)


def _shown(ran: Ran) -> Iterator[str]:
    if ran.printed.strip():
        yield from ("```text", ran.printed.rstrip(), "```", "")
    if ran.picture is not None:
        yield from (f'<div class="shown picture">{ran.picture}</div>', "")
    elif ran.html is not None:
        yield from (f'<div class="shown">{ran.html}</div>', "")
    elif ran.value is not None:
        yield from ("```text", repr(ran.value), "```", "")
