"""What a client remembers of a table from one federation to the next, and holds against a new one."""

from __future__ import annotations

import datetime as dt
import hashlib
import hmac
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mahrem.errors import InvalidInput, MahremError
from mahrem.federated.flower._federation import Federation, Task
from mahrem.federated.flower._learnt_rows import FEW_CHANGED, LearntRows, least_told_apart
from mahrem.federated.rules import AnsweredQuestions, RulesPlan
from mahrem.federated.runs import CheckFinding, ClientSettings, RulesTask, WeightsTask
from mahrem.federated.sums import append_private
from mahrem.files import private_key, write_whole
from mahrem.learning.classifiers import DeclaredNumbers

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


@dataclass(frozen=True)
class TableMemory:
    """Where a table was before, in files of its owner's alone: by its client's key, or by its own place.

    Args:
        folder: The files.
        client: Names the client's key.
        source: The table.
        federation: The one that it is about to take part in.

    Raises:
        InvalidInput: By every method, if a file cannot be read: what is not known cannot be held against
            anybody.
    """

    folder: Path
    client: str
    source: object
    federation: Federation

    def promised(self) -> tuple[CheckFinding, ...]:
        """Find that a table was under a promise before: two of epsilon 1 are one of 2, which nobody said."""
        before = list(self._lines("promises"))
        return (self._of_target("promised"),) if before else ()

    def recuts(self) -> tuple[CheckFinding, ...]:
        """Find columns that an earlier federation cut elsewhere: counts of both can be subtracted."""
        cuts = cuts_of(self.federation)
        with _readable("cuts"):
            before = [
                (name, tuple(map(float, places)))
                for line in self._lines("cuts")
                for name, places in line["cuts"].items()
            ]
        counted = {name for name, _ in before}  # cuts that were there before tell nothing new
        moved = [name for name in cuts if name in counted and (name, cuts[name]) not in before]
        return tuple(CheckFinding(code="recut", column=name) for name in moved)

    def regrouped(self, settings: ClientSettings) -> tuple[CheckFinding, ...]:
        """Find that counts are rounded otherwise than in an earlier federation.

        What lies between the multiples of five and of six is one count. Multiples of ten say no more than
        those of five that were told before.
        """
        least = groups_of(self.federation, settings)
        if least is None:
            return ()
        with _readable("groups"):
            about = columns_of(self.federation)
            before = {int(line["least"]) for line in self._lines("groups") if about & {*line["about"]}}
            covered = not before or any(least % earlier == 0 for earlier in before)
        return () if covered else (self._of_target("regrouped"),)

    def asked(self, answered: AnsweredQuestions) -> tuple[CheckFinding, ...]:
        """Find that an earlier federation asked these rows: other questions narrow what rounding hid."""
        return (self._of_target("asked"),) if answered.asked_by_others() else ()

    def changes(self, rows: LearntRows) -> tuple[CheckFinding, ...]:
        """Find that a table tells a few people apart from all that it was learnt from with before.

        Whoever has the results of these runs puts them together and reads what is true of these few; see
        :func:`least_told_apart`. A table that was learnt from before, or agreed to, tells nothing new.
        """
        with _readable("tables"):
            least = least_told_apart(rows, list(self._learnt_before(rows)))
        return () if least is None or least >= FEW_CHANGED else (self._of_target("changed"),)

    def keep_promise(self) -> None:
        """Remember that a table answers with noise that no ledger pays for, before it does."""
        self._keep("promises", federation=self.federation.fingerprint())

    def keep_cuts(self) -> None:
        """Remember where columns are cut, before anything is counted."""
        cuts = cuts_of(self.federation)
        if cuts:
            self._keep("cuts", cuts=cuts)

    def keep_groups(self, settings: ClientSettings) -> None:
        """Remember what counts are multiples of, before any is sent."""
        least = groups_of(self.federation, settings)
        if least is not None:
            self._keep("groups", least=least, about=sorted(columns_of(self.federation)))

    def keep_table(self, rows: LearntRows) -> None:
        """Remember what the table held, without a cell of it, before anything is learnt from it."""
        digest = rows.digest()
        path = self._rows_file(digest)
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_whole(path, rows.to_bytes(), durable=True)
        about = sorted(columns_of(self.federation))
        self._keep("tables", rows=digest, key=_key_name(), about=about)

    def _learnt_before(self, rows: LearntRows) -> Iterator[LearntRows]:
        """Give the tables that this one may be subtracted from, each once.

        Those of its client or of its place, and any that it resembles.
        """
        about, seen = columns_of(self.federation), set[str]()
        for line, own in self._all_lines("tables"):
            if line["key"] != _key_name():
                raise InvalidInput(
                    "file='key': tables were learnt from under another key of this user; bring it back"
                )
            digest = str(line["rows"])
            if not about & {*line["about"]} or digest in seen:
                continue
            before = LearntRows.read(self._rows_file(digest).read_bytes())
            if own or rows.resembles(before):
                seen.add(digest)
                yield before

    def _rows_file(self, digest: str) -> Path:
        return self.folder / "rows" / f"{digest}.npz"

    def _of_target(self, code: str) -> CheckFinding:
        return CheckFinding(code=code, column=self.federation.task.schema.target)

    def _lines(self, name: str) -> Iterator[dict[str, Any]]:
        """Give what is known of this client or this table."""
        return (line for line, own in self._all_lines(name) if own)

    def _all_lines(self, name: str) -> Iterator[tuple[dict[str, Any], bool]]:
        """Give all that is known, and whether it is of this client or this table."""
        path, table = self._file(name), table_name(self.source)
        with _readable(name):
            text = path.read_text("utf-8") if path.exists() else ""
            for line in map(json.loads, text.splitlines()):
                yield line, line["client"] == self.client or line["table"] == table != ""

    def _keep(self, name: str, **facts: object) -> None:
        known = {"client": self.client, "table": table_name(self.source)}
        append_private(self._file(name), {"time": now(), **known, **facts})

    def _file(self, name: str) -> Path:
        return self.folder / f"{name}.jsonl"


@contextmanager
def _readable(name: str) -> Iterator[None]:
    """Say of a file that cannot be read which it is."""
    try:
        yield
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        if isinstance(error, MahremError):
            raise
        raise InvalidInput(f"file='{name}.jsonl' of earlier {name} cannot be read; mend it") from None


def table_name(source: object) -> str:
    """Name a table wherever it takes part; one that has no name is nobody's."""
    if not isinstance(source, str | Path):
        return ""
    place = source if isinstance(source, str) and _URL.match(source) else Path(source).resolve()
    return hashlib.sha256(str(place).encode()).hexdigest()


def _key_name() -> str:
    """Name the user's key that rows are hashed with, without telling it."""
    return hmac.digest(private_key(), b"mahrem-rows-key", "sha256")[:8].hex()


def cuts_of(federation: Federation) -> dict[str, tuple[float, ...]]:
    """Give where columns are cut whose parts are counted, or what says it."""
    task = federation.task
    if isinstance(task, RulesTask):
        return {name: tuple(map(float, places)) for name, places in task.schema.bins.items()}
    if not _counts_cells(task) or task.plan.private:
        return {}
    return {
        name: (column.lower, column.upper, float(column.log))  # trees cut what lies between in equal parts
        for name, column in task.schema.columns.items()
        if isinstance(column, DeclaredNumbers)
    }


def groups_of(federation: Federation, settings: ClientSettings) -> int | None:
    """Give what a client's counts are multiples of; None where none leave, or with noise."""
    plan = federation.task.plan
    if not isinstance(plan, RulesPlan) or settings.epsilon is not None:
        return None
    return plan.counted_by(settings.least_count)


def columns_of(federation: Federation) -> frozenset[str]:
    """Name the columns that sums of a federation speak of.

    What counts people in cells, as rules and trees do, counts the same where class and column are exchanged.
    """
    task = federation.task
    counts = task.schema.columns if _counts_cells(task) else ()
    return frozenset({*counts, task.schema.target})


def _counts_cells(task: Task) -> bool:
    """Say whether sums over cells are asked for: counts, or those of gradients."""
    if isinstance(task, WeightsTask):
        return task.plan.kind.trees
    return isinstance(task, RulesTask) or task.plan.model == "boosting"


def now() -> str:
    """Give the time as it is written down."""
    return dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds")
