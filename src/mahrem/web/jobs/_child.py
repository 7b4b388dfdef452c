"""One job in a process of its own: limited, niced, and gone when the server is gone.

The first line on stdin says what to do; when stdin ends, the server is no more. Lines on stdout say how it
goes. Nothing is written to stderr: a traceback may show cells of the data.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import json
import os
import resource
import signal
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path

from mahrem.web._orders import JobLimits, JobOrder, Json

NICENESS = 5
_PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of prctl(2)
_MEMORY_WORDS = ("memory", "failed to map segment", "start new thread", "alloc")


def main() -> int:
    """Do the job that stdin names."""
    end_with_parent()
    order = JobOrder.from_line(sys.stdin.buffer.readline())
    say = quiet_stdout()
    threading.Thread(target=_end_with_the_server, daemon=True).start()
    import polars  # noqa: F401, ICN001 - loaded under a limit that it meets at once, it waits for threads for ever

    limit(order.limits)
    try:
        from mahrem.errors import labels_spelled
        from mahrem.web.bodies import label_of
        from mahrem.web.jobs._verbs import perform
        from mahrem.words import load_catalogue

        english = load_catalogue("en")  # as the rest of such a message
        labels = labels_spelled(lambda setting: label_of(setting, english))
        with warnings.catch_warnings(record=True) as heard, labels:
            warnings.simplefilter("default")
            result = perform(order, lambda stage: say({"stage": stage.as_dict()}))
        _write(order.place, result, _privacy_warnings(heard))
    except BaseException as error:  # noqa: BLE001 - also panics of the readers, which are not Exceptions
        say({"error": refusal_record(error, order)})
        return 1
    say({"done": True})
    return 0


def refusal_record(error: BaseException, order: JobOrder) -> Json:
    """Give an error as the server hears it."""
    from mahrem.web._errors import refusal_of

    return _called_as_sent(refusal_of(MemoryError() if _is_memory(error) else error).record, order)


def _called_as_sent(record: Json, order: JobOrder) -> Json:
    """Call the file in a message as whoever sent it does, and not as it is kept."""
    kept, sent = Path(order.source.table).name, order.source.label
    return {
        key: value.replace(kept, sent) if isinstance(value, str) and sent else value
        for key, value in record.items()
    }


def quiet_stdout() -> Callable[[Json], None]:
    """Keep the pipe for ourselves; whatever else is printed goes nowhere."""
    pipe = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)

    def say(line: Json) -> None:
        with contextlib.suppress(OSError):
            pipe.write(json.dumps(line) + "\n")
            pipe.flush()

    return say


def end_with_parent() -> None:
    """Have the system end this process with the server: a thread waits while long kernels hold the lock."""
    with contextlib.suppress(OSError, AttributeError):  # Linux alone has it
        ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)


def _end_with_the_server() -> None:
    while os.read(0, 1024):
        pass
    if os.getpgrp() == os.getpid():  # the group is ours: whatever this job started ends too
        os.killpg(os.getpid(), signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)


def limit(limits: JobLimits) -> None:
    """Keep this process within limits, and behind others."""
    os.umask(0o077)
    with contextlib.suppress(OSError):
        os.nice(NICENESS)
    # Memory that can be written, not addresses: what draws the pictures reserves far more than it ever uses.
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = limits.memory if hard == resource.RLIM_INFINITY else min(limits.memory, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if limits.disk is not None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # writing fails then, and says so
        resource.setrlimit(resource.RLIMIT_FSIZE, (limits.disk, limits.disk))
    cores = os.cpu_count() or 1
    ceiling = int(limits.seconds * cores) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (ceiling, ceiling + 5))


def _is_memory(error: BaseException) -> bool:
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
        return True
    from mahrem.errors import MahremError

    # Libraries say it in their own words and under their own names.
    return not isinstance(error, MahremError) and any(word in str(error).lower() for word in _MEMORY_WORDS)


def _privacy_warnings(heard: list[warnings.WarningMessage]) -> Json:
    """Give sentences for readers, and codes with values for every language."""
    from mahrem.errors import PrivacyWarning
    from mahrem.words import Note

    notes = [warning.message.args[0] for warning in heard if isinstance(warning.message, PrivacyWarning)]
    return {
        "privacy_warnings": [str(note) for note in notes],
        "privacy_notes": [note.as_dict() if isinstance(note, Note) else None for note in notes],
    }


def _write(folder: Path, result: Json, warned: Json) -> None:
    from mahrem.files import write_whole
    from mahrem.report import to_json
    from mahrem.web.projects import make_private

    make_private(folder)
    write_whole(folder / "result.json", to_json({**result, **warned}).encode())


if __name__ == "__main__":
    sys.exit(main())
