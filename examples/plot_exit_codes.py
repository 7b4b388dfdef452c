"""A step of a pipeline (cron, Airflow, Prefect, make): commands whose exit code says whether to go on."""

# %% The table of the night, and a policy that is kept with the code.
import subprocess
import sys
import tempfile
from pathlib import Path

import mahrem as mh

folder = Path(tempfile.mkdtemp(prefix="mahrem-example-"))
mh.demo_patients(500).select("age", "sex", "diagnosis").write_csv(folder / "night.csv")
(folder / "policy.toml").write_text(
    'k = 5\nquasi = ["age", "sex"]\nsensitive = {diagnosis = {l = 2}}\n', encoding="utf-8"
)


def step(*arguments: str) -> int:
    """Run a command; 0: go on, 1: it does not hold, 2: asked wrongly, 3: cannot be reached."""
    done = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-m", "mahrem", *arguments, "-q"], cwd=folder, capture_output=True, check=False
    )
    print("mahrem", *arguments, "→", done.returncode)
    return done.returncode


# %% Make it, check what lies there, and hand it on only if both say 0.
made = step("anonymize", "night.csv", "--policy", "policy.toml", "-o", "release", "--no-html")
holds = step("audit", "release")
print("hand it on" if made == holds == 0 else "call somebody")

# %% A promise that the file does not keep is exit code 1, not a line in a log.
step("audit", "release/data.csv", "--qi", "age,sex", "-k", "400")
