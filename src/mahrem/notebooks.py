"""What a notebook shows of a result: a title and a small table, as HTML that needs nothing else.

Results hold figures that may be shown anyway (``disclosed.py``); a notebook gets no others, and no cell.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def notebook_table(title: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Write a title and a table; texts are escaped, numbers shortened, nothing is left as it is if None.

    Example:
        >>> notebook_table("holds", ["promise", "reached"], [("k", 5)])
        '<div><strong>holds</strong><table><tr><th>promise</th><th>reached</th></tr><tr><td>k</td><td>5</td></tr></table></div>'
    """
    lines = [_line("th", head), *(_line("td", row) for row in rows)]
    return f"<div><strong>{escape(title)}</strong><table>{''.join(lines)}</table></div>"


def _line(tag: str, cells: Iterable[object]) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(_write_cell(cell))}</{tag}>' for cell in cells)}</tr>"


def _write_cell(cell: object) -> str:
    if cell is None:
        return "-"
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)
