"""Does a release survive kill -9? Replace one again and again, kill at random moments, look at what stands.

Every run replaces the release under one name (``--force``) by one of another k, in a process of its own that
is killed after a random part of the time a whole run takes. Afterwards:

- the old release or the new one stands under the name: its hashes hold, and so does an audit;
- nothing but releases can be read by others;
- what a killed run left is gone after the next run.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from bench_release import QUASI, table

import mahrem as mh
from mahrem.release.folders import check_hashes

RELEASE = "release"


class Trial:
    """A release that is replaced and killed in a folder of its own."""

    def __init__(self, folder: Path, rows: int) -> None:
        self.folder, self.target = folder, folder / RELEASE
        self.source = folder / "people.csv"
        table(rows).write_csv(self.source)
        self.source.chmod(0o600)
        self.audited: dict[bytes, bool] = {}
        os.environ["MAHREM_STATE"] = str(folder / "state")

    def start(self, k: int) -> subprocess.Popen[bytes]:
        """Begin to replace the release."""
        said = [str(self.source), *(f"--qi={name}" for name in QUASI), "--sensitive=diagnosis"]
        said += [f"-k{k}", "--rest=insensitive", "--accept=*=made up"]
        said += [f"--output={self.target}", "--force", "--quiet"]
        return subprocess.Popen(
            [sys.executable, "-m", "mahrem", "anonymize", *said],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def whole_run(self, k: int) -> float:
        """Replace the release undisturbed; gives the seconds it took."""
        began = time.perf_counter()
        if self.start(k).wait() != 0:
            raise SystemExit("a run that nobody killed failed")
        return time.perf_counter() - began

    def killed_run(self, k: int, after: float) -> bool:
        """Kill a run after so many seconds; says whether it was still going on."""
        child = self.start(k)
        try:
            child.wait(after)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            return True
        return False

    def standing(self) -> int:
        """Give the k of the release that stands; raises if none does, or it is not whole."""
        check_hashes(self.target)
        sums = (self.target / "SHA256SUMS").read_bytes()
        if sums not in self.audited:
            self.audited[sums] = mh.audit(self.target).holds
        if not self.audited[sums]:
            raise SystemExit("the release that stands does not hold")
        return int(json.loads((self.target / "report.json").read_text())["promises"][0]["wanted"])

    def left_over(self) -> list[Path]:
        """List what is neither a release nor the source nor the state."""
        kept = {RELEASE, self.source.name, "state"}
        return [path for path in self.folder.iterdir() if path.name not in kept]

    def exposed(self) -> list[Path]:
        """List what others could read beside the release: all folders above it let them in."""
        return _readable(self.folder, besides=self.target)


def _readable(folder: Path, besides: Path) -> list[Path]:
    found = []
    for path in folder.iterdir():
        mode = path.lstat().st_mode
        if path == besides:
            continue
        if mode & (stat.S_IRGRP | stat.S_IROTH):
            found.append(path)
        if path.is_dir() and mode & (stat.S_IXGRP | stat.S_IXOTH):
            found += _readable(path, besides)
    return found


def run(rows: int, kills: int, seed: int, seconds: float) -> Counter[str]:
    """Kill so often, or as often as there is time for; gives what was seen."""
    rng, seen, until = random.Random(seed), Counter[str](), time.monotonic() + seconds
    with tempfile.TemporaryDirectory(prefix="kill-release-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # as any other folder: what is private must be so by itself
        trial = Trial(folder, rows)
        trial.whole_run(5)
        length = trial.whole_run(5)
        print(f"a whole run: {length:.1f} s", flush=True)
        k = trial.standing()
        for number in range(kills):
            if time.monotonic() > until:
                break
            wanted = 11 - k  # 5 and 6 in turn
            moment = rng.uniform(0.0, 1.05 * length)
            began = time.perf_counter()
            killed = trial.killed_run(wanted, moment)
            if not killed:
                length = min(length, time.perf_counter() - began)  # the machine has become quicker
            stands = trial.standing()
            if stands not in {k, wanted} or (not killed and stands != wanted):
                raise SystemExit(
                    f"kill {number} after {moment:.3f} s: neither the old nor the new one stands"
                )
            if trial.exposed():
                raise SystemExit(f"kill {number} after {moment:.3f} s: others can read {trial.exposed()}")
            seen["killed" if killed else "finished before"] += 1
            seen["the new one stands" if stands == wanted else "the old one stands"] += 1
            seen["a stage was left"] += bool(trial.left_over())
            seen["stages left at most"] = max(seen["stages left at most"], len(trial.left_over()))
            k = stands
        trial.whole_run(11 - k)
        if trial.left_over() or trial.standing() == k:
            raise SystemExit(f"the next run did not sweep {len(trial.left_over())} stages")
        seen["left after the next run"] = len(trial.left_over())
        seen["audits"] = len(trial.audited)
    return seen


def main() -> None:
    """Read the options, run, and print what was seen."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--rows", type=int, default=1_000_000)
    options.add_argument("--kills", type=int, default=100)
    options.add_argument("--seed", type=int, default=None)
    options.add_argument("--seconds", type=float, default=86_400.0, help="stop after so long")
    said = options.parse_args()
    seed = random.SystemRandom().randrange(2**32) if said.seed is None else said.seed
    print(f"rows={said.rows} kills={said.kills} seed={seed}", flush=True)
    for what, count in run(said.rows, said.kills, seed, said.seconds).items():
        print(f"{what}: {count}")


if __name__ == "__main__":
    main()
