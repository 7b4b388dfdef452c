"""What a client remembers of a table from one federation to the next, and holds against a new one."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mahrem.errors import InvalidInput, MahremError
from mahrem.federated.flower._federation import Federation
from mahrem.federated.rules import RulesPlan
from mahrem.federated.runs import CheckFinding, ClientSettings, RulesTask, TableCheck
from mahrem.federated.sums import append_private

FEW_CHANGED = 20  # people; results before and after as many joined or left speak of all of them together


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
        moved = {name for name, places in before if name in cuts and cuts[name] != places}
        return tuple(CheckFinding(code="recut", column=name) for name in cuts if name in moved)

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
            told = not before or any(least % earlier == 0 for earlier in before)
        return () if told else (self._of_target("regrouped"),)

    def changes(self, held: TableCheck) -> tuple[CheckFinding, ...]:
        """Find that a few people joined or left since the table was learnt from.

        Whoever has the results of both runs subtracts them and reads what is true of these few. Tables that
        differ by many rows differ by as many people; of equally many rows few may have been exchanged.
        """
        about = columns_of(self.federation)
        with _readable("tables"):
            few = any(
                about & {*line["about"]}
                and held.differs(dict(line["digests"]))
                and abs(int(line["rows"]) - held.rows) < FEW_CHANGED
                for line in self._lines("tables")
            )
        return (self._of_target("changed"),) if few else ()

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

    def keep_table(self, held: TableCheck) -> None:
        """Remember what the table held, without a cell of it, before anything is learnt from it."""
        self._keep(
            "tables", rows=held.rows, digests=dict(held.digests), about=sorted(columns_of(self.federation))
        )

    def _of_target(self, code: str) -> CheckFinding:
        return CheckFinding(code=code, column=self.federation.task.schema.target)

    def _lines(self, name: str) -> Iterator[dict[str, Any]]:
        path, table = self._file(name), table_name(self.source)
        with _readable(name):
            text = path.read_text("utf-8") if path.exists() else ""
            for line in map(json.loads, text.splitlines()):
                if line["client"] == self.client or line["table"] == table != "":
                    yield line

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
    return hashlib.sha256(str(Path(source).resolve()).encode()).hexdigest()


def cuts_of(federation: Federation) -> dict[str, tuple[float, ...]]:
    """Give where columns are cut whose parts are counted."""
    task = federation.task
    bins = task.schema.bins if isinstance(task, RulesTask) else {}
    return {name: tuple(map(float, places)) for name, places in bins.items()}


def groups_of(federation: Federation, settings: ClientSettings) -> int | None:
    """Give what a client's counts are multiples of; None where none leave, or with noise."""
    plan = federation.task.plan
    if not isinstance(plan, RulesPlan) or settings.epsilon is not None:
        return None
    return plan.counted_by(settings.least_count)


def columns_of(federation: Federation) -> frozenset[str]:
    """Name the columns that sums of a federation speak of; a column of counts may be the class elsewhere."""
    task = federation.task
    counts = task.schema.columns if isinstance(task, RulesTask) else ()
    return frozenset({*counts, task.schema.target})


def now() -> str:
    """Give the time as it is written down."""
    return dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds")
