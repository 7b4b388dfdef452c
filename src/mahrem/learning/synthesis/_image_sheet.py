"""Images side by side as one PNG, so that people can look at them; needs nothing but the standard library."""

from __future__ import annotations

import struct
import zlib

import numpy as np

from mahrem import check
from mahrem.errors import InvalidInput
from mahrem.types import Floats

_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def image_sheet(images: Floats, *, across: int) -> bytes:
    """Put grey images side by side, with a dark line between them; gives a PNG file.

    Args:
        images: ``(n, height, width)`` shades from 0 (black) to 1; what lies outside is moved there.
        across: Images in a line; the last line may be shorter.

    References:
        Portable Network Graphics (PNG) specification, second edition, 2003.

    Example:
        >>> sheet = image_sheet(np.ones((5, 4, 6)), across=3)
        >>> sheet[1:4], struct.unpack(">II", sheet[16:24])  # three of width 6, two lines of height 4
        (b'PNG', (20, 9))
    """
    shades = np.asarray(images, dtype=np.float64)
    if shades.ndim != 3 or not len(shades):
        raise InvalidInput(f"images of shape {shades.shape}: must be at least one, of height and width")
    check.at_least(1, across=check.whole(across=across))
    count, height, width = shades.shape
    lines = -(-count // across)
    # Each image brings a dark line below and to its right; those at the end are cut off again.
    placed = np.zeros((lines * across, height + 1, width + 1), dtype=np.uint8)
    placed[:count, :height, :width] = np.rint(255 * np.nan_to_num(shades).clip(0, 1))
    sheet = placed.reshape(lines, across, height + 1, width + 1).swapaxes(1, 2)
    return _png(sheet.reshape(lines * (height + 1), -1)[:-1, :-1])


def _png(pixels: np.ndarray[tuple[int, ...], np.dtype[np.uint8]]) -> bytes:
    height, width = pixels.shape
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)  # eight bits of grey, nothing special
    unfiltered = np.pad(pixels, ((0, 0), (1, 0)))  # every line begins with the number of its filter: none
    parts = [(b"IHDR", header), (b"IDAT", zlib.compress(unfiltered.tobytes(), 9)), (b"IEND", b"")]
    return _SIGNATURE + b"".join(_chunk(kind, content) for kind, content in parts)


def _chunk(kind: bytes, content: bytes) -> bytes:
    check_sum = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", check_sum)
