"""What tests of crashes run in another process: it says how far it is and waits to be killed."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def waiting(program: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    """Run a program until it prints a line; it is killed, as by a failing machine, when the block ends."""
    child = subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "there\n"
        yield child
    finally:
        child.send_signal(signal.SIGKILL)
        child.communicate()
