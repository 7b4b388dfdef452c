"""How long until mahrem has done something small, from nothing? And how much does it bring along?

Each command runs in a process of its own with an empty home: ``cold`` is the first run in that home,
``warm`` the least of the runs after it, both in seconds of processor time of the process and its children.
``--python`` names other interpreters (with mahrem installed) to measure in the same run, in turn: before
and after, or a wheel in a clean environment beside a checkout. Modules of ours that a command loads are
counted; the size of the base install is that of all files of mahrem and of everything it requires without
extras.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

BARS = {"demo": 2.0, "demo --no-html": 1.2, "audit": 0.8, "import over NumPy": 0.05}
AUDIT = ("--qi", "age,zip,sex,admission", "--sensitive", "diagnosis", "-k", "5", "-l", "3")
MODULES = """
import sys
from mahrem.cli import main
try:
    main()
finally:
    print(sum(name.split(".")[0] == "mahrem" for name in sys.modules), file=sys.stderr)
"""
SIZES = """
import importlib.metadata as m, json, re
seen, waiting, sizes = set(), ["mahrem"], {}
while waiting:
    name = waiting.pop()
    key = re.sub(r"[-_.]+", "-", name).lower()
    if key in seen:
        continue
    seen.add(key)
    try:
        found = m.distribution(name)
    except m.PackageNotFoundError:
        continue
    sizes[key] = sum(f.size or 0 for f in found.files or ()) / 1e6
    for text in found.requires or ():
        if not re.search("extra ==|python_version <|win32|Windows", text):
            waiting.append(re.split(r"[\\s;<>=!~\\[(]", text)[0])
print(json.dumps(sizes))
"""


def processor_time(command: list[str], home: Path) -> tuple[float, str]:
    """Run a command with a home of its own; gives seconds of processor time and what it said on stderr."""
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith(("MAHREM_", "NUMBA_"))},
        "HOME": str(home),
        "XDG_STATE_HOME": str(home / "state"),
    }
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd=home)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: {done.returncode}\n{done.stderr}")
    return (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime), done.stderr


def measure(python: str, repeats: int) -> dict[str, Any]:
    """All figures of one interpreter."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        mahrem = [python, "-m", "mahrem"]
        commands = {
            "demo": [*mahrem, "demo", "-o", "demo", "--force", "--quiet"],
            "demo --no-html": [*mahrem, "demo", "-o", "plain", "--force", "--quiet", "--no-html"],
            "audit": [*mahrem, "audit", "demo/data.csv", *AUDIT, "--json"],
            "--version": [*mahrem, "--version"],
            "--help": [*mahrem, "--help"],
        }
        figures: dict[str, Any] = {}
        for name, command in commands.items():
            times = [processor_time(command, home)[0] for _ in range(1 + repeats)]
            figures[name] = {"cold": times[0], "warm": min(times[1:])}
        numpy, both = (
            min(processor_time([python, "-c", code], home)[0] for _ in range(2 * repeats))
            for code in ("import numpy", "import numpy, mahrem")
        )
        figures["import over NumPy"] = {"cold": both - numpy, "warm": both - numpy}
        modules = {}
        processor_time([*mahrem, "demo", "-o", "again", "--table", "patients.csv", "--quiet"], home)
        anonymize = ("anonymize", "patients.csv", *AUDIT, "--rest", "drop", "-o", "out", "--quiet")
        for name, verb in (("anonymize", anonymize), ("audit", commands["audit"][3:])):
            said = processor_time([python, "-c", MODULES, *verb], home)[1]
            modules[name] = int(said.split()[-1])
        sizes = json.loads(subprocess.run([python, "-c", SIZES], capture_output=True, check=True).stdout)
    return {
        "python": python,
        "seconds": figures,
        "modules": modules,
        "base_install_mb": round(sum(sizes.values())),
        "largest_mb": {
            name: round(size) for name, size in sorted(sizes.items(), key=lambda one: -one[1])[:8]
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", action="append", help="an interpreter to measure; may be given again")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    pythons = given.python or [sys.executable]
    rows = [measure(str(Path(python).absolute()), given.repeats) for python in pythons]
    if given.json:
        print(json.dumps(rows, indent=2))
        return
    for row in rows:
        print(row["python"])
        for name, times in row["seconds"].items():
            bar = f"(bar {BARS[name]})" if name in BARS else ""
            print(f"  {name:18} cold {times['cold']:6.2f} s   warm {times['warm']:6.2f} s   {bar}")
        print(f"  modules of ours: {row['modules']}   (bar 150 for anonymize)")
        print(f"  base install: {row['base_install_mb']} MB (bar 450): {row['largest_mb']}")


if __name__ == "__main__":
    main()
