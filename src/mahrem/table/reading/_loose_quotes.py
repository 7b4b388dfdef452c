"""CSV whose quotes do not close, read all the same: no record decides whether a table can be read."""

from __future__ import annotations

import re


def quote_properly(content: bytes, delimiter: str, newline: int) -> bytes:
    r"""Put cells with quotes in the wrong place into quotes of their own; others stay as they are.

    A quote opens a cell only where it begins one and another ends it, before a delimiter or the end of a
    line; every other quote is a sign like any other. So a cell is judged by itself, and a quote that one
    person's cell opens does not swallow the rows of the others.

    Args:
        content: The file in UTF-8.
        delimiter: The sign between cells.
        newline: The byte at the end of a record.

    Guarantees:
        - What :class:`Structure` takes as it is comes out as it is.
        - Every quote of the result begins or ends a cell, or is doubled within one.

    Example:
        >>> quote_properly(b'size,n\n5" pipe,1\n"a,b",3\n', ",", 10)
        b'size,n\n"5"" pipe",1\n"a,b",3\n'
    """
    between, end = re.escape(delimiter.encode()), bytes([newline])
    stop = b"(?=" + between + b"|\r?" + end + b"|\\Z)"
    quoted = b'"[^"]*(?:""[^"]*)*"' + stop
    plain = b"[^" + between + end + b"]+?" + stop
    cell = re.compile(b"(?:(?<=[" + between + end + b"])|\\A)(?:" + quoted + b"|(?P<plain>" + plain + b"))")
    return cell.sub(_wrapped, content)


def _wrapped(match: re.Match[bytes]) -> bytes:
    plain = match["plain"]
    if plain is None or b'"' not in plain:
        return match[0]
    return b'"' + plain.replace(b'"', b'""') + b'"'
