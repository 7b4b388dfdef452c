"""A small version of the long experiment: a release that is replaced and killed stands, old or new."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_a_release_that_is_killed_while_it_is_replaced_stands_and_the_next_run_sweeps() -> None:
    script = Path(__file__).parents[2] / "benchmarks" / "kill_release.py"
    done = subprocess.run(
        [sys.executable, script, "--rows=3000", "--kills=4", "--seed=7"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "left after the next run: 0" in done.stdout
