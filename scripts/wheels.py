"""Does what people install work? Wheel and sdist, in clean environments, without the lock.

Builds the sdist, and the wheel from it, in a build environment of its own; installs the wheel into a fresh
virtual environment for every Python on this machine, once with the newest dependencies there are and once
with the lowest that ``pyproject.toml`` allows, by the lines that the README tells people to type; then does
there what a newcomer does, and compares exit codes. Prints a table; ends with 1 if anything was not as it
should be.

    python scripts/wheels.py            # all of it
    python scripts/wheels.py --newest   # newest dependencies only, as the weekly workflow does
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SUPPORTED = tuple(
    text.rpartition(" ")[2] for text in PROJECT["classifiers"] if re.search(r"Python :: 3\.\d+$", text)
)
EXTRA, USAGE, BROKEN = 6, 2, 1

# Quotes, newlines, semicolons, a byte order mark, letters of three languages, gaps, decimal commas.
_ILL = ("grip", '"astım, ""ağır"""', "migräne")
_CITIES = ("İzmir", "Köln", "", "Iğdır")
AWKWARD = '\ufeffYaş;Şehir;"Tanı; kısa";Gewicht;Notiz\n' + "".join(
    f'{20 + i % 50};{_CITIES[i % 4]};{_ILL[i % 3]};{50 + i % 40},5;"Zeile 1\nZeile {i % 7}"\n'
    for i in range(240)
)
ROLES = ("--qi", "Yaş,Şehir", "--sensitive", "Tanı; kısa", "-k", "4")
READING = ("--decimal", ",")
FRAMES = """
import sys
import polars as pl, pyarrow as pa, pandas as pd
import mahrem as mh

table = mh.demo_patients(300)
table = table if isinstance(table, pl.DataFrame) else pl.DataFrame(table)
for frame in (table, table.to_arrow(), table.to_pandas()):
    release = mh.anonymize(frame, quasi=["age", "zip"], sensitive="diagnosis", rest="drop", k=5, l=2)
    assert release.holds and isinstance(release.table, type(frame)), type(release.table)
    assert mh.audit(release.table, quasi=["age", "zip"], sensitive="diagnosis", k=5).holds
"""


@dataclass
class Environment:
    """One Python with one choice of dependencies, and what came out there."""

    python: str
    version: str
    lowest: bool
    folder: Path
    lines: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    codes: dict[str, int] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What the table calls it."""
        return f"{self.version} {'lowest' if self.lowest else 'newest'}"

    @property
    def bin(self) -> Path:
        """Where its commands are."""
        return self.folder / "venv" / ("Scripts" if os.name == "nt" else "bin")


def pythons() -> dict[str, str]:
    """Find the interpreters of every supported version on this machine."""
    beside = Path(sys.base_prefix).parent
    found = {
        f"{sys.version_info.major}.{sys.version_info.minor}": sys.executable
    }  # also one not promised yet
    for version in SUPPORTED:
        names = [shutil.which(f"python{version}"), *map(str, beside.glob(f"{version}.*/bin/python"))]
        for name in filter(None, names):
            probe = "import ensurepip, sys, venv; print('%d.%d' % sys.version_info[:2], sys.executable)"
            done = subprocess.run([name, "-c", probe], capture_output=True, text=True, check=False)
            if done.returncode == 0 and done.stdout.split()[0] == version:
                found[version] = done.stdout.split()[1]
                break
    return found


def build(folder: Path) -> tuple[Path, Path]:
    """Build the sdist, and the wheel from the sdist; both in environments that pip makes for it."""
    builder = folder / "builder"
    subprocess.run([sys.executable, "-m", "venv", str(builder)], check=True)
    python = str(builder / ("Scripts" if os.name == "nt" else "bin") / "python")
    quiet = ["--quiet", "--disable-pip-version-check"]
    subprocess.run([python, "-m", "pip", "install", *quiet, "build"], check=True)
    subprocess.run(
        [python, "-m", "build", "--sdist", "--outdir", str(folder), str(ROOT)],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    sdist = next(folder.glob("mahrem-*.tar.gz"))
    subprocess.run(
        [python, "-m", "pip", "wheel", *quiet, "--no-deps", "--wheel-dir", str(folder), str(sdist)],
        check=True,
    )
    return sdist, next(folder.glob("mahrem-*.whl"))


def lowest_of(requirements: Sequence[str], version: str) -> Iterator[str]:
    """Give the lowest version that each requirement allows on a Python, as constraints."""
    for text in requirements:
        requirement = Requirement(text)
        if requirement.marker is None or requirement.marker.evaluate({"python_version": version}):
            least = [one.version for one in requirement.specifier if one.operator in {">=", "=="}]
            if least:
                yield f"{requirement.name}=={least[0]}"


def readme_lines() -> list[list[str]]:
    """The arguments of every ``pip install`` of the package in the README."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return [line.split()[2:] for line in re.findall(r"^pip install .*mahrem.*$", text, re.MULTILINE)]


def install(environment: Environment, wheel: Path) -> None:
    """Install as the README says, with the wheel instead of the name."""
    subprocess.run([environment.python, "-m", "venv", str(environment.folder / "venv")], check=True)
    constraints = environment.folder / "constraints.txt"
    groups = [*PROJECT["dependencies"], "pandas>=2.2.3"]
    constraints.write_text("\n".join(lowest_of(groups, environment.version)) if environment.lowest else "")
    pip = [str(environment.bin / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    pip += ["--no-compile", "--constraint", str(constraints), "--only-binary", ":all:"]
    for arguments in readme_lines():
        subprocess.run(
            [*pip, *(word.strip("'\"").replace("mahrem", str(wheel), 1) for word in arguments)], check=True
        )
    subprocess.run([*pip, "pandas"], check=True)
    subprocess.run([str(environment.bin / "python"), "-m", "pip", "check", "--quiet"], check=True)


def expect(environment: Environment, name: str, command: Sequence[str], code: int, says: str = "") -> str:
    """Run a command there and compare how it ends."""
    home = environment.folder / "home"
    home.mkdir(exist_ok=True)
    variables = {
        key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "MAHREM", "VIRTUAL"))
    }
    variables |= {
        "HOME": str(home),
        "PATH": f"{environment.bin}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "200",
    }
    done = subprocess.run(
        list(command),
        cwd=environment.folder,
        env=variables,
        capture_output=True,
        text=True,
        check=False,
        encoding="utf-8",
    )
    said = done.stdout + done.stderr
    environment.codes[name] = done.returncode
    if done.returncode != code or says not in said or "Traceback" in said:
        environment.failed.append(f"{name}: exit {done.returncode}, not {code}; {said[-600:]}")
    return said


def visit(environment: Environment) -> None:
    """Do what a newcomer does."""
    folder = environment.folder
    (folder / "awkward.csv").write_text(AWKWARD, encoding="utf-8", newline="")
    mahrem = str(environment.bin / "mahrem")

    def run(name: str, *arguments: str, code: int = 0, says: str = "") -> str:
        return expect(environment, name, [mahrem, *arguments], code, says)

    run("--version", "--version", says=PROJECT["version"])
    kernels = "from mahrem.arrays import _kernel as k; assert k.kernels_in_use() in ('v3', 'baseline')"
    expect(environment, "built kernels", [str(environment.bin / "python"), "-W", "error", "-c", kernels], 0)
    run("bare", says="anonymize")
    run("docs", "docs", "audit", says="# ")
    run("misspelt", "anonymise", code=USAGE, says="anonymise")
    run("-k notint", "anonymize", "awkward.csv", "-k", "notint", code=USAGE, says="-k")
    expect(
        environment,
        "help | head",
        ["bash", "-o", "pipefail", "-c", f"'{mahrem}' anonymize --help | head -1"],
        0,
    )
    run("demo", "demo", "-o", "demo", says="holds")
    run("inspect", "inspect", "awkward.csv", *READING, says="Tanı; kısa")
    release = ("awkward.csv", *ROLES, *READING, "--rest", "drop", "-o", "out")
    run("anonymize", "anonymize", *release, says="holds")
    run("audit", "audit", "out/data.csv", *ROLES, says="holds")
    run("raw does not hold", "audit", "awkward.csv", *ROLES, *READING, code=BROKEN)
    expect(environment, "frames", [str(environment.bin / "python"), "-c", FRAMES], 0)
    without_extras(environment, run)
    without_home(environment, mahrem)


def without_extras(environment: Environment, run: Callable[..., str]) -> None:
    """Every part that is not there says how to get it."""
    folder = environment.folder
    (folder / "x.xlsx").write_bytes(b"PK\x03\x04 no sheet")
    (folder / "x.duckdb").write_bytes(bytes(8) + b"DUCK" + bytes(100))
    (folder / "x.sav").write_bytes(b"$FL2" + bytes(100))
    (folder / "plain.csv").write_text("age,ill\n" + "".join(f"{20 + i % 40},{i % 2}\n" for i in range(200)))
    public = ("--rows", "200", "--delta", "1e-5", "--categories", "ill=0,1", "--bounds", "age=0:100")
    run("ledger", "ledger", "new", "x.ledger", "--data", "plain.csv", "--epsilon", "1", *public)
    paid = ("--ledger", "x.ledger", "--epsilon", "0.5")
    compare = ("compare", "plain.csv", "--qi", "age", "--sensitive", "ill", "-k", "5", "--target", "ill")
    asked = {
        "excel": ("inspect", "x.xlsx"),
        "sql": ("inspect", "x.duckdb", "--table", "t"),
        "survey": ("inspect", "x.sav"),
        "spark": ("anonymize", "awkward.csv", *ROLES, "--rest", "drop", "-o", "s", "--engine", "spark"),
        "web": ("serve", "--port", "0"),
        "dp": ("query", "plain.csv", "count()", *paid),
        "learning": (*compare, "--methods", "mondrian"),
        "train": ("train", "plain.csv", "--target", "ill", *paid, "-o", "model"),
        "federated": ("federate", "key", "one"),
        "he": ("federate", "simulate", "plain.csv", "--target", "ill", "--sum", "homomorphic", "-o", "run"),
    }
    for extra, arguments in asked.items():
        run(f"no {extra}", *arguments, code=EXTRA, says=f"mahrem[{extra}]")


def without_home(environment: Environment, mahrem: str) -> None:
    """The same where nothing may be written but the result, as in a container."""
    output = environment.folder / "homeless"
    command = f"HOME=/proc/none PYTHONDONTWRITEBYTECODE=1 '{mahrem}' demo -o '{output}' --quiet"
    start = time.perf_counter()
    expect(environment, "no home", ["bash", "-c", command], 0)
    environment.lines.append(f"demo without a home, nothing cached: {time.perf_counter() - start:.1f} s")


def try_out(environment: Environment, wheel: Path) -> Environment:
    """Install and visit one environment."""
    environment.folder.mkdir(parents=True)
    try:
        install(environment, wheel)
    except subprocess.CalledProcessError as error:
        environment.failed.append(f"install: {error}")
    else:
        visit(environment)
        shutil.rmtree(environment.folder / "venv")
    return environment


def main() -> None:
    """Build, install everywhere, compare."""
    parser = argparse.ArgumentParser(description="Try the wheel in clean environments.")
    parser.add_argument("--newest", action="store_true", help="only with the newest dependencies")
    parser.add_argument("--processes", type=int, default=2)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder, start = Path(scratch), time.perf_counter()
        sdist, wheel = build(folder)
        for made in (sdist, wheel):
            print(f"{made.name}: {made.stat().st_size / 1e6:.1f} MB")
        print(f"built in {time.perf_counter() - start:.0f} s")
        environments = [
            Environment(python, version, lowest, folder / f"{version}-{lowest}")
            for version, python in pythons().items()
            for lowest in ([False] if given.newest else [False, True])
        ]
        with ThreadPoolExecutor(given.processes) as pool:
            tried = list(pool.map(lambda one: try_out(one, wheel), environments))
    show(tried)
    sys.exit(not tried or any(one.failed for one in tried))


def show(tried: Sequence[Environment]) -> None:
    """Print the table: exit codes of every command in every environment."""
    print(f"{'exit codes':20}" + "".join(f"{one.name:>14}" for one in tried))
    for name in dict.fromkeys(name for one in tried for name in one.codes):
        print(f"{name:20}" + "".join(f"{one.codes.get(name, '-'):>14}" for one in tried))
    for one in tried:
        for line in [*one.lines, *(f"FAILED {text}" for text in one.failed)]:
            print(f"{one.name}: {line}")
    broken = sum(bool(one.failed) for one in tried)
    print(f"environments: {len(tried) - broken} passed, {broken} failed")


if __name__ == "__main__":
    main()
