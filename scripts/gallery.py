"""Examples as pages of the site: each is run, and what it prints or shows stands below its cell.

A cell begins with ``# %%``, and the comment that follows is its text. Its last line, if it is an expression,
is shown as a notebook shows it.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

EXAMPLES = Path(__file__).parent.parent / "examples"
_CELL = re.compile(r"^# %% ?", re.MULTILINE)


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
    """Run the examples, all but those that need a cluster; gives the page of each by its name."""
    with tempfile.TemporaryDirectory() as state:  # whose builds the site has released nobody before
        before = os.environ.get("MAHREM_STATE")
        os.environ["MAHREM_STATE"] = state
        try:
            paths = sorted(EXAMPLES.glob("plot_*.py"))
            return {path.stem.removeprefix("plot_"): page_of(path) for path in paths}
        finally:
            if before is None:
                del os.environ["MAHREM_STATE"]
            else:
                os.environ["MAHREM_STATE"] = before


def page_of(path: Path) -> str:
    """Run an example and write its page."""
    title, cells = read_example(path)
    heading, _, rest = title.partition(":")
    lines = [
        "---",
        "hide: [toc]",
        "---",
        "",
        f"# {heading.strip().rstrip('.')}",
        "",
        _sentence(rest.strip()),
        "",
    ]
    names: dict[str, object] = {"__name__": "__main__"}
    runs = "spark" not in path.stem
    for cell in cells:
        lines += [cell.words, "", "```python", cell.code.replace("  # fmt: skip", ""), "```", ""]
        lines += _shown(*run_cell(cell.code, names)) if runs else []
    told = (
        "Run when this page was built" if runs else "Needs a cluster, or Java, and was not run for this page"
    )
    return "\n".join([*lines, f"*{told}: `examples/{path.name}`.*", ""])


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


def run_cell(code: str, names: dict[str, object]) -> tuple[str, object]:
    """Run a cell among the names of those before it; gives what it printed and its last expression."""
    tree = ast.parse(code)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "example", "exec"), names)  # noqa: S102 - our own examples
        value = None if last is None else eval(compile(ast.Expression(last.value), "example", "eval"), names)  # noqa: S307 - the same
    return printed.getvalue(), value


def _shown(printed: str, value: object) -> Iterator[str]:
    if printed.strip():
        yield from ("```text", printed.rstrip(), "```", "")
    drawn = getattr(value, "_repr_html_", None)
    if drawn is not None:
        yield from (f'<div class="shown">{drawn()}</div>', "")
    elif value is not None:
        yield from ("```text", repr(value), "```", "")
