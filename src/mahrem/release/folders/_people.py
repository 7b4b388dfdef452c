"""Who was released before: keyed fingerprints in a private file, never a value."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from mahrem.errors import either
from mahrem.files import private_key, state_folder, write_whole
from mahrem.release.decisions import Policy
from mahrem.release.folders._record import change_state, forget_mark, is_uncounted, release_mark
from mahrem.table import Source
from mahrem.table.cells import text_where_needed
from mahrem.table.reading import ColumnSource, texts_of
from mahrem.threads import in_parallel
from mahrem.types import Integers, Mask, Offsets
from mahrem.words import Note, warn_of

if TYPE_CHECKING:
    from mahrem.arrays.sketching import RowSketch

KEPT = 1 << 17  # fingerprints kept of one release: enough to estimate any overlap
LIKELY = 0.5  # share of equal quasi-identifiers from which on two tables are taken for the same people
_ROWS = 1 << 17  # written as text at a time
_SEPARATOR = "\x1f"
_MISSING = "\x00"
_MANY = 1 << 16  # values of a column: equal ones of fewer are found no sooner than written
_WORDS = (pl.Float32, pl.Float64, pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.Date, pl.Datetime)


@dataclass(frozen=True)
class Fingerprints:
    """The people of one release, as keyed hashes of what tells them apart."""

    tag: str  # keyed hash of the columns' names: only like is compared with like
    by_name: bool  # a subject or identifiers told them apart, not only quasi-identifiers
    sketch: RowSketch

    @property
    def people(self) -> int:
        """How many different ones there were."""
        return self.sketch.rows

    def overlap(self, other: Fingerprints) -> int:
        """Count the people in both; beyond :data:`KEPT` of them this is an estimate."""
        return self.sketch.overlap(other.sketch)


def fingerprints(frame: pl.DataFrame, *, by_name: bool) -> Fingerprints:
    """Make the fingerprints of a table's rows.

    Guarantees:
        - Equal rows are one person; the order of rows and columns does not matter.
        - Without this user's key a fingerprint can be neither made nor traced back.
    """
    taker = FingerprintTaker(frame.columns, by_name=by_name)
    taker.add(frame)
    return taker.prints()


class FingerprintTaker:
    """Makes the fingerprints of a table that comes in parts.

    Args:
        names: Columns that tell people apart.
        by_name: They name people.
        most: Hashes that are held at most; of more people the number is an estimate. None holds all.
    """

    def __init__(self, names: Sequence[str], *, by_name: bool, most: int | None = None) -> None:
        self._key, self._names = private_key(), sorted(names)
        self._by_name, self._most = by_name, most
        self._parts: list[NDArray[np.uint64]] = []
        self._whole = True

    def add(self, frame: pl.DataFrame) -> None:
        """Take in some rows."""
        from mahrem.arrays.sketching import RowSketch

        texts = text_where_needed(frame.select(self._names))
        rows = _woven(texts) if frame.height >= _ROWS else _joined(texts)
        hashes = RowSketch.of_bytes(rows, b"people" + self._key, kept=frame.height).hashes
        self._parts.append(hashes if self._whole else hashes[hashes < self._parts[0][-1]])
        if self._most is not None and sum(map(len, self._parts)) > 2 * self._most:
            self._add_up()

    def _add_up(self) -> NDArray[np.uint64]:
        """Give the different hashes so far, the smallest first and no more than are to be held."""
        hashes = np.concatenate([np.empty(0, np.uint64), *self._parts])
        distinct = pl.Series(hashes).unique().sort().to_numpy()  # NumPy's own way takes thirty times longer
        if self._most is not None and len(distinct) > self._most:
            distinct, self._whole = distinct[: self._most].copy(), False
        self._parts = [distinct]
        return distinct

    def prints(self) -> Fingerprints:
        """Give the fingerprints of all rows."""
        from mahrem.arrays.sketching import RowSketch

        tag = hmac.new(self._key, _SEPARATOR.join(["people", *self._names]).encode(), hashlib.sha256)
        hashes = self._add_up()
        people = len(hashes)
        if not self._whole:  # the smallest of many hashes tell how many there are
            people = round((people - 1) * 2.0**64 / float(hashes[-1]))
        return Fingerprints(tag.hexdigest()[:16], self._by_name, RowSketch(people, hashes[:KEPT]))


def _joined(table: pl.DataFrame) -> Iterator[tuple[NDArray[np.uint8], Offsets]]:
    """Write each row as one text."""
    from mahrem.arrays.sketching import bytes_of

    cells = [pl.col(name).cast(pl.String).fill_null(_MISSING) for name in table.columns]
    yield bytes_of(table.select(pl.concat_str(cells, separator=_SEPARATOR)).to_series())


def _woven(table: pl.DataFrame) -> Iterator[tuple[NDArray[np.uint8], Offsets]]:
    """The same, some rows of a long table at a time; a value that many rows have is written once."""
    from mahrem.arrays.weaving import Strand, weave_rows

    ends = [*[_SEPARATOR] * (table.width - 1), ""]
    columns = in_parallel(_strand, zip(table.get_columns(), ends, strict=True))
    for first in range(0, table.height, _ROWS):
        rows = min(_ROWS, table.height - first)
        yield weave_rows(
            [
                Strand(text, offsets[first : first + rows + 1], np.arange(rows))
                if place is None
                else Strand(text, offsets, place[first : first + rows])
                for text, offsets, place in columns
            ]
        )


def _strand(column: tuple[pl.Series, str]) -> tuple[NDArray[np.uint8], Offsets, Integers | None]:
    """Write the values of a column with what stands behind each.

    Gives which of them every row has, too; None where each has its own.
    """
    from mahrem.arrays.sketching import bytes_of

    series, end = column
    values, place = series, None
    if isinstance(series.dtype, pl.Categorical):
        values = texts_of(series).extend_constant(None, 1)
        place = series.to_physical().fill_null(len(values) - 1).to_numpy()
    elif len(series) > _MANY and isinstance(series.dtype, _WORDS) and not series.null_count():
        from mahrem.arrays.counting import number_different

        words = series.to_physical().cast(pl.Float64 if series.dtype.is_float() else pl.Int64)
        different = number_different(words.to_numpy().view(np.uint64))
        if different is not None:
            firsts, place = different
            values = series.gather(firsts)
    texts = values.cast(pl.String).fill_null(_MISSING)
    text, offsets = bytes_of(texts + end if end else texts)
    return text, offsets, None if place is None else place.astype(np.int64)


def _warn_of_overlap(prints: Fingerprints, release: Path) -> int:
    """Compare with every earlier release; gives the most people in common."""
    most, when = 0, ""
    for path in sorted(_folder().glob(f"{prints.tag}-*.people")):
        earlier = _read(path)
        if earlier is None or earlier[0]["release"] == release_mark(
            release
        ):  # the same folder: it is replaced
            continue
        if is_uncounted(earlier[0]["release"]):
            continue
        common = prints.overlap(earlier[1])
        least = 1 if prints.by_name else LIKELY * min(prints.people, earlier[1].people)
        if common >= least and common > most:
            most, when = common, str(earlier[0]["made"])
    if most:
        share = round(most / prints.people, 1)  # no count: it would say whether one more is there
        whose = "people" if prints.by_name else "combinations"
        values = {
            "part": Note(f"overlap.about_{whose}", {"share": share})
            if share
            else Note(f"overlap.some_{whose}"),
            "when": when,
            "mark": either("mahrem.release.mark_release", "mahrem releases mark FOLDER draft"),
            "attack": either("mahrem.attack(…, second=…)", "mahrem attack --second"),
        }
        warn_of(Note("warning.composition", values), stacklevel=3)
    return most


def _remember(prints: Fingerprints, release: Path) -> None:
    """Keep fingerprints for the next release, readable by this user alone."""
    about = {
        "release": release_mark(release),
        "made": time.strftime("%Y-%m-%d", time.gmtime()),
        "people": prints.people,
        "by_name": prints.by_name,
    }
    folder = _folder()
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    known = list(folder.glob(f"{prints.tag}-*.people"))
    content = json.dumps(about).encode() + b"\n" + prints.sketch.as_bytes()
    write_whole(folder / f"{prints.tag}-{secrets.token_hex(6)}.people", content, new=True)
    for path in known:  # a replaced release is no longer there
        earlier = _read(path)
        if earlier is not None and earlier[0]["release"] == about["release"]:
            path.unlink(missing_ok=True)


def remember_people(people: Callable[[], Fingerprints | None], release: Path) -> int:
    """Warn if people of an earlier release are in this one, and remember those of this one.

    Args:
        people: Takes their fingerprints; None where nobody can be told of.
        release: The folder; an earlier release there is replaced and does not count.

    Returns:
        The most people any earlier release has in common with this one.

    Guarantees:
        - What is kept is readable by this user alone and holds keyed hashes, never a value.
    """
    try:
        prints = people()
        if prints is None:
            return 0
        common = _warn_of_overlap(prints, release)
        _remember(prints, release)
        forget_mark(release)
    except OSError as error:
        warn_of(Note("warning.people_not_kept", {"reason": error.strerror}))
        return 0
    return common


def remove_release(folder: Path, states: Collection[str], remove: Callable[[], None]) -> bool:
    """Remove a release that is in one of some states, with whatever is remembered of its people.

    Args:
        folder: Of the release.
        states: In which it may go.
        remove: Removes what is to go from the disk.

    Returns:
        Whether it went.

    Guarantees:
        - Nobody says anything of it between the look at its state and its end.
        - What went counts as no earlier release.
    """
    went = False

    def change(now: str) -> str | None:
        nonlocal went
        if now not in states:
            return now
        remove()
        _forget_people(folder)
        went = True
        return None

    change_state(folder, change)
    return went


def _forget_people(release: Path) -> None:
    mark = release_mark(release)
    for path in _folder().glob("*.people"):
        kept = _read(path)
        if kept is not None and kept[0]["release"] == mark:
            path.unlink(missing_ok=True)


def fingerprints_of(policy: Policy, source: Source, keep: Mask) -> Fingerprints | None:
    """Take the fingerprints of the people of a table; None if they were invented.

    Args:
        policy: Says which columns tell people apart.
        source: The table.
        keep: Which of its rows take part.
    """
    if _only_invented(source):
        return None
    names, by_name = columns_naming_people(
        policy.subject, (*policy.identifier, *policy.pseudonym), policy.quasi, source.columns
    )
    coded = source.coded(names) if isinstance(source, ColumnSource) else {}
    people = pl.DataFrame([*source.take([name for name in names if name not in coded]), *coded.values()])
    return fingerprints(people if keep.all() else people.filter(pl.Series(keep)), by_name=by_name)


def _only_invented(source: Source) -> bool:
    """Say whether a table lists the demo's patients: what is told of people who do not exist harms nobody."""
    if "name" not in source.columns:
        return False
    from mahrem.datasets import are_invented

    first = source.scan(["name"]).head(1).collect()["name"]  # one name finds out most tables
    return are_invented(first) and are_invented(source.take(["name"])["name"])


def columns_naming_people(
    subject: str | None, identifier: Sequence[str], quasi: Sequence[str], columns: Sequence[str]
) -> tuple[list[str], bool]:
    """Say which columns tell people apart, and whether they name them."""
    named = [subject] if subject is not None else [name for name in identifier if name in columns]
    return (named, True) if named else (list(quasi), False)


def _folder() -> Path:
    return state_folder() / "people"


def _read(path: Path) -> tuple[dict[str, object], Fingerprints] | None:
    """Read what an earlier release left; a file that was cut off counts as not there."""
    from mahrem.arrays.sketching import RowSketch

    try:
        head, _, content = path.read_bytes().partition(b"\n")
        about = json.loads(head)
        tag = path.name.partition("-")[0]
        sketch = RowSketch.read(int(about["people"]), content)
        return about, Fingerprints(tag, bool(about["by_name"]), sketch)
    except (OSError, ValueError, KeyError, TypeError):
        return None
