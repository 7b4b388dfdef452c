"""Records of a file of text where they lie: who looks at them decides what is read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mahrem.words import Note


@dataclass(frozen=True, kw_only=True)
class TextRecords:
    """A CSV file in UTF-8 whose header is known and whose records nobody has looked at.

    Attributes:
        label: Kind and name for messages.
        names: Of all columns, at least two.
        content: The file.
        begin: Where its first record begins.
        delimiter: Between cells; a line feed stands between records.
        notes: What was found out about it that a reader must know.
    """

    label: str
    names: tuple[str, ...]
    content: NDArray[np.uint8] = field(repr=False)
    begin: int
    delimiter: str
    notes: tuple[Note, ...]
